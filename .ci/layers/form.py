# SPDX-License-Identifier: BSD-3-Clause
"""How a file looks: licence line, length, columns, length of functions, clang-format."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess

CODE = {".hpp", ".cpp", ".h", ".c"}
LICENSED = CODE | {".py", ".cmake", ".sh", ".conf", ".F90", ".f90"}
MAX_LINES = 800
MAX_COLUMNS = 110
MAX_FUNCTION = 60
LICENCE = "SPDX-License-Identifier: BSD-3-Clause"
# Comments, strings and characters, which may hold braces.
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
TYPE = re.compile(r"\b(class|struct|union|enum)\b[^()]*$")
NAME = re.compile(r"([~\w:]+|operator\s*\S+)\s*\(")


def long_files(root, problem):
    """Names in .ci/long-files: lines `path: reason`."""
    path = root / ".ci/long-files"
    named = set()
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.strip() and not line.startswith("#"):
            name, _, reason = line.partition(":")
            if not reason.strip() or not (root / name).is_file():
                problem(".ci/long-files", f"'{line}' is no line `path of a file: reason`")
            named.add(name)
    return named


def blanked(text):
    """The same text with spaces for what is no code; lines stay."""
    return NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def in_a_head(before):
    """Whether a brace behind this belongs to the head of a function: in its parameters, or in a member's initialiser."""
    if before.count("(") > before.count(")"):
        return True
    flat = before
    while (inner := re.sub(r"\([^()]*\)", "()", re.sub(r"\{[^{}]*\}", "{}", flat)).replace("(())", "()")) != flat:
        flat = inner
    _, _, behind = flat.partition("()")
    initialisers = re.search(r"(?<!:)(?<!public)(?<!private)(?<!protected):(?!:)", behind)
    return initialisers is not None and re.search(r"[\w>]\s*$", before) is not None


def functions(text):
    """Functions outside of others as (name, first line, lines of the body)."""
    code = re.sub(r"^\s*#.*?(?<!\\)$", lambda found: re.sub(r"[^\n]", " ", found[0]), blanked(text), flags=re.M | re.S)
    code = code.replace("'", " ")
    scopes, head = [], 0
    for at, sign in enumerate(code):
        if any(kind == "head" for kind, _, _ in scopes):
            if sign == "{":
                scopes.append(("head", "", at))
            elif sign == "}":
                scopes.pop()
        elif sign == "{":
            before = code[head:at]
            outside = all(kind == "scope" for kind, _, _ in scopes)
            if outside and in_a_head(before):
                scopes.append(("head", "", at))
                continue
            if "namespace" in before or TYPE.search(before) or before.strip() in ('extern', 'extern " "'):
                scopes.append(("scope" if outside else "block", "", at))
            elif outside and "(" in before and not before.rstrip().endswith(("=", ",", "(")):
                found = NAME.search(before)
                scopes.append(("function", found[1] if found else "?", at))
            else:
                scopes.append(("block", "", at))
            head = at + 1
        elif sign == "}":
            if scopes:
                kind, name, begin = scopes.pop()
                if kind == "function":
                    yield name, code.count("\n", 0, begin) + 1, code.count("\n", begin, at) + 1
            head = at + 1
        elif sign == ";":
            head = at + 1


def check(root, name, text, long_ones, floors, problem):
    lines = text.splitlines()
    suffix = pathlib.PurePath(name).suffix
    script = lines[:1] and lines[0].startswith("#!")
    if (suffix in LICENSED or script or name.endswith("CMakeLists.txt")) and not any(LICENCE in line for line in lines[:3]):
        problem(name, f"has no licence line: {LICENCE}")
    if suffix not in CODE:
        return
    if len(lines) > MAX_LINES and name not in long_ones:
        problem(name, f"has {len(lines)} lines, at most {MAX_LINES} (or a reason in .ci/long-files)")
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            problem(name, f"{len(line)} columns, at most {MAX_COLUMNS}", number)
    if name.split("/")[0] in floors:
        for function, line, length in functions(text):
            if length > MAX_FUNCTION:
                problem(name, f"{function} has {length} lines, at most {MAX_FUNCTION}", line)


def formatter():
    """clang-format 14, or None: another version lays out otherwise."""
    for tool in filter(None, map(shutil.which, ("clang-format-14", "clang-format"))):
        if " version 14." in subprocess.run([tool, "--version"], capture_output=True, text=True).stdout:
            return tool
    return None


def check_format(root, names, problem):
    """clang-format 14 would change nothing."""
    tool = formatter()
    if tool is None:
        return "not looked at: there is no clang-format 14"
    parts = [part for part in (names[i::8] for i in range(8)) if part]

    def look(part):
        return subprocess.run([tool, "--dry-run", *part], cwd=root, capture_output=True, text=True).stderr

    seen = set()
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for said in pool.map(look, parts):
            for name, line in re.findall(r"^([^:\n]+):(\d+):\d+: warning: code should be clang-formatted", said, re.M):
                if name not in seen:
                    problem(name, f"is laid out otherwise by clang-format: run {tool} -i {name}", int(line))
                seen.add(name)
    return "as clang-format has it" if not seen else f"{len(seen)} files are not as clang-format has it"
