// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Node segments for tests, and a folder for named ones. Layer: tests.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "frameworks/shm/node_segment.hpp"
#include "frameworks/shm/params.hpp"
#include "tests/conformance/node_segments.hpp"

namespace starling::test {

/// A folder for named segments of one test, and the parameters of segments.
class SegmentFolder : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/dev/shm/starling-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory = name;
    ASSERT_TRUE(shm::register_params(params));
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  params::Registry params;
  std::string directory;
};

}  // namespace starling::test
