# SPDX-License-Identifier: BSD-3-Clause
"""Jobs under mpiexec for tests, and what they must not leave behind. Standard library only.

A test's first argument is the build directory. After every test no process of it, no new name in /dev/shm, no
new abstract socket and no temporary file may be left.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import hydra

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
MPIEXEC = str(BUILD / "bin/mpiexec")
SANITIZED = "-fsanitize" in (BUILD / "CMakeCache.txt").read_text()
# The whole of what continuous integration runs a sample of: run-tests --full.
FULL = os.environ.get("STARLING_TESTS_FULL", "0") == "1" and not SANITIZED
# Seconds for what takes parts of a second where nothing else runs. How fast it is, bench/ tells.
PATIENCE = 60
MARK = f"STARLING_TEST_MARK={os.getpid()}.{time.time_ns()}"


def marked_processes():
    """Processes whose environment has this run's mark, apart from ended ones."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if MARK.encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def names():
    """What others could stumble over: Starling's names in /dev/shm and its abstract sockets."""
    sockets = pathlib.Path("/proc/net/unix").read_text().splitlines()
    return ({name for line in sockets if (name := line.split()[-1]).startswith("@starling")} |
            {name for name in os.listdir("/dev/shm") if name.startswith("starling-")})


# Seconds from a job's start until it is asked what its ranks wait for: the first that have not been too few.
TO_BE_ASKED = [1, 5, 40]


def with_time(look):
    """Calls look(seconds), for a job that is asked so long after its start what its ranks wait for. Where other
    programs run they may not have come so far by then, so what it fails with counts only if much time does not help."""
    while len(TO_BE_ASKED) > 1:
        try:
            return look(TO_BE_ASKED[0])
        except AssertionError:
            TO_BE_ASKED.pop(0)  # nor is it enough for the next
    return look(TO_BE_ASKED[0])


class Done:
    """How a job has ended; `fault_to_end`: seconds from the fault that a rank has noted (np_doomed, pmi_probe)."""

    def __init__(self, code, out, err, seconds, fault_to_end=None):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds
        self.fault_to_end = fault_to_end

    def __str__(self):
        return f"code {self.code} after {self.seconds:.2f} s\nstdout: {self.out}\nstderr: {self.err}"


class NamesCase(unittest.TestCase):
    """A test after which no names are left."""

    def setUp(self):
        self.before = names()

    def tearDown(self):
        # Killed processes need a moment to be gone, and tests that run beside this one have names while their jobs last.
        left = names() - self.before
        deadline = time.monotonic() + 60
        while left and time.monotonic() < deadline:
            time.sleep(0.02)
            left &= names()
        self.assertEqual(left, set(), "names were left behind")


class JobCase(NamesCase):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="starling-test-")
        self.fault = tempfile.NamedTemporaryFile(prefix="starling-fault-")

    def tearDown(self):
        self.fault.close()
        left = marked_processes()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(left, [], "processes were left behind")
        super().tearDown()
        # ThreadSanitizer's runtime leaves such a file where a process is killed while it starts.
        files = [name for name in os.listdir(self.folder) if not name.startswith("tsan.")]
        shutil.rmtree(self.folder)
        self.assertEqual(files, [], "temporary files were left behind")

    def start(self, *args, launcher=MPIEXEC, env=None, **more):
        pathlib.Path(self.fault.name).write_text("")
        environment = dict(os.environ, TMPDIR=self.folder, STARLING_TEST_FAULT=self.fault.name, **(env or {}))
        name, value = MARK.split("=")
        environment[name] = value
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([launcher, *map(str, args)], env=environment, text=True, **{**streams, **more})

    def finish(self, process, timeout=90, begun=None, text=None):
        begun = begun or time.monotonic()
        try:
            out, err = process.communicate(text, timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.fail(f"mpiexec did not end within {timeout} s\n{out}\n{err}")
        end = time.monotonic()
        noted = pathlib.Path(self.fault.name).read_text()
        return Done(process.returncode, out, err, end - begun, end - float(noted) if noted else None)

    def run_job(self, *args, timeout=90, **more):
        for _ in range(5):
            begun = time.monotonic()
            done = self.finish(self.start(*args, **more), begun=begun, timeout=timeout)
            if not hydra.broke(done.code, more.get("launcher", ""), *args):
                break
        return done

    def expect_ok(self, *args, **more):
        done = self.run_job(*args, **more)
        self.assertEqual((done.code, done.err), (0, ""), done)
        return done

    def expect_end(self, done, code, *texts):
        """One message with these texts, this exit code, and soon: a second is promised, on an idle machine."""
        self.assertEqual(done.code, code, done)
        for text in texts:
            self.assertIn(text, done.err, done)
        self.assertEqual(done.err.count("\n"), 1, f"one message was expected: {done}")
        self.assertLess(done.seconds, PATIENCE, done)

    def wait_for_processes(self, count):
        """Until `count` processes of this run exist, besides mpiexec."""
        deadline = time.monotonic() + PATIENCE
        while len(marked_processes()) < count + 1 and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)
