#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a program per interface that calls every routine, and the double of the C library below it.

usage: generate.py SOURCE OUTPUT
"""

import sys
from pathlib import Path

SOURCE = Path(sys.argv[1])
sys.path.insert(0, str(SOURCE / "fortran" / "generate"))

from double import double_c  # noqa: E402
from facts import model, read_routines  # noqa: E402
from program import program  # noqa: E402
from values import IN_FORTRAN, called  # noqa: E402


def main():
    tables = SOURCE / "mpi" / "tables"
    routines = read_routines(SOURCE / "fortran" / "tables", tables)
    numbers = {}
    for routine in routines:
        numbers.setdefault(routine.name if routine.name in IN_FORTRAN else called(routine), len(numbers) + 1)
    functions = {f.name: f for f in model.read_functions(tables)}
    output = Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    (output / "functions.c").write_text(double_c(routines, numbers, functions), encoding="utf-8")
    for kind in ("mpif", "mpi", "f08"):
        (output / f"calls_{kind}.F90").write_text(program(routines, numbers, kind), encoding="utf-8")


main()
