# SPDX-License-Identifier: BSD-3-Clause
"""A plugin outside the tree: built against an installation, found by a directory parameter, selected, and used by a job.

usage: site_test.py BUILD_FOLDER SOURCE_ROOT CXX [MPI_PROGRAM]

Installs the build into a scratch prefix. Without MPI_PROGRAM the job's processes drive the pmi interface directly.
"""
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

from installation import clean_environment, install, run

BUILD, ROOT, CXX = sys.argv[1:4]
os.umask(0o022)  # plugins that their group can write are refused
MPI_PROGRAM = sys.argv[4] if len(sys.argv) > 4 else ""
OLDER = 'struct Framework {\n  using Component = pmi::Component;'


class SitePlugin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="starling-site-")
        cls.addClassCleanup(holder.cleanup)
        cls.scratch = pathlib.Path(holder.name)
        cls.prefix = install(BUILD, cls.scratch)
        cls.example = cls.prefix / "share/starling/examples/site-plugin"
        cls.build_against(cls.prefix, cls.scratch / "build")
        cls.plugins = cls.scratch / "build/site-plugin"
        cls.drive = cls.scratch / "build/drive"

    @classmethod
    def build_against(cls, prefix, build):
        run("cmake", "-S", f"{ROOT}/tests/plugin/site", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={CXX}",
            "-DCMAKE_BUILD_TYPE=Release", f"-DSITE_PLUGIN={cls.example}", environment=clean_environment(cls.scratch))
        run("cmake", "--build", build)

    def start_job(self, *program, ranks=4, plugins=None, **settings):
        return run(self.example / "start-job", "-n", ranks, "-p", plugins or self.plugins, "-d", self.scratch, *program, check=False,
                   environment=clean_environment(self.scratch, **settings))

    def leftovers(self):
        return [p.name for p in self.scratch.iterdir() if p.name.startswith("starling-job.")]

    def test_a_job_of_4_meets_through_the_directory(self):
        done = self.start_job(self.drive)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(done.stdout.splitlines()),
                         [f"shareddir: rank {r} of 4, local rank {r}" for r in range(4)])
        self.assertEqual(self.leftovers(), [])

    def test_host_names_tell_the_nodes(self):
        done = self.start_job("env", "STARLING_MCA_pmi_shareddir_one_node=0", self.drive, ranks=3)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("shareddir: rank 2 of 3, local rank 2", done.stdout)

    def test_a_missing_process_is_named_after_the_time_out(self):
        done = self.start_job("sh", "-c", f"test $STARLING_MCA_pmi_shareddir_rank = 1 || exec {self.drive}", ranks=2,
                              STARLING_MCA_pmi_shareddir_timeout="1")
        # one_node needs no file of the others, so that only the hosts' exchange can notice.
        self.assertEqual(self.leftovers(), [])
        done = self.start_job("env", "STARLING_MCA_pmi_shareddir_one_node=0", "sh", "-c",
                              f"test $STARLING_MCA_pmi_shareddir_rank = 1 || exec {self.drive}", ranks=2,
                              STARLING_MCA_pmi_shareddir_timeout="1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("pmi/shareddir: waited in vain for rank 1 (file ", done.stderr)

    def test_a_job_name_that_was_used_before_is_refused(self):
        settings = dict(STARLING_MCA_plugin_path=str(self.plugins), STARLING_MCA_pmi="shareddir",
                        STARLING_MCA_pmi_shareddir_dir=str(self.scratch), STARLING_MCA_pmi_shareddir_job="again",
                        STARLING_MCA_pmi_shareddir_rank="0", STARLING_MCA_pmi_shareddir_size="1")
        environment = clean_environment(self.scratch, **settings)
        self.assertEqual(run(self.drive, environment=environment).stderr, "")
        again = run(self.drive, environment=environment, check=False)
        self.assertEqual(again.returncode, 1)
        self.assertIn("a job of this name has been started before", again.stderr)

    def test_what_is_not_set_or_wrong_is_named(self):
        settings = dict(STARLING_MCA_plugin_path=str(self.plugins), STARLING_MCA_pmi="shareddir")
        for added, reason in (({}, "parameter pmi_shareddir_dir is not set"),
                              ({"dir": "here", "job": "j", "rank": "0", "size": "1"}, "'here', expected an absolute path"),
                              ({"dir": "/tmp", "job": "../j", "rank": "0", "size": "1"}, "pmi_shareddir_job is '../j', expected"),
                              ({"dir": "/tmp", "job": "j", "rank": "1", "size": "1"}, "expected below pmi_shareddir_size"),
                              ({"rank": "x"}, "pmi_shareddir_rank = 'x' (environment STARLING_MCA_pmi_shareddir_rank)")):
            environment = clean_environment(self.scratch, **settings,
                                            **{f"STARLING_MCA_pmi_shareddir_{k}": v for k, v in added.items()})
            done = run(self.drive, environment=environment, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(reason, done.stderr)

    def test_starling_info_lists_it(self):
        info = self.prefix / "bin/starling-info"
        environment = clean_environment(self.scratch, STARLING_MCA_plugin_path=str(self.plugins))
        done = run(info, "--parsable", environment=environment)
        self.assertIn("component.pmi.shareddir.summary=processes that meet in a shared directory", done.stdout)
        self.assertIn("parameter.pmi_shareddir_size.owner=pmi/shareddir", done.stdout)
        self.assertIn(f"prefix={self.prefix}\n", done.stdout)

    def test_one_built_against_an_older_interface_is_refused_with_both_numbers(self):
        older = self.scratch / "older"
        shutil.copytree(self.prefix, older, symlinks=True)
        header = older / "include/starling/frameworks/pmi/pmi.hpp"
        text = header.read_text()
        number = int(text.split("kInterface = ")[1].split(";")[0])
        header.write_text(text.replace(f"kInterface = {number};", f"kInterface = {number - 1};"))
        self.build_against(older, self.scratch / "build-older")
        done = self.start_job(self.drive, ranks=1, plugins=self.scratch / "build-older/site-plugin")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"pmi_shareddir.so: descriptor field framework_interface is {number - 1}, expected {number}", done.stderr)

    def test_an_mpi_program_runs_without_a_launcher(self):
        if not MPI_PROGRAM:
            self.skipTest("no MPI program in this build")
        done = self.start_job(MPI_PROGRAM)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


unittest.main(argv=sys.argv[:1])
