# SPDX-License-Identifier: BSD-3-Clause
"""The bodies of mpi_f08's routines with buffers: three lines of Fortran each, which hand C the descriptor of the array.

An external procedure with an assumed-rank argument gets the compiler's own descriptor; only BIND(C) gives the standard
one. The routine itself must not be BIND(C), since profiling tools replace it in Fortran (MPI 5.0, 19.1.5)."""

from c_entries import body_name, parameters
from c_arguments import fortran_parameter
from fast import has_own_descriptor, other_names, own_descriptor_body
from declare import closing, declarations, dummies, opening, pack, wrap

HEAD = """\
! SPDX-License-Identifier: BSD-3-Clause
! Routines of mpi_f08 that have a buffer. Written at build time from fortran/tables and mpi/tables.
"""


def c_interface(routine, indent):
    """Declarations for BIND(C): a string goes as its address, with the length behind all arguments."""
    lines = declarations(routine, True, indent)
    return [line.replace("character(len=*), intent(in) :: datarep", "character, intent(in) :: datarep(*)") for line in lines] + \
        [" " * indent + f"integer(MPI_ADDRESS_KIND), value :: {a.name}_len" for a in routine.arguments if a.is_string]


def with_descriptor(routines):
    return [r for r in routines if r.f08 and r.has_choice]


def bodies_f90(routines):
    lines = [HEAD.rstrip()] + other_names(routines)
    for r in with_descriptor(routines):
        lines += opening(r, "P" + r.f08_specific, 0)
        lines += pack(["  use starling_mpi_types", "  implicit none"] + declarations(r, True, 2) + ["  interface"])
        hidden = [a.name for a in r.arguments if a.is_string]
        passed = dummies(r) + [f"{name}_len" for name in hidden]
        lines += wrap(f"subroutine starling_{r.lower}_cdesc({', '.join(passed)}) bind(C)", 4)
        lines += pack(["      import"] + c_interface(r, 6))
        lines += pack([closing(r, 4), "  end interface"])
        given = dummies(r) + [f"int(len({name}), MPI_ADDRESS_KIND)" for name in hidden]
        lines += wrap(f"call starling_{r.lower}_cdesc({', '.join(given)})", 2) + [closing(r, 0)]
    return "\n".join(lines) + "\n"


# Only the place counts, or nothing at all.
PLACE = {"MPI_Get_address", "MPI_F_sync_reg", "MPI_Free_mem", "MPI_Win_detach"}
# MPI keeps the memory until something else than a request tells.
KEEP = {"MPI_Buffer_attach", "MPI_Comm_attach_buffer", "MPI_Session_attach_buffer", "MPI_Win_create", "MPI_Win_attach",
        "MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Get_accumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap"}
C_HEAD = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* What mpi_f08's routines with buffers call, with the arrays' descriptors. Written at build time. */
#include "fortran/library/section.h"

"""


def c_parameter(argument):
    return f"CFI_cdesc_t* {argument.name}" if argument.choice else fortran_parameter(argument)


def own_parameter(argument):
    return f"OwnArray* {argument.name}" if argument.choice else fortran_parameter(argument)


def call(routine, places, error):
    words = [places.get(a.name, a.name) for a in routine.arguments] + ([error] if routine.has_ierror else [])
    words += [f"{a.name}_len" for a in routine.arguments if a.is_string]
    return f"{body_name(routine)}({', '.join(words)});"


def as_type(routine):
    """Large sections need no copy where there is one count and one type."""
    typed = call(routine, {"buf": "buf->base_addr", "count": "&one", "datatype": "&typed"}, "ierror")
    return "const int one = 1; int typed; if (section_type(buf, *count, *datatype, &typed)) " \
        f"{{ {typed.replace('&one', '(int*)&one')} section_type_free(typed); return; }}"


def with_sections(routine, buffers):
    """The lines for arrays that are not contiguous."""
    if routine.name in KEEP:
        return [f'const int code = must_be_contiguous("{routine.name}");', "GIVE(ierror, code);"]
    sections = [f"section_open(&sections[{i}], {a.name}, {'kReads' if a.direction == 'in' else 'kWrites'})"
                for i, a in enumerate(buffers)]
    places = {a.name: f"{a.name}_" for a in buffers}
    lines = ["Section sections[kSections] = {0}; int code = MPI_SUCCESS;"]
    if has_own_descriptor(routine):
        lines.append(as_type(routine))
    lines += [f"void* const {a.name}_ = {opened};" for a, opened in zip(buffers, sections)]
    lines.append(call(routine, places, "&code"))
    if routine.name.endswith("_begin"):
        lines.append("sections_keep_file(sections, code, *fh);")
    elif any(a.kind == "REQUEST" and a.direction == "out" for a in routine.arguments):
        lines.append(f"sections_keep(sections, code, *request, {int(routine.name.endswith('_init'))});")
    else:
        lines += [f"section_close(&sections[{i}]);" for i in range(len(buffers))]
    return lines + ["GIVE(ierror, code);"]


def cdesc(routine):
    buffers = [a for a in routine.arguments if a.choice]
    bases = {a.name: f"{a.name}->base_addr" for a in buffers}
    lines = [f"void starling_{routine.lower}_cdesc({parameters(routine, c_parameter)}) {{"]
    if routine.name in PLACE:
        lines.append("  " + call(routine, bases, "ierror"))
    elif routine.name.endswith("_end"):
        lines += ["  " + call(routine, {"buf": "sections_pending ? sections_of_file(*fh, buf->base_addr) : buf->base_addr"}, "ierror"),
                  "  if (sections_pending) sections_end_file(*fh);"]
    else:
        test = " && ".join(f"is_contiguous({a.name})" for a in buffers)
        lines += [f"  if (__builtin_expect({test}, 1)) {{", "    " + call(routine, bases, "ierror"), "  } else {"]
        lines += ["    " + line for line in with_sections(routine, buffers)] + ["  }"]
    return "\n".join(lines + ["}"])


def declared(routine):
    return f"void {body_name(routine)}({parameters(routine)});"


def cdesc_files(routines):
    members = with_descriptor(routines)
    own = [line for r in members if has_own_descriptor(r) for line in own_descriptor_body(r, parameters(r, own_parameter))]
    own = ["#ifdef STARLING_OWN_DESCRIPTORS", '#include "fortran/library/own_descriptor.h"'] + own + ["#endif"]
    text = C_HEAD + "\n".join(declared(r) for r in members) + "\n\n" + "\n".join(cdesc(r) for r in members) + "\n"
    text += "\n".join(own) + "\n"
    return {"entries_cdesc.c": text}


def aliases(routines):
    """For the linker: MPI_Send_f08ts is the body of PMPI_Send_f08ts, until a profiling library brings another one."""
    names = [r.f08_specific.lower() + "_" for r in with_descriptor(routines)]
    return "/* Second names of the bodies. Written at build time. */\n" + "\n".join(f"{n} = p{n};" for n in names) + "\n"
