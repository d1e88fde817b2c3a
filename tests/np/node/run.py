#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs whose processes have to find each other on the node by themselves.

usage: run.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
After every job it checks that no name in /dev/shm and no socket is left. Standard library only.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest

import pmi_server

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, NamesCase, with_time  # noqa: E402

HYDRA = shutil.which("mpiexec.hydra")
RING = str(BUILD / "examples/ring")
SESSIONS = str(BUILD / "examples/sessions_overlap")


@unittest.skipUnless(HYDRA, "needs mpiexec.hydra (MPICH's launcher)")
class Hydra(NamesCase):
    """Under a launcher that makes no shared memory."""

    def run_job(self, size, *command, **params):
        env = dict(os.environ, **{"STARLING_MCA_" + name: value for name, value in params.items()})
        done = subprocess.run([HYDRA, "-n", str(size), *command], env=env, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode, done.stdout, done.stderr

    def expect_ring(self, size, **params):
        code, out, err = self.run_job(size, RING, "20", log_level="info", **params)
        self.assertEqual(code, 0, err)
        self.assertIn(f"20 rounds over {size} ranks: {20 * size} hops", out)
        return err

    def test_named_posix(self):
        self.assertEqual(self.expect_ring(4, shm="posix").count("shared memory: shm/posix"), 4)

    def test_named_memfd(self):
        err = self.expect_ring(4, shm="memfd")
        self.assertEqual(err.count("shared memory: shm/memfd, handed over through the socket @"), 4, err)

    def test_many_processes(self):
        self.expect_ring(16, shm="memfd")

    def test_unusable_directory_leads_to_memfd(self):
        err = self.expect_ring(4, shm_posix_directory="/proc")
        self.assertEqual(err.count("shared memory: shm/memfd, handed over"), 4, err)
        self.assertIn("shared memory: not used: shm/posix: ", err)

    def test_unusable_directory_is_an_error_if_posix_is_named(self):
        # Hydra may lose what ranks say while it kills them, so only the code is looked at.
        code, out, _ = self.run_job(2, RING, shm="posix", shm_posix_directory="/proc")
        self.assertNotEqual(code, 0)
        self.assertNotIn("rounds over", out)

    def test_startup_report_says_how(self):
        _, _, err = self.run_job(2, RING, startup_report="1", shm_posix_directory="/proc")
        self.assertIn("shared memory: shm/memfd, handed over", err)
        self.assertIn("not used: shm/posix: ", err)

    def test_sessions_of_some_processes(self):
        code, _, err = self.run_job(4, SESSIONS, shm="memfd")
        self.assertEqual(code, 0, err)


class NoMapping(NamesCase):
    """Under a process manager that does not say which rank is on which node."""

    def run_job(self, size, command=(RING, "20"), prefixes=None, **params):
        env = {"STARLING_MCA_" + name: value for name, value in params.items()}
        job = pmi_server.Job(size, list(command), env, prefixes)
        return job, job.wait()

    def test_ranks_find_their_node(self):
        for size in (1, 2, 3, 4):
            job, results = self.run_job(size)
            self.assertEqual([code for code, _, _ in results], [0] * size, results)
            self.assertIn(f"20 rounds over {size} ranks", results[0][1])

    def test_only_rank_0_asks_for_all(self):
        job, _ = self.run_job(4)
        self.assertEqual(job.fences, 2)
        # PMI_process_mapping and the map each; rank 0 also four identities.
        self.assertEqual([gets <= 3 for gets in job.gets[1:]], [True] * 3, job.gets)

    def test_memfd_between_ranks(self):
        _, results = self.run_job(4, shm="memfd", log_level="info")
        self.assertEqual([code for code, _, _ in results], [0] * 4, results)
        self.assertIn("shared memory: shm/memfd, handed over", results[3][2])

    def test_an_unusable_name_is_an_error_if_it_is_named(self):
        _, results = self.run_job(2, shm="posix", shm_posix_directory="/proc")
        self.assertNotIn(0, [code for code, _, _ in results], results)
        self.assertIn("shm/posix", results[0][2] + results[1][2])
        self.assertNotIn("memfd, handed", results[0][2] + results[1][2])

    def test_a_rank_in_another_container_is_elsewhere(self):
        private = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /dev/shm && exec \"$0\" \"$@\""]
        if subprocess.run([*private, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no mount namespace of its own")
        # Without a network between them: over one the ranks would reach each other.
        _, results = self.run_job(2, prefixes={1: private}, btl="self,shm")
        self.assertIn("not on this node", results[0][2] + results[1][2], results)


class StartupReport(NamesCase):
    """What startup_report=1 prints."""

    def run_job(self, size, *program):
        command = [str(BUILD / "bin/mpiexec"), "-n", str(size), "--mca", "startup_report", "1", *program]
        done = subprocess.run(command, text=True, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("[starling] startup report: "), 1, done.stderr)
        return done.stderr

    def row(self, err, name):
        return [float(n) for n in re.search(rf"^  {re.escape(name)} +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$", err, re.M).groups()]

    def test_sessions_alone_report_too(self):
        for size in 1, 3:
            err = self.run_job(size, str(BUILD / "examples/hello_sessions"))
            self.assertIn(f"startup report: rank 0 of {size} alone, since its sessions have ended without MPI_Init", err)
            self.assertIn("shared memory: ", err)
            low, mean, high, total = self.row(err, "PMI operations")
            self.assertEqual((low, mean), (high, total))

    def test_shared_pages_count_once_per_node(self):
        # All ranks map the same libraries: what each counted whole would be about as much for each rank more.
        few, many = (self.row(self.run_job(size, RING, "20"), "part of shared memory (KiB)")[3] for size in (2, 16))
        self.assertLess(many, 4 * few)


class Report(NamesCase):
    """What report=1 prints when MPI ends."""
    ROW = r"^  node +shm +eager +messages +(\d+) +(\d+) +([\d.]+) +(\d+)$"

    def run_job(self, *options, size=3):
        command = [str(BUILD / "bin/mpiexec"), "-n", str(size), *options, RING, "20"]
        done = subprocess.run(command, text=True, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_off_by_default(self):
        self.assertEqual(self.run_job(), "")

    def test_sums_over_ranks(self):
        err = self.run_job("--mca", "report", "1")
        self.assertEqual(err.count("[starling] report: "), 1, err)
        total, low, mean, high = (float(n) for n in re.search(self.ROW, err, re.M).groups())
        self.assertGreaterEqual(low, 20, err)  # each hop of the ring is a message
        self.assertTrue(low <= mean <= high and abs(mean * 3 - total) < 0.5, err)
        self.assertIn("remote: no messages", err)

    def test_a_rank_that_sends_nothing_is_the_one_that_sends_least(self):
        to_itself, nothing = (str(BUILD / "tests/mpi" / name) for name in ("mpi_pt2pt_bsend_empty", "mpi_env_wtime"))
        command = [str(BUILD / "bin/mpiexec"), "--mca", "report", "1", "-n", "1", to_itself, ":", "-n", "1", nothing]
        done = subprocess.run(command, text=True, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^  self +self +eager +messages +(\d+) +0 +[\d.]+ +\1$")

    def test_reasons(self):
        sender = str(BUILD / "tests/mpi/mpi_tool_traffic_variables")  # sends long messages, too
        command = [str(BUILD / "bin/mpiexec"), "-n", "2", "--mca", "report", "1", sender]
        done = subprocess.run(command, text=True, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^  self +self +get +messages +4 +2 +2\.0 +2$")

    def test_what_was_tried_for_large_messages(self):
        command = [str(BUILD / "bin/mpiexec"), "-n", "2", "--mca", "report", "1", str(BUILD / "tests/np_stream")]
        for messages, tried in ("10", 0), ("40", 1):
            done = subprocess.run([*command, messages], text=True, timeout=60, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 0, done.stderr)
            if "no direct copies" in done.stderr:
                self.skipTest("processes may not read each other's memory here")
            notes = re.findall(r"note: large messages, tried from 1024 KiB: (ring|get) "
                               r"\(ring \d+, get \d+ MB/s\) \(1 rank\)", done.stderr)
            self.assertEqual(len(notes), tried, done.stderr)


class HangHelp(NamesCase):
    """What mpiexec --timeout prints for ranks that wait."""
    STUCK = str(BUILD / "tests/np_stuck")
    AGE = r", \d+\.\d s"

    def texts(self, way, size, seconds):
        """By rank, what it waits for; further lines are joined by ' / '."""
        command = [str(BUILD / "bin/mpiexec"), "-n", str(size), "--timeout", str(seconds), self.STUCK, way]
        begun = time.monotonic()
        done = subprocess.run(command, text=True, timeout=seconds + 60, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lasted = time.monotonic() - begun
        self.assertEqual(done.returncode, 124, done.stderr)
        for age in re.findall(r", (\d+\.\d) s", done.stderr):
            self.assertLess(float(age), lasted, done.stderr)
        text = done.stderr.replace("\n    ", " / ")
        found = dict(re.findall(r"^mpiexec: rank (\d+) pid \d+.*?: (.*)$", text, re.M))
        self.assertEqual(sorted(found), [str(r) for r in range(size)], done.stderr)
        absent = "0" if way == "dup" else str(size - 1)
        said = "has ended" if way.startswith("left-") else "computing (it has not called MPI since it was asked)"
        self.assertIn(said, found[absent])
        return found

    def check(self, way, wanted, size=2):
        """`wanted` looks at the texts of a job whose ranks have had the time to come to where they wait."""
        def look(seconds):
            wanted(self.texts(way, size, seconds))
        with_time(look)

    def expect(self, way, pattern, rank="0", size=2):
        self.check(way, lambda found: self.assertRegex(found[rank], pattern), size)

    def test_receive(self):
        self.expect("receive", r'^in MPI_Recv: receive from rank 1, tag 7, up to 80 bytes, on "ocean"' + self.AGE + "$")

    def test_receive_from_anybody(self):
        self.expect("any", r'^in MPI_Recv: receive from any rank, any tag, up to 4 bytes, on "ocean"' + self.AGE + "$")

    def test_send(self):
        self.expect("send", r'^in MPI_Send: send to rank 1, tag 9, 5000000 bytes, on "ocean"' + self.AGE +
                    r" \(not received yet\)$")

    def test_testing(self):
        self.expect("test", r'^in MPI_Test: receive from rank 1, tag 5, up to 4 bytes, on "ocean"' + self.AGE + "$")

    def test_asking_who_has_left(self):
        """It takes a moment until a rank has noticed that another one has ended."""
        for way, text in {
                "left-test": r'in MPI_Test: receive from rank 1, tag 5, up to 4 bytes, on "ocean", \d+\.\d s '
                             r"\(it has left MPI and ended\)",
                "left-iprobe": r'in MPI_Iprobe on "ocean": waits for a message from rank 1 with tag 3 '
                               r"\(rank 1 has left MPI and ended\)"}.items():
            with self.subTest(way=way):
                self.expect(way, f"^{text}$")

    def test_two_receives(self):
        self.check("two", lambda found: self.assertEqual([line.split(",")[0] for line in found["0"].split(" / ")], [
            "in MPI_Waitall", "receive from any rank", "receive from rank 1"]))

    def test_blocking_collective(self):
        def wanted(found):
            for rank in ("0", "1"):
                self.assertRegex(found[rank], r'^in MPI_Allreduce on "ocean": round \d of \d, waits for rank [012]'
                                 r"( to receive)? \(4 bytes\).*" + self.AGE + "$")
            self.assertTrue(any("waits for rank 2" in found[rank] for rank in ("0", "1")), found)

        self.check("allreduce", wanted, 3)

    def test_collective_on_a_board(self):
        """Ranks that disagree about its length may wait at two boards: each says its own."""
        self.expect("board", '^in MPI_Allreduce of 4 bytes on "ocean": waits for rank 2' + self.AGE + "$", size=3)

    def test_nonblocking_collective(self):
        self.expect("ibarrier", r'^in MPI_Wait: pending MPI_Ibarrier on "ocean": round 1 of 1, waits for rank 1' +
                    self.AGE + "$")

    def test_names_are_those_of_the_call(self):
        """Large twins, and names for profilers; test_duplication has a call that does its work by others."""
        for way, name in {"receive_c": "MPI_Recv_c", "send_c": "MPI_Send_c", "ssend_c": "MPI_Ssend_c",
                          "sendrecv_c": "MPI_Sendrecv_c", "allreduce_c": "MPI_Allreduce_c",
                          "pmpi_allreduce": "MPI_Allreduce", "iallreduce_c": "MPI_Wait: pending MPI_Iallreduce_c",
                          "persistent_c": "MPI_Wait: pending MPI_Allreduce_init_c"}.items():
            with self.subTest(way=way):
                self.expect(way, f"^in {name}(?![A-Za-z_])")

    def test_probe(self):
        self.expect("probe", r'^in MPI_Probe on "ocean": waits for a message from rank 1 with tag 3' + self.AGE + "$")

    def test_duplication(self):
        self.expect("dup", r'^in MPI_Comm_dup of "ocean": round 1 of \d, waits for rank 0', rank="1")

    def test_creation_from_a_group(self):
        self.expect("create", r"^in creation of a communicator of 2 processes with tag 'user reef': "
                    r"waits for rank\(s\) 1")

    def test_finalize(self):
        def wanted(found):
            self.assertRegex(found["0"], "^in the end of MPI: waits until everything that was sent has left" + self.AGE)
            self.assertIn('send to rank 1, tag 9, 5000000 bytes, on "ocean"', found["0"])

        self.check("finalize", wanted)

    def test_many_are_counted(self):
        def wanted(found):
            lines = found["0"].split(" / ")
            self.assertTrue(lines[0].startswith("in MPI_Waitall, "), lines)
            self.assertEqual(len(lines), 8)
            self.assertEqual(lines[-1], "... and 94 more messages")

        self.check("many", wanted)


if __name__ == "__main__":
    unittest.main()
