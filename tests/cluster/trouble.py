#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on several nodes whose network is slow or goes away for a while, whose processes are killed, or may have few
connections.

usage: trouble.py BUILD_DIRECTORY [-v] [CASE.test ...]
Standard library only.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

import nodes

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
NETWORKS = [name for name in ("ucx", "ofi") if (BUILD / f"lib/starling/btl_{name}.so").exists()]
ORDER = BUILD / "tests/np_network_order"
SLOW = "tc qdisc add dev eth0 root tbf rate 50mbit burst 64k latency 50ms"
LIMIT_S = 120


def processes_on(cluster, name, program):
    """Numbers of the processes of a program on one node."""
    network = os.readlink(f"/proc/{cluster.pids[name]}/ns/net")
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "ns/net") == network and os.readlink(process / "exe") == str(program):
                found.append(int(process.name))
        except OSError:
            pass  # it has ended meanwhile
    return found


@unittest.skipUnless(shutil.which("mpiexec.hydra"), "needs mpiexec.hydra (MPICH's launcher)")
@unittest.skipIf(nodes.possible(), nodes.possible())
@unittest.skipUnless("ucx" in NETWORKS, "btl/ucx is not built")
class FewConnections(unittest.TestCase):
    """btl_ucx_connections: everybody speaks to everybody, over one or two connections at a time."""

    def test_everybody_to_everybody_on_four_nodes(self):
        cluster = nodes.Cluster(4)
        self.addCleanup(cluster.close)
        program = BUILD / "tests/np_network_all"
        for cap in (1, 2):
            with self.subTest(cap=cap):
                env = {"STARLING_MCA_btl": "self,shm,ucx", "STARLING_MCA_btl_ucx_connections": str(cap),
                       "STARLING_MCA_bootstrap_timeout": "60", "STARLING_MCA_report": "1"}
                done = cluster.run(2, str(program), "15", env=env, timeout=LIMIT_S)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("960 messages, 0 wrong", done.stdout)
                self.assertIn("opened again (btl_ucx_connections)", done.stderr)


@unittest.skipUnless(shutil.which("mpiexec.hydra"), "needs mpiexec.hydra (MPICH's launcher)")
@unittest.skipIf(nodes.possible(), nodes.possible())
class Trouble(unittest.TestCase):
    def setUp(self):
        self.cluster = nodes.Cluster(2)
        self.addCleanup(self.cluster.close)

    def start(self, network, count):
        """A job of one rank on each node, in the background: its end fills `done`."""
        done = []
        env = {"STARLING_MCA_btl": f"self,shm,{network}", "STARLING_MCA_bootstrap_timeout": "60"}
        job = threading.Thread(target=lambda: done.append(
            self.cluster.run(1, str(ORDER), str(count), env=env, timeout=LIMIT_S)))
        job.start()
        self.addCleanup(job.join)
        return job, done

    def in_node(self, name, command):
        self.cluster.enter(self.cluster.pids[name], command, mounts=True)

    def sent(self, name):
        """Bytes that have left a node by its network."""
        shown = subprocess.run(["nsenter", "-t", str(self.cluster.pids[name]), "-n", "-m", "--", "cat",
                                "/sys/class/net/eth0/statistics/tx_bytes"], check=True, stdout=subprocess.PIPE)
        return int(shown.stdout)

    def await_traffic(self, bytes_more):
        aim = self.sent("n1") + bytes_more
        deadline = time.monotonic() + LIMIT_S / 2
        while self.sent("n1") < aim:
            self.assertLess(time.monotonic(), deadline, "no traffic")
            time.sleep(0.05)

    def await_end(self, name):
        """The launcher may end before what it has told to end."""
        deadline = time.monotonic() + LIMIT_S / 2
        while processes_on(self.cluster, name, ORDER):
            self.assertLess(time.monotonic(), deadline, f"processes are left on {name}")
            time.sleep(0.1)

    def expect_success(self, job, done, messages):
        job.join()
        self.assertTrue(done, "the job was not started")
        self.assertEqual(done[0].returncode, 0, done[0].stdout + done[0].stderr)
        self.assertIn(f"{messages} messages, 0 inversions, 0 wrong bytes", done[0].stdout)

    def test_a_slow_link(self):
        self.in_node("n0", SLOW)
        for network in NETWORKS:
            with self.subTest(network=network):
                job, done = self.start(network, 200)
                self.expect_success(job, done, 400)

    def test_a_link_that_is_down_for_three_seconds(self):
        for name in ("n0", "n1"):
            self.in_node(name, SLOW)
        for network in NETWORKS:
            with self.subTest(network=network):
                job, done = self.start(network, 1800)
                self.await_traffic(1 << 20)
                self.in_node("n1", "ip link set eth0 down")
                time.sleep(3)
                self.assertTrue(job.is_alive(), "it ended while the link was down")
                self.in_node("n1", "ip link set eth0 up")
                self.expect_success(job, done, 3600)

    def test_a_process_that_is_killed(self):
        for name in ("n0", "n1"):
            self.in_node(name, SLOW)
        for network in NETWORKS:
            with self.subTest(network=network):
                job, done = self.start(network, 100_000)
                self.await_traffic(1 << 20)
                victims = processes_on(self.cluster, "n1", ORDER)
                self.assertEqual(len(victims), 1)
                os.kill(victims[0], signal.SIGKILL)
                job.join()
                self.assertTrue(done, "the job was not started")
                self.assertGreater(done[0].returncode, 0, done[0].stderr)
                # Either the other rank or the launcher was first to see it.
                text = done[0].stdout + done[0].stderr
                self.assertRegex(text, rf"rank 1 cannot be reached any more|PID {victims[0]} RUNNING AT n1")
                for name in ("n0", "n1"):
                    self.await_end(name)
                    self.in_node(name, 'test -z "$(ls /dev/shm)"')


if __name__ == "__main__":
    unittest.main()
