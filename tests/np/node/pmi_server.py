# SPDX-License-Identifier: BSD-3-Clause
"""A process manager that speaks PMI 1.1 and knows nothing about nodes: no PMI_process_mapping."""
import itertools
import os
import socket
import subprocess
import threading


class Job:
    """Starts `size` ranks of a command and serves them. `gets` counts the gets of each rank.

    It goes away after the first answer to `leaves_after`, a command. `prefixes` wraps the command of some ranks: {rank: [words before it]}.
    """

    leaves_after = None
    family = "kvs_test"  # how names of jobs begin: with kvs_ as MPICH's do, or not
    numbers = itertools.count()

    def __init__(self, size, command, env=None, prefixes=None):
        # Ranks on one machine find each other by this name: those of a test that runs at the same time must not.
        self.name_of_job = f"{self.family}_{os.getpid()}_{next(self.numbers)}"
        self.size, self.values, self.gets = size, {}, [0] * size
        self.barrier = threading.Barrier(size)
        self.fences = 0
        self.threads, self.processes = [], []
        for rank in range(size):
            ours, theirs = socket.socketpair()
            full = {k: v for k, v in os.environ.items() if not k.startswith(("PMI", "STARLING_"))}
            full.update(env or {}, PMI_FD=str(theirs.fileno()), PMI_RANK=str(rank), PMI_SIZE=str(size))
            own = [*(prefixes or {}).get(rank, []), *command]
            self.processes.append(subprocess.Popen(own, env=full, pass_fds=[theirs.fileno()], text=True,
                                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE))
            theirs.close()
            thread = threading.Thread(target=self.serve, args=(rank, ours), daemon=True)
            thread.start()
            self.threads.append(thread)

    def wait(self, timeout=60):
        """Codes, standard output and standard error of all ranks."""
        results = []
        try:
            for process in self.processes:
                out, err = process.communicate(timeout=timeout)
                results.append((process.returncode, out, err))
        finally:
            for process in self.processes:
                process.kill()
            for thread in self.threads:
                thread.join(timeout)
        return results

    def serve(self, rank, connection):
        with connection, connection.makefile("rw", newline="\n") as stream:
            for line in stream:
                fields = dict(word.split("=", 1) for word in line.split())
                answer = self.answer(rank, fields)
                if answer:
                    stream.write(answer + "\n")
                    stream.flush()
                if fields["cmd"] == self.leaves_after:
                    break
        self.barrier.abort()  # whoever waits for a rank that is gone fails

    def answer(self, rank, fields):
        command = fields["cmd"]
        if command == "get":
            self.gets[rank] += 1
            value = self.values.get(fields["key"])
            if value is None:
                return "cmd=get_result rc=-1 msg=unknown_key"
            return f"cmd=get_result rc=0 msg=success value={value}"
        if command == "put":
            self.values[fields["key"]] = fields["value"]
            return "cmd=put_result rc=0 msg=success"
        if command == "abort":
            for process in self.processes:
                process.kill()
        if command == "barrier_in":
            if self.barrier.wait() == 0:
                self.fences += 1
            return "cmd=barrier_out"
        return {"init": "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
                "get_maxes": "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
                "get_my_kvsname": f"cmd=my_kvsname kvsname={self.name_of_job}",
                "get_universe_size": "cmd=universe_size size=-1",
                "get_appnum": "cmd=appnum appnum=0",
                "finalize": "cmd=finalize_ack"}.get(command)
