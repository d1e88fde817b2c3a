# SPDX-License-Identifier: BSD-3-Clause
"""The table of docs/performance.md: some rows of every area's tables, copied from the page that has them."""
import os
import re

from .page import Page

NAME = "summary"
HEAD = ["| | Starling | best peer | Starling / best peer | Starling / floor | taken |", "|---|---|---|---|---|---|"]
# Table, and the beginnings of the names of its rows.
ROWS = (
    ("startup", ("launch+init+fin. np 2 ", "launch+init+fin. np 64 ", "launch+init+fin. np 1024 ")),
    ("memory", ("private per rank np 2 ", "private per rank np 64 ")),
    ("latency", ("latency 8 [", "latency 4 KiB", "latency 64 KiB", "latency 1 MiB")),
    ("rate", ("rate 1 ", "rate 4 ")),
    ("bandwidth", ("bandwidth 4 KiB", "bandwidth 64 KiB", "bandwidth 1 MiB", "bibandwidth 1 MiB")),
    ("exchange", ("exchange 8 [", "exchange 64 KiB", "exchange 1 MiB")),
    ("cluster", ("latency 8 [", "latency 64 KiB", "bandwidth 256 KiB")),
    ("threads", ("rate-multiple 1 ", "latency-multiple 1 ", "rate-own 4 ", "latency-shared 4 ")),
    ("cg", ("cg 8 ", "cg 32 ", "cg 64 ")),
    ("amr", ("amr 0 ",)),
    ("halo", ("all 128 KiB", "all 256 KiB")),
    ("collectives", ("barrier np 2 ", "allreduce np 2 8 ", "allreduce np 8 64 KiB", "alltoall np 16 8 ")),
    ("collectives-nodes-peers", ("4x4 barrier", "4x4 bcast 8 ", "4x4 allreduce 64 KiB", "4x4 alltoall 1 KiB")),
    ("crowded", ("ring np 16 ", "ring np 64 ", "allreduce np 64 ")),
    ("layouts", ("send/vector", "send/face-z", "send/record")),
    ("onesided", ("put+flush/allocate 8 [", "fetch_and_op/allocate", "put+flush/create 8 [", "put+fence np 16 ")),
    ("onesided-nodes", ("put+flush/allocate 8 [", "get+flush/allocate", "accumulate-computing/allocate")),
)


def line_of(link, row, taken):
    ours = next(column for column in row if column.startswith("starling"))
    ratio = next(column for column in row if column.endswith("/ best peer"))
    floor = next(column for column in row if column.endswith("/ floor"))
    value, best = re.match(r"(\S+)(?: \((\S+)\))?", row[ratio]).groups()
    peer = f"{row[best].split()[0]} ({best})" if best else "-"
    return f"| {link} {row['']} | {row[ours].split()[0]} | {peer} | {value} | {row[floor]} | {taken} |"


def lines(page, paths):
    """What belongs into the summary on that page, from what the tables say now."""
    made = list(HEAD)
    for name, beginnings in ROWS:
        source = Page.of(name, paths)
        link = f"[{name}]({os.path.relpath(source.path, page.path.parent)}):"
        taken = source.lines[source.span(name)[0] + 1].split(",")[0]
        for beginning in beginnings:
            found = [row for row in source.rows(name) if row.get("", "").startswith(beginning)]
            if len(found) != 1:
                raise ValueError(f"{source.path}: table '{name}' has {len(found)} rows that begin with '{beginning}', "
                                 "expected one")
            made.append(line_of(link, found[0], taken))
    return made


def is_current(page, paths):
    begin, end = page.span(NAME)
    return page.lines[begin + 1:end] == lines(page, paths)


def write(path, paths):
    page = Page(path)
    page.replace(NAME, lines(page, paths))
    page.save()
