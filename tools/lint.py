#!/usr/bin/python3
"""House rules that no compiler checks. Prints `file:line: finding` and exits 1 if there is any.

Usage: lint.py [--root DIR] [FILE...]      (all files of the tree by default)

Looks at what git tracks or would add; outside a git checkout, at everything but build folders.
"""
import argparse
import ast
import json
import os
import pathlib
import re
import subprocess
import sys

FILE_LINES_MAX = 300
FUNCTION_LINES_MAX = 70

# Kernels are split into named device functions instead and may be longer.
HOST_SUFFIXES = {".cpp", ".h", ".py", ".sh"}
BRACED_SUFFIXES = {".cpp", ".h", ".sh"}
SOURCE_SUFFIXES = HOST_SUFFIXES | {".cu", ".cuh", ".cmake", ".txt", ".cfg", ".cff", ".csv"}
# Building and checking must not fetch anything but the system's packages.
OFFLINE_SUFFIXES = {".sh", ".cmake", ".txt"}

# Written in two parts so that this file passes its own check.
POSTPONED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
MACHINE_PATH = re.compile(r"(?<![\w.)}\]>-])/(?:work|root|home|farm|Users)/\w")
URL = re.compile(r"\b(?:https?|ftp)://")


CORE_MODULES = {"core", "workload", "serving", "speculation", "kvcache", "moe", "cost"}
CORE_INCLUDE = re.compile(
    r"#include <(?:boost/|fmt/|thread|mutex|atomic|future|fstream|iostream|filesystem)")
CORE_LIBM = re.compile(r"\bstd::(?:log|log2|log1p|exp|exp2|expm1|pow|sin|cos|tan|cbrt|tgamma|lgamma)\(")


def tree_files(root):
    """Paths of the tree's own files, relative to root."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listed.returncode == 0:
        names = sorted(set(os.fsdecode(listed.stdout).split("\0")) - {""})
        return [pathlib.Path(name) for name in names if (root / name).is_file()]
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders
                            if not name.startswith(("build", ".git")) and
                            name not in {"results", "__pycache__"})
        found += [(pathlib.Path(folder) / name).relative_to(root) for name in sorted(names)]
    return found


def is_script(text):
    return text.startswith("#!")


def kind(path, text):
    """The suffix; for a script without one, the suffix of its language."""
    if path.suffix:
        return path.suffix
    first = text.split("\n", 1)[0] if is_script(text) else ""
    return ".py" if "python" in first else ".sh" if "sh" in first else ""


def line_findings(path, suffix, lines):
    for number, line in enumerate(lines, 1):
        if line.endswith("\r"):
            yield number, "carriage return at the end of the line"
        elif line != line.rstrip() and suffix != ".ipynb":
            yield number, "trailing whitespace"
        if POSTPONED.search(line):
            yield number, "postponed work: do it or describe the limit in words"
        if MACHINE_PATH.search(line):
            yield number, f"path of one machine: {MACHINE_PATH.search(line).group()}..."
        if suffix in SOURCE_SUFFIXES and not line.isascii():
            yield number, "not ASCII"
        if suffix in OFFLINE_SUFFIXES and URL.search(line):
            yield number, "an address in a script or build file: nothing may be fetched"


def core_findings(path, lines):
    """The core must compile for a browser and give the same bytes everywhere (sim/README.md)."""
    parts = path.parts
    if (len(parts) < 3 or parts[0] != "sim" or parts[1] not in CORE_MODULES
            or "_test" in path.name):
        return
    for number, line in enumerate(lines, 1):
        if CORE_INCLUDE.search(line):
            yield number, "the core includes no Boost, fmt, threads, files or standard streams"
        code = line.split("//", 1)[0]
        if CORE_LIBM.search(code):
            yield number, "libm differs between processors: sim/core/det_math.h in the core"


def braced_functions(lines):
    """(first line, last line) of functions laid out as clang-format does: a body ends with a brace
    alone, as far in as the line on which its signature began."""
    began = {"": None, "  ": None}
    for number, line in enumerate(lines, 1):
        indent = line[:len(line) - len(line.lstrip(" "))]
        if indent not in began:
            continue
        if line == indent + "}" and began[indent]:
            yield began[indent], number
        elif line[len(indent):len(indent) + 1].isalpha() and not line.endswith(":"):
            began[indent] = number


def python_functions(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno


def size_findings(suffix, lines, tree):
    if suffix in HOST_SUFFIXES and len(lines) > FILE_LINES_MAX:
        yield len(lines), f"{len(lines)} lines in a file, at most {FILE_LINES_MAX}"
    functions = []
    if suffix in BRACED_SUFFIXES:
        functions = braced_functions(lines)
    elif tree is not None:
        functions = python_functions(tree)
    for first, last in functions:
        if last - first + 1 > FUNCTION_LINES_MAX:
            yield first, f"{last - first + 1} lines in a function, at most {FUNCTION_LINES_MAX}"


def file_findings(root, path):
    """(line, finding) for one file."""
    data = (root / path).read_bytes()
    if b"\0" in data:
        return
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        yield 1, f"not UTF-8: {error.reason} at byte {error.start}"
        return
    suffix = kind(path, text)
    lines = text.split("\n")
    if lines[-1]:
        yield len(lines), "no newline at the end of the file"
    else:
        lines.pop()
    if is_script(text) != os.access(root / path, os.X_OK):
        yield 1, ("a script that is not executable" if is_script(text)
                  else "executable, but its first line names no interpreter")
    tree = None
    try:
        if suffix == ".py":
            tree = ast.parse(text, str(path))
        elif suffix in {".json", ".ipynb"}:
            json.loads(text)
    except (SyntaxError, json.JSONDecodeError) as error:
        yield error.lineno or 1, f"syntax: {error.msg}"
    yield from line_findings(path, suffix, lines)
    yield from size_findings(suffix, lines, tree)
    yield from core_findings(path, lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="relative to the root")
    arguments = parser.parse_args()
    files = arguments.files or tree_files(arguments.root)
    count = 0
    for path in files:
        for line, finding in file_findings(arguments.root, path):
            print(f"{path}:{line}: {finding}")
            count += 1
    print(f"{len(files)} files, {count} findings")
    return 1 if count or not files else 0


if __name__ == "__main__":
    sys.exit(main())
