# SPDX-License-Identifier: BSD-3-Clause
"""The two record sections of plugins: present, whole, without relocations, whoever compiled them.

usage: records_test.py SOURCE_ROOT BUILD_LIB COMPILER PLUGIN.so ...
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

DESCRIPTOR_BYTES = 384
DECL_BYTES = 696
failures = []


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def sections(path):
    """name -> (address, size)"""
    found = {}
    for line in run("readelf", "-SW", path).splitlines():
        match = re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+\S+\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)", line)
        if match:
            found[match[1]] = (int(match[2], 16), int(match[3], 16))
    return found


def relocated(path):
    """addresses that the dynamic linker writes to"""
    return [int(m[1], 16) for m in re.finditer(r"^([0-9a-f]{12,16})\s+[0-9a-f]{12,16}\s+R_", run("readelf", "-rW", path), re.M)]


def check(path, label, params=None):
    found = sections(path)
    address, size = found.get(".starling.plugin", (0, 0))
    if size != DESCRIPTOR_BYTES:
        failures.append(f"{label}: section .starling.plugin has {size} bytes, expected {DESCRIPTOR_BYTES}")
    count = found.get(".starling.params", (0, 0))[1] / DECL_BYTES
    if count != int(count) or (params is not None and count != params):
        failures.append(f"{label}: section .starling.params holds {count} declarations, expected {params}")
    writes = relocated(path)
    if not writes:
        failures.append(f"{label}: no relocation was found at all; is readelf's output understood?")
    for name in (".starling.plugin", ".starling.params"):
        begin, size = found.get(name, (0, 0))
        inside = [hex(a) for a in writes if begin <= a < begin + size]
        if inside:
            failures.append(f"{label}: section {name} has relocations at {inside}")
    if not re.search(r" [DBR] starling_plugin_entry$", run("nm", "-D", path), re.M):
        failures.append(f"{label}: symbol starling_plugin_entry is not exported")


def main():
    root, library, compiler = sys.argv[1:4]
    checked = 0
    for path in sys.argv[4:]:
        check(path, path)
        checked += 1
    compilers = {shutil.which(c) for c in (compiler, "g++", "clang++")} - {None}
    collected = ["-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]
    with tempfile.TemporaryDirectory(prefix="starling-records-") as scratch:
        for tool in sorted(compilers):
            for options, params in ((["-O0"], 2), (collected, 2), (collected + ["-DSAMPLE_WITHOUT_PARAMS"], 0)):
                output = pathlib.Path(scratch) / "sample.so"
                run(tool, "-std=c++20", "-fPIC", "-shared", "-fvisibility=hidden", '-DSTARLING_PLUGIN_VERSION="0"', "-I", root,
                    *options, f"{root}/tests/plugin/records_sample.cpp", "-o", output, f"-L{library}", "-lstarling")
                check(output, f"{tool} {' '.join(options)}", params)
                checked += 1
    for failure in failures:
        print(failure)
    print(f"{checked} shared objects checked, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
