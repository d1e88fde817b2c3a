#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two nodes with a firewall between them: what users are told, and that they are told.

usage: firewall.py BUILD_DIRECTORY [--full] [-v] [CASE.test ...]
The launcher has a network of its own, so that only the ranks meet the firewall. The sample takes each case over one
network, --full over each. Standard library only.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time
import unittest

import nodes

FULL = "--full" in sys.argv or os.environ.get("STARLING_TESTS_FULL") == "1"
if "--full" in sys.argv:
    sys.argv.remove("--full")
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
NETWORKS = [name for name in ("ucx", "ofi") if (BUILD / f"lib/starling/btl_{name}.so").exists()]
INTERFACE = {"ucx": "btl_ucx_devices", "ofi": "btl_ofi_interface"}
ORDER = str(BUILD / "tests/np_network_order")
TRAFFIC = str(BUILD / "tests/np_window_traffic")  # one-sided
PATIENCE_S = 4
LIMIT_S = 120  # of a job; one that ends by it has not told anything
# A kernel sends so few ICMP messages that a rejected connection may not hear of it.
WORDS = {"drop": "nothing was answered for", "refuse": "it was refused", "reset": "it was reset",
         "reject": "(it was refused|nothing was answered for)"}
TARGET = {"drop": "DROP", "reject": "REJECT", "refuse": "REJECT --reject-with tcp-reset",
          "reset": "REJECT --reject-with tcp-reset"}
# A reset is seen by who sends to the node with the rule, and a refusal by who connects: rank 1, to its parent.
NODES = {"drop": ("n0", "n1"), "refuse": ("n0",), "reject": ("n0",), "reset": ("n1",)}


def possible():
    if nodes.possible():
        return nodes.possible()
    if shutil.which("mpiexec.hydra") is None:
        return "needs mpiexec.hydra (MPICH's launcher)"
    if shutil.which("iptables") is None:
        return "needs iptables"
    tried = subprocess.run(["unshare", "-n", "iptables", "-A", "INPUT", "-p", "tcp", "-j", "REJECT", "--reject-with",
                            "tcp-reset"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return None if tried.returncode == 0 else "iptables does not work in a network namespace here"


@unittest.skipIf(possible(), possible())
class Firewall(unittest.TestCase):
    def setUp(self):
        self.cluster = nodes.Cluster(2)
        self.addCleanup(self.cluster.close)
        self.cluster.add_launchers_network()

    def raise_wall(self, how):
        for name in NODES[how]:
            self.cluster.enter(self.cluster.pids[name], f"iptables -A INPUT -i eth0 -p tcp -j {TARGET[how]}",
                               mounts=True)

    def job(self, network, count, program=ORDER):
        """A job in the background; its end fills `done`."""
        done = []
        params = {"btl": f"self,shm,{network}", INTERFACE[network]: "eth0", "bootstrap_timeout": 10 * PATIENCE_S,
                  f"btl_{network}_peer_timeout": PATIENCE_S}
        env = {"HYDRA_IFACE": "eth1", **{"STARLING_MCA_" + name: str(value) for name, value in params.items()}}
        thread = threading.Thread(
            target=lambda: done.append(self.cluster.run(1, program, str(count), env=env, timeout=LIMIT_S)))
        thread.start()
        self.addCleanup(thread.join)
        return thread, done

    def await_traffic(self):
        def sent():
            shown = subprocess.run(["nsenter", "-t", str(self.cluster.pids["n1"]), "-n", "-m", "--", "cat",
                                    "/sys/class/net/eth0/statistics/tx_bytes"], check=True, stdout=subprocess.PIPE)
            return int(shown.stdout)
        deadline = time.monotonic() + LIMIT_S / 2
        while sent() < 1 << 20:
            self.assertLess(time.monotonic(), deadline, "no traffic")
            time.sleep(0.02)

    def expect_cause(self, how, thread, done):
        thread.join()
        text = done[0].stdout + done[0].stderr
        self.assertGreater(done[0].returncode, 0, text)
        self.assertNotIn("its limit", text)
        self.assertNotRegex(text, r"(rank \d+|process) has (left|ended)[^,]", "a living process was reported as dead")
        self.assertRegex(text, r"connection to rank [01] at 10\.77\.0\.[12] \(eth0\) port \d+ "
                               r"from 10\.77\.0\.[12] \(eth0\)")
        self.assertRegex(text, WORDS[how])
        self.assertIn("not known to have ended", text)
        self.assertIn("a firewall between may", text)

    def before_start(self, how, network):
        self.raise_wall(how)
        self.expect_cause(how, *self.job(network, 20))

    def in_traffic(self, how, network, program=ORDER):
        thread, done = self.job(network, 10_000_000, program)
        self.await_traffic()
        self.raise_wall(how)
        self.expect_cause(how, thread, done)

    def in_windows(self, how, network):
        self.in_traffic(how, network, TRAFFIC)


def add_cases():
    """One test per case and network; the sample has each case once."""
    cases = [("drop", "before_start"), ("refuse", "before_start"), ("drop", "in_traffic"), ("reset", "in_traffic"),
             ("reset", "in_windows"), ("reject", "before_start"), ("drop", "in_windows")]
    for i, (how, when) in enumerate(cases):
        for k, network in enumerate(NETWORKS):
            if FULL or (i < 5 and (i // 2 + i) % len(NETWORKS) == k):
                setattr(Firewall, f"test_{how}_{when}_{network}",
                        lambda self, how=how, when=when, network=network: getattr(self, when)(how, network))


add_cases()
if __name__ == "__main__":
    unittest.main()
