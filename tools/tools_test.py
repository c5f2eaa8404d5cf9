#!/usr/bin/python3
"""Tests of the checking tools: each rule must find its offence and leave clean files alone."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import lint  # noqa: E402
import test_summary  # noqa: E402


def function_of(lines, indent=""):
    """A C++ function of that many lines, signature and closing brace included."""
    return f"{indent}void f() {{\n" + f"{indent}  g();\n" * (lines - 2) + f"{indent}}}\n"


class LintTest(unittest.TestCase):
    def findings(self, name, text, mode=0o644):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
            path.chmod(mode)
            return list(lint.file_findings(pathlib.Path(folder), pathlib.Path(name)))

    def assert_one(self, name, text, line, words, mode=0o644):
        found = self.findings(name, text, mode)
        self.assertEqual([entry[0] for entry in found], [line], found)
        self.assertIn(words, found[0][1])

    def test_clean_files(self):
        self.assertEqual(self.findings("a.h", "#pragma once\nint f();\n"), [])
        self.assertEqual(self.findings("a.py", "import os\n\nprint(os.sep)\n"), [])
        self.assertEqual(self.findings("empty.txt", ""), [])
        self.assertEqual(self.findings("page.md", "See [x](https://example.org), framework/x\n"), [])

    def test_lines(self):
        self.assert_one("a.cpp", "int a;\nint b; \n", 2, "trailing")
        self.assert_one("a.cpp", "int a;\r\n", 1, "carriage")
        self.assert_one("a.cpp", "int a;", 1, "newline")
        self.assert_one("a.cpp", "// \u00b5s\n", 1, "ASCII")
        self.assert_one("a.cpp", "// TO" + "DO later\n", 1, "postponed")
        self.assert_one("a.md", "see /wo" + "rk/main\n", 1, "one machine")
        self.assert_one("a.cmake", "# http" + "://example.org\n", 1, "fetched")

    def test_core(self):
        self.assert_one("sim/moe/a.cpp", "#include <fstream>\n", 1, "no Boost")
        self.assert_one("sim/cost/a.cpp", "double a = std::log(2.0);\n", 1, "libm")
        self.assertEqual(self.findings("sim/cost/a.cpp", "// std::log(2)\n"), [])
        self.assertEqual(self.findings("sim/report/a.cpp", "#include <fstream>\n"), [])
        self.assertEqual(self.findings("sim/moe/a_test.cpp", "#include <fstream>\n"), [])

    def test_syntax(self):
        self.assert_one("a.py", "a = 1\nb = (\n", 2, "syntax")
        self.assert_one("a.json", "{\n  1\n}\n", 2, "syntax")

    def test_scripts(self):
        script = "#!/bin/sh\ntrue\n"
        self.assertEqual(self.findings("run", script, 0o755), [])
        self.assert_one("run", script, 1, "not executable")
        self.assert_one("notes.md", "words\n", 1, "no interpreter", 0o755)

    def test_sizes(self):
        self.assertEqual(self.findings("a.cpp", function_of(70)), [])
        self.assert_one("a.cpp", "int a;\n" + function_of(71), 2, "71 lines in a function")
        member = "struct A {\n" + function_of(71, "  ") + "};\n"
        self.assert_one("a.h", member, 2, "71 lines in a function")
        self.assertEqual(self.findings("a.cpp", function_of(60) * 5), [])
        self.assert_one("a.cpp", function_of(60) * 5 + "int a;\n", 301, "301 lines in a file")
        self.assertEqual(self.findings("a.cu", function_of(400)), [])
        self.assert_one("a.py", "def f():\n" + "    g()\n" * 70, 1, "71 lines in a function")


CASE = '<testcase name="{}" status="{}">{}</testcase>'
SKIP = '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/><system-out>SKIPPED: no data</system-out>'
LOST = '<skipped message="Unable to find executable"/>'


class SummaryTest(unittest.TestCase):
    def summary(self, *runs):
        """(exit status, printed lines) for runs given as lists of <testcase> elements."""
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for number, cases in enumerate(runs):
                files.append(pathlib.Path(folder) / f"{number}.xml")
                files[-1].write_text("<testsuite>" + "".join(cases) + "</testsuite>")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                status = test_summary.main(files)
            return status, out.getvalue().splitlines()

    def test_counts_and_reasons(self):
        status, lines = self.summary([CASE.format("a", "run", ""), CASE.format("b", "notrun", SKIP)])
        self.assertEqual((status, lines),
                         (0, ["skipped 1: no data", "1 passed, 0 failed, 1 skipped"]))

    def test_a_missing_program_is_a_failure(self):
        status, lines = self.summary([CASE.format("a", "run", ""), CASE.format("b", "notrun", LOST)])
        self.assertEqual(status, 1)
        self.assertEqual(lines[-1], "1 passed, 1 failed, 0 skipped")

    def test_a_skip_does_not_hide_a_failure(self):
        both = SKIP.replace("SKIPPED:", "a.cpp:1: FAILED:\nSKIPPED:")
        status, lines = self.summary([CASE.format("a", "notrun", both)])
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed, 0 skipped"))

    def test_a_test_in_two_builds_counts_once(self):
        passed, failed = CASE.format("a", "run", ""), CASE.format("a", "fail", "")
        skipped = CASE.format("a", "notrun", SKIP)
        self.assertEqual(self.summary([passed], [failed])[1][-1], "0 passed, 1 failed, 0 skipped")
        self.assertEqual(self.summary([failed], [passed])[1][-1], "0 passed, 1 failed, 0 skipped")
        self.assertEqual(self.summary([skipped], [passed])[1][-1], "1 passed, 0 failed, 0 skipped")

    def test_no_test_is_a_failure(self):
        self.assertEqual(self.summary([])[0], 1)


if __name__ == "__main__":
    unittest.main()
