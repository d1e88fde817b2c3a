# SPDX-License-Identifier: BSD-3-Clause
"""What the jobs over several virtual nodes share: btl/trial as the network, and its parameters.

A test's first argument is the build directory. Standard library only.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
PLUGINS = BUILD / "tests/network"
MPIEXEC = str(BUILD / "bin/mpiexec")
# Networks with the parameter that takes them to this machine's own interface.
NETWORKS = [("trial", {})] + [(name, {f"btl_{name}_{what}": "lo"}) for name, what in (("ucx", "devices"), ("ofi", "interface"))
                              if (BUILD / f"lib/starling/btl_{name}.so").exists()]


class NetworkCase(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="starling-network-")
        self.addCleanup(self.directory.cleanup)

    def run_job(self, ranks, nodes, *command, env=None, **params):
        params = {"plugin_path": PLUGINS, "trial_directory": tempfile.mkdtemp(dir=self.directory.name),
                  "bootstrap_timeout": 120, "startup_report": 1, "btl": "self,shm,trial", **params}
        settings = {"STARLING_MCA_" + name: str(value) for name, value in params.items() if value is not None}
        return subprocess.run([MPIEXEC, "-n", str(ranks), "--virtual-nodes", str(nodes), *command],
                              env={**os.environ, **settings, **(env or {})}, text=True, timeout=240,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def expect(self, done, *texts):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for text in texts:
            self.assertIn(text, done.stdout + done.stderr)

    def total(self, what, done):
        """Sum over ranks, at the end of MPI_Init."""
        return float(re.search(f"^  {what} +\\S+ +\\S+ +\\S+ +(\\S+)$", done.stderr, re.M).group(1))

    def fences(self, done):
        """What the report says of PMI fences: (min, mean, max) at the end of MPI_Init."""
        numbers = re.search(r"PMI fences +(\S+) +(\S+) +(\S+)", done.stderr)
        self.assertIsNotNone(numbers, done.stderr)
        return tuple(float(number) for number in numbers.groups())
