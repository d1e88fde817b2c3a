# SPDX-License-Identifier: BSD-3-Clause
"""The program that calls every routine of one interface, with and without P, and looks at what comes back."""

from declare import base_type, wrap
from facts import OWN_LARGE_NAME
from values import CHANGED, IN_FORTRAN, LENGTH, TEXT_LENGTHS, called, elements, is_index, is_wide, text, truth, value

HEAD = """\
! SPDX-License-Identifier: BSD-3-Clause
! Every routine of one interface, above a C library that stands in for MPI. Written at build time by tests/mpi/fortran/calls.
program calls
{use}
  use calls_support
  implicit none
{include}
  integer, parameter :: refused = 1009, text_room = MPI_MAX_LIBRARY_VERSION_STRING
  integer :: ierror
"""
PRESET = -7
WORDS = {"STRING_ARRAY": "['w0', 'w1', '  ']",
         "STRING_2DARRAY": "reshape(['w0', 'w0', 'w0', 'w1', 'w1', 'w1', '  ', '  ', '  '], [3, 3])"}


class Call:
    """One routine in one interface."""

    def __init__(self, routine, number, f08):
        self.routine, self.number, self.f08 = routine, number, f08
        self.declared, self.preset, self.checks, self.words = [], [], [], []
        buffers = 0
        for position, argument in enumerate(routine.arguments):
            if argument.choice:
                buffers += 1
                self.words.append(f"buffer(:, {buffers})" if f08 else f"buffer(1, {buffers})")
            else:
                self.words.append(self.argument(argument, position))

    def number_word(self, argument, first, step=0):
        suffix = "_8" if is_wide(argument) else ""
        word = f"{first + step}{suffix}"
        return f"{argument.handle[0]}({word})" if argument.handle and self.f08 else word

    def variable(self, argument, position, preset):
        name = f"a{position}"
        shape = f"({elements(argument)})" if argument.array else ""
        kind = base_type(argument, self.f08)
        self.declared.append(f"{kind} :: {name}{shape}")
        if preset:
            self.preset.append(f"{name} = {preset}")
        return name

    def expect(self, condition, argument):
        self.checks.append(f"call ok({condition}, '{self.routine.name}: {argument.name}')")

    def argument(self, a, position):
        first = value(self.number, self.routine, position)
        if a.kind in ("FUNCTION", "POLYFUNCTION"):
            return self.procedure(a, position)
        if a.kind in ("STATUS", "F08_STATUS", "F90_STATUS"):
            return self.status(a, position, first)
        if a.kind == "LOGICAL":
            return self.logical(a, position)
        if a.kind == "LOGICAL_VOID":
            return self.variable(a, position, ".false.")
        if a.is_string:
            return self.string(a, position)
        if a.kind in ("C_BUFFER", "C_BUFFER2"):
            return self.address(a, position, first)
        return self.integer(a, position, first)

    def procedure(self, a, position):
        if not self.f08:
            return "never_called"
        large = "_c" if self.routine.large and a.kind == "POLYFUNCTION" else ""
        self.declared.append(f"procedure({a.func_type}{large}), pointer :: a{position}")
        self.preset.append(f"call c_f_procpointer(callback, a{position})")
        return f"a{position}"

    def status(self, a, position, first):
        name, count = f"a{position}", 8 * (LENGTH if a.array else 1)
        named = self.f08 and a.kind == "STATUS" or a.kind == "F08_STATUS"
        shape = ([] if named else ["8"]) + ([str(LENGTH)] if a.array else [])
        self.declared.append(("type(MPI_Status)" if named else "integer") + f" :: {name}" + (f"({','.join(shape)})" if shape else ""))
        self.declared.append(f"integer :: i{position}")
        start = f"[(i{position}, i{position} = {first}, {first + count - 1})]"
        self.preset.append(f"{name} = " + (f"transfer({start}, {name})" if named else f"reshape({start}, shape({name}))"))
        if a.direction != "in" and a.kind == "STATUS":
            after = start.replace(f"= {first}, {first + count - 1}", f"= {first + CHANGED}, {first + CHANGED + count - 1}")
            self.expect(f"all(transfer({name}, [1]) == {after})", a)
        return name

    def logical(self, a, position):
        words = [".true." if truth(position, i) else ".false." for i in range(LENGTH)]
        if a.direction == "in":
            return f"[{', '.join(words)}]" if a.array else words[0]
        name = self.variable(a, position, ".false.")
        self.expect(f"all({name} .eqv. [{', '.join(words)}])" if a.array else name, a)
        return name

    def string(self, a, position):
        if a.kind in WORDS:
            return WORDS[a.kind]
        if a.direction == "in":
            return f"'{text(self.number, position)}   '"
        self.declared.append(f"character(len=text_room) :: a{position}")
        self.preset.append(f"a{position} = repeat('x', text_room)")
        self.expect(f"a{position} == '{text(self.number, position)}'", a)
        return f"a{position}"

    def address(self, a, position, first):
        if a.kind == "C_BUFFER2" and not self.f08:
            return "buffer(1, 1)"
        name = self.variable(a, position, "c_null_ptr" if self.f08 else f"{PRESET}")
        self.expect(f"transfer({name}, 0_8) == {first}_8", a)
        return name

    def integer(self, a, position, first):
        listed = "[" + ", ".join(self.number_word(a, first, i) for i in range(elements(a))) + "]"
        if a.length == "n;3":
            listed = f"reshape({listed}, [3, 3])"
        opaque = a.kind in ("EXTRA_STATE", "EXTRA_STATE2") or a.kind.startswith("ATTRIBUTE_VAL")
        if a.direction == "in":
            suffix = "_8" if opaque and "8" in self.kind_of(a) else ""
            return listed if a.array else f"{first}{suffix}" if opaque else self.number_word(a, first)
        preset = self.number_word(a, PRESET if a.direction == "out" else first)
        if a.direction == "inout" and a.array:
            preset = listed
        name = self.variable(a, position, preset)
        if (self.routine.name, a.name) in TEXT_LENGTHS or a.direction == "out" and first == LENGTH or opaque:
            self.expect(f"{name} == {first}", a)
            return name
        after = first + CHANGED + (1 if is_index(self.routine, a) else 0)
        tail = "%MPI_VAL" if a.handle and self.f08 else ""
        suffix = "_8" if is_wide(a) else ""
        wanted = ", ".join(f"{after + i}{suffix}" for i in range(elements(a) if a.array else 1))
        self.expect(f"all({name}{tail} == [{wanted}])" if a.array else f"{name}{tail} == {wanted}", a)
        return name

    def kind_of(self, a):
        """`integer(8)` for what has the size of an address."""
        return "integer(8)" if "ADDRESS" in base_type(a, self.f08) else "integer"

    def statement(self, prefix, with_error):
        r = self.routine
        name = prefix + r.name + ("_c" if r.large and r.name in OWN_LARGE_NAME else "")
        words = self.words + (["ierror"] if r.has_ierror and with_error else [])
        return name, f"{name}({', '.join(words)})"

    def lines(self):
        r = self.routine
        body = list(self.declared)
        if r.result:
            wanted = "12.5d0" if "double" in r.result else "1234567890123_8"
            for prefix in ("", "P"):
                body += [f"call begin({self.number}, 0)", f"call ok({self.statement(prefix, False)[1]} == {wanted}, '{r.name}')",
                         f"call end_call('{prefix}{r.name}', 0, 0)"]
        else:
            turns = [("", True, 0), ("P", True, 1)] + ([("", False, 0)] if self.f08 and r.has_ierror else [])
            for prefix, with_error, fails in turns:
                body += self.turn(prefix, with_error, "refused" if fails else "0", not fails)
        return [part for line in body for part in wrap(line, 4)]

    def turn(self, prefix, with_error, answer, look):
        r = self.routine
        name, statement = self.statement(prefix, with_error)
        if r.name in IN_FORTRAN:
            return self.preset + [f"call {statement}"]
        given = "ierror" if r.has_ierror and with_error else answer
        return self.preset + ["ierror = -7", f"call begin({self.number}, {answer})", f"call {statement}",
                              f"call end_call('{name}', {given}, {answer})"] + (self.checks if look else [])


def program(routines, numbers, kind):
    f08 = kind == "f08"
    head = HEAD.format(use={"mpif": "", "mpi": "  use mpi", "f08": "  use mpi_f08"}[kind],
                       include="  include 'mpif.h'" if kind == "mpif" else "")
    mine = [r for r in routines if (r.f08 if f08 else r.f90 and (kind == "mpi" or r.mpif))]
    calls = [Call(r, numbers[called(r)] if r.name not in IN_FORTRAN else numbers[r.name], f08) for r in mine]
    lines = [head.rstrip(), "  call start", "  call MPI_Init(ierror)"]
    lines += [f"  call s{place}" for place in range(len(calls))]
    lines += ["  call finish", "contains"]
    for place, call in enumerate(calls):
        lines += [f"  subroutine s{place}"] + call.lines() + ["  end subroutine"]
    if kind != "mpif":
        lines += ["  subroutine sizes", "    integer :: size", "    call MPI_Sizeof(buffer, size, ierror)",
                  "    call ok(size == 4 .and. ierror == 0, 'MPI_Sizeof')", "    call PMPI_Sizeof(1.0d0, size, ierror)",
                  "    call ok(size == 8, 'PMPI_Sizeof')", "  end subroutine"]
        lines.insert(lines.index("  call finish"), "  call sizes")
    return "\n".join(lines + ["end program", ""])
