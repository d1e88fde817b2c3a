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


def fast_body(routine, parameters):
    """The function that Fortran calls; slow_<name> has the conversions."""
    name = routine.lower
    handles = " | ".join(f"*{a.name}" for a in routine.arguments if a.handle)
    plain = [f"is_constant({handles})"] + [f"!is_special({a.name})" for a in routine.arguments if a.choice]
    call = f"PMPI_{routine.c_name}({', '.join(word(a) for a in routine.arguments)});"
    given = ", ".join([a.name for a in routine.arguments] + ["ierror"])
    return [f"SURELY_THERE(PMPI_{routine.c_name});", f"void pmpi_{name}_({parameters}) {{",
            f"  if (!({' && '.join(plain)})) slow_{name}({given});",
            f"  else if (LIKELY(ierror == NULL)) {call} else *ierror = {call}", "}", f"INSIDE({name})"]


def own_descriptor_body(routine, parameters):
    """In place of the body in Fortran, which becomes the one for what is not in one piece."""
    name = routine.lower
    given = ", ".join([a.name for a in routine.arguments] + ["ierror"])
    direct = given.replace("buf,", "buf->base,")
    callee = f"starling_{name}" if is_fast(routine) else f"pmpi_{name}_"
    declared = [f"HIDDEN void {callee}({parameters.replace('OwnArray* buf', 'void* buf')});"] if is_fast(routine) else []
    return declared + [f"HIDDEN void starling_{name}_section_({parameters});", f"void pmpi_{name}_f08ts_({parameters}) {{",
                       f"  if (is_one_piece(buf)) {callee}({direct});", f"  else starling_{name}_section_({given});", "}"]


def other_names(routines):
    """For the preprocessor of bodies.F90."""
    mine = [r for r in routines if has_own_descriptor(r)]
    return ["#ifdef STARLING_OWN_DESCRIPTORS"] + \
        [f"#define P{r.f08_specific} starling_{r.lower}_section" for r in mine] + ["#endif"]
