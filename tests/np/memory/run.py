#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Memory of MPI_Alloc_mem that other processes of the node map: every way, limits, deaths.

usage: run.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
"""
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, SANITIZED, JobCase  # noqa: E402
from users import NOBODY, may_change_users  # noqa: E402

MAPPED = str(BUILD / "tests/np_mapped")
WAITING = str(BUILD / "tests/np_waiting")


def may_unshare():
    return shutil.which("unshare") is not None and subprocess.run(
        ["unshare", "-n", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def limit(which, value):
    return {"preexec_fn": lambda: resource.setrlimit(which, (value, value))}


class Mapped(JobCase):
    def run_mapped(self, way, *, code=0, options=(), until=(), more=None, **params):
        mca = [word for name, value in params.items() for word in ("--mca", name, value)]
        done = self.run_job("-n", 2, *options, *mca, MAPPED, way, *until, **(more or {}))
        self.assertEqual(done.code, code, done)
        found = re.search(r"(?m)^mapped (\d+)$", done.out)
        self.assertIsNotNone(found, done)
        return int(found[1]), done

    def test_every_way_brings_the_same(self):
        for way, messages in ("again", 200), ("both", 200):
            with self.subTest(way=way):
                self.assertEqual(self.run_mapped(way, shm_map="never")[0], 0)
                self.assertEqual(self.run_mapped(way, shm_maps="0")[0], 0)
                self.assertEqual(self.run_mapped(way, alloc_mem_shared_min="0")[0], 0)
                self.assertEqual(self.run_mapped(way, pml_static_large="ring")[0], 0)
                always, _ = self.run_mapped(way, until=("100",), shm_map="always", pml_static_large="get")
                self.assertGreaterEqual(always, 100)
                only, _ = self.run_mapped(way, shm_cma="no", pml_static_large="get")
                self.assertEqual(only, messages)

    def test_the_trial_includes_the_map(self):
        # Each way is tried nine times; the map has to come early enough for that, and may be the slower one.
        for _ in range(5):
            mapped, done = self.run_mapped("again", until=("10",), report="1", pml_static_large="get")
            if "no direct copies" in done.err or "tried from" in done.err:
                break
        if "no direct copies" in done.err:
            self.skipTest("processes may not read each other's memory here")
        self.assertGreater(mapped, 0)
        self.assertRegex(done.err, r"note: shm: gets from memory of MPI_Alloc_mem, tried from .*\d+ KiB: (map|system call) "
                                   r"\(system call \d+, map \d+ MB/s\)")

    def test_freed_while_mapped(self):
        for params in {}, {"shm_cma": "no"}, {"shm_maps": "3", "shm_map": "always"}:
            with self.subTest(params=params):
                self.run_mapped("freed", pml_static_large="get", **params)

    def test_more_pieces_than_objects(self):
        _, done = self.run_mapped("many", shm_cma="no", more=limit(resource.RLIMIT_NOFILE, 256))
        self.assertIn("objects 32\n", done.out)  # an eighth of the descriptors
        self.run_mapped("many")

    def test_children_of_the_owner(self):
        for params in {}, {"shm_cma": "no", "pml_static_large": "get"}:
            with self.subTest(params=params):
                self.run_mapped("forked", **params)

    def test_owner_killed(self):
        for params in {"shm_cma": "no"}, {"shm_map": "always"}:
            with self.subTest(params=params):
                self.run_mapped("killed", code=137, options=("-enable-recovery",), pml_static_large="get", **params)

    @unittest.skipIf(SANITIZED, "sanitizers need the address space for themselves")
    def test_too_much_is_refused_with_the_limit(self):
        _, done = self.run_mapped("sizes", more=limit(resource.RLIMIT_AS, 4 << 30))
        self.assertRegex(done.out, r"refused: .*no memory for 8589934592 bytes; the address space .*ulimit -v")

    @unittest.skipIf(SANITIZED, "sanitizers need the address space for themselves")
    def test_a_size_costs_nothing(self):
        _, done = self.run_mapped("sizes")
        self.assertNotIn("refused", done.out)

    def test_without_descriptors_memory_is_ordinary(self):
        mapped, done = self.run_mapped("poor", shm_map="always", log_level="info")
        self.assertEqual(mapped, 0)
        self.assertEqual(len(re.findall("MPI_Alloc_mem: ordinary memory from here on: .*memfd_create", done.err)), 2, done)


class Waiting(JobCase):
    """Deaths around a message that is written into the buffer of a receive that waits."""
    CASES = (("sender", "told"), ("sender", "before"), ("sender", "half"), ("sender", "after"), ("sender", "half", "cancel"),
             ("sender", "after", "cancel"), ("receiver", "told"), ("receiver", "half"))

    def test_at_every_stage(self):
        for case in self.CASES:
            for ranks in 2, 3:
                with self.subTest(case=case, ranks=ranks):
                    done = self.run_job("-n", ranks, "-enable-recovery", "--mca", "pml_early_push", "always", WAITING, *case,
                                        timeout=60)
                    if "it has written nothing" in done.err and "no direct copies" in done.err:
                        self.skipTest("processes may not write to each other's memory here")
                    self.assertEqual(done.code, 137, done)
                    gone = 0 if case[0] == "sender" else 1
                    alive = sorted(line for line in done.out.splitlines() if line.endswith("goes on"))
                    self.assertEqual(alive, [f"rank {rank} goes on" for rank in range(ranks) if rank != gone], done)


@unittest.skipUnless(may_change_users(), "needs root and setpriv")
class Users(JobCase):
    """Another user cannot read this one's processes, but is of the job."""

    def test_memory_is_handed_to_another_user(self):
        script = f'test $PMI_RANK = 0 && exec "$@"; exec {" ".join(NOBODY)} "$@"'
        done = self.run_job("-n", 2, "--mca", "pml_static_large", "get", "sh", "-c", script, "sh", MAPPED, "again")
        self.assertEqual(done.code, 0, done)
        self.assertIn("mapped 200\n", done.out, done)


@unittest.skipUnless(may_unshare(), "needs network namespaces")
class Namespaces(JobCase):
    """A rank whose mailboxes nobody reaches: what it would map goes another way."""

    def test_memory_that_cannot_be_handed_over(self):
        script = 'test $PMI_RANK = 0 && exec "$@"; exec unshare -n "$@"'
        for cma in "yes", "no":
            with self.subTest(cma=cma):
                done = self.run_job("-n", 2, "--mca", "shm_cma", cma, "--mca", "pml_static_large", "get", "--mca", "report",
                                    "1", "sh", "-c", script, "sh", MAPPED, "again")
                self.assertEqual(done.code, 0, done)
                self.assertIn("mapped 0\n", done.out, done)


if __name__ == "__main__":
    unittest.main()
