// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A folder of plugins that a test fills, with whole and with damaged ones. Layer: test.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frameworks/select.hpp"
#include "frameworks/shm/shm.hpp"
#include "params/core_params.hpp"

namespace starling::plugin {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// A directory of plugins that a test fills, an empty prefix, and an index over both.
class Site : public testing::Test {
 protected:
  Site() {
    ::umask(022);  // what its group can write is refused
    std::string pattern = (fs::temp_directory_path() / "starling-plugins-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    fs::create_directories(root_ / "prefix/lib/starling");
    fs::create_directories(root_ / "site");
    site_ = root_ / "site";
  }
  ~Site() override { fs::remove_all(root_); }

  static fs::path built(const std::string& name) {
    return fs::path(HOSTILE_PLUGINS) / ("shm_" + name + ".so");
  }
  void install(const std::string& name) {
    const fs::path copy = site_ / ("shm_" + name + ".so");
    fs::copy_file(built(name), copy);
    ASSERT_EQ(::chmod(copy.c_str(), 0755), 0) << "whatever umask the build had";
  }

  /// A copy of the good plugin with some bytes changed.
  template <class Change>
  void install_damaged(const std::string& name, Change&& change) {
    std::ifstream in(built("good"), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    change(bytes);
    std::ofstream(site_ / ("shm_" + name + ".so"), std::ios::binary) << bytes;
  }
  template <class Change>
  void install_with_descriptor(const std::string& name, Change&& change) {
    install_damaged(name, [&](std::string& bytes) {
      char magic[sizeof kMagic];
      std::memcpy(magic, &kMagic, sizeof magic);
      const auto at = bytes.find(std::string_view(magic, sizeof magic));
      ASSERT_NE(at, std::string::npos);
      Descriptor descriptor;
      std::memcpy(&descriptor, bytes.data() + at, sizeof descriptor);
      change(descriptor);
      std::memcpy(bytes.data() + at, &descriptor, sizeof descriptor);
    });
  }

  Index inspect(std::vector<std::string> environment = {}, bool at_secure = false) {
    params::Places places;
    places.environment = std::move(environment);
    places.environment.push_back("STARLING_MCA_plugin_path=" + (path_.empty() ? site_.string() : path_));
    params_ = params::Registry();
    EXPECT_TRUE(params_.load(places).has_value());
    Index index =
        Index::inspect(params_, (root_ / "prefix").string(), {.at_secure = at_secure, .linked_in = false});
    for (const Candidate& candidate : index.candidates())
      EXPECT_TRUE(candidate.refusal.empty() || candidate.manifest.empty()) << candidate.file;
    return index;
  }

  static const Candidate* find(const Index& index, const std::string& name) {
    for (const Candidate& candidate : index.candidates()) {
      if (candidate.framework == "shm" && candidate.name == name) return &candidate;
    }
    return nullptr;
  }
  /// The file is listed with this refusal, others are chosen, and naming it is an error with the same reason.
  void expect_refused(const std::string& name, const std::string& reason) {
    const Index index = inspect();
    const Candidate* const candidate = find(index, name);
    ASSERT_NE(candidate, nullptr) << name;
    EXPECT_THAT(candidate->refusal, AllOf(HasSubstr(candidate->file), HasSubstr(reason)));
    const auto others = index.admitted("shm");
    ASSERT_TRUE(others.has_value()) << others.error().text();
    EXPECT_EQ(std::count(others->begin(), others->end(), candidate), 0);

    const Index asked = inspect({"STARLING_MCA_shm=" + name});
    const auto named = asked.admitted("shm");
    ASSERT_FALSE(named.has_value()) << name;
    EXPECT_THAT(named.error().text(), AllOf(HasSubstr("shm = '" + name + "' (environment STARLING_MCA_shm)"),
                                            HasSubstr("cannot be used"), HasSubstr(reason)));
    const Index unwanted = inspect({"STARLING_MCA_shm=^" + name});
    EXPECT_TRUE(unwanted.admitted("shm").has_value()) << "to exclude what is refused anyway asks for nothing";
  }
  std::string create_error(const std::string& name) {
    Index index = inspect({"STARLING_MCA_shm=" + name});
    auto made = index.create_first<shm::Framework>(shm::Args{params_});
    EXPECT_FALSE(made.has_value()) << name;
    return made ? std::string{} : made.error().text();
  }

  fs::path root_;
  fs::path site_;
  std::string path_;
  params::Registry params_;
};

}  // namespace starling::plugin
