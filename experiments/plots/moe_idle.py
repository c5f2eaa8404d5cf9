#!/usr/bin/python3
"""How unequal whole-expert placement makes the ranks, by tokens per step, against exact curves."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

import exact_routing
import figlib

NAME = "moe_idle"
EXPERTS, PAIRS = figlib.PARTS["experts"][1], "#5C5C5C"
SHOWN = ["moe.tokens_per_step", "moe.activated_experts", "moe.expert_imbalance",
         "moe.pair_imbalance", "moe.idle_rank_share"]
VERIFY_TOKENS = 9  # a verify step of one request: a budget of 8 drafted nodes and the root


def shape_of(result):
    """(experts, k, ranks) that ran."""
    settings = result.manifest["settings"]
    return tuple(int(settings[name]) for name in
                 ("model.experts", "model.experts_per_token", "hardware.ranks"))


def draw_activated(axis, rows, exact, experts):
    axis.plot(exact["tokens"], exact["activated_experts"], color=EXPERTS)
    axis.plot(rows["moe.tokens_per_step"], rows["moe.activated_experts"], "o", color=EXPERTS,
              markerfacecolor="white")
    axis.axhline(experts, color="black", linewidth=0.6)
    axis.text(1, experts * 1.02, f"all {experts}", fontsize=7, va="bottom")
    axis.set_ylim(0, experts * 1.14)
    axis.set_ylabel("activated experts per layer")
    axis.set_title("Activated experts")


def draw_imbalance(axis, rows, sliced, exact):
    x = rows["moe.tokens_per_step"]
    axis.plot(exact["tokens"], exact["expert_imbalance"], color=EXPERTS)
    axis.plot(x, rows["moe.expert_imbalance"], "o", color=EXPERTS, markerfacecolor="white")
    axis.plot(exact["tokens"], exact["pair_imbalance_normal"], color=PAIRS, linestyle=(0, (3, 1.5)))
    axis.plot(x, rows["moe.pair_imbalance"], "s", color=PAIRS, markerfacecolor="white")
    axis.text(1.8, 2.35, "activated experts", color=EXPERTS, fontsize=7)
    axis.text(40, 1.34, "token-expert\npairs", color=PAIRS, fontsize=7)
    axis.set_ylim(0.8, 2.8)
    axis.axhline(1, color="black", linewidth=0.6)
    axis.plot(sliced["moe.tokens_per_step"], sliced["moe.expert_imbalance"], "x", color="black",
              markersize=4)
    axis.text(1, 0.96, "tp-sliced: 1", fontsize=7, va="top")
    axis.set_ylabel("largest / mean over ranks")
    axis.set_title("Imbalance")


def draw_idle(axis, rows, exact):
    y = exact["idle_rank_probability"]
    floor = 1e-7
    shown = y > floor
    axis.plot(exact["tokens"][shown], y[shown], color=EXPERTS)
    seen = rows["moe.idle_rank_share"] > 0
    axis.plot(rows["moe.tokens_per_step"][seen], rows["moe.idle_rank_share"][seen], "o",
              color=EXPERTS, markerfacecolor="white")
    axis.plot(rows["moe.tokens_per_step"][~seen], np.full((~seen).sum(), floor * 1.6), "v",
              color=EXPERTS, markerfacecolor="white")
    if not seen.all():
        axis.text(last_tokens(rows), floor * 4, "none seen", fontsize=7, ha="right")
    for tokens, text in ((1, "1 token"), (VERIFY_TOKENS, f"{VERIFY_TOKENS} tokens")):
        axis.annotate(f"{text}: {probability_text(y[tokens - 1])}", (tokens, y[tokens - 1]), xytext=(8, 2),
                      textcoords="offset points", fontsize=7)
    axis.set_yscale("log")
    axis.set_ylim(floor, 1)
    axis.minorticks_off()
    axis.set_ylabel("share with no activated expert")
    axis.set_title("Idle ranks")


def probability_text(value):
    if value >= 0.01:
        return f"{value:.2f}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return rf"{mantissa}$\times 10^{{{int(exponent)}}}$"


def last_tokens(rows):
    return round(rows["moe.tokens_per_step"].max())


def make(results, output):
    result = figlib.load(NAME, results)
    table = result.table.sort_values("moe.tokens_per_step")
    figlib.require(table, ["moe.placement", *SHOWN], NAME)
    rows = table[table["moe.placement"] == "whole-expert"]
    sliced = table[table["moe.placement"] == "tp-sliced"]
    experts, k, ranks = shape_of(result)
    exact = exact_routing.exact_curves(experts, k, ranks, last_tokens(rows))
    exact["pair_imbalance_normal"] = np.array(
        [exact_routing.pair_imbalance_normal(experts, k, ranks, t) for t in exact["tokens"]])

    figure = figlib.new_figure(6.5, 2.9)
    body, key = figure.subfigures(2, 1, height_ratios=[1, 0.08])
    axes = body.subplots(1, 3)
    draw_activated(axes[0], rows, exact, experts)
    draw_imbalance(axes[1], rows, sliced, exact)
    draw_idle(axes[2], rows, exact)
    for axis in axes:
        axis.set_xscale("log", base=2)
        axis.set_xticks([1, 8, 64, 512], ["1", "8", "64", "512"])
        axis.set_xlabel("tokens per step")
    key.legend(handles=[
        Line2D([], [], color="black", label="exact"),
        Line2D([], [], color="black", linestyle=(0, (3, 1.5)), label="normal approximation"),
        Line2D([], [], color="black", linestyle="none", marker="o", markerfacecolor="white",
               label="simulated")], loc="center", ncol=3)

    plotted = pd.concat([
        table[["moe.placement", *SHOWN]].rename(
            columns=lambda name: name.removeprefix("moe.")),
        pd.DataFrame(exact).assign(placement="whole-expert, exact").rename(columns={
            "tokens": "tokens_per_step", "pair_imbalance_normal": "pair_imbalance",
            "idle_rank_probability": "idle_rank_share"})])
    caption = (
        f"{experts} experts on {ranks} ranks, {k} a token, uniform routing. Lines: exact "
        f"expectations for whole-expert placement, computed apart from the simulator; for "
        f"token-expert pairs a normal approximation, too low at few tokens. Circles and squares: "
        f"simulated means over layers and steps, whole-expert. Crosses: tp-sliced placement, where "
        f"every rank holds a slice of every expert. The labelled probabilities are the exact ones. "
        f"These are counts, which do not depend on the card. {figlib.origin_text(result)}")
    return figlib.save(figure, NAME, output, plotted, caption)


if __name__ == "__main__":
    figlib.main(make, __doc__)
