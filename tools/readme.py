#!/usr/bin/python3
"""Keeps the generated blocks of README.md in step with what the program does.

    tools/readme.py PROGRAM            rewrite the blocks
    tools/readme.py PROGRAM --check    fail if a block differs from what the program says now

A block stands between `<!-- generated: NAME -->` and `<!-- end -->`. No number in the README is typed.
"""
import csv
import difflib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXAMPLE = "experiments/smoke/azure_conv.cfg"
CONTEXTS = ("4096", "16384", "65536", "185000")


def run(program, scratch, *arguments):
    done = subprocess.run([program, *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.replace(str(scratch), "results")


def example(program, scratch):
    out = run(program, scratch, "run", EXAMPLE, f"--output.dir={scratch}/first")
    return (f"```text\n$ build-cpu/sim/cli/shiftpoint run {EXAMPLE} --output.dir=results/first\n"
            f"{out}```")


def points(program, scratch):
    folder = scratch / "bottleneck_shift"
    if not folder.exists():
        run(program, scratch, "sweep", "experiments/bottleneck_shift.cfg", f"--output.dir={folder}")
    with open(folder / "points.csv", encoding="ascii") as table:
        return [row for row in csv.DictReader(table) if row["cost.launch_mode"] == "graph"]


def crossover(rows):
    """Context at which attention's share passes one half, between two points linear in the context."""
    track = [(int(r["workload.context_tokens"]), float(r["ms_per_token.attention"]),
              float(r["ms_per_token.total"])) for r in rows]
    excess = [(context, 2 * attention - total) for context, attention, total in track]
    if excess[0][1] >= 0:
        return f"below {excess[0][0]:,}"
    for (x0, y0), (x1, y1) in zip(excess, excess[1:]):
        if y1 >= 0:
            return f"{round(x0 + (x1 - x0) * -y0 / (y1 - y0), -2):,.0f}"
    return f"beyond {excess[-1][0]:,}"


def crossovers(program, scratch):
    by_variant = {}
    for row in points(program, scratch):
        by_variant.setdefault(row["cost.attention"], []).append(row)
    head = " | ".join(f"{int(c):,}" for c in CONTEXTS)
    lines = [f"| verify-attention kernel | ms per token at context {head} | attention is more than "
             "half of a step from (tokens) |", "| --- |" + " --- |" * (len(CONTEXTS) + 1)]
    for variant, rows in by_variant.items():
        at = {row["workload.context_tokens"]: row for row in rows}
        cells = " | ".join(f"{float(at[c]['ms_per_token.total']):.1f} "
                           f"({100 * float(at[c]['attribution.attention']):.0f} % attention)"
                           for c in CONTEXTS)
        lines.append(f"| `{variant}` | {cells} | {crossover(rows)} |")
    return "\n".join(lines)


def published(program, scratch):
    """Predicted against printed throughput, for the two kernels that the articles print most of."""
    predicted = {(row["cost.attention"], row["workload.context_tokens"]):
                 float(row["throughput_tok_s"]) for row in points(program, scratch)}
    lines = ["| articles' kernel | context | printed tok/s | predicted tok/s (acceptance length 3.0) | "
             "printed / predicted |", "| --- | --- | --- | --- | --- |"]
    with open(ROOT / "data/published/articles_throughput.csv", encoding="ascii") as table:
        for row in csv.DictReader(table):
            if not row["claim_id"].startswith(("C01", "C02")):
                continue
            tokens = predicted[row["variant"], row["context_tokens"]]
            printed = float(row["tok_per_s"])
            lines.append(f"| `{row['variant']}` | {int(row['context_tokens']):,} | {printed:g} | "
                         f"{tokens:.1f} | {printed / tokens:.2f} |")
    return "\n".join(lines)


def claims(program, scratch):
    points(program, scratch)
    run(program, scratch, "audit", f"--results={scratch}", f"--output.dir={scratch}/audit")
    rows = json.loads((scratch / "audit" / "claims.json").read_text())
    counts = {}
    for row in rows:
        word = row["verdict"].split()[0]
        counts[word] = counts.get(word, 0) + 1
    text = ", ".join(f"{counts[word]} {word}" for word in sorted(counts))
    lines = [f"{len(rows)} claims: {text}. Contradicted:", "", "| claim | says | what the numbers say |",
             "| --- | --- | --- |"]
    for row in rows:
        if row["verdict"] == "contradicted":
            lines.append(f"| {row['id']} | {row['statement']} | {row['headline']} |")
    return "\n".join(lines)


def experiments(_program, _scratch):
    lines = ["| file | question |", "| --- | --- |"]
    for path in sorted((ROOT / "experiments").glob("*.cfg")):
        header = re.match(r"((?:#.*\n)+)", path.read_text(encoding="ascii")).group(1)
        text = " ".join(line.lstrip("# ").strip() for line in header.splitlines())
        question = re.search(r"Question: (.*?\?)", text).group(1)
        lines.append(f"| `experiments/{path.name}` | {question[0].upper()}{question[1:]} |")
    return "\n".join(lines)


BLOCKS = {"example": example, "crossovers": crossovers, "published": published, "claims": claims,
          "experiments": experiments}


def render(program, text):
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)

        def fill(match):
            body = BLOCKS[match.group(1)](program, scratch)
            return f"<!-- generated: {match.group(1)} -->\n{body}\n<!-- end -->"

        return re.sub(r"<!-- generated: (\w+) -->\n.*?<!-- end -->", fill, text, flags=re.DOTALL)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    readme = ROOT / "README.md"
    old = readme.read_text(encoding="utf-8")
    new = render(program, old)
    if "--check" not in sys.argv:
        readme.write_text(new, encoding="utf-8")
        return 0
    if new != old:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True),
                                                   "README.md", "what the program says now"))
        print("README.md is out of date: run tools/readme.py PROGRAM")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
