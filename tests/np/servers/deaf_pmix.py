#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A PMIx server that does not answer questions before a fence, to all ranks or to some: mpirun's, with deaf_pmix.c between.

usage: deaf_pmix.py BUILD_DIRECTORY [-v] [CASE.test ...]      Standard library only.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, SANITIZED, NamesCase  # noqa: E402

GROUPS = str(BUILD / "tests/np_servers_groups")
PROXY = BUILD / "tests/libnp_deaf_pmix.so"
DEAF = {"all": "all", "one root": "4", "other roots": "2,6"}


@unittest.skipUnless(shutil.which("mpirun.openmpi"), "needs mpirun.openmpi (Open MPI's launcher)")
@unittest.skipIf(SANITIZED, "libpmix is not built with sanitizers")
class DeafPmix(NamesCase):
    def setUp(self):
        super().setUp()
        self.directory = tempfile.TemporaryDirectory(prefix="starling-deaf-")
        self.addCleanup(self.directory.cleanup)

    def run_job(self, *command, deaf="", env=(), **params):
        params = {"plugin_path": BUILD / "tests/network", "bootstrap_timeout": 60, "btl": "self,shm,trial",
                  "trial_directory": tempfile.mkdtemp(dir=self.directory.name), **params}
        settings = [f"STARLING_MCA_{name}={value}" for name, value in params.items()]
        launch = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "8", "env", f"LD_PRELOAD={PROXY}",
                  f"DEAF_RANKS={deaf}", "NODES_OF_JOB=(vector,(0,4,2))", *env, *settings, GROUPS, *command]
        done = subprocess.run(launch, env={**os.environ, "OMPI_MCA_orte_tmpdir_base": self.directory.name}, text=True,
                              timeout=120, stdin=subprocess.DEVNULL, capture_output=True)
        return done

    def expect_success(self, done):
        # All ranks are through when the server of Open MPI 4.1's launcher falls in its own end, now and then.
        fell = done.returncode == -signal.SIGSEGV and "PMIx_server_finalize" in done.stderr
        self.assertEqual((0 if fell else done.returncode, done.stdout.count("done")), (0, 8), done.stdout + done.stderr)

    def test_names_are_next(self):
        for who, ranks in DEAF.items():
            with self.subTest(deaf=who):
                self.expect_success(self.run_job("parts", "2", deaf=ranks, bootstrap_fence_timeout=1))

    def test_single_questions_end_with_an_error(self):
        # The members of the other side of an intercommunicator are asked for one by one.
        done = self.run_job("halves", deaf="4", bootstrap_fence_timeout=1, bootstrap_timeout=5)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stderr, r"rank \d has not published its addresses within bootstrap_timeout \(5 s\)")

    def test_the_world_is_next_where_there_are_no_names(self):
        # As pmi/pmix takes it for Slurm's, which has none.
        for who, ranks in DEAF.items():
            with self.subTest(deaf=who):
                self.expect_success(self.run_job("parts", "2", deaf=ranks, env=["SLURM_PMIX_MAPPING_SERV=x"],
                                                 bootstrap_timeout=24))

    def test_a_late_member_is_no_lost_answer(self):
        # Later than the others go another way, well before they give up.
        self.expect_success(self.run_job("late", "3", bootstrap_fence_timeout=1, bootstrap_timeout=30))
        self.expect_success(self.run_job("late", "12", env=["SLURM_PMIX_MAPPING_SERV=x"], bootstrap_timeout=20))


if __name__ == "__main__":
    unittest.main()
