# SPDX-License-Identifier: BSD-3-Clause
"""The score of all runs whose results lie in build/mutate/results, and the file in which it is kept."""
import json
import math
import pathlib

import explained


def folder_of(path):
    """plugins/btl of plugins/btl/shm/lane.hpp; mpi of mpi/error.cpp."""
    parts = pathlib.PurePath(path).parts
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def too_few(caught, counted, wanted, by_chance):
    """Whether fewer were caught than the part `wanted`, and tests that catch that part would catch so few in less than
    the part `by_chance` of all samples of this size."""
    if caught >= wanted * counted:
        return False
    chance = sum(math.comb(counted, k) * wanted**k * (1 - wanted)**(counted - k) for k in range(caught + 1))
    return chance < by_chance


def entries(results):
    return [json.loads(line) for line in pathlib.Path(results).read_text().splitlines()]


def key_of(entry):
    return explained.key_of(entry["path"], entry["old"], entry["new"])


def text(found, known):
    """Lines for people: each change counts once; at first sight, and as it is now (tests added, or explained)."""
    found = [entry for entry in found if entry["word"] in ("caught", "SURVIVED")]
    first, now = {}, {}
    for entry in found:
        first.setdefault(key_of(entry), entry["word"])
        now[key_of(entry)] = entry["word"]
    rows = {}
    for key, word in first.items():
        row = rows.setdefault(folder_of(key[0]), [0, 0, 0, 0])
        row[0] += 1
        row[1] += word == "caught"
        row[2] += now[key] == "caught"
        row[3] += now[key] != "caught" and key in known
    total = [sum(row[column] for row in rows.values()) for column in range(4)]
    seeds = ", ".join(sorted({entry["seed"] for entry in found}))
    commits = ", ".join(dict.fromkeys(entry["commit"] for entry in found))
    lines = ["# Written by `tests/mutate/mutate --score` from the results of runs: folder, changes, caught when they were",
             "# first made, caught with the tests that were added for survivors, explained (tests/mutate/explained).",
             f"seeds {seeds}", f"commits {commits}"]
    lines += [" ".join(["folder", folder, *map(str, row)]) for folder, row in sorted(rows.items())]
    return "\n".join([*lines, " ".join(["total", *map(str, total)])]) + "\n"
