#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Many jobs at once; what killed jobs leave; floods, large messages, and what is done very often.

usage: crowd.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
Small numbers by default; those of docs/reliability.md with STARLING_TESTS_FULL=1. Standard library only.
"""
import itertools
import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, FULL, MPIEXEC, PATIENCE, SANITIZED, JobCase, marked_processes  # noqa: E402

HYDRA = shutil.which("mpiexec.hydra")
RING = str(BUILD / "examples/ring")
STUCK = str(BUILD / "tests/np_stuck")
LOADS = str(BUILD / "tests/np_loads")


class Jobs(JobCase):
    def setUp(self):
        super().setUp()
        # Where this test's jobs have their names: those of other jobs come and go.
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="test-starling-", dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, self.place)

    def own_names(self):
        return sorted(os.listdir(self.place))

    def environment(self, **params):
        params = {"shm_posix_directory": self.place, **params}
        return {"STARLING_MCA_" + name: str(value) for name, value in params.items()}

    def test_side_by_side(self):
        """Each in its own memory: with the launcher's, with names, with a memfd handed over."""
        launchers = [(MPIEXEC, {}), (MPIEXEC, {"shm": "posix"})]
        if HYDRA:
            launchers += [(HYDRA, {"shm": "posix"}), (HYDRA, {"shm": "memfd"})]
        count = 64 if FULL else 8
        jobs = []
        for (launcher, params), _ in zip(itertools.cycle(launchers), range(count)):
            jobs.append(self.start("-n", 4, RING, "20", launcher=launcher, env=self.environment(**params)))
        for job in jobs:
            done = self.finish(job, timeout=600)
            self.assertEqual((done.code, done.err), (0, ""), done)
            self.assertIn("20 rounds over 4 ranks", done.out)

    def victims(self, launcher, params):
        """A job that waits, and its processes: the launcher first."""
        job = self.start("-n", 4, STUCK, "receive", launcher=launcher, env=self.environment(**params))
        deadline = time.monotonic() + PATIENCE
        while len(self.programs(STUCK)) < 4 and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.5)
        return job, self.programs(STUCK)

    @staticmethod
    def programs(path):
        def is_it(pid):
            try:
                return os.readlink(f"/proc/{pid}/exe") == str(pathlib.Path(path).resolve())
            except OSError:
                return False
        return sorted(pid for pid in marked_processes() if is_it(pid))

    def test_nothing_is_left_by_killed_ranks(self):
        """After kill -9 of any ranks, also of all at once; a job that follows is not disturbed."""
        ways = [(MPIEXEC, {}), (MPIEXEC, {"shm": "posix"})]
        if HYDRA:
            ways += [(HYDRA, {"shm": "posix"}), (HYDRA, {"shm": "memfd"})]
        subsets = [s for n in range(1, 5) for s in itertools.combinations(range(4), n)]
        for number, (launcher, params) in enumerate(ways):
            for subset in subsets if FULL else (subsets[number], subsets[-1 - number]):
                with self.subTest(launcher=launcher, params=params, killed=subset):
                    job, ranks = self.victims(launcher, params)
                    self.assertEqual(len(ranks), 4)
                    for rank in subset:
                        try:
                            os.kill(ranks[rank], signal.SIGKILL)
                        except ProcessLookupError:
                            pass  # the launcher was faster
                    self.finish(job)
                    deadline = time.monotonic() + PATIENCE
                    while marked_processes() and time.monotonic() < deadline:
                        time.sleep(0.02)
                    self.assertEqual(marked_processes(), [])
        self.assertEqual(self.run_job("-n", 4, RING, "5", env=self.environment(shm="posix")).code, 0)
        self.assertEqual(self.own_names(), [], "the next job has removed what was left")

    def test_no_name_is_left_by_what_is_killed_while_it_starts(self):
        """Rank 1 never comes, so the segment of rank 0 still has its name when rank 0, or mpiexec, is killed."""
        script = f"test $PMI_RANK = 0 || exec sleep 1000; exec {RING} 5"
        for victim in ("rank", "mpiexec"):
            with self.subTest(killed=victim):
                job = self.start("-n", 2, "sh", "-c", script, env=self.environment(shm="posix"))
                deadline = time.monotonic() + PATIENCE
                while not self.own_names() and time.monotonic() < deadline:
                    time.sleep(0.02)
                self.assertNotEqual(self.own_names(), [], "rank 0 has made no segment")
                os.kill(job.pid if victim == "mpiexec" else self.programs(RING)[0], signal.SIGKILL)
                self.finish(job)
                while (self.own_names() or marked_processes()) and time.monotonic() < deadline:
                    time.sleep(0.02)
                self.assertEqual(self.own_names(), [])


class Loads(JobCase):
    def expect_load(self, ranks, *words, **more):
        return self.expect_ok("-n", ranks, LOADS, *words, timeout=1500, **more).out

    def test_flood(self):
        """Row 8: what a receiver holds for a flood stays below pml_unexpected_max (64 MiB) x 1.2."""
        count = 300_000 if FULL else 20_000
        for ranks in (2, 4) if FULL else (2,):
            said = self.expect_load(ranks, "flood", count // (ranks - 1))
            growth, sent = map(int, re.match(r"growth (\d+) of (\d+)", said).groups())
            self.assertGreater(sent, 20_000_000)
            if not SANITIZED:
                self.assertLess(growth, 1.2 * 64 * 2**20)

    def test_announced(self):
        """Long messages that are not received: announcements take as much as the eager credit, 1 MiB a pair."""
        growth = int(re.match(r"growth (\d+) of", self.expect_load(2, "announced", 60_000)).group(1))
        if not SANITIZED:
            self.assertLess(growth, 3 * 2**20)

    def test_flood_from_everybody(self):
        for ranks in (2, 4):
            self.expect_load(ranks, "all-flood", 20_000 if FULL else 2_000)

    def test_large_counts(self):
        self.expect_load(2, "counts")
        self.expect_load(2, "long", 3 * 2**20 + 1)

    @unittest.skipUnless(FULL, "4 GiB + 1 byte takes 8 GiB of memory: with STARLING_TESTS_FULL=1 only")
    def test_more_than_four_gib(self):
        self.expect_load(2, "long", 2**32 + 1)
        self.expect_load(2, "long", 2**32 + 1, env={"STARLING_MCA_shm_cma": "no"})

    def test_duplicates(self):
        self.expect_load(2, "dups", 10**7 if FULL else 10**4 if SANITIZED else 10**5)

    def test_sessions(self):
        self.expect_load(2, "sessions", 10**5 if FULL else 10**3)
        self.expect_load(4, "sessions", 10**3 if FULL else 100)


if __name__ == "__main__":
    unittest.main()
