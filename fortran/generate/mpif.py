# SPDX-License-Identifier: BSD-3-Clause
"""mpif.h: valid in fixed and in free form, so no line is continued and none is longer than 72 columns."""

from modules import COPY_FNS, DELETE_FNS, OLD_FNS, OLD_SIZES, REMOVED, SENTINELS, TEXT_SENTINELS, value_of

HEAD = """\
! SPDX-License-Identifier: BSD-3-Clause
! mpif.h of MPI 5.0. Written at build time from mpi/tables.
"""


def parameter(kind, name, value):
    return [f"      {kind} {name}", f"      PARAMETER ({name}={value})"]


def mpif_h(constants):
    lines = HEAD.rstrip().splitlines()
    for name, value in (("MPI_ADDRESS_KIND", 8), ("MPI_COUNT_KIND", 8), ("MPI_OFFSET_KIND", 8), ("MPI_INTEGER_KIND", 4)):
        lines += parameter("INTEGER", name, value)
    for name, value in OLD_SIZES + REMOVED:
        lines += parameter("INTEGER", name, value)
    for name, kind, value in constants:
        lines += parameter("INTEGER(8)" if kind == "MPI_Offset" else "INTEGER", name, value_of(name, value))
    for name in ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"):
        lines += parameter("LOGICAL", name, ".FALSE.")
    lines += [f"      INTEGER {name}{shape}" for name, shape, _ in SENTINELS]
    lines += [f"      CHARACTER {name}{shape}" for name, shape in TEXT_SENTINELS]
    lines += [f"      COMMON /STARLING_MPI_SENTINELS/ {name}" for name, _, _ in SENTINELS]
    lines += [f"      COMMON /STARLING_MPI_TEXTS/ {name}" for name, _ in TEXT_SENTINELS]
    lines += ["      SAVE /STARLING_MPI_SENTINELS/", "      SAVE /STARLING_MPI_TEXTS/"]
    lines += [f"      EXTERNAL {name}" for name in COPY_FNS + DELETE_FNS + OLD_FNS + ("MPI_CONVERSION_FN_NULL",)]
    for kind, names in (("DOUBLE PRECISION", ("WTIME", "WTICK")), ("INTEGER(8)", ("AINT_ADD", "AINT_DIFF"))):
        for name in names:
            lines += [f"      {kind} MPI_{name}, PMPI_{name}", f"      EXTERNAL MPI_{name}, PMPI_{name}"]
    long = [line for line in lines if len(line) > 72]
    assert not long, long
    return "\n".join(lines) + "\n"
