#!/usr/bin/env python3
"""gpu_check_test.py SOURCE [REPLAY]: scripts/gpu-check where there is nothing, and with tools that fail and hang.

Method: PATH holds only pretend tools. What REPLAY (drey-cuda-replay) makes of a trace of PyTorch's is tested if it is given.
SPDX-License-Identifier: MIT
"""

import fcntl
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(sys.argv[1])
REPLAY = sys.argv[2] if len(sys.argv) > 2 else None
GPU = 'echo "GPU 0: pretend"'


class World(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)
        (self.root / "path").mkdir()
        (self.root / "build" / "bin").mkdir(parents=True)
        (self.root / "build" / "lib").mkdir()

    def pretend(self, place, text):
        path = self.root / place
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def check(self, *arguments):
        out = self.root / "out"
        done = subprocess.run([sys.executable, str(SOURCE / "scripts" / "gpu-check"), "--out", str(out), "--build-dir",
                               str(self.root / "build"), *arguments], capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": str(self.root / "path")}, timeout=100)
        report = out / "gpu-check.json"
        return done, json.loads(report.read_text()) if report.exists() else None

    def rows(self, report):
        return {row["name"]: row for row in report["steps"]}


class WhereNothingIs(World):
    def test_every_step_is_skipped_with_a_reason_and_may_be_again(self):
        for _ in range(2):
            done, report = self.check()
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertTrue(report["is_whole"])
            for row in report["steps"]:
                self.assertEqual(row["result"], "SKIPPED", row)
                self.assertNotEqual(row["reason"], "", row)
        rows = self.rows(report)
        self.assertEqual(rows["canary_test"]["reason"], "nvidia-smi not found in PATH")
        self.assertEqual(rows["build"]["reason"], "nvidia-smi not found in PATH")

    def test_a_driver_that_gives_no_answer_is_a_reason(self):
        self.pretend("path/nvidia-smi", "exec /bin/sleep 50")
        done, report = self.check("--limit", "0.3")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.rows(report)["race"]["reason"], "nvidia-smi -L gives no answer")

    def test_a_driver_that_fails_is_quoted(self):
        self.pretend("path/nvidia-smi", "echo no devices were found; exit 6")
        _, report = self.check()
        self.assertEqual(self.rows(report)["machine"]["reason"], "nvidia-smi -L: no devices were found")


class WhatGoesWrong(World):
    def setUp(self):
        super().setUp()
        self.pretend("path/nvidia-smi", GPU)
        self.pretend("path/python3", 'case "$*" in *"import torch"*) exec /bin/sleep 50;; esac')
        self.pretend("path/compute-sanitizer", "echo 3 errors; exit 9")
        self.pretend("build/bin/kernel_test", "echo wrong numbers; exit 3")
        self.pretend("build/bin/canary_test",
                     'echo "canary_test.cu:1: SKIPPED: no device"; echo "[  PASSED  ] 0 tests."')
        self.pretend("build/bin/drey-gpu-race", f"/bin/sleep 51 & echo $! >{self.root}/pid; wait")
        self.pretend("build/bin/drey-cuda-replay",
                     'case "$1" in *prefetch*) exit 0;; esac\necho \'{"fits": 1}\' >"$5"')

    def test_each_is_reported_and_the_rest_runs(self):
        done, report = self.check("--limit", "2")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        rows = self.rows(report)
        self.assertEqual(rows["machine"]["result"], "passed")
        self.assertEqual(rows["build"]["reason"], "cmake not found in PATH")
        self.assertEqual(rows["kernel_test"]["result"], "failed")
        self.assertEqual(rows["kernel_test"]["reason"], "exit code 3: wrong numbers")
        self.assertEqual(rows["canary_test"]["result"], "SKIPPED")
        self.assertIn("no device", rows["canary_test"]["reason"])
        self.assertEqual(rows["memcheck-kernel_test"]["reason"], "exit code 9: 3 errors")
        self.assertEqual(rows["race"]["result"], "timed out")
        self.assertEqual(rows["torch-race-native"]["reason"], "import torch gives no answer")
        self.assertEqual(rows["replay-transformer"]["result"], "passed")
        self.assertEqual(rows["replay-transformer"]["figures"], {"fits": 1})
        self.assertEqual(rows["replay-prefetch"]["result"], "failed")
        self.assertIn("expected JSON", rows["replay-prefetch"]["reason"])
        self.assertTrue(report["is_whole"])
        self.assertEqual((self.root / "out" / "kernel_test.log").read_text(), "wrong numbers\n")
        # What hung is gone with its children.
        child = int((self.root / "pid").read_text())
        state = pathlib.Path(f"/proc/{child}/stat")
        deadline = time.monotonic() + 10
        while state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] != "Z":
            self.assertLess(time.monotonic(), deadline, "a child of the step is still there")

    def test_when_the_budget_is_spent_the_rest_is_skipped(self):
        self.pretend("build/bin/kernel_test", "exec /bin/sleep 50")
        done, report = self.check("--budget", "4")
        rows = self.rows(report)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(rows["kernel_test"]["result"], "timed out")
        self.assertEqual(rows["replay-transformer"]["reason"], "the budget is spent")
        self.assertLess(report["seconds"], 20)


class BadOptions(World):
    def test_are_one_line_and_exit_code_2(self):
        done, report = self.check("--budget", "0")
        self.assertEqual((done.returncode, done.stdout, report), (2, "", None))
        self.assertEqual(done.stderr, "gpu-check: --budget: expected seconds above 0, found 0.0\n")

    def test_two_at_once_are_refused(self):
        (self.root / "out").mkdir()
        with open(self.root / "out" / "lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done, _ = self.check()
        self.assertEqual(done.returncode, 2)
        self.assertIn("another gpu-check runs there", done.stderr)


class TorchTraces(World):
    EVENTS = [{"action": action, "addr": address, "size": size, "stream": 0, "time_us": 1_000_000 + 500_000 * number}
              for number, (action, address, size) in enumerate([
                  ("segment_alloc", 4096, 1 << 21), ("alloc", 4096, 700), ("free_completed", 8192, 512),
                  ("alloc", 5120, 1 << 20), ("free_requested", 4096, 700), ("free_completed", 4096, 700),
                  ("alloc", 4096, 300)])]

    def csv(self):
        path = SOURCE / "scripts" / "lib" / "torch_check.py"
        specification = importlib.util.spec_from_file_location("torch_check", path)
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        return module.csv_of(self.EVENTS)

    def test_have_what_was_allocated_and_freed_meanwhile(self):
        self.assertEqual(self.csv().splitlines(), [
            "Thread,Time,Action,Pointer,Size,Stream",
            "1,00:00:00:500000,allocate,0x1000,700,0x0", "1,00:00:01:500000,allocate,0x1400,1048576,0x0",
            "1,00:00:02:500000,free,0x1000,700,0x0", "1,00:00:03:000000,allocate,0x1000,300,0x0"])

    @unittest.skipIf(REPLAY is None, "drey-cuda-replay was not built")
    def test_can_be_replayed(self):
        trace = self.root / "torch.csv"
        trace.write_text(self.csv())
        done = subprocess.run([REPLAY, str(trace), "--policy", "drey"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 events, 3 blocks", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
