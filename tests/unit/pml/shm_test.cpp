// SPDX-License-Identifier: BSD-3-Clause
// Two threads, each with a pml of its own over btl/self and btl/shm on one memfd: what two processes of a
// node do.
#include <atomic>
#include <thread>

#include "plugins/btl/self/component.hpp"
#include "plugins/btl/shm/component.hpp"
#include "plugins/pml/static/policy.hpp"
#include "tests/unit/pml/job.hpp"
#include "tests/unit/shm/segments.hpp"

namespace starling::pml::test {
namespace {

std::int64_t rank_is_local_rank(const void* size, std::uint32_t rank) noexcept {
  return rank < *static_cast<const std::uint32_t*>(size) ? std::int64_t{rank} : -1;
}

class Node {
 public:
  explicit Node(std::uint32_t size, StaticLarge large = StaticLarge::automatic)
      : size_(size),
        geometry_(starling::test::small_geometry(size, 64u << 20)),
        memfd_(starling::test::make_memfd(geometry_)) {
    EXPECT_TRUE(params_.load({}));
    EXPECT_TRUE(params_.add("btl/shm", btl::kShmDecls));
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      Config config;
      config.self = {0, rank};
      config.world_size = size;
      StaticConfig chosen;
      chosen.self = config.self;
      chosen.large = large;
      peers.push_back(std::make_unique<peer::Peers>());
      engines.push_back(
          std::make_unique<Engine>(*peers[rank], config, std::make_unique<StaticPolicy>(chosen)));
      segments_.push_back(std::make_unique<shm::NodeSegment>(starling::test::join(memfd_, geometry_, rank)));
      segments_.back()->enter();
      const btl::Place place{config.self, size, rank, size, &rank_is_local_rank, &size_};
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

  std::vector<std::unique_ptr<peer::Peers>> peers;
  std::vector<std::unique_ptr<Engine>> engines;
  std::vector<Context*> contexts;

 private:
  std::uint32_t size_;
  shm::Geometry geometry_;
  UniqueFd memfd_;
  params::Registry params_;
  std::vector<std::unique_ptr<shm::NodeSegment>> segments_;
  std::vector<std::unique_ptr<btl::SelfComponent>> self_;
  std::vector<std::unique_ptr<btl::ShmComponent>> shm_;
};

/// One rank's view, driven by its own thread.
class Process {
 public:
  Process(Node& node, std::uint32_t rank)
      : peers_(*node.peers[rank]), engine_(*node.engines[rank]), context_(node.contexts[rank]) {}

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

void run_both(Node& node, void (*body)(Process&, int)) {
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

void ping_pong(Process& process, int me) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{33}, std::size_t{4096},
                                  std::size_t{4097}, std::size_t{70'000}, std::size_t{3'000'001}}) {
    for (int round = 0; round < 20; ++round) {
      const auto seed = std::uint64_t(round) + bytes;
      if (me == 0) process.wait(*process.start(false, 1, round, filled(bytes, seed)));
      auto receive = process.start(true, 1 - me, round, std::vector<std::byte>(bytes));
      process.wait(*receive);
      ASSERT_EQ(receive->data, filled(bytes, seed));
      if (me == 1) process.wait(*process.start(false, 0, round, filled(bytes, seed)));
    }
  }
}

TEST(OverShm, every_size_goes_there_and_back_by_ring_and_by_get) {
  for (const StaticLarge large : {StaticLarge::ring, StaticLarge::get, StaticLarge::automatic}) {
    Node node(2, large);
    run_both(node, &ping_pong);
    EXPECT_GT(node.engines[0]->counters().rendezvous_sent, 0u);
  }
}

void both_flood(Process& process, int me) {
  std::vector<OpPtr> sends, receives;
  const auto size = [](int i) { return std::size_t(i % 97 == 0 ? 200'000 : i % 13 == 0 ? 3000 : i % 40); };
  for (int i = 0; i < 3000; ++i) {
    sends.push_back(process.start(false, 1 - me, i % 3, filled(size(i), std::uint64_t(i)),
                                  i % 50 == 0 ? Mode::synchronous : Mode::standard));
  }
  for (const int tag : {2, 0, 1}) {
    for (int i = tag; i < 3000; i += 3) {
      receives.push_back(process.start(true, 1 - me, tag, std::vector<std::byte>(size(i))));
      if (i % 7 == 0) process.wait(*receives.back());
    }
  }
  for (const OpPtr& op : sends) process.wait(*op);
  for (const OpPtr& op : receives) process.wait(*op);
  std::size_t at = 0;
  for (const int tag : {2, 0, 1}) {
    for (int i = tag; i < 3000; i += 3) ASSERT_EQ(receives[at++]->data, filled(size(i), std::uint64_t(i)));
  }
}

TEST(OverShm, both_flood_each_other_before_they_receive) {
  for (const StaticLarge large : {StaticLarge::ring, StaticLarge::get}) {
    Node node(2, large);
    run_both(node, &both_flood);
    EXPECT_TRUE(node.engines[0]->pending().empty());
  }
}

void self_and_other(Process& process, int me) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{20'000}, std::size_t{600'000}}) {
    for (const int to : {me, 1 - me}) {
      auto send = process.start(false, to, 1, filled(bytes, 1));
      auto receive = process.start(true, to, 1, std::vector<std::byte>(bytes));
      process.wait(*send);
      process.wait(*receive);
      ASSERT_EQ(receive->data, filled(bytes, 1));
    }
  }
}

TEST(OverShm, messages_to_self_go_through_self) {
  Node node(2);
  run_both(node, &self_and_other);
}

}  // namespace
}  // namespace starling::pml::test
