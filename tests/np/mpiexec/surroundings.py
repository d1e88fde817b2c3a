#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Where jobs are started from: closed descriptors, limits, allocations of a site, a full disk.

usage: surroundings.py BUILD_DIRECTORY [-q] [CASE.test ...]      (unittest's own arguments follow the directory)
Standard library only.
"""
import itertools
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, MPIEXEC, SANITIZED, JobCase  # noqa: E402

DESCRIPTORS = str(BUILD / "tests/np_descriptors")
HELLO = str(BUILD / "examples/hello")
STREAMS = (0, 1, 2)


class Descriptors(JobCase):
    """Started by daemons and agents, without some of descriptors 0 to 2."""

    def start_without(self, closed, *command):
        closing = " ".join(f"{fd}{'<' if fd == 0 else '>'}&-" for fd in closed)
        return self.run_job("-c", f'exec "$@" {closing}', "sh", *command, launcher="sh")

    def reports(self, ranks):
        """Per rank, what each of its descriptors is and what using it gave."""
        found = []
        for rank in range(ranks):
            path = pathlib.Path(self.folder, f"is.{rank}")
            found.append([tuple(line.split(" ", 2)[1:]) for line in path.read_text().splitlines()])
            path.unlink()
        return found

    def test_no_rank_gets_a_descriptor_of_mpiexec(self):
        for count in range(4):
            for closed, label in itertools.product(itertools.combinations(STREAMS, count), ((), ("-l",))):
                with self.subTest(closed=closed, label=label):
                    done = self.start_without(closed, MPIEXEC, *label, "-n", 2, DESCRIPTORS, f"{self.folder}/is")
                    self.assertEqual(done.code, 0, done)
                    for rank, kinds in enumerate(self.reports(2)):
                        self.assertEqual(kinds[0], ("/dev/null", "works"))
                        for fd in (1, 2):
                            what, use = kinds[fd]
                            self.assertEqual(use, "works")
                            wanted = "pipe:" if label or fd not in closed else "/dev/null"
                            self.assertTrue(what.startswith(wanted), f"rank {rank}: descriptor {fd} is {what}")
                    said = {fd: 0 if fd in closed else 2 for fd in (1, 2)}
                    self.assertEqual((done.out.count("said\n"), done.err.count("said\n")), (said[1], said[2]), done)

    def test_mpiexec_keeps_no_socket_or_memory_there(self):
        # Behind -l mpiexec itself writes to 1 and 2, so they must not be anything of its own.
        done = self.start_without(STREAMS, MPIEXEC, "-l", "-n", 1, "sh", "-c",
                                  f"for fd in 0 1 2; do readlink /proc/$PPID/fd/$fd; done > {self.folder}/of-mpiexec")
        self.assertEqual(done.code, 0, done)
        path = pathlib.Path(self.folder, "of-mpiexec")
        self.assertEqual(path.read_text().split(), ["/dev/null"] * 3)
        path.unlink()

    def test_a_process_alone_keeps_no_socket_or_memory_there(self):
        for count in range(4):
            for closed in itertools.combinations(STREAMS, count):
                with self.subTest(closed=closed):
                    done = self.start_without(closed, DESCRIPTORS, f"{self.folder}/is")
                    self.assertEqual(done.code, 0, done)
                    for fd, (what, use) in enumerate(self.reports(1)[0]):
                        if fd in closed:
                            self.assertEqual((what, use), ("/dev/null", os.strerror(9)), f"descriptor {fd}")
                        else:
                            self.assertEqual(use, "works", f"descriptor {fd} is {what}")

    def test_a_rank_that_closed_its_own(self):
        script = f'exec {DESCRIPTORS} {self.folder}/is <&- >&- 2>&-'
        done = self.run_job("-n", 2, "sh", "-c", script)
        self.assertEqual(done.code, 0, done)
        self.assertEqual(self.reports(2), [[("/dev/null", os.strerror(9))] * 3] * 2)


class Limits(JobCase):
    """Started by shells and batch systems with limits."""

    def start_limited(self, limit, *command):
        return self.run_job("-c", f'ulimit {limit} && exec "$@"', "sh", *command, launcher="sh")

    def test_a_soft_limit_of_file_sizes_is_no_obstacle(self):
        done = self.start_limited("-Sf 100", MPIEXEC, "-n", 2, HELLO)
        self.assertEqual((done.code, done.out.count(" of 2 "), done.err), (0, 2, ""), done)
        done = self.start_limited("-Sf 100", MPIEXEC, "-n", 1, "sh", "-c", f"{HELLO}; ulimit -Sf")
        self.assertEqual(done.out.splitlines()[1:], ["100"], "the ranks keep the user's limit")
        done = self.start_limited("-Sf 100", HELLO)
        self.assertEqual((done.code, done.out.count(" of 1 "), done.err), (0, 1, ""), done)

    def test_a_hard_limit_of_file_sizes_is_named(self):
        # mpiexec may start what uses no MPI; processes of MPI say what they lack.
        self.assertEqual(self.start_limited("-f 100", MPIEXEC, "-n", 2, "true").code, 0)
        for command in ((MPIEXEC, "-n", 2, HELLO), (HELLO,)):
            done = self.start_limited("-f 100", *command)
            self.assertGreater(done.code, 0, done)
            self.assertLess(done.code, 128, f"no signal: {done}")
            self.assertRegex(done.err, r"limited to (51200|102400) bytes \(ulimit -f\).*; needed: \d+ bytes\. Raise", done)

    @unittest.skipIf(SANITIZED, "sanitizers reserve more address space than any such limit")
    def test_a_limit_of_address_space_is_named(self):
        for command in ((MPIEXEC, "-n", 2, HELLO), (HELLO,)):
            done = self.start_limited("-v 40000", *command)
            self.assertEqual(done.code, 38, done)
            self.assertRegex(done.err, r"cannot map \d+ bytes .* limited to 40960000 bytes \(ulimit -v\), of which \d+ are in "
                                       r"use; needed: \d+\. Raise that limit", done)


if __name__ == "__main__":
    unittest.main()
