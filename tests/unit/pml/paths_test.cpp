// SPDX-License-Identifier: BSD-3-Clause
// Several networks to one peer, one slower than the other: matching order, fragments, limits, cancel, loss.
#include <cstring>

#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

using peer::PathUse;
using peer::Reorder;

/// Two processes, two networks: what the second carries shows many progress calls later.
class TwoNetworks {
 public:
  explicit TwoNetworks(PathUse use, unsigned delay = 20, Large large = Large::ring)
      : TwoNetworks(config(use), delay, large) {}
  TwoNetworks(const Config& config, unsigned delay, Large large)
      : slow_(2, options(delay)), job(2, options(0), large, config) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      slow_.at(rank).attach(job.at(rank).sink());
      job.at(rank).add_transport(slow_.at(rank));
    }
  }
  PairBtl& fast(std::uint32_t rank) { return job.network.at(rank); }
  PairBtl& slow(std::uint32_t rank) { return slow_.at(rank); }
  void inject(std::uint32_t from, std::uint32_t to, std::vector<std::byte> message) {
    slow_.inject(from, to, std::move(message));
  }
  /// A message may show no sign of itself for as long as the slow network delays it.
  void settle() { job.settle(60); }
  static Config config(PathUse use) {
    Config made;
    made.paths_max = 2;
    made.eager_limit = 512;
    made.path_use = use;
    return made;
  }

 private:
  static PairOptions options(unsigned delay) {
    PairOptions made;
    made.reach = btl::Reach::network;
    made.delay = delay;
    made.capacity = 4096;
    made.writes = made.copies = true;
    return made;
  }
  PairNetwork slow_;

 public:
  Job job;
};

std::size_t numbered(PairBtl& btl) { return btl.sent(std::uint8_t(peer::wire::Kind::numbered)); }

TEST(Paths, messages_of_all_kinds_match_in_the_order_sent) {
  TwoNetworks two(PathUse::alternate);
  const std::vector<std::size_t> sizes = {0, 8, 500, 3000, 40'000};  // eager and announced
  constexpr std::uint64_t kCount = 300;
  std::vector<OpPtr> ops;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const Mode mode = i % 7 == 3 ? Mode::synchronous : Mode::standard;
    ops.push_back(two.job.isend(0, 1, 5, filled(sizes[i % sizes.size()], i), mode));
  }
  std::vector<OpPtr> receives;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    receives.push_back(two.job.irecv(1, i % 2 == 0 ? 0 : kAny, 5, 40'000));
    if (i % 10 == 0) two.job.progress();
  }
  two.settle();
  for (std::uint64_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(ops[i]->complete() && receives[i]->complete()) << i;
    ASSERT_EQ(receives[i]->status().bytes, sizes[i % sizes.size()]) << "an inversion at " << i;
    receives[i]->data.resize(sizes[i % sizes.size()]);
    ASSERT_EQ(receives[i]->data, filled(sizes[i % sizes.size()], i)) << i;
  }
  EXPECT_GT(numbered(two.fast(0)), kCount / 3);
  EXPECT_GT(numbered(two.slow(0)), kCount / 3);
  EXPECT_TRUE(two.job.drained());
  const auto notes = two.job.notes(1);
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("put back in order") != note.npos;
  }));
}

TEST(Paths, fragments_take_both_and_land_where_they_belong) {
  TwoNetworks two(PathUse::spill);
  const Strided triples(3, 5);
  for (const bool strided : {false, true}) {
    auto receive = two.job.irecv(1, 0, 1, 90'000);
    auto send = two.job.make(0, 1, 1, filled(strided ? 150'000 : 90'000, 3));
    if (strided) send->request.buffer = {send->data.data(), 90'000, 30'000, &triples};
    two.job[0].isend(send->request);
    two.settle();
    ASSERT_TRUE(send->complete() && receive->complete()) << strided;
    for (std::size_t i = 0; i < 90'000; ++i) {
      ASSERT_EQ(receive->data[i], send->data[strided ? i / 3 * 5 + i % 3 : i]) << strided << " " << i;
    }
  }
  const auto data_at = std::uint8_t(wire::Kind::data_at);
  EXPECT_GT(two.fast(0).sent(data_at), 50u);
  EXPECT_GT(two.slow(0).sent(data_at), 50u);
  EXPECT_EQ(numbered(two.slow(0)), 0u) << "spill: the best path takes what it can";
}

/// Each message is a short announcement and one fragment: in turn by number, one path would have all data.
TEST(Paths, in_turn_each_path_gets_as_many_bytes) {
  TwoNetworks two(PathUse::alternate, 0);
  constexpr std::uint64_t kCount = 100;
  constexpr std::size_t kBytes = 560;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    auto send = two.job.isend(0, 1, 1, filled(kBytes, i));
    auto receive = two.job.irecv(1, 0, 1, kBytes);
    two.settle();
    ASSERT_TRUE(receive->complete() && send->complete()) << i;
    ASSERT_EQ(receive->data, filled(kBytes, i)) << i;
  }
  const auto data_at = std::uint8_t(wire::Kind::data_at);
  EXPECT_EQ(two.fast(0).sent(data_at), kCount / 2);
  EXPECT_EQ(two.slow(0).sent(data_at), kCount / 2);
}

TEST(Paths, more_messages_than_the_window_wait_at_the_sender) {
  TwoNetworks two(PathUse::alternate, 100);
  constexpr std::uint64_t kCount = 4 * Reorder::kWindow;
  std::vector<OpPtr> sends, receives;
  for (std::uint64_t i = 0; i < kCount; ++i) sends.push_back(two.job.isend(0, 1, 1, filled(8, i)));
  EXPECT_EQ(numbered(two.fast(0)) + numbered(two.slow(0)), Reorder::kWindow);
  for (std::uint64_t i = 0; i < kCount; ++i) receives.push_back(two.job.irecv(1, 0, 1, 8));
  two.job.settle(200);
  for (std::uint64_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(receives[i]->complete()) << i;
    ASSERT_EQ(receives[i]->data, filled(8, i)) << i;
  }
  EXPECT_TRUE(two.job.drained());
}

TEST(Paths, a_cancel_does_not_overtake_its_message) {
  TwoNetworks two(PathUse::alternate);
  for (int i = 0; i < 10; ++i) {
    auto send = two.job.isend(0, 1, 1, filled(20'000, 1));
    two.job[0].cancel(send->request);
    two.settle();
    ASSERT_TRUE(send->complete()) << i;
    EXPECT_TRUE(send->status().cancelled) << i;
  }
}

TEST(Paths, a_full_path_leaves_its_messages_to_the_other) {
  TwoNetworks two(PathUse::spill, 0);
  two.job.network.options.capacity = 3;
  std::vector<OpPtr> sends;
  for (std::uint64_t i = 0; i < 50; ++i) sends.push_back(two.job.isend(0, 1, 1, filled(8, i)));
  EXPECT_EQ(numbered(two.fast(0)), 3u);
  EXPECT_EQ(numbered(two.slow(0)), 47u);
  for (std::uint64_t i = 0; i < 50; ++i) {
    auto receive = two.job.irecv(1, 0, 1, 8);
    two.settle();
    ASSERT_TRUE(receive->complete()) << i;
    ASSERT_EQ(receive->data, filled(8, i)) << i;
  }
}

TEST(Paths, numbers_out_of_turn_are_dropped_and_noted) {
  TwoNetworks two(PathUse::alternate);
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1} << 40, Reorder::kWindow + 1}) {
    const peer::wire::Numbered header{{peer::wire::Kind::numbered, 0, 0, 0}, number};
    const auto bytes = wire::bytes_of(header);
    two.inject(0, 1, {bytes.begin(), bytes.end()});  // a number and nothing behind it
    std::vector<std::byte> twice(bytes.begin(), bytes.end());
    twice.insert(twice.end(), bytes.begin(), bytes.end());
    two.inject(0, 1, twice);
    twice.back() = std::byte{0xff};
    twice[sizeof header] = std::byte{1};  // an eager message too short for its head
    two.inject(0, 1, twice);
  }
  const peer::wire::Numbered passed{{peer::wire::Kind::passed, 0, 0, 0}, 3};
  const auto bytes = wire::bytes_of(passed);
  two.inject(0, 1, {bytes.begin(), bytes.end()});
  two.settle();
  EXPECT_EQ(two.job.notes(1).size(), 1u);
  auto receive = two.job.irecv(1, 0, 1, 8);
  auto send = two.job.isend(0, 1, 1, filled(8, 1));
  two.settle();
  EXPECT_TRUE(receive->complete() && send->complete());
}

TEST(Paths, senders_are_told_of_no_receive_where_messages_take_several) {
  for (const unsigned paths : {1u, 2u}) {
    Config config = TwoNetworks::config(PathUse::alternate);
    config.paths_max = paths;
    config.early_push = EarlyPush::always;
    TwoNetworks two(config, 20, Large::ring);
    std::vector<OpPtr> ops;
    for (int round = 0; round < 6; ++round) {
      for (const std::uint32_t from : {0u, 1u}) {
        ops.push_back(two.job.irecv(1 - from, int(from), 1, 9000));
        two.settle();
        ops.push_back(two.job.isend(from, int(1 - from), 1, filled(9000, std::uint64_t(round))));
        two.settle();
      }
    }
    for (const OpPtr& op : ops) ASSERT_TRUE(op->complete());
    bool told = false;
    for (const std::string& note : two.job.notes(0)) told |= note.find("senders were told of") == 0;
    EXPECT_EQ(told, paths == 1);
  }
}

TEST(Paths, a_peer_lost_on_one_path_is_lost) {
  TwoNetworks two(PathUse::alternate);
  auto receive = two.job.irecv(1, 0, 1, 8);
  auto sent = two.job.isend(1, 0, 9, filled(8, 1));
  two.slow(1).lose(0);
  two.settle();
  ASSERT_TRUE(receive->complete());
  EXPECT_EQ(receive->status().fault, Fault::peer_lost);
}

TEST(Paths, one_network_sends_what_it_always_sent) {
  PairOptions options;
  options.reach = btl::Reach::network;
  Config config;
  config.paths_max = 2;
  Job job(2, options, Large::ring, config);
  auto receive = job.irecv(1, 0, 1, 8);
  auto send = job.isend(0, 1, 1, filled(8, 1));
  job.settle();
  EXPECT_TRUE(receive->complete() && send->complete());
  EXPECT_EQ(numbered(job.network.at(0)), 0u);
  EXPECT_EQ(job.network.at(0).sent(std::uint8_t(wire::Kind::eager)), 1u);
}

}  // namespace
}  // namespace starling::pml::test
