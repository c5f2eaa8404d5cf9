#!/usr/bin/python3
"""A conversation workload: latencies, load and KV use over time, and where the time goes."""

import json

import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

import figlib
from figlib import PARTS

NAME = "azure_conv"
BINS = 120
LATENCIES = {
    "ttft_ms": "time to first token",
    "e2e_ms": "whole request",
    "tpot_ms": "time per output token",
}


def reduce(folder):
    """The small table (panel, series, x, value) behind the figure, from a run's full CSV files."""
    summary = json.loads((folder / "summary.json").read_text())
    requests = pd.read_csv(folder / "requests.csv")
    steps = pd.read_csv(folder / "steps.csv")
    ran = summary["steps"]["verify"] + summary["steps"]["prefill"]
    if len(steps) != ran:
        raise ValueError(f"{NAME}: steps.csv holds {len(steps)} of {ran} steps; "
                         f"run with --output.steps_rows={ran} or more")
    rows = [*latency_rows(requests), *time_rows(steps, summary)]
    rows += [("timing_source", name, 0, summary["timing_source"][name])
             for name in ("model", "profile", "live")]
    table = pd.DataFrame(rows, columns=["panel", "series", "x", "value"])
    return table.assign(value=[float(f"{value:.6g}") for value in table["value"]])


def latency_rows(requests):
    finished = requests[requests["outcome"] == "finished"].copy()
    # Defined for more than one output token only, as in summary.json.
    several = finished["output_tokens"] > 1
    finished.loc[several, "tpot_ms"] = (finished["e2e_ms"] - finished["ttft_ms"]) / (
        finished["output_tokens"] - 1)
    for column in LATENCIES:
        values = finished[column].dropna()
        for quantile in np.linspace(0, 1, 201):
            yield ("latency", column, round(quantile, 3), values.quantile(quantile))


def time_rows(steps, summary):
    """Bins of simulated time. A step belongs to the bin in which it starts."""
    end_ms = 1000 * summary["simulated_s"]
    width_ms = end_ms / BINS
    index = np.minimum((steps["start_ms"] / width_ms).astype(int), BINS - 1)
    pool_slots = summary["kv"]["slots"]
    weight = steps["duration_ms"]
    used = 1 - steps["free_slots"] / pool_slots
    busy = np.bincount(index, weight, BINS)
    for name, values in (("running", steps["running"]), ("waiting", steps["waiting"]),
                         ("kv_used", used)):
        # Weighted by how long each step held the value; no step in a bin: nothing ran.
        held = np.bincount(index, weight * values, BINS)
        mean = np.divide(held, busy, out=np.zeros(BINS), where=busy > 0)
        yield from ((name, name, (b + 0.5) * width_ms / 1000, mean[b]) for b in range(BINS))
    verify = steps["kind"] == "verify"
    groups = {part: np.where(verify, steps[f"{part}_ms"], 0) for part in PARTS}
    groups["prefill"] = np.where(verify, 0, weight)
    for name, values in groups.items():
        share = np.bincount(index, values, BINS) / width_ms
        yield from (("time", name, (b + 0.5) * width_ms / 1000, share[b]) for b in range(BINS))


def draw_latency(axis, table, columns, unit, scale):
    for column, shade, dash in zip(columns, ("#000000", "#7A7A7A"), ("-", (0, (3, 1)))):
        curve = table[(table["panel"] == "latency") & (table["series"] == column)]
        marks = {q: float(np.interp(q, curve["x"], curve["value"])) * scale for q in (0.5, 0.99)}
        text = ", ".join(f"p{q * 100:.0f} {figlib.three_digits(v)} {unit}" for q, v in marks.items())
        axis.plot(curve["value"] * scale, curve["x"], color=shade, linestyle=dash,
                  label=f"{LATENCIES[column]}\n{text}")
        axis.plot(list(marks.values()), list(marks), "o", color=shade, markersize=3)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_ylim(0, 1.02)
    axis.set_xlabel(f"{unit} (logarithmic)")
    axis.set_ylabel("share of requests")
    axis.legend(loc="upper left", handlelength=1.4, borderaxespad=0.2)


def series(table, panel, name):
    rows = table[(table["panel"] == panel) & (table["series"] == name)]
    return rows["x"].to_numpy() / 60, rows["value"].to_numpy()


def draw_over_time(axes, table):
    minutes, running = series(table, "running", "running")
    _, waiting = series(table, "waiting", "waiting")
    axes[0].plot(minutes, running, color="#000000", label="running")
    axes[0].plot(minutes, np.where(waiting > 0, waiting, np.nan), color="#7A7A7A",
                 linestyle=(0, (3, 1)), label="waiting")
    axes[0].set_yscale("log")
    axes[0].set_ylim(bottom=0.8)
    axes[0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes[0].minorticks_off()
    axes[0].set_ylabel("requests (log.)")
    axes[0].set_title("Requests in the server")
    axes[0].legend(loc="lower right", bbox_to_anchor=(1, 0.98), ncol=2)
    axes[1].fill_between(minutes, series(table, "kv_used", "kv_used")[1], color="#B0B0B0",
                         linewidth=0)
    axes[1].set_ylim(0, 1)
    axes[1].set_ylabel("share of slots")
    axes[1].set_title("KV pool in use")
    names = [*PARTS, "prefill"]
    colours = [c for _, c in PARTS.values()] + ["#404040"]
    axes[2].stackplot(minutes, [series(table, "time", n)[1] for n in names], colors=colours,
                      linewidth=0)
    axes[2].set_ylim(0, 1)
    axes[2].set_ylabel("share of time")
    axes[2].set_title("Where the time goes: verify steps by part, prefill; white is idle")
    axes[2].set_xlabel("simulated time (minutes)")
    for axis in axes:
        axis.set_xlim(0, minutes[-1] + minutes[0])
        axis.grid(axis="x", visible=False)


def make(results, output):
    result = figlib.load(NAME, results, needed="summary.json", reduce=reduce)
    table = result.table
    figure = figlib.new_figure(6.5, 6.3)
    top, bottom, key = figure.subfigures(3, 1, height_ratios=[1, 2, 0.18])
    left, right = top.subplots(1, 2)
    draw_latency(left, table, ("ttft_ms", "e2e_ms"), "s", 1e-3)
    left.set_title("Finished requests")
    draw_latency(right, table, ("tpot_ms",), "ms", 1)
    right.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    right.set_title("Time per output token")
    draw_over_time(bottom.subplots(3, 1, sharex=True), table)
    prefill = figlib.Patch(facecolor="#404040", label="prefill steps")
    key.legend(handles=[*figlib.part_keys(), prefill], loc="center", ncol=5)

    sources = table[table["panel"] == "timing_source"]
    shares = {name: (value, value) for name, value in zip(sources["series"], sources["value"])}
    workload = result.manifest["workload"]
    inputs = result.manifest["inputs"]
    origin = (f"trace with SHA-256 {inputs[0]['sha256'][:12]}" if inputs
              else f"kind '{result.manifest['settings']['workload.kind']}', no recorded trace")
    caption = (
        f"{workload['requests']:,} requests ({origin}). Top: distributions over finished "
        f"requests, time on a logarithmic axis. Below, in {BINS} bins of simulated time: requests, "
        f"share of the KV pool in use, and share of the bin that each part of the verify steps and "
        f"prefill take (white: idle). {figlib.source_text(result, shares)}")
    return figlib.save(figure, NAME, output, table, caption)


if __name__ == "__main__":
    figlib.main(make, __doc__)
