#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Launchers of others, launchers inside each other, and who may run alone.

usage: run.py BUILD_DIRECTORY [-v] [CASE[.test] ...]
Cases that need a launcher which is not installed are skipped, and say so. Standard library only.
"""
import collections
import itertools
import os
import pathlib
import re
import shutil
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, FULL, MPIEXEC, PATIENCE, SANITIZED, JobCase, marked_processes  # noqa: E402  it takes the build directory out of sys.argv

KIN = BUILD / "tests/np_kin"
EXAMPLES = BUILD / "examples"
PMIX = (BUILD / "lib/starling/pmi_pmix.so").exists()
# How each starts n processes. mpirun's library is not built with a sanitizer: what it would find is not ours.
START = {"starling": [MPIEXEC, "-n"]}
if shutil.which("mpiexec.hydra"):
    START["hydra"] = ["mpiexec.hydra", "-n"]
if shutil.which("mpirun.openmpi") and PMIX and not SANITIZED:
    START["mpirun"] = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n"]


def program_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None


class LauncherCase(JobCase):
    settings = {}  # parameters, as environment variables

    def launch(self, launcher, count, *command, **more):
        start = [*START[launcher], str(count)]
        env = {"OMPI_MCA_orte_tmpdir_base": self.folder, **self.settings, **more.pop("env", {})}
        return self.run_job(*start[1:], *map(str, command), launcher=start[0], env=env, **more)

    def inside(self, launcher, count, *command):
        """The same as words for a shell. mpiruns that start or end together trip over each other's making and
        removing of their directory, so each has one of its own."""
        own = 'own=$(mktemp -d) && trap "rm -rf $own" EXIT && export OMPI_MCA_orte_tmpdir_base=$own && '
        return (own if launcher == "mpirun" else "") + " ".join(map(str, [*START[launcher], count, *command]))

    def tearDown(self):
        for left in pathlib.Path(self.folder).glob("ompi.*"):
            shutil.rmtree(left)
        super().tearDown()

    def expect_lines(self, done, *expected):
        """Exit code 0, and these lines in any order."""
        self.assertEqual(done.code, 0, done)
        lines = collections.Counter(done.out.split("\n")[:-1])
        self.assertEqual(lines, collections.Counter(expected), done)


def ranks(name, size, times=1):
    return [f"{name} {rank} of {size}" for rank in range(size)] * times


class Inside(LauncherCase):
    """A job that a rank of another job starts has the size that its launcher was told."""

    launchers = list(START)

    def test_each_launcher_inside_each(self):
        for outer, inner in itertools.product(self.launchers, self.launchers):
            if outer == inner == "mpirun":
                continue  # it refuses by itself to start inside one of its processes
            command = self.inside(inner, 3, KIN, "inner")
            with self.subTest(outer=outer, inner=inner, rank="shell"):
                self.expect_lines(self.launch(outer, 1, "sh", "-c", command), *ranks("inner", 3))
            with self.subTest(outer=outer, inner=inner, rank="connected"):
                done = self.launch(outer, 3, KIN, "outer", "child", command)
                self.expect_lines(done, *ranks("outer", 3), *ranks("inner", 3, times=3))

    def test_a_child_of_a_rank_runs_alone(self):
        for outer in self.launchers:
            with self.subTest(outer=outer):
                done = self.launch(outer, 2, KIN, "outer", "child", f"{KIN} inner")
                self.expect_lines(done, *ranks("outer", 2), "inner 0 of 1", "inner 0 of 1")

    def test_a_rank_that_becomes_another_program_has_lost_its_connection(self):
        for outer in self.launchers:
            with self.subTest(outer=outer):
                done = self.launch(outer, 2, KIN, "outer", "exec", f"exec {KIN} inner")
                if outer == "mpirun":  # PMIx needs no inherited descriptor, so it can connect again
                    self.expect_lines(done, *ranks("outer", 2), *ranks("inner", 2))
                    continue
                self.assertNotEqual(done.code, 0, done)
                self.assertNotIn("inner", done.out, done)
                if outer == "starling":  # Hydra may end the job before the reason is printed
                    self.assertIn("exec()", done.err, done)

    def test_one_program_after_the_other(self):
        for outer in set(self.launchers) - {"hydra"}:  # it serves one program a process, MPICH's own, too
            with self.subTest(outer=outer):
                done = self.launch(outer, 3, "sh", "-c", f"{KIN} first && {KIN} second")
                self.expect_lines(done, *ranks("first", 3), *ranks("second", 3))

    def test_descriptors_that_a_wrapper_closed_are_no_reason_to_run_alone(self):
        for outer in set(self.launchers) - {"mpirun"}:
            with self.subTest(outer=outer):
                close = "import os, sys; os.closerange(3, 4096); os.execv(sys.argv[1], sys.argv[1:])"
                done = self.launch(outer, 2, sys.executable, "-c", close, KIN, "inner")
                self.assertNotEqual(done.code, 0, done)
                self.assertNotIn("inner", done.out, done)
                self.assertIn("no open socket", done.err, done)


class InsidePmi2(Inside):
    """The same where PMI-2 is spoken to the launchers that serve it."""
    settings = {"STARLING_MCA_pmi": "^pmi1"}
    launchers = [launcher for launcher in START if launcher != "mpirun"]

    def test_the_report_says_why(self):
        for outer in self.launchers:
            with self.subTest(outer=outer):
                done = self.launch(outer, 2, KIN, "rank", env={"STARLING_MCA_startup_report": "1"})
                self.assertIn("2 processes, PMI 2.0 (", done.err, done)
                self.assertIn("chosen by pmi=^pmi1)", done.err, done)


class OwnPmi2(LauncherCase):
    """Starling's mpiexec and its clients of both versions."""

    def test_programs_of_tests_mpi(self):
        programs = [*sorted((BUILD / "tests/mpi").glob("mpi_session_*")), BUILD / "tests/mpi/mpi_coll_allreduce",
                    BUILD / "tests/mpi/mpi_comm_inter_groups", EXAMPLES / "ring"]
        programs = [program for program in programs if program.is_file()]
        self.assertGreater(len(programs), 8)
        for program in programs:
            with self.subTest(program=program.name):
                done = self.run_job("-n", 4, program, env={"STARLING_MCA_pmi": "pmi2"})
                self.assertIn(done.code, (0, 77), done)

    def test_64_ranks(self):
        done = self.run_job("-n", 64, KIN, "rank", env={"STARLING_MCA_pmi": "pmi2"})
        self.expect_lines(done, *ranks("rank", 64))

    def test_1000_sessions(self):
        for client in ("pmi1", "pmi2"):
            with self.subTest(client=client):
                done = self.run_job("-n", 3, KIN, "rank", "again", "1000", env={"STARLING_MCA_pmi": client})
                self.expect_lines(done, *ranks("rank", 3))

    def test_jobs_in_a_row_and_at_once(self):
        for _ in range(100 if FULL else 10):
            self.expect_lines(self.run_job("-n", 2, KIN, "rank", env={"STARLING_MCA_pmi": "pmi2"}), *ranks("rank", 2))
        jobs = [self.start("-n", 3, KIN, f"job{i}", env={"STARLING_MCA_pmi": "pmi2"}) for i in range(8)]
        for i, job in enumerate(jobs):
            self.expect_lines(self.finish(job), *ranks(f"job{i}", 3))

    def test_killed_in_init(self):
        for client in ("pmi1", "pmi2"):
            with self.subTest(client=client):
                done = self.run_job("-n", 3, KIN, "rank", "die", "starting", env={"STARLING_MCA_pmi": client})
                self.assertEqual(done.code, 137, done)
                self.assertIn("rank 1 pid ", done.err, done)

    def test_requests_of_a_rank_are_constant(self):
        # pmi1: init, idle; pmi2: fullinit as well. A rank's report is made before it says idle.
        for client, requests in (("pmi1", 1), ("pmi2", 2)):
            for count in (2, 16):
                with self.subTest(client=client, count=count):
                    done = self.run_job("-n", count, KIN, "rank",
                                        env={"STARLING_MCA_pmi": client, "STARLING_MCA_startup_report": "1"})
                    low, mean, high = re.search(r"PMI operations +(\S+) +(\S+) +(\S+)", done.err).groups()
                    self.assertEqual((int(low), int(high)), (requests, requests), done)


@unittest.skipUnless("mpirun" in START, "needs Open MPI's mpirun, pmi/pmix and a build without sanitizers")
class Pmix(LauncherCase):
    def test_jobs(self):
        for count in (1, 2, 5, 64):
            with self.subTest(count=count):
                self.expect_lines(self.launch("mpirun", count, KIN, "rank"), *ranks("rank", count))
        done = self.launch("mpirun", 4, EXAMPLES / "ring")
        self.assertEqual(done.code, 0, done)

    def test_programs_of_tests_mpi(self):
        programs = [*sorted((BUILD / "tests/mpi").glob("mpi_session_*")), BUILD / "tests/mpi/mpi_coll_allreduce",
                    BUILD / "tests/mpi/mpi_comm_inter_groups"]
        programs = [program for program in programs if program.is_file()]
        self.assertGreater(len(programs), 8)
        for program in programs:
            with self.subTest(program=program.name):
                done = self.launch("mpirun", 4, program)
                self.assertIn(done.code, (0, 77), done)

    def test_several_jobs_at_once(self):
        jobs = [self.start("-c", self.inside("mpirun", 4, KIN, f"job{i}"), launcher="sh") for i in range(4)]
        for i, job in enumerate(jobs):
            self.expect_lines(self.finish(job), *ranks(f"job{i}", 4))

    def test_ends(self):
        for how, code in (("abort", 7), ("kill", 137), ("exit", 3)):
            with self.subTest(how=how):
                done = self.launch("mpirun", 3, KIN, "rank", "die", how)
                self.assertEqual(done.code, code, done)
        self.assertIn("MPI_Abort(7)", self.launch("mpirun", 3, KIN, "rank", "die", "abort").err)

    def test_a_killed_launcher_takes_the_ranks_along(self):
        process = self.start("--allow-run-as-root", "--oversubscribe", "-n", "2", KIN, "rank", "child", "sleep 1000",
                             launcher="mpirun.openmpi", env={"OMPI_MCA_orte_tmpdir_base": self.folder})
        self.assertEqual(sorted(process.stdout.readline() for _ in range(2)), ["rank 0 of 2\n", "rank 1 of 2\n"])
        process.kill()
        deadline = time.monotonic() + PATIENCE
        kin = lambda: [pid for pid in marked_processes() if program_of(pid) == str(KIN)]  # noqa: E731
        while kin() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(kin(), [], "ranks that are not in MPI outlive their launcher")
        for pid in marked_processes():  # what they had started themselves
            os.kill(pid, signal.SIGKILL)
        self.finish(process)

    def test_the_report_names_the_server(self):
        done = self.launch("mpirun", 2, KIN, "rank", env={"STARLING_MCA_startup_report": "1"})
        self.assertIn("2 processes, PMIx ", done.err, done)
        self.assertIn("(Open MPI's mpirun)", done.err, done)

    def test_without_the_component_nobody_runs_alone(self):
        done = self.launch("mpirun", 2, KIN, "rank", env={"STARLING_MCA_pmi": "^pmix"})
        self.assertNotEqual(done.code, 0, done)
        self.assertEqual(done.out, "", done)
        self.assertIn("OMPI_COMM_WORLD_SIZE=2", done.err, done)
        self.expect_lines(self.launch("mpirun", 1, KIN, "rank", env={"STARLING_MCA_pmi": "^pmix"}), *ranks("rank", 1))


if __name__ == "__main__":
    unittest.main()
