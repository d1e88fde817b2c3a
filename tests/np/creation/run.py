#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Communicators from groups: what goes wrong is said by whoever knows it, and nothing is kept.

usage: run.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
Standard library only.
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, JobCase  # noqa: E402

ABSENT = str(BUILD / "tests/np_creation_absent")


class Words(JobCase):
    def test_a_predefined_communicator_that_is_not_there(self):
        for which, name in (("world", "MPI_COMM_WORLD"), ("self", "MPI_COMM_SELF")):
            for when, text in (("session", "which only MPI_Init makes, and this program has opened sessions alone"),
                               ("finalized", "which has ended with MPI_Finalize")):
                with self.subTest(name, when=when):
                    done = self.run_job("-n", 1, ABSENT, which, when)
                    self.assertNotEqual(done.code, 0, done)
                    self.assertIn(f"comm is {name}, {text}", done.err, done)


if __name__ == "__main__":
    unittest.main()
