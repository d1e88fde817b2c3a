# SPDX-License-Identifier: BSD-3-Clause
"""Which file may include which. docs/design/ARCHITECTURE.md has the same as a picture."""
import posixpath
import re

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)

# A floor and those whose headers it may include.
FLOORS = {
    "core": {"core"},
    "params": {"core", "params"},
    "frameworks": {"core", "params", "frameworks"},
    "plugins": {"core", "params", "frameworks", "plugins"},
    "mpi": {"core", "params", "frameworks", "mpi"},
    "fortran": {"fortran"},  # a user of mpi.h, as any program is
    "tools": {"core", "params", "frameworks", "mpi", "tools"},
}
FRAMEWORK_USES = {"pmi": set(), "shm": set(), "btl": {"shm"}, "peer": {"btl"}, "pml": {"peer", "btl", "shm"},
                  "bootstrap": {"pmi", "shm", "btl"}}
# mpi/ from the bottom to the top: a folder includes itself and those before it. "": the files of mpi/ itself.
MPI = ("", "process", "info", "errhandler", "attribute", "datatype", "op", "session", "group", "coll", "hardware", "runtime",
       "comm", "request", "managed", "launch", "topology", "partitioned", "creation", "onesided", "world", "api")


def included(text):
    """Each include as (quote, target, line)."""
    for match in INCLUDE.finditer(text):
        yield match[1], match[2], text.count("\n", 0, match.start()) + 1


def mpi_folder(name):
    parts = name.split("/")
    return parts[1] if len(parts) > 2 else ""


def frameworks_allowed(name):
    """Frameworks that a file in frameworks/<fw>/ or plugins/<fw>/ may use; None: all (the selection in frameworks/)."""
    parts = name.split("/")
    if len(parts) < 3 or parts[1] not in FRAMEWORK_USES:
        return None
    return {parts[1]} | FRAMEWORK_USES[parts[1]]


def inside_mpi(name, target):
    if target.endswith(".gen.hpp"):
        return None
    here, there = mpi_folder(name), mpi_folder(target)
    for folder in (here, there):
        if folder not in MPI:
            return f"mpi/{folder}/ has no place in the order of mpi/'s folders (.ci/layers/arrows.py)"
    if MPI.index(there) > MPI.index(here):
        return f"mpi/{here} includes mpi/{there}, which is above it"
    return None


def forbidden(name, target):
    """Why `name` may not include `target`, or None."""
    floor, below = name.split("/")[0], target.split("/")[0]
    if floor not in FLOORS or below not in FLOORS:
        return None
    if below not in FLOORS[floor]:
        return f"{floor}/ includes {below}/, which is not below it"
    if below == "plugins" and target.split("/")[:3] != name.split("/")[:3]:
        return "a plugin includes another plugin"
    parts = target.split("/")
    if floor in ("frameworks", "plugins") and below == "frameworks" and len(parts) > 2:
        allowed = frameworks_allowed(name)
        if allowed is not None and parts[1] not in allowed:
            return f"this file may use the frameworks {', '.join(sorted(allowed))}, not {parts[1]}"
    if floor == below == "mpi":
        return inside_mpi(name, target)
    return None


def circle(arrows):
    """A circle in a graph {folder: folders}, as a list that begins and ends alike; empty if there is none."""
    done, path = set(), []

    def visit(folder):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return []
        path.append(folder)
        for below in sorted(arrows.get(folder, ())):
            if found := visit(below):
                return found
        done.add(path.pop())
        return []

    for folder in sorted(arrows):
        if found := visit(folder):
            return found
    return []


def check(texts, problem):
    """All rules on all files; returns the arrows between the folders of mpi/: {folder: folders that it includes}."""
    arrows = {}
    for name, text in texts.items():
        floor = name.split("/")[0]
        if floor not in FLOORS:
            continue
        here = posixpath.dirname(name)
        for quote, target, line in included(text):
            if posixpath.normpath(target) != target:
                problem(name, f'#include "{target}": write the path from the top of the sources, without a detour', line)
                continue
            if quote == '"' and (target.startswith(".") or target not in texts and posixpath.join(here, target) in texts):
                problem(name, f'#include "{target}": write the path from the top of the sources', line)
                continue
            if why := forbidden(name, target):
                problem(name, f'#include "{target}": {why}', line)
            there = posixpath.dirname(target)
            if target in texts and there != here and there.split("/")[0] == floor:
                arrows.setdefault(here, {}).setdefault(there, (name, line))
    for floor in FLOORS:
        graph = {folder: set(below) for folder, below in arrows.items() if folder.split("/")[0] == floor}
        if path := circle(graph):
            name, line = arrows[path[0]][path[1]]
            problem(name, f"folders include each other in a circle: {' -> '.join(path)}", line)
    return {folder: sorted(below) for folder, below in arrows.items() if folder.split("/")[0] == "mpi"}


def graph(arrows):
    """The folders of mpi/ from the bottom to the top, each with those that it includes, as lines."""
    below = {}
    for folder, targets in arrows.items():
        here = mpi_folder(folder + "/")
        below.setdefault(here, set()).update(mpi_folder(target + "/") for target in targets)
    for folder in MPI:
        others = sorted(below.get(folder, set()) - {folder}, key=MPI.index)
        yield f"mpi/{folder} -> {' '.join(other or '(mpi)' for other in others)}" if others else f"mpi/{folder}"
