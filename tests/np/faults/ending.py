#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How a process ends: what it has printed is kept, and the one that is to blame is named.

usage: ending.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "node"))
import pmi_server  # noqa: E402
from jobs import BUILD, JobCase  # noqa: E402

ENDING = str(BUILD / "tests/np_ending")


class Leaving(pmi_server.Job):
    """A process manager that goes away after its last answer to MPI_Init: which nodes there are."""
    leaves_after = "get"


class Output(JobCase):
    """What the program has printed and C's streams still hold."""

    def test_is_kept_when_the_job_is_aborted(self):
        for way, code in ("abort", 5), ("thread", 5), ("fatal", 6):
            with self.subTest(way=way):
                done = self.run_job("-n", 2, ENDING, way)
                self.assertEqual((done.code, done.out), (code, "rank 1 has printed this\n"), done)

    def test_is_kept_when_the_launcher_is_gone(self):
        (code, out, err), = Leaving(1, [ENDING, "launcher"]).wait()
        self.assertIn("the launcher is gone", err)
        self.assertEqual((code, out), (113, "rank 0 has printed this\n"), err)

    def test_what_cannot_be_written_keeps_nobody(self):
        for way in ("locked", "full"):
            with self.subTest(way=way):
                process = self.start("-n", 2, ENDING, way)
                self.assertEqual(process.wait(60), 5)  # nobody reads meanwhile
                process.communicate()


if __name__ == "__main__":
    unittest.main()
