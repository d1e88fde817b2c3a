// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Several pmls over the test btl, and short ways to send and receive. Layer: tests.

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "frameworks/pml/layout.hpp"
#include "frameworks/pml/pml.hpp"
#include "tests/conformance/pml/pair.hpp"

namespace starling::pml::test {

/// Processes `first`, `first + 1` ... of world 0.
class Strip final : public ProcList {
 public:
  explicit Strip(std::uint32_t size, std::uint32_t first = 0) : size_(size), first_(first) {}
  std::uint32_t size() const noexcept override { return size_; }
  ProcId at(std::uint32_t index) const noexcept override { return {0, first_ + index}; }
  std::optional<std::uint32_t> find(ProcId proc) const noexcept override {
    if (proc.world != 0 || proc.rank < first_ || proc.rank - first_ >= size_) return std::nullopt;
    return proc.rank - first_;
  }
  bool consecutive() const noexcept override { return true; }

 private:
  std::uint32_t size_, first_;
};

/// `block` bytes of every `stride`.
class Strided final : public Layout {
 public:
  Strided(std::uint64_t block, std::uint64_t stride) : block_(block), stride_(stride) {}
  std::uint64_t packed_bytes() const noexcept override { return block_; }
  void pack(const void* base, std::uint64_t, std::uint64_t offset, std::byte* to,
            std::size_t bytes) const noexcept override {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<const std::byte*>(base)[place(offset + i)];
  }
  void unpack(void* base, std::uint64_t, std::uint64_t offset, const std::byte* from,
              std::size_t bytes) const noexcept override {
    for (std::size_t i = 0; i < bytes; ++i) static_cast<std::byte*>(base)[place(offset + i)] = from[i];
  }

 private:
  std::uint64_t place(std::uint64_t packed) const { return packed / block_ * stride_ + packed % block_; }
  std::uint64_t block_, stride_;
};

inline std::byte pattern(std::uint64_t seed, std::uint64_t index) {
  return static_cast<std::byte>((seed * 131 + index * 7 + (index >> 8)) & 0xff);
}
inline std::vector<std::byte> filled(std::size_t bytes, std::uint64_t seed) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = pattern(seed, i);
  return data;
}

/// A request with its buffer.
struct Op {
  Request request;
  std::vector<std::byte> data;
  bool complete() const { return request.complete.load(); }
  const Status& status() const { return request.status; }
};
using OpPtr = std::unique_ptr<Op>;

inline constexpr ContextId kWorld = ContextId::make(0, 1);

/// `Pointer`: owns a pml. Who derives from it makes one for each process, with join().
template <class Pointer>
class JobOf {
 public:
  JobOf(std::uint32_t size, const PairOptions& options) : network(size, options) {}

  /// The next process: `make(peers)` gives its pml.
  template <class Make>
  void join(Make make) {
    const auto rank = static_cast<std::uint32_t>(engines.size());
    peers.push_back(std::make_unique<peer::Peers>());
    engines.push_back(make(*peers[rank]));
    if (engines[rank] == nullptr) return;
    network.at(rank).attach(peers[rank]->sink());
    peers[rank]->add_transport(network.at(rank));
    contexts.push_back(open(rank, kWorld));
  }
  Context* open(std::uint32_t rank, ContextId id) {
    auto made = engines[rank]->open(id, Rank{std::int32_t(rank)}, std::make_shared<Strip>(network.size()));
    EXPECT_TRUE(made);
    return *made;
  }
  auto& operator[](std::uint32_t rank) { return *engines[rank]; }
  peer::Peers& at(std::uint32_t rank) { return *peers[rank]; }
  /// What the report would say: of the peers, then of the pml.
  std::vector<std::string> notes(std::uint32_t rank) const {
    std::vector<std::string> all = peers[rank]->counters().notes;
    for (std::string& note : engines[rank]->counters().notes) all.push_back(std::move(note));
    return all;
  }

  OpPtr make(std::uint32_t me, int rank, int tag, std::vector<std::byte> data) {
    auto op = std::make_unique<Op>();
    op->data = std::move(data);
    op->request.buffer = {op->data.data(), op->data.size(), 0, nullptr};
    op->request.context = contexts[me];
    op->request.rank = Rank{rank};
    op->request.tag = Tag{tag};
    return op;
  }
  OpPtr isend(std::uint32_t me, int to, int tag, std::vector<std::byte> data, Mode mode = Mode::standard) {
    auto op = make(me, to, tag, std::move(data));
    op->request.mode = mode;
    engines[me]->isend(op->request);
    return op;
  }
  OpPtr irecv(std::uint32_t me, int from, int tag, std::size_t bytes) {
    auto op = make(me, from, tag, std::vector<std::byte>(bytes, std::byte{0xcc}));
    engines[me]->irecv(op->request);
    return op;
  }
  void progress() {
    for (auto& each : peers) each->progress();
  }
  /// Progresses everybody until nothing moves any more.
  void settle(int quiet_rounds = 8) {
    for (int quiet = 0, round = 0; quiet < quiet_rounds && round < 1'000'000; ++round) {
      int events = 0;
      for (auto& each : peers) events += each->progress();
      quiet = events == 0 ? quiet + 1 : 0;
    }
  }
  bool drained() const {
    for (const auto& each : peers) {
      if (!each->drained()) return false;
    }
    return true;
  }

  PairNetwork network;
  std::vector<std::unique_ptr<peer::Peers>> peers;
  std::vector<Pointer> engines;
  std::vector<Context*> contexts;
};

inline constexpr int kAny = -1;        // kAnySource
inline constexpr int kAnyTagInt = -2;  // kAnyTag

}  // namespace starling::pml::test
