#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank dies and the job is kept (mpiexec -enable-recovery, -disable-auto-cleanup): who needs the dead rank gets
MPI_ERR_PROC_ABORTED, the others go on, MPI_Finalize ends.

usage: survivors.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, FULL, JobCase  # noqa: E402

SOON = str(BUILD / "tests/np_soon")
SURVIVE = str(BUILD / "tests/np_survive")
LATE = str(BUILD / "tests/np_late")
LEFT = str(BUILD / "tests/np_left")
PROBE = str(BUILD / "tests/pmi_probe")
NETWORKS = {name: {f"STARLING_MCA_btl_{name}_{what}": "lo"} for name, what in (("ucx", "devices"), ("ofi", "interface"))
            if (BUILD / f"lib/starling/btl_{name}.so").exists()}
WAYS = ("receive", "send", "long-send", "probe", "mprobe", "test", "iprobe", "any", "waitall", "allreduce",
        "long-allreduce", "bcast", "barrier", "ibarrier", "alltoall", "alltoallv", "reduce-scatter", "dup", "split",
        "creation", "merge", "inter-split", "graph", "exchange", "nothing")
LEFT_WAYS = ("poll", "cancel", "self", "block", "between", "thread")


class Survivors(JobCase):
    def expect_survivors(self, ranks, *way, option="-enable-recovery", mca=(), env=None):
        done = self.run_job("-n", ranks, option, *mca, SURVIVE, *way, env=env)
        self.assertEqual(done.code, 137, done)
        self.assertEqual(sorted(done.out.splitlines()), sorted(f"rank {r} goes on" for r in range(ranks - 1)), done)
        said = [line for line in done.err.splitlines() if line.startswith("mpiexec: ")]
        self.assertEqual(len(said), 1, done)
        self.assertRegex(said[0], rf"^mpiexec: rank {ranks - 1} pid \d+ on .*: signal SIGKILL, after PMI init; "
                                  "the others go on$")
        return done

    def test_who_needs_the_dead_rank(self):
        for ranks in (2, 3, 4, 16) if FULL else (3,):
            for way in WAYS:
                with self.subTest(ranks=ranks, way=way):
                    self.expect_survivors(ranks, way)

    def test_before_any_collective(self):
        for ranks in (2, 4, 16) if FULL else (4,):
            for way in WAYS if FULL else ("receive", "any", "allreduce", "dup", "creation"):
                with self.subTest(ranks=ranks, way=way):
                    self.expect_survivors(ranks, way, "fresh")

    def test_nobody_else_is_left(self):
        for way in ("any", "receive", "barrier"):
            self.expect_survivors(2, way)

    def test_in_the_middle_of_a_copy(self):
        for pml, ways in (("static", ("get", "ring", "auto")), ("dynamic", ("lend", "auto"))):
            for way in ways:
                with self.subTest(pml=pml, way=way):
                    self.expect_survivors(3, "exchange", mca=("--mca", "pml", pml, "--mca", f"pml_{pml}_large", way))

    @unittest.skipUnless(NETWORKS, "needs btl/ucx or btl/ofi")
    def test_over_several_nodes(self):
        few = ((2, 2, "receive"), (4, 2, "nothing"), (4, 4, "allreduce"), (4, 2, "bcast"), (4, 4, "iprobe"),
               (4, 2, "exchange"), (4, 4, "creation"))
        for network, env in NETWORKS.items():
            for ranks, nodes, way in [(4, nodes, way) for nodes in (2, 4) for way in WAYS] if FULL else few:
                with self.subTest(network, ranks=ranks, nodes=nodes, way=way):
                    done = self.expect_survivors(ranks, way, env=env,
                                                 mca=("--virtual-nodes", nodes, "--mca", "btl", f"self,shm,{network}"))
                    # The launcher knows of the end; a firewall is out of the question.
                    self.assertNotIn("not known to have ended", done.err, done)

    def test_either_name_of_the_option(self):
        for option in ("-disable-auto-cleanup", "--disable-auto-cleanup", "--enable-recovery"):
            self.expect_survivors(3, "receive", option=option)


class Kept(JobCase):
    """What the launcher does with a rank that fails in a kept job."""

    def test_others_work_on(self):
        script = "test $PMI_RANK != 1 || exit 9; sleep 0.5; echo done"
        done = self.run_job("-n", 3, "-enable-recovery", "sh", "-c", script)
        self.assertEqual((done.code, done.out), (9, "done\ndone\n"), done)
        self.assertIn("rank 1 pid ", done.err)

    def test_who_ends_right_after_its_init_does_not_end_that_of_others(self):
        """They may still wait for what it has had already."""
        for option in ("-disable-auto-cleanup", "-enable-recovery"):
            for code in (0, 1, 0, 1, 0, 1):
                done = self.run_job(option, "-n", 4, SOON, code)
                self.assertNotIn("MPI_Init", done.err)
                self.assertEqual(done.out.count("goes on"), 3, done)

    def test_a_stopped_rank_is_killed(self):
        script = "test $PMI_RANK != 1 || kill -STOP $$; sleep 1.5; echo done"
        done = self.run_job("-n", 3, "-enable-recovery", "sh", "-c", script)
        self.assertEqual((done.code, done.out), (147, "done\ndone\n"), done)

    def test_what_the_dead_rank_started_goes_with_it(self):
        script = "test $PMI_RANK != 1 || { sleep 1000 & (setsid sleep 1000 &) ; kill -KILL $$; }; sleep 0.5"
        done = self.run_job("-n", 2, "-enable-recovery", "sh", "-c", f"exec 2>/dev/null; {script}")
        self.assertEqual(done.code, 137, done)

    def test_abort_ends_the_job_nevertheless(self):
        done = self.run_job("-n", 4, "-enable-recovery", PROBE, "abort")
        self.expect_end(done, 42, "rank 0 pid ")

    def test_who_waits_in_a_fence_ends_the_job(self):
        done = self.run_job("-n", 3, "-enable-recovery", PROBE, "die", "before-fence", "kill")
        self.assertEqual(done.code, 137, done)
        self.assertIn("waits for it in a PMI barrier", done.err)


class InOrder(JobCase):
    """A rank that has left MPI is not missed by those who do not need it."""

    def test_a_slow_member_of_the_last_collective(self):
        for ranks in (2, 4):
            for way in ("reduce", "gather", "barrier"):
                with self.subTest(ranks=ranks, way=way):
                    self.assertEqual(self.expect_ok("-n", ranks, LATE, way).out, "done\n")

    def expect_rank_0_goes_on(self, ranks, way, *mca, env=None):
        done = self.run_job("-n", ranks, *mca, LEFT, way, env=env)
        self.assertEqual((done.code, done.out), (0, "rank 0 went on\n"), done)

    def test_who_asks_for_messages_of_the_gone(self):
        """Calls that do not block find nothing; those that would wait for ever are errors."""
        for ranks in (2, 3):
            for way in LEFT_WAYS + (("late",) if ranks > 2 else ()):
                with self.subTest(ranks=ranks, way=way):
                    self.expect_rank_0_goes_on(ranks, way)

    def test_who_asks_with_other_components(self):
        for mca in (("pml", "dynamic"), ("progress_thread", "on"), ("pml_early_push", "always")):
            for way in ("poll", "cancel", "block"):
                with self.subTest(mca=mca, way=way):
                    self.expect_rank_0_goes_on(2, way, "--mca", *mca)

    # Over libfabric a rank does not notice that another one has left while it sends it nothing.
    @unittest.skipUnless("ucx" in NETWORKS, "needs btl/ucx")
    def test_who_asks_over_a_network(self):
        for way in LEFT_WAYS + ("late",) if FULL else ("poll", "cancel", "block", "late"):
            with self.subTest(way=way):
                self.expect_rank_0_goes_on(3, way, "--virtual-nodes", 3, "--mca", "btl", "self,shm,ucx", env=NETWORKS["ucx"])


if __name__ == "__main__":
    unittest.main()
