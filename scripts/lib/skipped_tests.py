"""skipped_tests.py: lists the tests that did not run, with their reasons, from ctest's JUnit reports.

    skipped_tests.py FOLDER     reads FOLDER/*.xml

A GoogleTest says why in the text after "Skipped" of its output, a script in its line "SKIPPED: reason".
A test that was skipped without a word of why is listed as such: that is a fault of the test.
SPDX-License-Identifier: MIT
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree


def reason_of(output):
    """The first line that says why, out of what the test printed."""
    script_line = re.search(r"SKIPPED: *(\S.*)", output)
    if script_line:
        return script_line.group(1).strip()
    google_test = re.search(r":\d+: Skipped\n(.+)", output)
    if google_test:
        return google_test.group(1).strip()
    return "no reason given"


def skipped_in(report):
    """Pairs (test, reason) of one report."""
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        if case.get("status") in ("notrun", "disabled") or case.find("skipped") is not None:
            yield case.get("name"), reason_of(case.findtext("system-out") or "")


def main():
    reports = sorted(pathlib.Path(sys.argv[1]).glob("*.xml"))
    runs_by_skip = {}
    tests = 0
    for report in reports:
        tests += int(ElementTree.parse(report).getroot().get("tests", 0))
        for name, reason in skipped_in(report):
            runs_by_skip.setdefault((name, reason), []).append(report.stem)
    print(f"\ntests run: {tests - sum(map(len, runs_by_skip.values()))}, "
          f"skipped: {sum(map(len, runs_by_skip.values()))}")
    for (name, reason), runs in sorted(runs_by_skip.items()):
        print(f"  {name} ({', '.join(runs)}): {reason}")


if __name__ == "__main__":
    main()
