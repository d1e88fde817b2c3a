# SPDX-License-Identifier: BSD-3-Clause
"""Every header compiles alone. One whose includes did not change since it compiled is not compiled again, and one that a
source includes before anything else is compiled by each build."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys

from layers import arrows

# libpmix's headers have a folder of their own, as plugins/pmi/CMakeLists.txt knows.
OUTSIDE = [word for folder in sorted(pathlib.Path("/usr/lib").glob("*/pmix2/include")) for word in ("-isystem", folder)]


def digest_of(name, texts, known):
    """Of a header and of all that it includes from here."""
    if name not in known:
        known[name] = ""  # ends a circle of includes
        whole = hashlib.sha256(texts[name].encode())
        for _, target, _ in arrows.included(texts[name]):
            if target in texts:
                whole.update(digest_of(target, texts, known).encode())
        known[name] = whole.hexdigest()
    return known[name]


def generate(root, generated, texts):
    """mpi.h and what else mpi/ includes without it being in the sources."""
    if not (root / "mpi/generate/generate.py").exists():
        return
    subprocess.run([sys.executable, "-B", "mpi/generate/generate.py", "mpi/tables", "mpi/api", str(generated)], cwd=root, check=True)
    for name in ("include/mpi.h", "mpi/api.gen.hpp"):
        texts[name.removeprefix("include/")] = (generated / name).read_text()


def first_includes(texts):
    """What sources of the floors include before anything else."""
    first = set()
    for name, text in texts.items():
        if name.endswith(".cpp") and name.split("/")[0] in arrows.FLOORS:
            first.update(target for _, target, _ in [next(arrows.included(text), ("", "", 0))])
    return first


def check(root, texts, problem):
    """Returns (headers, those that builds compile alone, those that were compiled now)."""
    compiler = os.environ.get("CXX", "c++")
    generated = root / "build/check-layers"
    generated.mkdir(parents=True, exist_ok=True)
    texts = dict(texts)
    built = first_includes(texts)
    headers = [name for name in texts if name.endswith(".hpp") and name.split("/")[0] in arrows.FLOORS]
    wanted = [name for name in headers if name not in built]
    generate(root, generated, texts)
    memory = generated / "compiled.json"
    try:
        remembered = json.loads(memory.read_text())
    except (OSError, ValueError):
        remembered = {}
    known = {}
    wanted = {name: f"{compiler} {digest_of(name, texts, known)}" for name in wanted}
    stale = [name for name, digest in wanted.items() if remembered.get(name) != digest]
    good = {name: digest for name, digest in wanted.items() if name not in stale}
    flags = ["-std=c++20", "-fsyntax-only", "-x", "c++", "-I", ".", "-I", "include", "-I", generated, "-I", generated / "include"]

    def compile_alone(name):
        done = subprocess.run([compiler, *flags, *OUTSIDE, "-"], cwd=root, input=f'#include "{name}"\n', capture_output=True, text=True)
        return name, done.returncode, done.stderr

    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for name, code, errors in pool.map(compile_alone, stale):
            if code == 0:
                good[name] = wanted[name]
                continue
            first = next((line for line in errors.splitlines() if "error" in line), errors[:200])
            problem(name, f"does not compile alone: {first}")
    memory.write_text(json.dumps(good, indent=0, sort_keys=True))
    return len(headers), len(headers) - len(wanted), len(stale)
