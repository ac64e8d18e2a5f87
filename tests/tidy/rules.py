"""rules.py: one function a rule: (name, text) to a list of (line, message).

The parser of functions knows braces, comments and literals, not C++; that is enough for lengths.
Read next: layers.py.
SPDX-License-Identifier: MIT
"""
import pathlib
import re

import layers

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 50
MACROS = {"DREY_ASSERT", "DREY_CHECK", "DREY_EXPORT"}
HEADER_LINES_MIN, HEADER_LINES_MAX = 2, 14
# Split, so that this file does not find itself.
BANNED_WORDS = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
BANNED_FILE_WORDS = {"util", "utils", "helper", "helpers", "misc", "manager"}
MACHINE_PATHS = re.compile(r"/wo" r"rk/|/ro" r"ot/|/home/[a-z]+/|/sha" r"red/design")
C_LIKE = (".c", ".cpp", ".h", ".hpp", ".cu", ".cuh")


def is_c_like(name):
    return name.endswith(C_LIKE)


def blank_literals(text):
    """The same text, same lines and columns, with comments and literals as spaces."""
    pattern = re.compile(
        r'R"([^(\s]*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\\n])+\'', re.S)
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def file_header(name, text):
    lines = text.splitlines()
    if not lines:
        return [(1, "empty file")]
    if pathlib.PurePath(name).name == "CMakeLists.txt" and len(lines) <= 3:
        return []  # one call says it all
    start = 1 if lines[0].startswith("#!") else 0
    first = lines[start].strip() if start < len(lines) else ""
    if not first.startswith(("//", "/*", "#", '"""')) or first.startswith("#include"):
        return [(start + 1, "no comment at the top that says what this file is")]
    if pathlib.PurePath(name).name == "CMakeLists.txt" or name.endswith(".cmake"):
        return []
    head = "\n".join(lines[: start + HEADER_LINES_MAX + 1])
    if "SPDX-License-Identifier: MIT" not in head:
        return [(start + 1, "no 'SPDX-License-Identifier: MIT' in the comment at the top")]
    return []


def file_length(_name, text):
    count = len(text.splitlines())
    return [(count, f"{count} lines, at most {FILE_LINES_MAX}")] if count > FILE_LINES_MAX else []


def function_bodies(text):
    """(first line, last line) of each outermost brace that opens a function or a lambda's body."""
    bare = re.sub(r"^[ \t]*#[^\n]*(?:\\\n[^\n]*)*",
                  lambda match: re.sub(r"[^\n]", " ", match.group(0)), blank_literals(text), flags=re.M)
    bodies, stack, head_start = [], [], 0
    for match in re.finditer(r"[{};]", bare):
        mark = match.group(0)
        if mark == "{":
            head = bare[head_start:match.start()]
            inside_function = any(kind == "function" for kind, _ in stack)
            stack.append((kind_of_brace(head, inside_function), match.start()))
        elif mark == "}" and stack:
            kind, start = stack.pop()
            if kind == "function":
                bodies.append((line_of(bare, start), line_of(bare, match.start())))
        head_start = match.end()
    return bodies


def kind_of_brace(head, inside_function):
    """'function' for the outermost body of a function; anything else is 'other'."""
    if inside_function:
        return "other"
    if re.search(r"\b(?:namespace|class|struct|union|enum|extern)\b[^()]*$", head):
        return "other"
    is_function = re.search(r"\)\s*(?:const|noexcept(?:\([^()]*\))?|override|final|mutable|&|\s)*"
                            r"(?:->[^;{}]*)?(?::[^;]*)?\s*$", head)
    return "function" if is_function and "=" not in head.split("(")[0] else "other"


def function_length(name, text):
    if not is_c_like(name):
        return []
    return [(first, f"function of {last - first + 1} lines, at most {FUNCTION_LINES_MAX}")
            for first, last in function_bodies(text) if last - first + 1 > FUNCTION_LINES_MAX]


def preprocessor_in_bodies(name, text):
    if not is_c_like(name) or name.startswith(("base/", "alloc/os/")):
        return []
    spans = function_bodies(text)
    found = []
    for match in re.finditer(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else)\b", blank_literals(text), re.M):
        line = line_of(text, match.start())
        if any(first < line < last for first, last in spans):
            found.append((line, "#if inside a function"))
    return found


def macros(name, text):
    if not is_c_like(name):
        return []
    found = []
    for match in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(.*)$", blank_literals(text), re.M):
        macro = match.group(1)
        is_guard = name.endswith(".h") and macro.endswith("_H") and not match.group(2).strip()
        is_feature = macro in {"_GNU_SOURCE", "_DEFAULT_SOURCE"}
        if macro not in MACROS and not is_guard and not is_feature:
            found.append((line_of(text, match.start()), f"macro {macro}: only {', '.join(sorted(MACROS))}"))
    return found


def includes(name, text):
    if not is_c_like(name):
        return []
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^">]+)[">]', line)
        problem = match and layers.include_problem(name, match.group(2), match.group(1) == '"')
        if problem:
            found.append((number, problem))
    return found


def banned_words(_name, text):
    pattern = re.compile(r"\b(" + "|".join(BANNED_WORDS) + r")\b")
    return [(line_of(text, match.start()), f"{match.group(1)}: finish it or leave it out")
            for match in pattern.finditer(text)]


def file_names(name, _text):
    words = set(re.split(r"[_.\-/]", name.lower()))
    return [(1, f"a file name with '{word}' says nothing") for word in sorted(words & BANNED_FILE_WORDS)]


def machine_paths(_name, text):
    return [(line_of(text, match.start()), f"path of somebody's machine: {match.group(0)}")
            for match in MACHINE_PATHS.finditer(text)]


def defined_notes(texts):
    """Names of all Notes: a comment line that is 'Note [Name]' and no more, or goes on with a colon."""
    pattern = re.compile(r"^\s*(?://+|#|\*|/\*+)?\s*Note \[([^\]\n]+)\]\s*(?::.*)?$", re.M)
    return {match for text in texts.values() for match in pattern.findall(text)}


def dangling_notes(text, notes):
    return [(line_of(text, match.start()), f"no Note [{match.group(1)}] anywhere")
            for match in re.finditer(r"see Note \[([^\]\n]+)\]", text, re.I)
            if match.group(1) not in notes and match.group(1) != "X"]


FOR_EVERY_TEXT = [banned_words, file_names, machine_paths]
ALL = [file_header, file_length, function_length, preprocessor_in_bodies, macros, includes,
       *FOR_EVERY_TEXT]
