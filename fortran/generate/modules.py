# SPDX-License-Identifier: BSD-3-Clause
"""The modules starling_mpi_types (what the others share), mpi and mpi_f08."""

from c_entries import WITH_CPTR
from declare import closing, declarations, opening, pack, wrap
from facts import HANDLES, OWN_LARGE_NAME

HEAD = """\
! SPDX-License-Identifier: BSD-3-Clause
! {what}. Written at build time from fortran/tables and mpi/tables.
"""
COPY_FNS = ("MPI_COMM_NULL_COPY_FN", "MPI_COMM_DUP_FN", "MPI_TYPE_NULL_COPY_FN", "MPI_TYPE_DUP_FN", "MPI_WIN_NULL_COPY_FN",
            "MPI_WIN_DUP_FN")
DELETE_FNS = ("MPI_COMM_NULL_DELETE_FN", "MPI_TYPE_NULL_DELETE_FN", "MPI_WIN_NULL_DELETE_FN")
OLD_FNS = ("MPI_NULL_COPY_FN", "MPI_DUP_FN", "MPI_NULL_DELETE_FN")
# In the order of support.h: (name, shape in mpi, declaration in mpi_f08)
SENTINELS = (("MPI_BOTTOM", "", "integer"), ("MPI_IN_PLACE", "", "integer"), ("MPI_BUFFER_AUTOMATIC", "", "integer"),
             ("MPI_UNWEIGHTED", "(1)", "integer"), ("MPI_WEIGHTS_EMPTY", "(1)", "integer"),
             ("MPI_ERRCODES_IGNORE", "(1)", "integer"), ("MPI_STATUS_IGNORE", "(8)", "type(MPI_Status)"),
             ("MPI_STATUSES_IGNORE", "(8,1)", "type(MPI_Status)"))
TEXT_SENTINELS = (("MPI_ARGV_NULL", "(1)"), ("MPI_ARGVS_NULL", "(1,1)"))
# What MPI 3.0 removed: for mpif.h and the module mpi, with the values of include/starling_mpi_old.h.
REMOVED = (("MPI_LB", 0x3fe), ("MPI_UB", 0x3ff), ("MPI_COMBINER_HVECTOR_INTEGER", -105), ("MPI_COMBINER_HINDEXED_INTEGER", -107),
           ("MPI_COMBINER_STRUCT_INTEGER", -110))
OLD_SIZES = (("MPI_STATUS_SIZE", 8), ("MPI_SOURCE", 1), ("MPI_TAG", 2), ("MPI_ERROR", 3))
# Strings of Fortran have no final zero (MPI 5.0, 2.5.4... A.1.1).
ONE_LESS = "MPI_MAX_"


def value_of(name, value):
    return value - 1 if name.startswith(ONE_LESS) else value


def types_module():
    handles = sorted({c_type for c_type, _ in HANDLES.values()})
    lines = [HEAD.format(what="Kinds and types of the MPI modules"), "module starling_mpi_types",
             "  use, intrinsic :: iso_c_binding, only: c_int64_t, c_intptr_t, c_ptr", "  implicit none", "  private",
             "  integer, parameter, public :: MPI_ADDRESS_KIND = c_intptr_t, MPI_COUNT_KIND = c_int64_t",
             "  integer, parameter, public :: MPI_OFFSET_KIND = c_int64_t, MPI_INTEGER_KIND = kind(0)",
             "  type, bind(C), public :: MPI_Status", "    integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR",
             "    integer, private :: MPI_internal(5)", "  end type"]
    for handle in handles:
        lines += [f"  type, bind(C), public :: {handle}", "    integer :: MPI_VAL", "  end type"]
    for word, symbol in (("eq", "=="), ("ne", "/=")):
        lines += [f"  interface operator({symbol})"]
        lines += [f"    procedure {word}_{h[4:].lower()}, {word}_{h[4:].lower()}_integer, {word}_integer_{h[4:].lower()}"
                  for h in handles]
        lines += ["  end interface", f"  public :: operator({symbol})"]
    lines += ["contains"]
    for word, symbol in (("eq", "=="), ("ne", "/=")):
        for handle in handles:
            short = handle[4:].lower()
            for name, left, right, expression in (
                    (f"{word}_{short}", f"type({handle})", f"type({handle})", f"a%MPI_VAL {symbol} b%MPI_VAL"),
                    (f"{word}_{short}_integer", f"type({handle})", "integer", f"a%MPI_VAL {symbol} b"),
                    (f"{word}_integer_{short}", "integer", f"type({handle})", f"a {symbol} b%MPI_VAL")):
                lines += [f"  elemental logical function {name}(a, b) result(c)", f"    {left}, intent(in) :: a",
                          f"    {right}, intent(in) :: b", f"    c = {expression}", "  end function"]
    return "\n".join(pack(lines) + ["end module", ""])


def constant_lines(constants, f08):
    lines = []
    for name, kind, value in constants:
        if kind.endswith("int"):
            lines.append(f"  integer, parameter :: {name} = {value_of(name, value)}")
        elif kind == "MPI_Offset":
            lines.append(f"  integer(MPI_OFFSET_KIND), parameter :: {name} = {value}")
        elif f08:
            lines.append(f"  type({kind}), parameter :: {name} = {kind}({value})")
        else:
            lines.append(f"  integer, parameter :: {name} = {value}")
    for name, value in OLD_SIZES + (() if f08 else REMOVED):
        lines.append(f"  integer, parameter :: {name} = {value}")
    # One-sided calls without a request refuse sections that are not contiguous, in mpi_f08, too.
    lines += ["  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .false.",
              f"  logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = {'.true.' if f08 else '.false.'}"]
    for name, old, new in SENTINELS:
        plain = old if new == "integer" else "(1)" if name.endswith("STATUSES_IGNORE") else ""
        lines.append(f"  {new} :: {name}{plain}" if f08 else f"  integer :: {name}{old}")
    lines += [f"  character :: {name}{form}" for name, form in TEXT_SENTINELS]
    lines += ["  common /starling_mpi_sentinels/ " + ", ".join(n for n, _, _ in SENTINELS[:5]) + ", &",
              "    " + ", ".join(n for n, _, _ in SENTINELS[5:]),
              "  common /starling_mpi_texts/ " + ", ".join(n for n, _ in TEXT_SENTINELS),
              "  save /starling_mpi_sentinels/, /starling_mpi_texts/"]
    return lines


SIZEOF = """\
  interface MPI_Sizeof
    subroutine starling_mpi_sizeof(x, size, ierror) bind(C, name="starling_mpi_sizeof")
      type(*), dimension(..), intent(in) :: x
      integer, intent(out) :: size
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface PMPI_Sizeof; procedure starling_mpi_sizeof; end interface"""


# library/removed.c. (name, arguments before ierror, declarations)
REMOVED_ROUTINES = (
    ("MPI_Address", "location, address", "integer :: address; type(*), dimension(*) :: location"),
    ("MPI_Errhandler_create", "function, errhandler", "external :: function; integer :: errhandler"),
    ("MPI_Errhandler_get", "comm, errhandler", "integer :: comm, errhandler"),
    ("MPI_Errhandler_set", "comm, errhandler", "integer :: comm, errhandler"),
    ("MPI_Type_extent", "datatype, extent", "integer :: datatype, extent"),
    ("MPI_Type_lb", "datatype, displacement", "integer :: datatype, displacement"),
    ("MPI_Type_ub", "datatype, displacement", "integer :: datatype, displacement"),
    ("MPI_Type_hvector", "count, blocklength, stride, oldtype, newtype",
     "integer :: count, blocklength, stride, oldtype, newtype"),
    ("MPI_Type_hindexed", "count, blocklengths, displacements, oldtype, newtype",
     "integer :: count, blocklengths(*), displacements(*), oldtype, newtype"),
    ("MPI_Type_struct", "count, blocklengths, displacements, types, newtype",
     "integer :: count, blocklengths(*), displacements(*), types(*), newtype"))


def removed_interfaces():
    lines = ["  interface"]
    for name, arguments, declared in REMOVED_ROUTINES:
        lines += [f"    subroutine {name}({arguments}, ierror)", f"      implicit none; {declared}; integer :: ierror"]
        if "location" in arguments:
            lines += ["!GCC$ ATTRIBUTES NO_ARG_CHECK :: location", "!DIR$ IGNORE_TKR location"]
        lines.append("    end subroutine")
    return lines + ["  end interface"] + [f"  procedure({name}) :: P{name}" for name, _, _ in REMOVED_ROUTINES]


def interface(routine, name, f08):
    inside = ["      import", "      implicit none"] + declarations(routine, f08, 6)
    return opening(routine, name, 4) + pack(inside) + [closing(routine, 4)]


def mpi_module(routines, constants):
    lines = [HEAD.format(what="The module mpi"), "module mpi",
             "  use, intrinsic :: iso_c_binding, only: starling_c_ptr => c_ptr", "  use starling_mpi_types", "  implicit none",
             "  private :: starling_c_ptr"]
    lines += constant_lines(constants, False)
    lines += [f"  external :: {name}" for name in COPY_FNS + DELETE_FNS + OLD_FNS + ("MPI_CONVERSION_FN_NULL",)]
    lines.append("  interface")
    mine = [r for r in routines if r.f90]
    for routine in mine:
        if routine.name in WITH_CPTR:
            continue
        lines += interface(routine, routine.name, False)
    lines.append("  end interface")
    for prefix in ("", "P"):
        for routine in mine:
            if routine.name in WITH_CPTR:
                lines += cptr_interface(routine, prefix)
            elif prefix:
                lines.append(f"  procedure({routine.name}) :: P{routine.name}")
    return "\n".join(lines + removed_interfaces() + [SIZEOF, "end module", ""])


def cptr_interface(routine, prefix):
    """Two specifics: an address as an integer, and as a C_PTR."""
    name = prefix + routine.name
    lines = [f"  interface {name}"] + interface(routine, name, False)
    other = opening(routine, name + "_CPTR", 4) + ["      import", "      implicit none"]
    other += [line.replace("integer(MPI_ADDRESS_KIND) :: size, baseptr", "integer(MPI_ADDRESS_KIND) :: size") for line in
              declarations(routine, False, 6)] + ["      type(starling_c_ptr) :: baseptr", closing(routine, 4)]
    return lines + [line for line in other if line.strip() != "integer(MPI_ADDRESS_KIND) :: baseptr"] + ["  end interface"]


def f08_module(routines, constants, callbacks):
    lines = [HEAD.format(what="The module mpi_f08"), "module mpi_f08", "  use, intrinsic :: iso_c_binding, only: c_ptr",
             "  use starling_mpi_types", "  implicit none", "  private :: c_ptr"]
    lines += constant_lines(constants, True) + [callbacks.rstrip()]
    for kind in ("Comm", "Type", "Win"):
        upper = f"MPI_{kind.upper()}"
        lines += [f"  procedure(MPI_{kind}_copy_attr_function) :: {upper}_NULL_COPY_FN, {upper}_DUP_FN",
                  f"  procedure(MPI_{kind}_delete_attr_function) :: {upper}_NULL_DELETE_FN"]
    lines += ["  procedure(MPI_Datarep_conversion_function) :: MPI_CONVERSION_FN_NULL",
              "  procedure(MPI_Datarep_conversion_function_c) :: MPI_CONVERSION_FN_NULL_C", "  interface"]
    mine = [r for r in routines if r.f08]
    for routine in mine:
        lines += interface(routine, routine.f08_specific, True)
    lines.append("  end interface")
    lines += [f"  procedure({r.f08_specific}) :: P{r.f08_specific}" for r in mine]
    specifics = {}
    for routine in mine:
        generic = routine.name + ("_c" if routine.large and routine.name in OWN_LARGE_NAME else "")
        specifics.setdefault(generic, []).append(routine.f08_specific)
    for generic, names in specifics.items():
        for prefix in ("", "P"):
            lines += pack([f"  interface {prefix}{generic}"] + wrap(f"procedure {', '.join(prefix + n for n in names)}", 4) +
                          ["  end interface"])
    return "\n".join(lines + [SIZEOF, "end module", ""])
