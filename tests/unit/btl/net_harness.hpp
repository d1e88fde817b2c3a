// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Components of one network btl inside one program, which know each other's addresses. Layer: tests.

#include <memory>
#include <string>
#include <vector>

#include "tests/conformance/btl/collector.hpp"
#include "tests/unit/shm/segments.hpp"

namespace starling::test {

/// `Transport` has: kDecls (its parameters), kOwner, and create(Args).
template <class Transport>
class NetHarness {
 public:
  using Of = Transport;
  explicit NetHarness(unsigned processes, std::vector<std::string> settings = {}, bool start = true)
      : processes_(processes) {
    params::Places places;
    places.environment = std::move(settings);
    EXPECT_TRUE(params_.load(places));
    auto added = params_.add(Transport::kOwner, Transport::kDecls);
    EXPECT_TRUE(added) << added.error().text();
    for (unsigned rank = 0; rank < processes; ++rank) {
      sinks_.push_back(std::make_unique<Collector>());
      components_.push_back(nullptr);
      if (start) restart(rank);
    }
  }
  ~NetHarness() {
    // Peers of one that closes see their connection break; that must find everybody's sink alive.
    components_.clear();
  }

  [[nodiscard]] Result<std::unique_ptr<btl::Component>> create(unsigned rank) {
    const btl::Place place{ProcId{0, rank}, processes_, 0, 1, nullptr, nullptr, &own_node, nullptr, 4711};
    return Transport::create(btl::Args{params_, *sinks_[rank], place, &segment_});
  }
  void restart(unsigned rank) {
    components_[rank].reset();
    auto made = create(rank);
    EXPECT_TRUE(made) << made.error().text();
    if (made) components_[rank] = std::move(*made);
  }
  void end(unsigned rank) { components_[rank].reset(); }

  [[nodiscard]] bool alive(unsigned rank) const { return components_[rank] != nullptr; }

  /// Of the node: each process is alone on one, and all hear the same of others.
  shm::NodeSegment& segment() { return segment_; }
  btl::Component& component(unsigned i) { return *components_[i]; }
  Collector& sink(unsigned i) { return *sinks_[i]; }
  btl::Endpoint& endpoint(unsigned from, unsigned to) {
    auto made = components_[from]->connect(ProcId{0, to}, components_[to]->address());
    EXPECT_TRUE(made) << made.error().text();
    return **made;
  }

 private:
  static btl::Place::Seat own_node(const void*, std::uint32_t rank) noexcept { return {rank, 0}; }

  std::uint32_t processes_;
  shm::Geometry geometry_ = small_geometry(1);
  UniqueFd memfd_ = make_memfd(geometry_);
  shm::NodeSegment segment_ = join(memfd_, geometry_, 0);
  params::Registry params_;
  std::vector<std::unique_ptr<Collector>> sinks_;
  std::vector<std::unique_ptr<btl::Component>> components_;
};

/// Both of two processes go on, as far as they live, until it is so; false: not within a minute.
template <class Harness, class Until>
bool progress_until(Harness& harness, Until until) {
  const Deadline deadline = Deadline::after_seconds(60);
  while (!until() && !deadline.passed()) {
    for (unsigned rank = 0; rank < 2; ++rank) {
      if (harness.alive(rank)) harness.component(rank).progress();
    }
  }
  return until();
}

}  // namespace starling::test
