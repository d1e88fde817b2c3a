# SPDX-License-Identifier: BSD-3-Clause
"""The columns of a table about messages: Starling's policies and the other MPIs, on one node or on two.

A column is (start, options): start(program, *options) is the command that runs bench/<program>.c there, and `options` are
the program's own in this column, as for the memory of its buffers.
"""
import sys
import time

from . import figures, machine, mpis

SHARED = ("--memory", "shared")


def policies(prefix):
    """{name: (parameters, options of the program)} of what this Starling has."""
    parameters, _ = machine.execute([prefix / "bin/starling-info", "--params-page"], None, 30)
    found = {
        "starling": ({"pml": "static"}, ()),
        "starling-dynamic": ({"pml": "dynamic"}, ()),
        "starling-static-shared": ({"pml": "static"}, SHARED),
        "starling-dynamic-shared": ({"pml": "dynamic"}, SHARED),
        "starling-popcount-shared": ({"pml": "dynamic", "pml_dynamic_policy": "popcount"}, SHARED),
    }
    if "pml_early_push" in parameters:
        found["starling-no-push"] = ({"pml": "static", "pml_early_push": "off"}, ())
    if (prefix / "include/mpix.h").exists():
        found["starling-managed"] = ({"pml": "static"}, ("--managed",))
        found["starling-dynamic-managed"] = ({"pml": "dynamic"}, ("--managed",))
    return found


def on_one_node(prefix, out, ranks):
    """Columns of this machine: Starling under its own mpiexec, and the MPIs that are installed."""
    there, _ = mpis.found(prefix, [])
    by_name = {mpi.name: mpi for mpi in there}

    def starter(mpi, *mca):
        def start(program, *options):
            built = mpis.build(out / mpi.builds_with, mpi.wrapper, program)
            return [*mpi.launch, "-n", ranks, *mca, built, *options]
        return start
    columns = {}
    for name, (parameters, options) in policies(prefix).items():
        mca = [word for parameter, value in parameters.items() for word in ("--mca", parameter, value)]
        columns[name] = (starter(by_name["starling"], *mca), options)
    columns.update({name: (starter(mpi), ()) for name, mpi in by_name.items() if name != "starling"})
    return columns


def on_nodes(launch, mpi, options=()):
    """A column of the nodes of a Launch, for one of its MPIs."""
    return lambda program, *others: launch.command(mpi, program, *others), options


def on_two_nodes(launch, prefix, transport):
    """Columns of the two nodes of a Launch."""
    columns = {name: on_nodes(launch, launch.starling(transport, **parameters), options)
               for name, (parameters, options) in policies(prefix).items()}
    columns["openmpi"] = on_nodes(launch, launch.openmpi())
    columns["mpich"] = on_nodes(launch, launch.mpich())
    return columns


def chosen(columns, only):
    """Those whose names a text has, separated by commas; without one all."""
    names = only.split(",") if only else columns
    unknown = [name for name in names if name not in columns]
    if unknown:
        raise SystemExit(f"no column '{unknown[0]}'; there are {', '.join(columns)}")
    return {name: columns[name] for name in names}


def interleave(columns, jobs, repeats, limit_s=90):
    """Figures of all jobs in all columns, which take turns. jobs: [(size in the table or None, program, options)]. What
    fails in a column is not tried there again, and is a note of the result's."""
    machine.end_in_order()
    result = figures.Figures()
    failed = set()
    for repeat in range(repeats):
        for size, program, options in jobs:
            for name, (start, own) in columns.items():
                if (name, size, program, options) in failed:
                    continue
                begun = time.monotonic()
                text, problem = machine.execute(start(program, *own, *options), None, limit_s)
                if problem:
                    failed.add((name, size, program, options))
                    result.notes.append(" ".join(map(str, (f"{name}:", program, *options))) + f": {problem}")
                    print(f"{name}: {problem}", file=sys.stderr)
                take(result, name, size, text)
                print(f"repeat {repeat + 1} of {repeats}: {program} {' '.join(map(str, options))} {name} "
                      f"{time.monotonic() - begun:.1f} s", file=sys.stderr)
    return result


def take(result, name, size, text):
    """Lines of a program into the figures. What comes first is a row for each number, whatever the size."""
    units = {line.split()[0]: line.split()[3] for line in text.splitlines() if len(line.split()) == 4}
    for (figure, number), value in machine.parse(text).items():
        if figure.startswith("first-"):
            result.add(name, f"{figure} {number}", size or 0, value, units[figure])
        else:
            result.add(name, figure, number if size is None else size, value, units[figure])
