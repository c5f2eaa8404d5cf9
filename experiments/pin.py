#!/usr/bin/python3
"""Copy fresh results to data/results, the only way that pinned results change, and print what
differs from what was pinned before.

    shiftpoint sweep experiments/moe_idle.cfg
    experiments/pin.py moe_idle            # or --dry-run to see the difference only

Figures, paper and lessons read pinned results where no fresh ones exist.
"""

import argparse
import hashlib
import io
import json
import shutil
import sys
import tempfile
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent / "plots"))
import azure_conv  # noqa: E402
import bottleneck_shift  # noqa: E402
import figlib  # noqa: E402


def sweep_table(folder):
    return pd.read_csv(folder / "points.csv")


def claims_table(folder):
    """One row a claim; what was computed as 'name = low to high unit', joined by semicolons."""
    def quantity(q):
        low, high = f"{q['low']:.6g}", f"{q['high']:.6g}"
        return f"{q['name']} = {low if low == high else f'{low} to {high}'} {q['unit']}".strip()

    columns = ("id", "topic", "statement", "source", "verdict", "detail", "headline", "explanation")
    return pd.DataFrame([
        {**{c: row.get(c) for c in columns}, "computed": "; ".join(map(quantity, row["computed"]))}
        for row in json.loads((folder / "claims.json").read_text())])


# experiment -> (folder in results, file that a complete run has, table to pin)
EXPERIMENTS = {
    "bottleneck_shift": ("bottleneck_shift", "points.csv", sweep_table),
    "moe_idle": ("moe_idle", "points.csv", sweep_table),
    "azure_conv": ("azure_conv", "summary.json", azure_conv.reduce),
    "claims": ("audit", "claims.json", claims_table),
}


def as_csv(table):
    return table.to_csv(index=False, float_format="%.9g", lineterminator="\n")


def difference(old, new):
    """Lines that say what changed, by column, with the largest relative change of numbers."""
    lines = []
    for column in [c for c in old.columns if c not in new.columns]:
        lines.append(f"column {column} is gone")
    for column in [c for c in new.columns if c not in old.columns]:
        lines.append(f"column {column} is new")
    if len(old) != len(new):
        return [*lines, f"rows: {len(old)} -> {len(new)}"]
    for column in [c for c in new.columns if c in old.columns]:
        before, after = old[column], new[column]
        changed = ~((before == after) | (before.isna() & after.isna()))
        if not changed.any():
            continue
        text = f"{column}: {changed.sum()} of {len(new)} rows"
        if pd.api.types.is_numeric_dtype(before) and pd.api.types.is_numeric_dtype(after):
            scale = before[changed].abs().clip(lower=1e-300)
            # A number that came or went (null on one side) is the largest change there is.
            relative = ((after - before)[changed].abs() / scale).fillna(float("inf"))
            worst = relative.idxmax()
            text += f", most in row {worst}: {before[worst]:.6g} -> {after[worst]:.6g}"
        else:
            first = changed.idxmax()
            text += f", first in row {first}: {before[first]} -> {after[first]}"
        lines.append(text)
    return lines


def origin_of(folder, needed):
    """What is kept of the run's manifest. An audit has none: it is known by its checksum."""
    manifest = folder / "manifest.json"
    if manifest.is_file():
        return figlib.short_manifest(json.loads(manifest.read_text()))
    return {"sha256": hashlib.sha256((folder / needed).read_bytes()).hexdigest()}


def draw_for_readme(folder):
    with tempfile.TemporaryDirectory() as scratch:
        bottleneck_shift.make(None, scratch)
        shutil.copy(Path(scratch) / f"{bottleneck_shift.NAME}.png", folder)


def pin(name, results, pinned_folder, dry_run):
    folder_name, needed, to_table = EXPERIMENTS[name]
    folder = figlib.run_folder(folder_name, results, needed)
    if folder is None:
        raise figlib.MissingInput(f"no {needed} in results/{folder_name}: run it first")
    kept = origin_of(folder, needed)
    # Through CSV, so that what is compared is what is written.
    text = as_csv(to_table(folder))
    new = pd.read_csv(io.StringIO(text))
    target = pinned_folder / f"{name}.csv"
    if target.is_file():
        lines = difference(pd.read_csv(target), new) or ["no change"]
        before = json.loads(target.with_suffix(".manifest.json").read_text())
        lines += [f"{key}: {before.get(key)} -> {kept[key]}"
                  for key in kept if before.get(key) != kept[key]]
    else:
        lines = [f"new, {len(new)} rows, {len(new.columns)} columns"]
    print(f"{name}.csv:")
    print("".join(f"  {line}\n" for line in lines), end="")
    if not dry_run:
        pinned_folder.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.with_suffix(".manifest.json").write_text(json.dumps(kept, indent=2) + "\n")
        if name == bottleneck_shift.NAME and pinned_folder == figlib.PINNED:
            draw_for_readme(pinned_folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiments", nargs="+", choices=EXPERIMENTS, metavar="EXPERIMENT",
                        help=", ".join(EXPERIMENTS))
    parser.add_argument("--results", default=figlib.ROOT / "results")
    parser.add_argument("--pinned", type=Path, default=figlib.PINNED,
                        help="folder that is written (default data/results)")
    parser.add_argument("--dry-run", action="store_true")
    args = parser.parse_args()
    try:
        for name in args.experiments:
            pin(name, args.results, args.pinned, args.dry_run)
    except (figlib.MissingInput, ValueError, OSError) as error:
        print(f"pin.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
