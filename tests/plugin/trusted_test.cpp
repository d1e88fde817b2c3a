// SPDX-License-Identifier: BSD-3-Clause
// Whose folders and files are searched: owners, modes, links, processes with more rights than their user.

#include "site.hpp"

namespace starling::plugin {
namespace {

TEST_F(Site, directories_that_others_can_write_or_that_are_relative_are_not_searched) {
  install("good");
  fs::permissions(site_, fs::perms::others_write, fs::perm_options::add);
  path_ = site_.string() + ":relative/path::" + (root_ / "absent").string();
  const Index index = inspect();
  EXPECT_EQ(find(index, "good"), nullptr);
  EXPECT_THAT(index.refused_directories(),
              testing::ElementsAre(site_.string() + ": it is writable by others; use `chmod o-w`",
                                   "relative/path: it is not an absolute path",
                                   (root_ / "absent").string() + ": it does not exist"));
  const auto named = inspect({"STARLING_MCA_shm=good"}).admitted("shm");
  ASSERT_FALSE(named.has_value());
  EXPECT_THAT(named.error().text(),
              HasSubstr("not searched: " + site_.string() + ": it is writable by others"));
}

TEST_F(Site, a_directory_of_another_user_is_not_searched) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  install("good");
  ASSERT_EQ(::chown(site_.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  const Index index = inspect();
  ASSERT_EQ(index.refused_directories().size(), 1u);
  EXPECT_THAT(index.refused_directories()[0], HasSubstr("its owner is user 12345, expected root or user 0"));
}

TEST_F(Site, a_directory_that_its_group_can_write_is_not_searched) {
  install("good");
  ASSERT_EQ(::chmod(site_.c_str(), 0775), 0);
  EXPECT_THAT(inspect().refused_directories(),
              testing::ElementsAre(site_.string() + ": it is writable by its group; use `chmod g-w`"));
  ASSERT_EQ(::chmod(site_.c_str(), 0777), 0);
  EXPECT_THAT(inspect().refused_directories(),
              testing::ElementsAre(site_.string() + ": it is writable by others; use `chmod go-w`"));
}

TEST_F(Site, a_directory_in_one_that_others_can_write_is_not_searched_unless_that_one_is_sticky) {
  install("good");
  ASSERT_EQ(::chmod(root_.c_str(), 0770), 0);
  EXPECT_THAT(inspect().refused_directories(),
              testing::Contains(site_.string() + ": the folder " + root_.string() +
                                ": it is writable by its group; use `chmod g-w`"));
  ASSERT_EQ(::chmod(root_.c_str(), 01777), 0);
  EXPECT_EQ(find(inspect(), "good")->refusal, "");
  // Sticky does not help where entries matter: others may add one.
  ASSERT_EQ(::chmod(site_.c_str(), 01777), 0);
  EXPECT_EQ(inspect().refused_directories().size(), 1u);
}

TEST_F(Site, a_file_that_others_can_write_is_refused) {
  install("good");
  for (const auto& [mode, reason] : {std::pair{0775u, "it is writable by its group; use `chmod g-w`"},
                                     std::pair{0757u, "it is writable by others; use `chmod o-w`"},
                                     std::pair{0777u, "it is writable by others; use `chmod go-w`"}}) {
    fs::remove(site_ / "shm_open.so");
    install_with_descriptor("open", [](Descriptor& descriptor) { descriptor.name = "open"; });
    ASSERT_EQ(::chmod((site_ / "shm_open.so").c_str(), mode), 0);
    expect_refused("open", reason);
  }
}

TEST_F(Site, a_file_or_a_link_of_another_user_is_refused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  install("good");
  const fs::path theirs = root_ / "theirs";
  fs::create_directory(theirs);
  install_with_descriptor("linked", [](Descriptor& descriptor) { descriptor.name = "linked"; });
  fs::rename(site_ / "shm_linked.so", theirs / "shm_linked.so");
  fs::create_symlink(theirs / "shm_linked.so", site_ / "shm_linked.so");
  ASSERT_EQ(::chown(theirs.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  expect_refused("linked", "the folder " + theirs.string() + ": its owner is user 12345");
  ASSERT_EQ(::chown(theirs.c_str(), 0, static_cast<gid_t>(-1)), 0);
  ASSERT_EQ(::chown((theirs / "shm_linked.so").c_str(), 12345, static_cast<gid_t>(-1)), 0);
  expect_refused("linked", "it leads to " + (theirs / "shm_linked.so").string() +
                               ": its owner is user 12345, expected root or user 0");
  install_with_descriptor("given", [](Descriptor& descriptor) { descriptor.name = "given"; });
  ASSERT_EQ(::chmod((site_ / "shm_given.so").c_str(), 0755), 0);
  ASSERT_EQ(::chown((site_ / "shm_given.so").c_str(), 12345, static_cast<gid_t>(-1)), 0);
  expect_refused("given", "its owner is user 12345, expected root or user 0");
}

TEST_F(Site, a_link_to_a_sound_file_is_followed_and_the_file_itself_is_opened) {
  fs::create_directory(root_ / "own");
  install("good");
  fs::rename(site_ / "shm_good.so", root_ / "own/shm_good.so.1");
  fs::create_symlink(root_ / "own/shm_good.so.1", site_ / "shm_good.so");
  const Index index = inspect();
  ASSERT_NE(find(index, "good"), nullptr);
  EXPECT_EQ(find(index, "good")->refusal, "");
  EXPECT_EQ(find(index, "good")->file, (root_ / "own/shm_good.so.1").string());
}

TEST_F(Site, set_uid_processes_search_the_installation_only) {
  install("good");
  EXPECT_EQ(find(inspect({}, true), "good"), nullptr);
}

}  // namespace
}  // namespace starling::plugin
