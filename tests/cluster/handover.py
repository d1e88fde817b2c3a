#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Starling's own mpiexec on two nodes made of namespaces: it hands the job over to Hydra, to Open MPI's mpirun, or in an
allocation to Slurm, and what the command line says keeps its meaning.

usage: handover.py BUILD_DIRECTORY [-v] [CASE.test ...]
What is not installed is skipped, and says so. Standard library only.
"""
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import nodes
import slurm

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
SANITIZED = "-fsanitize" in (BUILD / "CMakeCache.txt").read_text()
MPIEXEC = str(BUILD / "bin/mpiexec")
KIN = str(BUILD / "tests/np_kin")
STENCIL = str(BUILD / "examples/stencil3d")
MARK = f"STARLING_HANDOVER_TEST=of.{os.getpid()}.{time.time_ns()}"
PATIENCE = 240 if SANITIZED else 60
NETWORK = next((name for name in ("ucx", "ofi") if (BUILD / f"lib/starling/btl_{name}.so").exists()), None)
# What tells a script its rank, under each engine.
RANK = "rank=${PMIX_RANK:-$PMI_RANK}; "


def marked():
    """Processes of this run, on any node: their numbers and what they are."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if MARK.encode() in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            pass
    return found


class Handed:
    """What holds under each engine. A case says launch(): what stands between a node and mpiexec, and mpiexec's options
    that lead to the engine."""

    engine = ""
    killed = (137,)  # the exit code where a rank was killed
    aborted = (7,)  # the exit code where a rank called MPI_Abort with 7
    breaks = ()  # exit codes with which the engine itself fails now and then; such a job is run again
    ends_input = True  # the end of standard input arrives
    labels = ""

    @classmethod
    def setUpClass(cls):
        cls.nodes = nodes.Cluster(2)
        cls.addClassCleanup(cls.nodes.close)
        # As ssh does it: nothing of the caller's environment.
        agent = pathlib.Path(cls.nodes.directory.name) / "bare-agent"
        agent.write_text(f'#!/bin/sh\nexec env -i PATH="$PATH" {MARK} {cls.nodes.agent} "$@"\n')
        agent.chmod(0o755)
        cls.agent = str(agent)

    def tearDown(self):
        deadline = time.monotonic() + 60  # daemons on the other node need a moment
        while marked() and time.monotonic() < deadline:
            time.sleep(0.05)
        left = marked()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(left, {}, "left behind")

    def environment(self, more):
        name, value = MARK.split("=")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PMI", "SLURM", "OMPI"))}
        if SANITIZED:  # libpmix is not built with sanitizers
            kept["STARLING_MCA_pmi"] = "^pmix"
        return {**kept, name: value, **more}

    def enter(self, *command, directory="/"):
        return ["nsenter", "-t", str(self.nodes.pids["n0"]), "-n", "-m", "-u", "-i", "--", "sh", "-c",
                f'cd {directory} && exec "$@"', "sh", *command]

    def start(self, *words, env=None, directory="/", **more):
        before, options = self.launch()
        command = self.enter(*before, MPIEXEC, *options, *map(str, words), directory=directory)
        return subprocess.Popen(command, env=self.environment(env or {}), text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **{"stdin": subprocess.DEVNULL, **more})

    def finish(self, job, text=None):
        try:
            out, err = job.communicate(text, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            running = marked()
            self.nodes.clear()
            out, err = job.communicate()
            self.fail(f"no end after {PATIENCE} s\n{out}\n{err}\n{running}")
        return subprocess.CompletedProcess(job.args, job.returncode, out, err)

    def run_job(self, *words, text=None, **more):
        if text is not None:
            more["stdin"] = subprocess.PIPE
        for _ in range(5):
            done = self.finish(self.start(*words, **more), text)
            if done.returncode not in self.breaks:
                break
        return done

    def lines(self, *words, **more):
        done = self.run_job(*words, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return [line.strip() for line in done.stdout.splitlines() if line.strip()]

    def test_ranks_of_two_nodes_are_one_job(self):
        done = self.run_job("--mca", "btl", f"self,shm,{NETWORK}", "--mca", "startup_report", "1", "-n", 4, KIN, "rank")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(sorted(filter(None, done.stdout.splitlines())), [f"rank {rank} of 4" for rank in range(4)])
        # Parameters arrive: the report was asked for by one, and tells the transport that another chose.
        self.assertIn(f"addresses are published by {NETWORK}", done.stderr)

    def test_a_program_that_communicates(self):
        lines = self.lines("--mca", "btl", f"self,shm,{NETWORK}", "-n", 4, STENCIL)
        self.assertEqual(sum("off by 0.0e+00" in line for line in lines), 2, lines)

    def test_verbose_prints_the_command(self):
        done = self.run_job("-v", "-n", 2, "true")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stderr, rf"mpiexec: handed over to {self.engine}: /\S+ .* true\n")

    def test_environment_and_directory(self):
        with_semicolon = "a;b c"
        script = 'echo "$(pwd)|$EXPORTED|$GLOBAL|$OWN"'
        lines = self.lines("-genv", "GLOBAL", "g=1", "-n", 1, "-env", "OWN", "it's", "-wdir", "/usr", "sh", "-c", script,
                           ":", "-n", 1, "sh", "-c", script, env={"EXPORTED": with_semicolon}, directory="/var")
        self.assertEqual(sorted(lines), [f"/usr|{with_semicolon}|g=1|it's", f"/var|{with_semicolon}|g=1|"])

    def test_several_programs_are_one_job(self):
        lines = self.lines("-n", 2, KIN, "rank", ":", "-n", 1, "sh", "-c", f"exec {KIN} rank 'x y'")
        self.assertEqual(sorted(lines), [f"rank {rank} of 3" for rank in range(3)])
        lines = self.lines("-n", 1, "sh", "-c", 'echo "first $1"', "sh", "a  b", ":", "-n", 1, "sh", "-c", "echo second")
        self.assertEqual(sorted(lines), ["first a  b", "second"])

    def test_ranks_per_node(self):
        lines = self.lines("-ppn", 3, "-n", 4, "hostname")
        self.assertEqual(collections.Counter(lines), {"n0": 3, "n1": 1})
        lines = self.lines("-map-by", "node", "-n", 4, "sh", "-c", RANK + "echo ${SLURM_PROCID:-$rank} $(hostname)")
        self.assertEqual(sorted(lines), ["0 n0", "1 n1", "2 n0", "3 n1"])

    def test_standard_input_goes_to_rank_0(self):
        script = RANK + '[ "${SLURM_PROCID:-$rank}" = 1 ] || read line; echo "got $line"'
        lines = self.lines("-n", 2, "sh", "-c", script, text="some words\n")
        self.assertEqual(sorted(lines), ["got", "got some words"])
        if self.ends_input:
            self.assertEqual(self.lines("-n", 2, "cat", text="1\n2\n"), ["1", "2"])

    def test_output_into_files(self):
        folder = pathlib.Path(self.nodes.directory.name)
        script = RANK + "echo ${SLURM_PROCID:-$rank}"
        self.lines("-outfile-pattern", "out.%r", "-n", 2, "sh", "-c", script, directory=folder)
        self.assertEqual([(folder / f"out.{rank}").read_text().strip() for rank in (0, 1)], ["0", "1"])
        for rank in (0, 1):
            (folder / f"out.{rank}").unlink()

    def test_labels(self):
        lines = self.lines("-l", "-n", 2, "echo", "said")
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertRegex(line, self.labels)

    def test_exit_codes(self):
        done = self.run_job("-n", 2, "sh", "-c", "exit 7")
        self.assertEqual(done.returncode, 7, done.stdout + done.stderr)
        done = self.run_job("-n", 2, "--mca", "btl", f"self,shm,{NETWORK}", KIN, "rank", "die", "abort")
        self.assertIn(done.returncode, self.aborted, done.stdout + done.stderr)
        script = RANK + '[ "${SLURM_PROCID:-$rank}" = 0 ] || kill -9 $$; sleep 987'
        done = self.run_job("-n", 2, "sh", "-c", script)
        self.assertIn(done.returncode, self.killed, done.stdout + done.stderr)

    def sleepers(self, count):
        deadline = time.monotonic() + 60
        while sum(re.match(r"(\S*/)?sleep 987 $", text) is not None for text in marked().values()) < count:
            self.assertLess(time.monotonic(), deadline, f"the ranks did not start: {marked()}")
            time.sleep(0.05)

    def test_the_time_limit(self):
        for words, env in ((("--timeout", 2), {}), ((), {"MPIEXEC_TIMEOUT": "2"})):
            done = self.run_job(*words, "-n", 2, "sleep", 987, env=env)
            self.assertEqual(done.returncode, 124, done.stdout + done.stderr)
            self.assertIn("mpiexec: the job did not end within 2 s", done.stderr)

    def mpiexec_of(self, job):
        """The number of mpiexec's own process."""
        if os.readlink(f"/proc/{job.pid}/exe") == MPIEXEC:
            return job.pid
        return next(pid for pid in marked() if os.path.realpath(f"/proc/{pid}/exe") == MPIEXEC)

    def test_a_signal_ends_all_of_it(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signal=number):
                job = self.start("-n", 2, "sleep", 987)
                self.sleepers(2)
                os.kill(self.mpiexec_of(job), number)
                done = self.finish(job)
                if number != signal.SIGKILL:
                    self.assertEqual(done.returncode, 128 + number, done.stdout + done.stderr)
                self.tearDown()

    def test_ctrl_c_at_a_terminal(self):
        # The terminal sends it to the whole foreground group: mpiexec and the engine.
        job = self.start("-n", 2, "sleep", 987, start_new_session=True)
        self.sleepers(2)
        os.killpg(job.pid, signal.SIGINT)
        done = self.finish(job)
        self.assertNotEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_inside_a_rank_of_another_job(self):
        # mpiexec starts a rank here, and that rank a job over both nodes.
        before, options = self.launch()
        command = [MPIEXEC, "-n", 1, "-host", "localhost", MPIEXEC, *options, *self.explicit, "-n", 2, KIN, "rank"]
        job = subprocess.Popen(self.enter(*before, *map(str, command)),
                               env=self.environment({"STARLING_MCA_btl": f"self,shm,{NETWORK}"}), text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        done = self.finish(job)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(sorted(filter(None, done.stdout.splitlines())), ["rank 0 of 2", "rank 1 of 2"])

    def test_from_one_of_its_own_ranks(self):
        script = f"{MPIEXEC} -n 2 {KIN} rank"
        done = self.run_job("-n", 2, "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(sorted(filter(None, done.stdout.splitlines())), ["rank 0 of 2"] * 2 + ["rank 1 of 2"] * 2)


def engine_case(case):
    case = unittest.skipUnless(NETWORK, "needs btl/ucx or btl/ofi")(case)
    return unittest.skipIf(nodes.possible(), nodes.possible())(case)


@unittest.skipUnless(shutil.which("mpiexec.hydra"), "needs mpiexec.hydra")
@engine_case
class Hydra(Handed, unittest.TestCase):
    engine = "Hydra"
    killed = (9, 255)  # its own way of telling
    breaks = (141,)  # its mpiexec writes to a node whose ranks have ended at once, and dies of it
    ends_input = False  # Hydra 4.0 keeps it to itself where there is more than one rank
    labels = r"^\[[01]\] said$"
    explicit = ()

    def launch(self):
        return (), ("-launcher", "ssh", "-launcher-exec", self.agent, "-hosts", "n0,n1")

    def test_the_order_of_hosts_and_their_slots(self):
        _, options = self.launch()
        for hosts, placed in (("n1:3,n0:1", ["n1", "n1", "n1", "n0"]), ("n1,n0", ["n1", "n1", "n0", "n0"]),
                              ("n1:1,n0:1", ["n1", "n1", "n0", "n0"]), ("n0:1,n1:3", ["n0", "n1", "n1", "n1"])):
            with self.subTest(hosts=hosts):
                self.launch = lambda hosts=hosts: ((), (*options[:-2], "-H", hosts))
                lines = self.lines("-n", 4, "sh", "-c", RANK + "echo $rank $(hostname)")
                self.assertEqual(sorted(lines), [f"{rank} {host}" for rank, host in enumerate(placed)])

    def test_without_a_number_the_slots_are_filled(self):
        _, options = self.launch()
        self.launch = lambda: ((), options[:-2])
        self.assertEqual(collections.Counter(self.lines("-H", "n0:2,n1:3", "hostname")), {"n0": 2, "n1": 3})

    def test_only_this_machine_needs_no_engine(self):
        self.launch = lambda: (("env", "PATH=/nowhere"), ())
        for host in ("n0", "localhost", "10.77.0.1"):
            done = self.run_job("-v", "-host", host, "-n", 2, KIN, "rank")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertNotIn("handed over", done.stderr)

    def test_nothing_of_the_kind_is_installed(self):
        self.launch = lambda: (("env", "PATH=/nowhere"), ())
        done = self.run_job("-hosts", "n0,n1", "-n", 2, KIN, "rank")
        self.assertEqual((done.returncode, done.stdout), (127, ""), done.stderr)
        for package in ("slurm-client", "prrte", "openmpi-bin", "mpich"):
            self.assertIn(f"package {package}", done.stderr)
        done = self.run_job("-launcher", "hydra", "-n", 2, KIN, "rank")
        self.assertEqual(done.returncode, 127, done.stderr)
        self.assertRegex(done.stderr, r"^mpiexec: option -launcher: Hydra is not here: mpiexec.hydra .*package mpich")


@unittest.skipUnless((BUILD / "lib/starling/pmi_pmix.so").exists(), "pmi/pmix was not built")
@unittest.skipIf(SANITIZED, "libpmix is not built with sanitizers")
@unittest.skipUnless(shutil.which("mpirun.openmpi"), "needs mpirun.openmpi (Open MPI's launcher)")
@engine_case
class Mpirun(Handed, unittest.TestCase):
    engine = "Open MPI's mpirun"
    labels = r"^\[\d+,[01]\]<stdout>:said$"
    explicit = ()

    def launch(self):
        return (), ("-launcher-exec", self.agent, "-hosts", "n0,n1")

    def environment(self, more):
        # A directory a job: the daemons of the job before may still be removing theirs.
        own = tempfile.mkdtemp(dir=self.nodes.directory.name)
        return super().environment({"OMPI_MCA_orte_tmpdir_base": own, **more})

    test_the_order_of_hosts_and_their_slots = Hydra.__dict__["test_the_order_of_hosts_and_their_slots"]


@unittest.skipIf(slurm.possible(), slurm.possible())
@engine_case
class Slurm(Handed, unittest.TestCase):
    """A plain mpiexec inside an allocation of both nodes."""

    engine = "Slurm"
    aborted = (7, 137, 143)  # the highest of all tasks; Slurm ends those that have not
    labels = r"^[01]: said$"
    killed = (137, 143)  # the highest of all tasks': also of the one that was ended then
    explicit = ("-launcher", "slurm")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.slurm = slurm.Slurm(cls.nodes)
        cls.addClassCleanup(cls.slurm.close)

    def environment(self, more):
        conf = self.slurm.environment["SLURM_CONF"]
        return super().environment({"SLURM_CONF": conf, "PATH": self.slurm.environment["PATH"], **more})

    def launch(self):
        return ("salloc", "-Q", "--nodes=2", "--ntasks=4", "--ntasks-per-node=2"), ()

    def test_without_a_number_all_tasks_are_started(self):
        self.assertEqual(collections.Counter(self.lines("hostname")), {"n0": 2, "n1": 2})

    def test_more_ranks_than_processors(self):
        self.assertEqual(collections.Counter(self.lines("-n", 6, "hostname")), {"n0": 3, "n1": 3})

    def test_ranks_are_placed_alike_whatever_processors_each_node_has_given(self):
        uneven = ("salloc", "-Q", "--nodes=2", "--ntasks=4")  # three processors of the first node, one of the other
        lines = {}
        for engine in ((), ("-launcher", "hydra")):
            self.launch = lambda engine=engine: (uneven, engine)
            lines[engine] = sorted(self.lines("-n", 4, "sh", "-c", RANK + "echo $rank $(hostname)"))
            self.assertEqual(lines[engine], ["0 n0", "1 n0", "2 n1", "3 n1"], engine)

    def test_named_hosts(self):
        placed = ["n1", "n1", "n0", "n1"]
        lines = self.lines("-H", "n1:2,n0:1", "-n", 3, "sh", "-c", "echo $SLURM_PROCID $(hostname)")
        self.assertEqual(sorted(lines), [f"{rank} {host}" for rank, host in enumerate(placed[:3])])

    def test_one_node_needs_no_step(self):
        for words in (("-n", 1), ("-host", "localhost", "-n", 2), ("-launcher", "local", "-n", 2)):
            done = self.run_job("-v", *words, KIN, "rank")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertNotIn("handed over", done.stderr)

    def test_in_a_batch_script(self):
        script = pathlib.Path(self.nodes.directory.name) / "batch"
        output = pathlib.Path(self.nodes.directory.name) / "batch.out"
        script.write_text(f"#!/bin/sh\n{MPIEXEC} --mca btl self,shm,{NETWORK} -n 4 {KIN} rank\necho code $?\n")
        done = subprocess.run(self.enter("sbatch", "-W", "--nodes=2", "--ntasks=4", "-o", str(output), "-D", "/",
                                         str(script)), env=self.environment({}), capture_output=True, text=True,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + output.read_text())
        self.assertEqual(sorted(filter(None, output.read_text().splitlines())),
                         ["code 0"] + [f"rank {rank} of 4" for rank in range(4)])
        script.unlink()
        output.unlink()


if __name__ == "__main__":
    unittest.main()
