// SPDX-License-Identifier: BSD-3-Clause
// Small files read whole. Layer: tests.

#include "core/text_file.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "core/unique_fd.hpp"

namespace starling {
namespace {

TEST(TextFile, is_read_though_it_says_that_it_is_empty) {
  EXPECT_NE(text_of_file("/proc/self/status").find("Name:"), std::string::npos);
}

TEST(TextFile, is_nothing_where_it_cannot_be_read) {
  EXPECT_EQ(text_of_file("/proc/self/no such file"), "");
  EXPECT_EQ(text_of_file("/proc"), "");
}

TEST(TextFile, is_cut_at_64_KiB) {
  const UniqueFd fd(::memfd_create("starling-test", MFD_CLOEXEC));
  ASSERT_TRUE(fd);
  const std::string text(70'001, 'x');
  EXPECT_EQ(::write(fd.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  EXPECT_EQ(text_of_file("/proc/self/fd/" + std::to_string(fd.get())), std::string(65'536, 'x'));
}

}  // namespace
}  // namespace starling
