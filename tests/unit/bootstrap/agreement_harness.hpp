// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Processes that agree on context ids: one thread each, and a control channel in memory. Layer:
/// tests.

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "frameworks/bootstrap/agreement.hpp"
#include "tests/conformance/bootstrap/lists.hpp"

namespace starling::bootstrap::agreement_test {

using test::list;

/// All processes of a test and the messages between them. One mutex stands for every process's runtime lock.
struct Network {
  std::mutex mutex;
  std::condition_variable changed;
  struct Mail {
    ProcId from;
    std::vector<std::byte> bytes;
    std::optional<Block> block;
  };
  std::map<std::uint32_t, std::deque<Mail>> inboxes;
  std::uint64_t sent = 0;
  std::uint64_t now_ns = 0;  ///< 0: nobody looks around while waiting
  std::optional<ProcId> dead;
};

class Process final : public ControlChannel {
 public:
  Process(Network& network, std::uint32_t rank, const Settings* settings = nullptr)
      : network_(network),
        self_{0, rank},
        consistency(*this, settings, nullptr, [this](ProcId to) { return reaches(to); }),
        agreement(*this, self_, nullptr, consistency) {}

  Result<void> send(ProcId to, std::span<const std::byte> message) override {
    if (!hears(to)) return fail(Errc::unreachable, "send", text_of(to) + " hears nothing");
    network_.inboxes[to.rank].push_back({self_, {message.begin(), message.end()}, {}});
    ++network_.sent;
    network_.changed.notify_all();
    return {};
  }
  Result<void> send_block(ProcId to, const Block& block) override {
    network_.inboxes[to.rank].push_back({self_, {}, block});
    network_.changed.notify_all();
    return {};
  }
  std::uint64_t clock_ns() const noexcept override { return network_.now_ns; }
  Result<void> pause(std::uint64_t, const std::function<std::string()>&) override {
    return fail(Errc::unsupported, "pause", "agreeing needs no pauses");
  }
  Result<void> wait(const std::function<bool()>& ready, Deadline deadline,
                    const std::function<std::string()>& what) override {
    while (true) {
      deliver();
      if (ready()) return {};
      if (deadline.passed()) return fail(Errc::timed_out, "wait", "a hint; hang help would say: " + what());
      network_.changed.wait_for(*lock_, std::chrono::milliseconds(2));
    }
  }
  std::optional<ProcId> dead_among(const ProcList& members) noexcept override {
    return network_.dead && members.find(*network_.dead) ? network_.dead : std::nullopt;
  }
  Result<void> fence(std::span<const std::uint32_t>, std::string_view, Deadline,
                     const std::function<bool()>&) override {
    return fail(Errc::unsupported, "fence", "agreeing needs no process manager");
  }

  Result<ContextId> create(const ProcListPtr& members, const std::string& tag, Deadline deadline = {}) {
    std::unique_lock lock(network_.mutex);
    lock_ = &lock;
    const Creation creation{members, tag};
    const Consistency::Call call(consistency, creation);
    return agreement.agree(call, deadline);
  }
  /// In no call: only what arrives is taken, as other calls of MPI do it.
  void progress() {
    const std::scoped_lock lock(network_.mutex);
    deliver();
  }
  void deliver() {
    auto& inbox = network_.inboxes[self_.rank];
    while (!inbox.empty()) {
      const Network::Mail mail = std::move(inbox.front());
      inbox.pop_front();
      if (mail.block) {
        EXPECT_TRUE(consistency.take(mail.from, *mail.block));
      } else {
        agreement.on_control(mail.from, mail.bytes);
      }
    }
  }

 private:
  Network& network_;
  ProcId self_;
  std::unique_lock<std::mutex>* lock_ = nullptr;

 public:
  std::function<bool(ProcId)> reaches = [](ProcId) { return true; };
  std::function<bool(ProcId)> hears = [](ProcId) { return true; };
  Consistency consistency;
  Agreement agreement;
};

/// Every rank of `ranks` creates at once; returns the ids.
inline std::vector<ContextId> create_everywhere(Network& network,
                                                std::map<std::uint32_t, std::unique_ptr<Process>>& processes,
                                                const std::vector<std::uint32_t>& ranks,
                                                const std::string& tag) {
  (void)network;
  std::vector<ContextId> ids(ranks.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    threads.emplace_back([&, i] {
      auto id = processes.at(ranks[i])->create(list(ranks), tag, Deadline::after_seconds(60));
      ASSERT_TRUE(id) << id.error().text();
      ids[i] = *id;
    });
  }
  for (std::thread& thread : threads) thread.join();
  return ids;
}

inline std::map<std::uint32_t, std::unique_ptr<Process>> processes_of(Network& network, std::uint32_t count) {
  std::map<std::uint32_t, std::unique_ptr<Process>> processes;
  for (std::uint32_t rank = 0; rank < count; ++rank)
    processes[rank] = std::make_unique<Process>(network, rank);
  return processes;
}

}  // namespace starling::bootstrap::agreement_test
