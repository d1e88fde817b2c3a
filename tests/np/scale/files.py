#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank of a C program loads two files of Starling's and the C library, nothing else: each file is 0.1 ms of its start.

usage: files.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow)
The dynamic linker tells which files it has initialised. Standard library only.
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
PROGRAM = BUILD / "bench/bench_mpi_startup"


def loaded_by_ranks(*options):
    """The names of the files that the ranks of a job of two have loaded, of each rank."""
    done = subprocess.run([BUILD / "bin/mpiexec", "-n", "2", *options, PROGRAM], text=True, capture_output=True,
                          timeout=100, check=True, env={**os.environ, "LD_DEBUG": "files"})
    files, programs = {}, {}
    for line in done.stderr.splitlines():
        if match := re.search(r"(\d+):\s+calling init: (\S+)", line):
            files.setdefault(match[1], set()).add(pathlib.Path(match[2]).name)
        elif match := re.search(r"(\d+):\s+initialize program: (\S+)", line):
            programs[match[1]] = match[2]
    return [files[pid] for pid, program in programs.items() if program == str(PROGRAM)]


class Files(unittest.TestCase):
    def test_the_usual_start_loads_no_other_file(self):
        ranks = loaded_by_ranks()
        self.assertEqual(len(ranks), 2)
        for files in ranks:
            own = {name for name in files if not re.match(r"(ld-|libc\.)", name)}
            self.assertEqual(own, {"libmpi_abi.so.1", "libstarling.so.0"})

    @unittest.skipUnless((BUILD / "lib/starling/pml_dynamic.so").exists(), "all plugins are linked in")
    def test_a_plugin_that_is_asked_for_is_seen(self):
        for files in loaded_by_ranks("--mca", "pml", "dynamic"):
            self.assertIn("pml_dynamic.so", files)


if __name__ == "__main__":
    unittest.main()
