#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Too little of something: shared memory file systems of 64 KiB to 8 MiB, descriptors.

usage: space.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
File systems are made in a mount namespace of their own; where that is refused the tests are skipped, and say so.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, FULL, MPIEXEC, SANITIZED, JobCase  # noqa: E402

HYDRA = shutil.which("mpiexec.hydra")
RING = str(BUILD / "examples/ring")
HALVES = str(BUILD / "tests/np_halves")
LOADS = str(BUILD / "tests/np_loads")
NAMESPACE = ["unshare", "--mount", "sh", "-c"]


def may_mount():
    done = subprocess.run([*NAMESPACE, "mount -t tmpfs -o size=64k tmpfs /dev/shm"], stderr=subprocess.DEVNULL)
    return shutil.which("unshare") is not None and done.returncode == 0


@unittest.skipUnless(may_mount(), "needs a mount namespace of its own")
class SmallFileSystem(JobCase):
    """A job either runs, or says what it needs and what is there; no signal ends a rank."""
    SIZES = ("64k", "128k", "256k", "512k", "1m", "2m", "4m", "8m")

    def run_in(self, size, *command, ranks=4, launcher=MPIEXEC, **params):
        env = {"STARLING_MCA_" + name: str(value) for name, value in params.items()}
        script = f"mount -t tmpfs -o size={size} tmpfs /dev/shm && exec \"$0\" \"$@\""
        return self.finish(self.start("--mount", "sh", "-c", script, launcher, "-n", ranks, *command,
                                      launcher="unshare", env=env))

    def expect_run_or_reason(self, done):
        self.assertNotRegex(done.err, "SIGBUS|SIGSEGV|AddressSanitizer")
        if done.code == 0:
            return
        self.assertRegex(done.err, r"/dev/shm.*no room for \d+ more bytes.*free: \d+ bytes", done)

    def test_a_name_runs_or_says_what_is_missing(self):
        ended = set()
        for size in self.SIZES:
            for command in ((RING, "20"), (LOADS, "all-flood", "200")):
                with self.subTest(size=size, command=command):
                    done = self.run_in(size, *command, shm="posix", shm_memory_wait=1)
                    self.expect_run_or_reason(done)
                    ended.add(done.code == 0)
        self.assertEqual(ended, {True, False}, "neither the smallest nor the largest size tells anything")

    def test_a_send_without_room_ends_the_calls_that_also_receive(self):
        """The receive waits for a rank that has failed, too: nobody would end it."""
        for size in ("96k", "128k"):
            for call in ("sendrecv", "isendrecv", "waitall", "alltoall", "ialltoall", "allgather"):
                with self.subTest(size=size, call=call):
                    done = self.run_in(size, HALVES, call, shm="posix", shm_memory_wait=1)
                    self.expect_run_or_reason(done)
                    self.assertNotEqual(done.code, 0, "there was room: nothing is tested")
            with self.subTest(size=size, call="waitall", errors="returned"):
                done = self.run_in(size, HALVES, "waitall", "returns", shm="posix", shm_memory_wait=1)
                self.assertEqual(done.code, 42, done)
                self.assertIn("receive pending, send failed", done.out)

    def test_a_memfd_ignores_the_limit(self):
        for size in self.SIZES if FULL else self.SIZES[::4]:
            for params in {"shm": "memfd"}, {}:
                with self.subTest(size=size, params=params):
                    self.assertEqual(self.run_in(size, LOADS, "all-flood", "200", **params).code, 0)

    @unittest.skipUnless(HYDRA, "needs mpiexec.hydra (MPICH's launcher)")
    def test_without_our_launcher(self):
        for size in self.SIZES if FULL else self.SIZES[::4]:
            with self.subTest(size=size):
                self.assertEqual(self.run_in(size, LOADS, "all-flood", "100", launcher=HYDRA).code, 0)


@unittest.skipIf(SANITIZED, "sanitizers need descriptors of their own")
class Descriptors(JobCase):
    """A limit that is too low is refused with the number that is needed, or does not matter."""

    def limited(self, limit, *args, **params):
        env = {"STARLING_MCA_" + name: str(value) for name, value in params.items()}
        return self.finish(self.start("-c", f"ulimit -n {limit}; exec \"$0\" \"$@\"", MPIEXEC, *args,
                                      launcher="sh", env=env))

    def test_every_low_limit(self):
        refused = set()
        for limit in range(4, 65, 1 if FULL else 6):
            for params in {}, {"shm": "posix"}, {"shm": "memfd"}:
                with self.subTest(limit=limit, params=params):
                    done = self.limited(limit, "-n", 4, RING, "5", **params)
                    self.assertNotRegex(done.err, "SIG(SEGV|ABRT|BUS)")
                    refused.add(done.code != 0)
                    if done.code != 0:
                        self.assertRegex(done.err, r"needs \d+ file descriptors|[Tt]oo many open files", done)
        self.assertEqual(refused, {True, False})

    def test_only_the_ranks_are_limited(self):
        """Their own limit may be lower than what mpiexec needs."""
        for limit in range(6, 17, 1 if FULL else 3):
            with self.subTest(limit=limit):
                done = self.run_job("-n", 4, "sh", "-c", f"ulimit -n {limit}; exec {RING} 5")
                self.assertNotRegex(done.err, "SIG(SEGV|ABRT|BUS)")
                if done.code != 0:
                    self.assertRegex(done.err, "[Tt]oo many open files", done)


if __name__ == "__main__":
    unittest.main()
