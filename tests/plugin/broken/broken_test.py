# SPDX-License-Identifier: BSD-3-Clause
"""Each suite finds the faults of a broken plugin, says what is wrong, and passes the same plugin without a fault.

usage: broken_test.py FRAMEWORK SUITE PLUGIN [LAUNCHER...]
"""
import os
import re
import subprocess
import sys
import unittest

FRAMEWORK, SUITE, PLUGIN = sys.argv[1:4]
LAUNCHER = sys.argv[4:]

# fault -> what the author reads
FAULTS = {
    "btl": {
        "loses": r"message \d+ of \d+ was lost",
        "reorders": r"message \d+ of \d+ was overtaken by message \d+: per endpoint, messages arrive in posting order",
        "duplicates": r"message \d+ was delivered twice: a message is delivered once",
        "damages": r"message \d+ of \d+ was damaged: byte \d+ of \d+ is wrong",
        "silent": r"a process has ended, and who sends to it is not told by Sink::on_peer_lost",
        "false_get": r"this transport have the Capability::get that it claims",
        "early": r"only progress\(\) delivers",
        "sleeps": r"a message has come, but begin_sleep\(\) allows to sleep",
        "never_full": r"must make send\(\) give again at some time",
        "hasty": r"message \d+ of \d+ was damaged",
        "rots": r"kept message \d+ has changed before it was released",
        "flushes": r"a flush has ended, and the bytes of a put of \d+ are not there",
        "changes": r"kind 5 of 4 bytes",
        "origin": r"of those whose Origin says that they are from rank 0",
        "roomy": r"where send\(\) says again, reserve\(\) of as many bytes is null",
        "knows": r"nothing is known of world 5",
    },
    "shm": {
        "leaks_name": r"the file /dev/shm/starling-broken-\S+ stays after the components' ends",
        "leaks_descriptor": r"a descriptor stays open",
        "leaks_memory": r"memory stays mapped",
        "dirty": r"the area of local rank 1 is not zero: all-zero bytes are the valid initial state",
        "apart": r"has_name\(\) is true, but what another process finds or attaches is other memory",
        "forgets_job": r"two jobs have the same memory",
        "no_place": r"two processes that share memory would count as of two nodes",
        "too_short": r"SegmentSpec::bytes are asked for",
    },
    "pmi": {
        "no_wait": r"a fence waits for all its members, and what they put before it is visible after it",
        "no_group_wait": r"does not see after its group's fence what rank \d put before it",
        "polls_wrong": r"a fence waits for all its members",
        "cuts_values": r"has other bytes than were put \(1024 bytes, put were 4096\)",
        "one_rank": r"gives the value of another process, or Identity::rank of that one is wrong",
        "invents": r"got->found",
        "keeps_names": r"a name that was taken back is still found",
        "claims_names": r"a published name is not found",
    },
    "pml": {
        "order": r"a receive got message \d+, expected \d+: messages from one process on one context match in the order",
        "damages": r"\d+ bytes arrive damaged over a transport without get",
        "hangs_sync": r"a (send|receive) of 0 bytes does not end",
        "ends_sync": r"a synchronous send of 0 bytes has ended before its receive was posted",
        "keeps_receives": r"close\(\) completes the pending receives",
        "takes_probed": r"probe\(\) does not see a message that has come, or an earlier one has taken it",
        "mixes_contexts": r"a message of one context has met a receive of another",
    },
    "bootstrap": {
        "wrong_address": r"address\(\) gives rank \d+ another address for rank \d+ than that one has published",
        "no_address": r"has no address of rank \d+ after create\(\) with it",
        "other_ids": r"create\(\) gives rank 3 another context id than rank 0: it is the same on each member",
        "same_id": r"two communicators have the same context id: messages would mix",
        "wrong_code": r"a member that does not arrive before the deadline is timed_out: bootstrap/broken: something is wrong",
        "keeps_name": r"a name that it published stays behind: forgotten",
    },
}[FRAMEWORK]


def run(fault, patience):
    """`patience`: seconds that the suite waits for what a sound plugin does at once."""
    return subprocess.run([*LAUNCHER, SUITE, PLUGIN, "--set", f"{FRAMEWORK}_broken_fault={fault}", "--gtest_fail_fast"],
                          capture_output=True, text=True,
                          timeout=280, env=dict(os.environ, STARLING_CONFORMANCE_PATIENCE=str(patience)))


class Broken(unittest.TestCase):
    def test_without_a_fault_it_conforms(self):
        done = run("none", 60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(FRAMEWORK == "bootstrap", "of bootstrap plugins")
    def test_a_plugin_that_needs_fences_of_groups_is_tried_where_there_are_any(self):
        done = run("waits", 60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "the plugin declines: .*this process manager has no fences of groups")
        self.assertRegex(done.stdout, r"\[ +OK \] Managers/BootstrapUnder.all_members_agree_and_know_each_other/groups")

    def test_each_fault_is_found_and_explained(self):
        for fault, explained in FAULTS.items():
            with self.subTest(fault=fault):
                # What is never done is waited for, so shortly; but other programs may make what is done late, too.
                for patience in (2, 20):
                    done = run(fault, patience)
                    text = re.sub(r"\s+", " ", done.stdout + done.stderr)
                    if re.search(explained, text):
                        break
                self.assertNotEqual(done.returncode, 0, text)
                self.assertRegex(text, explained)


unittest.main(argv=sys.argv[:1])
