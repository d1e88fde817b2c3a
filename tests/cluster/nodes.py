# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of a cluster as namespaces of this machine.

Each node has a network of its own (eth0 with 10.77.0.i, joined to the others by a bridge), a host name, and its own
/dev/shm and /tmp. Process numbers are shared, so a library that guesses locality from them is caught. Needs root.
Everything is held by sleeping processes; it is gone when they are ended.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "np"))
import hydra  # noqa: E402

HOLD = "sleep 3600"  # an upper limit, should the test itself be killed


def possible():
    """Why nodes cannot be made here; None: they can."""
    if os.geteuid() != 0:
        return "needs root"
    for tool in ("ip", "unshare", "nsenter"):
        if shutil.which(tool) is None:
            return f"needs {tool}"
    tried = subprocess.run(["unshare", "-n", "-m", "-u", "-i", "ip", "link", "add", "type", "veth"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return None if tried.returncode == 0 else "no namespaces or no veth here"


class Cluster:
    def __init__(self, count):
        self.directory = tempfile.TemporaryDirectory(prefix="starling-cluster-")
        self.holders = []
        self.names = [f"n{i}" for i in range(count)]
        try:
            self.make()
        except BaseException:
            self.close()
            raise

    def make(self):
        root = pathlib.Path(self.directory.name)
        bridge = self.bridge = self.hold(["unshare", "-n"])
        self.enter(bridge, "ip link add br0 type bridge && ip link set br0 up")
        hosts = root / "hosts"
        hosts.write_text("127.0.0.1 localhost\n" +
                         "".join(f"10.77.0.{i + 1} {name}\n" for i, name in enumerate(self.names)))
        self.pids = {}
        for i, name in enumerate(self.names):
            pid = self.hold(["unshare", "-n", "-m", "-u", "-i", "--propagation", "private"])
            self.pids[name] = pid
            self.enter(pid, f"hostname {name} && mount -t sysfs none /sys && mount -t tmpfs none /dev/shm && mount --bind {hosts} /etc/hosts "
                            "&& ip link set lo up", mounts=True)
            self.enter(bridge, f"ip link add v{i} type veth peer name eth0 netns {pid} && "
                               f"ip link set v{i} master br0 up")
            self.enter(pid, f"ip addr add 10.77.0.{i + 1}/24 dev eth0 && ip link set eth0 up")
        # Called as `ssh [options] HOST command...`.
        agent = root / "agent"
        cases = "".join(f"{name}) pid={pid};; " for name, pid in self.pids.items())
        agent.write_text('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\n'
                         f'case "$1" in {cases} *) echo "no node $1" >&2; exit 1;; esac\nshift\n'
                         'exec nsenter -t "$pid" -n -m -u -i -- /bin/sh -c "$*"\n')
        agent.chmod(0o755)
        self.agent = str(agent)

    def add_launchers_network(self):
        """A second network, eth1 with 10.79.0.i, for the launcher (HYDRA_IFACE=eth1)."""
        self.enter(self.bridge, "ip link add br1 type bridge && ip link set br1 up")
        for i, name in enumerate(self.names):
            pid = self.pids[name]
            self.enter(self.bridge, f"ip link add w{i} type veth peer name eth1 netns {pid} && "
                                    f"ip link set w{i} master br1 up")
            self.enter(pid, f"ip addr add 10.79.0.{i + 1}/24 dev eth1 && ip link set eth1 up")

    def add_slow_rail(self, delay_ms):
        """A second network, eth1 with 10.78.0.i, on which every frame takes so long."""
        for i, name in enumerate(self.names):
            pid = self.pids[name]
            self.enter(self.bridge, f"ip link add w{i} type veth peer name eth1 netns {pid} && ip link set w{i} up")
            self.enter(pid, f"ip addr add 10.78.0.{i + 1}/24 dev eth1 && ip link set eth1 up")
        relay = subprocess.Popen(
            ["nsenter", "-t", str(self.bridge), "-n", "--", sys.executable, "-B",
             str(pathlib.Path(__file__).parent / "relay.py"), str(delay_ms), *(f"w{i}" for i in range(len(self.names)))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.holders.append(relay)
        if relay.stdout.readline() != b"ready\n":
            raise RuntimeError("the relay did not start")

    def hold(self, prefix):
        """A process that keeps fresh namespaces; its number, once they exist."""
        process = subprocess.Popen([*prefix, "sh", "-c", f"echo ready; exec {HOLD}"], stdout=subprocess.PIPE)
        self.holders.append(process)
        process.stdout.readline()
        return process.pid

    def enter(self, pid, command, mounts=False):
        spaces = ["-n", "-m", "-u", "-i"] if mounts else ["-n"]
        subprocess.run(["nsenter", "-t", str(pid), *spaces, "--", "sh", "-c", command], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def start_with(self, launcher, per_node, variables):
        """The words that start a program on every node by Hydra or by Open MPI's mpirun."""
        # Jobs run at once, and mpiruns that share a directory trip over each other's making and removing of it.
        own = pathlib.Path(tempfile.mkdtemp(dir=self.directory.name))
        hostfile = own / "hosts"
        count = str(per_node * len(self.names))
        if launcher == "hydra":
            hostfile.write_text("".join(f"{name}:{per_node}\n" for name in self.names))
            return ["mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", self.agent, "-f", str(hostfile), "-n", count]
        hostfile.write_text("".join(f"{name} slots={per_node}\n" for name in self.names))
        # Each node believes that it has core 0, so bound ranks of two nodes would share it.
        return ["mpirun.openmpi", "--allow-run-as-root", "--hostfile", str(hostfile), "--bind-to", "none", "--mca",
                "plm_rsh_agent", self.agent, "--mca", "orte_tmpdir_base", str(own),
                *(word for name in variables for word in ("-x", name)), "-np", count]

    def run(self, per_node, *command, launcher="hydra", **more):
        """A job of `per_node` ranks on each node."""
        for _ in range(5):
            done = self.run_once(per_node, *command, launcher=launcher, **more)
            if not hydra.broke(done.returncode, launcher):
                break
        return done

    def run_once(self, per_node, *command, launcher, env=None, timeout=240):
        job = subprocess.Popen(
            ["nsenter", "-t", str(self.pids[self.names[0]]), "-n", "-m", "-u", "-i", "--",
             *self.start_with(launcher, per_node, env or {}), *command],
            env={**os.environ, **(env or {})}, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = job.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.clear()
            out, err = job.communicate()
            return subprocess.CompletedProcess(command, -1, out, f"{err}\nended after {timeout} s, its limit")
        return subprocess.CompletedProcess(command, job.returncode, out, err)

    def clear(self):
        """Kills what runs in the nodes: a launcher that is killed leaves processes."""
        held = {process.pid for process in self.holders}
        networks = {os.readlink(f"/proc/{pid}/ns/net") for pid in self.pids.values()}
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if int(entry.name) not in held and os.readlink(entry / "ns/net") in networks:
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                pass  # it has ended meanwhile

    def close(self):
        for process in self.holders:
            process.kill()
            process.wait()
            process.stdout.close()
            if process.stdin:
                process.stdin.close()
        self.holders = []
        self.directory.cleanup()
