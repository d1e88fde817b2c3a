#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on several nodes, made of namespaces, under process managers other than Hydra (run.py): Open MPI's mpirun.

usage: managers.py BUILD_DIRECTORY [-v] [CASE.test ...]
What is not installed is skipped, and says so. Standard library only.
"""
import collections
import pathlib
import shutil
import sys
import unittest

import nodes

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
SANITIZED = "-fsanitize" in (BUILD / "CMakeCache.txt").read_text()
KIN = str(BUILD / "tests/np_kin")
STENCIL = str(BUILD / "examples/stencil3d")
PROGRAMS = ("mpi_session_subsets", "mpi_session_concurrent_tags", "mpi_session_with_world", "mpi_session_again",
            "mpi_comm_inter_groups")
# Each of these makes communicators of groups in another way.
MODES = ({}, {"async_modex": "1"}, {"bootstrap": "flat"}, {"bootstrap_group_mode": "lookup"})


def network():
    return next((name for name in ("ucx", "ofi") if (BUILD / f"lib/starling/btl_{name}.so").exists()), None)


@unittest.skipIf(SANITIZED, "libpmix is not built with sanitizers")
@unittest.skipUnless(shutil.which("mpirun.openmpi"), "needs mpirun.openmpi (Open MPI's launcher)")
@unittest.skipUnless((BUILD / "lib/starling/pmi_pmix.so").exists(), "pmi/pmix was not built")
@unittest.skipUnless(network(), "needs btl/ucx or btl/ofi")
@unittest.skipIf(nodes.possible(), nodes.possible())
class Mpirun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.nodes = nodes.Cluster(2)
        cls.addClassCleanup(cls.nodes.close)

    def run_job(self, per_node, *command, **params):
        params = {"btl": f"self,shm,{network()}", "bootstrap_timeout": "60", **params}
        env = {"STARLING_MCA_" + name: value for name, value in params.items()}
        return self.nodes.run(per_node, *command, env=env, launcher="mpirun")

    def test_ranks_and_nodes(self):
        done = self.run_job(2, KIN, "rank", startup_report="1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(collections.Counter(done.stdout.splitlines()),
                         collections.Counter(f"rank {rank} of 4" for rank in range(4)))
        self.assertIn("4 processes, PMIx ", done.stderr)
        self.assertIn(f"addresses are published by {network()}", done.stderr)  # so it knows of two nodes

    def test_stencil_in_each_mode(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                done = self.run_job(2, STENCIL, **mode)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertEqual(done.stdout.count("off by 0.0e+00"), 2, done.stdout)

    def test_communicators_of_groups(self):
        for program in PROGRAMS:
            with self.subTest(program=program):
                done = self.run_job(2, str(BUILD / "tests/mpi" / program))
                self.assertIn(done.returncode, (0, 77), done.stdout + done.stderr)

    def test_ends(self):
        for how, code in (("abort", 7), ("kill", 137), ("exit", 3)):
            with self.subTest(how=how):
                done = self.run_job(2, KIN, "rank", "die", how)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
