"""harness.py: what all preload tests share: running with and without the library, and skipping.

A test runs a real program under LD_PRELOAD and checks its output: against a known value, or against
the same run without the library. What is not installed is skipped by name.
Read next: real_programs.py, engines.py, own_programs.py, library_file.py.
SPDX-License-Identifier: MIT
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"


class Settings:
    """Filled in by preload_test.py before the first test."""

    library = ""
    c_compiler = "cc"
    cxx_compiler = "c++"


class PreloadTest(unittest.TestCase):
    """One temporary folder a test; gone afterwards."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="drey-preload-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def need(self, *programs):
        for program in programs:
            if shutil.which(program) is None:
                self.skipTest(f"{program} is not installed")

    def environment(self, library, more=None):
        environment = dict(os.environ, LC_ALL="C")
        environment.pop("LD_PRELOAD", None)
        if library:
            environment["LD_PRELOAD"] = library
        environment.update(more or {})
        return environment

    def run_with(self, library, command, text_input=None, more=None, folder=None, limit_s=120):
        """Standard output and standard error as one text; fails the test unless the exit is 0."""
        done = subprocess.run(
            [str(part) for part in command], input=text_input, text=True, timeout=limit_s,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder or self.folder,
            env=self.environment(library, more), check=False)
        self.assertEqual(done.returncode, 0, f"{command} gave {done.returncode}:\n{done.stdout[-2000:]}")
        self.assertNotIn("cannot be preloaded", done.stdout)
        return done.stdout

    def plain(self, command, **options):
        return self.run_with("", command, **options)

    def preloaded(self, command, **options):
        return self.run_with(Settings.library, command, **options)

    def assert_same(self, command, **options):
        """The program says the same with the library as without."""
        expected = self.plain(command, **options)
        self.assertEqual(self.preloaded(command, **options), expected)
        return expected

    def compile(self, source, *options, name=None):
        """Builds one of programs/; C or C++ by its ending. Returns the path of the result."""
        compiler = Settings.c_compiler if source.endswith(".c") else Settings.cxx_compiler
        result = self.folder / (name or pathlib.Path(source).stem)
        standard = "-std=gnu11" if source.endswith(".c") else "-std=c++20"
        self.plain([compiler, standard, "-O1", "-g", "-fno-builtin", "-w", PROGRAMS / source, "-o",
                    result, *options, "-pthread", "-ldl"])
        return result

    def run_own(self, source, *arguments, options=(), more=None, limit_s=60):
        """Builds and runs one of programs/ under the library; it must print "ok" last."""
        program = self.compile(source, *options)
        output = self.preloaded([program, *arguments], more=more, limit_s=limit_s)
        self.assertEqual(output.split()[-1:], ["ok"], output)
        return output
