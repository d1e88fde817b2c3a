// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A btl for tests: queues within one program, whose behaviour a test switches. Layer: tests.
///
/// Threads:   one.
/// Ownership: the network owns its components.
/// Errors:    messages are delivered from exact-size copies, so that a sanitizer sees every overrun.

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "frameworks/btl/btl.hpp"

namespace starling::pml::test {

/// Set by tests that refuse memory to the engines; the network of a test always has some.
inline thread_local bool starving = false;

enum class GetMode { none, done, later, fails, fails_at_second, refuses_probe };

struct PairOptions {
  std::size_t message_max = 4096;
  std::size_t eager = 1024;
  std::size_t fragment = 600;  // header included
  std::size_t capacity = 64;   // messages per direction
  unsigned again_percent = 0;  // of sends that are refused at random
  unsigned delay = 0;          // receiver's progress calls before a message shows
  GetMode get = GetMode::none;
  std::vector<std::uint64_t> access_domains;  ///< of each rank's gets; missing: 0
  btl::Reach reach = btl::Reach::node;
  btl::AddressSource address = btl::AddressSource::computed;
  bool writes = false;          ///< endpoints write to memory of other ranks, that is mapped
  bool copies = false;          ///< with `writes`: instead the kernel copies there
  bool rings = false;           ///< await_room() promises to wake
  std::size_t part = 0;         ///< payload of a part of an eager message; 0: it goes whole
  std::size_t parts_above = 0;  ///< the longest that goes whole all the same
  std::size_t parted = 0;       ///< the longest that goes in parts
  std::size_t send_from = 0;    ///< from here on a payload is read when it is delivered; 0: it is copied
  std::size_t join = 0;         ///< up to here too, as messages are that wait for others (btl::Limits)
  /// Which world each process is of; missing: all are of one. A process sees its own world as 0, world w as
  /// 1 + w.
  std::vector<std::uint32_t> worlds;
};

/// How an endpoint lends, or null: not at all. Whoever links the pair defines it: tests of our protocols
/// lend, the suite does not.
[[nodiscard]] std::shared_ptr<btl::Loans> make_pair_loans();

class PairNetwork;

class PairBtl final : public btl::Component {
 public:
  PairBtl(PairNetwork& network, std::uint32_t self);
  void attach(btl::Sink& sink) { sink_ = &sink; }

  std::string_view name() const noexcept override { return "pair"; }
  const btl::Limits& limits() const noexcept override { return limits_; }
  const btl::Needs& needs() const noexcept override { return needs_; }
  std::vector<std::byte> address() const override { return {}; }
  Result<void> reaches(ProcId peer) const override;
  Result<btl::Endpoint*> connect(ProcId peer, std::span<const std::byte> address) override;
  [[nodiscard]] Result<std::unique_ptr<btl::Exposed>> expose(std::span<std::byte>) override {
    return fail(Errc::unsupported, "pair", "it moves messages only");
  }
  int progress() noexcept override;
  bool begin_sleep() noexcept override { return false; }
  void end_sleep() noexcept override {}
  int wait_fd() const noexcept override { return -1; }
  bool drained() const noexcept override { return true; }
  void set_idle(bool idle) noexcept override { told_idle.push_back(idle); }
  Counters counters() const override { return {}; }

  /// The next progress() or, with `during_send`, the next send reports that `rank` is gone.
  void lose(std::uint32_t rank, bool during_send = false) {
    (during_send ? lose_in_send_ : lose_next_) = int(rank);
  }
  /// Every message that was sent from here, by its first byte (the kind).
  std::size_t sent(std::uint8_t kind) const { return sent_.at(kind); }
  std::size_t gets = 0;
  std::string refusal;  // not empty: reaches() says so for every peer
  std::vector<std::byte> connected_with;
  std::vector<bool> told_idle;

 private:
  friend class PairEndpoint;
  void lost(std::uint32_t rank);
  PairNetwork& network_;
  std::uint32_t self_;
  btl::Limits limits_;
  btl::Needs needs_;
  btl::Sink* sink_ = nullptr;
  std::vector<std::unique_ptr<btl::Endpoint>> endpoints_;
  std::vector<btl::Origin> origins_;
  std::vector<std::pair<btl::Completion*, bool>> completions_;
  std::vector<std::size_t> sent_ = std::vector<std::size_t>(256);
  int lose_next_ = -1, lose_in_send_ = -1;
};

class PairNetwork {
 public:
  PairNetwork(std::uint32_t size, const PairOptions& options);
  PairBtl& at(std::uint32_t rank) { return *components_[rank]; }
  std::uint32_t size() const { return std::uint32_t(components_.size()); }
  /// How process `viewer` calls process `whom`, and who that is that it calls so.
  ProcId proc(std::uint32_t viewer, std::uint32_t whom) const;
  std::optional<std::uint32_t> find(std::uint32_t viewer, ProcId proc) const;
  /// Puts bytes on a queue as if `from` had sent them.
  void inject(std::uint32_t from, std::uint32_t to, std::vector<std::byte> message) {
    queues_[from][to].push_back({std::move(message), 0});
  }
  bool empty() const;
  PairOptions options;
  bool copies_fail = false;           ///< in the middle
  std::function<void()> before_copy;  ///< what happens when a sender has taken its permit
  btl::Writes::Permits permits_of(std::uint32_t rank) { return permits_[rank]; }

 private:
  friend class PairBtl;
  friend class PairEndpoint;
  struct InFlight {
    std::vector<std::byte> bytes;
    unsigned delay;
    std::span<const std::byte> payload{};  // behind these, in the sender's memory
    btl::Completion* completion = nullptr;
  };
  std::vector<std::unique_ptr<PairBtl>> components_;
  std::vector<std::vector<std::deque<InFlight>>> queues_;  // [from][to]
  std::mt19937 random_{12345};
  std::vector<std::array<std::atomic<std::uint64_t>, 4>> permits_;
};

}  // namespace starling::pml::test
