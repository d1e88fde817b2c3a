# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts of this folder share: Debian's sources, the MPIs of the machine, kept builds, runs.

Everything is kept below build/thirdparty. apt runs with a configuration and lists of its own there, so that
neither root nor a deb-src line in /etc is needed. Standard library only.
"""
import argparse
import dataclasses
import hashlib
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WORK = ROOT / "build/thirdparty"
SKIP = 77
PATIENCE = 1500.0  # seconds that one run of Starling may take
MIRROR = "http://deb.debian.org/debian"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Failed(Exception):
    """Ends the script with a text that says what went wrong."""


class TooSlow(Failed):
    """A run was not done in its time."""


class Skipped(Exception):
    """The machine lacks what this part needs."""


@dataclasses.dataclass
class Mpi:
    name: str
    cc: str
    cxx: str
    fc: str
    launch: list

    def command(self, ranks, *words):
        return [*self.launch, "-n", str(ranks), *map(str, words)]


def mpis(prefix):
    """Starling first, then the other MPIs that are installed."""
    names = ("mpicc", "mpicxx", "mpifort", "mpiexec")
    wrapper, plus, fortran, launcher = (str(prefix / "bin" / name) for name in names)
    starling = Mpi("starling", wrapper, plus, fortran, [launcher])
    if not shutil.which(starling.cc):
        raise Failed(f"Starling is not installed in {prefix}; run ./quickstart, or say --prefix")
    openmpi = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"]
    peers = [Mpi("openmpi", "mpicc.openmpi", "mpicxx.openmpi", "mpifort.openmpi", openmpi),
             Mpi("mpich", "mpicc.mpich", "mpicxx.mpich", "mpifort.mpich", ["mpiexec.mpich"])]
    return [starling] + [p for p in peers if shutil.which(p.cc) and shutil.which(p.launch[0])]


def over_nodes(starling, count):
    """Starling whose jobs are over several virtual nodes of this machine, joined by a network library on the loopback."""
    plugins = pathlib.Path(starling.cc).parent.parent / "lib/starling"
    for name, device in (("ucx", "btl_ucx_devices"), ("ofi", "btl_ofi_interface")):
        if (plugins / f"btl_{name}.so").exists():
            options = ["--virtual-nodes", str(count), "--mca", "btl", f"self,shm,{name}", "--mca", device, "lo"]
            return dataclasses.replace(starling, launch=[*starling.launch, *options])
    raise Skipped("this Starling has neither btl/ucx nor btl/ofi")


# --- commands -----------------------------------------------------------------------------------------------

def stop_group(child):
    """Ends a launcher and all that it started: politely, then not."""
    for number, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, None)):
        os.killpg(child.pid, number)
        try:
            return child.communicate(timeout=patience)[0]
        except subprocess.TimeoutExpired:
            pass
    return b""


def run(command, cwd=None, timeout=600, env=None, log=None, given=None):
    """Runs a command to its end; returns (output, seconds). A failure says which it was and shows its end.
    `given`: a file that it reads as its standard input."""
    started = time.monotonic()
    with open(given or os.devnull, "rb") as standard_input:
        child = subprocess.Popen([str(word) for word in command], cwd=cwd, env={**os.environ, **(env or {})},
                                 stdin=standard_input, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 start_new_session=True)
    late = False
    try:
        output, _ = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        output, late = stop_group(child), True
    except BaseException:
        stop_group(child)
        raise
    text = output.decode(errors="replace")
    if log:
        log.write_text(text)
    if late or child.returncode:
        why = f"not done after {timeout} s" if late else f"exit code {child.returncode}"
        end = "\n".join(text.splitlines()[-40:])
        raise (TooSlow if late else Failed)(f"{' '.join(map(str, command))}: {why}\n{end}")
    return text, time.monotonic() - started


def build_step(folder, name, command, cwd=None, env=None):
    """A step of a build: at the lowest priority, its output in <folder>/<name>.log."""
    print(f"  build: {name}", flush=True)
    run(["nice", "-n", "10", *command], cwd=cwd, timeout=7200, env=env, log=folder / f"{name}.log")


# --- what is downloaded -------------------------------------------------------------------------------------

def apt(*words, cwd=None, release=""):
    """apt-get with a configuration of our own below build/thirdparty/apt, for this machine's release of Debian or
    the named one."""
    home = WORK / f"apt{release}"
    for part in ("lists/partial", "cache/archives/partial"):
        (home / part).mkdir(parents=True, exist_ok=True)
    codename = release or platform.freedesktop_os_release().get("VERSION_CODENAME", "bookworm")
    sources = home / "sources.list"
    options = f"[signed-by={KEYRING}] {MIRROR} {codename} main"
    sources.write_text(f"deb {options}\ndeb-src {options}\n")
    settings = {"Dir::Etc::sourcelist": sources, "Dir::Etc::sourceparts": "-",
                "Dir::State::lists": home / "lists", "Dir::Cache": home / "cache",
                "APT::Sandbox::User": "root", "Acquire::Retries": "3"}
    given = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
    return run(["apt-get", "-q", *given, *words], cwd=cwd, timeout=900)


def once(folder, names, fetch, release=""):
    """Calls fetch() unless the folder has files of these patterns; apt's lists are read when missing."""
    folder.mkdir(parents=True, exist_ok=True)
    if not all(list(folder.glob(name)) for name in names):
        if not shutil.which("apt-get"):
            raise Skipped("the sources come from Debian's archive, and there is no apt-get here")
        if not list((WORK / f"apt{release}/lists").glob("*_Packages*")):
            apt("update", release=release)
        fetch()
    return [sorted(folder.glob(name))[0] for name in names]


def source(package, release=""):
    """The unpacked, unmodified upstream source of a Debian package, of this machine's release or the named one."""
    tars = WORK / "tars"
    tar, = once(tars, [f"{package}_*.orig.tar.*"],
                lambda: apt("source", "--download-only", "--tar-only", package, cwd=tars, release=release), release)
    place = WORK / "src" / package
    if not place.exists():
        print(f"  unpack: {tar.name}", flush=True)
        part = place.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        run(["tar", "-x", "--strip-components=1", "-f", tar, "-C", part])
        part.rename(place)
    return place


def binaries(packages):
    """Debian's own build of some packages in one folder, which is returned; nothing is installed."""
    debs = WORK / "debs"
    files = once(debs, [f"{name}_*.deb" for name in packages], lambda: apt("download", *packages, cwd=debs))
    place = WORK / "debian"
    for file in files:
        mark = place / f".{file.name}"
        if not mark.exists():
            place.mkdir(parents=True, exist_ok=True)
            run(["dpkg-deb", "-x", file, place])
            mark.touch()
    return place


# --- builds that are kept -----------------------------------------------------------------------------------

def built(folder, facts, make):
    """Calls make() unless it succeeded before with the same facts (texts); the folder is emptied before."""
    key = hashlib.sha256("\0".join(map(str, facts)).encode()).hexdigest()
    stamp = folder / ".built"
    if stamp.exists() and stamp.read_text() == key:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make()
    stamp.write_text(key)


def compiler_facts(mpi):
    """What a program built with this MPI depends on; Starling's header counts, its library is dynamic."""
    facts = [mpi.name, mpi.cc]
    header = pathlib.Path(mpi.cc).parent.parent / "include/mpi.h"
    if mpi.name == "starling":
        facts += [path.read_text() for path in sorted(header.parent.glob("*.h"))]
    return facts


# --- the command line ---------------------------------------------------------------------------------------

def timed(mpis, run_one):
    """Runs run_one(mpi, seconds it may take) with each MPI; returns {name: what it gave}, None where a peer
    was far slower than Starling, which is first: a figure, not an error, and no reason to wait."""
    results, limit = {}, PATIENCE
    for mpi in mpis:
        started = time.monotonic()
        try:
            results[mpi.name] = run_one(mpi, limit)
        except TooSlow:
            if mpi.name == "starling":
                raise
            results[mpi.name] = None
        if mpi.name == "starling":
            limit = max(30.0, 4 * (time.monotonic() - started))
    return results


def seconds_line(label, times):
    """`times`: name of the MPI -> seconds, or None where it was stopped."""
    peers = [value for name, value in times.items() if name != "starling" and value is not None]
    line = f"  {label:<24}" + "".join(f"  {name} " + ("stopped" if value is None else f"{value:.2f} s")
                                      for name, value in times.items())
    if peers and "starling" in times:
        line += f"  starling / best peer {times['starling'] / min(peers):.2f}"
    print(f"{line}  (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs)", flush=True)


def write_ctest(script, parts, folder, prefix):
    """One test for each part, as ctest and .ci/combine-tests read them."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["# SPDX-License-Identifier: BSD-3-Clause", f"# Written by tests/thirdparty/{script.name}."]
    for part in parts:
        name = f'"{script.name}/{part}"'
        lines.append(f'add_test({name} "{script}" --prefix "{prefix}" "{part}")')
        properties = f"TIMEOUT 3600 SKIP_RETURN_CODE {SKIP} RUN_SERIAL ON"
        lines.append(f"set_tests_properties({name} PROPERTIES {properties})")
    (folder / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")


def main(script, about, build, parts):
    """build(mpis) returns what each of `parts` (name -> function(mpis, that)) gets."""
    names = ", ".join(f"{name} ({function.__doc__.splitlines()[0]})" for name, function in parts.items())
    parser = argparse.ArgumentParser(prog=f"tests/thirdparty/{script.name}", description=about)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{names}; default: all")
    parser.add_argument("--prefix", type=pathlib.Path, default=ROOT / "build/prefix",
                        help="where Starling is installed (default: build/prefix)")
    parser.add_argument("--mpi", default="", help="only these, with commas: starling,openmpi,mpich")
    parser.add_argument("--build-only", action="store_true", help="fetch and build, run nothing")
    parser.add_argument("--ctest", type=pathlib.Path, metavar="FOLDER",
                        help="write the list of parts for ctest, then end")
    options = parser.parse_args()
    options.prefix = options.prefix.resolve()
    unknown = [part for part in options.parts if part not in parts]
    if unknown:
        parser.error(f"unknown part '{unknown[0]}'; there are {', '.join(parts)}")
    if options.ctest:
        write_ctest(script, parts, options.ctest, options.prefix)
        return 0
    try:
        there = [m for m in mpis(options.prefix) if not options.mpi or m.name in options.mpi.split(",")]
        print(f"{script.name}: {', '.join(m.name for m in there)}", flush=True)
        product = build(there)
        if options.build_only:
            return 0
        for part in options.parts or parts:
            print(f"{script.name}: {part}", flush=True)
            parts[part](there, product)
    except Skipped as reason:
        print(f"{script.name}: skipped: {reason}")
        return SKIP
    except Failed as reason:
        print(f"{script.name}: FAILED: {reason}")
        return 1
    print(f"{script.name}: all passed")
    return 0


def start(script, about, build, parts):
    # As an exception, so that what runs is ended too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main(pathlib.Path(script).resolve(), about, build, parts))
