"""reports.py: what the library writes about a program at its end: statistics, live blocks, profile.

Method: programs/two_sites.cpp takes known amounts in two functions. Shares of the profile are bounded by what chance
allows (five standard deviations of the number of samples); pprof itself reads it where one is installed.
Read next: harness.py.
SPDX-License-Identifier: MIT
"""
import json
import re
import subprocess

from harness import PreloadTest, Settings

BLOCK_BYTES = 1008
FIRST_COUNT, SECOND_COUNT = 65536, 16384
INTERVAL = 16384


class Reports(PreloadTest):
    def setUp(self):
        super().setUp()
        self.program = self.compile("two_sites.cpp", "-fno-omit-frame-pointer", "-no-pie")

    def run_with_options(self, *arguments, **variables):
        """Standard error of the program, which must end well and print "ok"."""
        done = subprocess.run([self.program, *arguments], text=True, timeout=60, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                              env=self.environment(Settings.library, variables))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "ok\n")
        return done.stderr

    def test_statistics_in_json_count_the_blocks_that_are_live(self):
        path = self.folder / "statistics.json"
        self.assertEqual(self.run_with_options(DREY_STATS_JSON=str(path)), "")
        statistics = json.loads(path.read_text())
        [row] = [row for row in statistics["classes"] if row["block_bytes"] == BLOCK_BYTES]
        self.assertIn(row["live_blocks"] - FIRST_COUNT - SECOND_COUNT, range(3))
        self.assertEqual(statistics["live_bytes"] + statistics["free_slab_bytes"],
                         statistics["slab_bytes"] + statistics["large_bytes"])

    def test_the_text_says_the_same(self):
        text = self.run_with_options(DREY_SHOW_STATS="1")
        live = int(re.search(r"live blocks +(\d+)", text).group(1))
        self.assertGreaterEqual(live, FIRST_COUNT + SECOND_COUNT)
        self.assertLess(live, FIRST_COUNT + SECOND_COUNT + 500)

    def test_the_leak_report_tells_what_is_live_and_what_is_not_no_more(self):
        def live(*arguments):
            text = self.run_with_options(*arguments, DREY_LEAK_REPORT="1")
            self.assertTrue(text.startswith("drey: live at exit: "), text)
            self.assertNotIn("leak", text)
            return int(re.search(rf"(\d+) blocks +\d+ bytes of {BLOCK_BYTES}\n", text).group(1))

        self.assertIn(live() - FIRST_COUNT - SECOND_COUNT, range(3))
        self.assertIn(live("free") - FIRST_COUNT, range(3))

    def test_the_leak_report_has_stacks_where_the_profile_was_on(self):
        text = self.run_with_options(DREY_LEAK_REPORT="1", DREY_PROFILE="profile",
                                     DREY_PROFILE_INTERVAL=str(INTERVAL))
        stacks = text[text.index("estimated from samples"):]
        estimates = [int(found) for found in re.findall(r"(\d+) bytes of 1008, \d+ sample", stacks)]
        expected = FIRST_COUNT * BLOCK_BYTES
        self.assertGreater(max(estimates), 0.9 * expected, text)
        self.assertLess(max(estimates), 1.1 * expected, text)
        self.assertIn("two_sites+0x", stacks)

    def test_a_report_reaches_standard_error_that_the_program_has_closed(self):
        self.assertIn("live at exit", self.run_with_options("quiet", DREY_LEAK_REPORT="1"))

    def test_a_file_that_cannot_be_written_is_one_line(self):
        for variable, what in (("DREY_PROFILE", "heap profile"), ("DREY_STATS_JSON", "statistics")):
            text = self.run_with_options(**{variable: "/no/such/folder/file"})
            self.assertEqual(text, f"drey: cannot write the {what} to /no/such/folder/file: "
                                   "No such file or directory\n")

    def test_a_child_of_a_fork_writes_a_file_of_its_own(self):
        self.run_with_options("fork", DREY_PROFILE="profile")
        names = sorted(path.name for path in self.folder.glob("profile*"))
        self.assertEqual(len(names), 2, names)
        self.assertRegex(names[1], r"^profile\.\d+$")

    def test_the_process_id_may_be_part_of_the_name(self):
        self.run_with_options("fork", DREY_PROFILE="of-%p.heap")
        names = [path.name for path in self.folder.glob("of-*.heap")]
        self.assertEqual(len(names), 2, names)
        for name in names:
            self.assertRegex(name, r"^of-\d+\.heap$")

    def profile(self, *arguments):
        path = self.folder / "profile"
        self.assertEqual(self.run_with_options(*arguments, DREY_PROFILE=str(path),
                                               DREY_PROFILE_INTERVAL=str(INTERVAL)), "")
        return path

    def test_pprof_attributes_the_bytes_to_the_functions(self):
        self.need("google-pprof")

        def megabytes(path, *options):
            text = self.plain(["google-pprof", "--text", *options, self.program, path])
            return {name: float(share) for share, name in
                    re.findall(r"^ +[\d.]+ +[\d.]+% +[\d.]+% +([\d.]+) +[\d.]+% (\w+)$", text, re.M)}

        found = megabytes(self.profile())
        self.assertAlmostEqual(found["first_site"], FIRST_COUNT * BLOCK_BYTES / 2**20, delta=5.1)
        self.assertAlmostEqual(found["second_site"], SECOND_COUNT * BLOCK_BYTES / 2**20, delta=2.6)
        found = megabytes(self.profile("free"))
        self.assertNotIn("second_site", found)
        found = megabytes(self.profile("free"), "--alloc_space")
        self.assertAlmostEqual(found["second_site"], SECOND_COUNT * BLOCK_BYTES / 2**20, delta=2.6)

    def test_real_programs_do_the_same_while_they_are_sampled(self):
        self.need("python3", "sort")
        often = {"DREY_PROFILE": str(self.folder / "profile-%p"), "DREY_PROFILE_INTERVAL": "100"}
        script = "import json, threading\n" \
                 "def work(): json.dumps([{str(i): list(range(50))} for i in range(300)])\n" \
                 "threads = [threading.Thread(target=work) for _ in range(4)]\n" \
                 "[t.start() for t in threads]; [t.join() for t in threads]; print('done')"
        self.assertEqual(self.preloaded(["python3", "-c", script], more=often), "done\n")
        lines = "".join(f"{(i * 7919) % 10007}\n" for i in range(10007))
        self.assertEqual(self.preloaded(["sort", "-n"], text_input=lines, more=often),
                         "".join(f"{i}\n" for i in range(10007)))
