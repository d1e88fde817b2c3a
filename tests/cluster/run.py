#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on several nodes, made of namespaces, under a launcher that is not ours (Hydra).

usage: run.py BUILD_DIRECTORY [--full] [--part K/N] [-v] [CASE.test ...]
The sample takes each network and each bootstrap once; --full takes all combinations, prints what it is at, and ends
with a table. --part: every Nth program of tests/mpi only, from the Kth on. Standard library only.
"""
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest

import nodes

FULL = "--full" in sys.argv
if FULL:
    sys.argv.remove("--full")
PART, PARTS = 1, 1
if "--part" in sys.argv:
    at = sys.argv.index("--part")
    PART, PARTS = (int(number) for number in sys.argv[at + 1].split("/"))
    del sys.argv[at:at + 2]
HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
NETWORKS = [name for name in ("ucx", "ofi") if (BUILD / f"lib/starling/btl_{name}.so").exists()] + ["trial"]
MODES = [{"bootstrap": "hierarchical"}, {"bootstrap": "flat"}, {"bootstrap": "hierarchical", "async_modex": "1"},
         *({"bootstrap": "hierarchical", "bootstrap_group_mode": mode} for mode in ("lookup", "world"))]
STENCIL = str(BUILD / "examples/stencil3d")
SKIPPED = 77  # a program of tests/mpi that has nothing to test here
RING = str(BUILD / "examples/ring")
ORDER = str(BUILD / "tests/np_network_order")


def say(text):
    if FULL:
        print(text, file=sys.stderr, flush=True)


def tests_of_mpi():
    """Programs of tests/mpi: a few, or all that were built."""
    sample = ("pt2pt_", "coll_", "comm_")
    programs = sorted((BUILD / "tests/mpi").glob("mpi_*"))
    programs = [p for p in programs if p.is_file() and p.stat().st_mode & 0o100]
    if FULL:
        return programs[PART - 1::PARTS]
    chosen = []
    for kind in sample:
        chosen += [p for p in programs if p.name.startswith("mpi_" + kind)][:2]
    # Its two groups have met in no exchange.
    chosen += [p for p in programs if p.name == "mpi_comm_inter_groups"]
    return chosen


# Kinds of programs that make communicators in many ways: --full runs these in every mode.
OF_COMMUNICATORS = ("comm_", "group_", "session_", "threads_")


def name_of(mode):
    short = {"bootstrap": "", "bootstrap_group_mode": "group mode ", "async_modex": "async_modex="}
    return " ".join(short.get(name, name + "=") + value for name, value in mode.items())


def possible(program, mode):
    """Whether a program can run on several nodes in this mode."""
    if program.name == "mpi_tool_traffic_variables":
        return False  # it counts what stays within one node
    # A chain of overlapping groups: a fence of the world, which these modes need under a launcher without fences of
    # groups, would have to be entered by processes that wait for the one before.
    flat = mode.get("bootstrap") == "flat"
    world = flat or mode.get("bootstrap_group_mode") == "world"
    if program.name == "mpi_comm_inter_groups" and flat:
        return False  # two groups that are not the world: refused at once, unless bootstrap_group_mode=world
    return not (program.name == "mpi_session_subsets" and world)


def pairs_for(program, i):
    """What a program of tests/mpi runs over."""
    pairs = [(network, mode) for network, mode in combinations() if possible(program, mode)]
    if not FULL:
        return [pairs[i % len(pairs)]]
    if program.name.removeprefix("mpi_").startswith(OF_COMMUNICATORS):
        return pairs
    modes = [mode for mode in MODES if possible(program, mode)]
    return [(network, modes[(i + at) % len(modes)]) for at, network in enumerate(NETWORKS)] if modes else []


def per_node_of(program):
    """Ranks on each of two nodes that the program's `np:` admits (tests/mpi/README.md); 0: it is for one rank."""
    folder, _, name = program.name.removeprefix("mpi_").removesuffix("_large").partition("_")
    source = HERE.parent / "mpi" / folder / f"{name}.c"
    if not source.exists():  # made by the build, for one process
        return 0
    wanted = re.search(r"\bnp: *(\d+)(\+|-(\d+))?", source.read_text()[:3000])
    if wanted is None:
        return 2
    most = 2 if wanted[2] == "+" else int(wanted[3] or wanted[1]) // 2
    return min(most, 2)


class Tally:
    """Jobs by network and mode: how many, how many failed, seconds."""

    def __init__(self):
        self.rows = collections.defaultdict(lambda: [0, 0, 0.0])

    def add(self, where, network, mode, failed, seconds):
        row = self.rows[where, network, name_of(mode)]
        row[0] += 1
        row[1] += failed
        row[2] += seconds

    def text(self):
        lines = ["| nodes x ranks | network | mode | jobs | failed | s |", "|---|---|---|---|---|---|"]
        lines += [f"| {where} | {network} | {mode} | {jobs} | {failed} | {seconds:.0f} |"
                  for (where, network, mode), (jobs, failed, seconds) in sorted(self.rows.items())]
        return "\n".join(lines)


TALLY = Tally()


def combinations():
    if FULL:
        return [(network, mode) for network in NETWORKS for mode in MODES]
    longer = max(len(NETWORKS), len(MODES))
    return [(NETWORKS[i % len(NETWORKS)], MODES[i % len(MODES)]) for i in range(longer)]


@unittest.skipUnless(shutil.which("mpiexec.hydra"), "needs mpiexec.hydra (MPICH's launcher)")
@unittest.skipIf(nodes.possible(), nodes.possible())
class Cluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.two = nodes.Cluster(2)
        cls.addClassCleanup(cls.two.close)

    def run_job(self, network, mode, per_node, *command, cluster=None):
        """Each rank of a job, by Hydra; `command` is the program."""
        cluster = cluster or self.two
        params = {"plugin_path": str(BUILD / "tests/network"), "btl": f"self,shm,{network}", "bootstrap_timeout": "60",
                  **mode}
        if network == "trial":
            # The agent runs in the node: each rank finds its own address by its host's name.
            command = ("sh", "-c", 'export STARLING_MCA_trial_interface=$(getent hosts "$(hostname)" | cut -d" " -f1);'
                       ' exec "$@"', "sh", *command)
        begin = time.monotonic()
        failed = True
        try:
            done = cluster.run(per_node, *command,
                               env={"STARLING_MCA_" + name: value for name, value in params.items()})
            failed = done.returncode not in (0, SKIPPED)
            return done
        finally:
            TALLY.add(f"{len(cluster.names)} x {per_node}", network, mode, failed, time.monotonic() - begin)

    def test_stencil(self):
        for network, mode in combinations():
            with self.subTest(network=network, mode=mode):
                done = self.run_job(network, mode, 2, STENCIL)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertEqual(done.stdout.count("off by 0.0e+00"), 2, done.stdout)

    def test_programs_of_tests_mpi(self):
        programs = tests_of_mpi()
        self.assertTrue(programs, "tests/mpi is not built")
        for i, program in enumerate(programs):
            say(f"{i + 1} of {len(programs)}: {program.name}")
            per_node = per_node_of(program)
            for network, mode in pairs_for(program, i) if per_node else []:
                with self.subTest(program=program.name, network=network, mode=mode):
                    done = self.run_job(network, mode, per_node, str(program))
                    self.assertIn(done.returncode, (0, SKIPPED), done.stdout + done.stderr)

    def test_memory_is_not_taken_for_locality(self):
        # Process numbers are shared, so CMA would work between the nodes; the node map says otherwise.
        done = self.run_job("trial", {"startup_report": "1"}, 2, RING, "10")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("addresses are published by trial", done.stderr)

    def test_a_way_that_the_launcher_lacks_is_an_error(self):
        report = self.run_job("trial", {"startup_report": "1"}, 2, RING)
        self.assertIn("startup report: 4 processes, PMI 1.", report.stderr)
        has_group_fences = "processes, PMI 1.1" not in report.stderr  # Hydra since 5.0
        done = self.run_job("trial", {"bootstrap_group_mode": "native"}, 2, RING)
        # Hydra may lose what ranks say while it ends them, so only the code is looked at.
        self.assertEqual(done.returncode == 0, has_group_fences, done.stderr)

    @unittest.skipUnless({"ucx", "ofi"} <= set(NETWORKS), "needs both libraries")
    def test_two_rails_of_which_one_is_slow(self):
        cluster = nodes.Cluster(2)
        self.addCleanup(cluster.close)
        cluster.add_slow_rail(delay_ms=5)
        rails = {"btl": "self,shm,ucx,ofi", "pml_path_use": "alternate", "report": "1"}
        for ucx, ofi in (("eth0", "eth1"), ("eth1", "eth0")):
            with self.subTest(ucx=ucx, ofi=ofi):
                done = self.run_job("", {**rails, "btl_ucx_devices": ucx, "btl_ofi_interface": ofi}, 1, ORDER, "400",
                                    cluster=cluster)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("800 messages, 0 inversions, 0 wrong bytes", done.stdout)
                self.assertIn("ucx+ofi", done.stderr)
                self.assertIn("put back in order", done.stderr)

    @unittest.skipUnless(FULL, "only with --full")
    def test_four_nodes(self):
        cluster = nodes.Cluster(4)
        self.addCleanup(cluster.close)
        for per_node in (1, 2, 4):
            for network, mode in combinations():
                with self.subTest(per_node=per_node, network=network, mode=mode):
                    done = self.run_job(network, mode, per_node, STENCIL, cluster=cluster)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    ended = unittest.main(exit=False)
    if FULL:
        print(TALLY.text())
    sys.exit(not ended.result.wasSuccessful())
