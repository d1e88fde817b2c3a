// SPDX-License-Identifier: BSD-3-Clause
// Info objects through MPI_Info_*, all of it before MPI is initialised.

#include <gtest/gtest.h>

#include <string>

#include "mpi.h"
#include "mpi/process/registry.hpp"

namespace {

class InfoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    starling::mpi::registry().initial_errhandler = 0x143;  // MPI_ERRORS_RETURN
    ASSERT_EQ(MPI_Info_create(&info_), MPI_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(MPI_Info_free(&info_), MPI_SUCCESS); }

  std::string get(const char* key, int room = MPI_MAX_INFO_VAL) {
    std::string text(static_cast<std::size_t>(room) + 1, '#');
    int flag = 0;
    EXPECT_EQ(MPI_Info_get_string(info_, key, &room, text.data(), &flag), MPI_SUCCESS);
    return flag ? text.c_str() : "<none>";
  }

  MPI_Info info_ = MPI_INFO_NULL;
};

TEST_F(InfoTest, gives_back_what_was_set_with_all_its_blanks) {
  ASSERT_EQ(MPI_Info_set(info_, "  wdir ", " /tmp/x "), MPI_SUCCESS);
  EXPECT_EQ(get("  wdir "), " /tmp/x ");
  EXPECT_EQ(get("wdir"), "<none>");
  EXPECT_EQ(get("other"), "<none>");
}

TEST_F(InfoTest, a_second_value_replaces_the_first_and_keeps_its_place) {
  MPI_Info_set(info_, "a", "1");
  MPI_Info_set(info_, "b", "2");
  MPI_Info_set(info_, "a", "3");
  int keys = 0;
  MPI_Info_get_nkeys(info_, &keys);
  EXPECT_EQ(keys, 2);
  char key[MPI_MAX_INFO_KEY];
  ASSERT_EQ(MPI_Info_get_nthkey(info_, 0, key), MPI_SUCCESS);
  EXPECT_STREQ(key, "a");
  EXPECT_EQ(get("a"), "3");
}

TEST_F(InfoTest, get_string_reports_the_room_it_needs_and_cuts_to_the_room_it_has) {
  MPI_Info_set(info_, "key", "value");
  char text[4] = "###";
  int room = 4, flag = 0;
  ASSERT_EQ(MPI_Info_get_string(info_, "key", &room, text, &flag), MPI_SUCCESS);
  EXPECT_STREQ(text, "val");
  EXPECT_EQ(room, 6);
  room = 0;
  ASSERT_EQ(MPI_Info_get_string(info_, "key", &room, nullptr, &flag), MPI_SUCCESS);
  EXPECT_EQ(room, 6);
}

TEST_F(InfoTest, the_deprecated_get_takes_the_length_without_the_end) {
  MPI_Info_set(info_, "key", "value");
  char text[4] = "###";
  int flag = 0, length = 0;
  ASSERT_EQ(MPI_Info_get(info_, "key", 3, text, &flag), MPI_SUCCESS);
  EXPECT_STREQ(text, "val");
  ASSERT_EQ(MPI_Info_get_valuelen(info_, "key", &length, &flag), MPI_SUCCESS);
  EXPECT_EQ(length, 5);
}

TEST_F(InfoTest, deleting_a_key_twice_is_an_error_of_its_own_class) {
  MPI_Info_set(info_, "key", "value");
  EXPECT_EQ(MPI_Info_delete(info_, "key"), MPI_SUCCESS);
  EXPECT_EQ(MPI_Info_delete(info_, "key"), MPI_ERR_INFO_NOKEY);
}

TEST_F(InfoTest, a_copy_does_not_follow_its_original) {
  MPI_Info_set(info_, "key", "old");
  MPI_Info copy = MPI_INFO_NULL;
  ASSERT_EQ(MPI_Info_dup(info_, &copy), MPI_SUCCESS);
  MPI_Info_set(copy, "key", "new");
  EXPECT_EQ(get("key"), "old");
  EXPECT_EQ(MPI_Info_free(&copy), MPI_SUCCESS);
  EXPECT_EQ(copy, MPI_INFO_NULL);
}

TEST_F(InfoTest, keys_and_values_that_are_empty_or_too_long_are_refused) {
  const std::string long_key(MPI_MAX_INFO_KEY, 'k'), long_value(MPI_MAX_INFO_VAL, 'v');
  EXPECT_EQ(MPI_Info_set(info_, "", "value"), MPI_ERR_INFO_KEY);
  EXPECT_EQ(MPI_Info_set(info_, long_key.c_str(), "value"), MPI_ERR_INFO_KEY);
  EXPECT_EQ(MPI_Info_set(info_, "key", long_value.c_str()), MPI_ERR_INFO_VALUE);
  EXPECT_EQ(MPI_Info_set(info_, long_key.substr(1).c_str(), long_value.substr(1).c_str()), MPI_SUCCESS);
}

TEST_F(InfoTest, a_freed_object_is_recognised) {
  MPI_Info other = MPI_INFO_NULL;
  MPI_Info_create(&other);
  MPI_Info stale = other;
  MPI_Info_free(&other);
  EXPECT_EQ(MPI_Info_set(stale, "key", "value"), MPI_ERR_INFO);
  EXPECT_EQ(MPI_Info_set(MPI_INFO_NULL, "key", "value"), MPI_ERR_INFO);
}

TEST_F(InfoTest, the_environment_tells_the_command_and_cannot_be_changed) {
  int flag = 0, room = 0;
  ASSERT_EQ(MPI_Info_get_string(MPI_INFO_ENV, "command", &room, nullptr, &flag), MPI_SUCCESS);
  EXPECT_TRUE(flag);
  EXPECT_GT(room, 1);
  EXPECT_EQ(MPI_Info_set(MPI_INFO_ENV, "command", "x"), MPI_ERR_INFO);
  MPI_Info environment = MPI_INFO_ENV;
  EXPECT_EQ(MPI_Info_free(&environment), MPI_ERR_INFO);
}

}  // namespace
