# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs that this machine has, and the programs built with each."""
import dataclasses
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent.parent
OPENMPI = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"]
# Without a real network UCX is refused unless any transport and device is admitted; it is the faster one at
# 4-64 KiB.
UCX = ["--mca", "pml", "ucx", "--mca", "opal_common_ucx_tls", "any",
       "--mca", "opal_common_ucx_devices", "any"]


@dataclasses.dataclass
class Mpi:
    name: str
    wrapper: str
    launch: list
    builds_with: str  # MPIs with the same wrapper share their programs


def candidates(prefix):
    return [
        Mpi("starling", str(prefix / "bin/mpicc"), [str(prefix / "bin/mpiexec")], "starling"),
        Mpi("openmpi", "mpicc.openmpi", OPENMPI, "openmpi"),
        Mpi("openmpi-ucx", "mpicc.openmpi", OPENMPI + UCX, "openmpi"),
        Mpi("mpich", "mpicc.mpich", ["mpiexec.mpich"], "mpich"),
    ]


def found(prefix, wanted):
    """Those that are installed (and asked for), and the names of those that are not."""
    there, absent = [], []
    for mpi in candidates(prefix):
        if wanted and mpi.name not in wanted:
            continue
        if shutil.which(mpi.wrapper) and shutil.which(mpi.launch[0]):
            there.append(mpi)
        else:
            absent.append(mpi.name)
    return there, absent


def build(out, compiler, program, *flags):
    """Builds bench/<program>.c where it is older than its sources; returns the program."""
    source = HERE / f"{program}.c"
    target = out / (program + "".join(flags).replace("-D", "-"))
    inputs = [source, *sorted(HERE.glob("*.h"))]
    if not target.exists() or any(target.stat().st_mtime <= i.stat().st_mtime for i in inputs):
        out.mkdir(parents=True, exist_ok=True)
        subprocess.run([compiler, "-std=gnu11", "-O2", "-w", *flags, str(source), "-o", str(target)],
                       check=True)
    return target
