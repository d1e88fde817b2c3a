#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every parameter with seven values that it must refuse, from every source of settings.

usage: values.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow the directory)
The parameters are asked for from starling-info, so that new ones are covered by themselves. A text takes any value,
and is left out. Standard library only.
"""
import itertools
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, MPIEXEC, SANITIZED, JobCase  # noqa: E402

INFO = str(BUILD / "bin/starling-info")
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("STARLING_")}
SOURCES = ("--mca", "environment", "file")


def parameters():
    """By name: what starling-info says about it."""
    out = subprocess.run([INFO, "--parsable"], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = {}
    for line in out.splitlines():
        key, _, value = line.partition("=")
        if key.startswith("parameter."):
            name, _, field = key.removeprefix("parameter.").rpartition(".")
            found.setdefault(name, {})[field] = value
    return found


def bad_values(facts):
    kind = facts["type"]
    if kind == "boolean":
        return ["", "maybe", "2", "-1", "yes no", "tru", "0x1"]
    if kind == "choice":
        first = facts["choices"].split("|")[0]
        return ["", "no-such-choice", first + "x", f"{first},{first}", first + "|", "|", f"x {first}"]
    if kind == "selection":
        return ["^", ",", "a,,b", "a,^b", "^^a", "a b", "a,"]
    low, high = int(facts["min"]), int(facts["max"])
    beyond = [str(value) for value in (low - 1, high + 1) if -2**63 <= value < 2**63]
    return (beyond + ["", "word", "12x", "1.5", "0x", "99999999999999999999", "--1"])[:7]


class Values(JobCase):
    def refused(self, name, value, source):
        """What mpiexec says about this setting; it must start nothing."""
        args, env = [], {}
        if source == "--mca":
            args = ["--mca", name, value]
        elif source == "environment":
            env = {"STARLING_MCA_" + name: value}
        else:
            path = pathlib.Path(self.folder, "params.conf")
            path.write_text(f"# a file\n{name} = {value}\n")
            args = ["--params", str(path)]
        done = subprocess.run([MPIEXEC, *args, "-n", "1", "echo", "started"], env={**CLEAN, **env}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        if source == "file":
            path.unlink()
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        return done.stderr

    def test_every_parameter_refuses_seven_values(self):
        sources = itertools.cycle(SOURCES)
        checked = 0
        for name, facts in parameters().items():
            if facts["type"] == "text":
                continue
            values = bad_values(facts)
            self.assertEqual(len(values), 7)
            for value in values[::3] if SANITIZED else values:
                source = next(sources)
                with self.subTest(name=name, value=value, source=source):
                    said = self.refused(name, value, source)
                    self.assertIn(f"{name} = '{value}'", said)
                    where = {"--mca": "mpiexec --mca", "environment": f"environment STARLING_MCA_{name}",
                             "file": "params.conf:2"}[source]
                    self.assertIn(where, said)
                    self.assertRegex(said, "expected|has a")
                checked += 1
        self.assertGreater(checked, 100)

    def test_every_misspelt_name_is_reported(self):
        known = parameters()
        wrong = {name: [other for other in (name[:-1], name + "s", name.upper(), "x" + name, name + "_", name * 2,
                                            name.replace("_", "", 1)) if other not in known] for name in known}
        settings = [word for others in wrong.values() for other in others for word in ("--mca", other, "1")]
        done = subprocess.run([MPIEXEC, "--mca", "mca_strict", "1", *settings, "echo", "started"], env=CLEAN,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        for other in itertools.chain(*wrong.values()):
            self.assertIn(f"unknown parameter '{other}' (mpiexec --mca)", done.stderr)


if __name__ == "__main__":
    unittest.main()
