#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How a process ends: what it has printed is kept, and the one that is to blame is named.

usage: ending.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
"""
import itertools
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "node"))
import pmi_server  # noqa: E402
from jobs import BUILD, FULL, MPIEXEC, PATIENCE, JobCase, marked_processes  # noqa: E402

ENDING = str(BUILD / "tests/np_ending")
PROBE = str(BUILD / "tests/pmi_probe")
HYDRA = shutil.which("mpiexec.hydra")
NETWORKS = [name for name in ("ucx", "ofi") if (BUILD / f"lib/starling/btl_{name}.so").exists()]
LINES = str(BUILD / "tests/np_lines")
EVERY_LINE = [f"rank {rank} {what}" for rank in range(3) for what in ("starts", "works")]
PROC_ABORTED = 58  # the class MPI_ERR_PROC_ABORTED


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

    def test_lines_of_all_ranks_are_kept_when_one_aborts(self):
        """Into a pipe and into a file, printed before MPI_Init and after it."""
        done = self.run_job("-n", 3, LINES)
        self.assertEqual((done.code, sorted(done.out.splitlines())), (3, EVERY_LINE), done)
        with tempfile.NamedTemporaryFile() as file:
            done = self.finish(self.start("-c", f'exec "$0" "$@" >{file.name}', MPIEXEC, "-n", 3, LINES, launcher="sh"))
            lines = pathlib.Path(file.name).read_text().splitlines()
        self.assertEqual((done.code, sorted(lines)), (3, EVERY_LINE), done)

    def test_a_buffer_of_the_programs_own_is_left_alone(self):
        for size, lines in ("65536", ["rank 1 starts", "rank 1 works"]), ("0", EVERY_LINE):
            done = self.run_job("-n", 3, LINES, size)
            self.assertEqual((done.code, sorted(done.out.splitlines())), (3, lines), done)

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


class Exit(JobCase):
    def test_while_other_threads_are_in_mpi(self):
        for _ in range(20 if FULL else 5):
            self.expect_end(self.run_job("-n", 2, ENDING, "threads"), 1, "mpiexec: rank 1 pid ",
                            "exit code 0 without MPI_Finalize, after PMI init")


@unittest.skipUnless(HYDRA, "needs mpiexec.hydra (MPICH's launcher)")
class Leave(JobCase):
    """Under a launcher that counts those as failed who have not told it that they are done."""
    NODES = {1: (), 2: ("-launcher", "fork", "-hosts", "localhost,127.0.0.1", "-ppn", "2")}
    NETWORK = {"STARLING_MCA_btl_ucx_devices": "lo", "STARLING_MCA_btl_ofi_interface": "lo"}

    def run_over(self, nodes, *command):
        return self.run_job(*self.NODES[nodes], "-n", 4, *command, launcher=HYDRA, env=self.NETWORK)

    def test_the_others_go_on_however_one_ends(self):
        cases = list(itertools.product((1, 2) if NETWORKS else (1,), ("_exit", "quick_exit", "exec"), ("",)))
        if NETWORKS:
            cases.append((2, "quick_exit", "flat"))  # which has not read all addresses when MPI ends
        for nodes, way, bootstrap in cases:
            with self.subTest(nodes=nodes, way=way, bootstrap=bootstrap):
                done = self.run_over(nodes, "-genv", "STARLING_MCA_bootstrap", bootstrap, ENDING, "finalized", way)
                self.assertEqual(sorted(done.out.splitlines()), [f"rank {r} has gone on" for r in range(3)], done)
                self.assertEqual((done.code, done.err), (0, ""), done)

    def test_sessions_after_the_last_one_was_closed(self):
        for nodes, program in itertools.product((1, 2) if NETWORKS else (1,), ("again", "with_world", "several")):
            with self.subTest(nodes=nodes, program=program):
                done = self.run_over(nodes, BUILD / f"tests/mpi/mpi_session_{program}")
                self.assertEqual((done.code, done.err), (0, ""), done)


class Blame(JobCase):
    """The one that is to blame is named, by one message."""

    def await_end_of_all(self):
        """Hydra ends before the processes that it kills."""
        deadline = time.monotonic() + PATIENCE
        while marked_processes() and time.monotonic() < deadline:
            time.sleep(0.02)

    def test_of_one_that_never_came(self):
        done = self.run_job("-n", 4, "sh", "-c", f"test $PMI_RANK != 1 || exit 0; exec {ENDING} abort")
        self.expect_end(done, PROC_ABORTED, "mpiexec: rank 1 pid ", "has ended with exit code 0 before MPI_Init; rank ")

    def test_of_one_whose_end_is_heard_of_after_a_survivor_has_aborted(self):
        done = self.run_job("-n", 3, PROBE, "closing")
        self.assertIn("mpiexec: rank 1 pid ", done.err, done)
        self.assertEqual(done.err.count("\n"), 1, done)

    @unittest.skipUnless(NETWORKS, "needs a network transport")
    def test_of_one_that_cannot_start(self):
        """Those of other nodes do not wait for it until their time-out."""
        for launcher, nodes in (MPIEXEC, ("--virtual-nodes", 2)), (HYDRA, Leave.NODES[2]):
            if launcher is None:
                continue
            for setting in "btl=nonsense", "bootstrap_timeout=nonsense", "shm=nonsense":
                with self.subTest(launcher=launcher, setting=setting):
                    script = f"test $PMI_RANK != 3 || export STARLING_MCA_{setting}; exec {ENDING} abort"
                    done = self.run_job(*nodes, "-n", 4, "sh", "-c", script, launcher=launcher,
                                        env={**Leave.NETWORK, "STARLING_MCA_shm": "memfd"})
                    self.assertNotEqual(done.code, 0, done)
                    self.assertIn("MPI_Init_thread: ", done.err, done)
                    self.assertIn(setting.split("=")[-1], done.err, done)
                    if launcher == MPIEXEC:
                        self.assertEqual(done.err.count("mpiexec: "), 1, done)
                        self.assertIn("mpiexec: rank 3 pid ", done.err, done)
                    self.assertLess(done.seconds, PATIENCE, done)
                    self.await_end_of_all()


if __name__ == "__main__":
    unittest.main()
