#!/usr/bin/env python3
"""preload_test.py: real programs, and some of our own, under LD_PRELOAD of an allocator.

  preload_test.py --library build/release/lib/libdrey.so [--group real|engines|own|file|reports] [NAME ...]

Any allocator's library may be given; the tests of libdrey.so itself (groups file, reports) want drey's.
Read next: harness.py.
SPDX-License-Identifier: MIT
"""
import argparse
import os
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean
from harness import Settings
import engines
import library_file
import own_programs
import real_programs
import reports

GROUPS = {"real": real_programs, "engines": engines, "own": own_programs, "file": library_file,
          "reports": reports}


def main():
    parser = argparse.ArgumentParser(description="Real programs under LD_PRELOAD.")
    parser.add_argument("--library", required=True, help="the allocator to preload")
    parser.add_argument("--group", choices=sorted(GROUPS), action="append")
    parser.add_argument("--c-compiler", default="cc")
    parser.add_argument("--cxx-compiler", default="c++")
    parser.add_argument("names", nargs="*", help="run only tests whose name contains one of these")
    options = parser.parse_args()
    Settings.library = os.path.abspath(options.library)
    Settings.c_compiler = options.c_compiler
    Settings.cxx_compiler = options.cxx_compiler
    if not os.path.exists(Settings.library):
        parser.error(f"{options.library} does not exist")
    loader = unittest.TestLoader()
    if options.names:
        loader.testNamePatterns = [f"*{name}*" for name in options.names]
    suite = unittest.TestSuite(
        loader.loadTestsFromModule(GROUPS[group]) for group in options.group or sorted(GROUPS))
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    for test, reason in result.skipped:
        print(f"skipped {test.id()}: {reason}", file=sys.stderr)
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
