#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a start costs a rank on one node does not grow with the job: counted, not timed.

usage: one_node.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow)
The kernel counts for the whole tree of processes: page faults, and how often a process gave its core away (sleeps and
yields). Ranks that yielded, and woke ten times a second, while others were started did so for a time in proportion to
the job: 21 times at 1,024 ranks on one core, 5 times at 64. Standard library only.
"""
import os
import pathlib
import resource
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
FEW, MANY = 64, 1024
RUNS = 3


def start(ranks):
    """{figure: count of one rank}: of a start and an end, all processes together."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([BUILD / "bin/mpiexec", "-n", str(ranks), BUILD / "bench/bench_mpi_startup"], text=True,
                          capture_output=True, timeout=300, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise AssertionError(f"{ranks} ranks: exit code {done.returncode}\n{done.stderr}")
    return {"page faults": (after.ru_minflt - before.ru_minflt) / ranks,
            "sleeps": (after.ru_nvcsw - before.ru_nvcsw) / ranks}


class Growth(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Fewer cores than ranks in any machine. Others can only add to a count: the least of some runs is it.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        cls.counts = {ranks: [start(ranks) for _ in range(RUNS)] for ranks in (FEW, MANY)}

    def least(self, ranks, figure):
        return min(run[figure] for run in self.counts[ranks])

    def test_pages(self):
        self.assertLess(self.least(MANY, "page faults"), 1.04 * self.least(FEW, "page faults"), self.counts)

    def test_sleeps(self):
        self.assertLess(self.least(MANY, "sleeps"), 2 * self.least(FEW, "sleeps") + 4, self.counts)


if __name__ == "__main__":
    unittest.main()
