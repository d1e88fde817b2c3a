# SPDX-License-Identifier: BSD-3-Clause
"""The routines of the Fortran interfaces: the table of parameters joined with the prototypes of the C functions."""

import csv
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "mpi" / "generate"))
import model  # noqa: E402: the C side's reader of the same tables

# Kind in the table: (C type, word in the names of the conversions).
HANDLES = {
    "COMMUNICATOR": ("MPI_Comm", "comm"), "DATATYPE": ("MPI_Datatype", "type"), "ERRHANDLER": ("MPI_Errhandler", "errhandler"),
    "FILE": ("MPI_File", "file"), "GROUP": ("MPI_Group", "group"), "INFO": ("MPI_Info", "info"),
    "MESSAGE": ("MPI_Message", "message"), "OPERATION": ("MPI_Op", "op"), "REQUEST": ("MPI_Request", "request"),
    "SESSION": ("MPI_Session", "session"), "WINDOW": ("MPI_Win", "win"),
}
# No routines: abstract interfaces of callbacks, and procedures to be given as callbacks.
NO_ROUTINE = ("_function", "_FN", "_FN_NULL")
# Functions with a result, which have no ierror.
FUNCTIONS = {"MPI_Wtime": "double precision", "MPI_Wtick": "double precision",
             "MPI_Aint_add": "integer(MPI_ADDRESS_KIND)", "MPI_Aint_diff": "integer(MPI_ADDRESS_KIND)"}
# Written by hand in fortran/library and in the fixed part of the modules.
NOT_GENERATED = {"MPI_Sizeof"}
# The two procedures with callbacks whose large form is called by its own name (MPI 5.0, 19.2).
OWN_LARGE_NAME = {"MPI_Op_create", "MPI_Register_datarep"}


@dataclass
class Argument:
    name: str
    kind: str
    direction: str
    length: str          # of the array; "" for a scalar, "*" where the table does not say it
    c_type: str = "int"  # of the C parameter, without the array
    pointer: bool = False
    array: bool = False
    asynchronous: bool = False
    func_type: str = ""
    f08_intent: bool = True

    @property
    def handle(self):
        return HANDLES.get(self.kind)

    @property
    def is_string(self):
        return self.kind in ("STRING", "STRING_ARRAY", "STRING_2DARRAY")

    @property
    def choice(self):
        return self.kind == "BUFFER"


@dataclass
class Routine:
    name: str            # MPI_Send, also for the large form
    large: bool
    arguments: list = field(default_factory=list)
    f08: bool = True
    f90: bool = True
    mpif: bool = True

    @property
    def lower(self):
        return self.name.lower()[len("mpi_"):] + ("_c" if self.large else "")

    @property
    def c_name(self):
        return self.name[len("MPI_"):] + ("_c" if self.large else "")

    @property
    def result(self):
        return FUNCTIONS.get(self.name)

    @property
    def has_ierror(self):
        return not self.result and self.name not in ("MPI_Pcontrol", "MPI_F_sync_reg")

    @property
    def has_choice(self):
        return any(a.choice for a in self.arguments)

    @property
    def f08_suffix(self):
        return "f08ts" if self.has_choice else "f08"

    @property
    def f08_specific(self):
        """The specific name of MPI 5.0, table 19.1."""
        return f"{self.name}{'_c' if self.large else ''}_{self.f08_suffix}"


def make_argument(row, parameter):
    argument = Argument(row["parameter"], row["kind"], row["direction"], row["length"],
                        asynchronous=row["asynchronous"] == "1", func_type=row["func_type"],
                        f08_intent="f08_intent" not in row["suppress"])
    if parameter is not None:
        argument.pointer = parameter.type.endswith("*")
        argument.c_type = parameter.type.replace("const ", "").rstrip("* ").strip()
    statuses = row["kind"] == "STATUS" and row["length"]
    argument.array = bool(row["length"]) and row["kind"] != "STRING" or bool(statuses) or row["parameter"] == "array_of_errcodes"
    if argument.array and not argument.length:
        argument.length = "*"
    return argument


def make_routine(name, rows, function, large):
    routine = Routine(name, large, f08=rows[0]["f08"] == "1", f90=rows[0]["f90"] == "1" and not large,
                      mpif=rows[0]["not_with_mpif"] != "1")
    dropped = ("ARGUMENT_COUNT", "ARGUMENT_LIST", "VARARGS")
    rows = [r for r in rows if r["parameter"] != "ierror" and (large or r["large_only"] != "1")]
    parameters = iter(function.parameters if function else [])
    for row in rows:
        parameter = next(parameters, None)
        if row["kind"] not in dropped:
            routine.arguments.append(make_argument(row, parameter))
    return routine


def read_routines(fortran_tables, mpi_tables):
    """All routines, each large form behind its small one."""
    functions = {f.name: f for f in model.read_functions(mpi_tables)}
    by_name = {}
    with open(Path(fortran_tables) / "parameters.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            by_name.setdefault(row["function"], []).append(row)
    routines = []
    for name in ("MPI_Wtime", "MPI_Wtick"):
        routines.append(Routine(name, False))
    for name, rows in by_name.items():
        if name.endswith(NO_ROUTINE) or name in NOT_GENERATED:
            continue
        rows.sort(key=lambda r: int(r["order"]))
        routines.append(make_routine(name, rows, functions.get(name), False))
        if name + "_c" in functions and differs(functions[name], functions[name + "_c"]):
            routines.append(make_routine(name, rows, functions[name + "_c"], True))
    return routines


def differs(small, large):
    """A large form whose Fortran arguments would be the same is not provided (MPI 5.0, 19.2)."""
    same = {"MPI_Aint": "MPI_Count"}
    types = [[(same.get(p.type.replace("const ", "").rstrip("* "), p.type.replace("const ", "").rstrip("* "))) for p in f.parameters]
             for f in (small, large)]
    return types[0] != types[1]


def read_constants(mpi_tables):
    """(name, kind, value) with aliases resolved; no callbacks, no constants of the tools interface but its errors."""
    rows = model.read(Path(mpi_tables) / "constants.csv")
    values = {r["constant"]: r for r in rows}
    for row in rows:
        name = row["constant"]
        target = values[row["value"]] if row["kind"] == "alias" else row
        if name.startswith(("MPIX_", "MPI_F_")) or (name.startswith("MPI_T_") and not name.startswith("MPI_T_ERR")):
            continue
        if "*" in target["kind"]:
            continue
        yield name, target["kind"], int(target["value"], 0)
