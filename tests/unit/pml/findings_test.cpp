// SPDX-License-Identifier: BSD-3-Clause
// What trials have found: shared by words, kept in a file, refused where it is another machine's.
#include "frameworks/pml/findings.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "frameworks/pml/trials_file.hpp"

namespace starling::pml::test {
namespace {

constexpr Findings::Key kOne{0, true, false, 3}, kOther{3, false, true, 8};
const Findings::Origin kHere{"dynamic", "1.2", "a machine"};

class FindingsFile : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/starling-trials-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder = name;
    path = folder + "/trials";
    findings.keep(kOne, {Large::lend, {700, 0, 900}});
    findings.keep(kOther, {Large{3}, {5, std::uint64_t{1} << 40, 6}});
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string folder, path;
  Findings findings;
};

void expect_both(const Findings& found) {
  ASSERT_TRUE(found.find(kOne) && found.find(kOther));
  EXPECT_EQ(found.find(kOne)->protocol, Large::lend);
  EXPECT_EQ(found.find(kOne)->costs, (std::array<std::uint64_t, 3>{700, 0, 900}));
  EXPECT_EQ(found.find(kOther)->protocol, Large{3});
  EXPECT_EQ(found.find(kOther)->costs, (std::array<std::uint64_t, 3>{5, (1 << 20) - 1, 6})) << "what fits";
  EXPECT_FALSE(found.find({0, true, false, 4}));
}

TEST_F(FindingsFile, outlast_the_job) {
  ASSERT_TRUE(findings.save(path, kHere));
  Findings loaded;
  const auto done = loaded.load(path, kHere);
  ASSERT_TRUE(done) << done.error().text();
  expect_both(loaded);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "nothing is left beside it";
}

TEST_F(FindingsFile, are_not_held_up_by_a_process_of_the_same_pid_on_another_host) {
  // It is writing to the same folder of a shared file system, under whatever name follows from its pid.
  std::filesystem::create_directory(path + "." + std::to_string(::getpid()));
  const auto saved = findings.save(path, kHere);
  ASSERT_TRUE(saved) << saved.error().text();
  Findings loaded;
  ASSERT_TRUE(loaded.load(path, kHere));
  expect_both(loaded);
}

TEST_F(FindingsFile, of_others_are_refused) {
  ASSERT_TRUE(findings.save(path, kHere));
  for (const Findings::Origin& other :
       {Findings::Origin{"static", "1.2", "a machine"}, Findings::Origin{"dynamic", "1.3", "a machine"},
        Findings::Origin{"dynamic", "1.2", "another machine"}}) {
    Findings loaded;
    const auto done = loaded.load(path, other);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Errc::bad_input);
    EXPECT_FALSE(loaded.find(kOne));
  }
  EXPECT_EQ(findings.load(path + "no", kHere).error().code, Errc::not_found);
}

TEST_F(FindingsFile, that_are_damaged_are_refused_with_the_line) {
  for (const char* line : {"144 1 2 3 4", "5 9 2 3 4", "5 1 2 3", "x"}) {
    ASSERT_TRUE(findings.save(path, kHere));
    std::ofstream(path, std::ios::app) << line << '\n';
    Findings loaded;
    const auto done = loaded.load(path, kHere);
    ASSERT_FALSE(done) << line;
    EXPECT_EQ(done.error().where, path + ":7");
    EXPECT_FALSE(loaded.find(kOne)) << "all or nothing";
  }
}

TEST_F(FindingsFile, processes_share_words_and_keep_what_is_there) {
  std::array<std::atomic<std::uint64_t>, Findings::kWords> words{};
  Findings first, second;
  first.share(words);
  first.keep(kOne, {Large::get, {1, 2, 3}});
  findings.share(words);
  EXPECT_EQ(findings.find(kOne)->protocol, Large::get) << "it was found meanwhile";
  second.share(words);
  EXPECT_EQ(second.find(kOne)->protocol, Large::get);
  EXPECT_EQ(second.find(kOther)->protocol, Large{3}) << "what the other had loaded";
  second.share(std::span(words).first(3));
  EXPECT_TRUE(second.find(kOther));
}

TEST_F(FindingsFile, is_written_by_who_has_found_something_and_never_over_anothers) {
  const auto run = [this](const char* pml, bool finds) {
    TrialsFile file(path, {pml, "1", {}}, true);
    if (finds) file.findings().keep(kOne, {Large::get, {1, 2, 3}});
    return file.note();
  };
  EXPECT_EQ(run("dynamic", false), "");
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(run("dynamic", true), "");
  EXPECT_EQ(run("dynamic", true), "trials begin with what " + path + " has (pml_trials_file)");
  const auto before = std::filesystem::last_write_time(path);
  EXPECT_NE(run("static", true).find("pml_trials_file is refused: " + path + ": it has 'pml dynamic' where"),
            std::string::npos);
  EXPECT_EQ(std::filesystem::last_write_time(path), before);
}

}  // namespace
}  // namespace starling::pml::test
