# SPDX-License-Identifier: BSD-3-Clause
"""Nodes on one machine: network namespaces, two joined by veth pairs (rails), more by a bridge a rail, each with its own
host name, /dev/shm and /tmp.

A node is a sleeping process that holds its namespaces; they are gone when it is. Needs root.
"""
import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time

MOST = 16
ADDRESSES = tuple(f"10.77.0.{node + 1}" for node in range(MOST))
NAMES = tuple(f"n{node}" for node in range(MOST))


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, **options)


class Nodes:
    """The pids that hold the nodes, and the agent by which launchers start processes there."""

    def __init__(self, scratch, count=2, rails=1):
        self.scratch = pathlib.Path(scratch)
        self.count = count
        self.rails = rails
        self.holders = []
        self.agent = self.scratch / "agent"

    def command(self, node, *command):
        return ["nsenter", "-t", str(self.holders[node].pid), "-n", "-m", "-u", "-i", "--", *map(str, command)]

    def start(self):
        hosts = self.scratch / "hosts"
        hosts.write_text("127.0.0.1 localhost\n" + "".join(f"{a} {n}\n" for a, n in zip(ADDRESSES[:self.count], NAMES)))
        for name in NAMES[:self.count]:
            # Ends with this program: its standard input is ours.
            inside = (f"hostname {name}; mount -t tmpfs none /dev/shm; mount --bind {hosts} /etc/hosts; "
                      "echo ready; read end")
            holder = subprocess.Popen(["unshare", "-m", "-u", "-i", "-n", "--propagation", "private", "sh", "-c", inside],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.holders.append(holder)
            if holder.stdout.readline().strip() != "ready":
                raise SystemExit("no namespaces here: bench/cluster needs root and unshare")
        for rail in range(self.rails):
            self.add_rail(f"eth{rail}", 77 + rail)
        for node in range(self.count):
            run(*self.command(node, "ip", "link", "set", "lo", "up"))
        self.write_agent()
        time.sleep(0.5)  # the interfaces come up

    def add_rail(self, device, network):
        """The names of the nodes lead to the first one."""
        self.join(device)
        for node in range(self.count):
            run(*self.command(node, "ip", "addr", "add", f"10.{network}.0.{node + 1}/24", "dev", device))
            run(*self.command(node, "ip", "link", "set", device, "up"))

    def join(self, device):
        if self.count == 2:
            link = [f"st{os.getpid()}{end}" for end in "ab"]
            run("ip", "link", "add", link[0], "type", "veth", "peer", "name", link[1])
            for node in range(2):
                run("ip", "link", "set", link[node], "netns", self.holders[node].pid, "name", device)
            return
        # The bridge is in the first node, so that nothing of it outlives the nodes.
        bridge = f"br{device}"
        run(*self.command(0, "ip", "link", "add", bridge, "type", "bridge"))
        run(*self.command(0, "ip", "link", "set", bridge, "up"))
        for node in range(self.count):
            outside = f"st{os.getpid()}-{node}"
            run("ip", "link", "add", outside, "type", "veth", "peer", "name", f"{outside}e")
            run("ip", "link", "set", f"{outside}e", "netns", self.holders[node].pid, "name", device)
            run("ip", "link", "set", outside, "netns", self.holders[0].pid, "name", f"{device}p{node}")
            run(*self.command(0, "ip", "link", "set", f"{device}p{node}", "master", bridge, "up"))

    def write_agent(self):
        cases = "".join(f"    {name}|{address}) pid={holder.pid} ;;\n"
                        for name, address, holder in zip(NAMES, ADDRESSES, self.holders))
        self.agent.write_text(f"""#!/bin/sh
# Stands in for ssh: options, host, command.
while [ "${{1#-}}" != "$1" ]; do
  case "$1" in -l|-o|-p|-i) shift ;; esac
  shift
done
host=$1; shift
case "$host" in
{cases}    *) echo "no such node: $host" >&2; exit 1 ;;
esac
exec nsenter -t $pid -n -m -u -i -- /bin/sh -c "$*"
""")
        self.agent.chmod(0o755)

    def shape(self, rate):
        """Limits both directions of each rail, e.g. to 1gbit."""
        for node in range(self.count):
            for rail in range(self.rails):
                run(*self.command(node, "tc", "qdisc", "replace", "dev", f"eth{rail}", "root", "tbf", "rate", rate,
                                  "burst", "256kb", "latency", "50ms"))

    def unshape(self):
        for node in range(self.count):
            for rail in range(self.rails):
                subprocess.run(list(map(str, self.command(node, "tc", "qdisc", "del", "dev", f"eth{rail}", "root"))),
                               stderr=subprocess.DEVNULL, check=False)  # it need not be shaped

    def end_what_runs(self):
        """Ranks whose launcher was killed would go on: nobody else has the nodes' networks."""
        own = {os.stat(f"/proc/{holder.pid}/ns/net").st_ino: holder.pid for holder in self.holders if holder.poll() is None}
        for entry in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and own.get((entry / "ns/net").stat().st_ino, int(entry.name)) != int(entry.name):
                    os.kill(int(entry.name), signal.SIGKILL)

    def stop(self):
        self.end_what_runs()
        for holder in self.holders:
            with contextlib.suppress(OSError):
                holder.stdin.close()
            holder.wait(timeout=20)


@contextlib.contextmanager
def nodes(count=2, rails=1):
    with tempfile.TemporaryDirectory(prefix="starling-cluster-") as scratch:
        made = Nodes(scratch, count, rails)
        try:
            made.start()
            yield made
        finally:
            made.stop()
