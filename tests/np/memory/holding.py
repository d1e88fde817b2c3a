#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank is killed while all ranks hold receive buffers of the library's: what the others hold stays theirs.

usage: holding.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
"""
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, FULL, JobCase  # noqa: E402

HOLDING = str(BUILD / "tests/np_holding")
STAGES = ("held", "sent")
AFTERWARDS = ("release", "keep")
# UCX over tcp gives nothing away unless it is asked to.
NETWORKS = {"ofi": {"btl_ofi_interface": "lo"}, "ucx": {"btl_ucx_devices": "lo", "btl_ucx_keep": "always"}}
THERE = {name: more for name, more in NETWORKS.items() if (BUILD / f"lib/starling/btl_{name}.so").exists()}


class HoldingCase(JobCase):
    def run_holding(self, stage, afterwards, ranks, nodes=1, **params):
        mca = [word for name, value in params.items() for word in ("--mca", name, value)]
        return self.run_job("-n", ranks, "-enable-recovery", "--virtual-nodes", nodes, *mca, HOLDING, stage, afterwards,
                            timeout=120)

    def expect_survivors(self, stage, afterwards, ranks, nodes=1, **params):
        with self.subTest(stage=stage, afterwards=afterwards, ranks=ranks, nodes=nodes, **params):
            done = self.run_holding(stage, afterwards, ranks, nodes, **params)
            self.assertEqual(done.code, 137, done)
            victim, near = ranks - 1, ranks - ranks // nodes
            lines = done.out.splitlines()
            for rank in range(victim):
                self.assertIn(f"rank {rank} goes on", lines, done)
                # Over a network long messages are announced only, and end with their sender.
                unread = 0 if stage == "held" else 2 if rank >= near else 1
                self.assertIn(f"rank {rank} has got {unread} unread", lines, done)
                if afterwards == "keep":
                    self.assertIn(f"rank {rank} has read 3", lines, done)
                    self.assertRegex(done.err, rf"rank {rank}\] warning: the program has not given back 3 receive buffers")
            if afterwards == "release":
                self.assertNotIn("warning", done.err, done)


class Holding(HoldingCase):
    def test_within_a_node(self):
        for pml in "static", "dynamic":
            for shm in "memfd", "posix":  # posix has a name in /dev/shm
                for stage in STAGES:
                    for afterwards in AFTERWARDS:
                        for ranks in (2, 3) if FULL else (3,):
                            self.expect_survivors(stage, afterwards, ranks, pml=pml, shm=shm)

    @unittest.skipUnless(THERE, "built without btl/ucx and btl/ofi")
    def test_on_two_nodes(self):
        """The dead one has a local_peer on its own node, and two on the other one, who hear of its death through the memory that
        mpiexec has given them (libfabric tells nothing of a peer from which one only receives)."""
        for network, params in THERE.items():
            for stage in STAGES:
                for afterwards in AFTERWARDS:
                    for ranks in (2, 4) if FULL else (4,):
                        self.expect_survivors(stage, afterwards, ranks, 2, btl=f"self,shm,{network}", **params)

    def test_what_is_held_is_what_it_should_be(self):
        """The same messages without a death, counted: within a node they are pushed, over a network they stay there."""
        for nodes, network, params in ((1, "", {}), *((2, "," + name, more) for name, more in THERE.items())):
            with self.subTest(nodes=nodes, network=network):
                done = self.run_holding("never", "release", 2, nodes, btl="self,shm" + network, report="1", **params)
                self.assertEqual(done.code, 0, done)
                way = "were written into buffers" if nodes == 1 else "stayed where the transport had received them"
                found = [int(number) for number in re.findall(rf"(\d+) messages of \d+ bytes .*{way}", done.err)]
                self.assertGreater(sum(found), 0, done)


if __name__ == "__main__":
    unittest.main()
