#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every covered function is called by at least one conformance program.

usage: every_function_test.py GENERATOR_FOLDER TABLES API_FOLDER EXCEPTIONS PROGRAM_FOLDER

What a program calls is what it leaves undefined, so names that macros put together count as well. The
generated program of wrong arguments calls everything and is not counted. EXCEPTIONS has a line for each
function that no program calls, with the reason; a line for one that is called, or not covered, is an error.
"""

import subprocess
import sys
from pathlib import Path

NOT_COUNTED = {"mpi_bad_input"}


def called_by(program):
    """The MPI_* names that the program takes from the library."""
    listed = subprocess.run(["nm", "-D", "--undefined-only", str(program)], capture_output=True, text=True,
                            check=True)
    names = (line.split()[-1].split("@")[0] for line in listed.stdout.splitlines() if line.strip())
    return {name for name in names if name.startswith("MPI_")}


def read_exceptions(path):
    reasons = {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition(": ")
            reasons[name] = reason.strip()
    return reasons


def main(arguments):
    generator, tables, api_folder, exceptions, folder = arguments
    sys.path.insert(0, generator)
    import model  # noqa: E402  (found in the folder that was given)
    from coverage import covered
    implemented = covered(api_folder)
    wanted = {function.name for item in model.implementations(model.read_functions(tables))
              if item.name in implemented for function in item.functions}
    programs = [p for p in Path(folder).iterdir()
                if p.is_file() and p.name.startswith("mpi_") and p.name not in NOT_COUNTED]
    called = set().union(*map(called_by, programs)) if programs else set()
    reasons = read_exceptions(exceptions)
    problems = [f"{name}: no conformance program calls it" for name in sorted(wanted - called - set(reasons))]
    problems += [f"{name}: listed in {Path(exceptions).name} without a reason"
                 for name, reason in sorted(reasons.items()) if not reason]
    problems += [f"{name}: listed in {Path(exceptions).name}, but it is called or not covered"
                 for name in sorted(reasons) if name in called or name not in wanted]
    print("\n".join(problems))
    print(f"{len(programs)} programs call {len(wanted & called)} of {len(wanted)} covered functions")
    return 1 if problems or not programs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
