// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Several components of the btl under test inside one program. Layer: tests.
///
/// Where they sit depends on what the plugin says of itself: a transport within a process has one component,
/// which is every process; one within a node has a segment for all; one over a network has nodes with one
/// process each.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/btl/collector.hpp"
#include "tests/conformance/node_segments.hpp"
#include "tests/conformance/plugin.hpp"

namespace starling::conformance {

class BtlJob {
 public:
  explicit BtlJob(std::uint32_t processes, const std::vector<std::string>& settings = {})
      : params_(test_parameters(settings)), processes_(processes) {
    const bool other_nodes = plugin_under_test().descriptor().scope == plugin::Scope::other_nodes;
    seat(other_nodes);
    if (components_[0] == nullptr) return;
    reach_ = component(0).limits().reach;
    if (reach_ == btl::Reach::network && !other_nodes) seat(true);
    for (std::uint32_t rank = 1; rank < components(); ++rank) start(rank);
  }
  /// Peers of one that closes may see their connection break; that must find everybody's sink alive.
  ~BtlJob() { components_.clear(); }
  BtlJob(const BtlJob&) = delete;
  BtlJob& operator=(const BtlJob&) = delete;

  /// False: the failure has been told.
  [[nodiscard]] bool works() const {
    for (const auto& each : components_) {
      if (each == nullptr) return false;
    }
    return true;
  }
  [[nodiscard]] bool within_one_process() const noexcept { return reach_ == btl::Reach::own_process; }
  [[nodiscard]] btl::Reach reach() const noexcept { return reach_; }

  btl::Component& component(std::uint32_t rank) { return *components_[index(rank)]; }
  test::Collector& sink(std::uint32_t rank) { return *sinks_[index(rank)]; }
  btl::Endpoint& endpoint(std::uint32_t from, std::uint32_t to) {
    auto made = component(from).connect(ProcId{0, index(to)}, component(to).address());
    EXPECT_TRUE(made) << "connect() to a process whose address() it was given: " << made.error().text();
    return **made;
  }
  /// Everybody who is alive, since a sender may have to push what it has taken.
  int progress() {
    int events = 0;
    for (const auto& each : components_) {
      if (each != nullptr) events += each->progress();
    }
    return events;
  }
  /// The process ends without leaving MPI, and the launcher says so as mpiexec does.
  void end(std::uint32_t rank) {
    components_[index(rank)].reset();
    if (segments_.size() > 1) segments_[rank == 0 ? 1 : 0]->mark_ended(rank);
  }

 private:
  [[nodiscard]] std::uint32_t index(std::uint32_t rank) const noexcept {
    return within_one_process() ? 0 : rank;
  }
  [[nodiscard]] std::uint32_t components() const noexcept { return within_one_process() ? 1 : processes_; }

  /// Makes the node or the nodes, and the first process.
  void seat(bool apart) {
    apart_ = apart;
    components_.clear();
    segments_.clear();
    memfds_.clear();
    sinks_.clear();
    const shm::Geometry geometry = test::small_geometry(apart ? 1 : processes_, 64u << 20);
    for (std::uint32_t rank = 0; rank < processes_; ++rank) {
      if (apart || rank == 0) memfds_.push_back(test::make_memfd(geometry));
      segments_.push_back(
          std::make_unique<shm::NodeSegment>(test::join(memfds_.back(), geometry, apart ? 0 : rank)));
      segments_.back()->enter();
      sinks_.push_back(std::make_unique<test::Collector>());
    }
    components_.resize(1);
    start(0);
  }
  void start(std::uint32_t rank) {
    btl::Place place{ProcId{0, rank}, processes_, rank, processes_, &test::rank_is_local_rank, &processes_};
    place.job = 4711;
    if (apart_) {
      place.local_rank = 0;
      place.local_size = 1;
      place.local_rank_of = nullptr;
      place.seat_of = [](const void*, std::uint32_t other) noexcept { return btl::Place::Seat{other, 0}; };
    }
    if (components_.size() <= rank) components_.resize(rank + 1);
    auto made = plugin_under_test().create<btl::Framework>(
        btl::Args{params_, *sinks_[rank], place, segments_[rank].get()});
    EXPECT_TRUE(made) << "the factory cannot make a component here: " << made.error().text();
    if (made) components_[rank] = std::move(*made);
  }

  params::Registry params_;
  std::uint32_t processes_;
  btl::Reach reach_ = btl::Reach::node;
  bool apart_ = false;
  std::vector<UniqueFd> memfds_;
  std::vector<std::unique_ptr<shm::NodeSegment>> segments_;
  std::vector<std::unique_ptr<test::Collector>> sinks_;
  std::vector<Plugin::Handle<btl::Framework>> components_;
};

}  // namespace starling::conformance
