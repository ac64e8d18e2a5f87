"""library_file.py: what libdrey.so is made of, read from the file, and the static link.

A missing name means that memory crosses allocators; a large or dynamic TLS segment means that the
library cannot be loaded late, or that malloc re-enters the dynamic loader.
Read next: harness.py.
SPDX-License-Identifier: MIT
"""
import pathlib
import re

from harness import PROGRAMS, PreloadTest, Settings

C_NAMES = """
malloc calloc realloc reallocarray free free_sized free_aligned_sized cfree aligned_alloc
posix_memalign memalign valloc pvalloc malloc_usable_size malloc_trim mallinfo mallinfo2 malloc_stats
malloc_info mallopt __libc_malloc __libc_calloc __libc_realloc __libc_free __libc_memalign
__libc_valloc __libc_pvalloc __posix_memalign
""".split()

OPERATORS = """
_Znwm _Znam _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t _ZnwmSt11align_val_t _ZnamSt11align_val_t
_ZnwmSt11align_val_tRKSt9nothrow_t _ZnamSt11align_val_tRKSt9nothrow_t
_ZdlPv _ZdaPv _ZdlPvm _ZdaPvm _ZdlPvRKSt9nothrow_t _ZdaPvRKSt9nothrow_t
_ZdlPvSt11align_val_t _ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t
_ZdlPvSt11align_val_tRKSt9nothrow_t _ZdaPvSt11align_val_tRKSt9nothrow_t
""".split()

TLS_BYTES_MAX = 128


class LibraryFile(PreloadTest):
    def setUp(self):
        super().setUp()
        self.need("nm", "readelf")
        if "drey" not in pathlib.Path(Settings.library).name:
            self.skipTest("these are promises of libdrey.so only")

    def exported(self):
        return {parts[-1].split("@")[0]
                for parts in map(str.split, self.plain(["nm", "-D", Settings.library]).splitlines())
                if len(parts) == 3 and parts[1] in "TWVi"}

    def test_every_c_name_is_exported(self):
        self.assertEqual(sorted(set(C_NAMES) - self.exported()), [])

    def test_every_operator_form_is_exported(self):
        self.assertEqual(len(OPERATORS), 20)
        self.assertEqual(sorted(set(OPERATORS) - self.exported()), [])

    def test_nothing_else_is_exported_but_own_names(self):
        other = {name for name in self.exported() - set(C_NAMES) - set(OPERATORS)
                 if not name.startswith(("drey_", "_ZTISt", "_ZTSSt"))}
        self.assertEqual(sorted(other), [])

    def test_thread_locals_are_small_and_initial_exec(self):
        headers = self.plain(["readelf", "-lW", Settings.library])
        segments = re.findall(r"^\s+TLS\s+\S+\s+\S+\s+\S+\s+\S+\s+(0x[0-9a-f]+)", headers, re.M)
        for size in segments:
            self.assertLessEqual(int(size, 16), TLS_BYTES_MAX)
        relocations = self.plain(["readelf", "-rW", Settings.library])
        dynamic = re.findall(r".*(?:DTPMOD|DTPOFF|TLSDESC|__tls_get_addr).*", relocations)
        self.assertEqual(dynamic, [], "some use of a thread-local is not initial-exec")

    def test_it_needs_few_libraries(self):
        needed = re.findall(r"NEEDED.*\[(.*)\]", self.plain(["readelf", "-dW", Settings.library]))
        allowed = {"libc.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "ld-linux-x86-64.so.2"}
        self.assertEqual(sorted(set(needed) - allowed), [])

    def test_a_static_program_uses_drey_for_every_function_of_malloc(self):
        build = pathlib.Path(Settings.library).parent.parent
        objects = sorted(build.glob("alloc/CMakeFiles/drey_override.dir/override/*.o"))
        archives = [build / "lib" / f"libdrey_{name}.a" for name in ("alloc", "os", "base")]
        if not objects or not all(archive.exists() for archive in archives):
            self.skipTest("the build folder beside the library has no objects of drey_override")
        program = self.folder / "static_program"
        self.plain([Settings.cxx_compiler, "-std=c++20", "-static", "-fno-builtin", "-w",
                    PROGRAMS / "static_link.cpp", *objects, *archives, "-pthread", "-o", program])
        self.assertEqual(self.plain([program]).split()[-1], "ok")
