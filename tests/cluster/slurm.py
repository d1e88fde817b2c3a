# SPDX-License-Identifier: BSD-3-Clause
"""Slurm on nodes made of namespaces: munged, slurmctld on the first node, slurmd on each.

Everything of it lives in a folder of its own and is ended by the numbers of its processes. Needs root and Debian's
slurm-wlm, slurm-wlm-basic-plugins and munge.
"""
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

CPUS = 32  # of each node, as Slurm is told: more than this machine has


def possible():
    """Why Slurm cannot run here; None: it can."""
    for tool in ("munged", "slurmctld", "slurmd", "srun", "setpriv"):
        if shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin") is None:
            return f"needs {tool}"
    return None if pathlib.Path("/etc/munge/munge.key").exists() else "needs munge's key"


class Slurm:
    def __init__(self, cluster):
        self.cluster = cluster
        self.directory = tempfile.TemporaryDirectory(prefix="starling-slurm-")
        self.root = pathlib.Path(self.directory.name)
        self.root.chmod(0o755)
        self.daemons = []
        self.broken = None  # why no job can run any more
        try:
            self.configure()
            self.start()
        except BaseException:
            self.close()
            raise

    def configure(self):
        for folder in ("state", "log", *(f"{kind}.{name}" for kind in ("spool", "tmp") for name in self.cluster.names)):
            (self.root / folder).mkdir()
        munge = self.root / "munge"
        munge.mkdir()
        user = pwd.getpwnam("munge")
        os.chown(munge, user.pw_uid, user.pw_gid)
        names = self.cluster.names
        (self.root / "slurm.conf").write_text(f"""ClusterName=starling
SlurmctldHost={names[0]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={munge}/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdParameters=config_overrides
StateSaveLocation={self.root}/state
SlurmdSpoolDir={self.root}/spool.%n
TmpFS={self.root}/tmp.%n
SlurmctldPidFile={self.root}/slurmctld.pid
SlurmdPidFile={self.root}/slurmd.%n.pid
SlurmctldLogFile={self.root}/log/slurmctld
SlurmdLogFile={self.root}/log/slurmd.%n
KillWait=2
NodeName={names[0][:-1]}[0-{len(names) - 1}] CPUs={CPUS} RealMemory=1000
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=YES
""")
        (self.root / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        self.environment = {**os.environ, "SLURM_CONF": f"{self.root}/slurm.conf",
                            "PATH": os.environ["PATH"] + ":/usr/sbin"}

    def daemon(self, name, *command):
        log = open(self.root / "log" / f"{command[0]}.out", "a")
        node = ["nsenter", "-t", str(self.cluster.pids[name]), "-n", "-m", "-u", "-i", "--"] if name else []
        self.daemons.append(subprocess.Popen([*node, *command], env=self.environment, stdin=subprocess.DEVNULL,
                                             stdout=log, stderr=log))
        log.close()

    def start(self):
        munge = self.root / "munge"
        self.daemon(None, "setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged", "-F", "--force",
                    f"--socket={munge}/socket", f"--pid-file={munge}/pid", f"--log-file={munge}/log",
                    f"--seed-file={munge}/seed")
        self.wait_for("munged", (munge / "socket").exists)
        self.daemon(self.cluster.names[0], "slurmctld", "-D")
        for name in self.cluster.names:
            self.daemon(name, "slurmd", "-D", "-N", name)
        self.wait_for("idle nodes", self.idle)

    def idle(self):
        """Of all nodes, and without what may stand beside it: drained, or not answering (idle*)."""
        return self.command("sinfo", "-h", "-N", "-o", "%T", timeout=90).stdout.split() == ["idle"] * len(self.cluster.names)

    def wait_for(self, what, ready, seconds=60):
        deadline = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > deadline:
                logs = "\n".join(f"--- {log.name}\n{log.read_text()[-2000:]}" for log in (self.root / "log").iterdir())
                raise RuntimeError(f"no {what} after {seconds} s\n{logs}")
            time.sleep(0.2)

    def command(self, *command, env=None, timeout=120):
        """A command on the first node. Without slurmds srun would wait for ever."""
        job = subprocess.Popen(
            ["nsenter", "-t", str(self.cluster.pids[self.cluster.names[0]]), "-n", "-m", "-u", "-i", "--", *command],
            env={**self.environment, **(env or {})}, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        try:
            out, err = job.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            job.send_signal(signal.SIGKILL)
            out, err = job.communicate()
            return subprocess.CompletedProcess(command, -1, out, f"{err}\nended after {timeout} s, its limit")
        return subprocess.CompletedProcess(command, job.returncode, out, err)

    def srun(self, per_node, *command, mpi="pmix", **more):
        if self.broken:
            raise RuntimeError(self.broken)
        nodes = len(self.cluster.names)
        done = self.command("srun", f"--mpi={mpi}", f"--nodes={nodes}", f"--ntasks={nodes * per_node}",
                            f"--ntasks-per-node={per_node}", "--kill-on-bad-exit=1", *command, **more)
        if done.returncode == -1:
            self.recover()
        return done

    def recover(self):
        """After a job that did not end: the next ones run, or are told at once why they cannot. A node that Slurm has
        put aside would let each of them wait for its limit."""
        state = self.command("sinfo", "-h", "-N", "-o", "%N: %T (%E)", timeout=90).stdout
        self.command("scancel", "--user=root", "--signal=KILL", timeout=90)
        try:
            self.wait_for("idle nodes after a job that was ended", self.idle, 90)
        except RuntimeError as why:
            self.broken = f"Slurm's nodes are lost to this test: {state}\n{why}"

    def close(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons = []
        self.cluster.clear()  # slurmstepd outlives its slurmd
        self.directory.cleanup()
