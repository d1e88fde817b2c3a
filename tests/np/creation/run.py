#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Communicators from groups: what goes wrong is said by whoever knows it, and nothing is kept.

usage: run.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
Standard library only.
"""
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, SANITIZED, JobCase  # noqa: E402

ABSENT = str(BUILD / "tests/np_creation_absent")
MEET = str(BUILD / "tests/np_creation_meet")


class CreationCase(JobCase):
    def run_over(self, ranks, nodes, *args, **params):
        """Over btl/trial where there are several nodes."""
        with tempfile.TemporaryDirectory(prefix="starling-creation-") as folder:
            params = {"plugin_path": BUILD / "tests/network", "trial_directory": folder, "btl": "self,shm,trial", **params}
            env = {f"STARLING_MCA_{name}": str(value) for name, value in params.items()}
            return self.run_job("-n", ranks, "--virtual-nodes", nodes, MEET, *args, env=env, timeout=200)


class Words(CreationCase):
    def test_a_predefined_communicator_that_is_not_there(self):
        for which, name in (("world", "MPI_COMM_WORLD"), ("self", "MPI_COMM_SELF")):
            for when, text in (("session", "which only MPI_Init makes, and this program has opened sessions alone"),
                               ("finalized", "which has ended with MPI_Finalize")):
                with self.subTest(name, when=when):
                    done = self.run_job("-n", 1, ABSENT, which, when)
                    self.assertNotEqual(done.code, 0, done)
                    self.assertIn(f"comm is {name}, {text}", done.err, done)

    def test_who_waits_in_vain_hears_what_the_others_do(self):
        for nodes in (1, 2):
            for what in ("tags", "groups"):
                with self.subTest(what, nodes=nodes):
                    done = self.run_over(4, nodes, what, bootstrap_timeout=3)
                    self.assertIn("gave up (parameter bootstrap_timeout)", done.out, done)
                    # All give up at about the same time; who is the first hears the others.
                    self.assertRegex(done.out, r"waits in: creation of a communicator of [34] processes with tag 'user \w+' "
                                               r"\(tag and group must be the same on all members\)", done)

    def test_an_error_that_aborts_a_session_ends_one_process(self):
        done = self.run_job("-n", 3, "-enable-recovery", MEET, "alone", timeout=60)
        self.assertNotEqual(done.code, 0, done)
        self.assertEqual(sorted(done.out.splitlines()), ["rank 0: 0", "rank 1: 0"], done)
        self.assertIn("this process ends (MPI_ERRORS_ABORT on a session)", done.err, done)
        self.assertRegex(done.err, "mpiexec: rank 2 pid .* exit code .*; the others go on", done)

    def test_groups_in_different_orders_are_an_error_on_all(self):
        for mode in ({}, {"bootstrap": "flat"}, {"async_modex": 1}):
            for nodes in (1, 2):
                with self.subTest(mode, nodes=nodes):
                    done = self.run_over(6, nodes, "orders", bootstrap_timeout=60, **mode)
                    self.assertEqual(done.out.count("in different orders"), 6, done)
                    # The second creation, with one order on all, was fine: 1 would be 3.
                    self.assertEqual(sorted(line for line in done.out.splitlines() if line.endswith(": 1")),
                                     [f"rank {rank}: 1" for rank in range(6)], done)


class Fit(CreationCase):
    """One process has another value of a parameter that all must have alike: the error names both."""
    # The parameter, the odd value, and what the others have.
    ODD = [("finalize_barrier", "never", "auto"), ("init_barrier", "always", "auto"), ("bootstrap", "flat", ""),
           ("async_modex", "1", "0"), ("coll_bcast_algorithm", "chain", "auto"), ("report", "1", "0"),
           ("bootstrap_group_mode", "lookup", "auto"), ("btl", "shm,self", "self,shm,trial")]

    def check(self, done, name, odd, usual, ranks):
        self.assertNotEqual(done.code, 0, done)
        self.assertNotIn("fine", done.out, done)
        where = f"environment STARLING_MCA_{name}"
        self.assertRegex(done.err, f"{name}: .*'{odd}' on rank {ranks - 1} of \\S+ \\({where}\\)", done)
        self.assertRegex(done.err, f"{name}: .*'{usual}' on rank [0-{ranks - 2}] of \\S+ \\(", done)
        self.assertNotIn("gave up", done.err, done)

    def test_on_one_node(self):
        for name, odd, usual in self.ODD[:-1]:
            with self.subTest(name):
                done = self.run_over(4, 1, "init", f"STARLING_MCA_{name}={odd}", bootstrap_timeout=100)
                self.check(done, name, odd, usual, 4)

    def test_between_nodes(self):
        for name, odd, usual in self.ODD[:-1]:
            for ranks in (2, 4):
                with self.subTest(name, ranks=ranks):
                    done = self.run_over(ranks, 2, "init", f"STARLING_MCA_{name}={odd}", bootstrap_timeout=100)
                    self.check(done, name, odd, usual, ranks)


class Meet(CreationCase):
    """What differs says how ranks meet: they have exchanged nothing, and mpiexec finds it."""
    ODD = [("shm", "posix", "memfd"), ("shm", "posix", ""), ("shm_posix_directory", "/tmp", "/dev/shm"),
           ("pmi", "pmi2", "pmi1"), ("pmi", "pmi1", "pmi2"), ("pmi", "pmi2", "")]

    def test_is_told_at_once_with_both_sides(self):
        for name, odd, usual in self.ODD:
            for ranks, nodes in ((2, 1), (4, 1), (4, 2)):
                with self.subTest(name, odd=odd, usual=usual, ranks=ranks, nodes=nodes):
                    params = {name: usual} if usual and usual != "/dev/shm" else {}
                    done = self.run_over(ranks, nodes, "init", f"STARLING_MCA_{name}={odd}", **params)
                    self.assertNotEqual(done.code, 0, done)
                    self.assertNotIn("fine", done.out, done)
                    self.assertIn("ranks of a job differ in how they meet", done.err, done)
                    for value, rank, where in ((odd, ranks - 1, f"environment STARLING_MCA_{name}"),
                                               (usual, f"[0-{ranks - 2}]", ".*" if params else "default")):
                        self.assertRegex(done.err, f"{name}: .*'{value}' on rank {rank} \\({where}\\)", done)
                    self.assertNotIn("gave up", done.err, done)

    def test_the_same_value_from_another_place_is_no_difference(self):
        done = self.run_over(2, 1, "init", "STARLING_MCA_shm=memfd", shm="memfd")
        self.assertEqual(done.code, 0, done)


class Memory(CreationCase):
    @unittest.skipIf(SANITIZED, "sanitizers' allocators keep what is freed")
    def test_a_tag_that_was_used_keeps_nothing(self):
        for nodes in (1, 2):
            with self.subTest(nodes=nodes):
                done = self.run_over(2, nodes, "many", bootstrap_timeout=60)
                grown = [int(number) for number in re.findall(r"(-?\d+) bytes", done.out)]
                self.assertEqual(len(grown), 2, done)
                self.assertLess(max(grown), 3000 * 8, done)  # of 3,000 tags; keeping a key of each takes 55 bytes


if __name__ == "__main__":
    unittest.main()
