#!/usr/bin/python3
"""Counts the tests of one or more ctest runs from their JUnit files.

Usage: test_summary.py FILE...

A test that ran in several builds counts once: as failed if it failed in any of them, as passed if
it passed in one and was skipped in another. ctest lists as skipped a test whose program is missing
and one that failed after it said that it skips; here both are failures. Prints why tests were skipped, then which failed, then the line
`N passed, N failed, N skipped`. Exit status 1 if a test failed or none ran.
"""
import sys
import xml.etree.ElementTree as ElementTree

SKIPPED, PASSED, FAILED = range(3)  # the worst of several results is the largest
SKIP_MARK = "SKIPPED:"  # sim/test_support/catch.h
FAIL_MARK = "FAILED:"  # Catch2, above each failed assertion


def outcome(case):
    """(result, reason) of one <testcase>."""
    status = case.get("status")
    if status == "run":
        return PASSED, ""
    skipped = case.find("skipped")
    message = skipped.get("message", "") if skipped is not None else ""
    if status == "disabled":
        return SKIPPED, "disabled"
    if status == "notrun" and message.startswith("SKIP_"):
        output = case.findtext("system-out") or ""
        if FAIL_MARK in output:
            return FAILED, "failed in one part, skipped in another"
        reasons = [line.split(SKIP_MARK, 1)[1].strip()
                   for line in output.splitlines() if SKIP_MARK in line]
        return SKIPPED, reasons[0] if reasons else message
    return FAILED, message


def merge(files):
    """{test name: (result, reason)} over all files."""
    tests = {}
    for path in files:
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            name = case.get("name")
            tests[name] = max(tests.get(name, (SKIPPED, "")), outcome(case))
    return tests


def main(files):
    tests = merge(files)
    reasons = {}
    for result, reason in tests.values():
        if result == SKIPPED:
            reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in sorted(reasons.items()):
        print(f"skipped {count}: {reason}")
    for name, (result, reason) in sorted(tests.items()):
        if result == FAILED:
            print(f"failed: {name}" + (f" ({reason})" if reason else ""))
    counts = [sum(1 for result, _ in tests.values() if result == kind)
              for kind in (PASSED, FAILED, SKIPPED)]
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 1 if counts[1] or not counts[0] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
