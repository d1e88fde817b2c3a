# SPDX-License-Identifier: BSD-3-Clause
"""Declarations of a routine's arguments in Fortran, as MPI 5.0, annexes A.4 (mpi_f08) and A.5 (mpi) have them."""

WIDTH = 110
KINDS = {"MPI_Aint": "integer(MPI_ADDRESS_KIND)", "MPI_Count": "integer(MPI_COUNT_KIND)",
         "MPI_Offset": "integer(MPI_OFFSET_KIND)"}
POINTERS = ("C_BUFFER", "C_BUFFER2")


def wrap(line, indent):
    """Cut at commas, with Fortran's continuation."""
    lines, rest = [], line
    while len(rest) + indent > WIDTH:
        cut = rest.rfind(", ", 0, WIDTH - indent - 2) + 1
        lines.append(rest[:cut] + " &")
        rest = "  " + rest[cut + 1:]
    return [" " * indent + part for part in lines + [rest]]


def pack(lines):
    """Several short statements on one line."""
    packed, open_line = [], False
    for line in lines:
        alone = line.endswith("&") or line.lstrip().startswith("!")
        if open_line and not alone and len(packed[-1]) + len(line.strip()) + 2 <= WIDTH:
            packed[-1] += "; " + line.strip()
        else:
            packed.append(line)
        open_line = not alone
    return packed


def base_type(a, f08):
    if a.handle:
        return f"type({a.handle[0]})" if f08 else "integer"
    if a.kind in ("LOGICAL", "LOGICAL_VOID"):
        return "logical"
    if a.kind == "STATUS":
        return "type(MPI_Status)" if f08 else "integer"
    if a.kind == "F08_STATUS":
        return "type(MPI_Status)"
    if a.kind in POINTERS:
        return "type(c_ptr)" if f08 else "integer(MPI_ADDRESS_KIND)"
    if a.kind in ("EXTRA_STATE", "ATTRIBUTE_VAL"):
        return "integer(MPI_ADDRESS_KIND)"
    if a.kind == "STRING":
        return f"character(len={a.length if f08 and a.direction == 'out' and a.length.startswith('MPI_') else '*'})"
    if a.is_string:
        return "character(len=*)"
    return KINDS.get(a.c_type, "integer")


def shape(a, f08):
    if a.kind == "F90_STATUS" or (a.kind == "STATUS" and not f08 and not a.array):
        return "(MPI_STATUS_SIZE)"
    if a.kind == "STATUS" and a.array:
        return "(*)" if f08 else "(MPI_STATUS_SIZE, *)"
    if a.kind == "STRING_2DARRAY":
        return "(count, *)"
    if a.kind == "STRING_ARRAY":
        return "(*)"
    if a.length == "n;3":
        return "(3, n)" if f08 else "(3, *)"
    if a.array:
        return f"({a.length})" if f08 and a.length.isidentifier() else "(*)"
    return ""


def attributes(a, f08, buffers="dimension(..)"):
    words = []
    if not f08:
        return ""
    if a.choice:
        words.append(buffers)
        if a.direction == "in" and a.f08_intent:
            words.append("intent(in)")
    elif a.kind == "STATUS" and a.direction == "out":
        pass
    elif a.f08_intent and a.kind not in ("WEIGHT",) or a.direction == "in":
        words.append(f"intent({a.direction})")
    if a.asynchronous:
        words.append("asynchronous")
    return "".join(", " + w for w in words)


def declarations(routine, f08, indent, buffers="dimension(..)"):
    """Lines that declare all dummies; scalars first, since arrays may have their length from them."""
    groups, pragmas = {}, []
    for a in routine.arguments:
        if a.kind in ("FUNCTION", "POLYFUNCTION"):
            words = f"procedure({a.func_type}{'_c' if routine.large and a.kind == 'POLYFUNCTION' else ''})" if f08 else "external"
            groups.setdefault((2, words), []).append(a.name)
            continue
        choice = a.choice or (a.kind == "C_BUFFER2" and not f08)
        if choice and not f08:
            groups.setdefault((1, "type(*), dimension(*)"), []).append(a.name)
            pragmas.append(a.name)
            continue
        words = ("type(*)" if choice else base_type(a, f08)) + attributes(a, f08, buffers)
        groups.setdefault((1 if shape(a, f08) else 0, words), []).append(a.name + shape(a, f08))
    if routine.has_ierror:
        groups.setdefault((0, "integer, optional, intent(out)" if f08 else "integer"), []).append("ierror")
    lines = []
    for (_, words), names in sorted(groups.items(), key=lambda item: item[0][0]):
        lines += wrap(f"{words} :: {', '.join(names)}", indent)
    if pragmas:
        names = ", ".join(pragmas)
        lines += [f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {names}", f"!DIR$ IGNORE_TKR {names}"]
    return lines


def dummies(routine):
    return [a.name for a in routine.arguments] + (["ierror"] if routine.has_ierror else [])


def opening(routine, name, indent, tail=""):
    word = f"{routine.result} function" if routine.result else "subroutine"
    return wrap(f"{word} {name}({', '.join(dummies(routine))}){tail}", indent)


def closing(routine, indent):
    return " " * indent + ("end function" if routine.result else "end subroutine")
