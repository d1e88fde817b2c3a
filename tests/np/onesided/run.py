#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Windows: ranks that die with locks or in epochs, and communicators over several nodes.

usage: run.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, JobCase  # noqa: E402

PROGRAM = str(BUILD / "tests/np_window_deaths")
NETWORKS = {name: {f"STARLING_MCA_btl_{name}_{what}": "lo"} for name, what in (("ucx", "devices"), ("ofi", "interface"))
            if (BUILD / f"lib/starling/btl_{name}.so").exists()}


class Deaths(JobCase):
    def survive(self, way):
        done = self.run_job("-n", 3, "-enable-recovery", PROGRAM, way)
        self.assertEqual(done.code, 137, done)
        lines = done.out.splitlines()
        self.assertEqual(sorted(line for line in lines if line.endswith("goes on")),
                         ["rank 0 goes on", "rank 1 goes on"], done)
        return [line for line in lines if line.endswith("is told")]

    def test_the_lock_of_a_dead_holder_is_freed(self):
        for way in ("exclusive", "shared", "all"):
            with self.subTest(way=way):
                self.assertEqual(len(self.survive(way)), 1)

    def test_a_dead_waiter_is_passed_over(self):
        self.assertEqual(self.survive("waiter"), [])

    def test_a_dead_origin_ends_the_wait_after_the_others(self):
        self.assertEqual(self.survive("origin"), ["rank 0 is told"])

    def test_a_dead_target_is_told_to_its_origin(self):
        self.assertEqual(self.survive("target"), ["rank 0 is told"])


class Nodes(JobCase):
    @unittest.skipUnless(NETWORKS, "needs btl/ucx or btl/ofi")
    def test_creation_fails_on_all(self):
        for network, env in NETWORKS.items():
            with self.subTest(network):
                done = self.expect_ok("-n", 4, "--virtual-nodes", 2, "--mca", "btl", f"self,shm,{network}", PROGRAM,
                                      "nodes", env=env)
                self.assertEqual(sorted(done.out.splitlines()), [f"rank {rank} goes on" for rank in range(4)], done)


if __name__ == "__main__":
    unittest.main(verbosity=2)
