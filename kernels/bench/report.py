#!/usr/bin/python3
"""Writes the generated tables of kernels/README.md from the recorded profile.

    report.py [--profile data/profiles/nvidia-h200] [--check]

--check only says whether the file is up to date (exit 1 if not).
"""
import argparse
import csv
import json
import os
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
CONTEXTS = [1024, 4096, 16384, 65536, 131072]
VARIANTS = ["extend-serial", "flatten-split", "split-scalar", "split-vector", "packed", "packed-solo",
            "packed-pair"]
# Bars and the best public kernel, us: issue and reference measurements on the same card, quoted in
# kernels/README.md.
BARS = {(1, 1024): (8, 13.9), (1, 4096): (11, 19.1), (1, 16384): (18, 30.8), (1, 65536): (46, 50.8),
        (1, 131072): (78, 78.7), (8, 16384): (80, 68), (8, 65536): (280, 220), (8, 131072): (550, 468),
        (32, 65536): (1080, 976)}


def load(folder):
    with open(os.path.join(folder, "verify_attention.csv"), newline="") as source:
        rows = list(csv.DictReader(source))
    with open(os.path.join(folder, "manifest.json")) as source:
        manifest = json.load(source)
    table = {}
    for row in rows:
        key = (row["variant"], int(row["batch"]), row["contexts"], row["layout"], int(row["heads"]))
        # The first row of a key has the suggested split count; sweeps of NSPLIT follow.
        table.setdefault(key, row)
    return table, manifest


def cell(table, variant, batch, context):
    return table.get((variant, batch, str(context), "random", 8))


def bars_table(table):
    lines = ["| batch x context | packed us | packed-solo us | packed-pair us | bar | best public |",
             "| --- | --- | --- | --- | --- | --- |"]
    for (batch, context), (bar, public) in BARS.items():
        times = [cell(table, v, batch, context) for v in ("packed", "packed-solo", "packed-pair")]
        text = [f"{float(t['median_us']):.2f}" if t else "-" for t in times]
        lines.append(f"| {batch} x {context} | {text[0]} | {text[1]} | {text[2]} | {bar} | {public} |")
    return lines


def main_table(table, manifest):
    read = manifest["ceilings"]["read_gbps"]
    mma = manifest["ceilings"]["mma_sync_tflops"]
    lines = ["| variant | batch | context | us | KV GB/s | % of read | TFLOP/s | % of mma.sync | "
             "x extend-serial | x flatten-split |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for batch in (1, 8, 32):
        for context in CONTEXTS[1:]:
            for variant in VARIANTS:
                row = cell(table, variant, batch, context)
                if row is None:
                    continue
                us = float(row["median_us"])
                gbps = float(row["kv_bytes"]) / us / 1e3
                tflops = float(row["flops"]) / us / 1e6
                ratios = []
                for base in ("extend-serial", "flatten-split"):
                    other = cell(table, base, batch, context)
                    ratios.append(f"{float(other['median_us']) / us:.1f}" if other else "-")
                lines.append(f"| {variant} | {batch} | {context} | {us:.2f} | {gbps:.0f} | "
                             f"{100 * gbps / read:.1f} | {tflops:.1f} | {100 * tflops / mma:.1f} | "
                             f"{ratios[0]} | {ratios[1]} |")
    return lines


def replace(text, name, lines):
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    head, rest = text.split(begin, 1)
    _, tail = rest.split(end, 1)
    return head + begin + "\n" + "\n".join(lines) + "\n" + end + tail


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default=os.path.join(ROOT, "data/profiles/nvidia-h200"))
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    table, manifest = load(options.profile)
    path = os.path.join(ROOT, "kernels/README.md")
    with open(path) as source:
        old = source.read()
    new = replace(old, "bars", bars_table(table))
    new = replace(new, "variants", main_table(table, manifest))
    with open(os.path.join(ROOT, "data/profiles/kernel_resources.csv"), newline="") as source:
        rows = list(csv.reader(source))
    resources = ["| " + " | ".join(r) + " |" for r in rows]
    resources.insert(1, "| " + " | ".join(["---"] * len(rows[0])) + " |")
    new = replace(new, "resources", resources)
    if options.check:
        sys.exit(0 if new == old else "kernels/README.md is out of date: run kernels/bench/report.py")
    with open(path + ".tmp", "w") as out:
        out.write(new)
    os.replace(path + ".tmp", path)


if __name__ == "__main__":
    main()
