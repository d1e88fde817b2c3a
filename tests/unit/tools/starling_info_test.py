# SPDX-License-Identifier: BSD-3-Clause
"""What starling-info prints and how it ends. usage: starling_info_test.py STARLING_INFO HOSTILE_PLUGINS"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

INFO, HOSTILE = sys.argv[1:3]
os.umask(0o022)  # files that their group can write are not read


class StarlingInfo(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="starling-info-")
        self.addCleanup(scratch.cleanup)
        self.home = pathlib.Path(scratch.name)

    def run_info(self, *options, **settings):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STARLING_")}
        environment.pop("XDG_CONFIG_HOME", None)
        environment["HOME"] = str(self.home)
        for name, value in settings.items():
            environment[name if name.startswith("STARLING_") else "STARLING_MCA_" + name] = value
        return subprocess.run([INFO, *options], capture_output=True, text=True, timeout=60, env=environment)

    def facts(self, *options, **settings):
        done = self.run_info("--parsable", *options, **settings)
        return dict(line.split("=", 1) for line in done.stdout.splitlines()), done

    def test_everything_is_printed_without_an_option(self):
        done = self.run_info()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for part in ("Starling ", "components: pmi", "parameters: core", "machine: "):
            self.assertIn(part, done.stdout)

    def test_every_parsable_line_is_a_fact(self):
        done = self.run_info("--parsable")
        self.assertEqual(done.returncode, 0)
        for line in done.stdout.splitlines():
            self.assertRegex(line, r"^[A-Za-z0-9_.]+=")

    def test_a_parameter_has_value_default_origin_and_expectation(self):
        facts, done = self.facts("--param", "log_level", log_level="debug")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(facts["parameter.log_level.value"], "debug")
        self.assertEqual(facts["parameter.log_level.default"], "warning")
        self.assertEqual(facts["parameter.log_level.origin"], "environment STARLING_MCA_log_level")
        self.assertEqual(facts["parameter.log_level.expected"], "one of error|warning|info|debug")
        self.assertFalse(any(not key.startswith("parameter.log_level.") for key in facts))

    def test_the_users_file_is_an_origin_with_a_line(self):
        file = self.home / ".config/starling/params.conf"
        file.parent.mkdir(parents=True)
        file.write_text("# mine\nlog_level = info\n")
        facts, _ = self.facts("--param", "log_level")
        self.assertEqual(facts["parameter.log_level.origin"], f"{file}:2")

    def test_a_refused_value_is_shown_and_ends_in_1(self):
        facts, done = self.facts("--params", mpi_add_procs_cutoff="12xyz")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(facts["parameter.mpi_add_procs_cutoff.value"], "0")
        for text in (facts["parameter.mpi_add_procs_cutoff.problem"], done.stderr):
            self.assertIn("mpi_add_procs_cutoff = '12xyz' (environment STARLING_MCA_mpi_add_procs_cutoff) is not a whole", text)

    def test_an_unknown_name_is_a_warning_and_strictly_an_error(self):
        done = self.run_info("--build", log_levle="info")
        self.assertEqual(done.returncode, 0)
        self.assertIn("unknown parameter 'log_levle' (environment STARLING_MCA_log_levle); did you mean 'log_level'?", done.stderr)
        self.assertEqual(self.run_info("--build", log_levle="info", mca_strict="1").returncode, 1)

    def test_names_of_other_libraries_lead_to_what_exists_here(self):
        facts, _ = self.facts("--params")
        known = {name.split(".")[1] for name in facts if name.startswith("parameter.")}
        for name, use in (("btl_tcp_if_include", "btl_ucx_devices"), ("btl_vader_eager_limit", "pml_eager_limit"),
                          ("btl_vader_backing_directory", "shm_..."), ("pml_ob1_send_length", "pml_eager_limit"),
                          ("pml_ucx_tls", "btl_ucx_tls"), ("mpi_yield_when_idle", "wait_yield_us"),
                          ("coll_tuned_use_dynamic_rules", "coll_rules"), ("orte_base_help_aggregate", "mpiexec --help")):
            with self.subTest(name=name):
                done = self.run_info("--build", **{name: "1"})
                self.assertRegex(done.stderr, f"unknown parameter '{name}' .*another MPI library's; here use .*{re.escape(use)}")
                said = done.stderr.split("here use ")[1]
                for word in re.findall(r"[a-z]+_[a-z_]*[a-z]\b(?!_?\.\.\.)", said):
                    self.assertIn(word, known)

    def test_asking_for_an_unknown_parameter_ends_in_1(self):
        done = self.run_info("--param", "log_levle")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no parameter 'log_levle'; did you mean 'log_level'?", done.stderr)

    def test_a_file_that_does_not_parse_ends_in_1(self):
        file = self.home / "job.conf"
        file.write_text("btl\n")
        done = self.run_info(STARLING_PARAMS_FILE=str(file))
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{file}:1: 'btl' is not understood", done.stderr)

    def test_components_that_cannot_be_used_are_listed_with_the_reason_and_never_run(self):
        site = self.home / "site"
        site.mkdir()
        for name in ("good", "exiting", "blocking"):
            (site / f"shm_{name}.so").write_bytes((pathlib.Path(HOSTILE) / f"shm_{name}.so").read_bytes())
        (site / "shm_text.so").write_text("hello\n")
        facts, done = self.facts("--components", plugin_path=str(site), shm="^good")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(facts["component.shm.text.refusal"],
                         f"{site}/shm_text.so: is not an ELF file: it does not begin with 0x7f 'ELF'")
        self.assertEqual(facts["component.shm.good.admitted"], "0")
        self.assertEqual(facts["component.shm.exiting.summary"], "exits when loaded")

    def test_files_and_folders_that_others_can_write_are_named_with_the_reason(self):
        file = self.home / ".config/starling/params.conf"
        file.parent.mkdir(parents=True)
        file.write_text("log_level = info\n")
        file.chmod(0o664)
        site = self.home / "site"
        site.mkdir()
        plugin = site / "shm_good.so"
        plugin.write_bytes((pathlib.Path(HOSTILE) / "shm_good.so").read_bytes())
        plugin.chmod(0o777)
        facts, done = self.facts("--components", "--params", plugin_path=f"{site}:{self.home}/.config")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(facts["parameter.log_level.origin"], "default")
        self.assertIn(f"warning: the parameter file {file} is not read: it is writable by its group; use `chmod g-w`\n", done.stderr)
        self.assertEqual(facts["component.shm.good.refusal"], f"{plugin}: it is writable by others; use `chmod go-w`")
        self.assertNotIn("parameter.shm_good_width.value", facts)
        site.chmod(0o777)
        _, done = self.facts("--components", plugin_path=str(site))
        self.assertIn(f"warning: plugin directory not searched: {site}: it is writable by others; use `chmod go-w`\n", done.stderr)

    def test_a_parameter_file_of_another_kind_ends_in_1_without_waiting(self):
        fifo = self.home / "fifo"
        os.mkfifo(fifo)
        done = self.run_info(STARLING_PARAMS_FILE=str(fifo))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(f"{fifo} is a FIFO; a parameter file is a plain file", done.stderr)

    def test_a_long_value_is_cut_for_people_and_whole_for_programs(self):
        file = self.home / "job.conf"
        file.write_text("btl_ucx_devices = " + "x" * 1000000 + "\nlog_level = " + "y" * 10000 + "\n")
        done = self.run_info("--params", STARLING_PARAMS_FILE=str(file))
        self.assertIn("... (1000000 characters in all)", " ".join(done.stdout.split()))
        self.assertIn("... (10000 characters in all)' (", done.stderr)
        self.assertLess(max(map(len, (done.stdout + done.stderr).splitlines())), 5000)
        facts, _ = self.facts("--param", "btl_ucx_devices", STARLING_PARAMS_FILE=str(file))
        self.assertEqual(len(facts["parameter.btl_ucx_devices.value"]), 1000000)

    def test_mca_is_taken_as_mpiexec_takes_it(self):
        facts, done = self.facts("--mca", "log_level", "info", "--mca", "btl", "self,shm", "--param", "log_level", "--param", "btl",
                                 log_level="debug")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual((facts["parameter.log_level.value"], facts["parameter.log_level.origin"]), ("info", "mpiexec --mca"))
        self.assertEqual(facts["parameter.btl.value"], "self,shm")
        done = self.run_info("--mca", "self,shm", "btl")
        self.assertEqual(done.returncode, 1)
        self.assertIn("'self,shm' is no parameter name; expected letters, digits and _, as in `--mca btl self,shm`", done.stderr)
        self.assertNotEqual(self.run_info("--mca", "btl").returncode, 0)
        done = self.run_info("first", "second")
        self.assertEqual((done.returncode, "'first' is not understood" in done.stderr), (1, True), done)

    def test_a_plan_without_a_launcher_says_what_it_assumes(self):
        done = self.run_info("--plan")
        self.assertIn("no launcher here; assumed: PMI-1", done.stdout)
        self.assertIn("64 processes on one node", done.stdout)
        self.assertIn("--plan --nodes M --ppn N", done.stdout)
        facts, _ = self.facts("--plan")
        self.assertEqual(facts["plan.64.0"].split(" (")[0], "address exchange: none")
        self.assertEqual(facts["plan.64.1"].split(" (")[0], "waits for all members: yes")
        self.assertEqual(facts["plan.1.1"].split(" (")[0], "waits for all members: no")
        self.assertIn("pmi/pmi1, shm/memfd, shm/posix, btl/self, btl/shm, pml/static", facts["plan.64.loaded"])
        self.assertIn("pmi/singleton, shm/memfd", facts["plan.1.loaded"])

    def test_a_plan_of_several_nodes(self):
        facts, done = self.facts("--nodes", "2", "--ppn", "3", btl="self,shm,ofi")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual({key.split(".")[1] for key in facts}, {"6"})
        self.assertIn("address exchange: over the tree of node roots (addresses are published by ofi", facts["plan.6.0"])
        self.assertIn("btl/self, btl/shm, btl/ofi", facts["plan.6.loaded"])
        facts, _ = self.facts("--plan", "--nodes", "2", btl="self,shm")
        self.assertEqual(facts["plan.2.error"], "btl: btl = 'self,shm' (environment STARLING_MCA_btl): none of its transports "
                                                "reaches a process of another node")
        facts, _ = self.facts("--plan", "--ppn", "2", btl="self")
        self.assertIn("none of its transports reaches another process of the own node", facts["plan.2.error"])
        self.assertNotEqual(self.run_info("--plan", "--nodes", "0").returncode, 0)
        self.assertNotEqual(self.run_info("--plan", "--ppn", "x").returncode, 0)

    def test_coverage_counts_what_it_lists(self):
        facts, done = self.facts("--coverage")
        self.assertEqual(done.returncode, 0)
        functions = {k: v for k, v in facts.items() if k.startswith("coverage.MPI_")}
        self.assertEqual(len(functions), int(facts["coverage.all"]))
        self.assertEqual(sum(map(int, functions.values())), int(facts["coverage.covered"]))
        self.assertEqual(functions["coverage.MPI_Init"], "1")

    def test_version_and_help_are_options(self):
        self.assertRegex(self.run_info("--version").stdout, r"^Starling \d+\.\d+\.\d+\n$")
        self.assertIn("--parsable", self.run_info("--help").stdout)
        self.assertEqual(self.run_info("-V").stdout, self.run_info("--version").stdout)
        self.assertEqual(self.run_info("-h").stdout, self.run_info("--help").stdout)

    def refused(self, *options):
        done = self.run_info(*options)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        return done.stderr

    def test_an_option_that_does_not_exist_is_refused_with_the_nearest(self):
        self.assertEqual(self.refused("--componets"), "starling-info: '--componets' is not understood; did you mean "
                                                      "'--components'? (starling-info --help lists all options)\n")
        for words in (["--nonsense"], ["-parsable"], ["-build"], ["--h"], ["-"], ["--"], [""], ["--build=1"], ["--plan", "x"]):
            self.assertIn("is not understood", self.refused(*words), words)

    def test_values_are_checked_and_counted(self):
        for words in (["--nodes", "0"], ["--ppn=32769"], ["--ppn", "3x"], ["--nodes", "-1"], ["--nodes="]):
            self.assertIn("is not a whole number from 1 to 32768", self.refused(*words), words)
        self.assertIn("--nodes needs M", self.refused("--nodes"))
        self.assertIn("--mca needs NAME VALUE", self.refused("--mca", "btl"))
        self.assertIn("--mca needs NAME VALUE", self.refused("--mca", "btl", "self", "pml"))
        self.assertIn("--parsable takes no value", self.refused("--parsable=1"))

    def test_values_may_follow_each_other_and_an_equals_sign(self):
        facts, done = self.facts("--param", "btl", "log_level", "--param=pml", "--mca", "btl", "self", "pml", "static")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual({key.split(".")[1] for key in facts}, {"btl", "log_level", "pml"})
        self.assertEqual((facts["parameter.btl.value"], facts["parameter.pml.value"]), ("self", "static"))


unittest.main(argv=sys.argv[:1])
