# SPDX-License-Identifier: BSD-3-Clause
"""The changes that can be made of a file's code, each as one replacement of text on the same number of lines."""
import dataclasses
import re

import places

PAIRS = {
    "bound": {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > "},
    "comparison": {" == ": " != ", " != ": " == "},
    "sum": {" + ": " - ", " - ": " + ", " += ": " -= ", " -= ": " += ", "++": "--", "--": "++"},
    "product": {" * ": " / ", " / ": " * ", " % ": " / ", " & ": " | ", " | ": " & ", " << ": " >> ", " >> ": " << "},
    "logic": {" && ": " || ", " || ": " && "},
    "extreme": {"std::min(": "std::max(", "std::max(": "std::min("},
    "truth": {"true": "false", "false": "true"},
}
# How often each kind is drawn.
WEIGHTS = {"bound": 3, "comparison": 2, "sum": 3, "product": 1, "logic": 2, "extreme": 1, "truth": 1, "number": 2,
           "not": 1, "condition": 4, "dropped": 4, "swapped": 2, "return": 1, "error class": 1}
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "alignof", "catch", "decltype", "alignas", "operator",
            "noexcept", "static_cast", "min", "max", "swap", "requires"}
DECLARES = re.compile(r"(const|constexpr|auto|static|using|typedef|return|throw|goto|delete|new|co_\w+|friend|template|"
                      r"namespace|struct|class|enum|extern|thread_local|do)\b|[\w:]+(<[^;=]*>)?[&*]*\s+[&*]*\w+")
CALL = re.compile(r"(\(void\))?[\w:]+((\.|->)[\w:]+|<[\w:, *]+>|\(.*\)|\[.*\])*(?<=\))$", re.S)
ASSIGNMENT = re.compile(r"[*(]*[\w:][^=;{]*?\s([-+*/|&%^]|<<|>>)?=\s", re.S)


@dataclasses.dataclass(frozen=True)
class Change:
    path: str
    first: int
    end: int
    replacement: str
    kind: str

    def applied(self, text):
        return text[:self.first] + self.replacement + text[self.end:]

    def line(self, text):
        return text.count("\n", 0, self.first) + 1

    def lines(self, text):
        """The lines that it touches, before and after, without the blanks around them."""
        first = text.rfind("\n", 0, self.first) + 1
        end = text.find("\n", self.end)
        end = len(text) if end < 0 else end
        before = text[first:end]
        after = text[first:self.first] + self.replacement + text[self.end:end]
        old, new = ([line.strip() for line in part.split("\n")] for part in (before, after))
        while len(old) > 1 and len(new) > 1 and old[-1] == new[-1]:
            del old[-1], new[-1]
        while len(old) > 1 and len(new) > 1 and old[0] == new[0]:
            del old[0], new[0]
        return old, new


def changes_of(path, text):
    """All changes of a file."""
    mask = places.masked(text)
    alone = places.left_alone(mask)
    found = []
    for head, first, end in places.bodies(mask):
        for change in _of_body(path, text, mask, head, first, end):
            spared = any(start <= change.first < stop for start, stop in alone)
            if not spared and text[change.first:change.end] != change.replacement:
                found.append(change)
    return found


def _of_body(path, text, mask, head, first, end):
    yield from _tokens(path, mask, first, end)
    yield from _numbers(path, mask, first, end)
    yield from _conditions(path, text, mask, first, end)
    yield from _dropped(path, mask, first, end)
    yield from _swapped(path, text, mask, first, end)
    value = "return;" if re.search(r"\bvoid\s+[\w:~]+\s*\(|->\s*void\b", head) else "return {};"
    yield Change(path, first + 1, first + 1, " " + value, "return")


def _tokens(path, mask, first, end):
    for kind, pairs in PAIRS.items():
        for old, new in pairs.items():
            shown = re.escape(old)
            if old[0].isalpha():
                shown = r"\b" + shown + ("" if old.endswith("(") else r"\b")
            elif old[-1] == " ":
                shown = shown[:-2] + r"(?=\s)"  # an operator may end its line
            for found in re.finditer(shown, mask[first:end]):
                at = first + found.start()
                yield Change(path, at, first + found.end(), new.rstrip() if old[-1] == " " else new, kind)
    for found in re.finditer(r"(?<![\w)\]=!])!(?=[\w(*])", mask[first:end]):
        yield Change(path, first + found.start(), first + found.end(), "", "not")
    for found in re.finditer(r"\bMPI_ERR_[A-Z_]+\b", mask[first:end]):
        other = "MPI_ERR_ARG" if found.group() == "MPI_ERR_OTHER" else "MPI_ERR_OTHER"
        if found.group() != "MPI_ERR_LASTCODE":
            yield Change(path, first + found.start(), first + found.end(), other, "error class")


def _numbers(path, mask, first, end):
    for found in re.finditer(r"(?<![\w.'])(0|[1-9][0-9]*)(?![\w.'])", mask[first:end]):
        value = int(found.group())
        for other in {value + 1, abs(value - 1)}:
            yield Change(path, first + found.start(), first + found.end(), str(other), "number")


def _conditions(path, text, mask, first, end):
    for found in re.finditer(r"\b(if|while)\s*\(", mask[first:end]):
        opening = first + found.end() - 1
        start, stop = opening + 1, places.partner(mask, opening)
        while ";" in mask[start:stop]:
            start = mask.index(";", start, stop) + 1
        condition = text[start:stop]
        if "{" in condition or re.match(r"\s*(const\s+)?(auto|[\w:]+(<[^()]*>)?)[&*]*\s+[&*]*\w+\s*=[^=]", condition):
            continue
        lines = "\n" * condition.count("\n")
        blank = " " if condition[:1] == " " else ""
        if found.group(1) == "if":
            yield Change(path, start, stop, f"{blank}!({condition.strip()})", "condition")
            yield Change(path, start, stop, f"{blank}true{lines}", "condition")
        yield Change(path, start, stop, f"{blank}false{lines}", "condition")


def _dropped(path, mask, first, end):
    for start, stop in places.statements(mask, first, end):
        shown = mask[start:stop - 1].strip()
        simple = shown in ("break", "continue") or re.fullmatch(r"(\+\+|--)[\w.\->\[\]()]+", shown)
        if not simple and (not shown or DECLARES.match(shown)):
            continue
        saves_time_only = re.search(r"\.(reserve|shrink_to_fit)\(", shown)
        if not saves_time_only and (simple or CALL.match(shown) or ASSIGNMENT.match(shown)):
            yield Change(path, start, stop, "{}" + "\n" * mask[start:stop].count("\n"), "dropped")


def _swapped(path, text, mask, first, end):
    for found in re.finditer(r"\b([A-Za-z_]\w*)\(", mask[first:end]):
        if found.group(1) in KEYWORDS:
            continue
        opening = first + found.end() - 1
        closing = places.partner(mask, opening)
        parts = places.split_arguments(mask, opening + 1, closing)
        for (a, b), (c, d) in zip(parts, parts[1:]):
            left, right = text[a:b], text[c:d]
            if left != right and left and right and not re.search(r'["[{]', left + right):
                yield Change(path, a, d, right + text[b:c] + left, "swapped")


def draw(random, changes):
    """Puts the changes into a random order in which kinds come by their weights."""
    by_kind = {}
    for change in changes:
        by_kind.setdefault(change.kind, []).append(change)
    for kind in sorted(by_kind):
        by_kind[kind].sort(key=lambda c: (c.path, c.first, c.end, c.replacement))
        random.shuffle(by_kind[kind])
    while by_kind:
        kinds = sorted(by_kind)
        kind = random.choices(kinds, [WEIGHTS[k] for k in kinds])[0]
        yield by_kind[kind].pop()
        if not by_kind[kind]:
            del by_kind[kind]
