#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks in containers, started by a launcher of the host: each rank has namespaces and a root of its own.

usage: containers.py BUILD_DIRECTORY [-v] [CASE.test ...]
The roots are made of mounts (/usr of this machine; the library from the host by a bind mount, or copied into the root) and
are gone with the rank. With STARLING_TESTS_SYSTEM, the folder of a minimal system (debootstrap), that one is the root.
Needs root; skipped without. Standard library only.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from jobs import BUILD, MPIEXEC, NamesCase  # noqa: E402
from pmi_servers import Server  # noqa: E402

RING = str(BUILD / "examples/ring")
PROTOCOLS = str(BUILD / "tests/mpi/mpi_pt2pt_any_protocol")  # short and long messages, every way of sending them
SYSTEM = os.environ.get("STARLING_TESTS_SYSTEM", "")
UNSHARE = ["unshare", "--mount", "--pid", "--fork", "--mount-proc"]
# $1: an empty folder; $2: the build; $3: host or image, where the library comes from; then the program.
ROOT = """set -e
root=$1 build=$2 from=$3; shift 3
if [ -n "$SYSTEM" ]; then
  mount --bind "$SYSTEM" "$root"
  mkdir -p "$root/$build"
  mount -t tmpfs build "$root/$build"
else
  mount -t tmpfs root "$root"
  mkdir -p "$root"/usr "$root"/proc "$root"/dev/shm "$root"/tmp "$root"/sys "$root/$build"
  mount --bind /usr "$root/usr"
  for name in bin lib lib64; do ln -s "usr/$name" "$root/$name"; done
fi
if [ "$from" = host ]; then mount --bind "$build" "$root/$build"
else mkdir -p "$root/$(dirname "$1")"; cp -r "$build/lib" "$root/$build/"; cp "$1" "$root/$1"; fi
mount -t proc proc "$root/proc"
mount --bind /sys "$root/sys"
for name in null zero urandom; do touch "$root/dev/$name"; mount --bind "/dev/$name" "$root/dev/$name"; done
if [ -n "$SHARED" ]; then mount --bind /dev/shm "$root/dev/shm"; else mount -t tmpfs shm "$root/dev/shm"; fi
exec chroot "$root" "$@"
"""


def possible():
    made = subprocess.run([*UNSHARE, "sh", "-c", "mount -t tmpfs x /mnt"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False) if shutil.which("unshare") else None
    return made is not None and made.returncode == 0


@unittest.skipUnless(possible(), "needs root and namespaces")
class Containers(NamesCase):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory(prefix="starling-root-")
        self.addCleanup(self.folder.cleanup)

    def rooted(self, *command, library="host", shared=True):
        settings = [f"SHARED={'yes' if shared else ''}", f"SYSTEM={SYSTEM}"]
        return ["env", *settings, *UNSHARE, "sh", "-c", ROOT, "sh", self.folder.name, str(BUILD), library, *command]

    def launch(self, launcher, *command, **params):
        settings = [f"STARLING_MCA_{name}={value}" for name, value in params.items()]
        done = subprocess.run([*launcher, "env", *settings, *command], text=True, timeout=120, capture_output=True,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def launchers(self):
        yield [MPIEXEC, "-n", "2"]
        if shutil.which("mpiexec.hydra"):
            yield ["mpiexec.hydra", "-n", "2"]

    def test_roots_of_their_own(self):
        for launcher in self.launchers():
            for library in ("host", "image"):
                with self.subTest(launcher=launcher[0], library=library):
                    self.launch(launcher, *self.rooted(PROTOCOLS, library=library))

    def test_a_shared_memory_folder_each(self):
        # Handed down by mpiexec; through the network namespace, which they have in common.
        self.launch([MPIEXEC, "-n", "2"], *self.rooted(PROTOCOLS, shared=False))
        if shutil.which("mpiexec.hydra"):
            self.launch(["mpiexec.hydra", "-n", "2"], *self.rooted(PROTOCOLS, shared=False), shm="memfd")

    def test_nothing_in_common_is_said(self):
        job = Server(2, self.rooted(RING, "10", shared=False),
                     {"STARLING_MCA_bootstrap_timeout": "3"}, mapping="(vector,(0,1,2))")
        results = job.wait(timeout=60)
        self.assertNotIn(0, [code for code, _, _ in results], results)
        for _, _, err in results:
            self.assertIn("1 of 2 processes of this node have not attached to its shared memory", err)
            self.assertIn("need the host's /dev/shm mounted in each, or its network namespace and shm=memfd", err)


if __name__ == "__main__":
    unittest.main()
