# SPDX-License-Identifier: BSD-3-Clause
"""Which tests cover which file: the table tests/mutate/covering, and how it is recorded.

The record is a fact: a build with gcov's counters (preset `coverage`) runs every test by itself, and the functions that
it entered are read from gcov's files (GCC 12 to 14; gcov itself would take longer than the tests).
"""
import collections
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess

import bounded

FUNCTION, ARCS = 0x01000000, 0x01A10000
# No proofs of a file's code, or longer than a change may take.
LEFT_OUT = re.compile(r"docs_|model_|mutate|cluster|profile/|plugin_(records|site)|tools/install")
LONGEST = 40    # seconds of a test with counters, which make it several times slower
PER_FUNCTION = 4
FROM_FOLDER = 40


def tests_of(build):
    """name -> ctest's description."""
    shown = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True,
                           capture_output=True, text=True)
    return {test["name"]: test for test in json.loads(shown.stdout)["tests"] if "command" in test}


def exactly(name):
    return "^" + re.sub(r"([^\w/])", r"\\\1", name) + "$"


class Table:
    """seconds: test -> how long it took; files: path -> its tests, quick ones first."""

    def __init__(self):
        self.seconds, self.files = {}, {}

    @classmethod
    def read(cls, path):
        table, names = cls(), []
        for line in pathlib.Path(path).read_text().splitlines():
            words = line.split()
            if words and words[0] == "test":
                names.append(words[2])
                table.seconds[words[2]] = float(words[1])
            elif words and words[0] == "file":
                table.files[words[1]] = [names[int(word)] for word in words[2:]]
        return table

    def write(self, path):
        names = sorted(self.seconds)
        number = {name: index for index, name in enumerate(names)}
        lines = ["# SPDX-License-Identifier: BSD-3-Clause",
                 "# Written by `tests/mutate/mutate --record`: tests with their seconds, counted from 0; then each file's",
                 "# tests by these numbers, in the order in which they are run."]
        lines += [f"test {self.seconds[name]:.1f} {name}" for name in names]
        lines += [" ".join(["file", file, *(str(number[name]) for name in tests)])
                  for file, tests in sorted(self.files.items())]
        pathlib.Path(path).write_text("\n".join(lines) + "\n")

    def tests(self, path, known):
        """The tests of a file and how many they are, with others of its folder behind them, those first that most of the
        folder's files have. Tests that are younger than the table go by their names."""
        stem = pathlib.PurePath(path).stem
        young = [name for name in known if name not in self.seconds and stem in name and not LEFT_OUT.match(name)]
        own, folder = self.files.get(path, []), os.path.dirname(path) + "/"
        counted = collections.Counter(name for file, tests in self.files.items() if file.startswith(folder)
                                      for name in tests if name not in own)
        others = sorted(counted, key=lambda name: (-counted[name], self.seconds[name], name))[:FROM_FOLDER]
        if not own:
            others.sort(key=lambda name: (self.seconds[name], name))
        own = [name for name in young + own if name in known]
        return own + [name for name in others if name in known], len(own)


def choose(entered, seconds):
    """path -> tests, from test -> {(path, function)}: for each function the quickest tests, and those that do the
    least besides this file; of one program only one run."""
    size = {test: len(functions) for test, functions in entered.items()}
    share = collections.Counter((test, path) for test, functions in entered.items() for path, _ in functions)
    by_function = {}
    for test, functions in entered.items():
        for function in functions:
            by_function.setdefault(function, []).append(test)
    files = {}
    for (path, _), tests in by_function.items():
        chosen = files.setdefault(path, set())
        for key in (lambda t: (seconds[t], t), lambda t: (-share[t, path] / size[t], seconds[t], t)):
            programs = set()
            for test in sorted(tests, key=key):
                program = re.sub(r"/np\d+$", "", test)
                if program not in programs and len(programs) < PER_FUNCTION:
                    programs.add(program)
                    chosen.add(test)
    return {path: sorted(tests, key=lambda t: (seconds[t], t)) for path, tests in files.items()}


def _text(data, at):
    size = struct.unpack_from("<I", data, at)[0]
    return data[at + 4:at + 4 + size].rstrip(b"\0").decode(), at + 4 + size


def functions_of(notes, root):
    """ident -> (path below root, first line) from a .gcno file."""
    data, found = pathlib.Path(notes).read_bytes(), {}
    if data[:4] != b"oncg":
        raise ValueError(f"{notes}: no notes of gcov in this machine's byte order")
    _, at = _text(data, 16)
    at += 4
    while at + 8 <= len(data):
        tag, size = struct.unpack_from("<Ii", data, at)
        at += 8
        if tag == FUNCTION:
            ident = struct.unpack_from("<I", data, at)[0]
            _, here = _text(data, at + 12)
            source, here = _text(data, here + 4)
            path = os.path.relpath(source, root)
            if not path.startswith(".."):
                found[ident] = (path, struct.unpack_from("<I", data, here)[0])
        at += max(size, 0)
    return found


def entered_of(counts):
    """Idents of the functions that a .gcda file says were entered."""
    data, found, ident = pathlib.Path(counts).read_bytes(), set(), None
    at = 16
    while at + 8 <= len(data):
        tag, size = struct.unpack_from("<Ii", data, at)
        at += 8
        if tag == FUNCTION and size > 0:
            ident = struct.unpack_from("<I", data, at)[0]
        elif tag == ARCS and size > 0 and any(data[at:at + size]):
            found.add(ident)
        at += max(size, 0)  # a negative size: that many counters, all 0
    return found


def record(root, build, folders, say):
    """Runs every test of the coverage build; the table."""
    known, entered, table = {}, {}, Table()
    place = pathlib.Path(build) / "counts"
    for name in sorted(tests_of(build)):
        if LEFT_OUT.match(name):
            continue
        shutil.rmtree(place, ignore_errors=True)
        code, output, seconds = bounded.run(["ctest", "--test-dir", str(build), "-R", exactly(name)], LONGEST,
                                            env=dict(os.environ, GCOV_PREFIX=str(place)))
        if code is None or "Skipped" in output:
            say(f"{name}: left out ({'longer than the limit' if code is None else 'skipped'})")
            continue  # one that fails because of the counters has entered what it has entered
        functions = set()
        for counts in place.rglob("*.gcda"):
            notes = pathlib.Path("/", counts.relative_to(place)).with_suffix(".gcno")
            if notes not in known:
                known[notes] = functions_of(notes, root) if notes.exists() else {}
            functions.update(known[notes][ident] for ident in entered_of(counts) if ident in known[notes])
        functions = {function for function in functions if function[0].startswith(folders)}
        if functions:
            entered[name], table.seconds[name] = functions, seconds
    shutil.rmtree(place, ignore_errors=True)
    table.files = choose(entered, table.seconds)
    used = {name for tests in table.files.values() for name in tests}
    table.seconds = {name: value for name, value in table.seconds.items() if name in used}
    return table
