#!/usr/bin/env python3
"""recorder_cost.py: what an event costs, in instructions: libdrey_trace.so while it records, less
libdrey.so. A count that repeats stands for the 30 ns an event may take.

  recorder_cost.py --counter PROGRAM --library libdrey.so --trace-library libdrey_trace.so

The stamp itself (rdtsc, some 20 cycles) is one of the instructions. Exit 77: skipped.
Read next: ../golden/instruction_counter.cpp.
SPDX-License-Identifier: MIT
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
# Eight to find the place and that it may be used, three for the stamp, four to write, and moves between.
MORE_MAX = 22


def counts(counter, library, more):
    done = subprocess.run([counter, os.path.realpath(library)], capture_output=True, text=True, check=False,
                          timeout=100, env=dict(os.environ, **more))
    if "cannot single-step" in done.stderr or "cannot start" in done.stderr:
        print(f"SKIPPED: no ptrace here: {done.stderr.strip()}")
        sys.exit(SKIPPED)
    if done.returncode != 0:
        sys.exit(f"{counter} failed: {done.stderr.strip()}")
    return {tuple(line.split()[:2]): int(line.split()[2]) for line in done.stdout.splitlines()}


def main():
    parser = argparse.ArgumentParser(description="Instructions of an event.")
    for name in ("--counter", "--library", "--trace-library"):
        parser.add_argument(name, required=True)
    parser.add_argument("--build-type", default="RelWithDebInfo")
    options = parser.parse_args()
    if options.build_type != "RelWithDebInfo":
        print("SKIPPED: the counts are those of the release build")
        return SKIPPED
    plain = counts(options.counter, options.library, {})
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "trace"
        recorded = counts(options.counter, options.trace_library, {"DREY_TRACE": str(file)})
        if not file.exists() or file.stat().st_size < 2 * 65536:
            sys.exit("nothing was recorded: these counts would mean nothing")
    more = {key: recorded[key] - plain[key] for key in plain}
    print("instructions an event:", " ".join(f"{kind}/{size}:{count}" for (kind, size), count in more.items()))
    too_many = {key: count for key, count in more.items() if not 0 < count <= MORE_MAX}
    if too_many:
        print(f"expected 1 to {MORE_MAX} more than libdrey.so, found {too_many}")
    return 1 if too_many else 0


if __name__ == "__main__":
    sys.exit(main())
