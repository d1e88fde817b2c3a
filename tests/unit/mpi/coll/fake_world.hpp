// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  N processes of a communicator inside one process: a pml that moves messages between schedules.
/// Layer: test.
///
/// Messages of one pair match in order; pairs advance in random order. A send's buffer is read, and a
/// receive's written, now and then as late or as early as possible, so that a schedule which touches a buffer
/// at the wrong time gives a wrong result.

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "frameworks/pml/pml.hpp"
#include "mpi/coll/arguments.hpp"
#include "mpi/coll/execution.hpp"

namespace starling::mpi::coll::testing {

class World;

/// What pml::Context* points to here; never looked into by the code under test.
struct FakeContext {
  World* world;
  int self;                ///< this process, as an index of the world
  std::vector<int> ranks;  ///< rank -> process
};

/// All messages under way between all processes.
class World {
 public:
  explicit World(unsigned seed) : random_(seed) {}

  void send(const FakeContext& context, pml::Request& request) {
    const int to = context.ranks.at(static_cast<std::size_t>(to_int(request.rank)));
    sends_[{context.self, to}].push_back({&request, {}, request.tag});
  }
  /// Copies right away now and then, as an eager path does.
  bool send_at_once(const FakeContext& context, Rank rank, Tag tag, const void* data, std::size_t bytes) {
    if (announced_only || random_() % 2 == 0) return false;
    const int to = context.ranks.at(static_cast<std::size_t>(to_int(rank)));
    Sent sent{nullptr, std::vector<std::byte>(bytes), tag};
    if (bytes != 0) std::memcpy(sent.copy.data(), data, bytes);
    sends_[{context.self, to}].push_back(std::move(sent));
    return true;
  }
  void receive(const FakeContext& context, pml::Request& request) {
    const int from = context.ranks.at(static_cast<std::size_t>(to_int(request.rank)));
    if (from == dead) {
      request.status.fault = pml::Fault::peer_lost;
      request.complete = true;
      return;
    }
    const Pair pair{from, context.self};
    receives_[pair].push_back(&request);
    // An unexpected message is there before the call returns.
    if (random_() % 2 == 0 && receives_[pair].size() == 1 && !sends_[pair].empty()) deliver(pair);
  }
  /// Delivers one message of one random pair; false if none can be delivered.
  bool step() {
    std::vector<Pair> ready;
    for (auto& [pair, queue] : receives_) {
      if (!queue.empty() && !sends_[pair].empty()) ready.push_back(pair);
    }
    if (ready.empty()) return false;
    const Pair pair = ready[random_() % ready.size()];
    deliver(pair);
    return true;
  }
  [[nodiscard]] bool empty() const {
    for (const auto& [pair, queue] : sends_) {
      if (!queue.empty()) return false;
    }
    for (const auto& [pair, queue] : receives_) {
      if (!queue.empty()) return false;
    }
    return true;
  }
  /// The next send of this process fails with a lost peer.
  int failing = -1;
  /// Receives from this process end with its loss.
  int dead = -1;
  /// Whether nothing is copied right away: what is sent can be taken back until it is received.
  bool announced_only = false;
  /// Whether schedules without memory are run.
  bool even_hollow = false;
  /// Whether processes may disagree about lengths.
  bool unequal = false;
  void cancel(pml::Request& request) {
    for (auto& [pair, queue] : receives_) std::erase(queue, &request);
    for (auto& [pair, queue] : sends_)
      std::erase_if(queue, [&](const Sent& sent) { return sent.request == &request; });
    request.status.cancelled = true;
    request.complete = true;
  }
  std::mt19937& random() { return random_; }

 private:
  using Pair = std::pair<int, int>;
  struct Sent {
    pml::Request* request;
    std::vector<std::byte> copy;
    Tag tag;
  };
  void deliver(const Pair& pair) {
    Sent sent = std::move(sends_[pair].front());
    sends_[pair].pop_front();
    pml::Request& receive = *receives_[pair].front();
    receives_[pair].pop_front();
    EXPECT_EQ(to_int(sent.tag), to_int(receive.tag));
    const Buffer from =
        sent.request != nullptr ? sent.request->buffer : packed(sent.copy.data(), sent.copy.size());
    if (!unequal) {
      EXPECT_EQ(from.bytes, receive.buffer.bytes) << "message from " << pair.first << " to " << pair.second;
    }
    if (from.bytes > receive.buffer.bytes) receive.status.fault = pml::Fault::truncated;
    copy_buffer(from, receive.buffer);
    receive.total = from.bytes;
    receive.status.bytes = std::min(from.bytes, receive.buffer.bytes);
    if (sent.request != nullptr) sent.request->complete = true;
    receive.complete = true;
  }
  std::map<Pair, std::deque<Sent>> sends_;
  std::map<Pair, std::deque<pml::Request*>> receives_;
  std::mt19937 random_;
};

class FakePml final : public pml::Component {
 public:
  explicit FakePml(World& world) : world_(world) {}
  static FakeContext& of(pml::Context* context) { return *reinterpret_cast<FakeContext*>(context); }

  void isend(pml::Request& request) noexcept override {
    if (world_.failing == of(request.context).self) {
      request.status.fault = pml::Fault::peer_lost;
      request.complete = true;
      return;
    }
    world_.send(of(request.context), request);
  }
  Post try_send(pml::Context& context, Rank rank, Tag tag, const void* data,
                std::size_t bytes) noexcept override {
    if (world_.failing == of(&context).self) return Post::again;
    return world_.send_at_once(of(&context), rank, tag, data, bytes) ? Post::done : Post::again;
  }
  Post try_isend(pml::Context& context, Rank rank, Tag tag, const void* data,
                 std::size_t bytes) noexcept override {
    return try_send(context, rank, tag, data, bytes);
  }
  void irecv(pml::Request& request) noexcept override { world_.receive(of(request.context), request); }
  void cancel(pml::Request& request) noexcept override { world_.cancel(request); }
  int progress() noexcept { return world_.step() ? 1 : 0; }

  // What schedules have no use for.
  Result<pml::Context*> open(ContextIds, Rank, ProcListPtr) override {
    return fail(Errc::unsupported, "fake", "open");
  }
  void close(pml::Context*) noexcept override {}
  bool probe(pml::Context&, Rank, Tag, pml::Status*) noexcept override { return false; }
  pml::Message* mprobe(pml::Context&, Rank, Tag, pml::Status*) noexcept override { return nullptr; }
  void mrecv(pml::Message*, pml::Request&) noexcept override {}
  pml::Fault lost(const pml::Context&, Rank) const noexcept override { return pml::Fault::none; }
  bool hopeless(const pml::Request&) const noexcept override { return false; }
  void give_up(pml::Request&) noexcept override {}
  Counters counters() const override { return {}; }
  std::vector<pml::PeerTraffic> traffic() const override { return {}; }
  std::vector<pml::Pending> pending() const override { return {}; }
  void note_time(std::uint64_t) noexcept override {}

 private:
  World& world_;
};

/// One process's part in one operation.
struct Process {
  Team team;
  FakeContext context;
  Execution execution;
};

/// Processes of an intracommunicator of n, or of an intercommunicator of n and m.
class Job {
 public:
  explicit Job(int n, int m = 0, unsigned seed = 1) : world_(seed), pml_(world_) {
    for (int i = 0; i < n + m; ++i) {
      auto process = std::make_unique<Process>();
      const bool first = i < n;
      process->team =
          m == 0 ? Team{i, n, 0, false} : Team{first ? i : i - n, first ? n : m, first ? m : n, true};
      process->context = {&world_, i, {}};
      const int begin = m == 0 || !first ? 0 : n, end = m == 0 || !first ? n : n + m;
      for (int peer = begin; peer < end; ++peer) process->context.ranks.push_back(peer);
      processes_.push_back(std::move(process));
    }
  }
  Process& operator[](int i) { return *processes_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] int size() const { return static_cast<int>(processes_.size()); }
  World& world() { return world_; }

  /// Starts all, in random order, and lets them run to the end. False if they hang.
  bool run() {
    std::vector<int> order(processes_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::shuffle(order.begin(), order.end(), world_.random());
    ++tag_;
    for (const int i : order) {
      Process& process = (*this)[i];
      if (!process.execution.schedule.ok() && !world_.even_hollow) return false;
      process.execution.start({&pml_, reinterpret_cast<pml::Context*>(&process.context), Tag{tag_}});
    }
    for (int idle = 0; idle < 2;) {
      const bool moved = world_.step();
      bool all = true;
      for (const int i : order) all = (*this)[i].execution.advance() && all;
      if (all && !moved) break;
      idle = moved ? 0 : idle + 1;
    }
    bool good = true;
    for (auto& process : processes_) good = good && process->execution.complete();
    return good;
  }

 private:
  World world_;
  FakePml pml_;
  std::vector<std::unique_ptr<Process>> processes_;
  int tag_ = 6;
};

}  // namespace starling::mpi::coll::testing
