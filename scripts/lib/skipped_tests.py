"""skipped_tests.py: lists the tests that did not run, with their reasons, from ctest's JUnit reports.

    skipped_tests.py FOLDER     reads FOLDER/*.xml

A GoogleTest says why in the text after "Skipped" of its output, a script in its line "SKIPPED: reason", a Python
unittest within a test that passed in its line "test_x (...) ... skipped 'reason'".
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


def was_skipped(case):
    return case.get("status") in ("notrun", "disabled") or case.find("skipped") is not None


def skipped_parts(output):
    """Pairs (part, reason) of a Python test that passed."""
    return re.findall(r"^(test_\w+) \(.*\.\.\. skipped ['\"](.*)['\"]$", output, flags=re.MULTILINE)


def main():
    cases = [(report.stem, case) for report in sorted(pathlib.Path(sys.argv[1]).glob("*.xml"))
             for case in ElementTree.parse(report).getroot().iter("testcase")]
    lines = {}  # what is skipped and why, with the runs that skipped it
    for run, case in cases:
        name, output = case.get("name"), case.findtext("system-out") or ""
        if was_skipped(case):
            lines.setdefault(f"{name}: {reason_of(output)}", []).append(run)
            continue
        for part, reason in skipped_parts(output):
            lines.setdefault(f"{part} of {name}: {reason}", []).append(run)
    skipped = sum(was_skipped(case) for _, case in cases)
    print(f"\ntests run: {len(cases) - skipped}, skipped: {skipped}")
    for line, runs in sorted(lines.items()):
        print(f"  {line} ({', '.join(runs)})")


if __name__ == "__main__":
    main()
