# SPDX-License-Identifier: BSD-3-Clause
"""A C library that stands in for MPI: each function looks at what it gets and gives back values of its own."""

from values import (CALLED, CHANGED, HANDLE, IN_FORTRAN, LENGTH, OPAQUE, TEXT_LENGTHS, called, elements, is_wide, text, truth,
                    value)

HEAD = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* The double of the C library. Written at build time by tests/mpi/fortran/calls. */
#include "tests/mpi/fortran/calls/double.h"
"""
PLACES = {"MPI_Topo_test": "MPI_DIST_GRAPH"}


def integers(name, cast, first, count, direction):
    """Lines that check and lines that write an array of integers."""
    check = f"for (int i = 0; i < {count}; ++i) CHECK((({cast}*){name})[i] == {first} + i, \"{name}\");"
    write = f"for (int i = 0; i < {count}; ++i) (({cast}*){name})[i] = {first + CHANGED} + i;"
    return [check] if direction != "out" else [], [write] if direction != "in" else []


def of_handle(a, p, first):
    as_handle = f"({a.handle[0]})(intptr_t)"
    if not a.pointer and not a.array:
        return [f"CHECK({p.name} == {as_handle}{first + HANDLE}, \"{p.name}\");"], []
    count = LENGTH if a.array else 1
    check = [f"for (int i = 0; i < {count}; ++i) CHECK({p.name}[i] == {as_handle}({first + HANDLE} + i), \"{p.name}\");"]
    write = [f"for (int i = 0; i < {count}; ++i) {p.name}[i] = {as_handle}({first + HANDLE + CHANGED} + i);"]
    return check if a.direction != "out" else [], write if a.direction != "in" else []


def of_logical(a, p, position):
    if a.array:
        pattern = ", ".join(str(int(truth(position, i))) for i in range(LENGTH))
        loop = f"for (int i = 0; i < {LENGTH}; ++i) "
        each = f"((int[]){{{pattern}}})[i]"
        if a.direction == "in":
            return [loop + f"CHECK({p.name}[i] == {each}, \"{p.name}\");"], []
        return [], [loop + f"{p.name}[i] = {each};"]
    if a.direction == "in":
        return [f"CHECK({p.name} == {int(truth(position))}, \"{p.name}\");"], []
    return [], [f"*{p.name} = 1;"]


def of_text(a, p, number, position):
    if a.kind == "STRING_ARRAY":
        return [f"CHECK(are_words({p.name}), \"{p.name}\");"], []
    if a.kind == "STRING_2DARRAY":
        return [f"for (int i = 0; i < {LENGTH}; ++i) CHECK(are_words({p.name}[i]), \"{p.name}\");"], []
    if a.direction == "in":
        return [f"CHECK(strcmp({p.name}, \"{text(number, position)}\") == 0, \"{p.name}\");"], []
    return [], [f"strcpy({p.name}, \"{text(number, position)}\");"]


def of_number(routine, a, p, first):
    if (routine.name, a.name) in TEXT_LENGTHS:
        return [f"CHECK(*{p.name} == {first + 1}, \"{p.name}\");"], []
    cast = a.c_type if is_wide(a) else "int"
    if a.array:
        return integers(p.name, cast, first, elements(a), a.direction)
    if a.direction == "in" and not a.pointer:
        return [f"CHECK({p.name} == {first}, \"{p.name}\");"], []
    if a.direction == "out" and first == LENGTH:
        return [], [f"*{p.name} = {LENGTH};"]
    return integers(p.name, cast, first, 1, a.direction)


def argument(routine, a, p, number, position, buffers):
    """(lines that check what came in, lines that write what goes out)"""
    first = value(number, routine, position)
    if a.kind in OPAQUE:
        return [f"CHECK({p.name} != NULL, \"{p.name}\");"] if "*" in p.type else [], []
    if a.choice:
        return [f"CHECK({p.name} == buffer_at({buffers.index(a.name)}), \"{p.name}\");"], []
    if a.kind in ("C_BUFFER", "C_BUFFER2") or a.kind.startswith("ATTRIBUTE_VAL") and a.direction == "out":
        return [], [f"*(void**){p.name} = (void*)(intptr_t){first};"]
    if a.kind.startswith("ATTRIBUTE_VAL"):
        return [f"CHECK(*(MPI_Aint*){p.name} == {first}, \"{p.name}\");"], []
    if a.handle:
        return of_handle(a, p, first)
    if a.kind == "LOGICAL":
        return of_logical(a, p, position)
    if a.is_string:
        return of_text(a, p, number, position)
    if a.kind == "STATUS":
        return integers(p.name, "int", first, 8 * (LENGTH if a.array else 1), a.direction)
    return of_number(routine, a, p, first)


def other(routine, parameters):
    """What the function says when the library asks it on its own account."""
    given = PLACES.get(routine.name, LENGTH)
    return " ".join(f"*{p.name} = {given};" for a, p in parameters if p.type == "int *" and a.direction == "out" and not a.array)


def function(routine, c_function, number):
    parameters = list(zip(routine.arguments, c_function.parameters[max(0, len(c_function.parameters) - len(routine.arguments)):]))
    buffers = [a.name for a in routine.arguments if a.choice]
    checks, writes = [], []
    for position, (a, p) in enumerate(parameters):
        before, after = argument(routine, a, p, number, position, buffers)
        checks += before
        writes += after
    lines = [c_function.signature("PMPI_") + " {"]
    if c_function.returns != "int":
        return "\n".join(lines + [f"  is_called({number});"] + ["  " + line for line in checks] +
                         [f"  return {result(routine)};", "}"])
    lines.append(f"  if (!is_called({number})) {{ {other(routine, parameters)} return MPI_SUCCESS; }}")
    lines += ["  " + line for line in checks]
    if writes:
        lines += ["  if (code == MPI_SUCCESS) {"] + ["    " + line for line in writes] + ["  }"]
    return "\n".join(lines + ["  return code;", "}"])


def result(routine):
    return "1234567890123" if routine.name.startswith("MPI_Aint") else "12.5"


def double_c(routines, numbers, functions):
    lines = [HEAD]
    for routine in routines:
        if routine.name in IN_FORTRAN or routine.name in CALLED:
            continue
        lines.append(function(routine, functions["MPI_" + called(routine)], numbers[called(routine)]))
    return "\n".join(lines) + "\n"
