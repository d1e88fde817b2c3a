#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The progress thread: what ends while a rank computes, and how the thread begins and ends.

usage: run.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
"""
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, JobCase  # noqa: E402

OVERLAP = str(BUILD / "tests/np_progress_overlap")
ENDS = str(BUILD / "tests/np_progress_ends")
NETWORKS = [name for name in ("ucx", "ofi") if (BUILD / f"lib/starling/btl_{name}.so").exists()]
LOOPBACK = {"STARLING_MCA_btl_ucx_devices": "lo", "STARLING_MCA_btl_ofi_interface": "lo"}
ON = ("--mca", "progress_thread", "on")
WAYS = ("send", "receive", "iallreduce", "ibarrier")


class OverlapCase(JobCase):
    def overlap(self, way, ranks=2, mca=ON, seconds=60, **more):
        with tempfile.NamedTemporaryFile(prefix="starling-flags-") as flags:
            flags.truncate(4096)
            return self.run_job("-n", ranks, *mca, OVERLAP, way, seconds, flags.name, **more)

    def expect_overlap(self, *args, **more):
        done = self.overlap(*args, **more)
        self.assertEqual((done.code, done.err), (0, ""), done)


class Overlap(OverlapCase):
    def test_by_each_way_of_long_messages(self):
        for large in ("ring", "get", "auto"):
            for way in ("send", "receive"):
                with self.subTest(large=large, way=way):
                    self.expect_overlap(way, mca=(*ON, "--mca", "pml_static_large", large))

    def test_collectives(self):
        for way, ranks in ("iallreduce", 2), ("iallreduce", 4), ("ibarrier", 4):
            with self.subTest(way=way, ranks=ranks):
                self.expect_overlap(way, ranks)

    def test_nothing_moves_without_it(self):
        for mca in (), ("--mca", "progress_thread", "off"):
            with self.subTest(mca=mca):
                done = self.overlap("receive", mca=mca, seconds=1)
                self.assertIn("nothing has moved while this rank computed", done.err, done)
                self.assertEqual(done.code, 4, done)

    def test_the_program_s_operation_runs_in_its_own_thread(self):
        self.expect_overlap("user_op")

    def test_the_program_s_handlers_do_not_run_in_it(self):
        self.expect_overlap("signals")


@unittest.skipUnless(NETWORKS, "needs btl/ucx or btl/ofi")
class Networks(OverlapCase):
    def test_between_nodes(self):
        for network in NETWORKS:
            for way, ranks in ("send", 2), ("receive", 2), ("iallreduce", 4):
                with self.subTest(network=network, way=way):
                    # What is said about a connection that closes at the end is the transport's tests' concern.
                    done = self.overlap(way, ranks, env=LOOPBACK,
                                        mca=("--virtual-nodes", "2", *ON, "--mca", "btl", f"self,shm,{network}"))
                    self.assertEqual(done.code, 0, done)


class Ends(JobCase):
    def ends(self, way, ranks=2, mca=ON, env=None):
        return self.run_job("-n", ranks, *mca, ENDS, way, env=env)

    def test_in_order(self):
        for way in ("finalize", "sessions", "idle"):
            with self.subTest(way=way):
                done = self.ends(way)
                self.assertEqual((done.code, done.err), (0, ""), done)

    def test_children_of_a_fork_have_none(self):
        # In a child LeakSanitizer looks for the threads of the parent, and complains that they are not there.
        options = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        done = self.ends("fork", env={"ASAN_OPTIONS": options.lstrip(":")})
        self.assertEqual((done.code, done.err), (0, ""), done)

    def test_it_is_not_made_unasked(self):
        for mca in (), ("--mca", "progress_thread", "off"):
            done = self.ends("none", mca=mca)
            self.assertEqual((done.code, done.err), (0, ""), done)

    def test_otherwise(self):
        for way, code, text in (("exit", 5, "exit code 5, after PMI init"), ("abort", 6, "MPI_Abort(6)"),
                                ("exec", 7, "exit code 7, after PMI init")):
            with self.subTest(way=way):
                self.expect_end(self.ends(way), code, text)


class Deaths(JobCase):
    def test_are_told_by_the_next_call(self):
        done = self.run_job("-n", 2, "-enable-recovery", *ON, ENDS, "killed")
        self.assertEqual((done.code, done.out), (137, "rank 0 has computed\n"), done)

    def test_end_the_job_in_the_next_call(self):
        done = self.run_job("-n", 2, "-enable-recovery", *ON, ENDS, "fatal")
        self.assertEqual(done.out, "rank 0 has computed\n", done)
        self.assertIn("MPI_Wait", done.err)


class Reports(JobCase):
    def report(self, *mca):
        return self.run_job("-n", 2, "--mca", "startup_report", "1", *mca, ENDS, "report").err

    def test_cost_and_reason(self):
        self.assertRegex(self.report(*ON), r"progress thread: .* \(progress_thread=on\); each MPI call takes a lock "
                                           r"for it: \d+ ns here")


if __name__ == "__main__":
    unittest.main()
