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

TEST_F(MpiexecFiles, slots_in_a_host_file) {
  const auto hosts = read_host_file(
      write("hosts",
            "# all ways\na\nb:3 # three\n\n c slots=2\nd cpu=2\ne count = 4\nf cpus =5\ng max-slots= 6\n"
            "h slots=2 max_slots=3\r\nroot@i\t slots\t=\t7 \nfe80::1\nj:2 max-slots=4\n"));
  ASSERT_TRUE(hosts) << hosts.error().text();
  EXPECT_EQ(*hosts, (std::vector<std::string>{"a", "b:3", "c:2", "d:2", "e:4", "f:5", "g:6", "h:2",
                                              "root@i:7", "fe80::1", "j:2"}));
}

TEST_F(MpiexecFiles, a_host_line_that_is_not_understood_is_refused) {
  const std::pair<const char*, const char*> lines[] = {
      {"a slotss=3", "\"slotss=3\" is none of slots=N"},
      {"a slots", "\"slots\" is none of"},
      {"a slots=", "a whole number from 1"},
      {"a slots=x", "a whole number from 1"},
      {"a slots=0", "a whole number from 1"},
      {"a cpu=2 slots=2", "said twice"},
      {"localhost:3 slots=2", "the number of slots of localhost:3 is said twice"},
      {"a slots=4 max-slots=2", "slots=4 is more than max-slots=2"},
      {"slots=4", "stands where a host's name belongs"},
      {"fe80::1 slots=2", "IPv6"},
      {"a user=joe", "\"user=joe\" is none of"}};
  for (const auto& [line, rule] : lines) {
    const auto hosts = read_host_file(write("hosts", std::string("# first\n") + line + "\n"));
    ASSERT_FALSE(hosts) << line;
    EXPECT_NE(hosts.error().detail.find(rule), std::string::npos) << hosts.error().detail;
    EXPECT_NE(hosts.error().detail.find("hosts:2: "), std::string::npos) << hosts.error().detail;
  }
}

}  // namespace
}  // namespace starling::mpiexec
