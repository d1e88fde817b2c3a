# SPDX-License-Identifier: BSD-3-Clause
"""Where C++ text may be changed: inside bodies of functions, outside of comments, strings, assertions and logging.

This reads the project's own style (clang-format: operators between blanks, brackets of templates without); it is no
parser of C++. What it takes wrongly does not compile, and is then drawn again.
"""
import re

WORD = re.compile(r"[A-Za-z_]\w*")
OPENING, CLOSING = "([{", ")]}"
NOT_A_FUNCTION = re.compile(r"\s*(inline\s+)?(namespace|class|struct|union|enum|extern)\b")
# What only speaks, or only checks ourselves.
SPEAKS = re.compile(r"\b(static_assert|expects|assert|(starling::)?log::\w+|std::fprintf|printf|memory_order\w*)\s*\(")


def masked(text):
    """The text with comments, preprocessor lines and the insides of strings blanked; lengths and lines stay."""
    out = list(text)

    def blank(first, end):
        for at in range(first, end):
            if out[at] != "\n":
                out[at] = " "

    at, size = 0, len(text)
    line_begins = True
    while at < size:
        char = text[at]
        if text.startswith("//", at):
            end = _end_of(text, "\n", at)
            blank(at, end)
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2) + 2 or size
            blank(at, end)
        elif char == "#" and line_begins:
            end = at
            while True:
                end = _end_of(text, "\n", end)
                if end >= size or text[end - 1] != "\\":
                    break
                end += 1
            blank(at, end)
        elif text.startswith('R"', at) and not _inside_word(text, at):
            bracket = text.index("(", at)
            close = ")" + text[at + 2:bracket] + '"'
            end = text.index(close, bracket) + len(close)
            blank(at + 2, end - 1)
            out[at] = " "
        elif char == '"' or (char == "'" and not _inside_word(text, at)):
            end = at + 1
            while end < size and text[end] != char and text[end] != "\n":
                end += 2 if text[end] == "\\" else 1
            end = min(end + 1, size)
            blank(at + 1, end - 1)
        else:
            end = at + 1
        line_begins = char == "\n" or (line_begins and char.isspace())
        at = end
    return "".join(out)


def _end_of(text, what, at):
    found = text.find(what, at)
    return len(text) if found < 0 else found


def _inside_word(text, at):
    return at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")


def partner(text, at):
    """Index of the bracket that closes the one at `at`; the end of the text if there is none."""
    depth = 0
    for index in range(at, len(text)):
        if text[index] in OPENING:
            depth += 1
        elif text[index] in CLOSING:
            depth -= 1
            if depth == 0:
                return index
    return len(text)


def _without_template(head):
    """The head of a declaration without template<...> and [[...]]."""
    head = re.sub(r"\[\[.*?\]\]", " ", head, flags=re.S)
    while True:
        found = re.match(r"\s*template\s*<", head)
        if not found:
            return head
        depth, at = 1, found.end()
        while at < len(head) and depth:
            depth += {"<": 1, ">": -1}.get(head[at], 0)
            at += 1
        head = head[at:]


def bodies(text):
    """(head, first, end) of each outermost function body of masked text; text[first] is its brace."""
    found, at, boundary = [], 0, 0
    while at < len(text):
        char = text[at]
        if char == "{":
            head = _without_template(text[boundary:at])
            if "(" in head and not NOT_A_FUNCTION.match(head):
                end = partner(text, at)
                found.append((head, at, end))
                at = end
                boundary = at + 1
            elif "=" in head or not NOT_A_FUNCTION.match(head):
                at = partner(text, at)  # a table
            else:
                boundary = at + 1
        elif char in ";}":
            boundary = at + 1
        at += 1
    return found


def _segment(text, at):
    """The argument or statement around `at`: up to the next comma, bracket or semicolon of its own depth."""
    first = at
    while first > 0:
        char = text[first - 1]
        if char in CLOSING:
            first = _opening_of(text, first - 1)
        elif char in OPENING or char in ",;":
            break
        else:
            first -= 1
    end = at
    while end < len(text):
        char = text[end]
        if char in OPENING:
            end = partner(text, end) + 1
        elif char in CLOSING or char in ",;":
            break
        else:
            end += 1
    return first, end


def _opening_of(text, at):
    depth = 0
    for index in range(at, -1, -1):
        if text[index] in CLOSING:
            depth += 1
        elif text[index] in OPENING:
            depth -= 1
            if depth == 0:
                return index
    return 0


def left_alone(text):
    """Ranges of masked text that only speak: assertions, logging, and sums of strings."""
    ranges = []
    for found in SPEAKS.finditer(text):
        ranges.append((found.start(), partner(text, found.end() - 1) + 1))
    for found in re.finditer(r'"\s*"', text):
        first, end = _segment(text, found.start())
        if re.search(r'" *\+ |\+ "|\+\s*\n\s*"', re.sub(r'"\s*"', '"', text[first:end])):
            ranges.append((first, end))
    for found in re.finditer(r"\bcase\b[^:?]*:|\btemplate\s*<[^{;]*?>|\bif constexpr\b[^{;]*", text):
        ranges.append(found.span())
    return ranges


def split_arguments(text, first, end):
    """(first, end) of each top-level argument between the brackets text[first - 1] and text[end]."""
    parts, depth, start = [], 0, first
    for at in range(first, end):
        char = text[at]
        if char in OPENING:
            depth += 1
        elif char in CLOSING:
            depth -= 1
        elif char == "," and depth == 0:
            parts.append((start, at))
            start = at + 1
    parts.append((start, end))
    return [_trimmed(text, *part) for part in parts]


def _trimmed(text, first, end):
    while first < end and text[first].isspace():
        first += 1
    while end > first and text[end - 1].isspace():
        end -= 1
    return first, end


def statements(text, first, end):
    """(first, end) of each simple statement of a body, without the `if (...)` before it; end is behind the ';'."""
    found, start, at = [], first + 1, first + 1
    while at < end:
        char = text[at]
        if char in "([":
            inner = partner(text, at)
            if "{" in text[at:inner]:  # a lambda's statements are looked at, too
                brace = text.index("{", at)
                found += statements(text, brace, partner(text, brace))
            at = inner + 1
            continue
        if char in "{}":
            start = at + 1
        elif char == ";":
            found.append((_after_control(text, start, at), at + 1))
            start = at + 1
        at += 1
    return found


def _after_control(text, start, end):
    """Where the statement begins that an if, else, for, while or label governs."""
    while True:
        start, _ = _trimmed(text, start, end)
        found = re.compile(r"(else\b|default\s*:|case\b[^:?]*:|\[\[\w+\]\])|(?:if|for|while)\s*(constexpr)?\s*\(").match(
            text, start, end)
        if not found:
            return start
        start = found.end() if found.group(1) else partner(text, found.end() - 1) + 1
