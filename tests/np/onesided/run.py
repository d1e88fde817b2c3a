#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Windows: ranks that die with locks or in epochs, each path by itself, and communicators over several nodes.

usage: run.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
"""
import itertools
import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, JobCase, with_time  # noqa: E402

OVERLAPS = str(BUILD / "tests/np_window_overlaps")
PROGRAM = str(BUILD / "tests/np_window_deaths")
MEETING = str(BUILD / "tests/np_window_meeting")
GAPS = str(BUILD / "tests/np_window_gaps")
CREATE = str(BUILD / "tests/mpi/mpi_rma_create")
RANDOM = str(BUILD / "tests/mpi/mpi_rma_random")
REFUSED = str(BUILD / "tests/np_window_refused")
NETWORKS = {name: {f"STARLING_MCA_btl_{name}_{what}": "lo"} for name, what in (("ucx", "devices"), ("ofi", "interface"))
            if (BUILD / f"lib/starling/btl_{name}.so").exists()}


class Deaths(JobCase):
    def survive(self, way, *options, env=None):
        done = self.run_job("-n", 3, "-enable-recovery", *options, PROGRAM, way, env=env)
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

    def test_by_messages(self):
        for way in ("served", "remote", "freed", "requests"):
            with self.subTest(way=way):
                self.survive(way, "--mca", "onesided_path", "message")

    @unittest.skipUnless(NETWORKS, "needs btl/ucx or btl/ofi")
    def test_between_nodes(self):
        for network, env in NETWORKS.items():
            for way in ("served", "remote", "freed", "requests"):
                with self.subTest(network=network, way=way):
                    self.survive(way, "--virtual-nodes", 3, "--mca", "btl", f"self,shm,{network}", env=env)
                with self.subTest(network=network, way=way, puts="by the transport"):
                    self.survive(way, "--virtual-nodes", 3, "--mca", "btl", f"self,shm,{network}",
                                 "--mca", f"btl_{network}_remote", "always", env=env)


class Waits(JobCase):
    def test_hang_help_names_the_holder_and_how_long(self):
        def look(seconds):
            done = self.run_job("-n", 3, "--timeout", seconds + 1, PROGRAM, "long")
            self.assertEqual(done.code, 124, done)
            self.assertRegex(done.err, r"MPI_Win_lock of window 'grid' of 3 ranks, target 0 \(4096 bytes\): "
                                       r"held exclusively by rank 1 for at least [1-9]\d*\.\d s")

        with_time(look)

    def test_who_waits_asleep_is_woken(self):
        """What nobody rings for ends a sleep, too, but by its limit, which the report tells."""
        for way in ("shared", "all", "exclusive", "complete", "post"):
            for ranks in (4, 9):
                with self.subTest(way=way, ranks=ranks):
                    for _ in range(5):  # a ring counts as missed, too, if who rings is kept from it for 0.1 s
                        done = self.run_job("-n", ranks, "--mca", "wait_yield_us", 0, "--mca", "report", 1, MEETING, way)
                        self.assertEqual((done.code, done.out), (0, "all met\n"), done)
                        if "though something was there: 0\n" in done.err:
                            break
                    self.assertRegex(done.err, r"sleeps while waiting: [1-9]\d*, .*though something was there: 0\n")


class Overlaps(JobCase):
    """Parameter onesided_check."""

    def told(self, *words):
        done = self.run_job("-n", 3, *words, OVERLAPS)
        self.assertEqual((done.code, done.out), (0, "done\n"), done)
        return [line for line in done.err.splitlines() if "overlaps" in line], done

    def test_what_is_undefined_is_told(self):
        lines, done = self.told("--mca", "onesided_check", "1")
        names = [re.search(r"window '([^']*)'", line)[1] for line in lines]
        expected = {"puts": 1, "put and get": 1, "not flushed": 1, "posted": 1, "many": 8}
        self.assertEqual({name: names.count(name) for name in names}, expected, done)
        ranges = {1: "bytes 8..24 by rank 1", 2: "bytes 16..32 by rank 2"}
        for name in ("puts", "posted", "not flushed"):
            line = next(line for line in lines if f"'{name}'" in line)
            self.assertIn("target 0 (256 bytes)", line)
            for text in ranges.values():
                self.assertIn(text, line)
        line = next(line for line in lines if "'put and get'" in line)
        self.assertRegex(line, "a put of bytes 0..16 by rank 1.*a get of bytes 12..16 by rank 2"
                               "|a get of bytes 12..16 by rank 2.*a put of bytes 0..16 by rank 1")

    def test_without_the_parameter_nothing_is_told(self):
        self.assertEqual(self.told()[0], [])


class Paths(JobCase):
    """Parameter onesided_path: the random program of four ranks by each, and the report's reasons."""
    OWN = "loads and stores: the process's own memory"
    MAPPED = "loads and stores: mapped memory"
    PRIVATE = "memory that is not MPI_Alloc_mem's"
    ATTACHED = "copies by the kernel of what is attached, by messages if it is more than 63 pieces"
    REFUSAL = "no copies by the kernel (Operation not permitted)"

    def ways(self, program, path):
        """{way and reason: (targets of all windows of a rank, ranks that have so many)}"""
        done = self.run_job("-n", 4, "--mca", "onesided_path", path, "--mca", "report", 1, program)
        self.assertEqual((done.code, done.out), (0, ""), done)
        found = re.findall(r"one-sided: (\d+) targets? by (.*) \((\d+) ranks?\)", done.err)
        return {way: (int(targets), int(ranks)) for targets, way, ranks in found}

    def test_auto(self):
        self.assertEqual(self.ways(RANDOM, "auto"), {
            self.MAPPED: (8, 4), f"copies by the kernel: {self.PRIVATE}": (3, 4), self.ATTACHED: (3, 4),
            "loads and stores: memory of MPI_Alloc_mem": (3, 4), self.OWN: (3, 4)})

    def test_copy(self):
        """All but a window's own part, and those of MPI_Win_allocate_shared."""
        self.assertEqual(self.ways(RANDOM, "copy"), {
            "copies by the kernel: onesided_path=copy": (9, 4), self.ATTACHED: (3, 4), self.MAPPED: (5, 4), self.OWN: (3, 4)})

    def test_message(self):
        self.assertEqual(self.ways(RANDOM, "message"), {
            "messages: onesided_path=message": (12, 4), self.MAPPED: (5, 4), self.OWN: (3, 4)})

    def test_where_the_kernel_refuses(self):
        """All ranks but 0, which still copies to them while they send it messages."""
        self.assertEqual(self.ways(REFUSED, "auto"), {
            self.MAPPED: (8, 4), f"copies by the kernel: {self.PRIVATE}": (3, 1), self.ATTACHED: (3, 1),
            f"messages: {self.PRIVATE}, and {self.REFUSAL}": (3, 3), f"messages: {self.REFUSAL}": (3, 3),
            "loads and stores: memory of MPI_Alloc_mem": (3, 4), self.OWN: (3, 4)})
        self.assertEqual(self.ways(REFUSED, "copy"), {
            "copies by the kernel: onesided_path=copy": (9, 1), self.ATTACHED: (3, 1),
            f"messages: onesided_path=copy, and {self.REFUSAL}": (9, 3), f"messages: {self.REFUSAL}": (3, 3),
            self.MAPPED: (5, 4), self.OWN: (3, 4)})

    @unittest.skipUnless(len(os.sched_getaffinity(0)) > 1, "needs two cores")
    def test_targets_that_wait_do_what_is_small(self):
        """Whether one waits just then is a matter of luck on a loaded machine, so there are many tries."""
        for _ in range(200):
            done = self.run_job("-n", 2, "--mca", "report", 1, CREATE)
            self.assertEqual(done.code, 0, done)
            if re.search(r"one-sided: [1-9]\d* operations by targets that waited in MPI", done.err):
                return
        self.fail(done)

    def test_elements_with_gaps_share_the_calls_of_the_kernel(self):
        """A thousand elements: some lists of them, each by stripes, are read and written."""
        for ranks in (2, 4):
            for path in ("auto", "copy", "message"):
                with self.subTest(ranks=ranks, path=path):
                    done = self.run_job("-n", ranks, "--mca", "onesided_path", path, GAPS)
                    self.assertEqual(done.code, 0, done)
                    calls = [int(line.split()[0]) for line in done.out.splitlines()]
                    self.assertEqual(len(calls), 2, done)
                    self.assertLess(max(calls), 64, done)

    def test_a_value_that_does_not_exist(self):
        done = self.run_job("-n", 2, "--mca", "onesided_path", "copies", RANDOM)
        self.assertNotEqual(done.code, 0, done)
        self.assertRegex(done.err, r"parameter onesided_path = 'copies' .* is none of its values; expected one of auto\|copy\|message")


class Nodes(JobCase):
    @unittest.skipUnless(NETWORKS, "needs btl/ucx or btl/ofi")
    def test_shared_memory_is_refused_on_all(self):
        for network, env in NETWORKS.items():
            with self.subTest(network):
                done = self.expect_ok("-n", 4, "--virtual-nodes", 2, "--mca", "btl", f"self,shm,{network}", PROGRAM,
                                      "nodes", env=env)
                self.assertEqual(sorted(done.out.splitlines()), [f"rank {rank} goes on" for rank in range(4)], done)

    @unittest.skipUnless(NETWORKS, "needs btl/ucx or btl/ofi")
    def test_programs(self):
        for network, env in NETWORKS.items():
            for program in ("computing", "create", "dynamic", "post_start", "random"):
                with self.subTest(network=network, program=program):
                    self.expect_ok("-n", 4, "--virtual-nodes", 2, "--mca", "btl", f"self,shm,{network}",
                                   str(BUILD / f"tests/mpi/mpi_rma_{program}"), env=env)

    @unittest.skipUnless(NETWORKS, "needs btl/ucx or btl/ofi")
    def test_the_transport_puts_and_gets_itself(self):
        programs = ("computing", "create", "locks", "post_start", "put_get", "random")
        for network, program in itertools.product(NETWORKS, programs):
            with self.subTest(network=network, program=program):
                done = self.run_job("-n", 4, "--virtual-nodes", 2, "--mca", "btl", f"self,shm,{network}",
                                    "--mca", f"btl_{network}_remote", "always", "--mca", "report", 1,
                                    str(BUILD / f"tests/mpi/mpi_rma_{program}"), env=NETWORKS[network])
                self.assertEqual(done.code, 0, done)
                accesses = re.search(rf"(\d+) puts and gets by btl/{network}", done.err)
                self.assertGreater(int(accesses[1]), 0, done)

    @unittest.skipUnless(NETWORKS, "needs btl/ucx or btl/ofi")
    def test_three_nodes_of_unequal_sizes(self):
        for network, env in NETWORKS.items():
            for program in ("random", "post_start", "atomic_delays"):
                with self.subTest(network=network, program=program):
                    self.expect_ok("-n", 5, "--virtual-nodes", 3, "--mca", "btl", f"self,shm,{network}",
                                   str(BUILD / f"tests/mpi/mpi_rma_{program}"), env=env)


if __name__ == "__main__":
    unittest.main(verbosity=2)
