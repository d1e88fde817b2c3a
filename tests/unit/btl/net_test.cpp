// SPDX-License-Identifier: BSD-3-Clause
// What the network btls share: cards, frames.

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>

#include "frameworks/btl/net/arrivals.hpp"
#include "frameworks/btl/net/card.hpp"
#include "frameworks/btl/net/link.hpp"
#include "tests/conformance/btl/collector.hpp"
#include "tests/unit/shm/segments.hpp"

namespace starling::test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BtlConformance);  // only its helpers are used here

namespace {

TEST(NetCard, what_was_encoded_is_decoded) {
  const btl::net::Card card{"ucx 1.13", "10.0.0.1 (eth0)", 77, make_message(3, 91), 5};
  const auto read = btl::net::decode(btl::net::encode(card));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->protocol, card.protocol);
  EXPECT_EQ(read->place, card.place);
  EXPECT_EQ(read->token, card.token);
  EXPECT_EQ(read->address, card.address);
  EXPECT_EQ(read->machine, card.machine);
  EXPECT_TRUE(btl::net::compatible(*read, "ucx 1.13"));
  const auto other = btl::net::compatible(*read, "ucx 1.18");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().text(), testing::AllOf(testing::HasSubstr("1.13"), testing::HasSubstr("1.18"),
                                                   testing::HasSubstr("10.0.0.1")));
}

/// A frame as a link makes it.
std::vector<std::byte> make_frame(btl::net::FrameHead head, const std::vector<std::size_t>& sizes) {
  std::vector<std::byte> frame(sizeof(head));
  std::memcpy(frame.data(), &head, sizeof(head));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const btl::net::RecordHead record{static_cast<std::uint32_t>(sizes[i]), 0};
    const std::size_t at = frame.size();
    frame.resize(at + btl::net::record_bytes(sizes[i]));
    std::memcpy(frame.data() + at, &record, sizeof(record));
    const auto message = make_message(i, sizes[i]);
    if (!message.empty()) std::memcpy(frame.data() + at + sizeof(record), message.data(), message.size());
  }
  return frame;
}

/// A library that takes as many frames as it is told, and completes none by itself.
class FakeLink final : public btl::net::Link {
 public:
  explicit FakeLink(btl::net::Links& links) : Link(links, ProcId{0, 1}, 99, "fake") {}
  std::uint32_t takes = 0;
  std::vector<btl::net::Frame*> taken;

 private:
  Post post(btl::net::Frame& frame) noexcept override {
    if (takes == 0) return Post::again;
    --takes;
    taken.push_back(&frame);
    return Post::posted;
  }
};

struct NetArrivals : testing::Test {
  Collector sink;
  btl::Component::Counters counters;
  btl::net::Arrivals arrivals{sink, btl::Place{ProcId{0, 0}, 4}, 99, counters};
};

TEST(NetFragment, leaves_in_one_packet_of_the_kernel) {
  constexpr std::size_t kLibrarysHead = 64;  // UCX's and libfabric's are shorter
  constexpr std::size_t kMostOfPacket = 65'215;
  const std::size_t frame =
      sizeof(btl::net::FrameHead) + btl::net::record_bytes(btl::net::kFragmentBytes) + kLibrarysHead;
  for (const std::size_t mtu : {1500, 9000, 65'536}) {
    const std::size_t segment = mtu - 52;  // IP, TCP, time stamps
    const std::size_t packet = std::max(segment, kMostOfPacket / segment * segment);
    EXPECT_LE(frame, packet) << "MTU " << mtu;
    EXPECT_GE(frame, packet * 9 / 10) << "MTU " << mtu;
  }
}

TEST_F(NetArrivals, several_messages_of_one_frame_arrive_in_order) {
  EXPECT_EQ(arrivals.deliver(make_frame({99, 2}, {0, 1, 7, 8, 9, 300})), 6);
  ASSERT_EQ(sink.messages.size(), 6u);
  EXPECT_EQ(sink.messages[5].bytes, make_message(5, 300));
  EXPECT_EQ(sink.messages[5].from, (ProcId{0, 2}));
}

TEST_F(NetArrivals, a_frame_about_closing_delivers_nothing_and_is_taken_once) {
  using btl::net::FrameKind;
  btl::net::FrameHead head{99, 2};
  head.kind = FrameKind::ask_close;
  EXPECT_EQ(arrivals.deliver(make_frame(head, {})), 1);
  EXPECT_TRUE(sink.messages.empty());
  const auto closing = arrivals.take_closing();
  ASSERT_TRUE(closing);
  EXPECT_EQ(closing->rank, 2u);
  EXPECT_EQ(closing->kind, FrameKind::ask_close);
  EXPECT_FALSE(arrivals.take_closing());
}

TEST_F(NetArrivals, who_has_said_that_they_leave_is_not_lost_until_they_are_back) {
  using btl::net::FrameKind;
  const auto frame = [](FrameKind kind) {
    btl::net::FrameHead head{99, 2};
    head.kind = kind;
    return make_frame(head, {});
  };
  EXPECT_EQ(arrivals.end_of(2), Errc::peer_lost);
  for (int twice = 0; twice < 2; ++twice) {
    EXPECT_EQ(arrivals.deliver(frame(FrameKind::leaving)), 1);
    EXPECT_EQ(arrivals.end_of(2), Errc::peer_left);
  }
  EXPECT_EQ(arrivals.end_of(1), Errc::peer_lost);
  EXPECT_EQ(arrivals.deliver(frame(FrameKind::back)), 1);
  EXPECT_EQ(arrivals.end_of(2), Errc::peer_lost);
  EXPECT_EQ(arrivals.deliver(frame(FrameKind::leaving)), 1);
  EXPECT_EQ(arrivals.deliver(make_frame({99, 2}, {8})), 1);
  EXPECT_EQ(arrivals.end_of(2), Errc::peer_lost) << "who sends is there";
  EXPECT_FALSE(arrivals.take_closing());
  EXPECT_TRUE(counters.notes.empty());
}

TEST_F(NetArrivals, who_comes_back_takes_nobody_for_lost_that_it_has_not_heard_since) {
  using btl::net::FrameKind;
  const auto say = [&](std::uint32_t rank, FrameKind kind) {
    btl::net::FrameHead head{99, rank};
    head.kind = kind;
    EXPECT_EQ(arrivals.deliver(make_frame(head, {})), 1);
  };
  say(1, FrameKind::leaving);
  for (const std::uint32_t rank : {1u, 2u, 3u}) arrivals.came_back_to(rank);
  for (const std::uint32_t rank : {1u, 2u, 3u}) EXPECT_EQ(arrivals.end_of(rank), Errc::peer_left) << rank;
  EXPECT_TRUE(arrivals.says_left(1)) << "what it said stays";
  EXPECT_FALSE(arrivals.says_left(2)) << "it has to be told when this process leaves again";
  EXPECT_EQ(arrivals.deliver(make_frame({99, 2}, {8})), 1);
  EXPECT_EQ(arrivals.end_of(2), Errc::peer_lost);
  say(3, FrameKind::back);
  EXPECT_EQ(arrivals.end_of(3), Errc::peer_lost);
}

TEST_F(NetArrivals, a_notice_with_records_or_of_an_unknown_kind_is_dropped) {
  using btl::net::FrameKind;
  for (const FrameKind kind : {FrameKind::ask_close, FrameKind::leaving}) {
    btl::net::FrameHead head{99, 2};
    head.kind = kind;
    EXPECT_EQ(arrivals.deliver(make_frame(head, {8})), 0);
  }
  btl::net::FrameHead unknown{99, 2};
  unknown.kind = static_cast<FrameKind>(static_cast<int>(btl::net::kLastFrameKind) + 1);
  EXPECT_EQ(arrivals.deliver(make_frame(unknown, {})), 0);
  EXPECT_EQ(arrivals.end_of(2), Errc::peer_lost);
  EXPECT_FALSE(arrivals.take_closing());
  EXPECT_EQ(counters.notes.size(), 1u);
}

TEST_F(NetArrivals, peers_of_other_machines_and_of_this_node_are_not_other_nodes_of_this_machine) {
  const shm::Geometry geometry = test::small_geometry(1);
  const UniqueFd memfd = test::make_memfd(geometry);
  shm::NodeSegment segment = test::join(memfd, geometry, 0);
  btl::Place place{ProcId{0, 0}, 4};
  place.local_rank_of = [](const void*, ProcId proc) noexcept -> std::int64_t {
    return proc.rank < 2 ? std::int64_t{proc.rank} : -1;
  };
  const btl::net::Links links{sink, place, {}, {}, {}, 0, 0};
  const auto noticed = [&](std::uint32_t rank, std::uint32_t machine) {
    links.note_machine(ProcId{0, rank}, {"", "", 1, {}, machine}, &segment);
    return segment.yield_pause().nodes_here.load();
  };
  const std::uint32_t here = btl::net::this_machine();
  EXPECT_NE(here, 0u);
  EXPECT_FALSE(noticed(1, here));
  EXPECT_FALSE(noticed(2, here + 2));
  EXPECT_FALSE(noticed(2, 0));
  EXPECT_TRUE(noticed(2, here));
}

TEST_F(NetArrivals, what_is_held_back_waits_in_order) {
  btl::net::Links links{sink, btl::Place{ProcId{0, 0}, 4}, {}, {}, {}, 0, 0};
  FakeLink link(links);
  link.takes = 10;
  link.send_empty_frame(btl::net::FrameKind::ask_close);
  link.hold_back(true);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(link.send({}, make_message(i, 100)), Post::done);
  links.push();
  EXPECT_EQ(link.posted(), 1u) << "the question alone";
  link.hold_back(false);
  links.push();
  for (btl::net::Frame* frame : link.taken) {
    arrivals.deliver({frame->data(), frame->bytes});
    link.completed(*frame);
  }
  EXPECT_TRUE(arrivals.take_closing());
  ASSERT_EQ(sink.messages.size(), 3u);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(sink.messages[i].bytes, make_message(i, 100)) << i;
}

TEST_F(NetArrivals, frames_of_strangers_are_dropped_and_noted_once) {
  EXPECT_EQ(arrivals.deliver(make_frame({98, 2}, {8})), 0);
  EXPECT_EQ(arrivals.deliver(make_frame({99, 4}, {8})), 0);
  EXPECT_EQ(arrivals.deliver(make_frame({99, 2, 7}, {8})), 0);
  EXPECT_EQ(arrivals.senders(), 0u);
  EXPECT_EQ(counters.notes.size(), 1u);
}

TEST_F(NetArrivals, a_damaged_frame_delivers_no_byte_beyond_its_end) {
  const auto frame = make_frame({99, 1}, {40, 40});
  for (std::size_t bytes = 0; bytes < frame.size(); ++bytes) {
    // A copy of its own, so that a sanitizer sees a look behind the end.
    const std::vector<std::byte> cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes));
    EXPECT_LE(arrivals.deliver(cut), 1) << bytes;
  }
  auto long_record = frame;
  const std::uint32_t huge = 0xfffffff9;
  std::memcpy(long_record.data() + sizeof(btl::net::FrameHead), &huge, sizeof(huge));
  EXPECT_EQ(arrivals.deliver(long_record), 0);
}

TEST_F(NetArrivals, what_waits_shares_a_frame_and_keeps_its_order) {
  btl::net::Links links{sink, btl::Place{ProcId{0, 0}, 4}, {}, {}, {}, 0, 0};
  FakeLink link(links);
  std::uint64_t sent = 0;
  while (link.send({}, make_message(sent, 100)) == Post::done) ++sent;
  EXPECT_GT(sent, 1000u);
  EXPECT_TRUE(link.waits());
  std::uint64_t frames = 0;
  while (link.waits() || link.posted() != 0) {
    link.takes = 3;
    links.push();
    for (btl::net::Frame* frame : link.taken) {
      arrivals.deliver({frame->data(), frame->bytes});
      link.completed(*frame);
      ++frames;
    }
    link.taken.clear();
  }
  EXPECT_LT(frames, 20u);
  ASSERT_EQ(sink.messages.size(), sent);
  for (std::uint64_t i = 0; i < sent; ++i) ASSERT_EQ(sink.messages[i].bytes, make_message(i, 100)) << i;
  EXPECT_TRUE(links.busy.empty());
}

TEST_F(NetArrivals, a_lost_link_drops_what_waits_and_says_so_once) {
  btl::net::Links links{sink, btl::Place{ProcId{0, 0}, 4}, {}, {}, {}, 0, 0};
  FakeLink link(links);
  link.takes = 2;
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(link.send({}, make_message(i, 60'000)), Post::done);
  link.lose(Errc::peer_lost, "why");
  link.lose(Errc::peer_lost, "again");
  EXPECT_EQ(sink.lost.size(), 1u);
  EXPECT_EQ(link.send({}, make_message(0, 8)), Post::again);
  links.push();
  EXPECT_TRUE(links.busy.empty());
  EXPECT_EQ(link.posted(), 2u) << "the library still has them";
  for (btl::net::Frame* frame : link.taken) link.completed(*frame);
  EXPECT_TRUE(link.idle());
}

TEST_F(NetArrivals, nothing_is_left_of_a_link_that_has_gone) {
  btl::net::Links links{sink, btl::Place{ProcId{0, 0}, 4}, {}, {}, {}, 0, 0};
  {
    FakeLink link(links);
    link.takes = 2;
    for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(link.send({}, make_message(i, 60'000)), Post::done);
    EXPECT_EQ(links.posted, 2u);
    EXPECT_EQ(links.busy.size(), 1u);
  }
  EXPECT_EQ(links.posted, 0u);
  EXPECT_TRUE(links.busy.empty());
}

/// A message out of the sender's memory.
struct Borrowed : btl::Completion {
  Borrowed() {
    done = [](btl::Completion* self, bool ok) noexcept {
      auto& told = *static_cast<Borrowed*>(self);
      ++told.times;
      told.ok = ok;
    };
  }
  std::vector<std::byte> bytes = make_message(0, 5000);
  int times = 0;
  bool ok = false;
};

TEST_F(NetArrivals, what_did_not_leave_is_told_when_the_loss_is_known) {
  btl::net::Links links{sink, btl::Place{ProcId{0, 0}, 4}, {}, {}, {}, 0, 0};
  links.send_from_bytes = 1000;
  FakeLink link(links);
  link.takes = 2;
  std::array<Borrowed, 3> sent;
  for (Borrowed& each : sent) EXPECT_EQ(link.send_from({}, each.bytes, &each), Post::posted);
  link.completed(*link.taken[0], true);
  link.completed(*link.taken[1], false);  // its connection broke
  links.tell_ended();
  EXPECT_TRUE(sent[0].times == 1 && sent[0].ok);
  EXPECT_EQ(sent[1].times, 0) << "nobody knows yet why";
  link.lose(Errc::peer_lost, "why");
  EXPECT_EQ(sink.lost.size(), 1u);
  links.tell_ended();
  for (const Borrowed& each : {sent[1], sent[2]}) EXPECT_TRUE(each.times == 1 && !each.ok);
}

/// The sizes of the messages in a frame that was posted.
std::vector<std::size_t> messages_in(btl::net::Frame& frame) {
  std::vector<std::size_t> sizes;
  const std::span<const std::byte> all(frame.data(), frame.bytes);
  const bool whole = btl::net::for_each_record(all.subspan(sizeof(btl::net::FrameHead)),
                                               [&](auto message) { sizes.push_back(message.size()); });
  EXPECT_TRUE(whole || !frame.payload.empty());
  return sizes;
}

struct NetBurst : NetArrivals {
  btl::net::Links links{sink, btl::Place{ProcId{0, 0}, 4}, {}, {}, {}, 0, 0};
  FakeLink link{links};
  NetBurst() {
    links.send_from_bytes = 1000;
    links.burst_ns = UINT64_MAX / 2;
    link.takes = 100;
  }
  ~NetBurst() override {
    for (btl::net::Frame* frame : link.taken) link.completed(*frame);
  }
  /// As many announcements as go at once.
  void begin_burst() {
    for (std::uint32_t i = 0; i < btl::net::kAtOnce; ++i) announce(32);
    EXPECT_EQ(link.taken.size(), btl::net::kAtOnce);
  }
  void announce(std::size_t bytes) {
    EXPECT_EQ(link.send_from(make_message(0, bytes), {}, nullptr), Post::done);
  }
};

TEST_F(NetBurst, announcements_join_until_the_next_progress) {
  begin_burst();
  for (std::size_t i = 0; i < 3; ++i) announce(40 + i);
  EXPECT_EQ(link.taken.size(), btl::net::kAtOnce);
  links.push();
  ASSERT_EQ(link.taken.size(), btl::net::kAtOnce + 1);
  EXPECT_THAT(messages_in(*link.taken.back()), testing::ElementsAre(40, 41, 42));
}

TEST_F(NetBurst, after_a_progress_the_first_go_at_once_again) {
  begin_burst();
  links.begin_delivery();
  links.end_delivery();
  announce(40);
  EXPECT_EQ(link.taken.size(), btl::net::kAtOnce + 1);
}

TEST_F(NetBurst, slow_ones_go_at_once) {
  links.burst_ns = 0;
  for (std::uint32_t i = 0; i < btl::net::kAtOnce + 2; ++i) {
    ::usleep(1);
    announce(32);
  }
  EXPECT_EQ(link.taken.size(), btl::net::kAtOnce + 2);
}

TEST_F(NetBurst, a_message_in_a_hurry_takes_those_before_it_along) {
  begin_burst();
  announce(40);
  EXPECT_EQ(link.send({}, make_message(0, 50)), Post::done);
  ASSERT_EQ(link.taken.size(), btl::net::kAtOnce + 1);
  EXPECT_THAT(messages_in(*link.taken.back()), testing::ElementsAre(40, 50));
  announce(41);
  EXPECT_EQ(link.send({}, make_message(0, 62'600)), Post::done);  // too long to join
  ASSERT_EQ(link.taken.size(), btl::net::kAtOnce + 3);
  EXPECT_THAT(messages_in(*link.taken[btl::net::kAtOnce + 1]), testing::ElementsAre(41));
}

TEST_F(NetBurst, a_send_that_joins_ends_with_the_next_progress) {
  begin_burst();
  Borrowed first, second;
  EXPECT_EQ(link.send_from({}, first.bytes, &first), Post::posted);
  EXPECT_EQ(link.send_from({}, second.bytes, &second), Post::posted);
  EXPECT_EQ(link.taken.size(), btl::net::kAtOnce);
  EXPECT_EQ(first.times + second.times, 0);
  links.push();
  ASSERT_EQ(link.taken.size(), btl::net::kAtOnce + 1);
  EXPECT_THAT(messages_in(*link.taken.back()), testing::ElementsAre(5000, 5000));
  links.tell_ended();
  EXPECT_TRUE(first.times == 1 && first.ok && second.times == 1 && second.ok);
}

TEST_F(NetBurst, of_short_sends_more_go_at_once) {
  std::array<Borrowed, btl::net::kShortAtOnce + 3> sent;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    sent[i].bytes = make_message(0, 8);
    const bool at_once = i < btl::net::kShortAtOnce;
    EXPECT_EQ(link.send_from({}, sent[i].bytes, &sent[i]), at_once ? Post::done : Post::posted);
    ASSERT_EQ(link.taken.size(), at_once ? 1u : 0u);
    if (!at_once) continue;
    link.completed(*link.taken.back());
    link.taken.clear();
  }
  links.push();
  ASSERT_EQ(link.taken.size(), 1u);
  EXPECT_THAT(messages_in(*link.taken.back()), testing::ElementsAre(8, 8, 8));
  links.tell_ended();
  for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(sent[i].times, i < btl::net::kShortAtOnce ? 0 : 1);
}

TEST_F(NetBurst, what_is_full_does_not_wait) {
  begin_burst();
  std::array<Borrowed, 4> sent;
  for (Borrowed& each : sent) {
    each.bytes = make_message(0, 20'000);
    EXPECT_EQ(link.send_from({}, each.bytes, &each), Post::posted);
  }
  ASSERT_EQ(link.taken.size(), btl::net::kAtOnce + 1);
  EXPECT_THAT(messages_in(*link.taken.back()), testing::ElementsAre(20'000, 20'000, 20'000));
}

TEST_F(NetBurst, answers_to_what_is_delivered_join) {
  links.begin_delivery();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(link.send({}, make_message(0, 40 + i)), Post::done);
  links.end_delivery();
  EXPECT_TRUE(link.taken.empty());
  links.push();
  ASSERT_EQ(link.taken.size(), 1u);
  EXPECT_THAT(messages_in(*link.taken.back()), testing::ElementsAre(40, 41, 42));
}

}  // namespace
}  // namespace starling::test
