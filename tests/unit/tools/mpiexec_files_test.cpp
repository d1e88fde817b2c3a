// SPDX-License-Identifier: BSD-3-Clause
// tools/mpiexec: files that the command line names: programs, and options in a file. Layer: tests.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tools/mpiexec/options.hpp"
#include "tools/mpiexec/spawn.hpp"

namespace starling::mpiexec {
namespace {

class MpiexecFiles : public testing::Test {
 protected:
  MpiexecFiles() {
    std::string pattern = testing::TempDir() + "/mpiexec-files-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  ~MpiexecFiles() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) {
    const std::string path = folder_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }

  std::string folder_;
};

TEST_F(MpiexecFiles, a_last_line_that_goes_on_is_a_line) {
  const auto words = read_config_file(write("jobs", "-n 1 a\n-n 2 \\\n b \\\n"));
  ASSERT_TRUE(words) << words.error().text();
  EXPECT_EQ(*words, (std::vector<std::string>{"-n", "1", "a", ":", "-n", "2", "b"}));
  const auto only = read_config_file(write("only", "c \\"));
  ASSERT_TRUE(only) << only.error().text();
  EXPECT_EQ(*only, (std::vector<std::string>{"c"}));
}

TEST_F(MpiexecFiles, a_program_is_looked_for_where_it_will_run) {
  write("bin/program", "#!/bin/sh\n", 0700);
  for (const char* const search_path : {"bin", "nowhere:./bin", "/nowhere:bin"}) {
    const auto found = find_program("program", search_path, folder_);
    ASSERT_TRUE(found) << search_path << ": " << found.error().text();
    EXPECT_TRUE(found->ends_with("bin/program") && !found->starts_with("/")) << *found;
    EXPECT_FALSE(find_program("program", search_path, "")) << search_path;
  }
  EXPECT_TRUE(find_program("program", folder_ + "/bin", "/"));
  EXPECT_TRUE(find_program("bin/program", "", folder_));
  const auto missing = find_program("program", "/nowhere", folder_ + "/bin");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().detail.find("write ./program"), std::string::npos) << missing.error().detail;
}

}  // namespace
}  // namespace starling::mpiexec
