// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A job of processes in one program: a process manager in memory, nodes, messages, one thread each.
///
/// One mutex stands for every process's runtime lock: it is free while a process waits. A message to another
/// node leaves when the component gives the address of that process, which has to be the right one.

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/bootstrap/params.hpp"

namespace starling::bootstrap::test {

inline constexpr const char* kTransport = "net";

inline std::vector<std::byte> address_of(std::uint32_t rank) {
  const std::string text = "address of " + std::to_string(rank);
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

inline std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// What all processes of the job share.
struct Job {
  /// Makes the component of one process.
  using Make = std::function<std::shared_ptr<Component>(const Args&)>;
  /// Three ranks on each node.
  Job(std::uint32_t count, pmi::Capabilities can, Make maker = {})
      : size(count), server(std::move(can)), make(std::move(maker)) {}

  std::uint32_t size;
  NodeMap nodes{{{0, 1000, 3}}};
  pmi::Capabilities server;
  Make make;
  std::set<std::uint32_t> mute;  ///< ranks that are not told that a fence of a group is over
  std::vector<std::string> settings;
  std::function<params::Registry()> parameters;  ///< of each process; empty: the framework's, with `settings`

  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<std::uint32_t, std::string>, std::vector<std::byte>> put, visible;
  std::map<std::string, std::string> names;
  struct Fence {
    std::set<std::uint32_t> ranks, entered;
    bool world = false;
  };
  std::map<std::string, Fence> fences;
  struct Mail {
    ProcId from;
    std::vector<std::byte> bytes;
    std::optional<Block> block;
  };
  std::map<std::uint32_t, std::deque<Mail>> inboxes;
};

/// The process manager as one process sees it, and counts what it is asked.
class Client final : public pmi::Component {
 public:
  /// `lock`: that of the call that this process is in, given away while a fence waits.
  Client(Job& job, std::uint32_t rank, std::unique_lock<std::mutex>* const& lock) : job_(job), lock_(lock) {
    identity_.rank = rank;
    identity_.size = job.size;
  }
  const pmi::Identity& identity() const noexcept override { return identity_; }
  const pmi::Capabilities& capabilities() const noexcept override { return job_.server; }
  Result<void> put(std::string_view key, std::span<const std::byte> value) override {
    ++counters_.puts;
    auto& shown = job_.server.get_without_fence ? job_.visible : job_.put;
    shown[{identity_.rank, std::string(key)}] = {value.begin(), value.end()};
    return {};
  }
  Result<pmi::Lookup> get(std::uint32_t rank, std::string_view key) override {
    ++counters_.gets;
    const auto found = job_.visible.find({rank, std::string(key)});
    if (found != job_.visible.end()) return pmi::Lookup{pmi::Found::value, found->second};
    return pmi::Lookup{job_.server.get_without_fence ? pmi::Found::not_yet : pmi::Found::none, {}};
  }
  Result<void> fence(Deadline deadline) override { return wait_in_fence({}, {}, deadline); }
  Result<void> fence(std::span<const std::uint32_t> ranks, std::string_view tag, Deadline deadline) override {
    return wait_in_fence(ranks, tag, deadline);
  }
  Result<pmi::Fence> fence_enter(std::span<const std::uint32_t> ranks, std::string_view tag,
                                 Deadline) override {
    ++counters_.fences;
    if (!ranks.empty() && !job_.server.group_fence) return fail(Errc::unsupported, "test", "no groups");
    std::string name = waits_ == 0 ? "world" : std::to_string(waits_) + " world";
    for (const std::uint32_t rank : ranks) name += "," + std::to_string(rank);
    if (!ranks.empty()) name += ":" + std::string(tag);
    Job::Fence& fence = job_.fences[name];
    fence.world = ranks.empty();
    fence.ranks = {ranks.begin(), ranks.end()};
    for (std::uint32_t rank = 0; fence.world && rank < job_.size; ++rank) fence.ranks.insert(rank);
    EXPECT_TRUE(fence.entered.insert(identity_.rank).second) << name << " is entered twice";
    if (fence.entered == fence.ranks) {
      for (const auto& [key, value] : job_.put) {
        if (fence.ranks.contains(key.first)) job_.visible[key] = value;
      }
    }
    job_.changed.notify_all();
    entered_.push_back(&fence);
    return pmi::Fence{static_cast<std::uint32_t>(entered_.size() - 1)};
  }
  Result<bool> fence_left(pmi::Fence fence) override {
    const Job::Fence& entered = *entered_.at(fence.number);
    if (!entered.world && job_.mute.contains(identity_.rank)) return false;
    return entered.entered == entered.ranks;
  }
  Result<void> publish(std::string_view name, std::string_view port) override {
    ++counters_.other;
    EXPECT_TRUE(job_.names.emplace(name, port).second) << name << " is published twice";
    return {};
  }
  Result<std::string> lookup(std::string_view name) override {
    ++counters_.other;
    const auto found = job_.names.find(std::string(name));
    if (found == job_.names.end()) return fail(Errc::not_found, "test", "no such name");
    return found->second;
  }
  Result<void> unpublish(std::string_view name) override {
    ++counters_.other;
    EXPECT_EQ(job_.names.erase(std::string(name)), 1u) << name << " is not published";
    return {};
  }
  void set_active(bool) noexcept override {}
  void abort(int, std::string_view) noexcept override { ADD_FAILURE() << "abort"; }
  int wait_fd() const noexcept override { return -1; }
  Result<void> check() override { return {}; }
  Counters counters() const noexcept override { return counters_; }
  /// All that the server was asked.
  [[nodiscard]] std::uint64_t asked() const noexcept {
    return counters_.puts + counters_.gets + counters_.fences + counters_.other;
  }

 private:
  /// The others progress meanwhile, this process does not: its bootstrap has not asked the control channel.
  /// Fences of this kind may follow one another, so each has a number.
  Result<void> wait_in_fence(std::span<const std::uint32_t> ranks, std::string_view tag, Deadline deadline) {
    if (ranks.size() == 1) return {};
    std::string members(tag);
    for (const std::uint32_t rank : ranks) members += "," + std::to_string(rank);
    waits_ = ++waited_[members];
    auto entered = fence_enter(ranks, tag, deadline);
    waits_ = 0;
    if (!entered) return fail(std::move(entered).error());
    while (!*fence_left(*entered)) {
      if (deadline.passed()) return fail(Errc::timed_out, "test", "a fence of the process manager");
      job_.changed.wait_for(*lock_, std::chrono::milliseconds(1));
    }
    return {};
  }

  Job& job_;
  std::unique_lock<std::mutex>* const& lock_;
  std::map<std::string, std::uint32_t> waited_;
  std::uint32_t waits_ = 0;  ///< the number of the fence that is being entered; 0: the control channel's
  pmi::Identity identity_;
  Counters counters_;
  std::vector<Job::Fence*> entered_;
};

/// One process: the component, and the control channel that the runtime is elsewhere.
class Process final : public ControlChannel {
 public:
  Process(Job& job, std::uint32_t rank) : client(job, rank, lock_), job_(job), self_{0, rank} {
    if (job.parameters) {
      params_ = job.parameters();
    } else {
      params::Places places;
      places.environment = job.settings;
      EXPECT_TRUE(params_.load(places));
      EXPECT_TRUE(params_.add("bootstrap", kParams));
    }
    component = job.make(Args{params_, client, *this, self_, job.size, &job.nodes});
    if (component == nullptr) return;  // whoever makes it has said why
    EXPECT_TRUE(component->publish({{kTransport, address_of(rank)}}));
  }

  /// Collective; `with`: what the plan would set.
  Result<ContextId> create(Creation creation, Deadline deadline) {
    std::unique_lock lock(job_.mutex);
    lock_ = &lock;
    auto id = component->create(creation, deadline);
    lock_ = nullptr;
    return id;
  }
  /// In no call: takes what arrives, as other calls of MPI do it.
  void progress() {
    const std::scoped_lock lock(job_.mutex);
    deliver();
  }
  [[nodiscard]] std::optional<std::vector<std::byte>> known_address(std::uint32_t rank) {
    const std::scoped_lock lock(job_.mutex);
    auto found = component->address({0, rank}, kTransport);
    if (!found || found->what != btl::Found::What::address) return std::nullopt;
    return found->address;
  }

  Result<void> send(ProcId to, std::span<const std::byte> message) override {
    outbox_.push_back({to, {self_, {message.begin(), message.end()}, {}}});
    return {};
  }
  Result<void> send_block(ProcId to, const Block& block) override {
    outbox_.push_back({to, {self_, {}, block}});
    return {};
  }
  std::uint64_t clock_ns() const noexcept override { return 0; }
  Result<void> pause(std::uint64_t, const std::function<std::string()>&) override {
    job_.changed.wait_for(*lock_, std::chrono::milliseconds(1));
    deliver();
    return {};
  }
  Result<void> wait(const std::function<bool()>& ready, Deadline deadline,
                    const std::function<std::string()>& what) override {
    for (;;) {
      deliver();
      if (ready()) return {};
      if (deadline.passed()) return fail(Errc::timed_out, "wait", what());
      job_.changed.wait_for(*lock_, std::chrono::milliseconds(1));
    }
  }
  std::optional<ProcId> dead_among(const ProcList&) noexcept override { return std::nullopt; }
  Result<void> fence(std::span<const std::uint32_t> ranks, std::string_view tag, Deadline deadline,
                     const std::function<bool()>& needless) override {
    // As the runtime: the world's is entered once.
    const auto open = ranks.empty() ? std::exchange(open_fence_, std::nullopt) : std::nullopt;
    auto entered = open ? Result<pmi::Fence>(*open) : client.fence_enter(ranks, tag, deadline);
    if (!entered) return fail(std::move(entered).error());
    job_.changed.notify_all();
    bool early = false;
    auto waited = wait([&] { return *client.fence_left(*entered) || (early = needless && needless()); },
                       deadline, [] { return std::string("a fence"); });
    if (early && ranks.empty()) open_fence_ = *entered;
    return waited;
  }

 private:
  void deliver() {
    std::erase_if(outbox_, [&](const auto& mail) {
      const auto& [to, content] = mail;
      if (job_.nodes.node_of(to.rank) != job_.nodes.node_of(self_.rank)) {
        auto found = component->address(to, kTransport);
        if (!found || found->what != btl::Found::What::address) return false;
        EXPECT_EQ(text_of(found->address), text_of(address_of(to.rank)))
            << "address() gives rank " << self_.rank << " another address for rank " << to.rank
            << " than that one has published";
      }
      job_.inboxes[to.rank].push_back(content);
      job_.changed.notify_all();
      return true;
    });
    auto& inbox = job_.inboxes[self_.rank];
    while (!inbox.empty()) {
      Job::Mail mail = std::move(inbox.front());
      inbox.pop_front();
      if (mail.block) {
        component->on_block(mail.from, std::move(*mail.block));
      } else {
        component->on_control(mail.from, mail.bytes);
      }
    }
  }

 public:
  Client client;
  std::shared_ptr<Component> component;

 private:
  Job& job_;
  ProcId self_;
  params::Registry params_;
  std::deque<std::pair<ProcId, Job::Mail>> outbox_;
  std::optional<pmi::Fence> open_fence_;
  std::unique_lock<std::mutex>* lock_ = nullptr;
};

}  // namespace starling::bootstrap::test
