# SPDX-License-Identifier: BSD-3-Clause
"""The tables as objects: functions, parameters, constants, callback types. No C++ conversions."""

import csv
import re
from dataclasses import dataclass, field
from pathlib import Path

HANDLES = {  # kind: (C type, ABI struct, null constant)
    "comm": "MPI_Comm", "group": "MPI_Group", "datatype": "MPI_Datatype", "op": "MPI_Op",
    "request": "MPI_Request", "info": "MPI_Info", "errhandler": "MPI_Errhandler", "session": "MPI_Session",
    "message": "MPI_Message",
    "win": "MPI_Win", "file": "MPI_File",
}
TOOL_HANDLES = ["MPI_T_enum", "MPI_T_cvar_handle", "MPI_T_pvar_handle", "MPI_T_pvar_session",
                "MPI_T_event_registration", "MPI_T_event_instance"]


@dataclass(frozen=True)
class Parameter:
    type: str        # "const void *", "int", "MPI_Comm *"
    name: str
    array: str = ""  # "[]" or "[][3]"

    def declare(self):
        gap = "" if self.type.endswith("*") else " "
        return f"{self.type}{gap}{self.name}{self.array}"


@dataclass
class Function:
    name: str            # with MPI_, or MPIX_
    returns: str
    parameters: list
    variadic: bool
    deprecated_since: str
    chapter: str
    entry: str           # normal, direct, tool
    when: str            # active, always
    lock: str            # none, big, force

    @property
    def short(self):
        return self.name.split("_", 1)[1]

    @property
    def twin(self):
        """The name that profilers leave alone."""
        return "P" + self.name

    def signature(self, prefix="MPI_"):
        inside = ", ".join(p.declare() for p in self.parameters) or "void"
        if self.variadic:
            inside += ", ..."
        gap = "" if self.returns.endswith("*") else " "
        return f"{self.returns}{gap}{self.twin if prefix == 'PMPI_' else self.name}({inside})"


@dataclass
class Implementation:
    """What mpi/api defines: one C++ function for a function and its _c (and _x) twins."""
    name: str
    functions: list = field(default_factory=list)

    @property
    def main(self):
        return self.functions[0]


def parse_parameter(text):
    match = re.fullmatch(r"(.*?)(\w+)((?:\[\d*\])*)", text.strip())
    kind = re.sub(r"\s*\*", " *", match[1]).strip()
    kind = re.sub(r"\* \*", "**", kind)
    kind = re.sub(r"\*\s+\*", "**", kind)
    return Parameter(kind, match[2], match[3])


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_functions(tables, table="functions.csv"):
    functions = []
    for row in read(Path(tables) / table):
        parts = [] if row["parameters"] == "void" else [p.strip() for p in row["parameters"].split(",")]
        variadic = bool(parts) and parts[-1] == "..."
        if variadic:
            parts.pop()
        parameters = [parse_parameter(p) for p in parts]
        functions.append(Function(row["function"], row["returns"], parameters, variadic,
                                  row["deprecated_since"], row["chapter"], row["entry"], row["when"],
                                  row["lock"]))
    return functions


def read_extensions(tables):
    """What is not in the standard: include/mpix.h declares it."""
    return read_functions(tables, "extensions.csv")


# The hottest calls wait, too, and a name that is handed over costs an instruction: their twins stand alone.
APART = {"Send", "Recv"}


def mergeable(a, b):
    """Two parameters that one C++ parameter can stand for."""
    if a == b:
        return True
    numbers = {"int", "MPI_Aint", "MPI_Count"}
    strip = lambda p: re.sub(r"const | \*", "", p.type)
    same_form = a.array == b.array and a.type.count("*") == b.type.count("*")
    return same_form and strip(a) in numbers and strip(b) in numbers


def implementations(functions):
    """Groups X, X_c and X_x where their parameters can be merged; order of the table."""
    by_name = {f.short: f for f in functions}
    found = {}
    for function in functions:
        base = re.sub(r"_[cx]$", "", function.short)
        other = by_name.get(base)
        if base != function.short and base not in APART and other and len(other.parameters) == len(function.parameters) and all(
                mergeable(a, b) for a, b in zip(other.parameters, function.parameters)):
            key = base
        else:
            key = function.short
        found.setdefault(key, Implementation(key)).functions.append(function)
    for item in found.values():
        item.functions.sort(key=lambda f: len(f.short))
    return list(found.values())
