#!/usr/bin/python3
"""Fail where the paper could drift from its results.

Every number with a unit comes from a generated macro (\\Num...), every macro is defined and used,
every figure and every generated table is there. Prints one line a problem: file, line, what.
"""

import argparse
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
UNITS = (r"%|\\%|ns|us|\\mu|ms|s|h|minutes?|seconds?|hours?|[kMGT]?i?B(?:/s)?|[kMGT]?Hz|"
         r"[GTP]?FLOP\S*|tok(?:ens?)?(?:/s)?|tok/s|k|x|\\times|times|fold|lines?|experts?|ranks?|"
         r"layers?|cards?|points?")
# A number, then a unit, with or without a space of any kind between them.
LITERAL = re.compile(rf"(?<![\w\\.])\d[\d.,{{}}]*(?:\s|~|\\,|\\;|-|\$)*(?:{UNITS})(?![A-Za-z])")
MACRO = re.compile(r"\\(Num[A-Za-z]+)")
DEFINED = re.compile(r"\\newcommand\{\\(Num[A-Za-z]+)\}")
NOT_PROSE = re.compile(r"\\(?:includegraphics|label|ref|cite|bibliography|bibliographystyle|input|"
                       r"usepackage|documentclass|setlength|vspace|hspace|url)\*?"
                       r"(?:\[[^\]]*\])?(?:\{[^{}]*\}){0,2}")


def prose(line):
    return NOT_PROSE.sub("", re.sub(r"(?<!\\)%.*", "", line))


def lint(sources, generated):
    problems = []
    numbers = generated / "numbers.tex"
    if not numbers.is_file():
        return [f"{numbers.name} is missing: run make_numbers.py first"]
    defined = DEFINED.findall(numbers.read_text())
    problems += [f"numbers.tex: {name} defined twice" for name in set(defined)
                 if defined.count(name) > 1]
    used = set()
    for path in sources:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            where = f"{path.name}:{number}"
            for found in LITERAL.finditer(prose(line)):
                problems.append(f"{where}: number typed by hand: '{found[0].strip()}'")
            for name in MACRO.findall(re.sub(r"(?<!\\)%.*", "", line)):
                used.add(name)
                if name not in defined:
                    problems.append(f"{where}: \\{name} is not in numbers.tex")
            for name in re.findall(r"\\includegraphics(?:\[[^\]]*\])?\{([^}]*)\}", line):
                if not (generated.parent / name).is_file():
                    problems.append(f"{where}: figure {name} is missing")
            for name in re.findall(r"\\input\{(generated/[^}]*)\}", line):
                if not (generated.parent / f"{name}.tex").is_file():
                    problems.append(f"{where}: {name}.tex is missing")
    problems += [f"numbers.tex: \\{name} is never used" for name in defined if name not in used]
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--generated", type=Path, required=True, help="folder of make_numbers.py")
    parser.add_argument("sources", nargs="*", type=Path,
                        help="default: main.tex and sections/*.tex")
    args = parser.parse_args()
    sources = args.sources or [FOLDER / "main.tex", *sorted((FOLDER / "sections").glob("*.tex"))]
    problems = lint(sources, args.generated.resolve())
    for problem in problems:
        print(problem)
    print(f"{len(sources)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
