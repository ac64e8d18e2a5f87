#!/usr/bin/env python3
"""tidy_self_test.py: each rule finds the violation that is planted for it, and nothing in clean files.
Read next: rules.py.
SPDX-License-Identifier: MIT
"""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean
import tidy

CLEAN = "// clean.cpp: nothing wrong here.\n// SPDX-License-Identifier: MIT\n#include <drey/base/bits.hpp>\n"
BODY = "int work(int a) {\n" + "  a += 1;\n" * 60 + "  return a;\n}\n"
WORD = "TO" + "DO"
SEE = "s" + "ee Note"  # in pieces, so that this file is clean itself
OUTSIDE = "/wo" + "rk/somewhere"


class Planted(unittest.TestCase):
    def findings(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return tidy.check_all(root)

    def expect(self, name, text, line, part):
        found = self.findings({name: text})
        self.assertEqual([(file, number) for file, number, _ in found], [(name, line)], found)
        self.assertIn(part, found[0][2])

    def test_clean_files_have_no_findings(self):
        clean_function = BODY.replace("  a += 1;\n" * 60, "  a += 1;\n" * 40)
        self.assertEqual(self.findings({"base/clean.cpp": CLEAN + clean_function}), [])

    def test_a_layer_may_not_reach_up(self):
        self.expect("alloc/core/a.cpp", CLEAN + "#include <drey/pools/vector_pool.hpp>\n", 4,
                    "alloc/core may not include drey/pools/vector_pool.hpp")
        self.expect("pools/a.cpp", CLEAN + '#include "core/slab.hpp"\n', 4, "pools may not include core/")
        self.expect("base/a.cpp", CLEAN + "#include <drey/alloc.h>\n", 4, "base may not include")
        self.expect("alloc/os/a.cpp", CLEAN + '#include "core/slab.hpp"\n', 4, "alloc/os may not")

    def test_the_core_has_no_containers(self):
        self.expect("alloc/core/a.cpp", CLEAN + "#include <vector>\n", 4, "may not include <vector>")

    def test_includes_do_not_climb(self):
        self.expect("trainer/a.cpp", CLEAN + '#include "../base/a.hpp"\n', 4, "'..'")

    def test_a_file_says_what_it_is(self):
        self.expect("base/a.cpp", "#include <cstdint>\n", 1, "no comment at the top")
        self.expect("base/a.cpp", "// a.cpp: no licence.\nint a;\n", 1, "SPDX")

    def test_long_files_and_functions(self):
        self.expect("base/a.cpp", CLEAN + "int a;\n" * 400, 403, "403 lines")
        self.expect("base/a.cpp", CLEAN + BODY, 4, "function of 63 lines")
        self.expect("base/a.cpp", CLEAN + "namespace a {\n" + BODY + "}\n", 5, "function of 63 lines")
        method = "struct A {\n  int b() const noexcept {\n" + "    ;\n" * 60 + "  }\n};\n"
        self.expect("base/a.cpp", CLEAN + method, 5, "function of 62 lines")

    def test_long_classes_and_tables_are_no_functions(self):
        table = "constexpr int kTable[] = {\n" + "    1,\n" * 80 + "};\n"
        self.assertEqual(self.findings({"base/a.cpp": CLEAN + table}), [])
        many = "class A {\n public:\n" + "  int b();\n" * 80 + "};\n"
        self.assertEqual(self.findings({"base/a.cpp": CLEAN + many}), [])

    def test_preprocessor_in_a_function(self):
        body = "int a() {\n#if defined(B)\n  return 1;\n#endif\n  return 2;\n}\n"
        self.expect("pools/a.cpp", CLEAN + body, 5, "#if inside a function")
        self.assertEqual(self.findings({"base/a.cpp": CLEAN + body}), [])

    def test_macros(self):
        self.expect("pools/a.cpp", CLEAN + "#define MAX(a, b) a\n", 4, "macro MAX")
        self.assertEqual(self.findings({"base/a.hpp": CLEAN + "#define DREY_ASSERT(fact) fact\n"}), [])

    def test_words_and_names(self):
        self.expect("pools/a.cpp", CLEAN + f"// {WORD}: later\n", 4, WORD)
        self.expect("pools/string_util.cpp", CLEAN, 1, "'util'")

    def test_paths_of_a_machine(self):
        self.expect("docs/a.md", f"see {OUTSIDE}\n", 1, "somebody's machine")

    def test_notes_resolve(self):
        self.expect("pools/a.cpp", CLEAN + f"// {SEE} [Nowhere]\n", 4, "no Note [Nowhere]")
        both = CLEAN + f"// {SEE} [Here]\n\n// Note [Here]\n// Because.\n"
        self.assertEqual(self.findings({"pools/a.cpp": both}), [])

    def test_format(self):
        if tidy.clang_format_14() is None:
            self.skipTest("clang-format 14 is not installed")
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / ".clang-format").write_text("BasedOnStyle: Google\n")
            (pathlib.Path(folder) / "a.cpp").write_text("int  a ;\n")
            self.assertEqual(tidy.check_format(pathlib.Path(folder)),
                             [("a.cpp", 1, "not formatted by clang-format 14 from here on")])


if __name__ == "__main__":
    unittest.main()
