"""own_programs.py: small programs for kinds of fault that real ones show only on a bad day.

First calls, constructors, auditing, plugins, dynamic TLS, interposed system calls, small address
spaces, a built-in second allocator, sanitizers. Each prints "ok" last when all is right.
Read next: library_file.py.
SPDX-License-Identifier: MIT
"""
import os
import resource
import subprocess

from harness import PreloadTest, Settings


class FirstCalls(PreloadTest):
    def test_every_entry_point_works_before_any_constructor(self):
        self.run_own("first_calls.c")

    def test_blocks_of_an_early_constructor_are_freed_in_main(self):
        self.run_own("early_constructor.cpp")

    def test_the_main_thread_may_end_first(self):
        self.run_own("main_thread_ends.c")

    def test_a_c_program_that_only_prints(self):
        self.assertEqual(self.preloaded(["true"]), "")

    def test_exit_status_is_preserved(self):
        done = subprocess.run(["sh", "-c", "exit 41"], check=False,
                              env=self.environment(Settings.library))
        self.assertEqual(done.returncode, 41)
        done = subprocess.run(["sh", "-c", "kill -TERM $$"], check=False,
                              env=self.environment(Settings.library))
        self.assertEqual(done.returncode, -15)


class Loader(PreloadTest):
    def shared(self, source, name, *options):
        return self.compile(source, "-shared", "-fPIC", *options, name=name)

    def test_an_auditing_library_beside_it(self):
        audit = self.shared("audit.c", "libaudit.so")
        self.run_own("first_calls.c", more={"LD_AUDIT": str(audit)})
        self.run_own("main_thread_ends.c", more={"LD_AUDIT": str(audit)})

    def test_plugins_with_thread_locals_are_opened_while_others_allocate(self):
        plugin = self.shared("tls_plugin.c", "plugin0.so")
        for i in range(1, 50):
            (self.folder / f"plugin{i}.so").write_bytes(plugin.read_bytes())
        self.run_own("open_plugins.c", self.folder)

    def test_the_c_library_allocates_inside_itself_from_threads(self):
        self.run_own("library_services.c")

    def test_another_preload_whose_system_calls_allocate(self):
        wrapper = self.shared("allocating_wrappers.c", "libwrappers.so")
        program = self.compile("first_calls.c")
        for order in (f"{Settings.library} {wrapper}", f"{wrapper} {Settings.library}"):
            output = self.run_with(order, [program], limit_s=30)
            self.assertEqual(output.split()[-1], "ok", order)

    def test_a_static_program_does_not_notice(self):
        program = self.compile("first_calls.c", "-static", name="static_program")
        self.assertEqual(self.preloaded([program]).split()[-1], "ok")

    def test_a_plugin_with_a_hidden_malloc_of_its_own(self):
        plugin = self.shared("hidden_malloc.c", "hidden.so", "-fvisibility=hidden")
        self.run_own("use_hidden_malloc.c", plugin)

    def test_it_can_be_opened_and_used_at_run_time(self):
        program = self.compile("open_library.c")
        self.assertEqual(self.plain([program, Settings.library]).split()[-1], "ok")

    def test_an_address_sanitizer_program_with_its_runtime_first(self):
        program = self.compile("containers.cpp", "-fsanitize=address")
        runtime = self.plain([Settings.cxx_compiler, "-print-file-name=libasan.so"]).strip()
        if not os.path.isabs(runtime):
            self.skipTest("the address sanitizer's runtime is not installed")
        expected = self.plain([program], more={"ASAN_OPTIONS": "detect_leaks=0"})
        found = self.run_with(f"{os.path.realpath(runtime)} {Settings.library}", [program],
                              more={"ASAN_OPTIONS": "detect_leaks=0"})
        self.assertEqual(found, expected)


class SideEffects(PreloadTest):
    def test_loading_leaves_no_trace_but_memory(self):
        program = self.compile("side_effects.c")
        expected = self.plain([program])
        self.assertEqual(self.preloaded([program]), expected)

    def test_a_trivial_program_stays_small(self):
        program = self.compile("resident.c")
        plain = min(int(self.plain([program])) for _ in range(3))
        loaded = min(int(self.preloaded([program])) for _ in range(3))
        self.assertLessEqual(loaded - plain, 3 * 1024, f"{plain} KiB to {loaded} KiB")

    def test_a_small_address_space_gives_null_and_no_crash(self):
        program = self.compile("small_address_space.c")
        for megabytes in (64, 256, 1024):
            limit = megabytes << 20
            done = subprocess.run(
                [program], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                env=self.environment(Settings.library), check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            self.assertEqual(done.returncode, 0, f"{megabytes} MiB: {done.stdout}")
            self.assertEqual(done.stdout.split()[-1:], ["ok"], f"{megabytes} MiB")

    def test_an_option_that_does_not_exist_is_one_line_and_no_more(self):
        output = self.preloaded(["echo", "ok"], more={"DREY_NO_SUCH_OPTION": "1"})
        self.assertEqual(output, "drey: DREY_NO_SUCH_OPTION=1 ignored: no such option; "
                                 "drey-run --help lists them\nok\n")
