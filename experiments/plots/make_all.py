#!/usr/bin/python3
"""Draw every figure whose inputs exist; say what was made and what was skipped, and why.

Exit status: 0 if nothing failed (skipping is not failing), 1 if a figure could not be drawn from
inputs that are there.
"""

import argparse
import importlib
import sys
from pathlib import Path

import figlib

FIGURES = ("bottleneck_shift", "moe_idle", "azure_conv")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", default=figlib.ROOT / "results",
                        help="folder of fresh results, one folder an experiment")
    parser.add_argument("--pinned", action="store_true",
                        help="draw data/results even where fresh results exist")
    parser.add_argument("--output", default=figlib.ROOT / "results" / "figures")
    args = parser.parse_args()
    failed = 0
    for name in FIGURES:
        try:
            made = importlib.import_module(name).make(
                None if args.pinned else args.results, args.output)
            print(f"made     {name}: {', '.join(path.name for path in made)}")
        except figlib.MissingInput as missing:
            print(f"skipped  {name}: {missing}")
        except Exception as error:  # one broken figure must not hide the others
            print(f"FAILED   {name}: {type(error).__name__}: {error}", file=sys.stderr)
            failed += 1
    print(f"figures in {Path(args.output).name}/")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
