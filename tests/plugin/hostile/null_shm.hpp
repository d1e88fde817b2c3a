// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A component that does nothing well enough to be created and destroyed. Layer: tests.

#include <memory>

#include "frameworks/plugin.hpp"
#include "frameworks/shm/shm.hpp"

namespace starling::shm {

class NullShm final : public Component {
 public:
  Result<Segment> find(const SegmentSpec&, Deadline) override {
    return fail(Errc::not_found, "shm/test", "there is nothing to find");
  }
  bool has_name() const noexcept override { return true; }
  std::string meeting_place() const override { return {}; }
  Result<Segment> attach(const SegmentSpec&, Deadline) override {
    return fail(Errc::unsupported, "shm/test", "there is nothing to attach");
  }
  void all_attached() noexcept override {}
};

inline Result<std::unique_ptr<Component>> create_null(const Args&) {
  return std::unique_ptr<Component>(new NullShm);
}

}  // namespace starling::shm
