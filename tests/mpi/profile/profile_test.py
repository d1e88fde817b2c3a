#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A preloaded profiling library sees each call of the application once and none of the library's own.

usage: profile_test.py once PROFILER PROGRAM SOURCE
       profile_test.py programs PROFILER MPIEXEC GENERATOR_FOLDER TABLES API_FOLDER PROGRAM...

once:     PROGRAM makes every call in SOURCE exactly once; the counts must be the same.
programs: each PROGRAM runs on two ranks; nothing may be called from within the library, and together they
          must have called every covered function.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

NOT_CALLED = Path(__file__).with_name("not_called.txt")
SKIPPED = 77


def run(profiler, command, with_mpiexec=None):
    """Runs the command under the profiler; its exit code, output and calls."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {"LD_PRELOAD": profiler, "MPI_PROFILE_FOLDER": folder}
        if with_mpiexec:
            options = [word for name, value in settings.items() for word in ("-genv", name, value)]
            command = [with_mpiexec, "-n", "2", *options, *command]
            settings = {}
        done = subprocess.run(command, env={**os.environ, **settings}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120)
        calls = collections.Counter()
        for path in Path(folder).iterdir():
            for line in path.read_text().splitlines():
                name, count = line.split()
                calls[name] += int(count)
        return done.returncode, done.stdout, calls


def once(profiler, program, source):
    code, output, calls = run(profiler, [program])
    if code != 0:
        return [f"{program} ended with {code}:\n{output}"]
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', Path(source).read_text())
    expected = collections.Counter(re.findall(r"\b(MPI_\w+)\(", text))
    return [f"{name}: called {expected[name]} times, seen {calls[name]} times"
            for name in sorted(set(expected) | set(calls)) if calls[name] != expected[name]]


def programs(profiler, mpiexec, generator, tables, api_folder, *names):
    sys.path.insert(0, generator)
    import model  # noqa: E402  (found in the folder that was given)
    from coverage import covered
    problems, seen = [], collections.Counter()
    for program in names:
        code, output, calls = run(profiler, [program], mpiexec)
        seen.update(calls)
        if code not in (0, SKIPPED):
            problems.append(f"{Path(program).name} ended with {code}:\n{output}")
    implemented = covered(api_folder)
    wanted = [f.name for item in model.implementations(model.read_functions(tables))
              if item.name in implemented for f in item.functions]
    lines = NOT_CALLED.read_text().splitlines()
    excused = {line for line in lines if line and not line.startswith("#")}
    missing = [name for name in wanted if name not in seen and name not in excused]
    if missing:
        problems.append(f"{len(missing)} covered functions are called by no program: " + " ".join(missing))
    stale = [name for name in sorted(excused) if name in seen]
    if stale:
        problems.append(f"{NOT_CALLED.name} names functions that are called: " + " ".join(stale))
    return problems


def main(arguments):
    problems = {"once": once, "programs": programs}[arguments[0]](*arguments[1:])
    print("\n".join(problems) if problems else "each call was seen once, none came from within")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
