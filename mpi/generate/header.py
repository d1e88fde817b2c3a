# SPDX-License-Identifier: BSD-3-Clause
"""mpi.h: the header of the MPI-5 standard ABI. C90, C11, C++98 and later; no comment but C's."""

import re
from dataclasses import replace

from model import HANDLES, TOOL_HANDLES

TOP = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* The C interface of MPI 5.0 in the standard ABI. Written at build time from mpi/tables. */
#ifndef MPI_H_ABI
#define MPI_H_ABI

/* What a compiler has to say of casts and null pointers in these constants is not about the program that names
 * them. -DSTARLING_CHECK_MPI_H: it says it all the same. */
#if defined(__GNUC__) && !defined(STARLING_CHECK_MPI_H)
#pragma GCC system_header
#endif

#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

typedef struct {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int MPI_internal[5];
} MPI_Status;
"""

BOTTOM = """
#if defined(__cplusplus)
}
#endif

#ifndef STARLING_STANDARD_NAMES_ONLY
#include "starling_mpi_old.h"
#endif

#endif /* MPI_H_ABI */
"""

def struct_name(handle):
    return "MPI_ABI_" + handle[len("MPI_"):]


def constant(row):
    name, kind, value = row["constant"], row["kind"], row["value"]
    if kind in ("macro int", "enum int"):
        return f"#define {name} {value if not value.startswith('-') else '(' + value + ')'}"
    if kind == "alias":
        return f"#define {name} {value}"
    if value.startswith("-"):
        value = f"({value})"
    space = " " if "*" in kind else ""
    kind = re.sub(r"(\w)(\*+)$", r"\1 \2", kind) if space else kind
    return f"#define {name} (({kind}){value})"


def enum_types(constants):
    """The two MPI_T types that the ABI makes enumerations."""
    kinds = {}
    for row in constants:
        if row["kind"].startswith("enum ") and row["kind"] != "enum int":
            kinds.setdefault(row["kind"][len("enum "):], []).append(row)
    for kind, rows in kinds.items():
        body = ",\n".join(f"  {row['constant']} = {row['value']}" for row in rows)
        yield f"typedef enum {kind} {{\n{body}\n}} {kind};\n"


def prototype(function, prefix):
    """What MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY may stand for is written as a pointer, which is the same type:
    an array has one element at least, so compilers would warn users that there is none at address 10."""
    parameters = [replace(p, type=f"{p.type} *", array="") if p.name.endswith("weights") and p.array else p
                  for p in function.parameters]
    return replace(function, parameters=parameters).signature(prefix)


def mpi_h(functions, constants, callbacks):
    lines = [TOP]
    for handle in list(HANDLES.values()) + TOOL_HANDLES:
        lines.append(f"typedef struct {struct_name(handle)} *{handle};")
    lines.append("")
    lines.extend(enum_types(constants))
    for row in callbacks:
        lines.append(f"typedef {row['typedef']};")
    lines.append("")
    for row in constants:
        if row["kind"] in ("macro int", "enum int", "alias") or not row["kind"].startswith("enum "):
            lines.append(constant(row))
    lines.append("")
    for prefix in ("MPI_", "PMPI_"):
        lines.extend(f"{prototype(function, prefix)};" for function in functions)
        lines.append("")
    lines.append(BOTTOM)
    return "\n".join(lines)
