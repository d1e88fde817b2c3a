#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Where jobs are started from: closed descriptors, limits, allocations of a site, a full disk.

usage: surroundings.py BUILD_DIRECTORY [-q] [CASE.test ...]      (unittest's own arguments follow the directory)
Standard library only.
"""
import array
import fcntl
import itertools
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import sys
import termios
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, MPIEXEC, PATIENCE, SANITIZED, JobCase, marked_processes  # noqa: E402
from users import NOBODY, may_change_users  # noqa: E402

DESCRIPTORS = str(BUILD / "tests/np_descriptors")
PROBE = str(BUILD / "tests/pmi_probe")
INFO = str(BUILD / "bin/starling-info")
HELLO = str(BUILD / "examples/hello")
RING = str(BUILD / "examples/ring")
PROTOCOLS = str(BUILD / "tests/mpi/mpi_pt2pt_any_protocol")  # short and long messages, each way of sending
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


@unittest.skipUnless(may_change_users(), "needs root and setpriv")
class Users(JobCase):
    """Ranks that have changed their user still share the memory that mpiexec has made."""

    def test_a_job_of_two_users(self):
        for rank in (0, 1, 2):  # who changes; 2: both
            with self.subTest(rank=rank):
                script = f'test $PMI_RANK != {1 - rank} || exec "$@"; exec {" ".join(NOBODY)} "$@"'
                for program in (RING, PROTOCOLS):
                    done = self.run_job("-n", 2, "sh", "-c", script, "sh", program,
                                        env={"STARLING_MCA_startup_report": "1"})
                    self.assertEqual(done.code, 0, done)
                    self.assertIn("shm/memfd, inherited from mpiexec", done.err, done)


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
        for blocks in (0, 1, 100):
            self.assertEqual(self.start_limited(f"-f {blocks}", MPIEXEC, "-n", 2, "true").code, 0)
        for blocks, command in itertools.product((0, 1, 100), ((MPIEXEC, "-n", 2, HELLO), (HELLO,))):
            done = self.start_limited(f"-f {blocks}", *command)
            self.assertGreater(done.code, 0, done)
            self.assertLess(done.code, 128, f"no signal: {done}")
            self.assertRegex(done.err, r"limited to (0|512|1024|51200|102400) bytes \(ulimit -f\).*; needed: \d+ bytes\. Raise", done)

    @unittest.skipIf(SANITIZED, "sanitizers reserve more address space than any such limit")
    def test_a_limit_of_address_space_is_named(self):
        for command in ((MPIEXEC, "-n", 2, HELLO), (HELLO,)):
            done = self.start_limited("-v 40000", *command)
            self.assertEqual(done.code, 38, done)
            self.assertRegex(done.err, r"cannot map \d+ bytes .* limited to 40960000 bytes \(ulimit -v\), of which \d+ are in "
                                       r"use; needed: \d+\. Raise that limit", done)


class Forbidden(JobCase):
    """Containers whose filter of system calls refuses some."""

    @unittest.skipIf(SANITIZED or shutil.which("strace") is None, "needs strace, and a build without sanitizers")
    def test_signals_by_descriptor(self):
        done = self.run_job("-qq", "-o", "/dev/null", "-e", "inject=pidfd_send_signal:error=EPERM", MPIEXEC, "-n", 2, "true",
                            launcher="strace")
        if "ptrace" in done.err:
            self.skipTest(done.err)
        self.assertEqual((done.code, done.err), (0, ""), done)
        deadline = time.monotonic() + PATIENCE
        while marked_processes() and time.monotonic() < deadline:  # the guard hears of mpiexec's end
            time.sleep(0.02)


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
            done = self.run_job("--params", path, "-n", 2, "true", timeout=PATIENCE)
            self.assertEqual(done.code, 2, done)
            self.assertIn(wanted, done.err)
            done = self.run_job(launcher=HELLO, env={"STARLING_PARAMS_FILE": path}, timeout=PATIENCE)
            self.assertGreater(done.code, 0, done)
            self.assertIn(wanted, done.err)

    def test_bytes_that_are_no_text(self):
        path = pathlib.Path(self.folder, "bytes.conf")
        path.write_bytes(b"\xef\xbb\xbf# by an editor\r\nlog_level = info\r\n")
        done = self.run_job("--params", path, "-n", 1, HELLO)
        self.assertEqual((done.code, "shared memory: " in done.err), (0, True), done)
        for text, shown in ((b"btl = sel\0f\n", "btl = sel?f"), (b"\xff\xfeb\0t\0l\0", "b?t?l?"),
                            (b"btl \x1b[2J\n", "btl ?[2J"), (b"btl = a\0b\n", "btl = a?b")):
            path.write_bytes(text)
            for done in (self.run_job("--params", path, "-n", 1, "true", errors="replace"),
                         self.run_job(launcher=HELLO, env={"STARLING_PARAMS_FILE": str(path)}, errors="replace")):
                self.assertGreater(done.code, 0, done)
                self.assertRegex(done.err, f"bytes.conf:1: '.*{re.escape(shown)}' is not understood; expected `name")
        path.unlink()

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
    """Batch systems that gave several nodes: the job is handed over to a launcher that uses them all."""

    def handed(self, *words, **variables):
        """What Hydra would be told. It is a script here that prints its words; tests/cluster runs the real one."""
        folder = pathlib.Path(self.folder, "bin")
        folder.mkdir()
        hydra = folder / "mpiexec.hydra"
        hydra.write_text('#!/bin/sh\nprintf "%s " "$@"; printf "[%s]" "$STARLING_CMDLINE_MCA"\n')
        hydra.chmod(0o755)
        done = self.run_job(*words, env={"PATH": str(folder), **variables})
        hydra.unlink()
        folder.rmdir()
        self.assertEqual((done.code, done.err), (0, ""), done)
        return done.out

    def test_the_nodes_of_the_allocation_are_used(self):
        hosts = pathlib.Path(self.folder, "hosts")
        hosts.write_text("n0\nn0\nn1\nn1\n")
        grid = pathlib.Path(self.folder, "grid")
        grid.write_text("n0 2 all.q UNDEFINED\nn1 2 all.q UNDEFINED\n")
        for variables, placed in (
                ({"SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_NODELIST": "n[0-1]"}, "n0:2,n1:1"),
                ({"PBS_NODEFILE": str(hosts)}, "n0:2,n1:1"),
                ({"LSB_HOSTS": "n0 n1 n1"}, "n0:1,n1:2"),
                ({"LSB_MCPU_HOSTS": "n0 1 n1 2"}, "n0:1,n1:2"),
                ({"PE_HOSTFILE": str(grid)}, "n0:2,n1:1"),
                ({"OAR_NODEFILE": str(hosts)}, "n0:2,n1:1"),
                ({"COBALT_NODEFILE": str(hosts)}, "n0:2,n1:1")):
            with self.subTest(**variables):
                told = self.handed("--mca", "pmi", "^pmix", "-n", 3, "./program", **variables)
                self.assertIn(f"-hosts {placed} -genvall -n 3 -wdir {os.getcwd()} ./program [", told)
                self.assertIn("pmi", told[told.index("["):], "parameters are in the environment")
        hosts.unlink()
        grid.unlink()

    def test_a_file_of_hosts(self):
        hosts = pathlib.Path(self.folder, "hosts")
        hosts.write_text("# two\nfirst.invalid slots=3\nsecond.invalid:2\n")
        self.assertIn("-launcher ssh -hosts first.invalid:3,second.invalid:2 -genvall -n 5 ",
                      self.handed("-launcher", "ssh", "-f", hosts, "./program"))
        hosts.unlink()

    def test_no_launcher_is_an_error_that_names_packages(self):
        for words, variables in ((("-hosts", "first.invalid,second.invalid"), {}), ((), {"SLURM_JOB_NUM_NODES": "4"})):
            done = self.run_job(*words, "-n", 2, "/bin/true", env={"PATH": "/nowhere", **variables})
            self.expect_end(done, 127, "srun (", "prterun (", "mpirun.openmpi (", "package openmpi-bin",
                            "mpiexec.hydra (not in PATH; package mpich)")

    def test_here_where_one_node_is_meant(self):
        one = pathlib.Path(self.folder, "one")
        one.write_text("n0\nn0\n")
        several = {"SLURM_JOB_NUM_NODES": "4"}
        for words, variables in (((), {"SLURM_JOB_NUM_NODES": "1"}), ((), {"PBS_NODEFILE": str(one)}),
                                 ((), {"PBS_NODEFILE": "/no/such"}), ((), {"LSB_MCPU_HOSTS": "n0 8"}),
                                 ((), {"SLURM_NNODES": "many"}), (("-host", "localhost"), several),
                                 (("-launcher", "local"), several), (("--virtual-nodes", 2), several)):
            with self.subTest(words=words, **variables):
                done = self.run_job(*words, "-n", 3, "/bin/true", env={"PATH": "/nowhere", **variables})
                self.assertEqual((done.code, done.err), (0, ""), done)
        one.unlink()
        self.assertEqual(self.run_job("-n", 1, "true", env=several).err, "")

    def test_inside_a_rank_it_stays_and_says_so(self):
        done = self.run_job("-n", 1, MPIEXEC, "-n", 2, "true", env={"SLURM_JOB_NUM_NODES": "4"})
        self.assertEqual(done.code, 0, done)
        self.assertRegex(done.err, r"^mpiexec: warning: Slurm has given 4 nodes \(SLURM_JOB_NUM_NODES=4\), but this "
                                   r"mpiexec starts all its ranks on one, .*, since it is inside a rank of another job "
                                   r"\(PMI_RANK is set\); .*-host localhost\n$")


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

    def start_unread(self, streams, *words, make=os.pipe, **more):
        """A job whose `streams` are a pipe, or a terminal, that nobody reads, when that is full; and its reading end."""
        reader, writer = make()
        process = self.start(*words, **dict.fromkeys(streams.split(), writer), **more)
        os.close(writer)
        held, before = array.array("i", [0]), -1
        deadline = time.monotonic() + PATIENCE
        while held[0] != before:
            before = held[0] or -1
            time.sleep(0.3)
            fcntl.ioctl(reader, termios.FIONREAD, held)
            self.assertLess(time.monotonic(), deadline)
        return process, reader

    def test_a_full_disk_is_no_success(self):
        for launcher, words in ((MPIEXEC, ("--help",)), (MPIEXEC, ("--version",)), (INFO, ()), (INFO, ("--params-page",)),
                                (INFO, ("--version",))):
            with self.subTest(launcher=launcher, words=words), open("/dev/full", "w") as full:
                done = self.finish(self.start(*words, launcher=launcher, stdout=full))
                self.assertEqual(done.code, 1, done)
                self.assertRegex(done.err, ": standard output (cannot|could not) be written", done)

    def test_who_has_stopped_reading_keeps_no_job_alive(self):
        streams, ways = (("stdout", ""), ("stderr", ">&2")), (((), 143), (("--timeout", 2), 124))
        for (stream, redirect), (words, code), make in itertools.product(streams, ways, (os.pipe, pty.openpty)):
            with self.subTest(stream=stream, words=words, make=make):
                process, reader = self.start_unread(stream, "-l", *words, "-n", 2, "sh", "-c", f"yes {redirect}", make=make)
                if not words:
                    process.send_signal(signal.SIGTERM)
                done = self.finish(process)
                os.close(reader)
                self.assertEqual(done.code, code, done)

    def test_nor_where_the_job_has_failed_by_itself(self):
        process, reader = self.start_unread("stdout", "-l", "--timeout", 2, "-n", 2, "sh", "-c", "seq 12000; exit 3")
        done = self.finish(process)
        os.close(reader)
        self.assertEqual(done.code, 3, done)

    def test_nor_one_of_another_launcher(self):
        hydra = pathlib.Path(self.folder, "mpiexec.hydra")
        hydra.write_text("#!/bin/sh\nexec yes >&2\n")
        hydra.chmod(0o755)
        process, reader = self.start_unread("stderr", "-launcher", "hydra", "-hosts", "first.invalid,second.invalid",
                                            "--timeout", 2, "-n", 2, "true",
                                            env={"PATH": f"{self.folder}:{os.environ['PATH']}"})
        done = self.finish(process)
        os.close(reader)
        hydra.unlink()
        self.assertEqual(done.code, 124, done)

    def test_lines_stay_whole_where_both_outputs_are_one_pipe(self):
        script = "seq -f 'out %08.0f .' 20000 & seq -f 'err %08.0f .' 20000 >&2; wait"
        process, reader = self.start_unread("stdout stderr", "-l", "-n", 2, "sh", "-c", script)
        with os.fdopen(reader) as lines:
            read = lines.read().splitlines()
        self.assertEqual(self.finish(process).code, 0)
        self.assertEqual([line for line in read if not re.fullmatch(r"\[[01]\] (out|err) \d{8} \.", line)], [])
        self.assertEqual(len(read), 80000)

    def test_what_mpiexec_cannot_say_is_no_failure(self):
        for words in ((), ("-l",)):
            with self.subTest(words=words), open("/dev/full", "w") as full:
                done = self.finish(self.start("-v", *words, "-n", 2, "sh", "-c", "echo here", stderr=full))
                self.assertEqual((done.code, done.out.count("here")), (0, 2), done)

    def test_a_last_line_is_written_although_its_pipe_stays_open(self):
        done = self.run_job("-l", "-n", 1, "sh", "-c", "sleep 5 & printf 'first\nlast'")
        self.assertEqual((done.code, done.out), (0, "[0] first\n[0] last\n"), done)
        deadline = time.monotonic() + PATIENCE
        while marked_processes() and time.monotonic() < deadline:
            time.sleep(0.02)

    def test_a_message_that_nobody_reads_keeps_no_job_alive(self):
        process, reader = self.start_unread("stderr", "-n", 2, "sh", "-c",
                                            "test $PMI_RANK = 1 || exec yes >&2; sleep 2; exit 3")
        deadline = time.monotonic() + PATIENCE
        while len(marked_processes()) > 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertLessEqual(len(marked_processes()), 2, "only mpiexec and its guard are left")
        process.send_signal(signal.SIGTERM)
        done = self.finish(process)
        os.close(reader)
        self.assertEqual(done.code, 3, done)

    def test_who_reads_late_gets_everything(self):
        process, reader = self.start_unread("stdout", "-l", "-n", 2, "sh", "-c", f"seq 40000; exec {HELLO} >/dev/null")
        with os.fdopen(reader) as lines:
            read = lines.read().splitlines()
        done = self.finish(process)
        self.assertEqual((done.code, done.err), (0, ""), done)
        for rank in range(2):
            self.assertEqual([line for line in read if line.startswith(f"[{rank}]")],
                             [f"[{rank}] {number}" for number in range(1, 40001)])
        self.assertEqual(len(read), 80000)

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
