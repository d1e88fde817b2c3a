#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on several nodes, made of namespaces, under process managers other than Hydra (run.py): Open MPI's mpirun, and
Slurm with PMIx and with nothing. PMI-1 and PMI-2, also Slurm's: pmi.py.

usage: managers.py BUILD_DIRECTORY [-v] [CASE.test ...]
What is not installed is skipped, and says so. Standard library only.
"""
import collections
import pathlib
import re
import shutil
import sys
import threading
import unittest

import nodes
import slurm

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "np"))
import alone  # noqa: E402
import rows  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
SANITIZED = "-fsanitize" in (BUILD / "CMakeCache.txt").read_text()
ALONE = str(BUILD / "tests/np_servers_alone")
GROUPS = str(BUILD / "tests/np_servers_groups")
ROWS = str(BUILD / "tests/np_servers_rows")
KIN = str(BUILD / "tests/np_kin")
STENCIL = str(BUILD / "examples/stencil3d")
PROGRAMS = ("mpi_session_subsets", "mpi_session_concurrent_tags", "mpi_session_with_world", "mpi_session_again",
            "mpi_session_unequal", "mpi_session_thousand", "mpi_comm_inter_groups")


def network():
    return next((name for name in ("ucx", "ofi") if (BUILD / f"lib/starling/btl_{name}.so").exists()), None)


def needs_pmix(case):
    built = (BUILD / "lib/starling/pmi_pmix.so").exists()
    case = unittest.skipUnless(built, "pmi/pmix was not built")(case)
    return unittest.skipIf(SANITIZED, "libpmix is not built with sanitizers")(case)


class Manager:
    """What holds under each. A case says start(), its server's name and the ways of making communicators."""

    server = ""
    column = ""  # of the table of requests in docs/process-managers.md
    row = None  # of its table of servers, where that says how many requests MPI_Init makes
    modes = ({}, {"bootstrap": "flat"})
    requests = {"PMI puts": (0, 1), "PMI fences": (0, 0)}  # PMIx: least and most of a rank
    constant = ()  # what must be the same in jobs of any size
    codes = {"abort": (7,), "kill": (137,), "exit": (3,)}  # of jobs whose rank 1 ends so

    @classmethod
    def setUpClass(cls):
        cls.nodes = nodes.Cluster(2)
        cls.addClassCleanup(cls.nodes.close)

    def run_job(self, per_node, *command, **params):
        params = {"btl": f"self,shm,{network()}", "bootstrap_timeout": "60", **params}
        return self.start(per_node, *command, env={"STARLING_MCA_" + name: value for name, value in params.items()})

    def test_ranks_and_nodes(self):
        done = self.run_job(2, KIN, "rank", startup_report="1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(collections.Counter(filter(None, done.stdout.splitlines())),
                         collections.Counter(f"rank {rank} of 4" for rank in range(4)))
        self.assertIn(f"4 processes, {self.server}", done.stderr)
        self.assertIn(f"addresses are published by {network()}", done.stderr)  # so it knows of two nodes

    def test_many_ranks(self):
        done = self.run_job(16, KIN, "rank")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(set(filter(None, done.stdout.splitlines()))), 32, done.stdout)

    def test_requests_of_a_rank_are_constant(self):
        # Node roots ask more than others; how often a get of PMIx comes too early, time decides.
        seen = {}
        for per_node in (2, 4, 8):
            done = self.run_job(per_node, KIN, "rank", startup_report="1")
            counts = dict(re.findall(r"(PMI \w+) +(\d+ +\S+ +\d+) ", done.stderr))
            least = {name: int(row.split()[0]) for name, row in counts.items()}
            most = {name: int(row.split()[2]) for name, row in counts.items()}
            print(f"[{type(self).__name__}, {2 * per_node} ranks: {least['PMI operations']} to "
                  f"{most['PMI operations']} requests of a rank to {self.server.strip()}]", file=sys.stderr)
            if self.row is not None:
                self.assertEqual(f"{least['PMI operations']}, node roots {most['PMI operations']}",
                                 rows.documented_start(self.row), "docs/process-managers.md says otherwise")
            for name, (low, high) in self.requests.items():
                self.assertEqual((least[name], most[name]), (low, high), f"{name}: {done.stderr}")
            for name in self.constant:
                self.assertLessEqual(most[name], 12, done.stderr)
                self.assertEqual((least[name], most[name]), seen.setdefault(name, (least[name], most[name])), name)

    def test_requests_of_each_step(self):
        rows.check(self, self.column, lambda ranks, *command: self.start_alone(None, ranks, *command), ROWS, (4, 8))

    def test_stencil_in_each_mode(self):
        for mode in self.modes:
            with self.subTest(mode=mode):
                done = self.run_job(2, STENCIL, **mode)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertEqual(done.stdout.count("off by 0.0e+00"), 2, done.stdout)

    def test_communicators_of_groups(self):
        for program in PROGRAMS:
            with self.subTest(program=program):
                done = self.run_job(2, str(BUILD / "tests/mpi" / program))
                self.assertIn(done.returncode, (0, 77), done.stdout + done.stderr)

    def start_alone(self, _, ranks, *command):
        done = self.run_job(ranks // 2, *command)
        return done.returncode, done.stdout, done.stderr

    def test_sessions_begin_while_no_other_rank_has(self):
        alone.in_turns(self, ALONE, self.start_alone, 4, where=BUILD)

    def test_a_session_costs_the_same_in_every_job(self):
        messages = alone.constant(self, ALONE, self.start_alone, 2, 8, where=BUILD)
        print(f"{type(self).__name__}: {messages} messages for MPI_Session_init", file=sys.stderr)

    def test_a_thousand_sessions(self):
        done = self.run_job(2, GROUPS, "again", "1000")
        self.assertEqual((done.returncode, done.stdout.count("done")), (0, 4), done.stdout + done.stderr)

    def test_64_ranks(self):
        done = self.run_job(32, GROUPS, "halves")
        self.assertEqual((done.returncode, done.stdout.count("done")), (0, 64), done.stdout + done.stderr)

    def test_several_jobs_at_once(self):
        ended = []
        threads = [threading.Thread(target=lambda: ended.append(self.run_job(2, GROUPS, "parts", "2")))
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([(done.returncode, done.stdout.count("done")) for done in ended], [(0, 4)] * 8,
                         [done.stdout + done.stderr for done in ended])

    def test_ends(self):
        for how, codes in self.codes.items():
            with self.subTest(how=how):
                done = self.run_job(2, KIN, "rank", "die", how)
                self.assertIn(done.returncode, codes, done.stdout + done.stderr)


@needs_pmix
@unittest.skipUnless(shutil.which("mpirun.openmpi"), "needs mpirun.openmpi (Open MPI's launcher)")
@unittest.skipUnless(network(), "needs btl/ucx or btl/ofi")
@unittest.skipIf(nodes.possible(), nodes.possible())
class Mpirun(Manager, unittest.TestCase):
    server = "PMIx "
    column = "mpirun"
    modes = ({}, {"async_modex": "1"}, {"bootstrap": "flat"}, {"bootstrap_group_mode": "lookup"})
    codes = {**Manager.codes, "kill": (137, 58)}  # or that of a survivor (MPI_ERR_PROC_ABORTED) who has noticed first

    def start(self, per_node, *command, env):
        return self.nodes.run(per_node, *command, env=env, launcher="mpirun")


class Slurm(Manager):
    mpi = ""
    # srun's is the highest code of a task, and survivors may notice first that rank 1 is gone.
    codes = {"abort": (7,), "kill": range(1, 256), "exit": range(1, 256)}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.slurm = slurm.Slurm(cls.nodes)
        cls.addClassCleanup(cls.slurm.close)

    def start(self, per_node, *command, env):
        return self.slurm.srun(per_node, *command, mpi=self.mpi, env=env)


def slurm_case(case):
    case = unittest.skipIf(slurm.possible(), slurm.possible())(case)
    case = unittest.skipUnless(network(), "needs btl/ucx or btl/ofi")(case)
    return unittest.skipIf(nodes.possible(), nodes.possible())(case)


@needs_pmix
@slurm_case
class SlurmPmix(Slurm, unittest.TestCase):
    mpi = "pmix"
    server = "PMIx "
    column = "Slurm pmix"
    modes = ({}, {"async_modex": "1"}, {"bootstrap": "flat"})

    def test_without_pmi_nobody_runs_alone(self):
        self.mpi = "none"
        done = self.run_job(2, KIN, "rank")
        self.assertNotEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.strip(), "")
        self.assertIn("srun --mpi=pmi2", done.stderr)


if __name__ == "__main__":
    unittest.main()
