#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of tests/mutate: where code is changed and how, what a change meets, and that nothing is left behind."""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import bounded
import changes
import covering
import explained
import places
import score
import tree

CODE = textwrap.dedent("""\
    #define LESS(a, b) ((a) < (b))
    // if (a < b) in a comment
    namespace n {
    constexpr int kTable[] = {1, 2};
    enum class Word { first = 1 };
    struct Thing {
      int size = 1;
      int half() const { return size / 2; }
    };
    template <class T, int N = 3>
    int f(int a, int b, const T& text) {
      expects(a < 9, "a < 9");
      log::warning("more than " + std::to_string(a + 1));
      /* a > b */ const char* raw = R"(if (x < y))";
      static_assert(N == 3);
      if (a < b && !text.empty()) return 1;
      while (a > 7) --a;
      total += g(a, b);
      text.reserve(4);
      text.clear();
      for (int i = 0; i < 4; ++i) std::vector<int> v(4);
      return std::min(a, b);
    }
    void g() {
      if (const auto* p = find(); p != nullptr) p->go();
    }
    }  // namespace n
    """)


def made(kind, code=CODE):
    """(lines before, lines after) of the changes of one kind."""
    found = [change for change in changes.changes_of("x.cpp", code) if change.kind == kind]
    return [("\n".join(old), "\n".join(new)) for old, new in (change.lines(code) for change in found)]


class Places(unittest.TestCase):
    def test_masked_text_keeps_its_length_and_lines(self):
        mask = places.masked(CODE)
        self.assertEqual([len(line) for line in mask.split("\n")], [len(line) for line in CODE.split("\n")])
        for word in ("LESS", "comment", "than", "x < y"):
            self.assertNotIn(word, mask)

    def test_digit_separators_are_no_characters(self):
        self.assertEqual(places.masked("x = 1'000'000; y = 'a';"), "x = 1'000'000; y = ' ';")

    def test_bodies_are_those_of_functions(self):
        mask = places.masked(CODE)
        heads = [" ".join(head.split()) for head, _, _ in places.bodies(mask)]
        self.assertEqual(heads, ["int half() const", "int f(int a, int b, const T& text)", "void g()"])

    def test_words_to_people_and_assertions_are_left_alone(self):
        for change in changes.changes_of("x.cpp", CODE):
            line = CODE.splitlines()[change.line(CODE) - 1]
            for word in ("expects", "log::", "static_assert", "R\"", "kTable", "Word", "#define"):
                self.assertNotIn(word, line)


class Changes(unittest.TestCase):
    def test_bounds(self):
        self.assertIn(("while (a > 7) --a;", "while (a >= 7) --a;"), made("bound"))
        self.assertEqual(len(made("bound")), 3)

    def test_conditions_without_the_declaration_before_them(self):
        old = "if (const auto* p = find(); p != nullptr) p->go();"
        self.assertIn((old, "if (const auto* p = find();!(p != nullptr)) p->go();"),
                      [(a, b.replace("; !", ";!")) for a, b in made("condition")])
        self.assertIn(("while (a > 7) --a;", "while (false) --a;"), made("condition"))
        self.assertNotIn(("while (a > 7) --a;", "while (true) --a;"), made("condition"))

    def test_statements_that_are_dropped(self):
        dropped = [old for old, _ in made("dropped")]
        self.assertEqual(sorted(dropped), ["if (const auto* p = find(); p != nullptr) p->go();", "text.clear();",
                                           "total += g(a, b);", "while (a > 7) --a;"])

    def test_arguments_numbers_logic_and_returns(self):
        self.assertEqual(made("swapped"), [("total += g(a, b);", "total += g(b, a);")])
        self.assertIn(("return std::min(a, b);", "return std::max(a, b);"), made("extreme"))
        self.assertIn(("int half() const { return size / 2; }", "int half() const { return size / 3; }"), made("number"))
        self.assertIn(("void g() {", "void g() { return;"), made("return"))
        self.assertIn(("int half() const { return size / 2; }", "int half() const { return {}; return size / 2; }"),
                      made("return"))
        self.assertIn("if (a < b || !text.empty()) return 1;", [new for _, new in made("logic")])
        self.assertIn("if (a < b && text.empty()) return 1;", [new for _, new in made("not")])

    def test_no_change_moves_a_line(self):
        for change in changes.changes_of("x.cpp", CODE):
            self.assertEqual(change.applied(CODE).count("\n"), CODE.count("\n"))
            self.assertNotEqual(change.applied(CODE), CODE)

    def test_a_seed_draws_the_same_again_and_everything_once(self):
        found = changes.changes_of("x.cpp", CODE)
        first = list(changes.draw(random.Random("7"), found))
        self.assertEqual(first, list(changes.draw(random.Random("7"), list(reversed(found)))))
        self.assertNotEqual(first, list(changes.draw(random.Random("8"), found)))
        self.assertEqual(len(set(first)), len(found))


class Explanations(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = pathlib.Path(self.folder.name, "explained")

    def test_read_and_stale(self):
        self.file.write_text("# head\n\nx.cpp\n- a < b;\n+ a <= b;\nwhy: they are\n  never equal\n")
        known = explained.read(self.file)
        self.assertEqual(known, {explained.key_of("x.cpp", ["a < b;"], ["a <= b;"]): "they are never equal"})
        self.assertEqual(explained.stale(known, self.folder.name), ["x.cpp: a < b;"])
        pathlib.Path(self.folder.name, "x.cpp").write_text("    a < b;\n")
        self.assertEqual(explained.stale(known, self.folder.name), [])

    def test_a_block_without_a_reason_is_an_error(self):
        for text in ("x.cpp\n- a\n+ b\n", "x.cpp\n- a\nwhy: c\n", "x.cpp\n- a\nb\n"):
            self.file.write_text(text)
            with self.assertRaises(explained.Error):
                explained.read(self.file)

    def test_the_projects_own_file(self):
        explained.read(HERE / "explained")


class Score(unittest.TestCase):
    def test_each_change_counts_once_as_first_seen_and_as_it_is_now(self):
        def entry(line, word, path="mpi/coll/x.cpp"):
            return {"path": path, "old": [line], "new": ["?"], "word": word, "seed": "1", "commit": "c"}

        found = [entry("a", "caught"), entry("b", "SURVIVED"), entry("c", "SURVIVED"), entry("d", "same code"),
                 entry("b", "caught"), entry("e", "SURVIVED", "core/y.cpp")]
        known = {explained.key_of("mpi/coll/x.cpp", ["c"], ["?"]): "why"}
        self.assertEqual(score.text(found, known).splitlines()[-3:],
                         ["folder core 1 0 0 0", "folder mpi/coll 3 1 2 1", "total 4 1 2 1"])


    def test_a_result_is_too_few_where_chance_hardly_explains_it(self):
        self.assertTrue(score.too_few(16, 20, 0.85, 1))
        self.assertFalse(score.too_few(17, 20, 0.85, 1))
        self.assertFalse(score.too_few(13, 20, 0.85, 0.005), "one in 46")
        self.assertTrue(score.too_few(11, 20, 0.85, 0.005), "one in 752")
        self.assertFalse(score.too_few(0, 7, 0.6, 0.001), "so few say nothing")
        self.assertTrue(score.too_few(0, 8, 0.6, 0.001))
        self.assertTrue(score.too_few(1, 12, 0.6, 0.001))
        self.assertFalse(score.too_few(2, 12, 0.6, 0.001))


class Recent(unittest.TestCase):
    HISTORY = ("3\t1\tmpi/a.cpp\n\n9\t0\tmpi/CMakeLists.txt\n-\t-\tmpi/b.hpp\n2\t7\tcore/c.hpp\n"
               "1\t1\tmpi/a.cpp\n8\t0\tmpi/d.cpp\n")

    def test_so_many_commits_count_as_it_takes(self):
        self.assertEqual(tree.newest(self.HISTORY, 1), {"mpi/a.cpp"})
        self.assertEqual(tree.newest(self.HISTORY, 3), {"mpi/a.cpp"})
        self.assertEqual(tree.newest(self.HISTORY, 5), {"mpi/a.cpp", "core/c.hpp"})
        self.assertEqual(tree.newest(self.HISTORY, 7), {"mpi/a.cpp", "core/c.hpp", "mpi/d.cpp"})

    def test_a_short_history_is_taken_whole(self):
        self.assertEqual(tree.newest(self.HISTORY, 1000), {"mpi/a.cpp", "core/c.hpp", "mpi/d.cpp"})
        self.assertEqual(tree.newest("", 10), set())


class Bounded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        bounded.adopt_orphans()

    def test_ends_at_the_limit_with_all_that_was_started(self):
        # A child in a session of its own whose parent is gone.
        code, output, _ = bounded.run(["sh", "-c", "(setsid sleep 60 & echo $!); setsid sleep 60"], 1)
        self.assertIsNone(code)
        self.assertFalse(pathlib.Path("/proc", output.strip()).exists())
        self.assertEqual(bounded.children(), [])

    def test_what_a_command_leaves_running_ends_with_it(self):
        code, output, seconds = bounded.run(["sh", "-c", "setsid sleep 60 & echo $!; exit 3"], 30)
        self.assertEqual(code, 3)
        self.assertFalse(pathlib.Path("/proc", output.strip()).exists())


class Covering(unittest.TestCase):
    def test_each_function_gets_quick_tests_and_special_ones(self):
        entered = {f"wide{i}": {("a.cpp", 1), *(("b.cpp", line) for line in range(50))} for i in range(6)}
        entered["special/np2"] = {("a.cpp", 1), ("a.cpp", 9)}
        entered["special/np4"] = {("a.cpp", 1), ("a.cpp", 9)}
        seconds = {name: 0.1 for name in entered} | {"special/np2": 2.0, "special/np4": 3.0}
        files = covering.choose(entered, seconds)
        self.assertEqual(files["a.cpp"], ["wide0", "wide1", "wide2", "wide3", "special/np2"])
        self.assertEqual(files["b.cpp"], ["wide0", "wide1", "wide2", "wide3"])

    def test_table_is_written_and_read(self):
        table = covering.Table()
        table.seconds, table.files = {"b": 1.5, "a/np2": 0.2}, {"x/y.cpp": ["a/np2", "b"]}
        with tempfile.TemporaryDirectory() as folder:
            table.write(folder + "/table")
            again = covering.Table.read(folder + "/table")
        self.assertEqual((again.seconds, again.files), (table.seconds, table.files))
        self.assertEqual(again.tests("x/y.cpp", {"b"}), (["b"], 1))
        self.assertEqual(again.tests("x/fresh.cpp", {"b", "a/np2"}), (["a/np2", "b"], 0))
        self.assertEqual(again.tests("z/fresh.cpp", {"b", "z_fresh"}), (["z_fresh"], 1))

    def test_functions_that_a_run_entered(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "x.cpp")
            source.write_text("int f() { return 1; }\nint g() { return 2; }\n"
                              "int main(int n, char**) {\n  return n == 9 ? f() : g() - 2;\n}\n")
            subprocess.run(["g++", "-O0", "--coverage", str(source), "-o", "x"], cwd=folder, check=True)
            subprocess.run(["./x"], cwd=folder, check=True)
            notes, counts = next(pathlib.Path(folder).glob("*.gcno")), next(pathlib.Path(folder).glob("*.gcda"))
            known = covering.functions_of(notes, folder)
            entered = {known[ident] for ident in covering.entered_of(counts)}
        self.assertEqual(entered, {("x.cpp", 2), ("x.cpp", 3)})
        self.assertEqual(set(known.values()), {("x.cpp", 1), ("x.cpp", 2), ("x.cpp", 3)})


class Trials(unittest.TestCase):
    """A small project: a library, a program that checks it, and a header."""
    FILES = {
        "CMakeLists.txt": """
            cmake_minimum_required(VERSION 3.25)
            project(small CXX)
            set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
            enable_testing()
            add_library(small SHARED core/small.cpp)
            add_executable(check check.cpp)
            target_link_libraries(check small)
            add_test(NAME check COMMAND check)
            """,
        "CMakePresets.json": """
            {"version": 6, "configurePresets": [{"name": "release", "generator": "Ninja",
             "binaryDir": "${sourceDir}/build/release", "cacheVariables": {"CMAKE_CXX_FLAGS": "-O2"}}]}
            """,
        "core/small.hpp": "int sum(int n);\ninline int twice(int n) { return 2 * n; }\n",
        "core/small.cpp": """
            #include "small.hpp"
            int unseen = 0;
            int sum(int n) {
              int total = 0;
              for (int i = 0; i < n; i = i + 1) total += twice(i);
              unseen = n + 1;
              if (n < 0) total = total + 0;
              return total;
            }
            """,
        "check.cpp": '#include "core/small.hpp"\nint main() { return sum(4) == 12 ? 0 : 1; }\n',
    }

    @classmethod
    def setUpClass(cls):
        bounded.adopt_orphans()
        cls.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.folder.name, "root")
        for name, text in cls.FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(textwrap.dedent(text).lstrip())
        cls.root, cls.tree = root, tree.Tree(root, pathlib.Path(cls.folder.name, "copy"))
        cls.tree.prepare(2, 300)
        cls.tree.open()
        cls.table = covering.Table()
        cls.table.seconds = {"check": 0.1}
        tree.SHORTEST_LIMIT = 3

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def attempt(self, old, new, path="core/small.cpp"):
        text = (self.root / path).read_text()
        first = text.index(old)
        change = changes.Change(path, first, first + len(old), new, "bound")
        outcome = self.tree.attempt(change, ["check"], self.table, 60)
        self.assertEqual((self.tree.place / path).read_text(), text)
        done = subprocess.run(["ninja", "-n", "-C", self.tree.build], capture_output=True, text=True)
        self.assertIn("no work to do", done.stdout)
        self.assertEqual(subprocess.run([self.tree.build / "check"]).returncode, 0)
        self.assertEqual(bounded.children(), [])
        return outcome

    def test_caught(self):
        outcome = self.attempt("i < n", "i <= n")
        self.assertEqual((outcome.word, outcome.by), ("caught", "check"))

    def test_caught_in_a_header(self):
        self.assertEqual(self.attempt("2 * n", "2 + n", "core/small.hpp").word, "caught")

    def test_caught_because_it_hangs(self):
        self.assertEqual(self.attempt("i = i + 1", "i = i + 0, unseen = i").word, "caught")

    def test_survives(self):
        self.assertEqual(self.attempt("unseen = n + 1", "unseen = n + 2").word, "SURVIVED")

    def test_a_files_own_tests_are_asked_for_longer_than_others(self):
        def asked(own, budget):
            names = []
            self.tree._test = lambda name, limit: names.append(name) or (0, 10)
            try:
                self.tree._met(["a", "b", "c", "d"], self.table, budget, own)
            finally:
                del self.tree._test
            return names

        self.assertEqual(asked(set(), 15), ["a", "b"])
        self.assertEqual(asked({"a", "b", "c"}, 15), ["a", "b", "c"])
        self.assertEqual(asked({"a", "b", "c", "d"}, 15), ["a", "b", "c", "d"])
        self.assertEqual(asked({"a", "b", "c", "d"}, 7), ["a", "b", "c"], "three times as long")

    def test_what_does_not_count(self):
        self.assertEqual(self.attempt("total + 0", "total - 0").word, "same code")
        self.assertEqual(self.attempt("total + 0", "total + nothing").word, "does not compile")

    def test_a_test_that_fails_without_the_change_is_not_believed(self):
        """It is not asked again either; the others are."""
        (self.tree.build / "CTestTestfile.cmake").write_text(
            'add_test(check "false")\n'
            f'add_test(other "{self.tree.build}/check")\n')
        try:
            self.tree.open()
            end = len((self.root / "core/small.cpp").read_text())
            change = changes.Change("core/small.cpp", end, end, "int more = 1;\n", "bound")
            outcome = self.tree.attempt(change, ["check"], self.table, 60)
            self.assertEqual((outcome.word, outcome.unsteady), ("unsteady test", ("check",)))
            at = (self.root / "core/small.cpp").read_text().index("i < n")
            change = changes.Change("core/small.cpp", at, at + 5, "i <= n", "bound")
            for unsteady in (("check",), ()):
                self.tree.unsteady.difference_update(unsteady)
                outcome = self.tree.attempt(change, ["check", "other"], self.table, 60)
                self.assertEqual((outcome.word, outcome.by, outcome.unsteady), ("caught", "other", unsteady))
        finally:
            (self.tree.build / "CMakeCache.txt").touch()
            subprocess.run(["cmake", "--preset", "release"], cwd=self.tree.place, check=True, capture_output=True)
            self.tree.prepare(2, 300)
            self.tree.open()

    def test_a_copy_that_stands_in_for_the_original(self):
        """In a process of its own, since it sees the copy from then on."""
        plain = tree.Tree(self.root, self.root)
        plain.prepare(2, 300)
        built = (plain.build / "lib/libsmall.so").read_bytes()
        child = os.fork()
        if child == 0:
            os._exit(self.in_place_of_the_original())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 77:
            self.skipTest("this user may not mount")
        self.assertEqual(code, 0)
        self.assertEqual((self.root / "core/small.cpp").read_text(), self.text)
        self.assertEqual((plain.build / "lib/libsmall.so").read_bytes(), built)

    text = textwrap.dedent(FILES["core/small.cpp"]).lstrip()

    def in_place_of_the_original(self):
        if not bounded.private_shared_memory():
            return 77
        bounded.adopt_orphans()
        other = tree.Tree(self.root, pathlib.Path(self.folder.name, "other"))
        if not other.stand_in():
            return 77
        if "no work to do" not in subprocess.run(["ninja", "-C", other.build], capture_output=True, text=True).stdout:
            return 3  # the copy is to be as good as the original
        (self.root / "core/small.cpp").write_text(self.text.replace("i < n", "i <= n"))
        other.prepare(2, 300)
        wrong = subprocess.run([self.root / "build/release/check"]).returncode
        (self.root / "core/small.cpp").write_text(self.text)
        other.prepare(2, 300)
        other.open()
        at = self.text.index("i < n")
        change = changes.Change("core/small.cpp", at, at + 5, "i <= n", "bound")
        return 0 if wrong == 1 and other.attempt(change, ["check"], self.table, 60).word == "caught" else 2

    def test_a_change_that_was_interrupted_is_built_away(self):
        source = self.tree.place / "core/small.cpp"
        source.write_text(source.read_text().replace("i < n", "i <= n"))
        subprocess.run(["ninja", "-C", self.tree.build], check=True, capture_output=True)
        self.assertNotEqual(subprocess.run([self.tree.build / "check"]).returncode, 0)
        (self.tree.place / "stray.txt").touch()
        self.tree.prepare(2, 300)
        self.assertEqual(subprocess.run([self.tree.build / "check"]).returncode, 0)
        self.assertFalse((self.tree.place / "stray.txt").exists())
        self.tree.open()


if __name__ == "__main__":
    unittest.main()
