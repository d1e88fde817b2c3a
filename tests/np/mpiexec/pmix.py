#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec --pmi pmix: programs that speak PMIx alone, Starling's by pmi=pmix and Open MPI's, and how such jobs end.

usage: pmix.py BUILD_DIRECTORY [-v] [CASE.test ...]
Standard library only.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, MPIEXEC, PATIENCE, SANITIZED, JobCase, marked_processes  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[3]
KIN = str(BUILD / "tests/np_kin")
RING = str(BUILD / "examples/ring")
BUILT = (BUILD / "lib/starling/pmi_pmix.so").exists()
BY_PMIX = ("--pmi", "pmix", "--mca", "pmi", "pmix")


def needs_pmix(case):
    case = unittest.skipUnless(BUILT, "pmi/pmix was not built")(case)
    return unittest.skipIf(SANITIZED, "libpmix is not built with sanitizers")(case)


def helpers():
    return [pid for pid in marked_processes() if pathlib.Path(f"/proc/{pid}/comm").read_text() == "mpiexec-pmix\n"]


@needs_pmix
class Served(JobCase):
    def test_starlings_own_client(self):
        for ranks in (1, 2, 16):
            with self.subTest(ranks=ranks):
                done = self.expect_ok(*BY_PMIX, "-n", ranks, KIN, "rank")
                self.assertEqual(set(done.out.splitlines()), {f"rank {rank} of {ranks}" for rank in range(ranks)})
        done = self.run_job(*BY_PMIX, "--mca", "startup_report", 1, "-n", 3, RING)
        self.assertEqual(done.code, 0, done)
        self.assertIn("3 processes, PMIx ", done.err)

    def test_programs_that_speak_pmi_keep_to_it(self):
        done = self.run_job("--pmi", "pmix", "--mca", "startup_report", 1, "-n", 2, RING)
        self.assertEqual(done.code, 0, done)
        self.assertIn("2 processes, PMI ", done.err)

    def test_several_programs(self):
        done = self.expect_ok(*BY_PMIX, "-n", 2, KIN, "a", ":", "-n", 1, KIN, "b")
        self.assertEqual(sorted(done.out.splitlines()), ["a 0 of 3", "a 1 of 3", "b 2 of 3"])

    def test_ends(self):
        for how, code in (("abort", 7), ("kill", 137), ("exit", 3)):
            with self.subTest(how=how):
                done = self.run_job(*BY_PMIX, "-n", 3, KIN, "rank", "die", how)
                self.assertEqual(done.code, code, done)
                self.assertRegex(done.err, r"mpiexec: rank 1 pid \d+ on ")

    def test_an_end_without_finalize(self):
        # Its shell ends with 0, the program inside without MPI_Finalize: the others would wait for ever.
        done = self.run_job(*BY_PMIX, "-n", 2, "sh", "-c", f"{KIN} rank die exit || true")
        self.assertEqual(done.code, 1, done)
        self.assertIn("exit code 0 without MPI_Finalize, while it used PMIx", done.err)

    def start_waiting(self):
        process = self.start(*BY_PMIX, "-n", 2, KIN, "rank", "child", "sleep 987")
        for _ in range(2):
            self.assertRegex(process.stdout.readline(), r"rank \d of 2")
        return process

    def gone(self):
        deadline = time.monotonic() + PATIENCE
        while (marked_processes() or os.listdir(self.folder)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(([pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() for pid in marked_processes()],
                          os.listdir(self.folder)), ([], []))

    def test_the_server_is_killed(self):
        process = self.start_waiting()
        server, = helpers()
        os.kill(server, signal.SIGKILL)
        done = self.finish(process)
        self.assertEqual(done.code, 1, done)
        self.assertIn("mpiexec: the process that serves PMIx has died\n", done.err)
        self.gone()

    def test_mpiexec_is_killed(self):
        process = self.start_waiting()
        self.assertEqual(len(helpers()), 1)
        process.kill()
        process.communicate()
        self.gone()

    def test_ctrl_c(self):
        process = self.start_waiting()
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(process).code, 130)
        self.gone()

    def test_what_cannot_be_served(self):
        done = self.run_job("--pmi", "pmix", "--virtual-nodes", 2, "-n", 2, "true")
        self.expect_end(done, 2, "option -pmi pmix serves one node")
        self.expect_end(self.run_job("--pmi", "pmi3", "-n", 2, "true"), 2, '"pmi3" is neither pmi')


class Without(JobCase):
    """A machine without a usable libpmix."""

    def test_mpiexec_does_not_need_it(self):
        library = pathlib.Path(self.folder, "libpmix.so.2")
        library.write_bytes(b"")
        env = {"LD_LIBRARY_PATH": self.folder}
        self.expect_ok("-n", 2, KIN, "rank", env=env)
        done = self.run_job("--pmi", "pmix", "-n", 2, KIN, "rank", env=env)
        self.expect_end(done, 1, "option -pmi pmix: there is no PMIx server: ", "(package libpmix")
        library.unlink()


def builds_openmpi():
    """Whether Open MPI's compiler and its headers are here; they are in packages of their own."""
    if not shutil.which("mpicc.openmpi"):
        return False
    places = subprocess.run(["mpicc.openmpi", "--showme:incdirs"], capture_output=True, text=True, timeout=60).stdout
    return any((pathlib.Path(place) / "mpi.h").exists() for place in places.split())


@needs_pmix
@unittest.skipUnless(builds_openmpi(), "needs mpicc.openmpi and its mpi.h (libopenmpi-dev)")
class OpenMpi(JobCase):
    """Programs of Open MPI, built with its own compiler."""

    def setUp(self):
        super().setUp()
        self.addCleanup(shutil.rmtree, self.build_programs())

    def build_programs(self):
        folder = pathlib.Path(self.folder + ".programs")
        folder.mkdir()
        for name, source in (("ring", SOURCE / "examples/ring.c"), ("kin", SOURCE / "tests/np/launchers/kin.c"),
                             ("hello", SOURCE / "examples/hello.c"), ("names", SOURCE / "tests/np/mpiexec/names.c")):
            subprocess.run(["mpicc.openmpi", "-o", folder / name, source], check=True, timeout=60)
        self.ring, self.kin, self.names, self.hello = (str(folder / name) for name in ("ring", "kin", "names", "hello"))
        return folder

    def test_ranks(self):
        for ranks in (1, 2, 16):
            with self.subTest(ranks=ranks):
                done = self.run_job("--pmi", "pmix", "-n", ranks, self.kin, "rank")
                self.assertEqual(done.code, 0, done)
                self.assertEqual(set(done.out.splitlines()), {f"rank {rank} of {ranks}" for rank in range(ranks)})

    def test_hello(self):
        done = self.run_job("--pmi", "pmix", "-n", 3, self.hello)
        self.assertEqual((done.code, done.out.count("of 3")), (0, 3), done)

    def test_names_are_published_found_and_withdrawn(self):
        done = self.run_job("--pmi", "pmix", "-n", 2, self.names)
        self.assertEqual(done.code, 0, done)
        self.assertEqual(sorted(done.out.splitlines()), ["rank 0: names work", "rank 1: names work"], done)

    def test_its_shared_memory_goes_with_the_server(self):
        # Under Open MPI's own mpirun a daemon removes it; in /dev/shm it would stay here.
        look = 'ls "$OMPI_MCA_btl_vader_backing_directory"'
        done = self.run_job("--pmi", "pmix", "-n", 2, self.kin, "rank", "child", look)
        self.assertEqual(done.code, 0, done)
        self.assertIn("vader_segment", done.out)

    def test_a_ring(self):
        done = self.run_job("--pmi", "pmix", "-n", 4, self.ring)
        self.assertEqual(done.code, 0, done)

    def test_ends(self):
        for how, code in (("abort", 7), ("kill", 137), ("exit", 3)):
            with self.subTest(how=how):
                done = self.run_job("--pmi", "pmix", "-n", 3, self.kin, "rank", "die", how)
                self.assertEqual(done.code, code, done)


if __name__ == "__main__":
    unittest.main()
