#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Memory that other processes map, under pml/dynamic: copied by several processes, with each rule, and deaths of each of
these at every stage of a copy.

usage: claimed.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
"""
import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, FULL, MPIEXEC, SANITIZED, JobCase  # noqa: E402
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "servers"))
from pmi_servers import Server  # noqa: E402
from users import NOBODY, may_change_users  # noqa: E402

MAPPED = str(BUILD / "tests/np_mapped")
COPIERS = str(BUILD / "tests/np_copiers")
NETWORKS = all((BUILD / f"lib/starling/btl_{name}.so").exists() for name in ("ucx", "ofi"))
HALO = str(BUILD / "bench/bench_mpi_halo")


class DynamicCase(JobCase):
    def run_dynamic(self, program, *words, ranks=2, code=0, options=(), **params):
        mca = [word for name, value in params.items() for word in ("--mca", name, value)]
        done = self.run_job("-n", ranks, *options, "--mca", "pml", "dynamic", "--mca", "pml_early_push", "off", "--mca",
                            "report", "1", *mca, program, *words)
        self.assertEqual(done.code, code, done)
        return done

    def run_that_claims(self, *words, **params):
        """Trials choose the protocol: beside other work they may find the other one faster, but not time after time."""
        for _ in range(5):
            done = self.run_dynamic(*words, **params)
            if "copies by several processes" in done.err:
                break
        return done

    def claimed(self, done):
        """Copies that were received, chunks of own messages, and of others', of all ranks."""
        found = re.findall(r"copies by several processes: (\d+) received, chunks of own messages (\d+), of others' (\d+)", done.err)
        self.assertNotEqual(found, [], done)
        return tuple(sum(map(int, numbers)) for numbers in zip(*found))


class Claimed(DynamicCase):
    def test_every_rule_brings_the_same(self):
        for params in ({}, {"pml_dynamic_large": "claim"}, {"pml_dynamic_policy": "popcount"}, {"shm_cma": "no"},
                       {"pml_dynamic_steal": "never"}):
            for way in "again", "both":
                with self.subTest(params=params, way=way):
                    received, chunks, stolen = self.claimed(self.run_that_claims(MAPPED, way, **params))
                    self.assertGreater(received, 10)
                    self.assertGreaterEqual(chunks, received // 2)
                    self.assertEqual(stolen, 0, "two processes have nobody else")

    def test_without_maps_nothing_is_claimed(self):
        done = self.run_dynamic(MAPPED, "again", shm_map="never")
        self.assertNotIn("copies by several processes", done.err)

    def test_freed_while_mapped(self):
        self.run_dynamic(MAPPED, "freed", pml_dynamic_large="claim")

    def test_owner_killed(self):
        self.run_dynamic(MAPPED, "killed", code=137, options=("-enable-recovery",), pml_dynamic_large="claim")

    @unittest.skipUnless(pathlib.Path(HALO).exists(), "built without the benchmarks")
    def test_others_help(self):
        # More ranks than cores may be: then only `always` lets others help.
        for rule in "model", "popcount":
            with self.subTest(rule=rule):
                done = self.run_dynamic(HALO, "--memory", "shared", "--iterations", "5", "--intra", "262144", ranks=4,
                                        pml_dynamic_large="claim" if rule == "model" else "auto", pml_dynamic_policy=rule,
                                        pml_dynamic_steal="always")
                self.assertGreater(self.claimed(done)[0], 10)

    def test_what_was_found_outlasts_the_job(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder) / "trials")
            for _ in range(10):  # where other programs run, the trials of a short job may have no end
                self.run_dynamic(MAPPED, "again", pml_trials_file=path)
                if os.path.exists(path):
                    break
            text = pathlib.Path(path).read_text()
            self.assertTrue(text.startswith("Starling's trials of large messages, layout 1\npml dynamic\nversion "), text)
            self.assertGreater(len(text.splitlines()), 4, "something was found")
            again = self.run_dynamic(MAPPED, "again", pml_trials_file=path)
            self.assertIn("trials begin with what " + path + " has", again.err)
            other = self.run_job("-n", 2, "--mca", "pml", "static", "--mca", "pml_trials_file", path, MAPPED, "again")
            self.assertEqual(other.code, 0, other)
            self.assertIn("it has 'pml dynamic' where this job has 'pml static'", other.err)

    @unittest.skipUnless(NETWORKS and pathlib.Path(HALO).exists(), "built without btl/ucx, btl/ofi or the benchmarks")
    def test_beside_a_network(self):
        """Some faces go within a node, others to the next one, over several paths where there are; all at once."""
        for memory in ("--memory", "shared"), ("--managed",):
            with self.subTest(memory=memory):
                done = self.run_dynamic(HALO, *memory, "--iterations", "5", "--inter", "100000", "--intra", "400000", ranks=6,
                                        options=("--virtual-nodes", "2"), btl="self,shm,ucx,ofi", btl_ucx_devices="lo",
                                        btl_ofi_interface="lo", pml_paths="2", pml_dynamic_large="claim",
                                        pml_dynamic_steal="always")
                if memory[0] == "--memory":
                    self.assertGreater(self.claimed(done)[0], 10)


class Confined(DynamicCase):
    """Ranks that may not look into each other's memory, or do not see each other: what cannot be had goes another way,
    without noise, and the report says why."""

    def run_each(self, *wrap, way="again", ranks=2, of=None, **params):
        """With the words `wrap` before the program of every rank, or of rank `of` alone."""
        script = f'test $PMI_RANK = {of} || exec "$@"; ' if of is not None else ""
        script += "exec " + " ".join((*wrap, '"$@"'))
        return self.run_dynamic("sh", "-c", script, "sh", MAPPED, way, ranks=ranks, **params)

    def noise(self, done):
        """What is said beside the report."""
        return [line for line in done.err.splitlines() if re.search(r"warning|error|failed", line)]

    @unittest.skipUnless(shutil.which("unshare"), "needs unshare")
    def test_every_kind_of_namespace(self):
        for kind in ("--pid", "--fork"), ("--net",), ("--ipc",), ("--uts",), ("--mount",), ("--user", "--map-root-user"):
            for of in (None, 1):
                for way in ("again", "both"):
                    with self.subTest(kind=kind, of=of, way=way):
                        self.assertEqual(self.noise(self.run_each("unshare", *kind, way=way, of=of)), [])

    @unittest.skipUnless(may_change_users(), "needs root and setpriv")
    def test_processes_that_hide(self):
        for cma in ("yes", "no"):
            done = self.run_each(*NOBODY, way="hidden", shm_cma=cma, alloc_mem_shared_min="0")
            self.assertEqual(self.noise(done), [])
            self.assertNotIn("copies by several processes", done.err, "their memory is private")
        self.assertGreater(self.claimed(self.run_each(*NOBODY, way="hidden", pml_dynamic_large="claim"))[0], 10)

    @unittest.skipUnless(may_change_users(), "needs root and setpriv")
    def test_another_user(self):
        done = self.run_each(*NOBODY, of=0, pml_dynamic_large="claim")
        self.assertEqual(self.noise(done), [])
        self.assertGreater(self.claimed(done)[0], 10)


@unittest.skipIf(SANITIZED, "a sanitizer has a memcpy of its own")
class Deaths(DynamicCase):
    """Who died: sender, receiver (the owner of the copy) or helper; at which stage of which of its chunks."""
    SAMPLE = (("sender", "half", 1), ("sender", "start", 1), ("receiver", "before", 1), ("receiver", "half", 2),
              ("receiver", "after", 2), ("helper", "before", 1), ("helper", "half", 1), ("helper", "after", 2))
    ALL = tuple((who, stage, nth) for who in ("sender", "receiver", "helper") for stage in ("before", "half", "after")
                for nth in (1, 2)) + (("sender", "start", 1),)
    RANK = {"sender": 0, "receiver": 1, "helper": 2}
    # What is pushed early is not claimed.
    MCA = {"pml": "dynamic", "pml_early_push": "off", "pml_dynamic_large": "claim", "pml_dynamic_steal": "always", "wait_spin_us": "1000000",
           "wait_yield_us": "1000000", "report": "1"}

    def expect_survivors(self, who, stage, nth, launch, ranks=3, away=0, delay_ms=20, code=137, more=()):
        env = {f"STARLING_MCA_{name}": value for name, value in self.MCA.items()}
        with self.subTest(who=who, stage=stage, nth=nth, ranks=ranks, away=away, more=more):
            done = self.run_job(*launch[1:], "-n", ranks, *self.wrap, COPIERS, who, stage, nth, away, delay_ms, *more,
                                launcher=launch[0], env=env, timeout=60)
            if code is not None:
                self.assertEqual(done.code, code, done)
            alive = sorted(line for line in done.out.splitlines() if line.endswith("goes on"))
            self.assertEqual(alive, [f"rank {r} goes on" for r in range(ranks) if r != self.RANK[who]], done)

    wrap = ()

    def test_at_every_stage(self):
        for case in self.ALL if FULL else self.SAMPLE:
            self.expect_survivors(*case, (MPIEXEC, "-enable-recovery"))

    def test_only_two(self):
        for nth in (1, 4):
            for stage in ("before", "half", "after") if FULL or nth == 4 else ("half",):
                self.expect_survivors("receiver", stage, nth, (MPIEXEC, "-enable-recovery"), ranks=2, away=1)
        self.expect_survivors("sender", "half", 2, (MPIEXEC, "-enable-recovery"), ranks=2)

    def test_who_is_slow_still_copies_when_the_sender_is_known_as_dead(self):
        self.expect_survivors("sender", "half", 1, (MPIEXEC, "-enable-recovery"), delay_ms=700)

    @unittest.skipUnless(shutil.which("unshare"), "needs unshare")
    def test_where_pids_say_nothing(self):
        """Each rank in a pid namespace of its own: only the launcher knows who has ended."""
        self.wrap = ("unshare", "--pid", "--fork", "--kill-child")
        for case in self.ALL if FULL else (("sender", "half", 1), ("receiver", "half", 1), ("helper", "half", 1)):
            self.expect_survivors(*case, (MPIEXEC, "-enable-recovery"), code=None)

    def test_in_the_middle_of_a_push(self):
        """Buffers of the library's: of the sender's push, of the receiver before and while it has one."""
        for who, stage in (("sender", "before"), ("sender", "half"), ("sender", "after"), ("receiver", "start"),
                           ("receiver", "after")):
            for ranks in (2, 3):
                self.expect_survivors(who, stage, 1, (MPIEXEC, "-enable-recovery"), ranks=ranks, more=("pushed",))

    def test_under_a_launcher_that_marks_nobody(self):
        """And that asks for nobody's end: the dead have a pid still. (Hydra 4.0 ends the others, whatever it is told.)"""
        for who, stage, nth in self.ALL if FULL else self.SAMPLE:
            with self.subTest(who=who, stage=stage, nth=nth):
                env = {f"STARLING_MCA_{name}": value for name, value in self.MCA.items()}
                results = Server(3, [COPIERS, who, stage, str(nth), "0", "20"], {**env, "TMPDIR": self.folder},
                                 mapping="(vector,(0,1,3))").wait()
                for rank, (code, out, err) in enumerate(results):
                    if rank == self.RANK[who]:
                        self.assertEqual(code, -signal.SIGKILL, results)
                    else:
                        self.assertEqual((code, out), (0, f"rank {rank} goes on\n"), results)


if __name__ == "__main__":
    unittest.main()
