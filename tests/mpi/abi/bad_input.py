#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a C program that calls each covered function with one wrong argument at a time.

usage: bad_input.py GENERATOR_FOLDER TABLES API_FOLDER OUTPUT

Which argument is checked how comes from the rules of the entry points; which class must come out is
stated here. Every other argument of the call is valid, so only the wrong one can be what is reported.
"""

import sys
from pathlib import Path

TOP = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* One wrong argument at a time for every covered function. Written at build time. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

static int wrong, calls;
static void expect(const char *call, int code, int expected) {
  ++calls;
  if (code == expected) return;
  ++wrong;
  printf("%s returned %d, expected %d\\n", call, code, expected);
}
static long long buffer[64], scratch[512];
static int ints[64];
static MPI_Count counts[64];
static MPI_Datatype types[4], no_types[4]; /* the latter all null */
static long long minus[64];                 /* all bits set: -1 in every width */
static MPI_Comm grid;                       /* two neighbours, both this process */
"""

# A value for an argument that is not under test.
GOOD = {
    "comm": "MPI_COMM_WORLD", "group": "group", "datatype": "MPI_INT", "datatype_committed": "MPI_INT",
    "op": "MPI_SUM",
    "errhandler": "MPI_ERRORS_RETURN", "session": "session", "info": "info", "info_or_null": "MPI_INFO_NULL",
    "count": "1", "count_int": "1", "value": "0", "dest": "0", "source": "0", "root": "0", "tag": "0",
    "any_tag": "0",
    "buffer": "buffer", "out_count": "(void *)scratch", "inout_count": "(void *)scratch",
}
JUNK = ["0x0000123456789abc", "0x12345678ffffffff", "0x3ff", "0x1"]
HANDLES = {  # rule: (type, null, expected class)
    "comm": ("MPI_Comm", "MPI_COMM_NULL", "MPI_ERR_COMM"),
    "group": ("MPI_Group", "MPI_GROUP_NULL", "MPI_ERR_GROUP"),
    "datatype": ("MPI_Datatype", "MPI_DATATYPE_NULL", "MPI_ERR_TYPE"),
    "datatype_committed": ("MPI_Datatype", "MPI_DATATYPE_NULL", "MPI_ERR_TYPE"),
    "op": ("MPI_Op", "MPI_OP_NULL", "MPI_ERR_OP"), "info": ("MPI_Info", "MPI_INFO_NULL", "MPI_ERR_INFO"),
    "errhandler": ("MPI_Errhandler", "MPI_ERRHANDLER_NULL", "MPI_ERR_ERRHANDLER"),
    "session": ("MPI_Session", "MPI_SESSION_NULL", "MPI_ERR_SESSION"),
}


def asks_topology(function):
    """The communicator must have a topology; one that only a few functions make use of has none."""
    makes = function.short.endswith(("_create", "_create_adjacent", "_map")) or function.short == "Topo_test"
    return function.chapter in ("topology", "coll_neighborhood") and not makes


def bad_values(function, rule):
    if rule.name in HANDLES:
        kind, null, error = HANDLES[rule.name]
        yield null, error
        if rule.name == "comm" and asks_topology(function):
            yield "MPI_COMM_WORLD", "MPI_ERR_TOPOLOGY"
        for junk in JUNK:
            yield f"({kind})(uintptr_t){junk}", error
    if rule.name == "info_or_null":
        for junk in JUNK:
            yield f"(MPI_Info)(uintptr_t){junk}", "MPI_ERR_INFO"
    if rule.name in ("counts", "displacements", "datatypes"):
        yield "NULL", "MPI_ERR_ARG"
    simple = {"counts": ("(void *)minus", "MPI_ERR_COUNT"), "datatypes": ("no_types", "MPI_ERR_TYPE"),
              "length": ("-1", "MPI_ERR_ARG"), "count": ("-1", "MPI_ERR_COUNT"),
              "count_int": ("-1", "MPI_ERR_COUNT"), "dest": ("1000000", "MPI_ERR_RANK"),
              "source": ("-7", "MPI_ERR_RANK"), "root": ("1000000", "MPI_ERR_ROOT"),
              "tag": ("-2", "MPI_ERR_TAG"),
              "any_tag": ("-3", "MPI_ERR_TAG"), "nonnull": ("NULL", "MPI_ERR_ARG"),
              "out": ("NULL", "MPI_ERR_ARG"),
              "inout": ("NULL", "MPI_ERR_ARG"), "out_count": ("NULL", "MPI_ERR_ARG"),
              "inout_count": ("NULL", "MPI_ERR_ARG"), "buffer": ("MPI_BUFFER_AUTOMATIC", "MPI_ERR_BUFFER")}
    if rule.name in simple:
        yield simple[rule.name]


def good_value(function, parameter, rule):
    if rule.name == "comm" and asks_topology(function):
        return "grid"
    if parameter.array == "[][3]":
        return "(int (*)[3])ints"
    if parameter.array:
        base = {"int": "ints", "MPI_Count": "counts", "MPI_Aint": "(MPI_Aint *)counts",
                "MPI_Datatype": "types"}
        return base.get(parameter.type.replace("const ", ""), "NULL")
    if rule.name in GOOD:
        return GOOD[rule.name]
    if parameter.type == "const char *":
        return '"text"'
    if "_function" in parameter.type or parameter.type in ("char **", "char ***"):
        return "NULL"
    if parameter.type.endswith("*"):
        return "(void *)scratch"
    handle = {"MPI_Win": "MPI_WIN_NULL", "MPI_File": "MPI_FILE_NULL", "MPI_Request": "MPI_REQUEST_NULL",
              "MPI_Message": "MPI_MESSAGE_NULL"}
    return handle.get(parameter.type, "0")


def calls_of(item, function, exceptions, rule_of):
    rules = [rule_of(function, item, i, exceptions) for i in range(len(function.parameters))]
    for position, rule in enumerate(rules):
        for value, error in bad_values(function, rule):
            arguments = [value if i == position else good_value(function, p, r)
                         for i, (p, r) in enumerate(zip(function.parameters, rules))]
            name = function.parameters[position].name
            call = f"{function.name}({', '.join(arguments)})"
            yield f'  expect("{function.name}: {name} = {value}", {call}, {error});'


def main(arguments):
    generator, tables, api_folder, output = arguments
    sys.path.insert(0, generator)
    import model  # noqa: E402  (found in the folder that was given)
    from coverage import covered
    from rules import Exceptions, rule_of
    functions = model.read_functions(tables)
    names, exceptions = covered(api_folder), Exceptions(tables)
    skip = ("Init", "Finalize", "Abort")  # cannot be called in the middle
    blocks = []
    for item in model.implementations(functions):
        if item.name not in names:
            continue
        for function in item.functions:
            if function.entry == "normal" and not function.short.startswith(skip):
                lines = list(calls_of(item, function, exceptions, rule_of))
                if lines:
                    blocks.append((function.short, lines))
    text = [TOP]
    for short, lines in blocks:
        text += [f"static void test_{short}(MPI_Group group, MPI_Session session, MPI_Info info) {{",
                 "  (void)group; (void)session; (void)info;", *lines, "}"]
    text += ["int main(void) {", "  MPI_Group group;", "  MPI_Session session;", "  MPI_Info info;",
             "  int i;",
             "  const int one = 1;",
             "  MPI_Init(NULL, NULL);",
             "  for (i = 0; i < 4; ++i) { types[i] = MPI_INT; no_types[i] = MPI_DATATYPE_NULL; }",
             "  for (i = 0; i < 64; ++i) minus[i] = -1;",
             "  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);",
             "  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);",
             "  MPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &grid);",
             "  MPI_Comm_group(MPI_COMM_WORLD, &group);", "  MPI_Info_create(&info);",
             "  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);"]
    text += [f"  test_{short}(group, session, info);" for short, _ in blocks]
    text += ["  MPI_Session_finalize(&session);", "  MPI_Info_free(&info);", "  MPI_Group_free(&group);",
             "  MPI_Finalize();",
             '  printf("%d calls, %d wrong\\n", calls, wrong);', "  return wrong != 0;", "}", ""]
    Path(output).write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
