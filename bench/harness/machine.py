# SPDX-License-Identifier: BSD-3-Clause
"""What the machine does while something is measured: its state, foreign load, and runs that can be trusted.

Virtual machines flip by themselves between a fast and a slow state (the same cache-line hand-over takes
4 times as long). A run counts only if the hand-over before and after it shows the same state and nobody else used the
CPUs.
"""
import contextlib
import dataclasses
import os
import resource
import signal
import statistics
import subprocess
import sys
import time

LATE = "failed: no end"
SLOW_FACTOR = 2.0  # a hand-over slower than this many times the fastest one seen is the slow state


@dataclasses.dataclass
class Run:
    """One execution: what it printed, how long it took, and why it does not count ('' when it does)."""
    values: dict
    seconds: float
    state: str
    rejected: str

    @property
    def ended_late(self):
        return self.rejected.startswith(LATE)


class Machine:
    def __init__(self, probe, most_foreign):
        self.probe = probe  # the floor program
        self.most_foreign = most_foreign  # share of all CPUs that others may use during a run
        self.fastest_us = None
        for _ in range(5):
            self.handover_us()

    def handover_us(self):
        done = subprocess.run([str(self.probe), "handover"], capture_output=True, text=True, check=True)
        value = float(done.stdout.split()[2])
        self.fastest_us = value if self.fastest_us is None else min(value, self.fastest_us)
        return value

    def state_of(self, handover_us):
        return "slow" if handover_us > SLOW_FACTOR * self.fastest_us else "fast"

    def measure(self, command, environment=None, timeout=120, probe=True):
        """Runs the command between two probes."""
        before = self.handover_us() if probe else None
        busy_before, own_before, start = busy_seconds(), children_seconds(), time.monotonic()
        text, problem = execute(command, environment, timeout)
        seconds = time.monotonic() - start
        foreign = busy_seconds() - busy_before - (children_seconds() - own_before)
        after = self.handover_us() if probe else None
        share = foreign / max(seconds, 0.02) / (os.cpu_count() or 1)
        state = self.state_of(before) if probe else "any"
        rejected = problem
        if not rejected and probe and state != self.state_of(after):
            rejected = "the machine changed its speed"
        if not rejected and share > self.most_foreign:
            rejected = f"foreign load {share:.0%}"
        return Run(parse(text), seconds, state, rejected)


def end_in_order():
    """A SIGTERM ends this program as an exception does: what it has started ends, too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def end(child):
    """Launchers take their ranks with them where they are asked to. Returns what the child has printed."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return child.communicate(timeout=5)[0]
    return b""


def execute(command, environment, timeout):
    """Returns (standard output, problem); what was printed before a time-out counts. The command leads a process
    group of its own."""
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             stdin=subprocess.DEVNULL, env=environment, start_new_session=True)
    try:
        out, err = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        return end(child).decode(errors="replace"), f"{LATE} after {timeout:.0f} s"
    except BaseException:
        end(child)
        raise
    if child.returncode:
        lines = err.decode(errors="replace").strip().splitlines()
        return "", f"failed: exit {child.returncode}: {lines[0] if lines else 'no message'}"
    return out.decode(errors="replace"), ""


def parse(text):
    """{(figure, size): [values]} out of lines `figure size value unit`."""
    values = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 4:
            try:
                values.setdefault((words[0], int(words[1])), []).append(float(words[2]))
            except ValueError:
                continue
    return {key: statistics.mean(several) for key, several in values.items()}


def busy_seconds():
    """CPU seconds that all processes have used since boot."""
    with open("/proc/stat", encoding="ascii") as stat:
        words = [int(word) for word in stat.readline().split()[1:]]
    return (sum(words[:8]) - words[3] - words[4]) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
