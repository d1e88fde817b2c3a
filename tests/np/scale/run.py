#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""bench_scale against real jobs: what it counts must be what they count; and how its counts grow.

usage: run.py BUILD_DIRECTORY [--np 16,64] [-v] [CASE.test ...]      (unittest's own arguments follow)
Real jobs run on virtual nodes over btl/trial. Standard library only.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
SIZES = [16, 64]
if "--np" in sys.argv:
    at = sys.argv.index("--np")
    SIZES = [int(size) for size in sys.argv[at + 1].split(",")]
    del sys.argv[at:at + 2]

# Figures of bench_scale, and where the startup report has them.
SAME = {"puts": "PMI puts", "fences": "PMI fences",
        "node_messages": "creation messages, node", "node_bytes": "creation bytes, node",
        "remote_messages": "creation messages, remote", "remote_bytes": "creation bytes, remote"}
MODES = {"flat": {"bootstrap": "flat"}, "hierarchical": {"bootstrap": "hierarchical"},
         "async": {"bootstrap": "hierarchical", "async_modex": "1"}}


def simulate(*options):
    """{(mode, ranks, per node): {figure: value}}"""
    done = subprocess.run([BUILD / "bench/bench_scale", "--lines", *map(str, options)], text=True, timeout=300,
                          capture_output=True, check=True)
    runs = {}
    for line in done.stdout.splitlines():
        mode, ranks, per_node, figure, value = line.split()
        runs.setdefault((mode, int(ranks), int(per_node)), {})[figure] = float(value)
    return runs


# Messages between nodes so short that blocks go in several pieces in jobs of this size, as they do in large ones:
# for the model; for btl/trial, whose messages have a head.
SHORT, SHORT_OF_TRIAL = 512, 576


def report(mode, ranks, per_node, group_mode, **more):
    """What a real job counts, summed over its ranks at the end of MPI_Init."""
    with tempfile.TemporaryDirectory(prefix="starling-scale-") as directory:
        params = {"plugin_path": BUILD / "tests/network", "trial_directory": directory, "bootstrap_timeout": 120,
                  "startup_report": 1, "btl": "self,shm,trial", "bootstrap_group_mode": group_mode,
                  # To btl/trial who leaves in order looks like who died, and ends the collectives of the others.
                  "finalize_barrier": "always", **MODES[mode], **more}
        settings = {"STARLING_MCA_" + name: str(value) for name, value in params.items()}
        command = [BUILD / "bin/mpiexec", "-n", str(ranks), "--virtual-nodes", str(ranks // per_node),
                   BUILD / "tests/np_network_pair"]
        done = subprocess.run(command, env={**os.environ, **settings}, text=True, timeout=600, capture_output=True,
                              check=True)
    return {name: float(value) for name, value in
            re.findall(r"^  (\S.*?)  +\S+ +\S+ +\S+ +(\d+)$", done.stderr, re.M)}


class RealJobs(unittest.TestCase):
    """The model sends the same messages and makes the same requests as a job of the same shape."""

    def model(self, mode, ranks, per_node, group_mode, *more):
        return simulate("--mode", mode, "--ranks", ranks, "--per-node", per_node, "--group-mode", group_mode,
                        *more)[(mode, ranks, per_node)]

    def same_counts(self, model, real):
        self.assertEqual({figure: model[figure] for figure in SAME},
                         {figure: real[name] for figure, name in SAME.items()})

    def compare(self, mode, group_mode):
        for ranks in SIZES:
            for per_node in (4, 8):
                with self.subTest(mode=mode, ranks=ranks, per_node=per_node, group_mode=group_mode):
                    model = self.model(mode, ranks, per_node, group_mode)
                    real = report(mode, ranks, per_node, group_mode)
                    self.same_counts(model, real)
                    # How often somebody asks too early depends on timing.
                    self.assertEqual(model["gets"] - model["early_gets"],
                                     real["PMI gets"] - real["PMI gets too early"])

    def test_flat(self):
        self.compare("flat", "auto")

    def test_async(self):
        self.compare("async", "auto")

    def test_hierarchical(self):
        for group_mode in ("auto", "native", "lookup", "world"):
            self.compare("hierarchical", group_mode)

    def test_blocks_of_several_pieces(self):
        """These make the growth of large jobs: their number and length count, too."""
        for per_node in (4, 8):
            with self.subTest(per_node=per_node):
                shape = "hierarchical", SIZES[-1], per_node, "auto"
                whole, model = self.model(*shape), self.model(*shape, "--message-bytes", SHORT)
                # Enough pieces that not each block has just one or two of them.
                self.assertGreater(model["remote_messages"], 3 * whole["remote_messages"])
                self.same_counts(model, report(*shape, trial_message_bytes=SHORT_OF_TRIAL))


class Growth(unittest.TestCase):
    """No count of a process and nothing at the server grows faster than the job."""

    RANKS = (1024, 4096, 16384)
    PER_NODE = 16

    @classmethod
    def setUpClass(cls):
        cls.runs = simulate("--ranks", ",".join(map(str, cls.RANKS)), "--per-node", cls.PER_NODE)

    def each(self, mode, figure):
        return [self.runs[(mode, ranks, self.PER_NODE)][figure] for ranks in self.RANKS]

    def expect_linear(self, values):
        for value, ranks in zip(values, self.RANKS):
            self.assertLess(abs(value / values[0] / (ranks / self.RANKS[0]) - 1), 0.1, values)

    def test_requests_of_a_process_are_constant(self):
        for mode, most in (("flat", 8), ("hierarchical", 4), ("async", 8)):
            for count in self.each(mode, "operations_most"):
                self.assertLessEqual(count, most, mode)

    def test_a_member_that_is_no_root_asks_nothing(self):
        for requests, ranks in zip(self.each("hierarchical", "server_requests"), self.RANKS):
            self.assertLessEqual(requests, 4 * ranks / self.PER_NODE)

    def test_the_server_has_work_in_proportion_to_the_job(self):
        for mode in MODES:
            self.expect_linear(self.each(mode, "server_requests"))
            self.expect_linear(self.each(mode, "server_bytes"))

    def test_messages_of_an_agreement_are_two_for_each_process(self):
        for mode in ("flat", "async"):
            for node, remote, ranks in zip(self.each(mode, "node_messages"), self.each(mode, "remote_messages"),
                                           self.RANKS):
                roots = ranks // self.PER_NODE
                self.assertEqual(remote, 2 * (roots - 1))
                self.assertEqual(node + remote, 2 * (ranks - 1))

    def test_an_exchange_sends_each_node_the_table_once(self):
        self.expect_linear(self.each("hierarchical", "node_messages"))
        tables = self.each("hierarchical", "table_bytes_node")
        for table, ranks, sent in zip(tables, self.RANKS, self.each("hierarchical", "remote_bytes")):
            self.assertLess(table, 64 * ranks + 64 * 1024)
            # Down once to each node; up, each card once for each level of the tree (arity 4).
            self.assertLess(sent, table * ranks / self.PER_NODE * 1.25)

    def test_time_does_not_grow_with_the_square(self):
        for mode in MODES:
            times = self.each(mode, "time_ms")
            self.assertLess(times[2], times[1] * 4.4, mode)


if __name__ == "__main__":
    unittest.main()
