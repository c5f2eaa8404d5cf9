#!/usr/bin/python3
"""How long a token takes by context, kernel and launch mode, and which part of the step it is."""

import numpy as np

import figlib
from figlib import PARTS, VARIANTS

NAME = "bottleneck_shift"
# (variant, nsplit, eager) of each published series, with the words that the articles use.
PUBLISHED = {
    ("extend-serial", "", False): "Triton kernel",
    ("split-scalar", "16", False): "own kernel, NSPLIT 16",
    ("split-scalar", "64", False): "own kernel, NSPLIT 64",
    ("split-vector", "64", False): "NSPLIT 64, 128-bit loads",
    ("split-scalar", "16", True): "own kernel, NSPLIT 16, eager",
}


def series_of(table):
    """(label, rows) for each panel: every kernel in graph mode, eager for the first only."""
    for variant in VARIANTS:
        for mode in ("graph", "eager"):
            rows = table[(table["cost.attention"] == variant) & (table["cost.launch_mode"] == mode)]
            if rows.empty or (mode == "eager" and variant != next(iter(VARIANTS))):
                continue
            yield variant, mode, rows.sort_values("workload.context_tokens")


def draw_totals(axis, series, published, card):
    last = max(rows["workload.context_tokens"].max() for _, _, rows in series)
    for variant, mode, rows in series:
        shade, dash, _ = VARIANTS[variant]
        x, y = rows["workload.context_tokens"], rows["ms_per_token.total"]
        axis.plot(x, y, color=shade, linestyle=dash, linewidth=0.8 if mode == "eager" else 1.5)
    place_labels(axis, last, [(rows["ms_per_token.total"].iloc[-1],
                               variant + (" (eager)" if mode == "eager" else ""))
                              for variant, mode, rows in series])
    for (variant, nsplit, eager), name in PUBLISHED.items():
        rows = published[(published["variant"] == variant) & (published["nsplit"] == nsplit)
                         & ((published["launch_mode"] == "eager") == eager)]
        shade, _, marker = VARIANTS[variant]
        fill = "white" if nsplit == "16" else shade
        marker = "P" if eager else marker
        axis.plot(rows["context_tokens"], rows["ms_per_token"], linestyle="none", marker=marker,
                  markerfacecolor=fill, markeredgecolor=shade, markersize=6,
                  clip_on=False, zorder=3, label=f"published: {name}")
    axis.set_yscale("log")
    figlib.context_axis(axis, last)
    axis.set_xlim(900, last * 1.02)
    axis.set_xlabel("context (tokens; 1k = 1024)")
    axis.set_ylabel("ms per emitted token")
    axis.set_title(f"One request on eight {card}: lines predicted by the model, markers published",
                   fontsize="medium")
    axis.legend(loc="upper left")


def place_labels(axis, x, labels):
    """Names at the line ends, moved apart where the ends are closer than a line of text."""
    floor = -np.inf
    for value, text in sorted(labels):
        height = max(np.log10(value), floor + 0.16)
        floor = height
        axis.annotate(text, (x, value), xytext=(x * 1.06, 10 ** height), fontsize=7, va="center",
                      annotation_clip=False)


def draw_shares(axis, variant, mode, rows):
    x = rows["workload.context_tokens"].to_numpy(float)
    parts = [rows[f"attribution.{p}"].to_numpy() for p in PARTS]
    axis.stackplot(x, parts, colors=[c for _, c in PARTS.values()], linewidth=0.3,
                   edgecolor="white")
    cross = figlib.crossing(x, rows["attribution.attention"], 0.5)
    if cross:
        axis.axvline(cross, color="black", linewidth=0.9, linestyle=(0, (3, 2)))
    figlib.context_axis(axis, x[-1], mark_last=False)
    axis.set_xlim(x[0], x[-1])
    axis.set_ylim(0, 1)
    axis.set_yticks([0, 0.5, 1])
    axis.grid(False)
    state = where_attention_leads(cross, rows)
    axis.set_title(f"{variant}, {mode}", pad=15)
    axis.text(0, 1.04, f"attention > rest: {state}", transform=axis.transAxes, fontsize=7)
    return state


def where_attention_leads(cross, rows):
    """Attention against all other parts together, in words."""
    if cross:
        return f"from {figlib.three_digits(cross)} tokens"
    return "everywhere" if rows["attribution.attention"].min() >= 0.5 else "nowhere"


def split_text(nsplit):
    return (f"{nsplit} KV splits" if int(nsplit)
            else "KV splits as each kernel has them")


def caption(result, leads, published):
    found = "; ".join(f"{name}: {state}" for name, state in leads.items())
    contexts = sorted(result.table["workload.context_tokens"].unique())
    sources = " and ".join(sorted(published["source"].unique()))
    settings = result.manifest["settings"]
    return (
        f"Batch {settings['workload.batch']} on {settings['hardware.ranks']} ranks, "
        f"{settings['speculation.draft_tokens']} nodes a verify step, {settings['moe.placement']} "
        f"experts, {split_text(settings['cost.nsplit'])}, contexts "
        f"{contexts[0]:,} to {contexts[-1]:,} tokens. Top: verify-step time per "
        f"emitted token (step time over acceptance length), both axes logarithmic; markers are "
        f"the throughputs that {sources} print, turned into ms per token and not "
        f"fitted to. Below: share of the step by part. Attention takes more than all other parts "
        f"together - {found}. {figlib.source_text(result)}")


def make(results, output):
    result = figlib.load(NAME, results)
    table = result.table
    figlib.require(table, ["workload.context_tokens", "cost.attention", "cost.launch_mode",
                           "ms_per_token.total"], NAME)
    figlib.check_shares(table, NAME)
    published = figlib.published_throughput()
    # The first kernel does not split.
    published["nsplit"] = ["" if np.isnan(n) else f"{n:.0f}" for n in published["nsplit"]]
    series = list(series_of(table))

    figure = figlib.new_figure(6.5, 6.0)
    top, bottom, key = figure.subfigures(3, 1, height_ratios=[1, 1.35, 0.15])
    draw_totals(top.add_subplot(), series, published, figlib.card_name(result))
    columns = 3
    panels = bottom.subplots(2, columns, sharex=True, sharey=True, squeeze=False)
    leads = {}
    for axis, (variant, mode, rows) in zip(panels.flat, series):
        leads[f"{variant} ({mode})"] = draw_shares(axis, variant, mode, rows)
    for axis in panels.flat[len(series):]:
        axis.set_visible(False)
    for axis in panels[:, 0]:
        axis.set_ylabel("share of the step")
    for axis in panels[-1, :]:
        axis.set_xlabel("context (tokens)")
    key.legend(handles=figlib.part_keys(), loc="center", ncol=4)
    shown = [c for c in table.columns if c.startswith(("attribution.", "ms_per_token."))]
    plotted = table[["cost.attention", "cost.launch_mode", "workload.context_tokens", *shown]]
    return figlib.save(figure, NAME, output, plotted, caption(result, leads, published))


if __name__ == "__main__":
    figlib.main(make, __doc__)
