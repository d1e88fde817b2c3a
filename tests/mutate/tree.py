# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the sources with its own build, in which one change at a time is built and met by tests."""
import dataclasses
import os
import pathlib
import shutil
import subprocess

import bounded
import covering
import ninja

BUILD_LIMIT = 240      # seconds for the objects of a change, and again for what is linked from them
SHORTEST_LIMIT = 20    # seconds that any test may take before it counts as hanging
LONGEST_LIMIT = 60     # ... and that none may
SLOWER = 12            # in between: this factor times what the table says
OWN_TIMES = 3          # a file's own tests, which come first, may take this factor times the budget
MOST_OBJECTS = 12      # changes of headers that more objects include are not made: they take minutes each


class Error(Exception):
    pass


@dataclasses.dataclass
class Outcome:
    """word: caught, SURVIVED, or why the change does not count."""
    word: str
    by: str = ""
    seconds: float = 0.0
    tests: int = 0
    unsteady: tuple = ()


def sources(root):
    """The files of the tree, without what git ignores."""
    shown = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True,
                           text=True)
    if shown.returncode == 0:
        return sorted(name for name in shown.stdout.split("\0") if name and (pathlib.Path(root) / name).is_file())
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in ("build", ".git", ".cache")]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in files]
    return sorted(found)


def newest(history, lines):
    """Of git's --numstat, newest first, the files up to the one with which `lines` added lines are reached."""
    files, seen = set(), 0
    for line in history.splitlines():
        added, _, name = (line.split("\t") + ["", ""])[:3]
        if added.isdigit() and name.endswith((".cpp", ".hpp")) and seen < lines:
            files.add(name)
            seen += int(added)
    return files


class Tree:
    """place: where the copy is; its build is place/build/release, as a user would make it."""

    def __init__(self, root, place):
        self.root = pathlib.Path(root)
        self._lies_in(place)

    def _lies_in(self, place):
        self.place = pathlib.Path(place)
        self.build = self.place / "build/release"
        self.kept = self.place / "build/kept"
        self.temporary = self.place / "build/tmp"

    def stand_in(self):
        """Copies sources and build, and puts the copy where the original is, for this process and its children only:
        a build folder works at one path alone, and building everything again takes minutes. False where there is no
        build, or no right to mount (bounded.private_shared_memory)."""
        if not (self.root / "build/release/build.ninja").exists():
            return False
        shutil.rmtree(self.place, ignore_errors=True)
        for name in sources(self.root):
            (self.place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.root / name, self.place / name)
        self.build.parent.mkdir()
        subprocess.run(["cp", "-a", str(self.root / "build/release"), str(self.build)], check=True)
        if not bounded.stand_in(self.place, self.root):
            return False
        self._lies_in(self.root)
        os.chdir(self.root)
        return True

    def prepare(self, jobs, limit):
        """Makes the copy equal to the sources, and builds it."""
        if self.place != self.root:
            self._copy_sources()
        if not (self.build / "build.ninja").exists():
            launcher = "ccache" if shutil.which("ccache") else ""
            self._step(["cmake", "--preset", "release", f"-DCMAKE_C_COMPILER_LAUNCHER={launcher}",
                        f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"], limit)
        self._step(["nice", "ninja", "-C", str(self.build), f"-j{jobs}"], limit)

    def _copy_sources(self):
        names = sources(self.root)
        for name in names:
            self._copy_if_other(name)
        there = {os.path.relpath(os.path.join(folder, file), self.place)
                 for folder, _, files in os.walk(self.place) for file in files}
        for name in there - set(names):
            if not name.startswith("build/"):
                (self.place / name).unlink()

    def _copy_if_other(self, name):
        source, copy = self.root / name, self.place / name
        if copy.is_file() and copy.read_bytes() == source.read_bytes():
            return
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)

    def _step(self, command, limit):
        code, output, _ = bounded.run(command, limit, cwd=self.place)
        if code != 0:
            shown = "\n".join(output.splitlines()[-30:])
            raise Error(f"{' '.join(command)} in {self.place}: "
                        f"{f'longer than {limit} s' if code is None else f'exit code {code}'}\n{shown}")

    def open(self):
        self.graph = ninja.Graph(self.place, self.build)
        self.known = covering.tests_of(self.build)
        self.unsteady = set()

    def _programs(self, tests):
        prefix = str(self.build) + "/"
        return {word[len(prefix):] for name in tests for word in self.known[name]["command"]
                if word.startswith(prefix) and os.path.isfile(word)}

    def attempt(self, change, tests, table, budget, own=0):
        """Builds the change and runs the tests until one fails, at most `budget` seconds of them; the first `own` of
        them for OWN_TIMES as long. A test that fails without the change, too, is not asked again, and the others are."""
        own = set(tests[:own])
        spent, unsteady = 0.0, ()
        while True:
            asked = [name for name in tests if name not in self.unsteady]
            outcome = self._attempt(change, asked, table, budget - spent, own)
            outcome.seconds += spent
            outcome.unsteady += unsteady
            if outcome.word == "SURVIVED" and outcome.tests == 0 and unsteady:
                outcome.word = "unsteady test"  # and no other
                return outcome
            if outcome.word != "unsteady test":
                return outcome
            self.unsteady.update(outcome.unsteady)
            spent, unsteady = outcome.seconds, outcome.unsteady

    def _attempt(self, change, tests, table, budget, own):
        tests = [name for name in tests if name in self.known]
        objects, archives, linked = self.graph.affected(change.path, self._programs(tests))
        if not objects:
            return Outcome("nothing is built from it")
        if len(objects) > MOST_OBJECTS:
            return Outcome("too many objects include it")
        self._keep([*objects, *archives, *linked], change.path)
        try:
            outcome = self._built(change, objects, linked)
            if outcome is None:
                outcome = self._met(tests, table, budget, own)
        finally:
            self._restore()
        if outcome.word in ("failed", "hangs"):
            return self._sure(outcome, table)
        return outcome

    def _keep(self, outputs, path):
        shutil.rmtree(self.kept, ignore_errors=True)
        # The source last, since they are put back in this order: what was interrupted is then built again.
        self.saved = [f"build/release/{name}" for name in outputs] + [path]
        for name in self.saved:
            copy = self.kept / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.place / name, copy)

    def _restore(self):
        for name in self.saved:
            shutil.copy2(self.kept / name, self.place / name)
        shutil.rmtree(self.kept)

    def _ninja(self, outputs):
        environment = dict(os.environ, CCACHE_DISABLE="1")
        return bounded.run(["ninja", "-C", str(self.build), *outputs], BUILD_LIMIT, env=environment)[0]

    def _built(self, change, objects, linked):
        source = self.place / change.path
        source.write_text(change.applied(source.read_text()))
        if self._ninja(objects) != 0:
            return Outcome("does not compile")
        if all(self._code(self.build / name) == self._code(self.kept / "build/release" / name) for name in objects):
            return Outcome("same code")
        if self._ninja(linked) != 0:
            return Outcome("does not link")
        return None

    def _code(self, file):
        """An object without what only debuggers read: columns change with every change."""
        plain = self.place / "build/plain.o"
        subprocess.run(["objcopy", "--strip-debug", str(file), str(plain)], check=True)
        return plain.read_bytes()

    def _limit(self, name, table):
        return min(max(SHORTEST_LIMIT, SLOWER * table.seconds.get(name, 0)), LONGEST_LIMIT)

    def _test(self, name, limit):
        shutil.rmtree(self.temporary, ignore_errors=True)
        self.temporary.mkdir(parents=True)
        command = ["ctest", "--test-dir", str(self.build), "-R", covering.exactly(name)]
        environment = dict(os.environ, TMPDIR=str(self.temporary))
        code, _, seconds = bounded.run(command, limit, env=environment)
        shutil.rmtree(self.temporary, ignore_errors=True)
        return code, seconds

    def _met(self, tests, table, budget, own):
        spent = 0.0
        for count, name in enumerate(tests, 1):
            limit = self._limit(name, table)
            code, seconds = self._test(name, limit)
            spent += seconds
            if code != 0:
                return Outcome("failed" if code is not None else "hangs", name, spent, count)
            if spent > budget and (spent > OWN_TIMES * budget or not own.intersection(tests[count:])):
                return Outcome("SURVIVED", "", spent, count)
        return Outcome("SURVIVED", "", spent, len(tests))

    def _sure(self, outcome, table):
        """Caught only if the same test passes without the change now, and in a third of the limit if it hung."""
        limit = self._limit(outcome.by, table)
        code, seconds = self._test(outcome.by, limit)
        if code == 0 and (outcome.word == "failed" or seconds < limit / 3):
            outcome.word = "caught"
        else:
            outcome.word, outcome.unsteady = "unsteady test", (outcome.by,)
        return outcome
