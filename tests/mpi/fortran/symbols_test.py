# SPDX-License-Identifier: BSD-3-Clause
"""Names that libmpifort_abi exports: those of MPI 5.0, table 19.1, for every procedure, and nothing else.

usage: symbols_test.py LIBRARY SOURCE NM READELF

The names are formed here from the list of procedures and the rules of the standard; fortran/generate, which writes the
library, is not asked.
"""
import csv
import re
import subprocess
import sys
import unittest
from pathlib import Path

LIBRARY, SOURCE, NM, READELF = sys.argv[1:5]
# 19.2: their two forms differ in MPI_ADDRESS_KIND and MPI_COUNT_KIND alone, which are equal here, so there is one.
ONE_FORM = ("MPI_File_get_type_extent", "MPI_Type_create_resized", "MPI_Type_get_extent", "MPI_Type_get_true_extent")
# Older names of the module mpi have a second specific for TYPE(C_PTR) (9.2, 12.2).
WITH_CPTR = ("MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query")
OWN = {"starling_mpi_compiler_", "starling_mpi_compiler_facts_", "starling_mpi_logicals_", "starling_mpi_sentinels_",
       "starling_mpi_sizeof", "starling_mpi_texts_"}
# Constants of Fortran alone (19.1.5, 19.1.13, 3.2.5).
OF_FORTRAN = {"mpi_async_protects_nonblocking", "mpi_error", "mpi_source", "mpi_status_size", "mpi_subarrays_supported",
              "mpi_tag"}
# Modules of our own and flang's, whose constants flang exports.
MODULES = r"__starling_mpi_types_MOD_|_QMstarling_mpi_(types|compiler_sizes)|_QM__fortran_builtins"
FUNCTIONS = {"MPI_Wtime", "MPI_Wtick"}  # without parameters, so without rows
# MPI 3.0 removed them; programs of MPI-1 call them through mpif.h and the module mpi.
REMOVED = {"mpi_address", "mpi_errhandler_create", "mpi_errhandler_get", "mpi_errhandler_set", "mpi_type_extent", "mpi_type_hindexed",
           "mpi_type_hvector", "mpi_type_lb", "mpi_type_struct", "mpi_type_ub"}
REMOVED_CONSTANTS = {"mpi_lb", "mpi_ub", "mpi_combiner_hvector_integer", "mpi_combiner_hindexed_integer", "mpi_combiner_struct_integer"}


def table(path):
    with open(Path(SOURCE) / path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def symbols(*options):
    lines = subprocess.run([NM, "-D", *options, LIBRARY], capture_output=True, text=True, check=True).stdout.splitlines()
    return {re.sub(r"@.*", "", line.split()[-1]): line.split()[-2] for line in lines}


def procedures():
    rows = {}
    for row in table("fortran/tables/parameters.csv"):
        rows.setdefault(row["function"], []).append(row)
    return rows


def c_functions():
    return {row["function"] for row in table("mpi/tables/functions.csv")}


def has_large_form(name, rows, functions):
    return name not in ONE_FORM and name + "_c" in functions and any(r["kind"].startswith("POLY") for r in rows)


def expected():
    """Linker names, lower case with an underscore behind, as gfortran and flang have them; with and without P."""
    functions, names = c_functions(), set(REMOVED)
    for name, rows in procedures().items():
        if name == "MPI_Sizeof" or name.endswith("_function"):
            continue
        lower, first = name.lower(), rows[0]
        if name.endswith(("_FN", "_FN_NULL")):
            names |= {lower, lower + "_c"} if any(r["kind"].startswith("POLY") for r in rows) else {lower}
            continue
        suffix = "_f08ts" if any(r["kind"] == "BUFFER" for r in rows) else "_f08"
        names |= {lower} if first["f90"] == "1" else set()
        names |= {lower + suffix} if first["f08"] == "1" else set()
        names |= {lower + "_cptr"} if name in WITH_CPTR else set()
        if first["f08"] == "1" and has_large_form(name, rows, functions):
            names.add(lower + "_c" + suffix)
    for name in FUNCTIONS:
        names |= {name.lower(), name.lower() + "_f08"}
    return {prefix + name + "_" for name in names for prefix in ("", "p")}


class Symbols(unittest.TestCase):
    def setUp(self):
        self.exported = symbols("--defined-only")
        self.maxDiff = None

    def test_every_name_of_the_standard_is_there_and_no_other(self):
        mine = {name for name in self.exported if re.match(r"p?mpi_", name)}
        self.assertEqual(sorted(expected() - mine), [], "missing")
        self.assertEqual(sorted(mine - expected()), [], "not of the standard")

    def test_the_rest_is_sentinels_and_what_the_modules_need(self):
        constants = {row["constant"].lower() for row in table("mpi/tables/constants.csv")} | OF_FORTRAN | REMOVED_CONSTANTS
        for name in self.exported:
            module = re.match(r"__mpi(?:_f08)?_MOD_(\w+)|_QMmpi(?:_f08)?E\w*?(mpi_\w+)", name)
            if module:
                self.assertIn(module[1] or module[2], constants)
            elif not re.match(r"p?mpi_|" + MODULES, name):
                self.assertIn(name, OWN)

    def test_a_profiling_tool_can_replace_what_has_no_p(self):
        for name, kind in self.exported.items():
            if name.startswith("mpi_") and not name.endswith("_f08ts_"):
                self.assertEqual(kind, "W", name)

    def test_it_calls_the_functions_with_p_of_the_abi_only(self):
        functions = {"P" + name for name in c_functions()}
        for name in symbols("--undefined-only"):
            if re.match(r"P?MPI_|p?mpi_|starling", name, re.IGNORECASE):
                self.assertIn(name, functions)

    def test_it_has_the_name_of_the_abi_and_needs_the_abi(self):
        said = subprocess.run([READELF, "-d", LIBRARY], capture_output=True, text=True, check=True).stdout
        self.assertIn("soname: [libmpifort_abi.so.1]", said)
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", said))
        self.assertIn("libmpi_abi.so.1", needed)
        self.assertEqual([n for n in needed if "starling" in n or "stdc++" in n], [])


unittest.main(argv=sys.argv[:1])
