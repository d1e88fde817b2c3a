# SPDX-License-Identifier: BSD-3-Clause
"""Ways past the conversions, for the routines whose cost a program may see. The figures: bench/fortran."""

# Handles that are constants, and an ordinary buffer, go to C as they are.
FAST = {"MPI_Comm_rank", "MPI_Comm_size", "MPI_Send", "MPI_Recv"}
# An array in one piece is told by the compiler's own descriptor.
OWN_DESCRIPTOR = {"MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv"}


def is_fast(routine):
    return routine.name in FAST and not routine.large


def has_own_descriptor(routine):
    return routine.name in OWN_DESCRIPTOR and not routine.large


def word(argument):
    if argument.handle:
        return f"({argument.handle[0]})(uintptr_t)(unsigned)*{argument.name}"
    if argument.kind == "STATUS":
        return f"status_of({argument.name})"
    return argument.name if argument.choice or argument.direction != "in" else f"*{argument.name}"


def are_constant(routine):
    """One by one: two compares with memory are fewer instructions than the two integers put together."""
    return [f"is_constant(*{a.name})" for a in routine.arguments if a.handle]


def fast_body(routine, parameters):
    """The function that Fortran calls; slow_<name> has the conversions."""
    name = routine.lower
    plain = are_constant(routine) + [f"!is_special({a.name})" for a in routine.arguments if a.choice]
    call = f"PMPI_{routine.c_name}({', '.join(word(a) for a in routine.arguments)});"
    given = ", ".join([a.name for a in routine.arguments] + ["ierror"])
    there = f"SURELY_THERE(PMPI_{routine.c_name});"
    return [*jump_to_c(name, parameters, given, call, f"!({' && '.join(plain)})", "slow", there), f"INSIDE({name})"]


def jump_to_c(name, parameters, given, call, hard, otherwise, before):
    """pmpi_<name>_, and apart what needs a frame: so who does not ask for the error jumps to C without one."""
    ending = name if otherwise == "slow" else name + "_f08ts"
    return [f"{before} APART void told_{name}({parameters}) {{ *ierror = {call} }}",
            f"void pmpi_{ending}_({parameters}) {{", f"  if ({hard}) {otherwise}_{name}({given});",
            f"  else if (LIKELY(ierror == NULL)) {call} else told_{name}({given});", "}"]


def own_descriptor_body(routine, parameters):
    """In place of the body in Fortran, which becomes the one for what is not in one piece."""
    name = routine.lower
    given = ", ".join([a.name for a in routine.arguments] + ["ierror"])
    direct = given.replace("buf,", "buf->base,")
    callee = f"starling_{name}" if is_fast(routine) else f"pmpi_{name}_"
    section = [f"HIDDEN void starling_{name}_section_({parameters});"]
    shapes = [f"  if (is_one_piece(buf)) {callee}({direct});", f"  else starling_{name}_section_({given});"]
    if not is_fast(routine):
        return section + [f"void pmpi_{name}_f08ts_({parameters}) {{", *shapes, "}"]
    # A row, of constants, goes to C from here. (No sentinel is a row: they are scalars.)
    words = ", ".join("buf->base" if a.choice else word(a) for a in routine.arguments)
    row = " && ".join(["is_row(buf)", *are_constant(routine)])
    there = (f"SURELY_THERE(PMPI_{routine.c_name}); "
             f"HIDDEN void {callee}({parameters.replace('OwnArray* buf', 'void* buf')});")
    shaped = f"APART void shaped_{name}({parameters}) {{ {' '.join(shapes)} }}"
    return section + [f"{there} {shaped}"] + jump_to_c(
        name, parameters, given, f"PMPI_{routine.c_name}({words});", f"!({row})", "shaped", "")


def other_names(routines):
    """For the preprocessor of bodies.F90."""
    mine = [r for r in routines if has_own_descriptor(r)]
    return ["#ifdef STARLING_OWN_DESCRIPTORS"] + \
        [f"#define P{r.f08_specific} starling_{r.lower}_section" for r in mine] + ["#endif"]
