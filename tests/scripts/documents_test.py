"""documents_test.py: the documents name nothing that is not there.

    documents_test.py SOURCE BUILD [DOCUMENT...]     default: every *.md that git or a plain walk finds

Checked, for each document: links to files and to headings resolve; paths in backquotes exist; each command in a
```sh block can be run: scripts are executable, programs under build/release exist in BUILD, each --option is in the
program's own --help, presets, targets and test labels exist. Nothing is run but --help and CMake's listings.
SPDX-License-Identifier: MIT
"""

import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

SOURCE = pathlib.Path(sys.argv[1]).resolve()
BUILD = pathlib.Path(sys.argv[2]).resolve()
SKIPPED_FOLDERS = {"build", ".git", ".cache", "node_modules"}
# Commands that the reader has or the packages bring; their options are theirs to check.
FOREIGN_PROGRAMS = {"cd", "git", "python3", "pkg-config", "valgrind", "export"}
# Paths that running the commands of the documents makes.
MADE_BY_COMMANDS = re.compile(r"^build(/|$)")


def documents():
    if len(sys.argv) > 3:
        return [pathlib.Path(name).resolve() for name in sys.argv[3:]]
    found = []
    for folder, folders, files in os.walk(SOURCE):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        found += [pathlib.Path(folder, name) for name in files if name.endswith(".md")]
    return sorted(found)


@functools.lru_cache(maxsize=None)
def output_of(*command):
    """Standard output and error of a command that must succeed."""
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            timeout=60, check=False)
    if result.returncode != 0:
        raise LookupError(f"'{' '.join(command)}' leaves with {result.returncode}")
    return result.stdout


def headings(path):
    """The anchors of a document's headings, as GitHub makes them."""
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    titles = re.findall(r"^#+ +(.+?) *$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def check_links(document, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"(https?|mailto):", target):
            continue
        name, _, anchor = target.partition("#")
        path = (document.parent / name).resolve() if name else document
        if not path.exists():
            yield f"link to {target}: no such file"
        elif anchor and anchor not in headings(path):
            yield f"link to {target}: no such heading"


def check_paths(document, text):
    """`alloc/core/slab.hpp` and the like, from the root of the tree or from the document's folder."""
    top = {entry.name for entry in SOURCE.iterdir()}
    beside = {entry.name for entry in document.parent.iterdir()}
    for name in re.findall(r"`([\w./{},\-]+/[\w./{},\-]*)`", text):
        first = name.split("/")[0]
        if first not in top | beside or MADE_BY_COMMANDS.match(name):
            continue
        for path in expand_braces(name):
            if not (SOURCE / path).exists() and not (document.parent / path).exists():
                yield f"`{path}`: no such path"


def expand_braces(name):
    found = re.search(r"\{([^}]*)\}", name)
    if not found:
        return [name]
    return [name[:found.start()] + part + name[found.end():] for part in found[1].split(",")]


def commands_of(text):
    """The commands in the sh blocks, as lists of words; comments and NAME=value in front are dropped."""
    for block in re.findall(r"^```sh\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            while words and re.match(r"\w+=", words[0]):
                words.pop(0)
            if words:
                yield words


def options_in(words):
    return [word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)]


def check_listed(help_text, words, name):
    for option in options_in(words):
        if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", help_text):
            yield f"{name}: {option} is not in its --help"


def check_program(words):
    """build/release/bin/NAME [VERB] ...: the options before a foreign program count only."""
    program = BUILD / "bin" / pathlib.Path(words[0]).name
    if not os.access(program, os.X_OK):
        yield f"{words[0]}: not built"
        return
    arguments = words[1:]
    verb = []
    if program.name == "drey-run":  # its own options come before the program it runs
        arguments = arguments[:next((i for i, word in enumerate(arguments) if word[0] != "-"),
                                   len(arguments))]
    elif arguments and re.fullmatch(r"[a-z]+", arguments[0]):
        verb = [arguments[0]]
    yield from check_listed(output_of(str(program), *verb, "--help"), arguments, program.name)


def check_script(words):
    script = SOURCE / words[0]
    if not os.access(script, os.X_OK):
        yield f"{words[0]}: not there or not executable"
        return
    yield from check_listed(output_of(str(script), "--help"), words[1:], words[0])


def preset_names(kind):
    presets = json.loads((SOURCE / "CMakePresets.json").read_text())
    return {preset["name"] for preset in presets[kind + "Presets"] if not preset.get("hidden")}


def value_after(words, *options):
    for option, value in zip(words, words[1:]):
        if option in options:
            return value
    return None


def check_cmake(words):
    kind = {"--workflow": "workflow", "--build": "build"}.get(words[1], "configure")
    preset = value_after(words, "--preset")
    if preset and preset not in preset_names(kind):
        yield f"no {kind} preset named {preset}"
    for word in words:
        variable = re.match(r"-D(DREY_\w+)=", word)
        if variable and f"{variable[1]}:" not in (BUILD / "CMakeCache.txt").read_text():
            yield f"{variable[1]}: no such option of the build"
    target = value_after(words, "--target", "-t")
    if target and not re.search(rf"^{re.escape(target)}:", output_of(
            "cmake", "--build", str(BUILD), "--target", "help"), flags=re.MULTILINE):
        yield f"no target named {target}"


def check_ctest(words):
    preset = value_after(words, "--preset")
    if preset and preset not in preset_names("test"):
        yield f"no test preset named {preset}"
    label = value_after(words, "-L")
    labels = output_of("ctest", "--test-dir", str(BUILD), "--print-labels")
    if label and not re.search(rf"^ *{re.escape(label)}$", labels, flags=re.MULTILINE):
        yield f"no test has the label {label}"


def check_command(words):
    program = words[0]
    if program.startswith("build/release/"):
        yield from check_program(words)
    elif program.startswith(("scripts/", ".ci/")):
        yield from check_script(words)
    elif program == "cmake":
        yield from check_cmake(words)
    elif program == "ctest":
        yield from check_ctest(words)
    elif program not in FOREIGN_PROGRAMS:
        yield f"{program}: a command that this test does not know"


def check_commands(text):
    for words in commands_of(text):
        try:
            yield from check_command(words)
        except LookupError as error:
            yield str(error)


def faults_of(document):
    text = document.read_text()
    # `NAME=value command` in front is dropped by commands_of, but may name a library.
    for library in re.findall(r"LD_PRELOAD=\S*?build/release/(lib/[\w.]+)", text):
        if not (BUILD / library).exists():
            yield f"build/release/{library}: not built"
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    yield from check_links(document, prose)
    yield from check_paths(document, prose)
    yield from check_commands(text)


def main():
    failed = False
    for document in documents():
        for fault in faults_of(document):
            failed = True
            print(f"{document.relative_to(SOURCE)}: {fault}")
    print("checked:", " ".join(str(document.relative_to(SOURCE)) for document in documents()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
