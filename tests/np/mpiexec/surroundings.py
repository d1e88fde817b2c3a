#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Where jobs are started from: closed descriptors, limits, allocations of a site, a full disk.

usage: surroundings.py BUILD_DIRECTORY [-q] [CASE.test ...]      (unittest's own arguments follow the directory)
Standard library only.
"""
import itertools
import os
import pathlib
import signal
import socket
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, MPIEXEC, SANITIZED, JobCase, marked_processes  # noqa: E402

DESCRIPTORS = str(BUILD / "tests/np_descriptors")
PROBE = str(BUILD / "tests/pmi_probe")
HELLO = str(BUILD / "examples/hello")
STREAMS = (0, 1, 2)


class Descriptors(JobCase):
    """Started by daemons and agents, without some of descriptors 0 to 2."""

    def start_without(self, closed, *command):
        closing = " ".join(f"{fd}{'<' if fd == 0 else '>'}&-" for fd in closed)
        return self.run_job("-c", f'exec "$@" {closing}', "sh", *command, launcher="sh")

    def reports(self, ranks):
        """Per rank, what each of its descriptors is and what using it gave."""
        found = []
        for rank in range(ranks):
            path = pathlib.Path(self.folder, f"is.{rank}")
            found.append([tuple(line.split(" ", 2)[1:]) for line in path.read_text().splitlines()])
            path.unlink()
        return found

    def test_no_rank_gets_a_descriptor_of_mpiexec(self):
        for count in range(4):
            for closed, label in itertools.product(itertools.combinations(STREAMS, count), ((), ("-l",))):
                with self.subTest(closed=closed, label=label):
                    done = self.start_without(closed, MPIEXEC, *label, "-n", 2, DESCRIPTORS, f"{self.folder}/is")
                    self.assertEqual(done.code, 0, done)
                    for rank, kinds in enumerate(self.reports(2)):
                        self.assertEqual(kinds[0], ("/dev/null", "works"))
                        for fd in (1, 2):
                            what, use = kinds[fd]
                            self.assertEqual(use, "works")
                            wanted = "pipe:" if label or fd not in closed else "/dev/null"
                            self.assertTrue(what.startswith(wanted), f"rank {rank}: descriptor {fd} is {what}")
                    said = {fd: 0 if fd in closed else 2 for fd in (1, 2)}
                    self.assertEqual((done.out.count("said\n"), done.err.count("said\n")), (said[1], said[2]), done)

    def test_mpiexec_keeps_no_socket_or_memory_there(self):
        # Behind -l mpiexec itself writes to 1 and 2, so they must not be anything of its own.
        done = self.start_without(STREAMS, MPIEXEC, "-l", "-n", 1, "sh", "-c",
                                  f"for fd in 0 1 2; do readlink /proc/$PPID/fd/$fd; done > {self.folder}/of-mpiexec")
        self.assertEqual(done.code, 0, done)
        path = pathlib.Path(self.folder, "of-mpiexec")
        self.assertEqual(path.read_text().split(), ["/dev/null"] * 3)
        path.unlink()

    def test_a_process_alone_keeps_no_socket_or_memory_there(self):
        for count in range(4):
            for closed in itertools.combinations(STREAMS, count):
                with self.subTest(closed=closed):
                    done = self.start_without(closed, DESCRIPTORS, f"{self.folder}/is")
                    self.assertEqual(done.code, 0, done)
                    for fd, (what, use) in enumerate(self.reports(1)[0]):
                        if fd in closed:
                            self.assertEqual((what, use), ("/dev/null", os.strerror(9)), f"descriptor {fd}")
                        else:
                            self.assertEqual(use, "works", f"descriptor {fd} is {what}")

    def test_a_rank_that_closed_its_own(self):
        script = f'exec {DESCRIPTORS} {self.folder}/is <&- >&- 2>&-'
        done = self.run_job("-n", 2, "sh", "-c", script)
        self.assertEqual(done.code, 0, done)
        self.assertEqual(self.reports(2), [[("/dev/null", os.strerror(9))] * 3] * 2)


class Limits(JobCase):
    """Started by shells and batch systems with limits."""

    def start_limited(self, limit, *command):
        return self.run_job("-c", f'ulimit {limit} && exec "$@"', "sh", *command, launcher="sh")

    def test_a_soft_limit_of_file_sizes_is_no_obstacle(self):
        done = self.start_limited("-Sf 100", MPIEXEC, "-n", 2, HELLO)
        self.assertEqual((done.code, done.out.count(" of 2 "), done.err), (0, 2, ""), done)
        done = self.start_limited("-Sf 100", MPIEXEC, "-n", 1, "sh", "-c", f"{HELLO}; ulimit -Sf")
        self.assertEqual(done.out.splitlines()[1:], ["100"], "the ranks keep the user's limit")
        done = self.start_limited("-Sf 100", HELLO)
        self.assertEqual((done.code, done.out.count(" of 1 "), done.err), (0, 1, ""), done)

    def test_a_hard_limit_of_file_sizes_is_named(self):
        # mpiexec may start what uses no MPI; processes of MPI say what they lack.
        self.assertEqual(self.start_limited("-f 100", MPIEXEC, "-n", 2, "true").code, 0)
        for command in ((MPIEXEC, "-n", 2, HELLO), (HELLO,)):
            done = self.start_limited("-f 100", *command)
            self.assertGreater(done.code, 0, done)
            self.assertLess(done.code, 128, f"no signal: {done}")
            self.assertRegex(done.err, r"limited to (51200|102400) bytes \(ulimit -f\).*; needed: \d+ bytes\. Raise", done)

    @unittest.skipIf(SANITIZED, "sanitizers reserve more address space than any such limit")
    def test_a_limit_of_address_space_is_named(self):
        for command in ((MPIEXEC, "-n", 2, HELLO), (HELLO,)):
            done = self.start_limited("-v 40000", *command)
            self.assertEqual(done.code, 38, done)
            self.assertRegex(done.err, r"cannot map \d+ bytes .* limited to 40960000 bytes \(ulimit -v\), of which \d+ are in "
                                       r"use; needed: \d+\. Raise that limit", done)


class ParameterFiles(JobCase):
    """Named by the user, but no file, or with a value of a mebibyte."""

    def kinds(self):
        fifo, folder, name = (f"{self.folder}/{kind}" for kind in ("fifo", "folder", "socket"))
        os.mkfifo(fifo)
        os.mkdir(folder)
        holder = socket.socket(socket.AF_UNIX)
        holder.bind(name)
        holder.close()
        yield fifo, "a FIFO"
        yield folder, "a directory"
        yield name, "a socket"
        yield "/dev/null", "a device"
        os.unlink(fifo)
        os.rmdir(folder)
        os.unlink(name)

    def test_what_is_no_plain_file_is_refused_without_waiting(self):
        for path, kind in self.kinds():
            wanted = f"{path} is {kind}; a parameter file is a plain file"
            done = self.run_job("--params", path, "-n", 2, "true", timeout=20)
            self.assertEqual(done.code, 2, done)
            self.assertIn(wanted, done.err)
            done = self.run_job(launcher=HELLO, env={"STARLING_PARAMS_FILE": path}, timeout=20)
            self.assertGreater(done.code, 0, done)
            self.assertIn(wanted, done.err)

    def test_a_long_value_is_cut_in_messages(self):
        path = pathlib.Path(self.folder, "long.conf")
        long = "x" * 1000000
        for setting in (f"log_level = {long}", f"btl = {long}", f"{long} = 1\nmca_strict = 1", f"{long}"):
            path.write_text(setting + "\n")
            for done in (self.run_job("--params", path, "-n", 2, HELLO),
                         self.run_job(launcher=HELLO, env={"STARLING_PARAMS_FILE": str(path)})):
                self.assertGreater(done.code, 0, done)
                self.assertIn("... (1000000 characters in all)", done.err)
                self.assertLess(len(done.err), 4000, done)
        path.unlink()
        done = self.run_job("-n", "7" * 100000, "true")
        self.assertEqual((done.code, len(done.err) < 1000), (2, True), done)


class Allocations(JobCase):
    """Batch systems that gave several nodes: this mpiexec uses one, and says so once."""

    def told(self, *options, **variables):
        done = self.run_job(*options, "-n", 3, "true", env=variables)
        self.assertEqual(done.code, 0, done)
        self.assertLessEqual(done.err.count("\n"), 1, done)
        return done.err

    def test_several_nodes_are_told_with_the_command_to_use(self):
        hosts = pathlib.Path(self.folder, "hosts")
        hosts.write_text("n0\nn0\nn1\nn1\n")
        grid = pathlib.Path(self.folder, "grid")
        grid.write_text("n0 2 all.q UNDEFINED\nn1 2 all.q UNDEFINED\n")
        for variables, system, nodes, command in (
                ({"SLURM_JOB_NUM_NODES": "4"}, "Slurm", 4, "`srun --mpi=pmi2 -n 3 PROGRAM`"),
                ({"SLURM_NNODES": "2"}, "Slurm", 2, "`srun --mpi=pmi2 -n 3 PROGRAM`"),
                ({"PBS_NODEFILE": str(hosts)}, "PBS", 2, "`mpiexec.hydra -f $PBS_NODEFILE -n 3 PROGRAM`"),
                ({"LSB_HOSTS": "n0 n0 n1 n2"}, "LSF", 3, "`mpiexec.hydra -n 3 PROGRAM`"),
                ({"LSB_MCPU_HOSTS": "n0 4 n1 4"}, "LSF", 2, "`mpiexec.hydra -n 3 PROGRAM`"),
                ({"PE_HOSTFILE": str(grid)}, "Grid Engine", 2, "`mpiexec.hydra -n 3 PROGRAM`"),
                ({"OAR_NODEFILE": str(hosts)}, "OAR", 2, "-f $OAR_NODEFILE -n 3"),
                ({"COBALT_NODEFILE": str(hosts)}, "Cobalt", 2, "-f $COBALT_NODEFILE -n 3")):
            with self.subTest(**variables):
                told = self.told(**variables)
                self.assertIn(f"mpiexec: warning: {system} has given {nodes} nodes ({next(iter(variables))}", told)
                self.assertIn(f"all 3 ranks on one, {socket.gethostname()}", told)
                self.assertIn(command, told)
        hosts.unlink()
        grid.unlink()

    def test_nothing_is_told_where_nothing_is_wrong(self):
        one = pathlib.Path(self.folder, "one")
        one.write_text("n0\nn0\n")
        for variables in ({"SLURM_JOB_NUM_NODES": "1"}, {"PBS_NODEFILE": str(one)}, {"PBS_NODEFILE": "/no/such"},
                          {"LSB_MCPU_HOSTS": "n0 8"}, {"SLURM_NNODES": "many"}, {"SLURM_JOB_NUM_NODES": ""}):
            with self.subTest(**variables):
                self.assertEqual(self.told(**variables), "")
        one.unlink()
        several = {"SLURM_JOB_NUM_NODES": "4"}
        self.assertEqual(self.told("-host", "localhost", **several), "")
        self.assertEqual(self.told("--virtual-nodes", 2, **several), "")
        self.assertEqual(self.run_job("-n", 1, "true", env=several).err, "")


class Words(JobCase):
    """What mpiexec says about its own output, and to whom it listens."""

    def test_a_full_disk_is_no_closed_output(self):
        for stream, script in (("output", "echo said"), ("error", "echo said >&2")):
            with open("/dev/full", "w") as full:
                process = self.start("-l", "-n", 2, "sh", "-c", f"{script}; sleep 60",
                                     **{"stdout" if stream == "output" else "stderr": full})
                done = self.finish(process)
            self.assertEqual(done.code, 1, done)
            if stream == "output":
                self.assertEqual(done.err, "mpiexec: standard output cannot be written: No space left on device\n")

    def test_a_reader_that_went_away_is_told(self):
        reader, writer = os.pipe()
        os.close(reader)
        process = self.start("-l", "-n", 1, "sh", "-c", "echo said; sleep 60", stdout=writer)
        os.close(writer)
        done = self.finish(process)
        self.assertEqual((done.code, done.err), (1, "mpiexec: standard output was closed by whoever read it\n"))

    def test_the_guard_passes_on_the_question(self):
        process = self.start("-n", 2, PROBE, "wait")
        self.wait_for_processes(3)  # two ranks and the guard
        guards = []
        while len(guards) != 1:  # a rank looks like mpiexec until it has become its program
            guards = [pid for pid in marked_processes() if pid != process.pid and
                      os.readlink(f"/proc/{pid}/exe") == os.readlink(f"/proc/{process.pid}/exe")]
        guard, = guards
        for _ in range(2):
            os.kill(guard, signal.SIGUSR1)
        told = [process.stderr.readline() for _ in range(2)]
        process.send_signal(signal.SIGTERM)
        done = self.finish(process)
        for rank, line in enumerate(told):
            self.assertRegex(line, rf"^mpiexec: rank {rank} pid \d+ on .*: ")
        self.assertEqual(done.code, 143, done)


if __name__ == "__main__":
    unittest.main()
