# SPDX-License-Identifier: BSD-3-Clause
"""A pml plugin that is not of this installation and brings a protocol carries a program's large messages.

    run.py PLUGINS MPIEXEC PROGRAM"""
import re
import subprocess
import sys


def received(mpiexec, plugins, program, *more):
    done = subprocess.run([mpiexec, "-n", "2", "--mca", "plugin_path", plugins, "--mca", "pml", "backwards",
                           "--mca", "report", "1", *more, program],
                          capture_output=True, text=True, timeout=240)
    if done.returncode != 0:
        sys.exit(f"{program} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    counts = [int(count) for count in re.findall(r"received backwards: (\d+)", done.stdout + done.stderr)]
    if not counts:
        sys.exit(f"the report says nothing of the protocol:\n{done.stdout}\n{done.stderr}")
    return counts


def main():
    plugins, mpiexec, program = sys.argv[1:]
    counts = received(mpiexec, plugins, program)
    if min(counts) == 0:
        sys.exit(f"a process has received nothing by the plugin's protocol: {counts}")
    counts = received(mpiexec, plugins, program, "--mca", "pml_backwards_only", "no")
    if max(counts) != 0:
        sys.exit(f"the plugin's protocol was used although it was not chosen: {counts}")


main()
