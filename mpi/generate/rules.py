# SPDX-License-Identifier: BSD-3-Clause
"""How each parameter reaches its implementation: type, checks, conversion. See docs/design/mpi.md."""

import fnmatch
import re
from dataclasses import dataclass

from model import HANDLES, read

KIND_OF = {ctype: kind for kind, ctype in HANDLES.items()}
OBJECT_RULES = {"comm": "Comm", "group": "Group", "datatype": "Datatype", "op": "Op",
                "errhandler": "Errhandler",
                "session": "Session", "win": "Win"}
RAW_KINDS = {"request", "message", "file"}
COMMUNICATION = ("pt2pt", "partitioned", "coll_blocking", "coll_nonblocking", "coll_persistent",
                 "coll_neighborhood",
                 "rma", "io", "op")
BUFFERS = {"buf", "buffer", "sendbuf", "recvbuf", "inbuf", "outbuf", "inoutbuf", "origin_addr", "result_addr",
           "compare_addr"}


@dataclass(frozen=True)
class Rule:
    name: str      # see convert() in entries.py
    type: str      # parameter type of the implementation
    array: str = ""
    when: str = "" # C++ condition under which the argument is significant; empty: always


class Exceptions:
    def __init__(self, tables):
        self.rows = read(f"{tables}/rules.csv")

    def find(self, function, parameter):
        for row in self.rows:
            if row["parameter"] == parameter and fnmatch.fnmatchcase(function, row["functions"]):
                return row["rule"]
        return None


def family(function):
    """Allgatherv of MPI_Iallgatherv_init_c: the operation, whatever its form; None where there is none."""
    if not function.chapter.startswith("coll_"):
        return None
    name = re.sub(r"_init$", "", re.sub(r"_c$", "", function.short))
    if function.chapter == "coll_nonblocking" or name.startswith("Ineighbor"):
        name = name[1:].capitalize()
    return name


def is_named(function):
    """Its implementation is told which function the program has called: for twins (MPI_Bcast, MPI_Bcast_c) that wait, or whose
    messages are told later."""
    waits = ("Ssend", "Rsend", "Sendrecv", "Sendrecv_replace", "Mrecv")
    return function.chapter.startswith("coll_") or re.sub(r"_c$", "", function.short) in waits


def provides_buffer(function):
    """Parameter in whose place a program may ask the library for a buffer; None: nowhere in this call."""
    name = re.sub(r"_c$", "", function.short)
    return {"Recv": "buf", "Irecv": "buf", "Recv_init": "buf", "Mrecv": "buf", "Imrecv": "buf",
            "Sendrecv": "recvbuf", "Isendrecv": "recvbuf"}.get(name)


def received_count(function, parameter):
    """It may be MPIX_COUNT_ANY, which is negative."""
    return provides_buffer(function) and parameter in ("count", "recvcount")


def needs_topology(function):
    """Its neighbours are those of a topology: without one the call is wrong before anything else is."""
    return function.chapter == "coll_neighborhood"


def brings_handler(function):
    """Kind of object that is to be made; its error handler, an argument, raises what goes wrong in the call."""
    return {"Session_init": "session", "Comm_create_from_group": "comm",
            "Intercomm_create_from_groups": "comm"}.get(function.short)


def on_file(function):
    """The file that the call's errors are raised on: MPI_FILE_NULL for an I/O call without one (section 14.7).
    None for all other calls."""
    for parameter in function.parameters:
        if parameter.type == "MPI_File":
            return parameter.name
    return "MPI_FILE_NULL" if function.chapter == "io" and function.when == "active" else None


def in_place(function, parameter):
    """C++ condition under which MPI_IN_PLACE may stand here; None where it never may (MPI 5.0 chapter 6)."""
    fam = family(function)
    if fam is None or fam.startswith("Neighbor") or fam in ("Bcast", "Barrier"):
        return None
    if fam in ("Gather", "Gatherv", "Reduce"):
        return "at_root(*comm_, root)" if parameter == "sendbuf" else None
    if fam in ("Scatter", "Scatterv"):
        return "at_root(*comm_, root)" if parameter == "recvbuf" else None
    return "!comm_->inter()" if parameter == "sendbuf" else None


def significant(function, parameter):
    """C++ condition under which MPI reads this argument; empty: always."""
    if function.chapter == "rma" and parameter.startswith("origin_") and "op" in [p.name for p in
                                                                                 function.parameters]:
        return "op != MPI_NO_OP"  # section 12.3.4: then nothing of the origin is looked at
    fam = family(function)
    if fam is None or fam.startswith("Neighbor"):
        return ""
    send = parameter in ("sendbuf", "sendcount", "sendcounts", "sdispls", "sendtype", "sendtypes")
    recv = parameter in ("recvbuf", "recvcount", "recvcounts", "rdispls", "recvtype", "recvtypes")
    displs = parameter == "displs"
    not_in_place = lambda buf: f"{buf} != MPI_IN_PLACE"
    if fam in ("Gather", "Gatherv"):
        if send:
            return "contributes(*comm_, root)" + ("" if parameter == "sendbuf"
                                                  else f" && {not_in_place('sendbuf')}")
        if recv or displs:
            return "at_root(*comm_, root)"
    if fam in ("Scatter", "Scatterv"):
        if send or displs:
            return "at_root(*comm_, root)"
        if recv:
            return "contributes(*comm_, root)" + ("" if parameter == "recvbuf"
                                                  else f" && {not_in_place('recvbuf')}")
    if fam == "Bcast" and parameter in ("buffer", "count", "datatype"):
        return "takes_part(*comm_, root)"
    if fam == "Reduce":
        if parameter == "sendbuf":
            return "contributes(*comm_, root)"
        if parameter == "recvbuf":
            return "at_root(*comm_, root)"
        if parameter in ("count", "datatype", "op"):
            return "takes_part(*comm_, root)"
    if fam == "Exscan" and parameter == "recvbuf":
        return "(comm_->rank() != 0 || sendbuf == MPI_IN_PLACE)"  # section 6.11.2: at rank 0 nothing is received
    to_all = ("Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw")
    if fam in to_all and send and parameter != "sendbuf":
        return not_in_place("sendbuf")
    return ""


def length_of(function, parameter):
    """C++ expression for the length of a per-rank array, or None where the implementation knows better."""
    fam = family(function)
    if fam in ("Gatherv", "Scatterv", "Allgatherv", "Alltoallv", "Alltoallw"):
        return "comm_->peer_count()"
    if fam == "Reduce_scatter":
        return "comm_->size()"
    if fam and fam.startswith("Neighbor"):
        return f"{'out' if parameter.startswith('s') else 'in'}_degree(*comm_)"
    return None


def rule_of(function, implementation, index, exceptions):
    """The Rule of parameter `index` of `function`, one of the functions of `implementation`."""
    parameter = function.parameters[index]
    twins = {f.parameters[index] for f in implementation.functions}
    widened = len({(p.type, p.array) for p in twins}) > 1
    when = significant(function, parameter.name)
    special = exceptions.find(implementation.name, parameter.name)
    constant = parameter.type.startswith("const ")

    if function.entry == "direct":
        return Rule("raw", parameter.type, parameter.array)
    if parameter.array and widened:
        per_rank = length_of(function, parameter.name)
        counts = "counts" in parameter.name
        return Rule(("counts" if counts else "displacements") if per_rank else "array", "IntArray", "", when)
    if parameter.array and parameter.type == "const MPI_Aint" and length_of(function, parameter.name):
        return Rule("displacements", parameter.type, parameter.array, when)
    if parameter.array and parameter.type == "const MPI_Datatype" and length_of(function, parameter.name):
        return Rule("datatypes", parameter.type, parameter.array, when)
    if widened and parameter.type.endswith("*"):
        return Rule("inout_count" if parameter.name == "position" else "out_count", "MPI_Count *")
    if widened or (parameter.type == "MPI_Count" and special in ("count", "value")):
        return Rule("value" if special == "value" else "count", "MPI_Count", "", when)
    if special:
        if special.endswith("_or_null"):
            return Rule(special, OBJECT_RULES[special.removesuffix("_or_null")] + " *")
        if special == "count":
            return Rule("count", "MPI_Count", "", when)
        return Rule(special, parameter.type, parameter.array, when)
    if parameter.array and parameter.name == "array_of_requests":
        return Rule("requests", parameter.type, parameter.array)
    if parameter.array:
        return Rule("raw", parameter.type, parameter.array)
    if function.entry == "tool":
        return Rule("raw", parameter.type)
    return scalar_rule(function, parameter, when, constant)


def scalar_rule(function, parameter, when, constant):
    kind = KIND_OF.get(parameter.type)
    if kind == "info":
        must = function.short.startswith("Info_")
        return Rule("info" if must else "info_or_null", "Info &" if must else "Info *")
    if kind == "datatype":
        packs = re.match(r"(Unp|P)ack(_external)?(_c)?$", function.short)
        committed = function.chapter in COMMUNICATION or packs
        return Rule("datatype_committed" if committed else "datatype", "Datatype &", "", when)
    if kind in OBJECT_RULES:
        return Rule(kind, OBJECT_RULES[kind] + " &", "", when)
    if kind in RAW_KINDS:
        return Rule("raw", parameter.type)
    if parameter.type.endswith("*"):
        return pointer_rule(function, parameter, when, constant)
    on_comm = "comm" in [p.name for p in function.parameters]
    if on_comm and function.chapter in ("pt2pt", "partitioned", "coll_blocking", "coll_nonblocking",
                                        "coll_persistent"):
        if parameter.name in ("dest", "source", "root"):
            return Rule(parameter.name, "int")
        if parameter.name.endswith("tag"):
            receives = "source" in [p.name for p in function.parameters] and parameter.name != "sendtag"
            return Rule("any_tag" if receives else "tag", "int")
    if (parameter.name in ("count", "incount", "n", "ndims", "partitions") or
            parameter.name.startswith("max")) and function.chapter != "tool":
        if parameter.type == "int":
            return Rule("count_int", "int")
        if parameter.type == "MPI_Count":  # of a large twin that stands alone
            return Rule("count", "MPI_Count", "", when)
    return Rule("raw", parameter.type)


def pointer_rule(function, parameter, when, constant):
    chapters = COMMUNICATION + ("datatype",)
    if parameter.name in BUFFERS and function.chapter in chapters and "attach" not in function.short:
        return Rule("buffer", parameter.type, "", when)
    target = parameter.type[:-1].strip()
    if "_function" in target:
        may_be_null = ("copy", "delete", "Copy", "Delete", "Datarep", "Grequest")
        return Rule("raw" if any(word in target for word in may_be_null) else "nonnull", parameter.type)
    if target in ("MPI_Status", "void", "const void"):
        return Rule("raw", parameter.type)
    if constant or target in ("int", "char", "MPI_Aint", "MPI_Count", "MPI_Offset") or target in KIND_OF:
        return Rule("nonnull", parameter.type)
    return Rule("raw", parameter.type)
