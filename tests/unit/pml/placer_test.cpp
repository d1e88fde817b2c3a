// SPDX-License-Identifier: BSD-3-Clause
// Which messages stay where their transport has received them, and that each goes back once.
#include "frameworks/pml/placer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "tests/conformance/pml/job.hpp"

namespace starling::pml::test {
namespace {

constexpr std::size_t kLength = Placer::kKeepBytes;

struct KeeperOfTest final : btl::Keeper, HeldBytes {
  HeldBytes* keep(std::span<const std::byte> bytes) noexcept override {
    if (refuses) return nullptr;
    ++out;
    last = bytes;
    return this;
  }
  void release() noexcept override { --out; }
  bool refuses = false;
  int out = 0;
  std::span<const std::byte> last;
};

/// A receive without memory, which finds some of its own, or takes what was kept.
struct PlacementOfTest final : Layout, Placement {
  Placement* placement() const noexcept override { return const_cast<PlacementOfTest*>(this); }
  bool place(Buffer& buffer, std::uint64_t bytes) noexcept override {
    memory.resize(bytes);
    buffer = {memory.data(), bytes, 0, nullptr};
    return has_memory;
  }
  bool adopt(Buffer&, std::uint64_t, std::uint64_t) noexcept override { return false; }
  bool keep(Buffer& buffer, std::byte* where, std::uint64_t bytes, HeldBytes&) noexcept override {
    if (!takes) return false;
    buffer = {where, bytes, 0, nullptr};
    return true;
  }
  shm::BufferPool& pool() noexcept override { std::abort(); }
  std::uint64_t packed_bytes() const noexcept override { return 1; }
  void pack(const void*, std::uint64_t, std::uint64_t, std::byte*, std::size_t) const noexcept override {}
  void unpack(void*, std::uint64_t, std::uint64_t, const std::byte*, std::size_t) const noexcept override {}
  std::vector<std::byte> memory;
  bool takes = true, has_memory = true;
};

struct PlacerTest : testing::Test {
  PlacerTest() {
    peer.contact->keeper = &keeper;
    const auto bytes = filled(kLength + 64, 3);
    std::copy(bytes.begin(), bytes.end(), arrived.begin());
  }
  /// What the receive has then.
  const std::byte* place(std::size_t at, std::size_t bytes,
                         Placer::Payload lies = Placer::Payload::arriving) {
    buffer = {nullptr, kLength + 64, 0, &receive};
    EXPECT_TRUE(placer.place(buffer, peer, arrived.data() + at, bytes, lies));
    EXPECT_EQ(buffer.bytes, bytes);
    EXPECT_EQ(std::memcmp(buffer.base, arrived.data() + at, bytes), 0);
    return static_cast<const std::byte*>(buffer.base);
  }
  bool kept(std::size_t at, std::size_t bytes, Placer::Payload lies = Placer::Payload::arriving) {
    return place(at, bytes, lies) == arrived.data() + at;
  }
  std::uint64_t copied() const {
    const Placer::Counters& all = placer.counters();
    return all.brief + all.late + all.scattered + all.unaligned + all.refused;
  }

  alignas(64) std::array<std::byte, kLength + 64> arrived;
  Peer peer{ProcId{0, 1}, 1000};
  KeeperOfTest keeper;
  PlacementOfTest receive;
  Buffer buffer;
  Placer placer;
};

TEST_F(PlacerTest, what_can_stay_becomes_the_buffer) {
  EXPECT_TRUE(kept(16, kLength));
  EXPECT_EQ(keeper.out, 1);
  EXPECT_EQ(keeper.last.data(), arrived.data() + 16);
  EXPECT_EQ(keeper.last.size(), kLength);
  EXPECT_EQ(placer.counters().kept, 1u);
  EXPECT_EQ(placer.counters().kept_bytes, kLength);
  EXPECT_EQ(copied(), 0u);
}

TEST_F(PlacerTest, what_cannot_stay_is_copied_and_nothing_is_held) {
  EXPECT_FALSE(kept(16, kLength - 1));
  EXPECT_EQ(placer.counters().brief, 1u);
  EXPECT_FALSE(kept(16, kLength, Placer::Payload::stored));
  EXPECT_EQ(placer.counters().late, 1u);
  EXPECT_FALSE(kept(8, kLength));
  EXPECT_EQ(placer.counters().unaligned, 1u);
  receive.takes = false;
  EXPECT_FALSE(kept(16, kLength));
  EXPECT_EQ(placer.counters().scattered, 1u);
  receive.takes = true;
  keeper.refuses = true;
  EXPECT_FALSE(kept(16, kLength));
  EXPECT_EQ(placer.counters().refused, 1u);
  EXPECT_EQ(copied(), 5u);
  EXPECT_EQ(placer.counters().kept, 0u);
  EXPECT_EQ(keeper.out, 0);
}

TEST_F(PlacerTest, where_nothing_can_be_kept_nothing_is_counted) {
  peer.contact->keeper = nullptr;
  EXPECT_FALSE(kept(16, kLength));
  EXPECT_EQ(copied(), 0u);
  std::vector<std::string> notes;
  placer.add_notes(notes);
  EXPECT_TRUE(notes.empty());
}

TEST_F(PlacerTest, without_memory_it_says_so) {
  receive.has_memory = false;
  keeper.refuses = true;
  buffer = {nullptr, kLength, 0, &receive};
  EXPECT_FALSE(placer.place(buffer, peer, arrived.data(), kLength, Placer::Payload::arriving));
}

TEST_F(PlacerTest, the_report_has_each_reason) {
  (void)place(0, kLength);
  (void)place(0, 10);
  (void)place(0, 10);
  (void)place(0, kLength, Placer::Payload::stored);
  std::vector<std::string> notes;
  placer.add_notes(notes);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0],
            "1 messages of 4096 bytes for receive buffers of the library's stayed where the transport had "
            "received them");
  EXPECT_EQ(notes[1],
            "messages copied to receive buffers of the library's: 2 shorter than 4096 bytes, 1 that came "
            "before their receives");
}

}  // namespace
}  // namespace starling::pml::test
