# SPDX-License-Identifier: BSD-3-Clause
"""The exported functions: checks and conversions of the arguments, then the call of the implementation."""

from rules import (COMMUNICATION, brings_handler, in_place, is_named, length_of, needs_topology, on_file, provides_buffer, received_count,
                   rule_of)

HEAD = """\
// SPDX-License-Identifier: BSD-3-Clause
// Entry points of the chapter "{chapter}". Written at build time from mpi/tables.
#include "mpi/api/entry.hpp"
#include "mpi/api.gen.hpp"
#define MPIX_WEAK
#include "mpix.h"

using namespace starling::mpi;         // NOLINT: this file only defines C functions
using namespace starling::mpi::check;  // NOLINT

"""
EXPORT = '__attribute__((visibility("default")))'
HOT = {"MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Test", "MPI_Wait"}  # which each message makes
HOLD = {"none": "Hold::none", "big": "Hold::when_enabled", "force": "Hold::always"}
# Window or communicator first (it gives the error handler), then what the significance of other arguments depends on.
ORDER = ["win", "win_or_null", "comm", "comm_or_null", "session", "group", "root", "info", "info_or_null", "op", "errhandler",
         "datatype", "datatype_or_null", "datatype_committed", "count", "count_int", "length", "counts",
         "displacements", "datatypes", "dest", "source", "tag", "any_tag", "buffer"]


def implementation_signature(item, rules, suffix=""):
    inside = []
    for parameter, rule in zip(item.main.parameters, rules):
        kind = rule.type.replace(" &", "& ") if rule.type.endswith("&") else \
            rule.type.replace(" *", "* ") if rule.type.endswith("*") else rule.type + " "
        inside.append(f"{kind}{parameter.name}{rule.array}")
    if is_named(item.main):
        inside.append("const char* function")
    return f"{item.main.returns} {item.name}{suffix}({', '.join(inside)})"


def guarded(condition, lines):
    if not condition:
        return lines
    return [f"if ({condition}) {{"] + ["  " + line for line in lines] + ["}"]


def fail_if(condition, call):
    return [f"if ({condition}) [[unlikely]] return {call};"]


def fail_with(call, guard=""):
    """A check that gives the code itself."""
    return f"if (int code = 0; {guard}(code = {call}) != 0) [[unlikely]] return code;"


def object_lines(rule, kind, name):
    """Looks an object up; where it is not significant a stand-in takes its place."""
    lookup = f"find_{kind}({name})"
    stand_in = {"datatype": "MPI_BYTE", "op": "MPI_SUM"}.get(kind)
    bad = f'bad_handle(Kind::{kind}, "{name}", as_bits({name}))'
    if rule.when:
        lines = [f"const bool {name}_counts = {rule.when};",
                 f"auto* const {name}_ = find_{kind}({name}_counts ? {name} : {stand_in});"]
        return lines + fail_if(f"{name}_ == nullptr", bad)
    return [f"auto* const {name}_ = {lookup};"] + fail_if(f"{name}_ == nullptr", bad)


def datatype_of(function, parameter):
    """The datatype whose elements a count of a large twin, or an array of them, is of; or None."""
    behind = function.parameters[function.parameters.index(parameter):]
    large = parameter.type.removeprefix("const ") == "MPI_Count" and function.chapter in COMMUNICATION
    return next((p.name for p in behind if p.type == "MPI_Datatype" and not p.array), None) if large else None


def countable_lines(function, parameter, guard):
    """Of a large twin: the bytes of so many elements are a number of 63 bits."""
    datatype = datatype_of(function, parameter)
    if datatype is None:
        return []
    return fail_if(f"{guard}!countable({parameter.name}, *{datatype}_)",
                   f'uncountable("{parameter.name}", {parameter.name}, *{datatype}_)')


def check_lines(function, parameter, rule):
    """(lines of checks, argument for the implementation) of one parameter."""
    name = parameter.name
    quoted = f'"{name}"'
    if rule.name in ("comm", "group", "op", "errhandler", "session", "win", "datatype", "datatype_committed"):
        kind = rule.name.replace("_committed", "")
        lines = object_lines(rule, kind, name)
        if kind in ("comm", "session", "win"):
            lines.append(f"call.on(Kind::{kind}, as_bits({name}));")
        if kind == "comm" and needs_topology(function):
            lines += fail_if(f"!has_topology(*{name}_)", "no_topology()")
        if kind == "group":
            lines.append(f"call.on_session_of(*{name}_);")
        if kind == "errhandler" and brings_handler(function):
            wanted = f"Kind::{brings_handler(function)}"
            lines += fail_if(f"!{name}_->fits({wanted})", f"wrong_errhandler({quoted}, {wanted})")
        if rule.name == "datatype_committed":
            lines += fail_if(f"!committed(*{name}_)", f"not_committed({quoted}, *{name}_)")
        return lines, f"*{name}_"
    if rule.name == "info":
        return object_lines(rule, "info", name), f"*{name}_"
    if rule.name.endswith("_or_null"):
        kind, null = rule.name.removesuffix("_or_null"), f"{parameter.type.upper()}_NULL"
        lines = [f"auto* const {name}_ = {name} == {null} ? nullptr : find_{kind}({name});"]
        lines += fail_if(f"{name}_ == nullptr && {name} != {null}",
                         f"bad_handle(Kind::{kind}, {quoted}, as_bits({name}))")
        return lines + ([f"call.on(Kind::{kind}, as_bits({name}));"] if kind == "comm" else []), f"{name}_"
    if rule.name in ("count", "count_int"):
        if received_count(function, name):
            buffer = provides_buffer(function)
            lines = [fail_with(f'bad_received_count({quoted}, {name}, {buffer})', f"{name} < 0 && ")]
            return lines + countable_lines(function, parameter, ""), name
        guard = f"{rule.when} && " if rule.when else ""
        lines = fail_if(f"{guard}{name} < 0", f"bad_count({quoted}, {name})")
        lines += countable_lines(function, parameter, guard)
        return lines, f"({rule.when}) ? {name} : 0" if rule.when else name
    if rule.name == "requests":
        count = next(p.name for p in function.parameters if p.name in ("count", "incount"))
        return fail_if(f"{name} == nullptr && {count} > 0", f"null_argument({quoted})"), name
    if rule.name == "length":
        return fail_if(f"{name} < 0", f"bad_length({quoted}, {name})"), name
    if rule.name == "value":
        return [], name
    if rule.name in ("counts", "displacements", "datatypes"):
        extent = length_of(function, name)
        check = {"counts": "bad_counts", "displacements": "bad_array", "datatypes": "bad_types"}[rule.name]
        guard = f"{rule.when} && " if rule.when else ""
        counts = f"{name.replace('types', 'counts')}, " if rule.name == "datatypes" else ""
        datatype = datatype_of(function, parameter) if rule.name == "counts" else None
        of = f", *{datatype}_" if datatype else ""
        return [fail_with(f"{check}({quoted}, {name}, {counts}{extent}{of})", guard)], name
    if rule.name in ("dest", "source", "root"):
        return fail_if(f"!valid_{rule.name}({name}, *comm_)",
                       f"bad_{rule.name}({quoted}, {name}, *comm_)"), name
    if rule.name in ("tag", "any_tag"):
        wild = "true" if rule.name == "any_tag" else "false"
        return fail_if(f"!valid_tag({name}, {wild})", f"bad_tag({quoted}, {name}, {wild})"), name
    if rule.name == "buffer":
        return buffer_lines(function, parameter, rule), name
    if rule.name in ("nonnull", "out"):
        return fail_if(f"{name} == nullptr", f"null_argument({quoted})"), name
    if rule.name == "inout":
        return inout_lines(parameter), name
    if rule.name in ("out_count", "inout_count"):
        start = f"*{name}" if rule.name == "inout_count" else "0"
        lines = fail_if(f"{name} == nullptr", f"null_argument({quoted})")
        return lines + [f"MPI_Count {name}_ = {start};"], f"&{name}_"
    return [], name


def inout_lines(parameter):
    kind = {"MPI_Comm *": "comm", "MPI_Group *": "group", "MPI_Datatype *": "datatype", "MPI_Op *": "op",
            "MPI_Errhandler *": "errhandler", "MPI_Info *": "info",
            "MPI_Session *": "session", "MPI_Win *": "win"}[parameter.type]
    name = parameter.name
    lines = fail_if(f"{name} == nullptr", f'null_argument("{name}")')
    lines += fail_if(f"find_{kind}(*{name}) == nullptr",
                     f'bad_handle(Kind::{kind}, "{name}", as_bits(*{name}))')
    if kind in ("comm", "session", "win"):
        lines.append(f"call.on(Kind::{kind}, as_bits(*{name}));")
    if kind == "group":
        lines.append(f"call.on_session_of(*find_group(*{name}));")
    return lines


def buffer_lines(function, parameter, rule):
    """A null buffer, or a small constant, is looked at closely; all others pass with one compare."""
    names = [p.name for p in function.parameters]
    index = names.index(parameter.name)
    count = next((n for n in names[index + 1:] if n.endswith("count")), None)
    datatype = next((n for n in names[index + 1:] if n.endswith("type")), None)
    allowed = in_place(function, parameter.name) or "false"
    if count and needs_topology(function):
        count = f"{'sent' if parameter.name == 'sendbuf' else 'received'}(*comm_, {count})"
    extent = f"{count}, {datatype}_" if count and datatype else "0, nullptr"
    guard = f"{rule.when} && " if rule.when else ""
    check = f'bad_buffer("{parameter.name}", {parameter.name}, {extent}, {allowed})'
    if parameter.name == provides_buffer(function):
        return []  # managed_lines() looks at it, after everything else
    return [fail_with(check, f"suspicious({parameter.name}) && {guard}")]


def null_allowed(function):
    """Where a null address asks the library for a buffer, too: docs/design/managed-buffers.md."""
    return "true" if function.short in ("Irecv", "Irecv_c") else "false"


def managed_lines(item, function, arguments):
    """A receive whose buffer the library provides goes another way: the others pay nothing for it, since the addresses that
    mean so are among those that are looked at closely."""
    buffer = provides_buffer(function)
    if not buffer:
        return []
    names = [p.name for p in function.parameters]
    count, datatype = (next(n for n in names[names.index(buffer):] if n.endswith(end)) for end in ("count", "type"))
    inside = [f"if (asks_library({buffer}, {count}, *{datatype}_, {null_allowed(function)}))",
              f"  return api::{item.name}_managed({', '.join(arguments)});",
              fail_with(f'bad_buffer("{buffer}", {buffer}, {count}, {datatype}_, false)')]
    return [f"if (suspicious({buffer})) [[unlikely]] {{"] + ["  " + line for line in inside] + ["}"]


def narrow_lines(function, parameter):
    name = parameter.name
    if parameter.type != "int *":
        return [f"*{name} = {name}_;"]
    undefined = "true" if name in ("count", "size", "lb", "extent") else "false"
    return [fail_with(f'narrow("{name}", {name}_, {name}, {undefined})')]


def check_order(function, rule):
    """The handler that the call brings comes first: with a wrong one nobody else can be asked."""
    if rule.name == "errhandler" and brings_handler(function):
        return -1
    return ORDER.index(rule.name) if rule.name in ORDER else len(ORDER)


def opening_lines(function):
    lines = fail_if("!active()", "not_active()") if function.when == "active" else []
    if on_file(function):
        lines.append(f"call.on(Kind::file, as_bits({on_file(function)}));")
    return lines


def normal_body(item, function, exceptions):
    rules = [rule_of(function, item, i, exceptions) for i in range(len(function.parameters))]
    checked = [(p, r, *check_lines(function, p, r)) for p, r in zip(function.parameters, rules)]
    ranked = sorted(checked, key=lambda c: check_order(function, c[1]))
    lines = opening_lines(function)
    for _, _, checks, _ in ranked:
        lines += checks
    arguments = [argument for *_, argument in checked] + ([f'"{function.name}"'] if is_named(function) else [])
    call = f"api::{item.name}({', '.join(arguments)})"
    lines += managed_lines(item, function, arguments)
    outs = [p for p, r, *_ in checked if r.name in ("out_count", "inout_count")]
    if not outs:
        return lines + [f"return {call};"]
    lines += [f"const int result = {call};", "if (result != MPI_SUCCESS) [[unlikely]] return result;"]
    for parameter in outs:
        lines += narrow_lines(function, parameter)
    return lines + ["return MPI_SUCCESS;"]


def uncovered_body(function):
    """Raised on the object of the call, if it has a valid one."""
    lines = opening_lines(function)
    for parameter in function.parameters:
        kind = {"MPI_Comm": "comm", "MPI_Session": "session", "MPI_Win": "win"}.get(parameter.type)
        if kind and not on_file(function):
            lines.append(f"call.on(Kind::{kind}, as_bits({parameter.name}));")
            break
    return lines + ["return not_covered();"]


def silence(function):
    return "".join(f"  (void){p.name};\n" for p in function.parameters)


def entry(item, function, names, exceptions):
    is_covered = item.name in names
    if function.entry != "normal":
        arguments = ", ".join(p.name for p in function.parameters)
        if is_covered:
            text = f"  return api::{item.name}({arguments});\n" if function.entry == "direct" else \
                f"  return tool_call([&] {{ return api::{item.name}({arguments}); }});\n"
        else:
            text = silence(function) + ("  return MPI_T_ERR_NOT_SUPPORTED;\n" if function.entry == "tool"
                                        else "  return {};\n")
    else:
        body = normal_body(item, function, exceptions) if is_covered else uncovered_body(function)
        inner = "\n".join("    " + line for line in body)
        own = brings_handler(function)
        text = (silence(function) if not is_covered else "") + \
            (f'  HotCall call("{function.name}");\n' if function.name.removesuffix("_c") in HOT
             else f'  Call call("{function.name}", {HOLD[function.lock]});\n') + \
            (f"  const CallHandler own(call, errhandler, Kind::{own});\n" if own else "") + \
            f"  return call.run([&]() -> int {{\n{inner}\n  }});\n"
    alias = function.signature("MPI_")
    return (f'extern "C" {EXPORT} {function.signature("PMPI_")} {{\n{text}}}\n'
            f'extern "C" {EXPORT} {alias} __attribute__((weak, alias("{function.twin}")));\n')


def entry_file(chapter, items, names, exceptions):
    parts = [HEAD.format(chapter=chapter)]
    for item in items:
        for function in item.functions:
            if function.chapter == chapter:
                parts.append(entry(item, function, names, exceptions) + "\n")
    return "".join(parts)


def names(functions):
    lines = ["// SPDX-License-Identifier: BSD-3-Clause", "#pragma once",
             "/// @file  The names of all functions, for messages: one that the tables do not have does not compile. Written at",
             "/// build time.", "", "namespace starling::mpi::names {", ""]
    lines += [f'inline constexpr char {function.short}[] = "{function.name}";' for function in functions]
    return "\n".join(lines + ["", "}  // namespace starling::mpi::names", ""])


def declarations(items, exceptions):
    lines = ["// SPDX-License-Identifier: BSD-3-Clause", "#pragma once",
             "/// @file  What mpi/api implements, as the entry points call it. Written at build time.",
             "", '#include "mpi/handles.hpp"', '#include "mpi/int_array.hpp"', '#include "mpi/names.gen.hpp"', '#include "mpi.h"', "",
             "namespace starling::mpi::api {", ""]
    for item in items:
        rules = [rule_of(item.main, item, i, exceptions) for i in range(len(item.main.parameters))]
        lines.append(implementation_signature(item, rules) + ";")
        if provides_buffer(item.main):
            lines.append(implementation_signature(item, rules, "_managed") + ";")
    return "\n".join(lines + ["", "}  // namespace starling::mpi::api", ""])
