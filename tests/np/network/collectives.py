#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Collectives over several virtual nodes, with btl/trial as the network.

usage: collectives.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
Standard library only.
"""
import os
import re
import unittest

from network import BUILD, NETWORKS, NetworkCase

NODES = str(BUILD / "tests/np_network_nodes")
NODE_BYTES = str(BUILD / "tests/np_network_node_bytes")
AFTER_LOSS = str(BUILD / "tests/np_network_after_loss")
LATE_LOCAL_PEER = str(BUILD / "tests/np_network_late_local_peer")
STARVE = str(BUILD / "tests/np_network_starve")


class Collectives(NetworkCase):
    """First inside each node, then among one process of each."""

    def counts(self, ranks, nodes, **params):
        done = self.run_job(ranks, nodes, NODES, "count", startup_report=0, **params)
        self.expect(done)
        return dict(line.split() for line in done.stdout.splitlines())

    def test_messages_between_nodes_do_not_grow_with_their_members(self):
        for nodes, each, tree, doubling, shift in ((2, 2, 1, 2, 1), (3, 6, 2, 4, 3)):
            fewest = {"barrier": each, "bcast": tree, "reduce": tree, "allreduce": doubling, "scan": shift, "exscan": shift,
                      "reduce_scatter": 2 * tree, **dict.fromkeys(("gather", "gatherv", "scatter", "scatterv"), tree),
                      **dict.fromkeys(("allgather", "allgatherv", "alltoall", "alltoallv", "ialltoallv"), each)}
            other_forms = {"i" + name: count for name, count in fewest.items() if not name.endswith("v")}
            other_forms.update({name + "_init": fewest[name] for name in ("barrier", "bcast", "reduce", "allreduce")})
            fewest.update(other_forms)
            for ranks in (2 * nodes, 4 * nodes):
                with self.subTest(nodes=nodes, ranks=ranks):
                    self.assertEqual(self.counts(ranks, nodes), {name: str(count) for name, count in fewest.items()})

    def test_bytes_between_nodes_are_those_that_no_algorithm_can_do_without(self):
        for ranks, nodes in ((4, 2), (8, 2), (6, 3), (8, 4)):
            done = self.run_job(ranks, nodes, NODE_BYTES, str(nodes), startup_report=0)
            self.expect(done)
            calls = [line.split() for line in done.stdout.splitlines()]
            self.assertEqual(len(calls), 8, done.stdout)
            for name, sent, least in calls:
                with self.subTest(name, ranks=ranks, nodes=nodes):
                    self.assertGreater(float(sent), 0.6 * float(least))  # two nodes reduce with less
                    self.assertLessEqual(float(sent), 1.1 * float(least))

    def test_without_nodes_they_do(self):
        self.assertGreater(float(self.counts(8, 2, coll_hierarchy="off")["barrier"]), 2)

    def test_values(self):
        for network, params in NETWORKS:
            for ranks, nodes in ((4, 2), (7, 3), (10, 4)):
                with self.subTest(network, ranks=ranks, nodes=nodes):
                    self.expect(self.run_job(ranks, nodes, NODES, "values", btl=f"self,shm,{network}", startup_report=0,
                                             **params))

    def test_nobody_leaves_a_barrier_before_the_last_has_come(self):
        for number, params in enumerate(({}, {"coll_node": "false"})):
            with self.subTest(**params):
                there = os.path.join(self.directory.name, str(number))
                os.mkdir(there)
                self.expect(self.run_job(7, 3, NODES, "barrier", there, startup_report=0, **params))

    def test_values_without_boards(self):
        self.expect(self.run_job(7, 3, NODES, "values", coll_node="false", startup_report=0))

    def test_nodes_of_many_members(self):
        self.expect(self.run_job(34, 2, NODES, "many", startup_report=0))

    def test_a_kill_is_told_to_members_of_all_nodes(self):
        for call in ("allreduce", "barrier", "allgather", "alltoall", "alltoallv", "ialltoallv", "reduce_scatter", "exscan"):
            victim = 0 if call == "exscan" else 6  # of whom all others need something
            for params in ({}, {"coll_node": "false"}):
                with self.subTest(call, **params):
                    done = self.run_job(7, 3, "-enable-recovery", NODES, "die", call, str(victim), startup_report=0, **params)
                    for rank in set(range(7)) - {victim}:  # who has heard of it ends, too, and may be the one whose end another sees
                        self.assertRegex(done.stdout, f"rank {rank}: aborted: .*(rank [0-6] (has ended|cannot be reached)|"
                                                      "a member has ended, as rank [0-6] reports)", done.stderr)

    def test_a_program_may_go_on_after_a_loss_that_its_local_peers_do_not_know_of(self):
        # Rank 7 sees its local_peer's end and tells rank 4, by a message that only its collective understands; the local_peer of
        # rank 4 is in the next call, which owes it nothing. No connection leads to rank 6, and nobody else tells.
        done = self.run_job(8, 4, "-enable-recovery", AFTER_LOSS, "6", self.directory.name, startup_report=0,
                            mpi_add_procs_cutoff=0)
        self.assertNotIn("waits for", done.stdout, done.stderr)
        self.assertEqual(len(re.findall("rank [0-57]: [0-9]+ failed", done.stdout)), 7, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "rank 4: [1-9][0-9]* failed")

    def test_a_local_peer_that_falls_behind_is_told_of_a_loss_while_a_board_is_made(self):
        done = self.run_job(5, 2, "-enable-recovery", LATE_LOCAL_PEER, startup_report=0)
        for rank in (0, 1, 2, 4):
            for call in "first", "second":
                self.assertRegex(done.stdout, f"rank {rank}: {call}: aborted: ", done.stderr)


class NoMemory(NetworkCase):
    """A member that gets no memory in a collective: all end it, with errors, and the next ones work."""

    def starve(self, call, poor, **params):
        done = self.run_job(7, 3, STARVE, call, str(poor), startup_report=0, **params)
        if done.returncode == 77:
            self.skipTest("allocations cannot be refused in this build")
        self.expect(done)
        return {tuple(map(int, re.findall(r"\d+", line.split(":")[0]))): line.split(": ")[1] for line in done.stdout.splitlines()}

    def expect_told(self, ends, poor, call):
        self.assertEqual(ends[poor, call], "no memory")
        others = {ends[rank, call] for rank in range(7) if rank != poor}
        self.assertIn("told", others)
        self.assertLessEqual(others, {"told", "nothing"})  # some have nothing to do with it

    def test_by_messages(self):
        for call in ("reduce", "allreduce", "iallreduce", "parts", "reduce_scatter", "iscan", "iexscan"):
            with self.subTest(call):  # later calls use the memory of the second one
                self.expect_told(self.starve(call, 4, coll_node="false"), 4, 0)

    def test_blocks_by_messages(self):
        for call, poor, told in (("alltoall", 0, 6), ("alltoall", 3, 6), ("alltoallv", 0, 6), ("alltoallv", 3, 6), ("gatherv", 4, 1),
                                 ("scatterv", 4, 1)):
            with self.subTest(call, poor=poor):
                ends = self.starve(call, poor, coll_node="false")
                self.expect_told(ends, poor, 0)
                self.assertGreaterEqual(sum(ends[rank, 0] == "told" for rank in range(7)), told, ends)

    def test_on_boards(self):
        for call, poor in (("reduce", 4), ("reduce_scatter", 4), ("reduce_scatter", 0), ("alltoall", 3), ("alltoall", 0)):
            with self.subTest(call, poor=poor):
                ends = self.starve(call, poor)
                for number in (4, 8):
                    self.expect_told(ends, poor, number)


class Programs(NetworkCase):
    """The conformance programs of the collectives over nodes of unequal sizes: each on one of these, or, with
    STARLING_ALL_NODES=1, on all and over all networks."""
    SIZES = ((5, 2), (7, 3), (10, 4), (3, 2))
    ELSEWHERE = ("mpi_coll_large_counts", "mpi_coll_orders")

    def test_each_collective_and_form_with_members_in_any_order(self):
        program = BUILD / "tests/mpi/mpi_coll_orders"
        if not program.exists():
            self.skipTest("tests/mpi is not built")
        for ranks, nodes in ((4, 2), (7, 3), (10, 4)):
            for params in ({}, {"coll_node": "false"}):
                with self.subTest(ranks=ranks, nodes=nodes, **params):
                    self.expect(self.run_job(ranks, nodes, str(program), startup_report=0, **params))

    def test_conformance_programs(self):
        everything = os.environ.get("STARLING_ALL_NODES") == "1"
        programs = sorted(path for path in (BUILD / "tests/mpi").glob("mpi_coll_*")
                          if not path.name.endswith("_large") and path.name not in self.ELSEWHERE)
        if not programs:
            self.skipTest("tests/mpi is not built")
        for number, program in enumerate(programs):
            for network, params in NETWORKS if everything else NETWORKS[:1]:
                for ranks, nodes in self.SIZES if everything else (self.SIZES[number % len(self.SIZES)],):
                    with self.subTest(program.name, network=network, ranks=ranks, nodes=nodes):
                        done = self.run_job(ranks, nodes, str(program), btl=f"self,shm,{network}", startup_report=0, **params)
                        self.assertIn(done.returncode, (0, 77), done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
