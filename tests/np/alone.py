# SPDX-License-Identifier: BSD-3-Clause
"""Sessions that begin while no other rank has (tests/np/servers/alone.c), under any launcher, and what they send.

`start(folder, ranks, *command)` runs a job and returns (exit code, standard output, standard error). `where`: a folder that
all nodes see.
"""
import collections
import pathlib
import re
import shutil
import tempfile

SENDS = ("sendto", "sendmsg", "sendmmsg", "write", "writev", "connect")


class Trace:
    """What one process has sent between opening a session and having it."""

    def __init__(self, text):
        self.sent, self.connected, phase = [], [], None
        for line in text.splitlines():
            mark = re.search(r'write\(-1, "phase (\w+)"', line)
            if mark:
                phase = mark[1]
            call = re.match(r"(?:\d+ +)?(\w+)\((\d+)(?:<(.*?)>)?, (.*)", line)
            if mark or phase != "begin" or call is None or call[1] not in SENDS:
                continue
            if call[1] == "connect":
                self.connected.append(call[4])
            elif "socket" in (call[3] or "") or call[1].startswith("send"):
                self.sent.append(call[4])

    def elsewhere(self):
        """Connections that leave this machine, or lead to a network address that is not loopback's."""
        return [where for where in self.connected
                if "AF_INET" in where and "127.0.0.1" not in where and "::1" not in where]


def in_turns(case, program, start, ranks, where=None):
    """Each rank has its session before the next one begins."""
    with tempfile.TemporaryDirectory(prefix="starling-alone-", dir=where) as folder:
        code, out, err = start(folder, ranks, program, folder)
        case.assertEqual(code, 0, out + err)
        case.assertEqual(collections.Counter(filter(None, out.splitlines())),
                         collections.Counter(f"rank {rank}" for rank in range(ranks)), err)


def traced(case, program, start, ranks, where=None):
    """The traces of all processes, which have run in turns too."""
    if shutil.which("strace") is None:
        case.skipTest("needs strace")
    with tempfile.TemporaryDirectory(prefix="starling-alone-", dir=where) as folder:
        wrap = ("sh", "-c", f'exec strace -f -y -qq -e trace={",".join(SENDS)} -o {folder}/trace.$$ "$@"', "sh")
        code, out, err = start(folder, ranks, *wrap, program, folder)
        case.assertEqual(code, 0, out + err)
        traces = [Trace(path.read_text()) for path in pathlib.Path(folder).glob("trace.*")]
        case.assertEqual(len(traces), ranks)
        return traces


def constant(case, program, start, few, many, where=None):
    """Opening a session sends equally much in jobs of both sizes, on every rank, and to this machine only."""
    counts = set()
    for ranks in (few, many):
        for trace in traced(case, program, start, ranks, where):
            case.assertEqual(trace.elsewhere(), [])
            counts.add(len(trace.sent))
    case.assertEqual(len(counts), 1, f"messages of one MPI_Session_init: {counts}")
    return counts.pop()
