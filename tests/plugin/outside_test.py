# SPDX-License-Identifier: BSD-3-Clause
"""Plugins outside the tree, built against an installation of this build alone: each carries a job.

usage: outside_test.py BUILD_FOLDER CXX STENCIL3D
"""
import os
import pathlib
import re
import sys
import tempfile
import unittest

from installation import clean_environment, install, run

BUILD, CXX, STENCIL = sys.argv[1:4]
os.umask(0o022)  # plugins that their group can write are refused


class OutsidePlugins(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="starling-outside-")
        cls.addClassCleanup(holder.cleanup)
        cls.scratch = pathlib.Path(holder.name)
        cls.prefix = install(BUILD, cls.scratch)

    def built(self, example, source=None):
        """The folder of that example's plugin."""
        folder = self.scratch / example
        source = source or self.prefix / "share/starling/examples" / example
        environment = clean_environment(self.scratch)
        run("cmake", "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={CXX}",
            environment=environment)
        run("cmake", "--build", folder, "-j2", environment=environment, limit=600)
        return folder

    def job(self, plugins, *settings, ranks=4):
        """stencil3d, which checks its result, with these parameters. Its report."""
        given = [word for setting in settings for word in ("--mca", *setting.split("="))]
        done = run(self.prefix / "bin/mpiexec", "-n", ranks, "--mca", "plugin_path", plugins, "--mca", "report", "1", *given,
                   STENCIL, "48", "20", environment=clean_environment(self.scratch))
        return done.stdout + done.stderr

    def test_a_pml_with_a_protocol_of_its_own_carries_stencil3d(self):
        plugins = self.built("pml-plugin")
        report = self.job(plugins, "pml=backwards", "pml_eager_limit=1k")
        counts = [int(count) for count in re.findall(r"received backwards: (\d+)", report)]
        self.assertGreater(min(counts, default=0), 0, report)

    def test_a_plugin_with_an_undefined_symbol_does_not_link(self):
        source = self.scratch / "undefined"
        source.mkdir()
        (source / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(Undefined LANGUAGES CXX)\n"
                                               "find_package(Starling REQUIRED)\n"
                                               "starling_add_plugin(btl undefined SOURCES plugin.cpp)\n")
        (source / "plugin.cpp").write_text("void defined_nowhere();\nvoid use() { defined_nowhere(); }\n")
        with self.assertRaisesRegex(AssertionError, "undefined reference to `defined_nowhere"):
            self.built("undefined-built", source)


unittest.main(argv=sys.argv[:1])
