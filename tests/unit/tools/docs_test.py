# SPDX-License-Identifier: BSD-3-Clause
"""Pages that follow from the code are held against it: parameters, manual pages.

usage: docs_test.py SOURCE_ROOT BIN_FOLDER
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, BIN = (pathlib.Path(argument) for argument in sys.argv[1:3])
MAN = ROOT / "docs/man"


def output_of(*command):
    """What a program prints where nobody has set anything."""
    with tempfile.TemporaryDirectory(prefix="starling-docs-") as home:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STARLING_")}
        environment.update(HOME=home, XDG_CONFIG_HOME=home)
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60,
                              env=environment, check=True)
        return done.stdout


def options_in(text):
    """The options a text names, without dashes: -n, --timeout, -showme:compile."""
    return {found.lstrip("-") for found in re.findall(r"(?<![\w-])--?[A-Za-z][\w:-]*", text)}


def man_text(page):
    """The page without roff's markup for dashes and fonts."""
    text = (MAN / page).read_text()
    text = "\n".join(line for line in text.splitlines() if not line.startswith('.\\"'))
    return re.sub(r'^\.\w+ |\\f.|"', " ", text.replace("\\-", "-"), flags=re.MULTILINE)


# A value for each placeholder of the table of options, and where one option needs another.
VALUES = {"N": "1", "K": "1", "LIST": "localhost", "NAME": "A", "VALUE": "1", "NAME[=VALUE]": "A=1", "DIR": "/", "SECONDS": "60",
          "N:UNIT": "1:core", "WHICH": "0", "PATTERN": "/dev/null"}
VALUES_OF = {"launcher": "local", "bind-to": "core", "map-by": "slot", "rank-by": "slot", "output": "tag", "display": "map",
             "with-ft": "ulfm", "pmi": "pmi", "mca": ("log_level", "error"), "gmca": ("log_level", "error")}


def table_of_options():
    """(names, placeholders, taken, note) of each row in the user guide."""
    rows = re.findall(r"^\| (`-.*?) \| (taken|no effect|refused) \| (.*) \|$", (ROOT / "docs/user-guide.md").read_text(), re.M)
    return [([name[2:-1] for name in re.findall(r"`-[\w-]+`", options)], re.sub(r"`.*`", "", options).split(), what, note)
            for options, what, note in rows]


class MpiexecOptions(unittest.TestCase):
    """The guide's table of options, row by row."""

    def try_option(self, name, placeholders):
        with tempfile.TemporaryDirectory(prefix="starling-docs-") as folder:
            files = {"configfile": "-n 1 true\n", "app": "-n 1 true\n"}
            path = pathlib.Path(folder) / "file"
            hosts = name in ("f", "hostfile", "machinefile", "default-hostfile")
            path.write_text(files.get(name, "localhost\n" if hosts else ""))
            values = VALUES_OF.get(name, [str(path) if each == "FILE" else VALUES.get(each, "x") for each in placeholders])
            values = [values] if isinstance(values, str) else values
            program = [] if name in files else ["-n", "1", "true"]
            return subprocess.run([str(BIN / "mpiexec"), f"-{name}", *values, *program], capture_output=True, text=True,
                                  timeout=60, stdin=subprocess.DEVNULL)

    def test_each_option_does_what_its_row_says(self):
        rows = table_of_options()
        self.assertGreater(len(rows), 80)
        for names, placeholders, what, note in rows:
            for name in names:
                with self.subTest(option=name):
                    done = self.try_option(name, placeholders)
                    self.assertEqual(done.returncode, 2 if what == "refused" else 0, done.stderr)
                    if what == "refused":
                        self.assertEqual(done.stderr, f"mpiexec: option -{name} is not there; {note}\n")
                    elif what == "no effect":
                        self.assertEqual(done.stdout + done.stderr, "")

    def test_all_options_of_mpiexec_are_in_the_table(self):
        named = {name for names, _, what, _ in table_of_options() for name in names if what != "refused"}
        self.assertEqual(options_in(output_of(BIN / "mpiexec", "--help").split("\n\nVariables")[0]) - named, set())

    def test_all_options_of_the_peers_are_in_the_table(self):
        named = {name for names, *_ in table_of_options() for name in names}
        for command, row in ((("mpiexec.mpich", "--help"), r"^    (-\S+)"),
                             (("mpirun.openmpi", "--allow-run-as-root", "--help", "full"), r"^ {0,3}(-\S+)")):
            if not shutil.which(command[0]):
                continue
            text = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
            theirs = {name.lstrip("-") for found in re.findall(row, text, re.M) for name in re.split(r"[|/]", found)}
            self.assertGreater(len(theirs), 30, command)
            self.assertEqual(theirs - named, set(), command)


class Pages(unittest.TestCase):
    maxDiff = 2000

    def test_the_parameters_page_is_what_starling_info_writes(self):
        written = output_of(BIN / "starling-info", "--params-page")
        self.assertEqual((ROOT / "docs/parameters.md").read_text(), written,
                         "run: starling-info --params-page > docs/parameters.md")

    def test_files_that_pages_name_exist(self):
        named = re.compile(r"\b(?:core|params|frameworks|plugins|mpi|tools|tests|bench|examples|include|cmake|docs)"
                           r"/[\w/.-]+\.(?:hpp|cpp|py|md|c|h|csv|cmake)\b")
        generated = re.compile(r"mpi/entries/|\.gen\.hpp$")
        pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("[a-z]*/**/README.md")]
        found = {(str(page.relative_to(ROOT)), name) for page in pages if "build" not in page.relative_to(ROOT).parts[:1]
                 for name in named.findall(page.read_text())}
        self.assertGreater(len(found), 100)
        self.assertEqual([(page, name) for page, name in sorted(found)
                          if not generated.search(name) and not (ROOT / name).exists()], [])

    def check_page(self, page, command, not_in_help=()):
        offered = options_in(output_of(*command))
        described = options_in(man_text(page))
        self.assertGreater(len(offered), 5)
        self.assertEqual(offered - described, set(), f"options that {page} lacks")
        self.assertEqual(described - offered - set(not_in_help), set(), f"{page} has what does not exist")

    def test_mpiexec_options_are_in_its_page(self):
        self.check_page("mpiexec.1", [BIN / "mpiexec", "--help"])

    def test_starling_info_options_are_in_its_page(self):
        self.check_page("starling-info.1", [BIN / "starling-info", "--help"])

    def test_wrapper_options_are_in_their_page(self):
        self.check_page("mpicc.1", [BIN / "mpicc", "-showme:help"],
                        {"showme:help", "cxx", "fc", "c", "E", "S", "DSTARLING_STANDARD_NAMES_ONLY"})

    def test_pages_format_without_a_warning(self):
        if not shutil.which("groff"):
            self.skipTest("no groff here")
        for page in sorted(MAN.glob("*.1")):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", str(page)], capture_output=True,
                                  text=True, timeout=60, check=True)
            self.assertEqual(done.stderr, "")


unittest.main(argv=sys.argv[:1])
