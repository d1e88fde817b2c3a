#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The kill matrix: where a rank ends x how x how many ranks; and the death of the launcher.

usage: deaths.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
A sample by default; all with STARLING_TESTS_FULL=1. Single times are asserted with much slack, the median of the
matrix without: bench/faults measures more. Standard library only.
"""
import itertools
import os
import pathlib
import re
import signal
import statistics
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, FULL, PATIENCE, JobCase, marked_processes  # noqa: E402

PROBE = str(BUILD / "tests/pmi_probe")
DOOMED = str(BUILD / "tests/np_doomed")
STUCK = str(BUILD / "tests/np_stuck")
CODES = {"exit0": 1, "exit7": 7, "kill": 137, "segv": 139, "stop": 147}
SAID = {"exit0": "exit code 0 without MPI_Finalize, ", "exit7": "exit code 7, ", "kill": "signal SIGKILL, ",
        "segv": "signal SIGSEGV, ", "stop": "stopped by signal SIGSTOP, "}
# Of a process that speaks PMI only, and of an MPI program. "after PMI init" is all that the launcher knows.
PMI_POINTS = ("before-put", "before-fence", "in-fence", "in-traffic")
MPI_POINTS = ("after-init", "at-wire-up", "in-traffic", "in-rendezvous", "in-collective", "in-nonblocking",
              "in-finalize")


def sample(cells):
    """All of them, or every eleventh: neighbours differ in all coordinates."""
    cells = list(cells)
    return cells if FULL else cells[::11]


class Matrix(JobCase):
    """A second is promised from the fault to the end of mpiexec. One value says little on a machine that others use,
    so the median of all cells is asserted, at half of that; of each cell, that nothing waits for a time-out."""
    ends = []

    @classmethod
    def tearDownClass(cls):
        print(f"from the fault to the end: median of {len(cls.ends)} cells "
              f"{statistics.median(cls.ends) if cls.ends else 0:.3f} s, at most {max(cls.ends, default=0):.3f} s")
        if cls.ends and statistics.median(cls.ends) >= 5:
            raise AssertionError(f"seconds from the fault to the end; who is told does not take so long: {cls.ends}")

    def expect_death(self, command, ranks, manner, phase):
        done = self.run_job("-n", ranks, *command, manner)
        self.assertIsNotNone(done.fault_to_end, f"no rank has met its fault: {done}")
        self.ends.append(done.fault_to_end)
        self.expect_end(done, CODES[manner], f"mpiexec: rank {ranks - 1} pid ", SAID[manner] + phase)

    def test_before_init(self):
        for ranks, manner in sample(itertools.product((2, 4, 32), ("exit7", "kill", "segv", "stop"))):
            for program in (PROBE, "die"), (DOOMED,):
                with self.subTest(ranks=ranks, manner=manner, program=program):
                    self.expect_death((*program, "before-init"), ranks, manner, "before PMI init")

    def test_at_the_process_manager(self):
        for ranks, point, manner in sample(itertools.product((2, 4, 32), PMI_POINTS, CODES)):
            with self.subTest(ranks=ranks, point=point, manner=manner):
                # The client may have left the fence that it gave up.
                phase = "" if point == "in-fence" else "after PMI init"
                self.expect_death((PROBE, "die", point), ranks, manner, phase)

    def test_in_mpi(self):
        for ranks, point, manner in sample(itertools.product((2, 4, 32), MPI_POINTS, CODES)):
            with self.subTest(ranks=ranks, point=point, manner=manner):
                self.expect_death((DOOMED, point), ranks, manner, "after PMI init")

    def test_after_finalize(self):
        for ranks, manner in sample(itertools.product((2, 4, 32), CODES)):
            with self.subTest(ranks=ranks, manner=manner):
                done = self.run_job("-n", ranks, DOOMED, "after-finalize", manner)
                self.assertEqual(done.code, 0 if manner == "exit0" else CODES[manner], done)
                self.assertEqual(done.err.count("\n"), 0 if manner == "exit0" else 1, done)

    def test_exit_0_without_contact_ends_the_job_only_where_somebody_waits(self):
        self.expect_ok("-n", 4, "sh", "-c", "test $PMI_RANK = 3 || sleep 0.3")
        for ranks, absent in ((2, 0), (2, 1), (4, 2)):
            done = self.run_job("-n", ranks, "sh", "-c",
                                f"test $PMI_RANK = {absent} || exec {DOOMED} nowhere kill")
            self.assertNotEqual(done.code, 0, done)
            self.assertIn(f"rank {absent} has ended", done.err, done)
            self.assertLess(done.seconds, PATIENCE, done)
            done = self.run_job("-n", ranks, "sh", "-c",
                                f"test $PMI_RANK = {absent} || exec {PROBE} exchange 100")
            self.expect_end(done, 1, f"mpiexec: rank {absent} pid ", "waits for it in a PMI barrier")


def sockets_of(pid):
    """The inodes of a process's sockets; those that it closes meanwhile are none."""
    found = set()
    try:
        for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            found |= set(re.findall(r"socket:\[(\d+)\]", os.readlink(link)))
    except OSError:
        pass
    return found


class Inherited(JobCase):
    def test_a_rank_gets_its_own_and_no_others(self):
        show = "for f in /proc/$$/fd/*; do readlink $f; done | sed 's/[0-9]//g' | sort | uniq -c"
        for ranks in (1, 16):
            out = self.expect_ok("-n", ranks, "-outfile-pattern", "/dev/stdout", "sh", "-c", show).out
            kinds = dict.fromkeys(re.findall(r"\d+ (.*)", out))
            self.assertEqual(len(re.findall(r"socket:", out)), ranks, out)
            for what in ("starling", "starling-plugins"):  # the segment, and the plugins' records
                self.assertEqual(len(re.findall(rf"memfd:{what} ", out)), ranks, out)
            self.assertEqual(re.findall(r" ([2-9]|\d\d) (?:socket|/memfd)", out), [], kinds)

    def test_nothing_listens(self):
        """No rank and no launcher can be reached from outside: no network socket, no named one."""
        process = self.start("-n", 2, PROBE, "wait")
        inodes, deadline = set(), time.monotonic() + PATIENCE
        while len(inodes) < 4 and time.monotonic() < deadline:  # both ends of two ranks' connections
            self.wait_for_processes(3)  # two ranks and the guard
            for pid in marked_processes():
                inodes |= sockets_of(pid)
        self.assertGreaterEqual(len(inodes), 4)
        for table in ("tcp", "tcp6", "udp", "udp6", "raw"):
            rows = [line.split() for line in pathlib.Path("/proc/net", table).read_text().splitlines()[1:]]
            self.assertEqual([row for row in rows if row[9] in inodes], [])
        named = [line.split() for line in pathlib.Path("/proc/net/unix").read_text().splitlines()[1:]]
        self.assertEqual([row for row in named if row[6] in inodes and len(row) > 7], [])
        process.terminate()
        self.finish(process)


@unittest.skipUnless(pathlib.Path(STUCK).exists(), "needs the examples")
class Launcher(JobCase):
    """The launcher is killed or stopped while ranks compute, sleep in MPI, or wait in a fence."""
    PROGRAMS = ((PROBE, "wait"), (STUCK, "receive"), (STUCK, "allreduce"), (DOOMED, "in-traffic", "stop"),
                ("sh", "-c", f"{STUCK} test; exit 0"), ("sh", "-c", "(setsid sleep 1000 &) ; sleep 1000; exit 0"))

    def test_killed(self):
        for ranks, program in itertools.product((2, 32) if FULL else (2,), self.PROGRAMS):
            with self.subTest(ranks=ranks, program=program):
                process = self.start("-n", ranks, "--allow-stop", *program)
                self.wait_for_processes(ranks)
                process.send_signal(signal.SIGKILL)
                begun = time.monotonic()
                process.wait()
                while marked_processes() and time.monotonic() < begun + PATIENCE:
                    time.sleep(0.02)
                took = time.monotonic() - begun
                process.communicate()
                self.assertEqual(marked_processes(), [])
                self.assertLess(took, PATIENCE, "ranks outlive their launcher")

    def test_stopped_launcher_stops_nothing_else(self):
        """A stopped launcher may go on: ranks work, and the job ends in order after SIGCONT."""
        process = self.start("-n", 2, DOOMED, "nowhere", "kill")
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(1.0)
        os.kill(process.pid, signal.SIGCONT)
        done = self.finish(process)
        self.assertEqual((done.code, done.err), (0, ""), done)

    def test_killed_while_stopped(self):
        process = self.start("-n", 4, STUCK, "receive")
        self.wait_for_processes(4)
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(0.2)
        process.kill()
        process.communicate()
        deadline = time.monotonic() + PATIENCE
        while marked_processes() and time.monotonic() < deadline:
            time.sleep(0.02)


if __name__ == "__main__":
    unittest.main()
