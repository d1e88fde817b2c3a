# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on the nodes of harness/nodes.py: which command starts a program there with which MPI."""
import os

from . import mpis


class Launch:
    """`per_node`: ranks of each node, placed one node after the other. Where there are more ranks than processors, which
    the other MPIs cannot know, they are told to yield while they wait: else each polls through its time slice."""

    def __init__(self, place, prefix, out, per_node=1):
        self.place, self.prefix, self.out, self.per_node = place, prefix, out, per_node
        self.ranks = str(place.count * per_node)
        self.shared = place.count * per_node > os.cpu_count()
        names = [f"n{node}" for node in range(place.count)]
        self.hosts = place.scratch / f"hostfile{per_node}"
        self.hosts.write_text("".join(f"{name}:{per_node}\n" for name in names))
        self.slots = place.scratch / f"slots{per_node}"
        self.slots.write_text("".join(f"{name} slots={per_node}\n" for name in names))

    def hydra(self, settings, program):
        options = [word for name, value in settings.items() for word in ("-genv", name, value)]
        return ["mpiexec.mpich", "-f", self.hosts, "-n", self.ranks, "-ppn", str(self.per_node), "-launcher", "ssh",
                "-launcher-exec", self.place.agent, *options, *program]

    def starling(self, transport, **settings):
        """A function from program and options to a command; settings are parameters of Starling's."""
        environment = {"STARLING_MCA_btl": f"self,shm,{transport}"}
        environment.update({f"STARLING_MCA_{name}": value for name, value in settings.items()})
        return str(self.prefix / "bin/mpicc"), "starling", lambda *program: self.hydra(environment, program)

    def starling_by_openmpi(self, transport, **settings):
        """As starling(), started by Open MPI's launcher. Hydra gives each rank a session of its own, and a system with
        autogroups shares a core among sessions first: where ranks share cores, who started them decides."""
        environment = {"STARLING_MCA_btl": f"self,shm,{transport}"}
        environment.update({f"STARLING_MCA_{name}": value for name, value in settings.items()})
        given = [word for name, value in environment.items() for word in ("-x", f"{name}={value}")]
        return (str(self.prefix / "bin/mpicc"), "starling", lambda *program: [*self.orted(), *given, *program])

    def orted(self):
        return ["mpirun.openmpi", "--allow-run-as-root", "--hostfile", self.slots, "-np", self.ranks, "--map-by", "slot",
                "--bind-to", "none", "--mca", "plm_rsh_agent", self.place.agent]

    def mpich(self, **settings):
        """`settings`: more variables of its environment."""
        environment = {"UCX_NET_DEVICES": "eth0", **({"MPIR_CVAR_POLLS_BEFORE_YIELD": "1"} if self.shared else {}), **settings}
        return "mpicc.mpich", "mpich", lambda *program: self.hydra(environment, program)

    def openmpi(self, *mca):
        """`mca`: more options of mpirun."""
        launch = [*self.orted(), "--mca", "btl", "self,vader,tcp", "--mca", "pml", "ob1",
                  *(("--mca", "mpi_yield_when_idle", "1") if self.shared else ()), *mca]
        return "mpicc.openmpi", "openmpi", lambda *program: [*launch, *program]

    def command(self, mpi, program, *options):
        """The command that runs bench/<program>.c, built with that MPI; it is started in a node, since the launchers'
        agents on the other one connect back."""
        compiler, folder, command = mpi
        built = mpis.build(self.out / folder, compiler, program)
        return self.place.command(0, *command(built, *options))
