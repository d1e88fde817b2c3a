#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs under mpiexec: exchange over PMI, groups, options, signals, malformed input.

usage: run.py BUILD_DIRECTORY [-q] [CASE.test ...]      (unittest's own arguments follow the directory)
Standard library only. The matrix of deaths is in tests/np/faults.
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, MPIEXEC, PATIENCE, JobCase, marked_processes, with_time  # noqa: E402

PROBE = str(BUILD / "tests/pmi_probe")
HYDRA = shutil.which("mpiexec.mpich")


class Exchange(JobCase):
    def test_put_fence_get(self):
        for ranks, size in ((1, 0), (1, 65536), (2, 100), (7, 65536), (64, 3000)):
            with self.subTest(ranks=ranks, size=size):
                self.expect_ok("-n", ranks, PROBE, "exchange", size)

    def test_few_messages(self):
        # init, put, fence, get of itself and of nobody, fence, idle
        self.assertIn("operations 7\n", self.expect_ok("-n", 1, PROBE, "exchange", 60000).out)

    def test_groups(self):
        for ranks in (2, 7, 16):
            self.expect_ok("-n", ranks, PROBE, "groups")

    def test_values_without_a_fence(self):
        self.expect_ok("-n", 8, PROBE, "direct")

    def test_names(self):
        self.expect_ok("-n", 4, PROBE, "names")

    def test_two_programs_one_after_the_other(self):
        self.expect_ok("-n", 4, "sh", "-c", f"{PROBE} exchange 50; {PROBE} exchange 5000")
        jobs = self.expect_ok("-n", 1, "sh", "-c", f"{PROBE} identity; {PROBE} identity").out.split("\n")
        self.assertNotEqual(jobs[0], jobs[1])

    def test_virtual_nodes(self):
        out = self.expect_ok("-n", 5, "--virtual-nodes", 2, PROBE, "identity").out
        self.assertEqual(out.count("(vector,(0,1,3),(1,1,2))"), 5, out)
        out = self.expect_ok("-n", 4, "--virtual-nodes=2", "-map-by", "node", "sh", "-c",
                             "echo $PMI_RANK:$STARLING_NODE:$STARLING_LOCAL_RANK:$OMPI_COMM_WORLD_LOCAL_SIZE").out
        self.assertEqual(sorted(out.split()), ["0:0:0:2", "1:1:0:2", "2:0:1:2", "3:1:1:2"])

    @unittest.skipUnless(HYDRA, "needs mpiexec.mpich (MPICH's Hydra)")
    def test_our_client_under_hydra(self):
        self.expect_ok("-n", 4, PROBE, "exchange", 3000, launcher=HYDRA)
        self.expect_ok("-n", 2, PROBE, "names", launcher=HYDRA)

    @unittest.skipUnless(shutil.which("mpicc.mpich"), "needs mpicc.mpich")
    def test_program_of_mpich_under_our_mpiexec(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "sum.c")
            source.write_text("#include <mpi.h>\n#include <stdio.h>\nint main(int c, char **v) {\n  int r, s = 0;\n"
                              "  MPI_Init(&c, &v);\n  MPI_Comm_rank(MPI_COMM_WORLD, &r);\n"
                              "  MPI_Allreduce(&r, &s, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n"
                              "  printf(\"%d\\n\", s);\n  return MPI_Finalize();\n}\n")
            subprocess.run(["mpicc.mpich", "-o", f"{folder}/sum", str(source)], check=True)
            self.assertEqual(self.expect_ok("-n", 4, f"{folder}/sum").out.split(), ["6"] * 4)


@unittest.skipUnless((BUILD / "examples/hello").exists(), "needs the examples")
class Programs(JobCase):
    """MPI programs in the arrangements that depend on mpiexec."""
    HELLO = str(BUILD / "examples/hello")

    def test_one_after_the_other(self):
        out = self.expect_ok("-n", 3, "sh", "-c", f"{self.HELLO}; {self.HELLO}").out
        self.assertEqual(out.count(" of 3 "), 6, out)

    def test_closed_descriptors_make_singletons_only_on_purpose(self):
        # Nothing tells whether these are two parts of one job or two jobs (children of ranks: np_launchers_Inside).
        command = ("-n", 2, "sh", "-c", f"eval exec \"$PMI_FD>&-\"; {self.HELLO}")
        done = self.run_job(*command)
        self.assertNotEqual(done.code, 0, done)
        self.assertIn("pmi_singleton_anyway=1", done.err, done)
        out = self.expect_ok(*command, env={"STARLING_MCA_pmi_singleton_anyway": "1"}).out
        self.assertEqual(out.count("rank 0 of 1 "), 2, out)

    def test_exit_without_finalize_is_a_failure(self):
        done = self.run_job("-n", 2, "sh", "-c", f"{PROBE} die before-put exit0")
        self.assertEqual(done.code, 1, done)


class Options(JobCase):
    def test_no_pmi_contact_is_legal(self):
        self.assertEqual(self.expect_ok("-n", 4, "hostname").out.split(), [socket.gethostname()] * 4)

    def test_several_programs_and_variables(self):
        out = self.expect_ok("-genv", "A", "1", "-n", 2, "-env", "B", "2", "sh", "-c", "echo x$A$B", ":",
                             "--np", 1, "-x", "B=3", "sh", "-c", "echo y$A$B$PMI_RANK").out
        self.assertEqual(sorted(out.split()), ["x12", "x12", "y132"])

    def test_config_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "jobs")
            path.write_text("# two programs\n-n 1 echo 'a  b'\n-n 2 \\\n  echo c\n")
            self.assertEqual(sorted(self.expect_ok("-configfile", path).out.splitlines()), ["a  b", "c", "c"])

    def test_labels(self):
        out = self.expect_ok("-l", "-n", 2, "sh", "-c", "echo one; printf two").out
        self.assertEqual(sorted(out.splitlines()), ["[0] one", "[0] two", "[1] one", "[1] two"])

    def test_output_files(self):
        with tempfile.TemporaryDirectory() as folder:
            self.expect_ok("-n", 2, "-outfile-pattern", f"{folder}/out.%r", "sh", "-c", "echo $PMI_RANK")
            self.assertEqual([pathlib.Path(folder, f"out.{r}").read_text() for r in (0, 1)], ["0\n", "1\n"])

    def test_standard_input_goes_to_rank_0(self):
        process = self.start("-n", 3, "sh", "-c", "echo $PMI_RANK:$(cat)", stdin=subprocess.PIPE)
        self.assertEqual(sorted(self.finish(process, text="hello").out.split()), ["0:hello", "1:", "2:"])

    def test_standard_input_goes_where_it_is_said(self):
        program = ("sh", "-c", "echo $PMI_RANK:$(cat)")
        for which, lines in ((1, ["0:", "1:hello", "2:"]), ("none", ["0:", "1:", "2:"])):
            process = self.start("--stdin", which, "-n", 3, *program, stdin=subprocess.PIPE)
            self.assertEqual(sorted(self.finish(process, text="hello").out.split()), lines)
        with tempfile.TemporaryFile() as file:
            file.write(b"skip hello")
            file.flush()
            os.lseek(file.fileno(), 5, os.SEEK_SET)
            process = self.start("-s", "all", "-n", 2, *program, stdin=file)
            self.assertEqual(sorted(self.finish(process).out.split()), ["0:hello", "1:hello"])
        self.assertIn("there is no rank 3 among 3", self.run_job("--stdin", 3, "-n", 3, "true").err)

    def test_what_stands_before_lines(self):
        out = self.expect_ok("-prepend-pattern", "<%r> ", "-n", 2, "echo", "x").out
        self.assertEqual(sorted(out.splitlines()), ["<0> x", "<1> x"])
        out = self.expect_ok("--output", "tag,timestamp", "-n", 1, "echo", "x").out
        self.assertRegex(out, r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \[0\] x\n$")

    def test_errors_go_where_output_goes(self):
        for more, line in (((), "x\n"), (("-l",), "[0] x\n")):
            done = self.run_job("--merge-stderr-to-stdout", *more, "-n", 1, "sh", "-c", "echo x >&2")
            self.assertEqual((done.code, done.out, done.err), (0, line, ""))

    def test_exit_codes_and_places_are_printed(self):
        done = self.run_job("-print-all-exitcodes", "-disable-auto-cleanup", "-n", 2, "sh", "-c", "exit $PMI_RANK")
        self.assertIn("mpiexec: exit codes: 0: 0, 1: 1\n", done.err)
        done = self.run_job("--display-map", "-n", 2, "--virtual-nodes", 2, "true")
        self.assertRegex(done.err, r"^mpiexec: rank 0 on \S+, virtual node 0, not bound\nmpiexec: rank 1 on .* node 1, not")
        self.assertRegex(self.run_job("--report-bindings", "-bind-to", "core", "true").err, r"rank 0 on \S+, processors \d")

    def test_working_directory(self):
        self.assertEqual(self.expect_ok("-wdir", "/usr", "-n", 1, "pwd").out, "/usr\n")

    def test_settings_travel(self):
        out = self.expect_ok("--mca", "btl", "self,shm", "--mca", "log_level", "info", "sh", "-c",
                             "printf %s \"$STARLING_CMDLINE_MCA\"").out
        self.assertEqual(out, "btl=self,shm\nlog_level=info\n")

    def test_binding_is_never_to_a_shared_place(self):
        out = self.expect_ok("-n", 64, "--bind-to", "core", "grep", "Cpus_allowed_list", "/proc/self/status").out
        self.assertEqual(len(set(out.splitlines())), 1)
        out = self.expect_ok("-n", 1, "-bind-to", "hwthread", "nproc").out
        self.assertEqual(out, "1\n")
        if len(os.sched_getaffinity(0)) >= 2:
            self.assertEqual(self.expect_ok("-n", 1, "-bind-to", "hwthread:2", "nproc").out, "2\n")
            self.assertEqual(self.expect_ok("-n", 1, "--map-by", "slot:PE=2:HWTCPUS", "nproc").out, "2\n")

    def test_ranks_per_node_are_the_number_of_ranks(self):
        for words in (("-ppn", 3), ("-N", 3), ("--npernode", 3), ("--map-by", "ppr:3:node"), ("-H", "localhost:9", "-N", 3)):
            self.assertEqual(self.expect_ok(*words, "echo", "x").out, "x\n" * 3, words)

    def test_descriptor_limit_of_the_ranks_is_the_user_s(self):
        done = self.finish(self.start("-c", f"ulimit -Sn 64; exec {MPIEXEC} -n 100 sh -c 'ulimit -Sn'", launcher="sh"))
        self.assertEqual((done.code, set(done.out.split())), (0, {"64"}), done)

    def test_too_few_descriptors_are_refused_with_the_number(self):
        done = self.finish(self.start("-c", f"ulimit -n 64; exec {MPIEXEC} -n 100 true", launcher="sh"))
        self.assertEqual(done.code, 1, done)
        self.assertIn("needs 127 file descriptors", done.err)

    def test_errors_say_what_to_do(self):
        for args, code, text in (
                (["-n", "2", "./no-such-program"], 127, "does not exist"),
                (["-n", "2", "no-such-program"], 127, "is not in PATH"),
                (["-n", "2", "/etc/passwd"], 126, "is not an executable file"),
                (["-n", "0", "true"], 2, "is no whole number from 1"),
                (["-n", "4x", "true"], 2, "is no whole number from 1"),
                (["--bindto", "core", "true"], 2, "did you mean --bind-to"),
                (["-n", "2"], 2, "no program is given"),
                (["-bind-to", "moon", "true"], 2, "none of none, core"),
                (["-bind-to", "core:x", "true"], 2, '"x" in "core:x"'),
                (["--map-by", "ppr:2:node:foo", "true"], 2, '"foo" in "ppr:2:node:foo"'),
                (["-launcher", "local", "-host", "no-such-host.invalid", "true"], 2, "is not this machine"),
                (["-wdir", "/no/such", "true"], 127, "cannot be entered"),
                (["--mca", "btl"], 2, "needs NAME VALUE")):
            done = self.run_job(*args)
            self.assertEqual(done.code, code, f"{args}: {done}")
            self.assertIn(text, done.err)
            self.assertEqual(done.err.count("\n"), 1, done)

    def test_version_and_help(self):
        self.assertIn("Starling", self.expect_ok("--version").out)
        self.assertIn("--timeout"[2:], self.expect_ok("-help").out)


class Ends(JobCase):
    def test_death_behind_a_shell(self):
        done = self.run_job("-n", 4, "sh", "-c", f"exec 2>/dev/null; {PROBE} die in-traffic kill; exit $?")
        self.expect_end(done, 137, "rank 3 pid ")

    def test_grandchildren_die_with_the_job(self):
        done = self.run_job("-n", 2, "sh", "-c", f"exec 2>/dev/null; (setsid sleep 1000 &); sleep 1000 & "
                            f"{PROBE} die in-traffic segv; exit $?")
        self.expect_end(done, 139, "rank 1 pid ")

    def test_abort(self):
        self.expect_end(self.run_job("-n", 4, PROBE, "abort"), 42, "rank 0 pid ", "exit code 42: a reason; 100 %")

    def test_abort_by_one_who_has_ended_before_it_is_read(self):
        for end in ("sys.exit(42)", "os.kill(os.getpid(), 9)"):
            script = ("import os, signal, sys, time\n"
                      "if os.environ['PMI_RANK'] == '0': time.sleep(100)\n"
                      "launcher = os.getppid()\n"
                      "if os.fork() == 0:\n"
                      "    os.closerange(3, 4096)\n"
                      "    time.sleep(0.5)\n"
                      "    os.kill(launcher, signal.SIGCONT)\n"
                      "    os._exit(0)\n"
                      "os.kill(launcher, signal.SIGSTOP)\n"
                      "os.write(int(os.environ['PMI_FD']), b'cmd=abort exitcode=42 message=a_reason\\n')\n" + end)
            done = self.run_job("-n", 2, sys.executable, "-c", script)
            self.expect_end(done, 42, "rank 1 pid ", "aborted the job with exit code 42: a_reason")

    def test_malformed_input_names_rank_offset_and_rule(self):
        for text, rule in (("hello", "byte 0: a message starts with"), ("cmd=put", "cmd=init must come first"),
                           ("cmd=init pmi_version=one pmi_subversion=1", "must be a whole number"),
                           ("cmd=nonsense", "there is no such command"), ("cmd=" + "x" * 100000 + " y", "key=value")):
            self.expect_end(self.run_job("-n", 3, PROBE, "malformed", text), 1, "rank 1 pid ", "malformed PMI input", rule)

    def test_first_failing_rank_gives_the_exit_code(self):
        done = self.run_job("-n", 4, "sh", "-c", "test $PMI_RANK != 2 || exit 9; sleep 100")
        self.expect_end(done, 9, "rank 2 pid ", "exit code 9, before PMI init")

    def test_signals_end_the_job_in_order(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("-n", 3, PROBE, "wait")
            self.wait_for_processes(3)
            begun = time.monotonic()
            process.send_signal(number)
            done = self.finish(process, begun=begun)
            self.assertEqual(done.code, 128 + number, done)
            self.assertLess(done.seconds, PATIENCE)

    def test_nohup_is_heeded(self):
        for words in ((), ("-launcher", "hydra", "-hosts", "first.invalid,second.invalid")):
            with self.subTest(words=words):
                hydra = pathlib.Path(self.folder, "mpiexec.hydra")
                hydra.write_text("#!/bin/sh\nread line\n")
                hydra.chmod(0o755)
                process = self.start(MPIEXEC, *words, "-n", 2, "sh", "-c", "test $PMI_RANK != 0 || read line",
                                     launcher="nohup", stdin=subprocess.PIPE,
                                     env={"PATH": f"{self.folder}:{os.environ['PATH']}"})
                self.wait_for_processes(1 if words else 2)
                process.send_signal(signal.SIGHUP)
                time.sleep(0.5)
                done = self.finish(process, text="go on\n")
                hydra.unlink()
                self.assertEqual((done.code, done.out), (0, ""), done)

    def test_second_interrupt_kills_at_once(self):
        process = self.start("-n", 2, "sh", "-c", "trap '' INT; while :; do sleep 0.1; done")
        self.wait_for_processes(2)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        done = self.finish(process, begun=begun)
        self.assertEqual(done.code, 130, done)
        self.assertLess(done.seconds, PATIENCE)

    def test_killed_mpiexec_takes_the_ranks_along(self):
        process = self.start("-n", 4, PROBE, "wait")
        self.wait_for_processes(4)
        process.kill()
        self.finish(process)
        deadline = time.monotonic() + PATIENCE
        while marked_processes() and time.monotonic() < deadline:
            time.sleep(0.02)

    def test_timeout_says_what_ranks_wait_for(self):
        def look(seconds):
            done = self.run_job("-n", 3, "--timeout", seconds, PROBE, "wait")
            self.assertEqual(done.code, 124, done)
            self.assertIn("in a PMI barrier that 2 of 3 ranks entered", done.err)
            self.assertEqual(done.err.count("\n"), 4, done)

        with_time(look)
        done = self.run_job("-n", 1, "sleep", "100", env={"MPIEXEC_TIMEOUT": "1"})
        self.assertEqual(done.code, 124, done)

    def test_usr1_says_what_ranks_wait_for(self):
        process = self.start("-n", 2, PROBE, "wait")
        self.wait_for_processes(3)  # two ranks and the guard
        said, deadline = "", time.monotonic() + PATIENCE
        while "in a PMI barrier that 1 of 2 ranks entered" not in said and time.monotonic() < deadline:
            process.send_signal(signal.SIGUSR1)
            said = process.stderr.readline() + process.stderr.readline()  # a line for each rank
        process.send_signal(signal.SIGTERM)
        self.finish(process)
        self.assertIn("rank 1 pid ", said)
        self.assertIn("in a PMI barrier that 1 of 2 ranks entered", said)


class Size(JobCase):
    def test_1024_ranks_start(self):
        done = self.expect_ok("-n", 1024, "true")
        print(f"[1024 x true: {done.seconds:.2f} s]", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
