#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""PMI 2 between mpiexec and its ranks: Starling's own client, Slurm's library, and ranks that break the rules.

usage: pmi2.py BUILD_DIRECTORY [-v] [CASE.test ...]
Standard library only. What is not installed is skipped, and says so.
"""
import pathlib
import shutil
import sys
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, JobCase, with_time  # noqa: E402

PROBE = str(BUILD / "tests/pmi_probe")
KIN = str(BUILD / "tests/np_kin")
FOREIGN = BUILD / "tests/pmi2_foreign"
HYDRA = shutil.which("mpiexec.mpich")
PMI2 = {"STARLING_MCA_pmi": "pmi2"}

# A rank that sends what its arguments say, after PMI's first words if it is told so; rank 1 alone.
RAW = """
import os, socket, sys, time, zlib
pmi = socket.socket(fileno=int(os.environ['PMI_FD']))
frame = lambda text: b'%6d' % len(text) + text
if os.environ['PMI_RANK'] == '1':
    if sys.argv[1] == 'introduced':
        pmi.sendall(b'cmd=init pmi_version=2 pmi_subversion=0\\n' + frame(b'cmd=fullinit;pmirank=1;'))
    pmi.sendall(zlib.decompress(bytes.fromhex(sys.argv[2])))
    if sys.argv[3] == 'ends':
        sys.exit(0)
    if sys.argv[3] == 'closes':
        pmi.close()
time.sleep(1000)
"""


def frame(text):
    return b"%6d" % len(text) + text


class Own(JobCase):
    """Starling's client."""

    def test_put_fence_get(self):
        for ranks, size in ((1, 0), (1, 65536), (2, 100), (7, 65536), (64, 3000)):
            with self.subTest(ranks=ranks, size=size):
                self.expect_ok("-n", ranks, PROBE, "exchange", size, env=PMI2)

    def test_few_messages(self):
        # init, fullinit, put, fence, get of itself and of nobody, fence, idle
        self.assertIn("operations 8\n", self.expect_ok("-n", 1, PROBE, "exchange", 60000, env=PMI2).out)

    def test_values_without_a_fence(self):
        self.expect_ok("-n", 8, PROBE, "direct", env=PMI2)

    def test_names(self):
        self.expect_ok("-n", 4, PROBE, "names", env=PMI2)

    def test_two_programs_one_after_the_other(self):
        self.expect_ok("-n", 4, "sh", "-c", f"{PROBE} exchange 50; {PROBE} exchange 5000", env=PMI2)
        jobs = self.expect_ok("-n", 1, "sh", "-c", f"{PROBE} identity; {PROBE} identity", env=PMI2).out.split("\n")
        self.assertNotEqual(jobs[0], jobs[1])

    def test_virtual_nodes(self):
        out = self.expect_ok("-n", 5, "--virtual-nodes", 2, PROBE, "identity", env=PMI2).out
        self.assertEqual(out.count("(vector,(0,1,3),(1,1,2))"), 5, out)

    def test_ranks_of_both_versions_in_one_job(self):
        out = self.expect_ok("-n", 6, "sh", "-c", f"test $((PMI_RANK % 2)) = 0 || export STARLING_MCA_pmi=pmi2; "
                             f"{PROBE} exchange 100").out
        self.assertEqual(out, "operations 12\n")  # of rank 0

    def test_abort(self):
        self.expect_end(self.run_job("-n", 4, PROBE, "abort", env=PMI2), 42, "rank 0 pid ", "exit code 42: a reason; 100 %")

    def test_ends(self):
        for how, code in (("abort", 7), ("kill", 137), ("exit", 3)):
            with self.subTest(how=how):
                self.expect_end(self.run_job("-n", 3, KIN, "rank", "die", how, env=PMI2), code, "rank 1 pid ")

    def test_what_ranks_wait_for(self):
        def look(seconds):
            done = self.run_job("-n", 3, "--timeout", seconds, PROBE, "wait", env=PMI2)
            self.assertEqual(done.code, 124, done)
            self.assertIn("in a PMI barrier that 2 of 3 ranks entered", done.err)

        with_time(look)

    @unittest.skipUnless(HYDRA, "needs mpiexec.mpich (MPICH's Hydra)")
    def test_under_hydra(self):
        self.expect_ok("-n", 4, PROBE, "exchange", 3000, launcher=HYDRA, env=PMI2)
        self.expect_ok("-n", 2, PROBE, "names", launcher=HYDRA, env=PMI2)


@unittest.skipUnless(FOREIGN.exists(), "needs Slurm's libpmi2 (libpmi2-0-dev) when Starling is built")
class Foreign(JobCase):
    """A program that is linked with Slurm's libpmi2."""

    def test_everything_it_offers(self):
        for ranks, more in ((1, []), (2, []), (5, ["--virtual-nodes", 2]), (64, [])):
            with self.subTest(ranks=ranks):
                out = self.expect_ok("-n", ranks, *more, FOREIGN).out
                self.assertEqual(sorted(out.split("\n")[:-1]), sorted(f"{rank} of {ranks}" for rank in range(ranks)))

    def test_ends(self):
        done = self.run_job("-n", 3, FOREIGN, "abort")
        self.assertEqual(done.code, 1, done)
        self.assertIn("rank 1 pid ", done.err)
        done = self.run_job("-n", 3, FOREIGN, "silent")
        self.assertEqual(done.code, 1, done)
        self.assertIn("rank 1 pid ", done.err)


class Hostile(JobCase):
    """Ranks that break the rules end the job, with one message, and leave nothing."""

    def expect_refused(self, sent, *texts, introduced=True, then="stays"):
        with self.subTest(sent=sent[:60], then=then):
            done = self.run_job("-n", 3, sys.executable, "-c", RAW, "introduced" if introduced else "silent",
                                zlib.compress(sent).hex(), then)
            self.expect_end(done, 1, "rank 1 pid ", *texts)

    def test_frames_that_are_none(self):
        self.expect_refused(b"      cmd=x;", "malformed PMI input", "no number above 0")
        self.expect_refused(b" 1 2  cmd=x;", "malformed PMI input", "no number above 0")
        self.expect_refused(b"     0", "malformed PMI input", "no number above 0")
        self.expect_refused(b"000000", "malformed PMI input", "no number above 0")
        self.expect_refused(b"-    6cmd=x;", "malformed PMI input", "a message starts with")
        self.expect_refused(b"\x00\x00\x00\x00\x00\x06cmd=x;", "malformed PMI input", "a message starts with")
        self.expect_refused(frame(b"kvs-fence;"), "malformed PMI input", "a frame starts with")
        self.expect_refused(frame(b"cmd=kvs-fence;word;"), "malformed PMI input", "key=value")
        self.expect_refused(frame(b"cmd=kvs-put;key=k;value=\x00;"), "malformed PMI input", "NUL")

    def test_lengths_that_lie(self):
        self.expect_refused(b"    10cmd=kvs-fence;", "malformed PMI input", "there is no such command")
        self.expect_refused(b"    22cmd=job-getid;    14cmd=kvs-fence;", "malformed PMI input", "key=value")

    def test_half_frames(self):
        for half in (b"   ", b"    40", b"    40cmd=kvs-put;key=", b"999999cmd=kvs-put;key=" + b"x" * 900000):
            self.expect_refused(half, "closed its PMI connection", then="closes")
            self.expect_refused(half, "exit code 0", then="ends")

    def test_huge_values(self):
        many = frame(b"cmd=kvs-put;" + b"k=v;" * 8200)
        self.expect_refused(many, "malformed PMI input", "more than 8192 fields")
        thread = frame(b"cmd=job-getid;thrid=" + b"x" * 999000 + b";")
        self.expect_refused(thread, "malformed PMI input", "thrid=")
        wait = frame(b"cmd=info-getnodeattr;key=a;wait=TRUE;")
        self.expect_refused(wait * 65, "malformed PMI input", "more than 64 requests wait")
        # Refused, but no reason to end the job: that comes with the nonsense after it.
        for big in (b"cmd=kvs-put;key=k;value=", b"cmd=name-publish;name=n;port=", b"cmd=info-putnodeattr;key=k;value="):
            self.expect_refused(frame(big + b";" * 999000) + b"nonsense", "malformed PMI input", "a message starts with")

    def test_requests_out_of_turn(self):
        self.expect_refused(frame(b"cmd=kvs-fence;"), "cmd=init must come first", introduced=False)
        self.expect_refused(b"cmd=init pmi_version=2 pmi_subversion=0\n" + frame(b"cmd=kvs-fence;"),
                            "cmd=fullinit must come first", introduced=False)
        self.expect_refused(b"cmd=barrier_in\n", "has chosen PMI 2")
        self.expect_refused(frame(b"cmd=kvs-fence;") * 2, "in a fence already")

    def test_end_in_the_middle(self):
        for sent in (b"", frame(b"cmd=kvs-fence;"), frame(b"cmd=info-getnodeattr;key=a;wait=TRUE;")):
            self.expect_refused(sent, "closed its PMI connection", then="closes")
            self.expect_refused(sent, "exit code 0", then="ends")


class Claims(JobCase):
    """Two processes must not be the same rank."""

    def test_a_rank_that_claims_to_be_another_one(self):
        for version in ("pmi1", "pmi2"):
            for claimed, why in ((0, "claims to be rank 0, which is another process"),
                                 (2, "claims to be rank 2, which is another process")):
                with self.subTest(version=version, claimed=claimed):
                    command = f"test $PMI_RANK != 1 || export PMI_RANK={claimed}; exec {KIN} rank"
                    done = self.run_job("-n", 3, "sh", "-c", command, env={"STARLING_MCA_pmi": version})
                    self.expect_end(done, 1, "rank 1 pid ", "started as rank 1", why, "PMI_RANK")


if __name__ == "__main__":
    unittest.main()
