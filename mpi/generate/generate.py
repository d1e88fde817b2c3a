#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes mpi.h, the entry points, the implementations' declarations and the coverage list.

usage: generate.py TABLES API_FOLDER OUTPUT     (a file that would not change is not touched)
       generate.py --chapters TABLES            (prints the chapters, one entry file each)
"""

import sys
from pathlib import Path

import model
from coverage import coverage_cpp, covered
from entries import declarations, entry_file, names as function_names
from header import mpi_h
from rules import Exceptions


def chapters(functions):
    return sorted({function.chapter for function in functions})


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main(arguments):
    if arguments[0] == "--chapters":
        print(";".join(chapters(model.read_functions(arguments[1]) + model.read_extensions(arguments[1]))))
        return
    tables, api_folder, output = (Path(a) for a in arguments)
    functions, extensions = model.read_functions(tables), model.read_extensions(tables)
    everything = functions + extensions
    items = model.implementations(everything)
    exceptions = Exceptions(tables)
    names = covered(api_folder)
    known = {item.name for item in items}
    write(output / "include/mpi.h",
          mpi_h(functions, model.read(tables / "constants.csv"), model.read(tables / "callback_types.csv")))
    write(output / "mpi/names.gen.hpp", function_names(everything))
    write(output / "mpi/api.gen.hpp", declarations(items, exceptions))
    for chapter in chapters(everything):
        write(output / f"mpi/entries/{chapter}.cpp", entry_file(chapter, items, names, exceptions))
    write(output / "mpi/coverage.cpp", coverage_cpp(items, names & known, [f.name for f in functions],
                                                        [f.name for f in extensions]))


if __name__ == "__main__":
    main(sys.argv[1:])
