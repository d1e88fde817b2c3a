#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Fortran library's C entries, its modules and mpif.h.

usage: generate.py FORTRAN_FOLDER MPI_TABLES OUTPUT     (a file that would not change is not touched)
       generate.py --list FORTRAN_FOLDER MPI_TABLES     (prints the names of what it writes)
"""

import sys
from pathlib import Path

from bodies import aliases, bodies_f90, cdesc_files
from c_entries import entry_files
from facts import read_constants, read_routines
from modules import f08_module, mpi_module, types_module
from mpif import mpif_h


def outputs(folder, mpi_tables):
    routines = read_routines(Path(folder) / "tables", mpi_tables)
    constants = list(read_constants(mpi_tables))
    callbacks = (Path(folder) / "library" / "callbacks.inc").read_text(encoding="utf-8")
    files = {"mpif.h": mpif_h(constants), "starling_mpi_types.F90": types_module(), "mpi.F90": mpi_module(routines, constants),
             "mpi_f08.F90": f08_module(routines, constants, callbacks), "bodies.F90": bodies_f90(routines),
             "aliases.ld": aliases(routines)}
    return files | entry_files(routines) | cdesc_files(routines)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main(arguments):
    if arguments[:1] == ["--list"]:
        print(";".join(sorted(outputs(*arguments[1:]))), end="")
        return
    folder, mpi_tables, target = arguments
    for name, text in outputs(folder, mpi_tables).items():
        write(Path(target) / name, text)


if __name__ == "__main__":
    main(sys.argv[1:])
