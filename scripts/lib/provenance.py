"""provenance.py: when, how and on what figures were found; without it they mean nothing (see docs/results).

Used by scripts/seven-fixes and scripts/learning; the programs of bench/ write the same from race/machine.cpp.
SPDX-License-Identifier: MIT
"""

import os
import pathlib
import re
import shlex
import sys
import time


def provenance(kind):
    """The first members of a raw file of that kind, which scripts/results asks for."""
    known = re.search(r"^model name\s*:\s*(.+)$", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    command = f"scripts/{pathlib.Path(sys.argv[0]).name}"
    return {"format": 1, "kind": kind, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "command": " ".join([command, *map(shlex.quote, sys.argv[1:])]),
            "machine": {"cpu": known[1] if known else "unknown", "cores": len(os.sched_getaffinity(0)),
                        "load_before": pathlib.Path("/proc/loadavg").read_text(encoding="utf-8").rsplit(" ", 2)[0]}}
