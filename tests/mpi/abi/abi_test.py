#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds mpi.h and libmpi_abi.so.1 against the tables of the ABI.

usage: abi_test.py {header|constants|prototypes|old_names|extensions|symbols|needed} TABLES INCLUDE LIBRARY CC CXX
"""

import csv
import re
import subprocess
import sys
import tempfile
from pathlib import Path

STANDARDS = [("c", "c90"), ("c", "c99"), ("c", "c11"), ("c++", "c++98"), ("c++", "c++11"), ("c++", "c++20")]


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Test:
    def __init__(self, tables, include, library, cc, cxx):
        self.tables, self.include, self.library, self.cc, self.cxx = Path(tables), include, library, cc, cxx
        self.functions = read(self.tables / "functions.csv")
        self.constants = read(self.tables / "constants.csv")
        self.extensions = read(self.tables / "extensions.csv")

    def compile(self, text, language="c", options=(), output=None):
        """Compiles (with an output: and links) a program; everything that the compiler says is a failure."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / ("test.c" if language == "c" else "test.cpp")
            source.write_text(text, encoding="utf-8")
            compiler = self.cc if language == "c" else self.cxx
            end = ["-o", output] if output else ["-c", "-o", "/dev/null"]
            command = [compiler, "-I", self.include, "-Wall", "-Wextra", "-Werror", "-DSTARLING_CHECK_MPI_H", *options, str(source),
                       *end]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            if result.returncode or result.stderr:
                sys.exit(f"{' '.join(command)}:\n{result.stderr}")

    def header(self):
        text = "#include <mpi.h>\n#include <mpi.h>\n" \
               "#if defined(OPEN_MPI) || defined(MPICH) || defined(MPICH_NAME)\n" \
               "#error a name of another implementation is defined\n#endif\n" \
               "int main(void) { MPI_Comm comm = MPI_COMM_WORLD; return comm == MPI_COMM_NULL; }\n"
        for language, standard in STANDARDS:
            self.compile(text, language, [f"-std={standard}", "-pedantic-errors"])
            self.compile(text, language, [f"-std={standard}", "-pedantic-errors",
                                          "-DSTARLING_STANDARD_NAMES_ONLY"])

    def old_names(self):
        """Names outside the ABI exist unless they are left out; then a program may define them itself."""
        use = "#include <mpi.h>\nMPI_Fint f(MPI_Comm c) { return MPI_Comm_c2f(c); }\n" \
              "int g(MPI_Aint *a) { return MPI_Address(a, a); }\n"
        define = "#include <mpi.h>\n#if defined(MPI_UB) || defined(MPI_F_STATUS_IGNORE)\n#error left over\n" \
                 "#endif\nint MPI_Address(int own);\nint MPI_Address(int own) { return own; }\n"
        for language, standard in STANDARDS:
            self.compile(use, language, [f"-std={standard}", "-pedantic-errors"])
            self.compile(define, language, [f"-std={standard}", "-DSTARLING_STANDARD_NAMES_ONLY"])

    def constants_(self):
        aliases = {row["constant"]: row["value"] for row in self.constants if row["kind"] == "alias"}
        values = {row["constant"]: int(row["value"], 0) for row in self.constants if row["kind"] != "alias"}
        values.update({name: values[target] for name, target in aliases.items()})
        lines = ["#include <mpi.h>", "#include <stdio.h>", "#include <stddef.h>", "int main(void) {",
                 "  int wrong = 0;"]
        for name, value in values.items():
            lines += [f"  if ((long long)({name}) != {value}LL) {{",
                      f'    printf("{name} is %lld, expected {value}\\n", (long long)({name}));',
                      "    wrong = 1;", "  }"]
        for expression, value in [("sizeof(MPI_Status)", 32), ("offsetof(MPI_Status, MPI_SOURCE)", 0),
                                  ("offsetof(MPI_Status, MPI_TAG)", 4),
                                  ("offsetof(MPI_Status, MPI_ERROR)", 8),
                                  ("offsetof(MPI_Status, MPI_internal)", 12), ("sizeof(MPI_Aint)", 8),
                                  ("sizeof(MPI_Count)", 8), ("sizeof(MPI_Offset)", 8),
                                  ("sizeof(MPI_Comm)", 8)]:
            lines += [f"  if ({expression} != {value}) {{", f'    puts("{expression} is not {value}");',
                      "    wrong = 1;", "  }"]
        lines += ["  return wrong;", "}", ""]
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/constants"
            self.compile("\n".join(lines), "c", ["-std=c11"], program)
            subprocess.run([program], check=True)

    def prototypes(self):
        """Each function, under both names, has exactly the table's type."""
        lines = ["#include <mpi.h>"]
        for row in self.functions:
            for name in (row["function"], "P" + row["function"]):
                lines.append(f"extern {row['returns']} {name}({row['parameters']});")
        self.compile("\n".join(lines) + "\n", "c", ["-std=c11"])

    def extensions_(self):
        """mpix.h declares what the table has and nothing else, in every standard; its constants are none of the ABI's; and a
        program that uses it needs no library that has it."""
        names = [prefix + row["function"] for row in self.extensions for prefix in ("", "P")]
        text = (Path(self.include) / "mpix.h").read_text(encoding="utf-8")
        declared = re.findall(r"^int (P?MPIX_\w+)\(", text, re.MULTILINE)
        if sorted(declared) != sorted(names):
            sys.exit(f"mpix.h declares {declared}, the table has {names}")
        lines = ["#include <mpix.h>", "#include <mpix.h>"]
        lines += [f"extern {row['returns']} {prefix}{row['function']}({row['parameters']});"
                  for row in self.extensions for prefix in ("", "P")]
        lines += ["int main(void) {", "  void *buffer = MPIX_BUFFER_LIBRARY;", "  int count = MPIX_COUNT_ANY, wrong = 0;"]
        for row in self.constants:
            if row["kind"].endswith("*") and "function" not in row["kind"]:
                lines.append(f"  wrong += buffer == (void *)({row['constant']});")
            elif row["kind"] in ("macro int", "enum int"):
                lines.append(f"  wrong += count == {row['constant']};")
        lines += ["  return wrong != 0 || count >= 0 || (unsigned long)buffer >= 4096 || MPIX_HAVE_RECV_BUF();", "}"]
        for language, standard in STANDARDS:
            self.compile("\n".join(lines) + "\n", language, [f"-std={standard}", "-pedantic-errors"])
        with tempfile.TemporaryDirectory() as folder:
            for options in (["-fpie", "-pie"], ["-fno-pie", "-no-pie"]):
                program = f"{folder}/alone"
                self.compile("\n".join(lines) + "\n", "c", ["-std=c11", *options], program)
                subprocess.run([program], check=True)

    def symbols(self):
        output = subprocess.run(["nm", "-D", "--defined-only", self.library], capture_output=True,
                                text=True, check=True)
        found = {}
        for line in output.stdout.splitlines():
            _, kind, name = line.split()
            found[name.split("@")[0]] = kind
        everything = self.functions + self.extensions
        expected = {row["function"]: "W" for row in everything}
        expected.update({"P" + row["function"]: "T" for row in everything})
        wrong = [f"{name} is missing" for name in expected if name not in found]
        wrong += [f"{name} is {found[name]}, expected {kind}" for name, kind in expected.items()
                  if name in found and found[name] != kind]
        wrong += [f"{name} is exported" for name in found if name not in expected]
        if wrong:
            sys.exit("\n".join(wrong))
        # Profilers that interpose MPI_* must see the application's calls only.
        relocations = subprocess.run(["readelf", "-rW", self.library], capture_output=True, text=True,
                                     check=True).stdout
        calls = [line for line in relocations.splitlines() if re.search(r"\bP?MPIX?_\w+", line)]
        if calls:
            sys.exit("the library calls MPI functions by their exported names:\n" + "\n".join(calls))

    def needed(self):
        output = subprocess.run(["readelf", "-dW", self.library], capture_output=True, text=True,
                                check=True).stdout
        soname = re.search(r"SONAME.*\[(.*)\]", output)[1]
        if soname != "libmpi_abi.so.1":
            sys.exit(f"the SONAME is {soname}")
        for library in re.findall(r"NEEDED.*\[(.*)\]", output):
            if re.match(r"lib(ucp|uct|ucs|fabric|pmix|hwloc|mpi)", library):
                sys.exit(f"{library} is needed at load time")
        for link in ("libmpi_abi.so", "libmpi_abi.so.0"):
            if not (Path(self.library).parent / link).exists():
                sys.exit(f"{link} is missing")


def main():
    test = Test(*sys.argv[2:7])
    {"header": test.header, "constants": test.constants_, "prototypes": test.prototypes,
     "old_names": test.old_names, "extensions": test.extensions_, "symbols": test.symbols,
     "needed": test.needed}[sys.argv[1]]()


if __name__ == "__main__":
    main()
