#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What .ci/tiers leaves out of a build, held against the tests of a release build: `tiers_test.py BUILD_DIRECTORY`."""
import fnmatch
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMBINE = ROOT / ".ci/combine-tests"
THREADS = re.compile(r"\b(pthread_create|thrd_create|std::j?thread|std::async)\b")
SUITE = re.compile(r"^TEST(?:_F|_P)?\((\w+),", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)

loader = importlib.machinery.SourceFileLoader("combine_tests", str(COMBINE))
combine = importlib.util.module_from_spec(importlib.util.spec_from_loader("combine_tests", loader))
loader.exec_module(combine)


class Sources:
    """Which test programs start threads: in their own files, or in headers of tests/ that these include."""

    def __init__(self, build):
        self.known = {}
        self.files = {}
        for entry in json.loads((build / "compile_commands.json").read_text()):
            target = re.search(r" -o \S*?/([^/ ]+)\.dir/", entry["command"])
            for path in self.sources_of(pathlib.Path(entry["file"])):
                if target and {ROOT / "tests", ROOT / "examples"} & set(path.parents):
                    self.files.setdefault(target[1], set()).add(path)

    @staticmethod
    def sources_of(path):
        """What a unity build puts into one file, or the file itself."""
        if path.parent.name != "Unity":
            return [path]
        return [pathlib.Path(name) for name in INCLUDE.findall(path.read_text())]

    def threaded(self, program):
        return any(self.starts(path) for path in self.files.get(program, ()))

    def starts(self, path):
        if path not in self.known:
            self.known[path] = False  # a circle of headers ends here
            text = path.read_text()
            near = (place / name for name in INCLUDE.findall(text) for place in (path.parent, ROOT, ROOT / "tests/mpi"))
            self.known[path] = bool(THREADS.search(text)) or any(
                self.starts(header) for header in near if header.is_file() and ROOT / "tests" in header.parents)
        return self.known[path]


class OfThisBuild(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tests = [test for test in combine.tests_of(BUILD) if "command" in test]
        cls.names = [test["name"] for test in cls.tests]

    def setUp(self):
        self.rules = combine.rules_of(ROOT / ".ci/tiers")

    def kept(self, where):
        fewer = combine.with_fewer_ranks(self.names)
        return [name for name in self.names if not combine.left_out(self.rules, where, name, fewer)]

    def test_the_release_build_of_ci_runs_everything(self):
        self.assertEqual({rule["where"] for rule in self.rules}, {"quick", "asan", "tsan", "builtin", "any"})
        self.assertEqual({rule["verb"] for rule in self.rules if rule["where"] == "any"}, {"waits"})

    def test_each_rule_of_tests_that_wait_fits_one(self):
        for rule in self.rules:
            if rule["verb"] == "waits":
                self.assertTrue(any(rule["names"].search(name) for name in self.names), rule["names"].pattern)

    def test_each_rule_decides_something(self):
        for where in ("quick", "asan", "tsan", "builtin"):
            undecided = [rule for rule in self.rules if rule["where"] == where and rule["verb"] != "spare"]
            for name in self.names:
                first = next((rule for rule in self.rules
                              if rule["where"] == where and rule["verb"] != "spare" and rule["names"].search(name)), None)
                if first in undecided:
                    undecided.remove(first)
            self.assertEqual([rule["names"].pattern for rule in undecided], [], f"rules of {where} that fit no test")

    def test_programs_with_threads_are_watched_for_races(self):
        sources = Sources(BUILD)
        threaded = {test["name"] for test in self.tests
                    # Plain builds only: tests/mpi/profile. Of the suites, those that meet sound plugins are watched.
                    if not test["name"].startswith(("profile/", "conformance_broken/"))
                    and any(sources.threaded(pathlib.Path(word).name) for word in test["command"])}
        for known in ("mpi/threads/mixed/np4", "mpi_coll", "btl_shm"):  # the search finds what it is to find
            self.assertIn(known, threaded)
        self.assertEqual(sorted(threaded - set(self.kept("tsan"))), [],
                         "these start threads: .ci/tiers wants a line `tsan run` for them")

    def test_cases_that_are_spared_exist_and_are_watched_for_races_if_they_start_threads(self):
        sources = Sources(BUILD)
        rules = [rule for rule in self.rules if rule["verb"] == "spare"]
        self.assertTrue(rules)
        for rule in rules:
            programs = ["test_" + name for name in self.names if rule["names"].search(name)]
            paths = {path for program in programs for path in sources.files.get(program, ()) if path.name.endswith("_test.cpp")}
            for pattern in rule["cases"].split()[0].split(":"):
                suite = pattern.partition(".")[0]
                fits = {path for path in paths for name in SUITE.findall(path.read_text()) if fnmatch.fnmatch(name, suite)}
                self.assertTrue(fits, f"{pattern}: no case of {programs} is called so")
                if rule["where"] == "tsan":
                    self.assertEqual([path.name for path in fits if sources.starts(path)], [], f"{pattern}: it starts threads")

    def test_each_kind_of_test_stays_in_each_build_that_it_concerns(self):
        def kinds(names):
            return {name.split("/")[0] if "/" in name else name.split("_")[0] for name in names}
        everything = kinds(self.names)
        self.assertLessEqual(everything - kinds(self.kept("asan")), {"docs", "conformance_broken"})
        self.assertLessEqual({"abi", "cluster", "example", "mpi", "network", "np", "plugin", "tools"} & everything,
                             kinds(self.kept("builtin")))
        self.assertLessEqual({"cluster", "example", "mpi", "network", "np", "plugin"} & everything,
                             kinds(self.kept("tsan")))

    def test_what_is_left_out_need_not_be_built(self):
        everything = set(combine.leaves_of(BUILD, ["all"]))
        unit = {target for target in everything if target.startswith("tests/test_")}
        self.assertIn("tests/test_core_trial", unit)
        self.assertEqual(unit - {f"tests/test_{name}" for name in self.names}, set())  # a test for each, of its name
        self.assertEqual(set(combine.targets_of([], "full", f"tsan={BUILD}")), everything)
        models = {target for target in everything if target.startswith("tests/model_")}
        spared = everything - set(combine.targets_of(self.rules, "ci", f"tsan={BUILD}"))
        broken = {target for target in everything if target.startswith("tests/broken/")}
        self.assertEqual(spared - models - broken, {target for target in unit
                                                    if target.removeprefix("tests/test_") not in self.kept("tsan")})
        self.assertGreater(len(broken), 3)
        self.assertLessEqual(broken, spared)
        self.assertLessEqual(models, spared)
        self.assertIn("tests/test_core_trial", spared)


class Combined(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tiers-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.offer("mpi/threads/mixed/np2", "mpi/datatype/pack/np1", "cluster_managers", "plugin_site")

    def offer(self, *names):
        (self.folder / "CTestTestfile.cmake").write_text("".join(f"add_test({name} true)\n" for name in names))
        self.names = set(names)

    def combined(self, tier, part):
        done = subprocess.run([sys.executable, "-B", COMBINE, tier, self.folder / "all", f"{part}={self.folder}"],
                              check=True, capture_output=True, text=True)
        left = {test["name"].removeprefix(part + "/") for test in combine.tests_of(self.folder / "all")}
        return left, done.stdout

    def test_full_leaves_out_nothing(self):
        for part in ("release", "asan", "tsan", "builtin"):
            self.assertEqual(self.combined("full", part), (self.names, ""))

    def test_ci_leaves_out_by_build_and_says_so(self):
        self.assertEqual(self.combined("ci", "release"), (self.names, ""))
        left, said = self.combined("ci", "tsan")
        self.assertEqual(left, {"mpi/threads/mixed/np2"})
        self.assertIn("tsan: left out 3 of .: one thread per process", said)
        left, _ = self.combined("ci", "builtin")
        self.assertEqual(left, {"mpi/threads/mixed/np2"})
        self.assertNotIn("cluster_managers", self.combined("ci", "asan")[0])

    def test_of_a_programs_numbers_of_ranks_the_largest_stays_where_a_rule_says_so(self):
        self.offer("mpi/pt2pt/sizes/np1", "mpi/pt2pt/sizes/np10", "mpi/pt2pt/sizes/np4", "mpi/pt2pt/sizes/auto/np2", "btl_shm")
        self.assertEqual(self.combined("ci", "release"), (self.names, ""))
        left, said = self.combined("ci", "asan")
        self.assertEqual(left, {"mpi/pt2pt/sizes/np10", "mpi/pt2pt/sizes/auto/np2", "btl_shm"})
        self.assertIn("asan: left out 2 of ^(mpi|example)/: ", said)
        self.assertEqual(self.combined("full", "asan"), (self.names, ""))

    def test_tests_that_wait_share_lanes_in_turn_and_begin_first(self):
        self.offer("cluster_a", "cluster_b", "cluster_c", "cluster_d", "btl_shm")
        (self.folder / "CTestTestfile.cmake").write_text((self.folder / "CTestTestfile.cmake").read_text() +
                                                         "set_tests_properties(cluster_a PROPERTIES PROCESSORS 2 RUN_SERIAL ON "
                                                         "RESOURCE_LOCK clusters)\n")
        self.combined("full", "release")
        properties = {test["name"]: {entry["name"]: entry["value"] for entry in test["properties"]}
                      for test in combine.tests_of(self.folder / "all")}
        locks = [properties[f"release/cluster_{name}"]["RESOURCE_LOCK"] for name in "abcd"]
        lanes = [lock for taken in locks for lock in taken if lock.startswith("waiting-")]
        self.assertEqual((len(lanes), lanes[0], len(set(lanes))), (4, lanes[3], 3))
        self.assertEqual([len(taken) for taken in locks], [2, 1, 1, 1], "its own is kept")
        self.assertGreater(properties["release/cluster_b"]["COST"], 0)
        self.assertFalse({"PROCESSORS", "RUN_SERIAL"} & set(properties["release/cluster_a"]))
        self.assertNotIn("RESOURCE_LOCK", properties["release/btl_shm"])

    def test_cases_are_spared_where_a_rule_says_so(self):
        self.offer("pml", "btl_shm")
        self.combined("ci", "tsan")
        commands = {test["name"]: test["command"] for test in combine.tests_of(self.folder / "all")}
        self.assertRegex(commands["tsan/pml"][-1], r"^--gtest_filter=-Model\.\*:")
        self.assertEqual(len(commands["tsan/btl_shm"]), 1)
        for tier, part in (("ci", "asan"), ("full", "tsan")):
            self.combined(tier, part)
            self.assertEqual({len(test["command"]) for test in combine.tests_of(self.folder / "all")}, {1}, (tier, part))

    def test_quick_leaves_out_what_takes_minutes(self):
        left, _ = self.combined("quick", "release")
        self.assertEqual(left, {"mpi/threads/mixed/np2", "mpi/datatype/pack/np1"})


class Rules(unittest.TestCase):
    def refused(self, line):
        with tempfile.TemporaryDirectory(prefix="tiers-") as folder:
            path = pathlib.Path(folder) / "tiers"
            path.write_text("# a comment\n\n" + line + "\n")
            with self.assertRaises(SystemExit) as ended:
                combine.rules_of(path)
            return str(ended.exception)

    def test_a_rule_without_a_reason_is_refused(self):
        self.assertIn("tiers:3: expected '<where> run|leave|most|waits <names> : <reason>'", self.refused("asan leave ^mpi/"))
        self.assertIn("tiers:3:", self.refused("asan leave ^mpi/ : "))

    def test_an_unknown_word_is_refused(self):
        self.assertIn("tiers:3:", self.refused("asan drop ^mpi/ : why"))

    def test_cases_are_named_where_they_are_spared_and_nowhere_else(self):
        self.assertIn("tiers:3: expected", self.refused("asan spare ^pml$ : why"))
        self.assertIn("tiers:3: expected", self.refused("asan leave ^pml$ Model.* : why"))

    def test_an_expression_that_cannot_be_read_is_refused(self):
        self.assertIn("tiers:3: '^mpi/(' is no regular expression", self.refused("asan leave ^mpi/( : why"))


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
