#!/usr/bin/python3
"""Build the .ipynb beside every lesson NN_title.py, or --check that the committed ones are true.

A lesson is a Python file in percent format: cells start with `# %%` or `# %% [markdown]`, with
optional tags=["..."]. Tags that mean something here:
  prediction  assigns the reader's prediction; with None in its place the next cell must refuse
  exercise    the stub; as it stands, `passed` of the exercise-check cell must be False
  exercise-check  sets `passed`
  solution    folded text with one ```python block; in place of the stub it must make `passed` True
  revision    prints what changes with every commit: not compared
"""

import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path

SKIP = 77  # ctest reports it as skipped
FOLDER = Path(__file__).resolve().parent
MARKER = re.compile(r"^# %%(?P<markdown> \[markdown\])?(?: tags=(?P<tags>\[.*\]))?\s*$")

try:
    import ipykernel  # noqa: F401  (what executes the cells)
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError
except ImportError as missing:
    print(f"SKIPPED: {missing.name} is not installed for {sys.executable}")
    sys.exit(SKIP)


def read_cells(path):
    """[(is_markdown, tags, source)] of a percent file."""
    cells = []
    for line in path.read_text().splitlines():
        marker = MARKER.match(line)
        if marker:
            cells.append((bool(marker["markdown"]), json.loads(marker["tags"] or "[]"), []))
        elif cells:
            cells[-1][2].append(line)
        elif line.strip():
            raise ValueError(f"{path.name}: text before the first # %% cell")
    return [(markdown, tags, source_text(lines, markdown)) for markdown, tags, lines in cells]


def source_text(lines, markdown):
    if markdown:
        lines = [re.sub(r"^# ?", "", line) for line in lines]
    return "\n".join(lines).strip("\n")


def make_notebook(cells):
    book = nbformat.v4.new_notebook()
    for number, (markdown, tags, source) in enumerate(cells, 1):
        new = nbformat.v4.new_markdown_cell if markdown else nbformat.v4.new_code_cell
        cell = new(source, id=f"cell-{number:02d}")
        if tags:
            cell["metadata"]["tags"] = tags
        book["cells"].append(cell)
    return book


def execute(book):
    """Runs in notebooks/, so that `import lesson` works. Raises CellExecutionError."""
    client = NotebookClient(book, timeout=120, kernel_name="python3", record_timing=False,
                            resources={"metadata": {"path": str(FOLDER)}})
    client.execute()
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = join_streams(cell["outputs"])
    # The interpreter's version is not part of a lesson.
    book["metadata"] = {"kernelspec": {"display_name": "Python 3", "language": "python",
                                       "name": "python3"},
                        "language_info": {"name": "python"}}
    return book


def join_streams(outputs):
    """How printed text is cut into messages depends on timing; its content does not."""
    joined = []
    for output in outputs:
        if joined and output["output_type"] == "stream" == joined[-1]["output_type"] \
                and output["name"] == joined[-1]["name"]:
            joined[-1]["text"] += output["text"]
        else:
            joined.append(output)
    return joined


def compared(book):
    """What must not change: sources, tags and outputs, but for the outputs of revision cells."""
    view = []
    for cell in book["cells"]:
        tags = cell["metadata"].get("tags", [])
        outputs = [] if "revision" in tags else cell.get("outputs", [])
        view.append({"type": cell["cell_type"], "tags": tags, "source": cell["source"],
                     "outputs": [dict(output) for output in outputs]})
    return json.loads(json.dumps(view))


def first_difference(old, new):
    if len(old) != len(new):
        return f"{len(old)} cells committed, {len(new)} built"
    for number, (a, b) in enumerate(zip(old, new), 1):
        for key in a:
            if a[key] != b[key]:
                return f"cell {number}, {key}:\n--- committed\n{a[key]}\n--- built\n{b[key]}"
    return None


def with_solution(cells):
    solutions = [re.search(r"```python\n(.*?)```", source, re.S)
                 for _, tags, source in cells if "solution" in tags]
    if len(solutions) != 1 or not solutions[0]:
        raise ValueError("a lesson needs one solution cell with one ```python block")
    return [(markdown, tags, solutions[0][1] if "exercise" in tags else source)
            for markdown, tags, source in cells]


def with_probe(cells):
    return [*cells, (False, [], "print(passed)")]


def last_output(book):
    return "".join(output.get("text", "") for output in book["cells"][-1]["outputs"]).strip()


def check_behaviour(cells):
    """What is wrong with prediction, stub and solution: a list of sentences."""
    wrong = []
    stub = execute(make_notebook(with_probe(cells)))
    if last_output(stub) != "False":
        wrong.append("the exercise's stub passes its own check")
    solved = execute(make_notebook(with_probe(with_solution(cells))))
    if last_output(solved) != "True":
        wrong.append("the exercise's solution fails its check")
    unset = [(markdown, tags,
              re.sub(r"^(\w+) = .*$", r"\1 = None", source, flags=re.M) if "prediction" in tags
              else source) for markdown, tags, source in cells]
    try:
        execute(make_notebook(unset))
        wrong.append("the lesson goes on without a prediction")
    except CellExecutionError as refused:
        if "prediction" not in str(refused):
            wrong.append(f"without a prediction it fails for another reason: {refused}")
    return wrong


def check(path):
    cells = read_cells(path)
    committed_path = path.with_suffix(".ipynb")
    if not committed_path.is_file():
        return [f"{committed_path.name} is missing"]
    committed = nbformat.read(committed_path, as_version=4)
    text = committed_path.read_text()
    wrong = [f"committed notebook holds a path: {found}"
             for found in set(re.findall(r"(?:/home|/root|/work|/tmp|/build)/\S*", text))]
    # Through JSON, as the committed one has been.
    built = nbformat.reads(nbformat.writes(execute(make_notebook(cells))), as_version=4)
    difference = first_difference(compared(committed), compared(built))
    return wrong + ([difference] if difference else []) + check_behaviour(cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lessons", nargs="*", type=Path, help="default: every NN_title.py")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if anything differs")
    args = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        # Kernel files beside nobody else's: several checks may run at once.
        # The last one silences a debugger's warning that nobody here can act on.
        os.environ.update(JUPYTER_RUNTIME_DIR=scratch, IPYTHONDIR=scratch,
                          PYDEVD_DISABLE_FILE_VALIDATION="1")
        for path in args.lessons or sorted(FOLDER.glob("[0-9][0-9]_*.py")):
            path = path.resolve()
            if args.check:
                wrong = check(path)
                print(f"{path.name}: {'ok' if not wrong else 'FAILED'}")
                print("".join(f"  {line}\n" for line in wrong), end="")
                failed |= bool(wrong)
            else:
                book = execute(make_notebook(read_cells(path)))
                nbformat.write(book, path.with_suffix(".ipynb"))
                print(f"{path.name} -> {path.with_suffix('.ipynb').name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
