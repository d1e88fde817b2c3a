# SPDX-License-Identifier: BSD-3-Clause
"""What each argument of each call is: known to the Fortran program that passes it and to the C function that gets it."""

from c_arguments import INDEXED

LENGTH = 3           # of every array
CHANGED = 1_000_000  # what C adds to an argument that it writes
WIDE = 1 << 33       # added where the argument has 8 bytes
# The routine calls another C function than its own.
CALLED = {"MPI_Attr_put": "Comm_set_attr", "MPI_Attr_get": "Comm_get_attr", "MPI_Keyval_create": "Comm_create_keyval"}
# No C function at all.
IN_FORTRAN = {"MPI_F_sync_reg", "MPI_Status_f2f08", "MPI_Status_f082f"}
# C's conversions of handles that the double library answers with add this, so that a missing one is seen.
HANDLE = 0x10000000
# A length with Fortran's string, which is one more in C for the final zero.
TEXT_LENGTHS = {("MPI_Info_get_string", "buflen"), ("MPI_Session_get_nth_pset", "pset_len")}
TEXT_LENGTH = 40
# Reach C as something else: procedures, and what callbacks and attributes hold.
OPAQUE = ("FUNCTION", "POLYFUNCTION", "EXTRA_STATE", "EXTRA_STATE2", "LOGICAL_VOID")


def called(routine):
    """The C function, without MPI_."""
    return CALLED.get(routine.name, routine.c_name)


def is_wide(argument):
    return argument.c_type in ("MPI_Aint", "MPI_Count", "MPI_Offset") and not argument.handle


def lengths(routine):
    return {a.length for a in routine.arguments if a.array} | {"outcount", "count" if routine.name.endswith("some") else ""}


def value(number, routine, position):
    """Of a scalar, and of the first element of an array; the others follow."""
    a = routine.arguments[position]
    if (routine.name, a.name) in TEXT_LENGTHS or (routine.name, a.name) == ("MPI_Info_get", "valuelen"):
        return TEXT_LENGTH
    if not a.array and (a.name in lengths(routine) or a.name == "n" and "n;3" in lengths(routine)):
        return LENGTH
    if a.name == "root" and "spawn" in routine.name:
        return LENGTH  # the rank that the double library tells
    plain = 5000 + 16 * number + position
    return plain + WIDE if is_wide(a) else plain


def is_index(routine, argument):
    return argument.kind == "INDEX" and argument.direction == "out" and routine.name in INDEXED


def truth(position, element=0):
    return (position + element) % 2 == 0


def text(number, position):
    return f"text {number} {position}"


def elements(argument):
    return 9 if argument.length == "n;3" else LENGTH
