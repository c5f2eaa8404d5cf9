#!/usr/bin/python3
"""The paper's numbers come out of the pinned results, the lint passes on the paper, and the lint
finds each kind of fault that it is there for."""

import subprocess
import sys
import tempfile
from pathlib import Path

SKIP = 77
FOLDER = Path(__file__).resolve().parent
try:
    import matplotlib  # noqa: F401
    import pandas  # noqa: F401
except ImportError as missing:
    print(f"SKIPPED: {missing.name} is not installed for {sys.executable}")
    sys.exit(SKIP)

import lint


def findings(text, folder):
    """What the lint says of a section with this text, beside a numbers.tex with one macro."""
    generated = Path(folder) / "generated"
    generated.mkdir(exist_ok=True)
    (generated / "numbers.tex").write_text("\\newcommand{\\NumRate}{9.2}\n")
    source = Path(folder) / "section.tex"
    source.write_text(text)
    return lint.lint([source], generated)


def test_lint_finds_faults():
    faults = {
        "\\NumRate{} and 29.1 tok/s": "number typed by hand",
        "\\NumRate{} and 14\\,GB/s": "number typed by hand",
        "\\NumRate{} and 25\\% of it": "number typed by hand",
        "\\NumRate{} and 4k": "number typed by hand",
        "\\NumRate{} and 3.0$\\times$": "number typed by hand",
        "\\NumRate{} and \\NumOther{}": "\\NumOther is not in numbers.tex",
        "nothing": "\\NumRate is never used",
        "\\NumRate{} \\includegraphics[width=1cm]{generated/none.pdf}": "is missing",
        "\\NumRate{} \\input{generated/none}": "is missing",
    }
    with tempfile.TemporaryDirectory() as folder:
        for text, expected in faults.items():
            found = findings(text, folder)
            assert len(found) == 1 and expected in found[0], (text, found)
        for clean in ("\\NumRate{} in Section 3 of article 001", "\\NumRate{} % 5 ms in a comment",
                      "\\NumRate{} \\includegraphics[width=0.8\\textwidth]{section.tex}"):
            assert findings(clean, folder) == [], (clean, findings(clean, folder))


def test_paper():
    with tempfile.TemporaryDirectory() as folder:
        generated = Path(folder) / "generated"
        for command in (["make_numbers.py", "--output"], ["lint.py", "--generated"]):
            done = subprocess.run(
                [sys.executable, "-B", str(FOLDER / command[0]), command[1], str(generated)],
                capture_output=True, text=True)
            assert done.returncode == 0, f"{command[0]}:\n{done.stdout}{done.stderr}"


def main():
    failed = 0
    for test in (test_lint_finds_faults, test_paper):
        try:
            test()
            print(f"ok     {test.__name__}")
        except AssertionError as error:
            print(f"FAILED {test.__name__}: {error}")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
