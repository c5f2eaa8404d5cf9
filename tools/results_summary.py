#!/usr/bin/python3
"""Prints what a reproduction left behind: files by folder, figures and the verdicts on the claims.

Usage: results_summary.py RESULTS
"""
import collections
import json
import pathlib
import sys


def size_text(size_bytes):
    return f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 1e6 else f"{size_bytes / 1e3:.1f} kB"


def main(results):
    print(f"{'results':<36} {'files':>6} {'size':>10}")
    for folder in sorted(path for path in results.iterdir() if path.is_dir()):
        files = [path for path in folder.rglob("*") if path.is_file()]
        size_bytes = sum(path.stat().st_size for path in files)
        print(f"{str(folder):<36} {len(files):>6} {size_text(size_bytes):>10}")
    print("\nfigures")
    for figure in sorted((results / "figures").glob("*.png")):
        print(f"  {figure}")
    claims = json.loads((results / "audit" / "claims.json").read_text())
    if isinstance(claims, dict):
        claims = claims["claims"]
    verdicts = collections.Counter(claim["verdict"] for claim in claims)
    print(f"\n{len(claims)} claims ({results / 'audit' / 'claims.md'}): " +
          ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
