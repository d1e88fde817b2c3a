#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank of a C program loads two files of Starling's and the C library, nothing else: each file is 0.1 ms of its start.
Nor does it read the plugins' files, which mpiexec has read for it.

usage: files.py BUILD_DIRECTORY [-v] [CASE.test ...]      (unittest's own arguments follow)
The dynamic linker tells which files it has initialised. Standard library only.
"""
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = BUILD / "bench/bench_mpi_startup"
ALL_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


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


def environment_of_rank(name):
    """What mpiexec gives to a rank under that name."""
    done = subprocess.run([BUILD / "bin/mpiexec", "-n", "1", "sh", "-c", f'echo "${name}"'], text=True,
                          capture_output=True, timeout=100, check=True)
    return done.stdout.strip()


def plugin_files_of_rank(*before):
    """The names of the plugin files that a rank opens; `before` starts it."""
    with tempfile.TemporaryDirectory() as directory:
        trace = pathlib.Path(directory) / "trace"
        subprocess.run([BUILD / "bin/mpiexec", "-n", "1", *before, "strace", "-f", "-e", "trace=open,openat", "-o", trace,
                        PROGRAM], capture_output=True, timeout=100, check=True)
        return set(re.findall(r'/lib/starling/(\w+\.so)"', trace.read_text()))


@unittest.skipUnless(shutil.which("strace") and list((BUILD / "lib/starling").glob("*.so")),
                     "needs strace, and plugins that are files")
class Records(unittest.TestCase):
    def test_ranks_do_not_read_the_files_of_plugins_again(self):
        self.assertEqual(plugin_files_of_rank(), set())

    def test_who_has_lost_what_mpiexec_handed_down_reads_them(self):
        number = environment_of_rank("STARLING_PLUGIN_RECORDS")
        self.assertRegex(number, r"^\d+$")
        there = {path.name for path in (BUILD / "lib/starling").glob("*.so")}
        for lose in (f"exec {number}<&-", f"exec {number}</dev/null", f"exec {number}</proc/self/exe"):
            self.assertEqual(plugin_files_of_rank("sh", "-c", f'{lose}; exec "$@"', "sh"), there, lose)

    def test_what_somebody_can_still_change_is_not_believed(self):
        read = "import os, sys; sys.stdout.buffer.write(os.pread(int(os.environ['STARLING_PLUGIN_RECORDS']), 1 << 24, 0))"
        records = subprocess.run([BUILD / "bin/mpiexec", "-n", "1", sys.executable, "-c", read], capture_output=True, timeout=100,
                                 check=True).stdout
        said, forged = b"as a file in /dev/shm", b"in the hand of others"
        if said not in records:
            self.skipTest("shm/posix is no file")
        for seals in 0, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE, ALL_SEALS:
            fd = os.memfd_create("records", os.MFD_ALLOW_SEALING)
            os.write(fd, records.replace(said, forged))
            if seals != 0:
                fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
            done = subprocess.run([BUILD / "bin/starling-info"], pass_fds=[fd], capture_output=True, timeout=100, check=True,
                                  env={**os.environ, "STARLING_PLUGIN_RECORDS": str(fd)})
            os.close(fd)
            self.assertEqual(forged in done.stdout, seals == ALL_SEALS, seals)


@unittest.skipUnless((BUILD / "start_order.ld").exists(), "the linker takes no order, or the build asks for none")
class Order(unittest.TestCase):
    def test_what_a_start_calls_lies_together(self):
        listed = [line for line in (ROOT / "cmake/start_order").read_text().splitlines() if not line.startswith("#")]
        is_listed = re.compile("|".join(listed)).fullmatch
        for library, most in (("libmpi_abi.so.1", 0.15), ("libstarling.so", 0.4)):
            done = subprocess.run(["nm", "-n", BUILD / "lib" / library], text=True, capture_output=True, check=True)
            code = [line.split() for line in done.stdout.splitlines() if re.match(r"[0-9a-f]+ [tTwW] ", line)]
            places = [int(place, 16) for place, _, name in code if is_listed(name)]
            # A few lie apart, of objects that are no part of this build.
            places = places[len(places) // 20:-len(places) // 20]
            self.assertGreater(len(places), 80, f"{library}: bench/start-order is to be run again")
            whole = int(code[-1][0], 16) - int(code[0][0], 16)
            self.assertLess(places[-1] - places[0], most * whole, library)


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
