#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each system call of the library refused to ranks, as the seccomp filters of containers do.

usage: refused.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
A job finds another way, or ends with an error that is told. tests/np_refused has the list of calls; strace says
whether one is missing.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, FULL, MPIEXEC, PATIENCE, SANITIZED, JobCase  # noqa: E402

REFUSED = str(BUILD / "tests/np_refused")
NETWORKS = [name for name in ("ucx", "ofi") if (BUILD / f"lib/starling/btl_{name}.so").exists()]
# Without these the C library's own start, end and threads do not work, or it takes the refusal for a result.
LIBC = {"exit", "exit_group", "rseq", "rt_sigreturn", "brk", "clone", "execve", "restart_syscall"}
# With these another way is expected.
SECOND_WAY = {"memfd_create", "fallocate", "membarrier", "madvise", "process_vm_readv", "process_vm_writev", "get_mempolicy", "set_mempolicy",
              "sched_getaffinity", "prctl", "uname", "getrusage", "sysinfo", "prlimit64"}
# How other libraries end a process that they cannot serve; they say why.
THEIR_END = r"libgcc_s\.so\.1 is needed for exceptions|futex facility returned an unexpected error|libuc[sptm]+\.so"
# What was refused may be what an error is told by.
MUTE = {"write", "sendmsg", "sendto"}


def calls():
    return subprocess.run([REFUSED, "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()


def may_refuse():
    done = subprocess.run([MPIEXEC, "-n", "1", REFUSED, "getcwd", "EPERM"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    return "refused: Invalid argument" not in done.stderr and "refused: Operation not permitted" not in done.stderr


@unittest.skipIf(SANITIZED, "sanitizers need system calls of their own")
@unittest.skipUnless(may_refuse(), "the kernel takes no seccomp filters here")
class Refused(JobCase):
    def refuse(self, *words, nodes=1, **more):
        params = {"bootstrap_timeout": 4, "btl_ucx_peer_timeout": 4, "btl_ofi_peer_timeout": 4}
        mca = [word for name, value in params.items() for word in ("--mca", name, value)]
        return self.run_job("-n", 4, "--virtual-nodes", nodes, *mca, REFUSED, *words, timeout=PATIENCE, **more)

    def expect_way_or_reason(self, call, done):
        if done.code == 0:
            self.assertEqual(done.out, "all right\n", done)
            return
        self.assertNotIn(call, SECOND_WAY, done)
        if re.search(THEIR_END, done.err):
            return
        self.assertNotRegex(done.err, r"SIG(SEGV|BUS|ABRT|SYS|ILL|FPE)", done)
        if call not in MUTE:
            self.assertRegex(done.err, r"error: |aborted the job with exit code \d+: MPI_|malformed PMI input", done)

    def each(self, nodes):
        for k, call in enumerate(calls()):
            for i, error in enumerate(("EPERM", "ENOSYS")):
                for who in ((), (1,)) if FULL else ((), (1,))[(i + k) % 2:][:1]:
                    with self.subTest(call=call, error=error, who=who or "all"):
                        self.expect_way_or_reason(call, self.refuse(call, error, *who, nodes=nodes))

    def test_each_on_one_node(self):
        self.each(1)

    @unittest.skipUnless(NETWORKS, "no network library is built")
    def test_each_with_two_nodes(self):
        self.each(2)

    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    def test_the_list_is_whole(self):
        called = set()
        for more in (), ("--mca", "shm", "posix"), ("--mca", "pml", "dynamic"):
            with tempfile.NamedTemporaryFile("r") as trace:
                subprocess.run(["strace", "-f", "-qq", "-o", trace.name, MPIEXEC, "-n", "4", *more, REFUSED, "none"],
                               check=True, stdout=subprocess.DEVNULL)
                called |= self.called_in_mpi(trace)
        self.assertIn("memfd_create", called)
        self.assertEqual(called - set(calls()) - LIBC, set(), "np_refused does not know them")

    @staticmethod
    def called_in_mpi(trace):
        """By ranks from the line on that np_refused marks, and by their threads."""
        ranks, called = set(), set()
        for line in trace:
            found = re.match(r"(\d+) +(?:<\.\.\. )?(\w+)[ (]", line)
            if found is None:
                continue
            if "PR_SET_NO_NEW_PRIVS" in line:
                ranks.add(found[1])
            elif found[1] in ranks:
                called.add(found[2])
                thread = re.search(r"\) += (\d+)$", line)
                if found[2].startswith("clone") and thread:
                    ranks.add(thread[1])
        return called

    @unittest.skipUnless(shutil.which("unshare"), "needs unshare")
    def test_a_small_file_system_instead_of_memfds_is_named(self):
        script = "mount -t tmpfs -o size=128k tmpfs /dev/shm && exec \"$0\" \"$@\""
        if subprocess.run(["unshare", "--mount", "sh", "-c", script, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("needs a mount namespace of its own")
        for call in "memfd_create", "fallocate":
            for params in (), ("--mca", "shm", "posix", "--mca", "shm_memory_wait", 1):
                with self.subTest(call=call, params=params):
                    done = self.finish(self.start("--mount", "sh", "-c", script, MPIEXEC, "-n", 2, *params, REFUSED, call,
                                                  "EPERM", launcher="unshare"))
                    self.assertNotIn("signal", done.err, done)
                    if call == "memfd_create" or params:
                        self.assertRegex(done.err, r"/dev/shm.*no room for \d+ more bytes.*free: \d+ bytes", done)


if __name__ == "__main__":
    unittest.main()
