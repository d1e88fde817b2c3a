#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""PMI-1 and PMI-2 on several nodes: each of Starling's two clients under Hydra and under Slurm's pmi2 plugin.

usage: pmi.py BUILD_DIRECTORY [-v] [CASE.test ...]
What is not installed is skipped, and says so. STARLING_TESTS_FULL=1: 100 jobs in a row instead of 10. Standard library
only.
"""
import collections
import concurrent.futures
import os
import shutil
import unittest

import managers  # takes the build directory out of sys.argv
import nodes

BUILD, KIN = managers.BUILD, managers.KIN
RING = str(BUILD / "examples/ring")
JOBS = 100 if os.environ.get("STARLING_TESTS_FULL", "0") == "1" else 10


class Pmi(managers.Manager):
    """More of what holds under each."""

    client = ""
    requests = {"PMI puts": (1, 1), "PMI fences": (1, 1)}
    constant = ("PMI operations",)

    def run_job(self, per_node, *command, **params):
        return super().run_job(per_node, *command, pmi=self.client, **params)

    def expect_ranks(self, done, size, times=1):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = collections.Counter(filter(None, done.stdout.splitlines()))
        self.assertEqual(lines, collections.Counter({f"rank {rank} of {size}": times for rank in range(size)}), done)

    def test_64_ranks(self):
        self.expect_ranks(self.run_job(32, KIN, "rank"), 64)

    def test_ring(self):
        done = self.run_job(2, RING, "20")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("20 rounds over 4 ranks: 80 hops", done.stdout)

    def test_programs_of_tests_mpi(self):
        programs = [*sorted((BUILD / "tests/mpi").glob("mpi_session_*")), BUILD / "tests/mpi/mpi_coll_allreduce",
                    BUILD / "tests/mpi/mpi_coll_bcast"]
        programs = [program for program in programs if program.is_file() and program.name not in managers.PROGRAMS]
        self.assertGreater(len(programs), 8)
        for program in programs:
            with self.subTest(program=program.name):
                done = self.run_job(2, str(program))
                self.assertIn(done.returncode, (0, 77), done.stdout + done.stderr)

    def test_threads_with_different_groups(self):
        """A fence of the world beside names: how the threads meet at the process manager differs each time."""
        for per_node in (2, 2, 2, 8, 8):
            done = self.run_job(per_node, str(BUILD / "tests/mpi/mpi_session_overlapping_groups"))
            self.assertIn(done.returncode, (0, 77), done.stdout + done.stderr)

    def test_1000_sessions(self):
        self.expect_ranks(self.run_job(2, KIN, "rank", "again", "1000"), 4)

    def test_jobs_in_a_row(self):
        for _ in range(JOBS):
            self.expect_ranks(self.run_job(1, KIN, "rank"), 2)

    def test_jobs_at_once(self):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            jobs = [pool.submit(self.run_job, 2, KIN, "rank") for _ in range(8)]
        for job in jobs:
            self.expect_ranks(job.result(), 4)

    def test_killed_in_init(self):
        # Hydra does not always end a job whose rank dies so early; then the others do, after this time.
        done = self.run_job(2, KIN, "rank", "die", "starting", bootstrap_timeout="10")
        self.assertNotEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("its limit", done.stderr, "the others wait for ever")


@unittest.skipUnless(shutil.which("mpiexec.hydra"), "needs mpiexec.hydra (MPICH's launcher)")
@unittest.skipUnless(managers.network(), "needs btl/ucx or btl/ofi")
@unittest.skipIf(nodes.possible(), nodes.possible())
class HydraPmi1(Pmi, unittest.TestCase):
    client = "pmi1"
    server = "PMI 1.1"
    column = "Hydra PMI-1"
    row = "Hydra, PMI 1.1"
    codes = {"abort": (7,), "kill": range(1, 256), "exit": range(1, 256)}  # survivors may notice first

    def start(self, per_node, *command, env):
        return self.nodes.run(per_node, *command, env=env)


class HydraPmi2(HydraPmi1):
    client = "pmi2"
    server = "PMI 2.0 (chosen by pmi=pmi2)"
    column = "Hydra PMI-2"
    row = "Hydra, PMI 2.0"
    codes = {**HydraPmi1.codes, "abort": (255,)}  # Hydra 4.0 has no abort in PMI-2: it ends the job as it can


@managers.slurm_case
class SlurmPmi1(managers.Slurm, Pmi, unittest.TestCase):
    client = "pmi1"
    mpi = "pmi2"
    server = "PMI 1.1"
    column = "Slurm PMI-1"
    row = "Slurm pmi2, PMI 1.1"
    codes = {how: range(1, 256) for how in ("abort", "kill", "exit")}  # this plugin cancels the step at an abort


class SlurmPmi2(SlurmPmi1):
    client = "pmi2"
    server = "PMI 2.0 (chosen by pmi=pmi2)"
    column = "Slurm PMI-2"
    row = "Slurm pmi2, PMI 2.0"


if __name__ == "__main__":
    unittest.main()
