# SPDX-License-Identifier: BSD-3-Clause
"""What each step of a program asks of the process manager (tests/np/servers/rows.c), beside the table of
docs/process-managers.md, which has a column for each. Standard library only.

A cell is the number of requests of a rank; `a-b` where node roots ask more than others; `a+` where questions are
repeated until the answer is there, so that time decides; `, 1 fence` where they are fences of all processes.
"""
import collections
import pathlib
import re

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/process-managers.md"
STEPS = {"session": "MPI_Session_init", "self": "a communicator of oneself", "node": "of the ranks of a node",
         "pair": "of two ranks on two nodes", "pair_again": "the same two, five times more", "all": "of everybody",
         "every_other": "of every other rank, five times", "init": "MPI_Init", "finalize": "MPI_Finalize",
         "session_again": "sessions closed and opened again"}


def documented(column):
    """{step: cell} of one column of the table."""
    lines = DOCUMENT.read_text().splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("| requests of a rank for"))
    names = [cell.strip() for cell in lines[head].strip("|").split("|")]
    rows = {}
    for line in lines[head + 2:]:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[cells[0]] = cells[names.index(column)]
    return {step: rows[title] for step, title in STEPS.items()}


def documented_start(server):
    """What the table of servers says of the requests of MPI_Init there: "7, node roots 8"."""
    cells = [line.strip("|").split("|") for line in DOCUMENT.read_text().splitlines() if line.startswith("| " + server + " |")]
    return cells[0][-1].strip()


def cell(requests, fences, expected):
    """What the table says of such counts, one of each rank."""
    low, high = min(requests), max(requests)
    least = re.match(r"(\d+)\+", expected)
    text = f"{low}" if low == high else f"{low}-{high}"
    if least and low >= int(least[1]):
        text = least[0]
    return text + (f", {fences[0]} fence" if fences[0] else "")


def check(case, column, start, program, sizes):
    """`start(ranks, program)` runs a job and returns (exit code, standard output, standard error)."""
    expected = documented(column)
    for ranks in sizes:
        code, out, err = start(ranks, program)
        case.assertEqual(code, 0, out + err)
        counts, fences = collections.defaultdict(list), collections.defaultdict(list)
        for step, asked, fenced in re.findall(r"row (\w+) (\d+) (\d+)", out):
            counts[step].append(int(asked))
            fences[step].append(int(fenced))
        case.assertEqual({step: len(each) for step, each in counts.items()}, dict.fromkeys(STEPS, ranks), out + err)
        seen = {}
        for step in STEPS:
            case.assertEqual(len(set(fences[step])), 1, f"{step}: fences of some ranks only: {fences[step]}")
            seen[step] = cell(counts[step], fences[step], expected[step])
        case.assertEqual(seen, expected, f"{column}, {ranks} ranks: docs/process-managers.md says otherwise")
