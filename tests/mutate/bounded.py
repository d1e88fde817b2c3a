# SPDX-License-Identifier: BSD-3-Clause
"""Commands with an end: a limit of time, and nothing of theirs alive or in /dev/shm afterwards."""
import ctypes
import os
import pathlib
import signal
import subprocess
import tempfile
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000
libc = ctypes.CDLL(None, use_errno=True)


def adopt_orphans():
    """Processes whose parents end become children of this one, so that it finds them."""
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(clear_children() or 1))
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def private_shared_memory():
    """An own /dev/shm for this process and its children where that is allowed (root); it ends with them."""
    size = os.statvfs("/dev/shm")
    if libc.unshare(CLONE_NEWNS) != 0 or libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) != 0:
        return False
    options = f"mode=1777,size={size.f_blocks * size.f_frsize}".encode()
    return libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, options) == 0


def stand_in(copy, place):
    """In this process and its children, once private_shared_memory() was granted, `place` shows `copy`."""
    return libc.mount(os.fsencode(copy), os.fsencode(place), None, MS_BIND | MS_REC, None) == 0


def empty_shared_memory():
    for name in pathlib.Path("/dev/shm").iterdir():
        if not name.is_dir():
            name.unlink()


def children():
    """Pids of this process's children, dead ones included."""
    me, found = os.getpid(), []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            stat = pathlib.Path("/proc", entry, "stat").read_text()
        except OSError:
            continue
        if int(stat[stat.rindex(")") + 2:].split()[1]) == me:
            found.append(int(entry))
    return found


def clear_children():
    """Kills all children; their own become ours and follow."""
    while found := children():
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass


def run(command, limit, cwd=None, env=None):
    """(exit code, or None if the limit in seconds was reached; the output; seconds). The caller has no other child."""
    with tempfile.TemporaryFile() as output:
        begun = time.monotonic()
        process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        seconds = time.monotonic() - begun
        clear_children()
        output.seek(0)
        return code, output.read().decode(errors="replace"), seconds
