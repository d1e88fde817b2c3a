# SPDX-License-Identifier: BSD-3-Clause
"""The bodies of mpi_f08's routines with buffers: three lines of Fortran each, which hand C the descriptor of the array.

An external procedure with an assumed-rank argument gets the compiler's own descriptor; only BIND(C) gives the standard
one. The routine itself must not be BIND(C), since profiling tools replace it in Fortran (MPI 5.0, 19.1.5)."""

from c_entries import body_name, parameters
from c_arguments import fortran_parameter
from declare import closing, declarations, dummies, opening, pack, wrap

HEAD = """\
! SPDX-License-Identifier: BSD-3-Clause
! Routines of mpi_f08 that have a buffer. Written at build time from fortran/tables and mpi/tables.
"""


def with_descriptor(routines):
    return [r for r in routines if r.f08 and r.has_choice]


def bodies_f90(routines):
    lines = [HEAD.rstrip()]
    for r in with_descriptor(routines):
        lines += opening(r, "P" + r.f08_specific, 0)
        lines += pack(["  use starling_mpi_types", "  implicit none"] + declarations(r, True, 2) + ["  interface"])
        lines += opening(r, f"starling_{r.lower}_cdesc", 4, " bind(C)")
        lines += pack(["      import"] + declarations(r, True, 6))
        lines += pack([closing(r, 4), "  end interface"])
        lines += wrap(f"call starling_{r.lower}_cdesc({', '.join(dummies(r))})", 2) + [closing(r, 0)]
    return "\n".join(lines) + "\n"


def cdesc_files(routines):
    return {}
