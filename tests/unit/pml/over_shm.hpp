// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Engines over btl/self and btl/shm on one memfd, each driven by a thread: what two processes of a
/// node do. Layer: test.

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "frameworks/shm/memory/owned.hpp"
#include "plugins/btl/self/component.hpp"
#include "plugins/btl/shm/component.hpp"
#include "tests/unit/pml/job.hpp"
#include "tests/unit/shm/segments.hpp"

namespace starling::pml::test {

/// Makes an engine with the chooser and protocols of a test.
using MakeEngine = std::function<std::unique_ptr<Engine>(peer::Peers&, const Config&)>;

class Node {
 public:
  Node(std::uint32_t size, const MakeEngine& make)
      : size_(size),
        geometry_(starling::test::small_geometry(size, 64u << 20)),
        memfd_(starling::test::make_memfd(geometry_)) {
    EXPECT_TRUE(params_.load({}));
    EXPECT_TRUE(params_.add("btl/shm", btl::kShmDecls));
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      Config config;
      config.self = {0, rank};
      config.world_size = size;
      peers.push_back(std::make_unique<peer::Peers>());
      engines.push_back(make(*peers[rank], config));
      segments_.push_back(std::make_unique<shm::NodeSegment>(starling::test::join(memfd_, geometry_, rank)));
      segments_.back()->enter();
      memory.push_back(std::make_unique<shm::OwnedMemory>(*segments_.back(), 16));
      const btl::Place place{config.self, size, rank, size, &starling::test::rank_is_local_rank, &size_};
      const btl::Args args{params_, peers[rank]->sink(), place, segments_.back().get()};
      self_.push_back(std::make_unique<btl::SelfComponent>(args));
      shm_.push_back(std::make_unique<btl::ShmComponent>(args));
      EXPECT_TRUE(shm_.back()->start());
      peers[rank]->add_transport(*self_.back());
      peers[rank]->add_transport(*shm_.back());
      contexts.push_back(
          *engines[rank]->open(kWorld, Rank{std::int32_t(rank)}, std::make_shared<Strip>(size)));
    }
  }

  std::vector<std::unique_ptr<shm::NodeSegment>> segments_;  // outlive what uses them
  std::vector<std::unique_ptr<peer::Peers>> peers;
  std::vector<std::unique_ptr<Engine>> engines;
  std::vector<Context*> contexts;
  std::vector<std::unique_ptr<shm::OwnedMemory>> memory;  ///< that others can map

 private:
  std::uint32_t size_;
  shm::Geometry geometry_;
  UniqueFd memfd_;
  params::Registry params_;
  std::vector<std::unique_ptr<btl::SelfComponent>> self_;
  std::vector<std::unique_ptr<btl::ShmComponent>> shm_;
};

/// One rank's view, driven by its own thread.
class Process {
 public:
  Process(Node& node, std::uint32_t rank)
      : peers_(*node.peers[rank]), engine_(*node.engines[rank]), context_(node.contexts[rank]) {}

  /// The same in given memory, which the caller keeps.
  OpPtr start_in(bool receive, int other, int tag, std::byte* base, std::size_t bytes) {
    auto op = std::make_unique<Op>();
    op->request.buffer = {base, bytes, 0, nullptr};
    op->request.context = context_;
    op->request.rank = Rank{other};
    op->request.tag = Tag{tag};
    if (receive) {
      engine_.irecv(op->request);
    } else {
      engine_.isend(op->request);
    }
    return op;
  }
  OpPtr start(bool receive, int other, int tag, std::vector<std::byte> data, Mode mode = Mode::standard) {
    auto op = std::make_unique<Op>();
    op->data = std::move(data);
    op->request.buffer = {op->data.data(), op->data.size(), 0, nullptr};
    op->request.context = context_;
    op->request.rank = Rank{other};
    op->request.tag = Tag{tag};
    op->request.mode = mode;
    if (receive) {
      engine_.irecv(op->request);
    } else {
      engine_.isend(op->request);
    }
    return op;
  }
  void wait(const Op& op) {
    const Deadline deadline = Deadline::after_seconds(60);
    while (!op.complete()) {
      if (peers_.progress() != 0) continue;
      std::this_thread::yield();
      if (deadline.passed()) {
        ADD_FAILURE() << "no completion";
        return;
      }
    }
  }
  void drain() {
    while (!peers_.drained()) {
      if (peers_.progress() == 0) std::this_thread::yield();
    }
  }

 private:
  peer::Peers& peers_;
  Engine& engine_;
  Context* context_;
};

inline void run_both(Node& node, const std::function<void(Process&, int)>& body) {
  // A process that has finished still has to answer: all poll until all have drained.
  std::atomic<int> running{2};
  const auto rank = [&](std::uint32_t me) {
    Process process(node, me);
    body(process, int(me));
    process.drain();
    running.fetch_sub(1);
    while (running.load() != 0) {
      node.peers[me]->progress();
      std::this_thread::yield();
    }
  };
  std::thread other(rank, 1u);
  rank(0u);
  other.join();
}

}  // namespace starling::pml::test
