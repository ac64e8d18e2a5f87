#!/usr/bin/env python3
"""tidy.py: the rules of the house that a compiler does not check.

  tidy.py [--root DIR] [--no-format]     exit 1 and one line "file:line: message" a finding

Layers (layers.py), file headers, lengths of files and functions, preprocessor in bodies, macros,
banned words and names, references to Notes, paths of the author's machine, clang-format 14.
Read next: rules.py.
SPDX-License-Identifier: MIT
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # the source tree stays clean
import rules

SOURCE_ENDINGS = {".c", ".cc", ".cpp", ".h", ".hpp", ".cu", ".cuh", ".py", ".sh", ".cmake"}
SKIPPED_FOLDERS = {".git", "build", "node_modules", ".cache", "__pycache__"}


def project_files(root):
    """Files that git knows or would add; all of them, where there is no git."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"],
                            capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        names = sorted(set(listed.stdout.splitlines()))
    else:
        names = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()
                       and not SKIPPED_FOLDERS & set(path.relative_to(root).parts))
    return [name for name in names if (root / name).is_file()]


def is_source(name):
    path = pathlib.PurePath(name)
    return path.suffix in SOURCE_ENDINGS or path.name == "CMakeLists.txt" or name.startswith("scripts/")


def check_all(root):
    """All findings but those of clang-format, as (file, line, message)."""
    texts = {}
    for name in project_files(root):
        if is_source(name) or name.endswith((".md", ".json", ".in", ".golden")):
            texts[name] = (root / name).read_text(encoding="utf-8", errors="replace")
    notes = rules.defined_notes(texts)
    findings = []
    for name, text in texts.items():
        for rule in rules.ALL if is_source(name) else rules.FOR_EVERY_TEXT:
            findings += [(name, line, message) for line, message in rule(name, text)]
        findings += [(name, line, message) for line, message in rules.dangling_notes(text, notes)]
    return sorted(findings)


def clang_format_14():
    """The pinned version, or None: others format differently."""
    for program in ("clang-format-14", "clang-format"):
        if shutil.which(program):
            version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
            if re.search(r"version 14\.", version.stdout):
                return program
    return None


def check_format(root):
    program = clang_format_14()
    if program is None:
        print("skipped the format: clang-format 14 is not installed", file=sys.stderr)
        return []
    names = [name for name in project_files(root) if name.endswith((".c", ".cpp", ".h", ".hpp", ".cu"))]
    if not names:
        return []
    done = subprocess.run([program, "--dry-run", *names], capture_output=True, text=True, cwd=root,
                          check=False)
    found = re.findall(r"^(.*?):(\d+):\d+: (?:warning|error): code should be clang-formatted",
                       done.stderr, re.M)
    first_lines = {}
    for name, line in found:
        first_lines[name] = min(int(line), first_lines.get(name, int(line)))
    return [(name, line, "not formatted by clang-format 14 from here on")
            for name, line in sorted(first_lines.items())]


def main():
    parser = argparse.ArgumentParser(description="Checks the rules of the house.")
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--no-format", action="store_true", help="leave clang-format out")
    options = parser.parse_args()
    root = pathlib.Path(options.root).resolve()
    findings = check_all(root)
    if not options.no_format:
        findings += check_format(root)
    for name, line, message in findings:
        print(f"{name}:{line}: {message}")
    print(f"{len(findings)} findings", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
