"""What every figure shares: names and colours, reading results, captions, saving.

A result is read from a fresh run (results/<experiment>) if there is one, else from the pinned
small file in data/results. Saving writes <figure>.pdf, .png, .csv (the plotted data) and
.caption.txt; the same data give the same bytes.
"""

import argparse
import json
import math
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.patches import Patch

ROOT = Path(__file__).resolve().parents[2]
PINNED = ROOT / "data" / "results"

# One colour a cause, everywhere: the Okabe-Ito set, grey in place of black. Waiting for experts is
# the lighter blue of the experts. Order: the parts of a step as sim/cost/step_time.h lists them.
PARTS = {
    "attention": ("attention", "#D55E00"),
    "experts": ("experts", "#0072B2"),
    "expert_wait": ("waiting for the slowest rank", "#56B4E9"),
    "collective": ("collectives", "#009E73"),
    "dense": ("dense layers", "#999999"),
    "draft": ("draft", "#CC79A7"),
    "host": ("host", "#F0E442"),
    "launch": ("waiting for launches", "#E69F00"),
}

# Kernels are told apart by shade, dash and marker, because colour means cause.
VARIANTS = {
    "extend-serial": ("#000000", "-", "o"),
    "flatten-split": ("#8A8A8A", (0, (1, 1)), "v"),
    "split-scalar": ("#5C5C5C", (0, (4, 1.5)), "s"),
    "split-vector": ("#303030", (0, (6, 1.5, 1, 1.5)), "D"),
    "packed": ("#000000", (0, (2.2, 1)), "^"),
}

HARDWARE_NAMES = {"rtx-pro-6000-server": "RTX PRO 6000", "h200-sxm": "H200"}


class MissingInput(Exception):
    """The figure cannot be made because a result is not there: skipped, not failed."""


@dataclass
class Result:
    experiment: str
    table: pd.DataFrame
    manifest: dict
    origin: str  # "fresh" or "pinned"


# What captions and exact curves need to know about a run; pinned results carry just this.
SETTINGS_KEPT = ("hardware.ranks", "model.experts", "model.experts_per_token", "moe.placement",
                 "moe.routing", "speculation.draft_tokens", "cost.attention", "cost.launch_mode",
                 "cost.nsplit", "workload.kind", "workload.batch")


def short_manifest(manifest):
    settings = {row["key"]: row["value"] for row in manifest["settings"]}
    return {
        "revision": manifest["shiftpoint"]["revision"],
        "seed": manifest["seed"],
        "hardware_preset": manifest["hardware_preset"],
        "model_preset": manifest["model_preset"],
        "run": manifest.get("hash"),
        "workload": manifest.get("workload"),
        "inputs": [{key: row[key] for key in ("format", "sha256", "rows")}
                   for row in manifest.get("inputs", [])],
        "settings": {key: settings[key] for key in SETTINGS_KEPT if key in settings},
    }


def run_folder(experiment, results, needed):
    """The folder of the fresh run that holds `needed`, the newest if there are several (a changed
    configuration makes a new folder beside the old one), or None."""
    base = Path(results) / experiment
    files = [f for f in [base / needed, *base.glob(f"*/{needed}")] if f.is_file()]
    if len(files) > 1:
        files.sort(key=lambda f: (f.stat().st_mtime_ns, f.parent.name))
        print(f"{experiment}: {len(files)} runs, newest is {files[-1].parent.name}")
    return files[-1].parent if files else None


def load(experiment, results, needed="points.csv", reduce=None):
    """A fresh result, else the pinned one. `reduce` turns a run folder into a small table."""
    folder = run_folder(experiment, results, needed) if results else None
    if folder:
        manifest = json.loads((folder / "manifest.json").read_text())
        table = reduce(folder) if reduce else pd.read_csv(folder / needed)
        return Result(experiment, table, short_manifest(manifest), "fresh")
    pinned = PINNED / f"{experiment}.csv"
    if not pinned.is_file():
        raise MissingInput(f"neither a run in results/{experiment} nor data/results/{pinned.name}")
    manifest = json.loads(pinned.with_suffix(".manifest.json").read_text())
    return Result(experiment, pd.read_csv(pinned), manifest, "pinned")


def require(table, columns, experiment):
    missing = [c for c in columns if c not in table.columns]
    if missing:
        raise ValueError(f"{experiment}: no column {', '.join(missing)}; "
                         f"found {', '.join(table.columns)}")


def check_shares(table, experiment):
    """The parts of a step add up to it; a figure of shares that do not is a lie."""
    require(table, [f"attribution.{p}" for p in PARTS], experiment)
    total = table[[f"attribution.{p}" for p in PARTS]].sum(axis=1)
    worst = (total - 1).abs().max()
    if worst > 1e-6:
        raise ValueError(f"{experiment}: shares of a step add up to 1 only within {worst:.2g}")


def published_throughput():
    table = pd.read_csv(ROOT / "data" / "published" / "articles_throughput.csv")
    table["ms_per_token"] = 1000 / table["tok_per_s"]
    return table


def crossing(x, y, level):
    """Where y first passes `level` upwards, linear in log x; None if it starts or stays on a side."""
    points = list(zip(x, y))
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if y0 < level <= y1:
            share = (level - y0) / (y1 - y0)
            return math.exp(math.log(x0) + share * (math.log(x1) - math.log(x0)))
    return None


def three_digits(value):
    """More would claim a precision that an interpolation does not have."""
    digits = 2 - math.floor(math.log10(value))
    return f"{round(value, digits):,.{max(0, digits)}f}"


def card_name(result):
    preset = result.manifest["hardware_preset"]
    return HARDWARE_NAMES.get(preset, preset or "hardware given by single options")


def source_text(result, shares=None):
    """Predicted or measured, for which card, from which run: the last words of every caption.
    `shares`: by timing source, (lowest, highest) over the points."""
    card = card_name(result)
    shares = shares if shares is not None else source_shares(result.table)
    sources = ", ".join(
        f"{name} {low:.0%}" if low == high else f"{name} {low:.0%} to {high:.0%}"
        for name, (low, high) in shares.items() if high > 0)
    analytic = shares.get("model", (0, 0))[0] == 1
    kind = "analytic model" if analytic else "timing sources below"
    return (f"Times are predicted for {card} ({kind}). Timing source by share of simulated time: "
            f"{sources}. {origin_text(result)}")


def origin_text(result):
    manifest = result.manifest
    # "<40 hex digits>" or "<40 hex digits>-modified": the latter has uncommitted changes.
    revision, _, modified = manifest["revision"].partition("-")
    run = f"run {manifest['run']}, " if manifest["run"] else ""
    return (f"Model {manifest['model_preset']}, {run}seed {manifest['seed']}, revision {revision[:12]}"
            f"{' with uncommitted changes' if modified else ''}, {result.origin} results.")


def source_shares(table):
    return {name: (table[f"timing_source.{name}"].min(), table[f"timing_source.{name}"].max())
            for name in ("model", "profile", "live")}


def context_axis(axis, last, mark_last=True):
    ticks = [t for t in (1024, 4096, 16384, 65536) if t <= last]
    labels = [f"{t // 1024}k" for t in ticks]
    if mark_last and last > ticks[-1] * 1.6:
        ticks.append(last)
        labels.append(f"{last:,.0f}")
    axis.set_xscale("log")
    axis.set_xticks(ticks, labels)
    axis.minorticks_off()


def part_keys():
    """Legend entries of the parts, in the order in which they are stacked."""
    return [Patch(facecolor=colour, label=label) for label, colour in PARTS.values()]


def new_figure(width_in, height_in):
    plt.style.use(Path(__file__).with_name("style.mplstyle"))
    return plt.figure(figsize=(width_in, height_in))


def save(figure, name, output, plotted, caption):
    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    # No dates and no version strings: bytes depend on the data only.
    figure.savefig(output / f"{name}.pdf", metadata={"CreationDate": None, "Producer": None})
    figure.savefig(output / f"{name}.png", metadata={"Software": None})
    plt.close(figure)
    plotted.to_csv(output / f"{name}.csv", index=False, float_format="%.6g")
    (output / f"{name}.caption.txt").write_text(caption + "\n")
    return [output / f"{name}{suffix}" for suffix in (".pdf", ".png", ".csv", ".caption.txt")]


def main(make, description):
    """Command line of one figure script."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--results", default=ROOT / "results", help="folder of fresh results")
    parser.add_argument("--pinned", action="store_true", help="ignore fresh results")
    parser.add_argument("--output", default=ROOT / "results" / "figures")
    args = parser.parse_args()
    for path in make(None if args.pinned else args.results, args.output):
        print(path.name)
