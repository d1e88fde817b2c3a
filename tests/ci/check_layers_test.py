#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each rule of .ci/check-layers, on a small tree that keeps it and on one that breaks it."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / ".ci/check-layers"
sys.path.insert(0, str(CHECK.parent))
sys.dont_write_bytecode = True
from layers import form  # noqa: E402

LICENCE = "// SPDX-License-Identifier: BSD-3-Clause\n"
HEADER = LICENCE + "#pragma once\n"
GOOD = {
    "core/low.hpp": HEADER + "int low();\n",
    "core/plugin/deep.hpp": HEADER + '#include "core/low.hpp"\n',
    "params/value.hpp": HEADER + '#include "core/low.hpp"\n',
    "frameworks/shm/memory.hpp": HEADER + '#include "params/value.hpp"\n',
    "frameworks/btl/btl.hpp": HEADER + '#include "frameworks/shm/memory.hpp"\n',
    "frameworks/peer/peers.hpp": HEADER + '#include "frameworks/btl/btl.hpp"\n',
    "frameworks/pml/pml.hpp": HEADER + '#include "frameworks/peer/peers.hpp"\n',
    "mpi/process/lock.hpp": HEADER + '#include "core/low.hpp"\n',
    "mpi/comm/comm.hpp": HEADER + '#include "mpi/process/lock.hpp"\n',
    "mpi/api/send.cpp": LICENCE + '#include "mpi/comm/comm.hpp"\n\nint low() { return 1; }\n',
    "plugins/btl/one/one.hpp": HEADER + '#include "frameworks/btl/btl.hpp"\n',
    "plugins/btl/two/two.hpp": HEADER,
    "tools/tool.cpp": LICENCE + '#include "mpi/comm/comm.hpp"\n',
}


def function(lines):
    return LICENCE + "\nint low() {\n" + "  (void)0;\n" * (lines - 3) + "  return 1;\n}\n"


class Rules(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="check-layers-"))
        self.addCleanup(shutil.rmtree, self.root)
        subprocess.run(["git", "init", "-q", self.root], check=True)
        shutil.copy(CHECK.parents[1] / ".clang-format", self.root)
        for name, text in GOOD.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def include(self, name, target):
        """Adds an include where the others are, so that nothing else changes."""
        text = GOOD.get(name, HEADER)
        head = HEADER if text.startswith(HEADER) else LICENCE
        self.write(name, head + f'#include "{target}"\n' + text[len(head):])

    def look(self):
        done = subprocess.run([sys.executable, "-B", CHECK, "--root", self.root], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 1 if " 0 problems" not in done.stdout else 0)
        return done.stdout

    def refused(self, *words):
        out = self.look()
        self.assertNotIn(" 0 problems", out)
        for word in words:
            self.assertIn(word, out)

    def test_keeps_the_rules(self):
        out = self.look()
        self.assertIn(" 0 problems", out)
        self.assertIn("2 arrows, all down", out)

    def test_floors(self):
        for name, target in (("core/low.hpp", "params/value.hpp"), ("frameworks/shm/memory.hpp", "mpi/comm/comm.hpp"),
                             ("plugins/btl/two/two.hpp", "mpi/comm/comm.hpp"), ("mpi/comm/comm.hpp", "plugins/btl/two/two.hpp")):
            with self.subTest(name):
                self.setUp()
                self.include(name, target)
                self.refused(f'{name}:3: #include "{target}"', "which is not below it")

    def test_frameworks(self):
        for name, target, uses in (("frameworks/shm/memory.hpp", "frameworks/btl/btl.hpp", "shm, not btl"),
                                   ("frameworks/peer/peers.hpp", "frameworks/pml/pml.hpp", "btl, peer, not pml"),
                                   ("frameworks/btl/btl.hpp", "frameworks/peer/peers.hpp", "btl, shm, not peer"),
                                   ("plugins/btl/one/one.hpp", "frameworks/peer/peers.hpp", "btl, shm, not peer")):
            with self.subTest(name):
                self.setUp()
                self.include(name, target)
                self.refused(f"this file may use the frameworks {uses}")

    def test_floors_above_the_others(self):
        for name, target in (("fortran/pool.hpp", "core/low.hpp"), ("fortran/pool.hpp", "mpi/comm/comm.hpp"),
                             ("mpi/comm/comm.hpp", "fortran/pool.hpp"), ("tools/tool.cpp", "plugins/btl/two/two.hpp"),
                             ("tools/tool.cpp", "fortran/pool.hpp"), ("mpi/comm/comm.hpp", "tools/tool.hpp"),
                             ("plugins/btl/two/two.hpp", "tools/tool.hpp")):
            with self.subTest(f"{name} {target}"):
                self.setUp()
                self.write("fortran/pool.hpp", HEADER)
                self.write("tools/tool.hpp", HEADER)
                self.assertIn(" 0 problems", self.look())
                self.include(name, target)
                self.refused(f'#include "{target}"', f"{name.split('/')[0]}/ includes {target.split('/')[0]}/, which is not below it")

    def test_frameworks_that_others_use(self):
        added = {"frameworks/pmi/pmi.hpp": "frameworks/shm/memory.hpp", "frameworks/bootstrap/bootstrap.hpp": "frameworks/peer/peers.hpp",
                 "frameworks/pml/pml.hpp": "frameworks/pmi/pmi.hpp"}
        allowed = {"frameworks/bootstrap/bootstrap.hpp": ("frameworks/pmi/pmi.hpp", "frameworks/shm/memory.hpp", "frameworks/btl/btl.hpp"),
                   "frameworks/pml/pml.hpp": ("frameworks/peer/peers.hpp", "frameworks/btl/btl.hpp", "frameworks/shm/memory.hpp")}
        uses = {"frameworks/pmi/pmi.hpp": "pmi, not shm", "frameworks/bootstrap/bootstrap.hpp": "bootstrap, btl, pmi, shm, not peer",
                "frameworks/pml/pml.hpp": "btl, peer, pml, shm, not pmi"}
        for name, target in added.items():
            with self.subTest(name):
                self.setUp()
                for other in added:
                    self.write(other, GOOD.get(other, HEADER))
                self.write(name, HEADER + "".join(f'#include "{one}"\n' for one in sorted(allowed.get(name, ()))))
                self.assertIn(" 0 problems", self.look())
                self.write(name, HEADER + f'#include "{target}"\n')
                self.refused(f"this file may use the frameworks {uses[name]}")

    def test_circle_inside_mpi(self):
        self.write("mpi/comm/part/deep.hpp", HEADER + '#include "mpi/comm/comm.hpp"\n')
        self.assertIn(" 0 problems", self.look())
        self.include("mpi/comm/comm.hpp", "mpi/comm/part/deep.hpp")
        self.refused("folders include each other in a circle: mpi/comm -> mpi/comm/part -> mpi/comm")

    def test_include_by_a_detour(self):
        for target in ("core/../mpi/comm/comm.hpp", "core/plugin/../low.hpp", "core/./low.hpp", "core//low.hpp"):
            for begin, end in ('""', "<>"):
                with self.subTest(begin + target):
                    self.write("core/other.cpp", LICENCE + f"#include {begin}{target}{end}\n")
                    self.refused("core/other.cpp:2", "write the path from the top")

    def test_plugins(self):
        self.include("plugins/btl/one/one.hpp", "plugins/btl/two/two.hpp")
        self.refused("a plugin includes another plugin")

    def test_order_of_mpi(self):
        self.include("mpi/process/lock.hpp", "mpi/comm/comm.hpp")
        self.refused("mpi/process/lock.hpp:3", "mpi/process includes mpi/comm, which is above it")

    def test_folder_of_mpi_without_a_place(self):
        self.write("mpi/elsewhere/new.hpp", HEADER + '#include "mpi/process/lock.hpp"\n')
        self.refused("mpi/elsewhere/ has no place")

    def test_circle_of_folders(self):
        self.include("core/low.hpp", "core/plugin/deep.hpp")
        self.refused("folders include each other in a circle: core -> core/plugin -> core")

    def test_graph(self):
        done = subprocess.run([sys.executable, "-B", CHECK, "--no-headers", "--graph", "--root", self.root], capture_output=True, text=True)
        graph = [line for line in done.stdout.splitlines() if line.startswith("mpi/") and "arrows" not in line]
        self.assertEqual([line for line in graph if "->" in line], ["mpi/comm -> process", "mpi/api -> comm"])
        self.assertLess(graph.index("mpi/process"), graph.index("mpi/comm -> process"), "from the bottom to the top")

    def test_relative_include(self):
        for target in ("low.hpp", "../core/low.hpp", "./low.hpp"):
            with self.subTest(target):
                self.write("core/other.hpp", HEADER + f'#include "{target}"\n')
                self.refused("core/other.hpp:3", "write the path from the top")

    def test_header_alone(self):
        self.write("core/other.hpp", HEADER + "inline std::size_t none = 0;\n")
        self.refused("core/other.hpp: does not compile alone")

    def test_header_that_its_source_includes_first_is_left_to_the_build(self):
        self.write("core/other.hpp", HEADER + "inline std::size_t none = 0;\n")
        self.write("core/other.cpp", LICENCE + '\n#include <cstddef>\n\n#include "core/other.hpp"\n')
        self.refused("core/other.hpp: does not compile alone")
        self.write("core/other.cpp", LICENCE + '\n#include "core/other.hpp"\n')
        out = self.look()
        self.assertIn(" 0 problems", out)
        self.assertIn("(2 of them first in a source", out)

    def test_licence(self):
        for name in ("core/low.cpp", "tests/one.py", "core/CMakeLists.txt"):
            with self.subTest(name):
                self.write(name, "\n")
                self.refused(f"{name}: has no licence line")

    def test_columns(self):
        text = "int x;  // " + "x" * 99
        self.write("core/low.cpp", LICENCE + text + "\n")
        self.assertIn(" 0 problems", self.look())
        self.write("core/low.cpp", LICENCE + text + "x\n")
        self.refused("core/low.cpp:2: 111 columns, at most 110")

    def test_length_of_a_file(self):
        self.write("core/low.cpp", LICENCE + "//\n" * 799)
        self.assertIn(" 0 problems", self.look())
        self.write("core/low.cpp", LICENCE + "//\n" * 800)
        self.refused("core/low.cpp: has 801 lines, at most 800")
        self.write(".ci/long-files", "core/low.cpp: a table\n")
        self.assertIn(" 0 problems", self.look())
        self.write(".ci/long-files", "core/low.cpp:\n")
        self.refused("is no line `path of a file: reason`")

    def test_length_of_a_function(self):
        self.write("core/low.cpp", function(60))
        self.assertIn(" 0 problems", self.look())
        self.write("core/low.cpp", function(61))
        self.refused("core/low.cpp:3: low has 61 lines, at most 60")

    def test_length_of_a_method(self):
        body = "    (void)0;\n" * 60
        self.write("core/low.cpp", LICENCE + 'namespace a {\nclass B {\n  /* } */ int c() const {\n' + body + "    return '{';\n  }\n};\n}  // namespace a\n")
        self.refused("core/low.cpp:4: c has 63 lines")

    def test_names_of_functions(self):
        code = LICENCE + '\n#include "mpi/comm/comm.hpp"\n\n{}\nconst char* text =\n    "dest is wrong"\n    "MPI_Send";\n'
        for literal in ('"MPI_Win_post has been called already"', '"MPI_Init has not been called"', '"expected MPI_Init"', '"MPI_ERR_ARG"'):
            with self.subTest(literal):
                self.write("mpi/api/send.cpp", code.format(f"const char* what = {literal};  // \"MPI_Send\""))
                self.assertIn(" 0 problems", self.look())
        for literal in ('"MPI_Win_lock"', '"MPI_Win_lock of "', '"MPI_Win_lock: no target"', '"MPI_Win_lock has waited"'):
            with self.subTest(literal):
                self.write("mpi/api/send.cpp", code.format(f"const char* what = {literal};"))
                self.refused('mpi/api/send.cpp:5: "MPI_Win_lock" by hand: write names::Win_lock', " 1 problems")
        self.write("mpi/api/send.cpp", GOOD["mpi/api/send.cpp"])
        self.write("tools/tool.cpp", GOOD["tools/tool.cpp"] + '\nconst char* what = "MPI_Send";\n')
        self.assertIn(" 0 problems", self.look())

    def test_length_of_a_function_with_braces_in_its_head(self):
        lines = "  (void)0;\n" * 60
        for head in ("A::A() : a_{1} {", "A::A(int a) noexcept\n    : a_{a}, b_(2), c_{f(a)} {", "A::A() : B<int>{1} {",
                     "A::A() : a_{[] { return 1; }()} {", "int f(S s = {}) {", "int f(S s = {1, {2}}, int b = 3) const {",
                     "A::A(S s = {}) : a_{s} {", "template <class T>\nint f(T t = T{}) noexcept(noexcept(T{})) {"):
            with self.subTest(head):
                before = head.count("\n") + 2
                self.write("core/low.cpp", LICENCE + f"{head}\n{lines}}}\n")
                self.assertIn(f"core/low.cpp:{before}: ", self.look())
                self.assertIn(" has 62 lines, at most 60", self.look())
                self.write("core/low.cpp", LICENCE + f"{head}\n}}\nint g() {{\n{lines}}}\n")
                self.assertIn("g has 62 lines", self.look())
        self.write("core/low.cpp", LICENCE + f"class A {{\n  MACRO(a)\n public:\n  int f() const {{\n{lines}  }}\n}};\n")
        self.assertIn(" has 62 lines", self.look())

    def test_layout(self):
        if form.formatter() is None:
            self.skipTest("no clang-format 14")
        self.write("core/low.cpp", LICENCE + "int  low() { return 1; }\n")
        self.refused("core/low.cpp:2: is laid out otherwise by clang-format")


unittest.main()
