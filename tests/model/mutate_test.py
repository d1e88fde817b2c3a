#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What tests/model/mutate chooses to weaken, and which lines it leaves out. No model is built."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

MUTATE = pathlib.Path(__file__).resolve().parent / "mutate"
HEADERS = 15


def chosen(*options, full="0"):
    """(header, line, column and orders) of what would be weakened, and the seed that was told."""
    environment = dict(os.environ, STARLING_TESTS_FULL=full)
    done = subprocess.run([sys.executable, "-B", MUTATE, "--list", *options], env=environment, check=True, capture_output=True, text=True)
    seed = re.search(r"--seed (\w+)", done.stdout)
    return re.findall(r"^would be  (\S+):(\d+):(\d+  .*)$", done.stdout, re.M), seed and seed[1]


class Choice(unittest.TestCase):
    def test_sample_has_one_of_each_header(self):
        for seed in range(20):
            sample, told = chosen("--seed", str(seed))
            self.assertEqual(told, str(seed))
            self.assertEqual(len(sample), 18)
            self.assertEqual(len(set(sample)), 18, "nothing twice")
            self.assertEqual(len({header for header, _, _ in sample}), HEADERS)

    def test_seed_decides(self):
        self.assertEqual(chosen("--seed", "1"), chosen("--seed", "1"))
        self.assertNotEqual(chosen("--seed", "1")[0], chosen("--seed", "2")[0])
        self.assertIsNotNone(chosen()[1], "the default is told, so that it can be repeated")

    def test_all(self):
        everything, told = chosen("--all")
        self.assertIsNone(told)
        self.assertEqual(everything, chosen(full="1")[0])
        self.assertGreater(len(everything), 60)
        seen = set()
        for seed in range(20):
            seen.update(chosen("--seed", str(seed))[0])
        self.assertEqual(seen, set(everything), "samples reach all of them")

    def test_lines_that_say_why_not_are_left_out(self):
        root = MUTATE.parents[2]
        for header, line, _ in chosen("--all")[0]:
            self.assertNotIn("no model sees it", (root / header).read_text().splitlines()[int(line) - 1])


unittest.main()
