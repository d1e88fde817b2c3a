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
/* One wrong argument at a time for every covered function. Written at build time.
 *
 * bad_input         all of them under MPI_ERRORS_RETURN: class, and a text with function, argument and value
 * bad_input fatal   one of each function under the handlers that MPI starts with, each in a process of its
 *                   own, which must end with that text and an exit code */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int wrong, calls;
static int only = -1, turns; /* -1: all calls are made, else this one */
static int turn(void) {
  const int mine = turns++;
  return only == -1 || only == mine;
}
static int told(const char *text, const char *function, const char *argument, const char *value) {
  const char *at = strstr(text, function);
  return at != NULL && strstr(at, argument) != NULL && strstr(at, value) != NULL;
}
static void expect(const char *function, const char *argument, const char *value, int code, int expected) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  ++calls;
  PMPI_Error_string(code, text, &length); /* not counted by profile/once */
  if (code == expected && told(text, function, argument, value)) return;
  ++wrong;
  printf("%s: %s = %s returned %d, expected %d: %s\\n", function, argument, value, code, expected, text);
}
static void add(void *in, void *out, int *n, MPI_Datatype *type) {
  (void)in; (void)out; (void)n; (void)type;
}
static MPI_Comm freed_comm;
static MPI_Group freed_group;
static MPI_Datatype freed_type, new_type; /* the latter not committed */
static MPI_Op freed_op;
static MPI_Info freed_info;
static MPI_Errhandler freed_errhandler;
static MPI_Session freed_session;
static MPI_Win window, freed_window;
static MPI_Request junk_request, freed_request, requests[4]; /* the latter all null */
static MPI_Message junk_message;
static long long buffer[64], scratch[512];
static int ints[64];
static MPI_Count counts[64];
static int ones[64];
static MPI_Count one_each[64], huge[64]; /* the latter of 2^64 bytes each, of MPI_INT */
static MPI_Datatype types[4], no_types[4]; /* the latter all null */
static long long minus[64];                 /* all bits set: -1 in every width */
static MPI_Comm grid;                       /* two neighbours, both this process */
static MPI_Errhandler on_error;             /* the handler of everything */
"""

BOTTOM = """\
static void keep(MPI_Comm *comm, int *code, ...) { (void)comm; (void)code; }
static void make_freed(void) {
  static int number;
  void *memory;
  MPI_Group group;
  MPI_Comm_dup(MPI_COMM_SELF, &freed_comm);
  MPI_Comm_group(freed_comm, &group);
  freed_group = group;
  MPI_Type_contiguous(3, MPI_INT, &freed_type);
  MPI_Type_contiguous(3, MPI_INT, &new_type);
  MPI_Op_create(add, 1, &freed_op);
  MPI_Info_create(&freed_info);
  MPI_Comm_create_errhandler(keep, &freed_errhandler);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &freed_session);
  MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &freed_window);
  MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &window);
  MPI_Win_set_errhandler(window, on_error);
  MPI_Irecv(&number, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &freed_request);
  MPI_Comm comm = freed_comm;
  MPI_Datatype type = freed_type;
  MPI_Op op = freed_op;
  MPI_Info info = freed_info;
  MPI_Errhandler errhandler = freed_errhandler;
  MPI_Session session = freed_session;
  MPI_Win win = freed_window;
  MPI_Request request = freed_request;
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
  MPI_Info_free(&info);
  MPI_Errhandler_free(&errhandler);
  MPI_Session_finalize(&session);
  MPI_Win_free(&win);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  junk_request = (MPI_Request)(uintptr_t)0x123456789abc;
  junk_message = (MPI_Message)(uintptr_t)0x123456789abc;
}
static int run(int fatal) {
  MPI_Group group;
  MPI_Session session;
  MPI_Info info;
  const int one = 1;
  MPI_Init(NULL, NULL);
  for (int i = 0; i < 4; ++i) { types[i] = MPI_INT; no_types[i] = MPI_DATATYPE_NULL; requests[i] = MPI_REQUEST_NULL; }
  for (int i = 0; i < 64; ++i) { minus[i] = -1; ones[i] = 1; one_each[i] = 1; huge[i] = (MPI_Count)1 << 62; }
  on_error = fatal ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN;
  MPI_File_set_errhandler(MPI_FILE_NULL, on_error); /* the one that does not begin with being fatal */
  if (!fatal) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  }
  MPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &grid);
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Info_create(&info);
  MPI_Session_init(MPI_INFO_NULL, on_error, &session);
  make_freed();
  test_all(group, session, info);
  MPI_Win_free(&window);
  MPI_Session_finalize(&session);
  MPI_Info_free(&info);
  MPI_Group_free(&group);
  MPI_Finalize();
  return wrong != 0;
}
/* The call must end the process; what it says comes through a pipe. */
static int check_fatal(int which) {
  char text[4096];
  size_t length = 0;
  ssize_t got;
  int ends[2], status = 0;
  if (pipe(ends) != 0) return 0;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    close(ends[0]);
    only = firsts[which].turn;
    run(1);
    _exit(0);
  }
  close(ends[1]);
  while ((got = read(ends[0], text + length, sizeof text - 1 - length)) > 0) length += (size_t)got;
  text[length] = '\\0';
  close(ends[0]);
  waitpid(child, &status, 0);
  const int ended = WIFEXITED(status) && WEXITSTATUS(status) != 0;
  if (ended && told(text, firsts[which].function, firsts[which].argument, firsts[which].value)) return 1;
  printf("%s%s = %s: status 0x%x, said: %s\\n", firsts[which].function, firsts[which].argument,
         firsts[which].value, status, text);
  return 0;
}
int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "fatal") == 0) {
    const int all = (int)(sizeof firsts / sizeof *firsts);
    for (int i = 0; i < all; ++i) wrong += !check_fatal(i);
    printf("%d functions, %d wrong\\n", all, wrong);
    return wrong != 0;
  }
  const int code = run(0);
  printf("%d calls, %d wrong\\n", calls, wrong);
  return code;
}
"""
# Covered functions that take anything, or whose values are wrong by rules of their own: tests/mpi/env and
# topology/dims have those.
NOTHING_WRONG = ("Abi_set_fortran_booleans", "Dims_create", "File_call_errhandler", "Free_mem", "Pcontrol",
                 "Remove_error_class", "Remove_error_code", "Remove_error_string")
# A value for an argument that is not under test.
GOOD = {
    "comm": "MPI_COMM_WORLD", "comm_or_null": "MPI_COMM_NULL", "datatype_or_null": "MPI_DATATYPE_NULL",
    "group": "group", "datatype": "MPI_INT", "datatype_committed": "MPI_INT",
    "op": "MPI_SUM", "win": "window", "win_or_null": "MPI_WIN_NULL",
    "errhandler": "on_error", "session": "session", "info": "info", "info_or_null": "MPI_INFO_NULL",
    "count": "1", "count_int": "1", "value": "0", "dest": "0", "source": "0", "root": "0", "tag": "0",
    "any_tag": "0",
    "buffer": "buffer", "out_count": "(void *)scratch", "inout_count": "(void *)scratch",
}
JUNK = ["0x0000123456789abc", "0x12345678ffffffff", "0x3ff", "0x1"]
HANDLES = {  # rule: (type, null, one that has been freed, expected class)
    "comm": ("MPI_Comm", "MPI_COMM_NULL", "freed_comm", "MPI_ERR_COMM"),
    "group": ("MPI_Group", "MPI_GROUP_NULL", "freed_group", "MPI_ERR_GROUP"),
    "datatype": ("MPI_Datatype", "MPI_DATATYPE_NULL", "freed_type", "MPI_ERR_TYPE"),
    "datatype_committed": ("MPI_Datatype", "MPI_DATATYPE_NULL", "freed_type", "MPI_ERR_TYPE"),
    "op": ("MPI_Op", "MPI_OP_NULL", "freed_op", "MPI_ERR_OP"),
    "info": ("MPI_Info", "MPI_INFO_NULL", "freed_info", "MPI_ERR_INFO"),
    "errhandler": ("MPI_Errhandler", "MPI_ERRHANDLER_NULL", "freed_errhandler", "MPI_ERR_ERRHANDLER"),
    "session": ("MPI_Session", "MPI_SESSION_NULL", "freed_session", "MPI_ERR_SESSION"),
    "win": ("MPI_Win", "MPI_WIN_NULL", "freed_window", "MPI_ERR_WIN"),
}
# What the text says of such a value.
SAID = {"(void *)minus": "-1", "no_types": "MPI_DATATYPE_NULL", "MPI_COMM_WORLD": "comm has no ",
        "new_type": "committed", "junk_request": "request is not a ", "&junk_request": "live request",
        "&freed_request": "live request", "&junk_message": "matched message", "MPI_ANY_TAG": "-2",
        "(MPI_Count)1 << 62": str(1 << 62), "huge": str(1 << 62)}
MOVING = ("pt2pt", "partitioned", "coll_blocking", "coll_nonblocking", "coll_persistent", "coll_neighborhood", "rma", "op")
TAKES_REQUEST = ("Wait", "Test", "Cancel", "Request_free", "Start")


def asks_topology(function):
    """The communicator must have a topology; one that only a few functions make use of has none."""
    makes = function.short.endswith(("_create", "_create_adjacent", "_map")) or function.short == "Topo_test"
    return function.chapter in ("topology", "coll_neighborhood") and not makes


def bad_counts(function, parameter, rule):
    """Whatever the rules say of it: of elements that are moved or worked on."""
    behind = function.parameters[function.parameters.index(parameter):]
    elements = any(p.type == "MPI_Datatype" and not p.array for p in behind) and parameter.name.endswith("count")
    if function.chapter not in MOVING or parameter.type not in ("int", "MPI_Count") or parameter.array or not elements:
        return
    if rule.name not in ("count", "count_int"):
        yield "-1", "MPI_ERR_COUNT"
    if parameter.type == "MPI_Count":  # of MPI_INT: 2^64 bytes
        yield "(MPI_Count)1 << 62", "MPI_ERR_COUNT"


def bad_values(function, parameter, rule):
    if rule.name in HANDLES:
        kind, null, freed, error = HANDLES[rule.name]
        yield null, error
        yield freed, error
        if rule.name == "comm" and asks_topology(function):
            yield "MPI_COMM_WORLD", "MPI_ERR_TOPOLOGY"
        for junk in JUNK:
            yield f"({kind})(uintptr_t){junk}", error
    if rule.name == "datatype_committed":
        yield "new_type", "MPI_ERR_TYPE"
    if parameter.type == "MPI_Request *" and function.short in TAKES_REQUEST:
        yield "&junk_request", "MPI_ERR_REQUEST"
        yield "&freed_request", "MPI_ERR_REQUEST"
    if parameter.type == "MPI_Request" and not function.short.startswith("Request_to"):
        yield "&junk_request" if parameter.array else "junk_request", "MPI_ERR_REQUEST"
    if parameter.type == "MPI_Message *" and function.short in ("Mrecv", "Imrecv"):
        yield "&junk_message", "MPI_ERR_REQUEST"
    if rule.name.endswith("_or_null"):
        kind, _, freed, error = HANDLES[rule.name.removesuffix("_or_null")]
        yield freed, error
        for junk in JUNK:
            yield f"({kind})(uintptr_t){junk}", error
    if rule.name in ("counts", "displacements", "datatypes") or parameter.name == "array_of_requests":
        yield "NULL", "MPI_ERR_ARG"
    if rule.name == "counts" and parameter.type.endswith("MPI_Count") and function.chapter in MOVING:
        yield "huge", "MPI_ERR_COUNT"
    yield from bad_counts(function, parameter, rule)
    simple = {"counts": ("(void *)minus", "MPI_ERR_COUNT"), "datatypes": ("no_types", "MPI_ERR_TYPE"),
              "length": ("-1", "MPI_ERR_ARG"), "count": ("-1", "MPI_ERR_COUNT"),
              "count_int": ("-1", "MPI_ERR_COUNT"), "dest": ("1000000", "MPI_ERR_RANK"),
              "source": ("-7", "MPI_ERR_RANK"), "root": ("1000000", "MPI_ERR_ROOT"),
              "tag": ("MPI_ANY_TAG", "MPI_ERR_TAG"),
              "any_tag": ("-3", "MPI_ERR_TAG"), "nonnull": ("NULL", "MPI_ERR_ARG"),
              "out": ("NULL", "MPI_ERR_ARG"),
              "inout": ("NULL", "MPI_ERR_ARG"), "out_count": ("NULL", "MPI_ERR_ARG"),
              "inout_count": ("NULL", "MPI_ERR_ARG"), "buffer": ("MPI_BUFFER_AUTOMATIC", "MPI_ERR_BUFFER")}
    if rule.name in simple and not (parameter.name == "recvbuf" and "exscan" in function.short.lower()):
        yield simple[rule.name]  # rank 0 of MPI_Exscan, which this process is, receives nothing


def good_value(function, parameter, rule):
    if rule.name == "comm" and asks_topology(function):
        return "grid"
    if parameter.array == "[][3]":
        return "(int (*)[3])ints"
    if parameter.array:
        base = {"int": "ints", "MPI_Count": "counts", "MPI_Aint": "(MPI_Aint *)counts",
                "MPI_Datatype": "types", "MPI_Request": "requests"}
        return base.get(parameter.type.replace("const ", ""), "NULL")
    if rule.name in GOOD:
        return GOOD[rule.name]
    if parameter.type == "const char *":
        return '"text"'
    if parameter.type.startswith("MPI_User_function"):
        return f"({parameter.type})add"
    if "_function" in parameter.type or parameter.type in ("char **", "char ***"):
        return "NULL"
    if parameter.type.endswith("*"):
        return "(void *)scratch"
    handle = {"MPI_Win": "MPI_WIN_NULL", "MPI_File": "MPI_FILE_NULL", "MPI_Request": "MPI_REQUEST_NULL",
              "MPI_Message": "MPI_MESSAGE_NULL"}
    return handle.get(parameter.type, "0")


def value_beside(wrong, function, parameter, rule):
    """Of an argument that is not under test: a type that nothing is said to be of is not looked at."""
    if wrong == "no_types" and parameter.array and parameter.name.endswith("counts"):
        return "ones" if parameter.type.endswith("int") else "one_each"
    return good_value(function, parameter, rule)


def said(value):
    """What must be in the text: the value as it was given."""
    if "uintptr_t" in value:
        return hex(int(value.split(")")[-1], 16))
    return "freed" if value.startswith("freed_") else SAID.get(value, value)


def calls_of(item, function, exceptions, rule_of):
    rules = [rule_of(function, item, i, exceptions) for i in range(len(function.parameters))]
    for position, rule in enumerate(rules):
        for value, error in bad_values(function, function.parameters[position], rule):
            arguments = [value if i == position else value_beside(value, function, p, r)
                         for i, (p, r) in enumerate(zip(function.parameters, rules))]
            name = function.parameters[position].name
            if value == "huge" and "alltoallw" in function.short.lower():
                name = name.replace("counts", "types")  # each of which is looked at with its count
            call = f"{function.name}({', '.join(arguments)})"
            yield (f'  if (turn()) expect("{function.name}", "{name}", "{said(value)}", '
                   f'{call}, {error});', name, said(value))


def main(arguments):
    generator, tables, api_folder, output = arguments
    sys.path.insert(0, generator)
    import model  # noqa: E402  (found in the folder that was given)
    from coverage import covered
    from rules import Exceptions, rule_of
    functions = model.read_functions(tables)
    names, exceptions = covered(api_folder), Exceptions(tables)
    skip = ("Init", "Finalize", "Abort")  # cannot be called in the middle
    blocks, unchecked = [], []
    for item in model.implementations(functions):
        if item.name not in names:
            continue
        for function in item.functions:
            if function.entry == "normal" and not function.short.startswith(skip):
                lines = list(calls_of(item, function, exceptions, rule_of))
                if lines:
                    blocks.append((function.short, lines))
                elif function.parameters:
                    unchecked.append(function.short)
    unexpected = sorted(set(unchecked) - set(NOTHING_WRONG))
    if unexpected:  # so no function is missed when it becomes covered
        sys.exit(f"bad_input.py: no wrong argument is known for {', '.join(unexpected)}")
    text = [TOP]
    for short, lines in blocks:
        text += [f"static void test_{short}(MPI_Group group, MPI_Session session, MPI_Info info) {{",
                 "  (void)group; (void)session; (void)info;", *(line for line, _, _ in lines), "}"]
    text += ["static void test_all(MPI_Group group, MPI_Session session, MPI_Info info) {"]
    text += [f"  test_{short}(group, session, info);" for short, _ in blocks]
    text += ["}", "static const struct { int turn; const char *function, *argument, *value; } firsts[] = {"]
    turns = 0
    for short, lines in blocks:
        text.append(f'  {{{turns}, "MPI_{short}: ", "{lines[0][1]}", "{lines[0][2]}"}},')
        turns += len(lines)
    text += ["};", BOTTOM]
    Path(output).write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
