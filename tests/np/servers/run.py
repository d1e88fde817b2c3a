#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sessions under process managers that lack something (pmi_servers.py), on nodes that are only said to be nodes.

usage: run.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
Standard library only.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import alone  # noqa: E402
import rows  # noqa: E402
from jobs import BUILD, MPIEXEC, SANITIZED, NamesCase  # noqa: E402
from pmi_servers import Server  # noqa: E402

ALONE = str(BUILD / "tests/np_servers_alone")
ROWS = str(BUILD / "tests/np_servers_rows")
GROUPS = str(BUILD / "tests/np_servers_groups")
SLOW = 3 if SANITIZED else 1  # how much longer things may take
FIVE_AND_THREE = "(vector,(0,1,5),(1,3,1))"
FOUR_TIMES_TWO = "(vector,(0,4,2))"


class ServerCase(NamesCase):
    def setUp(self):
        super().setUp()
        self.directory = tempfile.TemporaryDirectory(prefix="starling-servers-")
        self.addCleanup(self.directory.cleanup)

    def run_job(self, size, *command, server=None, **params):
        params = {"plugin_path": BUILD / "tests/network", "bootstrap_timeout": 60,
                  "trial_directory": tempfile.mkdtemp(dir=self.directory.name), "btl": "self,shm,trial", **params}
        job = Server(size, [GROUPS, *command], {"STARLING_MCA_" + name: str(value) for name, value in params.items()},
                     **{"mapping": FOUR_TIMES_TWO, **(server or {})})
        job.results = job.wait(timeout=120)
        return job

    def expect_success(self, job):
        self.assertEqual([(code, out) for code, out, _ in job.results], [(0, "done\n")] * job.size, job.results)


class World(ServerCase):
    """Where groups need a fence of the world, all processes enter it, whatever their group."""

    def test_a_group_of_one_node_meets_the_world_too(self):
        for mode in ({"bootstrap": "hierarchical"}, {"bootstrap": "flat"}):
            for names_of_server in ({}, None):
                with self.subTest(mode=mode, names=names_of_server):
                    job = self.run_job(8, "halves", server={"mapping": FIVE_AND_THREE, "names": names_of_server},
                                       bootstrap_group_mode="world", **mode)
                    self.expect_success(job)
                    self.assertEqual(job.fences, 1)

    def test_groups_of_single_nodes(self):
        job = self.run_job(8, "parts", "4", bootstrap_group_mode="world")
        self.expect_success(job)
        self.assertEqual(job.fences, 1)

    def test_a_process_alone_needs_nobody(self):
        job = self.run_job(4, "self", bootstrap_group_mode="world")
        self.expect_success(job)
        self.assertEqual(job.fences, 0)

    def test_who_does_not_come_is_waited_for_and_told(self):
        job = self.run_job(4, "subset", bootstrap_group_mode="world", bootstrap_timeout=2)
        self.assertEqual([code for code, _, _ in job.results], [3, 3, 3, 0], job.results)
        # Who comes second may hear that the first has ended.
        self.assertIn("every process of the job must make a communicator", "".join(err for _, _, err in job.results))


class WithoutNames(ServerCase):
    """A server that has neither names nor fences of groups, as Flux's."""

    def test_groups_over_nodes(self):
        for what in (("halves",), ("parts", "2"), ("parts", "4")):
            with self.subTest(what=what):
                job = self.run_job(8, *what, startup_report="1")
                self.expect_success(job)
                self.assertEqual(job.fences, 1)

    def test_it_is_asked_once(self):
        job = self.run_job(8, "parts", "2")
        self.expect_success(job)
        for counts in job.requests.values():
            self.assertEqual((counts.get("publish_name"), counts.get("lookup_name")), (1, None), job.requests)

    def test_names_are_used_where_they_work(self):
        job = self.run_job(8, "subset", server={"names": {}})
        self.expect_success(job)
        self.assertEqual((job.fences, job.names), (0, {}))


class WithoutMapping(ServerCase):
    """A server that does not say which rank is on which node. Opening a session waits for nobody all the same."""

    nobody = {"mapping": None}

    def test_a_session_needs_nobody(self):
        for absent in ([1, 2, 3], [0, 1, 2]):
            with self.subTest(absent=absent):
                job = self.run_job(4, "self", server={**self.nobody, "prefixes": {rank: ["true"] for rank in absent}})
                came = ({0, 1, 2, 3} - set(absent)).pop()
                self.assertEqual(job.results[came][:2], (0, "done\n"), job.results)
                self.assertEqual(job.fences, 0)
                self.assertNotIn("put", job.requests[came])

    def test_sessions_begin_while_no_other_rank_has(self):
        def start(folder, ranks, *command):
            results = Server(ranks, list(command)).wait(timeout=120)
            return (max(code for code, _, _ in results), "".join(out for _, out, _ in results),
                    "".join(err for _, _, err in results))

        alone.in_turns(self, ALONE, start, 4)
        if not SANITIZED:
            messages = alone.constant(self, ALONE, start, 2, 6)
            print(f"PMI-1 without a mapping: {messages} messages for MPI_Session_init", file=sys.stderr)

    def test_the_first_group_finds_out(self):
        for what in (("halves",), ("parts", "2"), ("parts", "4"), ("world", "2"), ("asleep",)):
            with self.subTest(what=what):
                job = self.run_job(8, *what, server=self.nobody, btl="self,shm")
                self.expect_success(job)
                self.assertEqual(job.fences, 2)
                self.assertEqual({counts["put"] for counts in job.requests.values()}, {1, 2})  # rank 0: the map

    def test_programs_with_threads_and_worlds(self):
        for name in ("concurrent_tags", "with_world", "again", "unequal", "thousand"):
            with self.subTest(name=name):
                job = Server(4, [str(BUILD / f"tests/mpi/mpi_session_{name}")])
                for code, out, err in job.wait(timeout=120):
                    self.assertEqual(code, 0, out + err)
                self.assertEqual(job.fences, 2)

    def test_who_does_not_come_is_waited_for_and_told(self):
        job = self.run_job(4, "subset", server=self.nobody, bootstrap_timeout=2)
        self.assertEqual([code for code, _, _ in job.results], [3, 3, 3, 0], job.results)
        for _, _, err in job.results[:3]:
            self.assertIn("does not say which rank is on which node, so every process of the job must make a", err)


class Mixed(unittest.TestCase):
    """Processes with MPI_Init and processes with sessions alone in one job: their groups work; MPI_COMM_WORLD cannot."""

    def run_job(self, *others, timeout=60):
        return subprocess.run([MPIEXEC, "--mca", "bootstrap_timeout", str(timeout), "-n", "2", GROUPS, "world", "2", ":",
                               "-n", "2", GROUPS, *others], text=True, timeout=120, stdin=subprocess.DEVNULL, capture_output=True)

    def test_all_with_both(self):
        done = self.run_job("world", "2")
        self.assertEqual((done.returncode, done.stdout.count("done")), (0, 4), done.stderr)

    def test_who_never_calls_mpi_init_is_named(self):
        done = self.run_job("part", "2", timeout=10)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.count("done"), 2, done.stderr)  # the groups of sessions have worked
        self.assertRegex(done.stderr, r"MPI_Init: .*'org.starling.world': gave up \(parameter bootstrap_timeout\)")


class LostFences(ServerCase):
    """A server that has fences of groups, as it says, and does not end them: for nobody, or not for all."""

    ways = {"entries are lost": {"deaf": range(8)}, "one entry is lost": {"deaf": [4]},
            "nobody is told": {"mute": range(8)}, "one is not told": {"mute": [2]},
            "the lowest are not told": {"mute": [0, 4]}}

    def check(self, names_of_server, **params):
        for what in (("halves",), ("parts", "2")):
            for way, attributes in self.ways.items():
                # Who has met needs no fence of the world, and is not there: nobody can help those who have not.
                if names_of_server is None and what == ("halves",) and way.startswith("one"):
                    continue
                with self.subTest(what=what, way=way):
                    server = {"subversion": 2, "names": names_of_server, **attributes}
                    job = self.run_job(8, *what, server=server, **params)
                    self.expect_success(job)
                    self.assertFalse(job.names, "names were left published")

    def test_names_are_next(self):
        self.check({}, bootstrap_fence_timeout=SLOW)

    def test_the_world_is_next_where_there_are_no_names(self):
        self.check(None, bootstrap_timeout=16 * SLOW)

    def test_a_fence_of_the_world_is_the_same_when_it_is_needed_again(self):
        # Ranks 2 and 6 hear from their parents before the process manager tells them, and go on without it.
        server = {"subversion": 2, "names": None, "mute": [0, 4], "slow": {2: 1, 6: 1}}
        job = self.run_job(8, "halves", server=server, bootstrap_timeout=16 * SLOW)
        self.expect_success(job)
        self.assertEqual([counts["world"] for counts in job.requests.values()], [1] * 8, job.requests)

    def test_fences_that_end_are_used(self):
        job = self.run_job(8, "parts", "2", server={"subversion": 2, "names": {}}, bootstrap_fence_timeout=20)
        self.expect_success(job)
        self.assertEqual(job.fences, 3)
        self.assertTrue(all("lookup_name" not in counts for counts in job.requests.values()), job.requests)

    def test_a_late_member_is_no_lost_fence(self):
        for names_of_server in ({}, None):
            with self.subTest(names=names_of_server):
                job = self.run_job(8, "late", "3", server={"subversion": 2, "names": names_of_server},
                                   bootstrap_fence_timeout=1, bootstrap_timeout=30)
                self.expect_success(job)

    def test_who_insists_on_fences_waits_for_them(self):
        job = self.run_job(8, "parts", "2", server={"subversion": 2, "names": {}, "deaf": [4]},
                           bootstrap_group_mode="native", bootstrap_fence_timeout=1, bootstrap_timeout=3)
        self.assertIn(3, [code for code, _, _ in job.results], job.results)


class Alone(ServerCase):
    """MPI_Session_init and a communicator of oneself wait for no other rank and tell none."""

    starling = (MPIEXEC, "-n")
    starling_nodes = (MPIEXEC, "--virtual-nodes", "2", "-n")
    hydra = ("mpiexec.hydra", "-n")
    mpirun = ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n")

    def check(self, *launcher):
        def start(folder, ranks, *command):
            env = {**os.environ, "OMPI_MCA_orte_tmpdir_base": folder}
            # Open MPI 4.1's server, once in a hundred runs, never answers the last PMIx_Init after others have left.
            for patience in (30, 30, 120) if launcher[0] == "mpirun.openmpi" else (120,):
                try:
                    done = subprocess.run([*launcher, str(ranks), *command], env=env, text=True, timeout=patience,
                                          stdin=subprocess.DEVNULL, capture_output=True)
                    return done.returncode, done.stdout, done.stderr
                except subprocess.TimeoutExpired:
                    if patience == 120:
                        raise
                    for left in pathlib.Path(folder).iterdir():  # the next run begins as this one did
                        shutil.rmtree(left) if left.is_dir() else left.unlink()

        alone.in_turns(self, ALONE, start, 4)
        if not SANITIZED:  # their run times make system calls of their own
            print(f"{launcher[0]}: {alone.constant(self, ALONE, start, 2, 6)} messages for MPI_Session_init",
                  file=sys.stderr)

    def test_mpiexec(self):
        self.check(*self.starling)

    def test_virtual_nodes(self):
        self.check(*self.starling_nodes)

    @unittest.skipUnless(shutil.which("mpiexec.hydra"), "needs mpiexec.hydra (MPICH's launcher)")
    def test_hydra(self):
        self.check(*self.hydra)

    @unittest.skipUnless(shutil.which("mpirun.openmpi") and (BUILD / "lib/starling/pmi_pmix.so").exists(),
                         "needs mpirun.openmpi and pmi/pmix")
    @unittest.skipIf(SANITIZED, "libpmix is not built with sanitizers")
    def test_mpirun(self):
        self.check(*self.mpirun)


class Steps(NamesCase):
    """What each step asks of mpiexec; of others: tests/cluster."""

    def check(self, column, *more):
        def start(ranks, *command):
            done = subprocess.run([MPIEXEC, "--virtual-nodes", "2", *more, "-n", str(ranks), *command], text=True,
                                  timeout=120, stdin=subprocess.DEVNULL, capture_output=True)
            return done.returncode, done.stdout, done.stderr

        rows.check(self, column, start, ROWS, (4, 8))

    @unittest.skipUnless(any((BUILD / f"lib/starling/btl_{name}.so").exists() for name in ("ucx", "ofi")),
                         "needs btl/ucx or btl/ofi")
    def test_requests(self):
        self.check("mpiexec")
        self.check("mpiexec PMI-2", "--mca", "pmi", "pmi2")


if __name__ == "__main__":
    unittest.main()
