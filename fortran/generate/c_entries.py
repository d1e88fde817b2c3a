# SPDX-License-Identifier: BSD-3-Clause
"""The C functions that Fortran calls: one body for all interfaces, with a symbol for each name that Fortran may use."""

from c_arguments import convert, fortran_parameter
from fast import fast_body, is_fast

HEAD = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* What Fortran calls: {what}. Written at build time from fortran/tables and mpi/tables. */
#include "fortran/library/support.h"

"""
# Their bodies stand in fortran/library.
BY_HAND = {
    "MPI_Wtime", "MPI_Wtick", "MPI_Aint_add", "MPI_Aint_diff", "MPI_Init", "MPI_Init_thread", "MPI_Pcontrol", "MPI_F_sync_reg",
    "MPI_Status_f2f08", "MPI_Status_f082f", "MPI_Info_get", "MPI_Info_get_string", "MPI_Session_get_nth_pset",
    "MPI_Info_create_env", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Buffer_detach", "MPI_Comm_detach_buffer",
    "MPI_Session_detach_buffer", "MPI_Comm_create_keyval", "MPI_Type_create_keyval", "MPI_Win_create_keyval",
    "MPI_Keyval_create", "MPI_Comm_set_attr", "MPI_Type_set_attr", "MPI_Win_set_attr", "MPI_Attr_put", "MPI_Comm_get_attr",
    "MPI_Type_get_attr", "MPI_Win_get_attr", "MPI_Attr_get", "MPI_Comm_create_errhandler", "MPI_File_create_errhandler",
    "MPI_Win_create_errhandler", "MPI_Session_create_errhandler", "MPI_Op_create", "MPI_Grequest_start",
    "MPI_Register_datarep",
}
# The compiler is made known before these (see registration.c).
FIRST_CALLS = {"MPI_Session_init", "MPI_Abi_get_fortran_info", "MPI_Abi_get_fortran_booleans"}
# Those with a C_PTR have this second name in the module mpi (MPI 5.0, 9.2, 12.2).
WITH_CPTR = {"MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query"}


def parameters(routine, declare=fortran_parameter):
    words = [declare(a) for a in routine.arguments]
    if routine.has_ierror:
        words.append("int* ierror")
    words += [f"size_t {a.name}_len" for a in routine.arguments if a.is_string]
    return ", ".join(words) or "void"


def body_name(routine):
    """Where the work is done."""
    if not routine.large:
        return f"pmpi_{routine.lower}_"
    return f"starling_{routine.lower}" if routine.has_choice else f"pmpi_{routine.lower}_f08_"


def body(routine):
    converted = [convert(routine, a) for a in routine.arguments]
    lines = ["register_compiler();"] if routine.name in FIRST_CALLS else []
    for item in converted:
        lines += item.before
    call = f"PMPI_{routine.c_name}({', '.join(item.word for item in converted)})"
    after = [line for item in converted for line in item.after]
    always = [line for item in converted for line in item.always]
    lines.append(f"const int code = {call};")
    if len(after) == 1:
        lines.append(f"if (code == MPI_SUCCESS) {after[0]}")
    elif after:
        lines += ["if (code == MPI_SUCCESS) {"] + ["  " + line for line in after] + ["}"]
    lines += always
    lines.append("GIVE(ierror, code);")
    return lines


def names(routine):
    """The macro that defines the other symbols of the body."""
    if routine.large:
        return None if routine.has_choice else f"NAMES_LARGE({routine.lower})"
    if routine.name in WITH_CPTR:
        return f"NAMES_CPTR({routine.lower})"
    if routine.has_choice or not routine.f08:
        return f"NAMES_F90({routine.lower})"
    return f"NAMES({routine.lower})"


def entry(routine):
    hidden = "HIDDEN " if body_name(routine).startswith("starling_") else ""
    name = f"slow_{routine.lower}" if is_fast(routine) else body_name(routine)
    hidden = "static __attribute__((noinline)) " if is_fast(routine) else hidden
    lines = [f"{hidden}void {name}({parameters(routine)}) {{"]
    lines += ["  " + line for line in body(routine)] + ["}"]
    lines += fast_body(routine, parameters(routine)) if is_fast(routine) else []
    if names(routine):
        lines.append(names(routine))
    return "\n".join(lines)


def generated(routine):
    return routine.name not in BY_HAND


def entry_files(routines):
    """name of the file: text."""
    groups = {}
    for routine in filter(generated, routines):
        key = "choice" if routine.has_choice else "plain"
        groups.setdefault(f"{key}{'_large' if routine.large else ''}", []).append(routine)
    files = {}
    for key, members in groups.items():
        what = {"choice": "routines with buffers", "plain": "routines without buffers"}[key.split("_")[0]]
        files[f"entries_{key}.c"] = HEAD.format(what=what) + "\n".join(entry(r) for r in members) + "\n"
    return files
