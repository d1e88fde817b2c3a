#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs over several virtual nodes, with btl/trial as the network.

usage: run.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
Standard library only.
"""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

from network import BUILD, NETWORKS, PLUGINS, NetworkCase

HYDRA = shutil.which("mpiexec.mpich")
RING = str(BUILD / "examples/ring")
GROUPS = str(BUILD / "tests/np_network_groups")
ORDER = str(BUILD / "tests/np_network_order")
PAIR = str(BUILD / "tests/np_network_pair")
LEAVE = str(BUILD / "tests/np_network_leave")
COMES_BACK = str(BUILD / "tests/np_servers_rows")  # ends with a session of each process alone, after one of all
RECEIVERS = str(BUILD / "tests/np_network_receivers")
LEAVE_EARLY = str(BUILD / "tests/np_network_leave_early")
MODES = [{"bootstrap": "flat"}, {"bootstrap": "flat", "async_modex": 1}, {"async_modex": 1},
         *({"bootstrap": "hierarchical", "bootstrap_group_mode": mode}
           for mode in ("auto", "native", "lookup", "world"))]


class Locality(NetworkCase):
    def test_ring_over_nodes(self):
        for ranks, nodes in ((2, 2), (4, 2), (6, 3), (5, 5)):
            with self.subTest(ranks=ranks, nodes=nodes):
                self.expect(self.run_job(ranks, nodes, RING, "20"),
                            f"20 rounds over {ranks} ranks: {20 * ranks} hops")

    def test_sleeping_ranks_hear_both_shared_memory_and_network(self):
        # Every wait sleeps; lost wake-ups would cost 0.1 s per hop, 400 s in all.
        self.expect(self.run_job(4, 2, RING, "1000", wait_spin_us=0), "4000 hops")

    def test_one_node_does_not_even_load_the_network(self):
        loads = {"LD_DEBUG": "files"}
        here = self.run_job(4, 1, RING, env=loads)
        self.expect(here, "libmpi_abi.so.1")
        self.assertFalse("btl_trial.so" in here.stderr, "it was loaded")
        self.assertTrue("btl_trial.so" in self.run_job(4, 2, RING, env=loads).stderr, "it was not loaded")

    def test_without_a_network_the_reason_is_told(self):
        done = self.run_job(4, 2, RING, btl="self,shm")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no transport reaches rank", done.stderr)
        self.assertRegex(done.stderr, r"shm: .*is not on this node")
        # Nobody waits to know it.
        done = self.run_job(2, 1, RING, btl="self", bootstrap_timeout=0)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"no transport reaches rank [01]; tried\n +btl/self: ")
        self.assertIn("the node of this process; btl=self (environment STARLING_MCA_btl)", done.stderr)

    def test_a_network_carries_what_nothing_nearer_does(self):
        for network, params in NETWORKS:
            for nodes in (1, 2):
                for mode in MODES if network == "trial" else ({},):
                    with self.subTest(network, nodes=nodes, **mode):
                        done = self.run_job(4, nodes, RING, "20", btl=f"self,{network}", bootstrap_timeout=60,
                                            report=1, **params, **mode)
                        self.expect(done, "80 hops")


class Needs(NetworkCase):
    """Each need runs its barrier, and only then; without the barrier a message is lost."""

    def test_nothing_needed_nothing_done(self):
        done = self.run_job(4, 2, PAIR, "10", trial_address="computed")
        self.expect(done, "10 messages, 0 wrong words", "barrier before the first message: no",
                    "barrier after the last message: no", "address exchange: none")
        self.assertEqual(self.fences(done), (0, 0, 0))

    def test_published_addresses_need_one_fence(self):
        done = self.run_job(4, 2, PAIR, "10", bootstrap="flat")
        self.expect(done, "10 messages, 0 wrong words",
                    "address exchange: one fence (addresses are published by trial)")
        self.assertEqual(self.fences(done), (1, 1, 1))
        done = self.run_job(4, 2, PAIR, "10", bootstrap="hierarchical")
        self.expect(done, "10 messages, 0 wrong words", "address exchange: over the tree of node roots")
        self.assertEqual(self.fences(done), (0, 0, 0))

    def test_a_message_before_the_peer_is_ready(self):
        for need in ({"trial_barrier_before": 1}, {"trial_accepts_before_ready": 0}):
            for late in ("0", "3"):
                with self.subTest(need=need, late=late):
                    args = (4, 2, PAIR, "10", late, "700")
                    done = self.run_job(*args, trial_address="computed", **need)
                    self.expect(done, "10 messages, 0 wrong words",
                                "barrier before the first message: yes (asked for by trial)")
                    self.assertEqual(self.fences(done), (1, 1, 1))

    def test_without_that_barrier_it_is_lost(self):
        for _ in range(5):  # where other programs run the ranks may come the other way round
            done = self.run_job(2, 2, PAIR, "10", "0", "1500", trial_address="computed", trial_barrier_before=1,
                                init_barrier="never", bootstrap_timeout=4)
            if done.returncode != 0:
                break
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("0 wrong words", done.stdout)
        self.assertIn("bootstrap_timeout", done.stderr)

    def test_a_message_that_is_on_its_way_when_its_sender_ends(self):
        done = self.run_job(2, 2, PAIR, "10", trial_barrier_after=1, trial_hold_ms=300)
        self.expect(done, "10 messages, 0 wrong words",
                    "barrier after the last message: yes (asked for by trial)")

    def test_without_that_barrier_it_is_lost_too(self):
        for _ in range(5):  # the sender has to end while its message is held
            done = self.run_job(2, 2, PAIR, "10", trial_barrier_after=1, trial_hold_ms=300, finalize_barrier="never")
            if done.returncode != 0:
                break
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("0 wrong words", done.stdout)


class Cutoff(NetworkCase):
    """mpi_add_procs_cutoff: peers at MPI_Init below it, on the first message from it on."""

    def count(self, what, done):
        """Mean over ranks, at the end of MPI_Init."""
        return float(re.search(f"^  {what}  +\\S+ +(\\S+)", done.stderr, re.M).group(1))

    def peers(self, done):
        return self.count("peers", done)

    def test_peers_now_or_later(self):
        now = self.run_job(8, 2, PAIR, mpi_add_procs_cutoff=9)
        self.expect(now, "peers: made at once (8 processes, mpi_add_procs_cutoff=9)")
        self.assertEqual(self.peers(now), 8)
        self.assertEqual(self.count("network endpoints", now), 4)
        for cutoff in (0, 8):
            later = self.run_job(8, 2, PAIR, mpi_add_procs_cutoff=cutoff)
            self.expect(later, "peers: made on first message")
            self.assertLess(self.peers(later), 8)
            self.assertLess(self.count("network endpoints", later), 1)  # the two roots speak to each other

    def test_a_transport_that_cannot_add_peers_one_by_one(self):
        done = self.run_job(8, 2, PAIR, trial_lazy_peers=0)
        self.expect(done, "peers: made at once (trial cannot add peers one by one)")
        self.assertEqual(self.peers(done), 8)

    def test_an_unreachable_peer_gives_the_same_reasons_in_both(self):
        reasons = []
        for cutoff in (0, 9):
            done = self.run_job(4, 2, PAIR, btl="self,shm", mpi_add_procs_cutoff=cutoff)
            self.assertNotEqual(done.returncode, 0)
            # Who ends the job is first come; it misses the root of the other node, by its number.
            found = re.search(r"no transport reaches rank ([02]); tried\n(.*)\n(.*)\n", done.stderr)
            self.assertIsNotNone(found, done.stderr)
            reasons.append([line.replace("rank " + found[1], "rank N") for line in found.groups()[1:]])
        self.assertEqual(reasons[0], reasons[1])

    def test_a_params_file_takes_effect(self):
        file = pathlib.Path(self.directory.name) / "job.conf"
        file.write_text("mpi_add_procs_cutoff = 9\nasync_modex = 1\n")
        done = self.run_job(8, 2, "--params", str(file), PAIR)
        self.expect(done, "peers: made at once (8 processes, mpi_add_procs_cutoff=9)", "async_modex=1")


class Modes(NetworkCase):
    """Every way to get addresses around."""

    def test_ring(self):
        for mode in MODES:
            with self.subTest(mode):
                self.expect(self.run_job(6, 3, RING, "20", **mode), "120 hops")

    def test_roots_fetch_one_address_and_the_others_none(self):
        done = self.run_job(32, 8, RING, "1", bootstrap="hierarchical")
        self.expect(done, "32 hops")
        self.assertEqual(self.fences(done), (0, 0, 0))
        # Nobody but the two roots that have roots below them puts a card; the others do nothing after init.
        # (A root asks again while its parent has not come.)
        self.assertEqual(float(re.search(r"PMI operations +(\S+)", done.stderr).group(1)), 1)
        self.assertEqual(self.total("PMI puts", done), 2)
        self.assertEqual(self.total("PMI gets", done) - self.total("PMI gets too early", done), 7)

    def test_asynchronous_needs_no_fence(self):
        done = self.run_job(4, 2, RING, "5", async_modex=1)
        self.expect(done, "20 hops", "address exchange: at first contact (async_modex=1")
        self.assertEqual(self.fences(done), (0, 0, 0))


class Groups(NetworkCase):
    """Communicators from groups: overlapping, at once, incomplete."""

    def run_groups(self, what, nodes=4, **params):
        return self.run_job(4, nodes, GROUPS, what, **params)

    def test_overlapping_groups_decide_alike(self):
        for mode in MODES:
            # With `world` everybody would have to take part; with flat and async nothing is left to decide.
            if mode.get("bootstrap_group_mode") == "world":
                continue
            for nodes in (2, 4):
                with self.subTest(mode, nodes=nodes):
                    done = self.run_groups("overlap", nodes, **mode)
                    self.expect(done)
                    self.assertEqual(done.stdout.count("fine"), 4)

    def test_communicators_of_single_nodes_that_are_joined(self):
        for mode in ({}, {"bootstrap": "flat"}, {"async_modex": 1}):
            with self.subTest(mode):
                done = self.run_groups("bridge", 2, **mode)
                self.expect(done)
                self.assertEqual(done.stdout.count("fine"), 4)

    @unittest.skipUnless(HYDRA, "needs mpiexec.mpich (MPICH's Hydra)")
    def test_flat_without_fences_of_groups_says_so_at_once(self):
        done = subprocess.run([HYDRA, "-n", "4", GROUPS, "overlap"], timeout=240, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={
            **os.environ, "STARLING_MCA_plugin_path": str(PLUGINS), "STARLING_MCA_btl": "self,trial",
            "STARLING_MCA_trial_directory": self.directory.name, "STARLING_MCA_bootstrap": "flat",
            "STARLING_MCA_bootstrap_timeout": "200"})
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stdout, "no communicator for mask 3: .*has no fences of groups, so 2 of 4 processes")
        self.assertIn("bootstrap=hierarchical", done.stdout)
        self.assertNotIn("gave up", done.stdout)

    def test_several_threads_at_once(self):
        for mode in MODES:
            if mode.get("bootstrap_group_mode") == "world":
                continue
            with self.subTest(mode):
                done = self.run_groups("threads", **mode)
                self.expect(done)
                self.assertEqual(done.stdout.count("fine"), 4)

    def test_a_missing_member_is_named(self):
        for mode in ({"bootstrap": "hierarchical"}, {"async_modex": 1}):
            with self.subTest(mode):
                done = self.run_groups("missing", 2, bootstrap_timeout=3, log_level="error", **mode)
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stdout, r"gave up \(parameter bootstrap_timeout\): waits for rank")


    def test_a_member_that_dies_meanwhile_is_named_at_once(self):
        for mode in ({"bootstrap": "hierarchical"}, {"bootstrap": "hierarchical", "bootstrap_group_mode": "lookup"}):
            for ranks, nodes in ((4, 2), (6, 3)):
                with self.subTest(mode, ranks=ranks), tempfile.TemporaryDirectory() as folder:
                    done = self.run_job(ranks, nodes, "-enable-recovery", GROUPS, "dead", log_level="error",
                                        bootstrap_timeout=60, trial_directory=folder, **mode)
                    self.assertEqual(done.returncode, 137, done.stderr)
                    for rank in range(ranks - 1):
                        self.assertRegex(done.stdout, f"rank {rank}: no communicator .*rank {ranks - 1} has ended")


@unittest.skipUnless((BUILD / "lib/starling/btl_ofi.so").exists(), "btl/ofi is not built")
class Computed(NetworkCase):
    """btl_ofi_port_base: addresses follow from node and local rank."""

    def setUp(self):
        super().setUp()
        # Loopback addresses of this run's own, so that two runs at once share no port.
        number = os.getpid()
        self.net = f"127.{1 + number % 250}.{number // 250 % 250}"
        self.ofi = {"btl": "self,shm,ofi", "btl_ofi_port_base": 24000, "btl_ofi_nodes": self.net + ".[1-2]"}

    def test_nothing_is_put_or_asked_for(self):
        done = self.run_job(4, 2, PAIR, "10", **self.ofi)
        self.expect(done, "10 messages, 0 wrong words", "address exchange: none")
        for what in ("puts", "gets", "fences"):
            self.assertRegex(done.stderr, rf"PMI {what} +0 +0\.0 +0 +0\n")
        published = self.run_job(4, 2, PAIR, "10", btl="self,shm,ofi", btl_ofi_interface="lo")
        self.expect(published, "10 messages, 0 wrong words")
        self.assertRegex(published.stderr, r"PMI puts +0 +\S+ +1 +[1-4]\n")

    def test_a_port_in_use_is_an_error_that_names_it(self):
        with socket.socket() as taken:
            taken.bind((self.net + ".2", 24001))
            taken.listen()
            done = self.run_job(4, 2, PAIR, "10", **self.ofi)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"{self.net}.2 port 24001", done.stderr)
        self.assertIn("Address already in use", done.stderr)

    def test_too_few_nodes_are_an_error(self):
        done = self.run_job(4, 2, PAIR, "10", **{**self.ofi, "btl_ofi_nodes": self.net + ".1"})
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr,
                         "btl_ofi_nodes: lists 1 nodes, too few for rank [23], number [01] on node 1")


class Leaving(NetworkCase):
    """Rank 0 leaves MPI while others go on, over each network (leave.c)."""

    def leave(self, network, way, *options):
        name, params = network
        return self.run_job(3, 3, *options, LEAVE, way, btl=f"self,shm,{name}", startup_report=0, **params)

    def test_who_leaves_in_order_is_no_loss(self):
        for network in NETWORKS:
            for way in ("exit", "again") if network[0] != "ofi" else ("exit",):
                with self.subTest(network=network[0], way=way):
                    self.expect(self.leave(network, way), "2 ranks went on", "a later send: ",
                                "rank 0 has left MPI and ended")

    def test_mpiexec_calls_nobody_dead_that_has_left_and_was_not_in_its_memory(self):
        for network, params in NETWORKS[1:]:
            with self.subTest(network=network):
                done = self.run_job(3, 3, LEAVE, "exit", btl=f"self,shm,{network}", shm="posix", startup_report=0, **params)
                self.expect(done, "2 ranks went on", "a later send: ", "rank 0 has left MPI and ended")

    def test_who_has_left_may_live_on_or_be_killed(self):
        for network in NETWORKS:
            with self.subTest(network=network[0]):
                self.expect(self.leave(network, "stay"), "2 ranks went on")
                done = self.leave(network, "kill", "-enable-recovery")
                self.assertEqual(done.returncode, 137, done.stderr)
                self.assertIn("2 ranks went on", done.stdout)
                self.assertIn("rank 0 has left MPI and ended", done.stdout)

    def test_who_comes_back_calls_nobody_lost_that_left_meanwhile(self):
        for name, params in NETWORKS:
            for _ in range(4):  # who is heard before its connection breaks is chance
                with self.subTest(network=name):
                    done = self.run_job(8, 2, COMES_BACK, btl=f"self,shm,{name}", startup_report=0, **params)
                    self.expect(done)
                    self.assertEqual(done.stderr, "")

    def test_who_leaves_need_not_wait_for_others_to_call_mpi(self):
        for name, params in NETWORKS:
            for way in ("sent", "silent"):
                with self.subTest(network=name, way=way):
                    file = f"{self.directory.name}/{name}-{way}"
                    done = self.run_job(3, 3, LEAVE_EARLY, way, file, btl=f"self,shm,{name}", startup_report=0, **params)
                    self.expect(done, "rank 1: rank 0 has left", "rank 2: rank 0 has left")

    def test_a_kill_is_a_loss(self):
        for network in NETWORKS:
            with self.subTest(network=network[0]):
                done = self.leave(network, "die", "-enable-recovery")
                # The kernel closes a dying process's connections before it tells the parent: rank 2, which ends
                # with 3 over the loss, may be seen to end first, and the first failure is the job's exit code.
                self.assertIn(done.returncode, (137, 3), done.stderr)
                self.assertRegex(done.stderr, "rank 0 pid .*signal SIGKILL")
                # The launcher says that it has ended; what the network says comes first only if that is late.
                self.assertRegex(done.stdout, "rank 2: (allreduce|gather): .*rank 0 " +
                                 ("has ended" if network[0] == "trial" else "(has ended|cannot be reached any more)"))

    def test_who_only_receives_is_told_of_a_death_by_mpiexec(self):
        """Through the memory that mpiexec hands down, also where the ranks share another."""
        for network, params in NETWORKS[1:]:
            for shm in ("memfd", "posix"):
                with self.subTest(network=network, shm=shm):
                    done = self.run_job(4, 2, "-enable-recovery", RECEIVERS, btl=f"self,shm,{network}", shm=shm,
                                        startup_report=0, **params)
                    self.assertEqual(re.findall(r"rank \d: rank 0 has died", "\n".join(sorted(done.stdout.splitlines()))),
                                     [f"rank {rank}: rank 0 has died" for rank in (1, 2, 3)], done.stdout + done.stderr)

    def test_without_recovery_a_death_ends_the_job(self):
        for network, params in NETWORKS[1:]:
            with self.subTest(network=network):
                done = self.run_job(4, 2, RECEIVERS, btl=f"self,shm,{network}", shm="posix", startup_report=0, **params)
                # 137; or 1, should another rank have been told, and be seen to end, first
                self.assertIn(done.returncode, (137, 1), done.stdout + done.stderr)


class Paths(NetworkCase):
    """Two networks to each peer, of which the second holds each message for a while."""

    def run_order(self, ranks=2, nodes=2, **params):
        params = {"btl": "self,shm,trial,trial2", "trial2_hold_ms": 3, "report": 1, "pml_path_use": "alternate", **params}
        return self.run_job(ranks, nodes, ORDER, "400", **params)

    def test_messages_match_in_the_order_sent(self):
        for ranks, nodes in ((2, 2), (4, 2)):
            with self.subTest(ranks=ranks):
                self.expect(self.run_order(ranks, nodes), f"{400 * ranks} messages, 0 inversions, 0 wrong bytes",
                            "trial+trial2", "came too early and were put back in order")

    def test_the_best_path_alone_while_it_has_room(self):
        done = self.run_job(2, 2, PAIR, "20", btl="self,shm,trial,trial2", trial2_hold_ms=50, report=1)
        self.expect(done, "20 messages, 0 wrong words", "trial+trial2")
        self.assertNotIn("came too early", done.stderr)

    def test_of_two_networks_that_reach_as_far_the_one_listed_first_is_the_best(self):
        for order in ("trial,trial2", "trial2,trial"):
            with self.subTest(order=order):
                done = self.run_job(2, 2, PAIR, "20", btl=f"self,{order},shm", report=1)
                self.expect(done, "20 messages, 0 wrong words", order.replace(",", "+"))

    def test_one_path_if_told_so(self):
        done = self.run_order(pml_paths=1)
        self.expect(done, "800 messages, 0 inversions, 0 wrong bytes")
        self.assertNotIn("several paths", done.stderr)


if __name__ == "__main__":
    unittest.main()
