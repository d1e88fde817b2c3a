# SPDX-License-Identifier: BSD-3-Clause
"""Plugins outside the tree, built against an installation of this build alone: each passes its suite and carries a job.

usage: outside_test.py BUILD_FOLDER SOURCE_ROOT CXX STENCIL3D
"""
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

from installation import clean_environment, install, run

BUILD, ROOT, CXX, STENCIL = sys.argv[1:5]
os.umask(0o022)  # plugins that their group can write are refused


class OutsidePlugins(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="starling-outside-")
        cls.addClassCleanup(holder.cleanup)
        cls.scratch = pathlib.Path(holder.name)
        cls.prefix = install(BUILD, cls.scratch)

    def built(self, name, source=None, examples="share/starling/examples"):
        """The folder of the plugin that the sources of an example, or others, make."""
        folder = self.scratch / f"build-{name}"
        environment = clean_environment(self.scratch)
        run("cmake", "-S", source or self.prefix / examples / name, "-B", folder, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_COMPILER={CXX}", environment=environment)
        run("cmake", "--build", folder, "-j2", environment=environment, limit=600)
        return folder

    def project(self, name, commands, **files):
        """The sources of a plugin that is no example."""
        source = self.scratch / name
        source.mkdir()
        (source / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(Outside LANGUAGES CXX)\n"
                                               "set(CMAKE_BUILD_TYPE Release)\nfind_package(Starling REQUIRED)\n" + commands)
        for file, text in files.items():
            (source / f"{file}.cpp").write_text(text)
        return source

    def expect_conforms(self, folder, target):
        done = run("ctest", "--test-dir", folder, "--output-on-failure", environment=clean_environment(self.scratch))
        self.assertRegex(done.stdout, f"conformance/{target} .*Passed")
        self.assertIn("100% tests passed", done.stdout)

    def job(self, plugins, *settings, ranks=4):
        """stencil3d, which checks its result, with these parameters. Its report."""
        given = [word for setting in settings for word in ("--mca", *setting.split("="))]
        done = run(self.prefix / "bin/mpiexec", "-n", ranks, "--mca", "plugin_path", plugins, "--mca", "report", "1", *given,
                   STENCIL, "48", "20", environment=clean_environment(self.scratch))
        return done.stdout + done.stderr

    def test_a_pml_with_a_protocol_of_its_own_conforms_and_carries_stencil3d(self):
        plugins = self.built("pml-plugin")
        self.expect_conforms(plugins, "pml_backwards")
        report = self.job(plugins, "pml=backwards", "pml_eager_limit=1k")
        counts = [int(count) for count in re.findall(r"received backwards: (\d+)", report)]
        self.assertGreater(min(counts, default=0), 0, report)

    def test_the_guides_commands_make_a_pmi_that_conforms_and_carries_a_job(self):
        guide = pathlib.Path(ROOT, "docs/plugin-guide.md").read_text()
        commands = re.search(r"\n((?:    .*\n)+)", guide)[1]
        self.assertIn("start-job", commands)
        work = self.scratch / "guide"
        work.mkdir()
        done = run("bash", "-euc", f"cd {work}\nPREFIX={self.prefix}\n{commands}", limit=600,
                   environment=clean_environment(self.scratch, CXX=CXX))
        self.assertRegex(done.stdout, "conformance/pmi_shareddir .*Passed")
        self.assertIn("rounds over 4 ranks", done.stdout)

    def test_a_btl_conforms_and_carries_stencil3d(self):
        """The sources of btl/shm, which are nobody's but the plugin's, where the installation has no btl/shm."""
        source = self.project("btl", "file(GLOB sources plugins/btl/shm/*.cpp)\n"
                              "starling_add_plugin(btl shm SOURCES ${sources})\n"
                              "target_include_directories(btl_shm PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})\n"
                              "enable_testing()\nstarling_add_conformance_tests(TARGET btl_shm FRAMEWORK btl)\n")
        shutil.copytree(f"{ROOT}/plugins/btl/shm", source / "plugins/btl/shm")
        plugins = self.built("btl-outside", source)
        self.expect_conforms(plugins, "btl_shm")
        own = self.prefix / "lib/starling/btl_shm.so"
        if own.exists():
            own.rename(self.scratch / "put-away.so")
            self.addCleanup((self.scratch / "put-away.so").rename, own)
        else:  # linked in: a file beside libstarling takes its place
            shutil.copy(plugins / "btl_shm.so", own)
            self.addCleanup(own.unlink)
            listed = run(self.prefix / "bin/starling-info", "--components", environment=clean_environment(self.scratch))
            self.assertIn(f"linked in: hidden by {own}", " ".join(listed.stdout.split()))
        report = self.job(plugins, "btl=self,shm")
        self.assertRegex(report, r"node +shm +", report)

    def test_the_network_helper_is_there_to_be_linked(self):
        source = self.project("net", "starling_add_plugin(btl card SOURCES card.cpp LIBS Starling::btl_net)\n",
                              card='#include "frameworks/btl/net/card.hpp"\n'
                                   "std::size_t use() { return starling::btl::net::encode({}).size(); }\n")
        self.assertTrue((self.built("net-built", source) / "btl_card.so").exists())

    def test_a_plugin_with_an_undefined_symbol_does_not_link(self):
        source = self.project("undefined", "starling_add_plugin(btl undefined SOURCES plugin.cpp)\n",
                              plugin="void defined_nowhere();\nvoid use() { defined_nowhere(); }\n")
        with self.assertRaisesRegex(AssertionError, "undefined reference to `defined_nowhere"):
            self.built("undefined-built", source)


unittest.main(argv=sys.argv[:1])
