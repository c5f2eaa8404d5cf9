"""What the lessons share: predict(), run_cli(), check(), exercise(). The simulator does the work."""

import csv
import json
import os
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_runs = []


def binary():
    """The program: SHIFTPOINT_BIN, else the newest build*/sim/cli/shiftpoint."""
    if os.environ.get("SHIFTPOINT_BIN"):
        return os.environ["SHIFTPOINT_BIN"]
    built = sorted(ROOT.glob("build*/sim/cli/shiftpoint"), key=lambda path: path.stat().st_mtime)
    if not built:
        raise FileNotFoundError("build the program first (README.md), or set SHIFTPOINT_BIN")
    return str(built[-1])


def predict(what, value, low, high, unit):
    """Goes on only with a prediction. Shows the bracket; never grades the guess."""
    if value is None:
        raise ValueError(f"set your prediction of {what} in the cell above, then run this again")
    print(f"your prediction of {what}: {value:g} {unit}")
    print(f"bracket: {low:.2f} {unit} (largest part alone) to {high:.2f} {unit} (sum of all)")
    if not low <= value <= high:
        print("your prediction lies outside the bracket: which fact would have to be wrong?")


class Run:
    """The files of one result folder."""

    def __init__(self, folder):
        self.manifest = json.loads((folder / "manifest.json").read_text())
        self.summary = json.loads((folder / "summary.json").read_text())
        with open(folder / "steps.csv", newline="") as file:
            self.steps = [{k: v if k == "kind" else float(v) for k, v in row.items()}
                          for row in csv.DictReader(file)]
        self.id = f"{self.manifest['hash']}-s{self.manifest['seed']}"


def run_cli(configuration, **overrides):
    """`shiftpoint run` on this configuration text; overrides as section__key=value."""
    with tempfile.TemporaryDirectory() as scratch:
        experiment = Path(scratch) / "lesson.cfg"
        experiment.write_text(configuration)
        keys = [f"--{key.replace('__', '.')}={value}" for key, value in overrides.items()]
        done = subprocess.run(
            [binary(), "run", str(experiment), f"--output.dir={scratch}/result", *keys],
            cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.replace(scratch + "/", "").strip())
        run = Run(Path(scratch) / "result")
    _runs.append(run)
    return run


def text(value):
    return f"{int(value):,}" if float(value).is_integer() else f"{value:.6g}"


def check(what, found, expected, tolerance=0.0, unit=""):
    """Fails unless found is expected within the relative tolerance; prints both."""
    if abs(found - expected) > tolerance * abs(expected):
        raise AssertionError(f"{what}: {found:g} {unit}, expected {expected:g} within "
                             f"{tolerance:.1%}")
    within = f"within {tolerance:.1%}" if tolerance else "exactly"
    unit = f" {unit}" if unit else ""
    print(f"ok  {what}: {text(found)}{unit} = {text(expected)}{unit} {within}")


def check_at_least(what, found, bound, unit=""):
    if found < bound:
        raise AssertionError(f"{what}: {found:g} {unit} is below its lower bound {bound:g}")
    print(f"ok  {what}: {text(found)} {unit} >= {text(bound)} {unit}")


def exercise(function, spec, cases, tolerance=1e-3):
    """True if function gives what spec gives in every case; prints the first difference."""
    for case in cases:
        found, expected = function(*case), spec(*case)
        if not isinstance(found, (int, float)) or abs(found - expected) > tolerance * abs(expected):
            print(f"not yet: {function.__name__}{case} gives {found}")
            return False
    print(f"solved: {function.__name__} is right in {len(cases)} cases")
    return True


def print_origin():
    """Revision of the program and the runs of this lesson."""
    print("revision", _runs[-1].manifest["shiftpoint"]["revision"])
    print("runs", ", ".join(run.id for run in _runs))
