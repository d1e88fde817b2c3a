#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Memory that other processes map, under pml/dynamic: copied by several processes, with each rule, and deaths.

usage: claimed.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
"""
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, JobCase  # noqa: E402

MAPPED = str(BUILD / "tests/np_mapped")
HALO = str(BUILD / "bench/bench_mpi_halo")


class Claimed(JobCase):
    def run_dynamic(self, program, *words, ranks=2, code=0, options=(), **params):
        mca = [word for name, value in params.items() for word in ("--mca", name, value)]
        done = self.run_job("-n", ranks, *options, "--mca", "pml", "dynamic", "--mca", "report", "1", *mca, program, *words)
        self.assertEqual(done.code, code, done)
        return done

    def claimed(self, done):
        found = re.search(r"copies by several processes: (\d+) received, chunks of own messages (\d+), of others' (\d+)", done.err)
        self.assertIsNotNone(found, done)
        return tuple(map(int, found.groups()))

    def test_every_rule_brings_the_same(self):
        for params in ({}, {"pml_dynamic_large": "claim"}, {"pml_dynamic_policy": "popcount"}, {"shm_cma": "no"},
                       {"pml_dynamic_steal": "never"}):
            for way in "again", "both":
                with self.subTest(params=params, way=way):
                    received, chunks, stolen = self.claimed(self.run_dynamic(MAPPED, way, **params))
                    self.assertGreater(received, 10)
                    self.assertGreaterEqual(chunks, received // 2)
                    self.assertEqual(stolen, 0, "two processes have nobody else")

    def test_without_maps_nothing_is_claimed(self):
        done = self.run_dynamic(MAPPED, "again", shm_map="never")
        self.assertNotIn("copies by several processes", done.err)

    def test_freed_while_mapped(self):
        self.run_dynamic(MAPPED, "freed", pml_dynamic_large="claim")

    def test_owner_killed(self):
        self.run_dynamic(MAPPED, "killed", code=137, options=("-enable-recovery",), pml_dynamic_large="claim")

    @unittest.skipUnless(pathlib.Path(HALO).exists(), "built without the benchmarks")
    def test_others_help(self):
        # More ranks than cores may be: then only `always` lets others help.
        for rule in "model", "popcount":
            with self.subTest(rule=rule):
                done = self.run_dynamic(HALO, "--memory", "shared", "--iterations", "5", "--intra", "262144", ranks=4,
                                        pml_dynamic_large="claim" if rule == "model" else "auto", pml_dynamic_policy=rule,
                                        pml_dynamic_steal="always")
                self.assertGreater(self.claimed(done)[0], 10)

    def test_what_was_found_outlasts_the_job(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder) / "trials")
            self.run_dynamic(MAPPED, "again", pml_trials_file=path)
            text = pathlib.Path(path).read_text()
            self.assertTrue(text.startswith("Starling's trials of large messages, layout 1\npml dynamic\nversion "), text)
            self.assertGreater(len(text.splitlines()), 4, "something was found")
            again = self.run_dynamic(MAPPED, "again", pml_trials_file=path)
            self.assertIn("trials begin with what " + path + " has", again.err)
            other = self.run_job("-n", 2, "--mca", "pml", "static", "--mca", "pml_trials_file", path, MAPPED, "again")
            self.assertEqual(other.code, 0, other)
            self.assertIn("it has 'pml dynamic' where this job has 'pml static'", other.err)


if __name__ == "__main__":
    unittest.main()
