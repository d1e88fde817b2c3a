# SPDX-License-Identifier: BSD-3-Clause
"""What of a build folder depends on a source file: read from build.ninja and from ninja's own record of headers."""
import os
import pathlib
import re
import subprocess


class Graph:
    def __init__(self, source, build):
        self.source, self.build = pathlib.Path(source), pathlib.Path(build)
        self.users = {}       # object or archive -> what is linked from it
        self.objects = {}     # source file -> objects that are compiled from it or include it
        self._read_edges()
        self._read_headers()

    def _read_edges(self):
        text = (self.build / "build.ninja").read_text().replace("$\n", "")
        for found in re.finditer(r"^build ([^:\n]+): (\w+)([^\n]*)$", text, re.M):
            outputs, rule, inputs = found.groups()
            output, inputs = outputs.split()[0], re.split(r" \|\|? ", inputs + " | ")[0].split()
            if "_COMPILER__" in rule:
                self._compiled(inputs[0], output)
            elif "_LINKER__" in rule:
                for item in inputs + [word for word in self._archives(text, found.end())]:
                    self.users.setdefault(item, set()).add(output)

    @staticmethod
    def _archives(text, at):
        """The archives among LINK_LIBRARIES of the edge that ends at `at`."""
        end = text.find("\n\n", at)
        found = re.search(r"^  LINK_LIBRARIES = (.*)$", text[at:end], re.M)
        return [word for word in found.group(1).split() if word.endswith(".a") and word[0] != "/"] if found else []

    def _compiled(self, source, output):
        path = os.path.relpath(source, self.source)
        if not path.startswith(".."):
            self.objects.setdefault(path, set()).add(output)

    def _read_headers(self):
        shown = subprocess.run(["ninja", "-C", str(self.build), "-t", "deps"], check=True, capture_output=True,
                               text=True).stdout
        output, prefix = None, str(self.source) + "/"
        for line in shown.splitlines():
            if line.startswith("    "):
                path = os.path.normpath(os.path.join(self.build, line.strip()))
                if path.startswith(prefix) and output:
                    self.objects.setdefault(path[len(prefix):], set()).add(output)
            else:
                output = line.partition(": #deps")[0] if ": #deps" in line else None

    def affected(self, path, programs):
        """(objects, archives, linked files) that change with a source file: all libraries and tools, and of the
        tests' programs those asked for."""
        needed, archives, linked = set(), set(), set()
        for item in self.objects.get(path, ()):
            for chain in self._chains(item):
                final = chain[-1]
                if final.startswith(("lib/", "bin/")) or final in programs:
                    needed.add(item)
                    archives.update(chain[:-1])
                    linked.add(final)
        return sorted(needed), sorted(archives), sorted(linked)

    def _chains(self, item):
        for user in self.users.get(item, ()):
            if user.endswith(".a"):
                for chain in self._chains(user):
                    yield [user, *chain]
            else:
                yield [user]
