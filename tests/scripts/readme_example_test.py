"""readme_example_test.py: the README's C++ program builds and runs, in each way the README names.

    readme_example_test.py SOURCE BUILD COMPILER

Method: drey is installed into a folder of its own; the README's ```cpp block becomes main.cpp, its ```cmake block the
CMakeLists.txt of a project that knows only that folder. Once as printed, once with the line for drey::override in
place of the other, once by pkg-config.
SPDX-License-Identifier: MIT
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
COMPILER = sys.argv[3]


def run(*command, **options):
    print("$", *command, flush=True)
    return subprocess.run([str(word) for word in command], check=True, text=True, **options)


def block(language):
    found = re.findall(rf"^```{language}\n(.*?)^```", (SOURCE / "README.md").read_text(),
                       flags=re.DOTALL | re.MULTILINE)
    assert len(found) == 1, f"expected one {language} block in README.md, found {len(found)}"
    return found[0]


def with_override(text):
    """The commented line for drey::override instead of the line above it."""
    lines = text.splitlines()
    lines = [line for line in lines if not line.startswith("target_link_libraries")]
    lines = [line.removeprefix("# ") for line in lines]
    changed = "\n".join(lines)
    assert "drey::override" in changed
    return changed


def build_with_cmake(project, prefix, text):
    project.mkdir()
    (project / "main.cpp").write_text(block("cpp"))
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(reader LANGUAGES CXX)\n" + text)
    run("cmake", "-S", project, "-B", project / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={COMPILER}", "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF")
    run("cmake", "--build", project / "build")
    run(project / "build" / "program")


def build_with_pkg_config(folder, prefix):
    libraries = prefix / "lib"
    found = [path.parent for path in prefix.rglob("drey.pc")]
    assert found, f"no drey.pc under {libraries}"
    environment = dict(os.environ, PKG_CONFIG_PATH=str(found[0]))
    flags = run("pkg-config", "--cflags", "--libs", "drey", env=environment,
                stdout=subprocess.PIPE).stdout
    (folder / "main.cpp").write_text(block("cpp"))
    run(COMPILER, "-std=c++20", folder / "main.cpp", *shlex.split(flags), "-o", folder / "program")
    run(folder / "program")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prefix = folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", prefix, stdout=subprocess.DEVNULL)
        build_with_cmake(folder / "beside", prefix, block("cmake"))
        build_with_cmake(folder / "instead", prefix, with_override(block("cmake")))
        build_with_pkg_config(folder, prefix)


if __name__ == "__main__":
    main()
