#!/usr/bin/env python3
"""fast_path_golden.py: the instruction counts of malloc and free hits are what they were.

  fast_path_golden.py --counter PROGRAM [--library libdrey.so] [--golden FILE] [--accept]

A change of the hot path shows up here as a number before any clock could see it. --accept writes
the new counts into the file; that belongs into a commit of its own. Exit 77: skipped.
Read next: instruction_counter.cpp, surface_counter.cpp.
SPDX-License-Identifier: MIT
"""
import argparse
import os
import pathlib
import subprocess
import sys

GOLDEN = pathlib.Path(__file__).resolve().parent / "fast_path.golden"
SKIPPED = 77
HEADERS = {
    "fast_path.golden":
        "instructions of libdrey.so for a malloc and a free hit, by size in bytes.",
    "surfaces.golden":
        "instructions of a hit, by size in bytes, the caller's and ret included; of a batch: of 64 blocks.",
    "device.golden":
        "instructions of a hit of the device allocator, by size in bytes, the caller's included.",
    "pools.golden":
        "instructions of a hit of an arena or object pool, by size in bytes, the caller's included.",
}
HEADER = """# {name}: {what}
# Release build, g++ 12, x86-64. Written by fast_path_golden.py --accept.
# SPDX-License-Identifier: MIT
"""


def read_counts(text):
    """{("malloc", 16): 15, ...} of "malloc 16 15" lines."""
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {(kind, int(size)): int(count) for kind, size, count in rows}


def measure(counter, library):
    arguments = [os.path.realpath(library)] if library else []
    done = subprocess.run([counter, *arguments], capture_output=True, text=True, check=False,
                          timeout=100)
    if "cannot single-step" in done.stderr or "cannot start" in done.stderr:
        print(f"skipped: no ptrace here: {done.stderr.strip()}")
        sys.exit(SKIPPED)
    if done.returncode != 0:
        sys.exit(f"{counter} failed: {done.stderr.strip()}")
    return read_counts(done.stdout)


def compare(expected, found):
    """One line a difference."""
    return [f"{kind} of {size} bytes: {found.get((kind, size), 'none')} instructions, "
            f"expected {expected.get((kind, size), 'none')}"
            for kind, size in sorted(expected.keys() | found.keys())
            if expected.get((kind, size)) != found.get((kind, size))]


def main():
    parser = argparse.ArgumentParser(description="Instruction counts of the fast paths.")
    parser.add_argument("--counter", required=True)
    parser.add_argument("--library", help="preloaded into what is counted")
    parser.add_argument("--golden", type=pathlib.Path, default=GOLDEN)
    parser.add_argument("--build-type", default="RelWithDebInfo")
    parser.add_argument("--compiler", default="GNU 12", help="name and version")
    parser.add_argument("--secure", default="OFF")
    parser.add_argument("--accept", action="store_true", help="write what is measured")
    options = parser.parse_args()
    name, version = options.compiler.split()
    if options.build_type != "RelWithDebInfo" or options.secure in ("ON", "1", "TRUE"):
        print("skipped: the counts are those of the release build")
        return SKIPPED
    if name != "GNU" or version.split(".")[0] != "12":
        print(f"skipped: the counts are those of g++ 12, this is {options.compiler}")
        return SKIPPED
    found = measure(options.counter, options.library)
    if options.accept:
        rows = [f"{kind} {size} {count}" for (kind, size), count in found.items()]
        header = HEADER.format(name=options.golden.name, what=HEADERS[options.golden.name])
        options.golden.write_text(header + "\n".join(rows) + "\n")
        print(f"wrote {options.golden}")
        return 0
    differences = compare(read_counts(options.golden.read_text()), found)
    print("\n".join(differences) if differences else f"{len(found)} counts as expected")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
