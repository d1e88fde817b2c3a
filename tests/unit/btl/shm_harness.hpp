// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Several btl/shm components on one memfd inside one program. Layer: tests.

#include <memory>
#include <string>
#include <vector>

#include "plugins/btl/shm/component.hpp"
#include "tests/conformance/btl/collector.hpp"
#include "tests/unit/shm/segments.hpp"

namespace starling::test {

class ShmHarness {
 public:
  explicit ShmHarness(unsigned processes, std::vector<std::string> settings = {},
                      std::uint64_t arena_bytes = 64u << 20)
      : processes_(processes),
        geometry_(small_geometry(processes, arena_bytes)),
        memfd_(make_memfd(geometry_)) {
    params::Places places;
    places.environment = std::move(settings);
    EXPECT_TRUE(params_.load(places));
    auto added = params_.add("btl/shm", btl::kShmDecls);
    EXPECT_TRUE(added) << added.error().text();
    for (unsigned rank = 0; rank < processes; ++rank) {
      sinks_.push_back(std::make_unique<Collector>());
      segments_.push_back(std::make_unique<shm::NodeSegment>(join(memfd_, geometry_, rank)));
      segments_.back()->enter();
      components_.push_back(nullptr);
      restart(rank);
    }
  }
  ~ShmHarness() { components_.clear(); }

  void restart(unsigned rank) {
    components_[rank].reset();
    const btl::Place place{ProcId{0, rank}, processes_, rank, processes_, &rank_is_local_rank, &processes_};
    components_[rank] =
        std::make_unique<btl::ShmComponent>(btl::Args{params_, *sinks_[rank], place, segments_[rank].get()});
    EXPECT_TRUE(components_[rank]->start());
  }
  btl::ShmComponent& component(unsigned i) { return *components_[i]; }
  Collector& sink(unsigned i) { return *sinks_[i]; }
  btl::ShmEndpoint& endpoint(unsigned from, unsigned to) {
    return static_cast<btl::ShmEndpoint&>(**components_[from]->connect(ProcId{0, to}, {}));
  }
  shm::NodeSegment& segment(unsigned i) { return *segments_[i]; }

 private:
  std::uint32_t processes_;
  shm::Geometry geometry_;
  UniqueFd memfd_;
  params::Registry params_;
  std::vector<std::unique_ptr<Collector>> sinks_;
  std::vector<std::unique_ptr<shm::NodeSegment>> segments_;
  std::vector<std::unique_ptr<btl::ShmComponent>> components_;
};

/// Sends message `number`, and lets the receiver make room where there is none.
inline void send(ShmHarness& harness, unsigned from, unsigned to, std::uint64_t number, std::size_t bytes) {
  const auto message = make_message(number, bytes);
  const Deadline deadline = Deadline::after_seconds(60);
  while (harness.endpoint(from, to).send({}, message) != Post::done) {
    harness.component(to).progress();
    ASSERT_FALSE(deadline.passed());
  }
}

inline void progress_until_idle(ShmHarness& harness, unsigned rank) {
  while (harness.component(rank).progress() != 0) {
  }
}

}  // namespace starling::test
