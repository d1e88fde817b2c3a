# SPDX-License-Identifier: BSD-3-Clause
"""Changes that no test can see, with the reason: tests/mutate/explained, known by path and content, not by line."""
import pathlib


class Error(Exception):
    pass


def key_of(path, old, new):
    return path, "\n".join(line.strip() for line in old), "\n".join(line.strip() for line in new)


def read(file):
    """key -> reason. A block: the path, lines with '-', lines with '+', `why: ...`; blocks are parted by empty lines."""
    found = {}
    for number, block in _blocks(file):
        path, old, new, why = block[0], [], [], []
        for line in block[1:]:
            if why:
                why.append(line.strip())
            elif line.startswith("why:"):
                why.append(line[4:].strip())
            elif line[:1] in "-+":
                (old if line[0] == "-" else new).append(line[1:])
            else:
                raise Error(f"{file}:{number}: '{line}' begins with none of '-', '+', 'why:'")
        if not (old and new and why and why[0]):
            raise Error(f"{file}:{number}: {path}: a block has lines with '-', lines with '+', and 'why: <reason>'")
        found[key_of(path, old, new)] = " ".join(why)
    return found


def _blocks(file):
    lines, first = [], 0
    for number, line in enumerate([*pathlib.Path(file).read_text().splitlines(), ""], 1):
        if line.startswith("#"):
            continue
        if line.strip():
            first = first if lines else number
            lines.append(line)
        elif lines:
            yield first, lines
            lines = []


def stale(explained, root):
    """Paths and lines of explanations whose code is gone."""
    gone = []
    for path, old, _ in explained:
        file = pathlib.Path(root, path)
        code = "\n".join(line.strip() for line in file.read_text().splitlines()) if file.exists() else ""
        if old not in code:
            gone.append(f"{path}: {old}")
    return gone
