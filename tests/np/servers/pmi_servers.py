# SPDX-License-Identifier: BSD-3-Clause
"""Process managers that lack something, or do not answer: PMI-1 servers for jobs whose nodes are only said to be nodes."""
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "node"))
import pmi_server  # noqa: E402


class Server(pmi_server.Job):
    """As pmi_server.Job, with what is given as class attributes. Counts requests: {rank: {command: number}}."""

    family = "job-of-a-test"
    mapping = None     # PMI_process_mapping
    names = None       # a dictionary: publish, lookup and unpublish work; None: they are refused, as Flux does
    subversion = 1     # 2: fences of groups
    deaf = ()          # ranks whose entry into a fence of a group is swallowed
    mute = ()          # ranks that are not told that such a fence is over
    slow = {}          # {rank: seconds}: when a rank is told that a fence of the world is over
    prefixes = None    # {rank: [words before its command]}

    def __init__(self, size, command, env=None, **attributes):
        for name, value in attributes.items():
            setattr(self, name, value)
        self.lock = threading.Lock()
        self.streams, self.requests, self.entered = {}, {rank: {} for rank in range(size)}, {}
        super().__init__(size, command, env, self.prefixes)

    def serve(self, rank, connection):
        with connection, connection.makefile("rw", newline="\n") as stream:
            self.streams[rank] = stream
            try:
                for line in stream:
                    fields = dict(word.split("=", 1) for word in line.split())
                    with self.lock:
                        counts = self.requests[rank]
                        counts[fields["cmd"]] = counts.get(fields["cmd"], 0) + 1
                        answer = self.answer(rank, fields)
                        if answer:
                            self.tell(rank, answer)
            except (OSError, ValueError):
                pass  # the rank is gone

    def tell(self, rank, answer):
        try:
            self.streams[rank].write(answer + "\n")
            self.streams[rank].flush()
        except (OSError, ValueError):
            pass

    def tell_later(self, seconds, rank, answer):
        if seconds == 0:
            return self.tell(rank, answer)

        def tell():
            with self.lock:
                self.tell(rank, answer)
        threading.Timer(seconds, tell).start()

    def answer(self, rank, fields):
        command = fields["cmd"]
        if command == "init":
            return f"cmd=response_to_init pmi_version=1 pmi_subversion={self.subversion} rc=0"
        if command == "get" and fields["key"] == "PMI_process_mapping" and self.mapping:
            return f"cmd=get_result rc=0 msg=success value={self.mapping}"
        if command == "barrier_in":
            return self.enter(rank, fields.get("group"))
        if command.endswith("_name"):
            return self.name(command[:-len("_name")], fields)
        return super().answer(rank, fields)

    def enter(self, rank, group):
        members, tag = range(self.size), None
        if group:
            words, tag = group.split(":")
            members = range(self.size) if words == "WORLD" else [int(word) for word in words.split(",")]
            if rank in self.deaf:
                return
        else:
            self.requests[rank]["world"] = self.requests[rank].get("world", 0) + 1
        waiting = self.entered.setdefault(group, set())
        waiting.add(rank)
        if len(waiting) < len(members):
            return
        del self.entered[group]
        self.fences += 1
        for member in members:
            if tag is None:
                self.tell_later(self.slow.get(member, 0), member, "cmd=barrier_out")
            elif member not in self.mute:
                self.tell(member, f"cmd=barrier_out tag={tag}")

    def name(self, what, fields):
        result = {"publish": "publish_result", "lookup": "lookup_result", "unpublish": "unpublish_result"}[what]
        if self.names is None:
            return f"cmd={result} rc=-1 msg=command_not_implemented"
        service = fields["service"]
        if what == "publish":
            if service in self.names:
                return f"cmd={result} rc=1 msg=published_already"
            self.names[service] = fields["port"]
            return f"cmd={result} info=ok rc=0"
        if service not in self.names:
            return f"cmd={result} info=fail rc=1 msg=not_found"
        port = self.names[service]
        if what == "unpublish":
            del self.names[service]
            return f"cmd={result} info=ok rc=0"
        return f"cmd={result} info=ok port={port} rc=0"
