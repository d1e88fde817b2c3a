# SPDX-License-Identifier: BSD-3-Clause
"""How one argument goes from Fortran to C and back: the lines before the call, the words in it, the lines behind it."""

from dataclasses import dataclass, field

INDEXED = ("MPI_Waitany", "MPI_Testany", "MPI_Waitsome", "MPI_Testsome", "MPI_Request_get_status_any",
           "MPI_Request_get_status_some")
# Room for a string that C gives, where the table does not say it.
TEXT_ROOM = {"MPI_Info_get_nthkey": "MPI_MAX_INFO_KEY", "MPI_File_get_view": "MPI_MAX_DATAREP_STRING"}
# Lengths of arrays that the table gives as "*" (of handles and logicals, which are converted).
LENGTHS = {
    ("MPI_Cart_sub", "remain_dims"): "cart_dimensions(comm)",
}


# What else happens to the sections of a request (pending.c).
BEFORE = {"MPI_Start": "refresh", "MPI_Startall": "refresh", "MPI_Pready": "refresh", "MPI_Pready_range": "refresh",
          "MPI_Pready_list": "refresh", "MPI_Request_free": "abandon"}
AFTER = {"MPI_Parrived": "collect", "MPI_Request_get_status": "collect_complete",
         "MPI_Request_get_status_all": "collect_complete", "MPI_Request_get_status_any": "collect_complete",
         "MPI_Request_get_status_some": "collect_complete"}


@dataclass
class Converted:
    word: str
    before: list = field(default_factory=list)
    after: list = field(default_factory=list)    # where the call succeeded
    always: list = field(default_factory=list)


def fortran_parameter(argument):
    """As the C function that Fortran calls declares it."""
    if argument.choice or argument.kind in ("C_BUFFER", "C_BUFFER2", "LOGICAL_VOID"):
        return f"void* {argument.name}"
    if argument.kind == "FUNCTION" or argument.kind == "POLYFUNCTION":
        return f"Callback* {argument.name}"
    if argument.is_string:
        return f"char* {argument.name}"
    if argument.handle or argument.c_type in ("int", "MPI_Status"):
        return f"int* {argument.name}"
    if argument.c_type == "void":
        return f"MPI_Aint* {argument.name}"
    return f"{argument.c_type}* {argument.name}"


def length_of(routine, argument):
    """C expression for the number of elements."""
    if (routine.name, argument.name) in LENGTHS:
        return LENGTHS[routine.name, argument.name]
    if argument.length != "*":
        return f"*{argument.length}"
    if argument.name in ("sendtypes", "recvtypes"):
        place = ("sent" if argument.name == "sendtypes" else "received") if "neighbor" in routine.name.lower() else "peers"
        count = f"{place}(comm)"
        return f"is_in_place(sendbuf) ? 0 : {count}" if argument.name == "sendtypes" and place == "peers" else count
    raise KeyError(f"{routine.name}: nobody says how long {argument.name} is")


def request(routine, argument):
    """A request, with the sections that wait for it."""
    converted, name = handle(routine, argument), argument.name
    if argument.direction == "out":
        converted.after.append(f"if (sections_pending) forget(*{name});")
        return converted
    loop = f"for (int i = 0; i < {name}_n; ++i) " if argument.array else ""
    one = f"{name}[i]" if argument.array else f"*{name}"
    if routine.name in BEFORE:
        step = f"if (sections_pending) {loop}{BEFORE[routine.name]}({one});"
        converted.before.append(step)
    elif routine.name in AFTER:
        converted.after.insert(0, f"if (sections_pending) {loop}{AFTER[routine.name]}({one});")
    elif argument.direction == "inout":
        if argument.array:
            converted.before.append(f"Pending** const {name}_kept = sections_pending ? await_all({name}, {name}_n) : NULL;")
            converted.always.insert(0, f"if ({name}_kept != NULL) settle_all({name}_kept, {name}_, {name}_n);")
        else:
            converted.before.append(f"Pending* const {name}_kept = sections_pending ? await(*{name}) : NULL;")
            converted.always.insert(0, f"if ({name}_kept != NULL) settle({name}_kept, {name}_);")
    return converted


def handle(routine, argument):
    c_type, word = argument.handle
    name, local = argument.name, argument.name + "_"
    if argument.array:
        lines = [f"const int {name}_n = length({length_of(routine, argument)});",
                 f"{c_type} {name}_few[kFew];",
                 f"{c_type}* {local} = room({name}_n, sizeof({c_type}), {name}_few);"]
        if argument.direction == "out":
            return Converted(local, lines + [f"for (int i = 0; i < {name}_n; ++i) {local}[i] = {c_type_null(argument)};"],
                             [f"for (int i = 0; i < {name}_n; ++i)",
                              f"  if ({local}[i] != {c_type_null(argument)}) {name}[i] = {word}_to({local}[i]);"],
                             [f"give_back({local}, {name}_few);"])
        lines.append(f"for (int i = 0; i < {name}_n; ++i) {local}[i] = {word}_from({name}[i]);")
        back = [f"for (int i = 0; i < {name}_n; ++i) {name}[i] = {word}_to({local}[i]);"] if argument.direction == "inout" else []
        return Converted(local, lines, [], back + [f"give_back({local}, {name}_few);"])
    if argument.direction == "in" and not argument.pointer:
        return Converted(f"{word}_from(*{name})")
    if argument.direction == "out":
        return Converted(f"&{local}", [f"{c_type} {local} = {c_type_null(argument)};"], [f"*{name} = {word}_to({local});"])
    back = [f"*{name} = {word}_to({local});"] if argument.direction == "inout" else []
    return Converted(f"&{local}", [f"{c_type} {local} = {word}_from(*{name});"], [], back)


def c_type_null(argument):
    return argument.handle[0].upper() + "_NULL"


def logical(routine, argument):
    name, local = argument.name, argument.name + "_"
    if argument.array:
        lines = [f"const int {name}_n = length({length_of(routine, argument)});", f"int {name}_few[kFew];",
                 f"int* {local} = room({name}_n, sizeof(int), {name}_few);"]
        if argument.direction == "in":
            lines.append(f"for (int i = 0; i < {name}_n; ++i) {local}[i] = logical_from({name}[i]);")
            return Converted(local, lines, [], [f"give_back({local}, {name}_few);"])
        # Elements that the call leaves alone keep their value.
        lines.append(f"for (int i = 0; i < {name}_n; ++i) {local}[i] = logical_from({name}[i]);")
        return Converted(local, lines, [f"for (int i = 0; i < {name}_n; ++i) {name}[i] = logical_to({local}[i]);"],
                         [f"give_back({local}, {name}_few);"])
    if argument.direction == "in":
        return Converted(f"logical_from(*{name})")
    return Converted(f"&{local}", [f"int {local} = 0;"], [f"*{name} = logical_to({local});"])


def text(routine, argument):
    name, local = argument.name, argument.name + "_"
    if argument.direction == "in":
        start = "info_" if routine.name.startswith("MPI_Info_") else ""
        return Converted(f"{local}.at", [f"Text {local};", f"{start}text_from(&{local}, {name}, {name}_len);"], [],
                         [f"text_free(&{local});"])
    size = argument.length or TEXT_ROOM[routine.name]
    return Converted(local, [f"char {local}[{size} + 1] = \"\";"], [f"text_to({name}, {name}_len, {local});"])


def index(routine, argument):
    """Fortran counts from one. With an error in a status the indices are given all the same."""
    name = argument.name
    if argument.array:
        return Converted(name, ["*outcount = MPI_UNDEFINED;"], [],
                         [f"for (int i = 0; i < length(*outcount); ++i) ++{name}[i];"])
    return Converted(name, [f"*{name} = MPI_UNDEFINED;"], [], [f"if (*{name} != MPI_UNDEFINED) ++*{name};"])


def convert(routine, argument):
    name = argument.name
    if argument.choice:
        return Converted(f"buffer_of({name})")
    if argument.kind == "REQUEST":
        return request(routine, argument)
    if argument.handle:
        return handle(routine, argument)
    if argument.kind == "LOGICAL":
        return logical(routine, argument)
    if argument.kind == "STRING":
        return text(routine, argument)
    if argument.kind == "INDEX" and argument.direction == "out" and routine.name in INDEXED:
        return index(routine, argument)
    if argument.kind == "STATUS":
        if argument.direction == "out":
            return Converted(f"{'statuses' if argument.array else 'status'}_of({name})")
        return Converted(f"(MPI_Status*){name}")
    if argument.kind == "WEIGHT":
        return Converted(f"weights_of({name})")
    if argument.kind in ("C_BUFFER", "LOGICAL_VOID"):
        return Converted(name)
    if argument.length == "n;3":
        return Converted(f"(int(*)[3]){name}")
    if argument.array or argument.direction != "in":
        return Converted(name)
    return Converted(f"*{name}")
