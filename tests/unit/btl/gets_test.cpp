// SPDX-License-Identifier: BSD-3-Clause
// What is asked, given, repeated and given up in gets over a network, with a library that does as it is told.

#include "frameworks/btl/net/gets.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/conformance/btl/getting.hpp"

namespace starling::test {
namespace {

/// A link whose library keeps what it was given.
class ObedientLink final : public btl::net::GetLink {
 public:
  ObedientLink(btl::net::Gets& gets, btl::net::Links& links)
      : GetLink(gets, links, ProcId{0, 1}, 7, "btl/fake"), gets_(gets) {}

  using Taken = GetLink::Taken;
  Taken next = Taken::posted;
  bool cancels = true;
  bool peer_may_live = false;
  std::vector<btl::net::Get*> receives;
  std::vector<btl::net::AskData> serves;
  std::vector<btl::net::FrameKind> frames;
  std::vector<btl::net::AskData> asks;
  int cancelled = 0;

  void end_peer() {
    gets_.on_link_lost();
    lose(Errc::peer_lost, "it was told to be");
  }

 private:
  Post post(btl::net::Frame& frame) noexcept override {
    btl::net::FrameHead head;
    std::memcpy(&head, frame.data(), sizeof head);
    frames.push_back(head.kind);
    asks.emplace_back();
    std::memcpy(&asks.back(), frame.data() + sizeof head, sizeof(btl::net::AskData));
    return Post::done;
  }
  Taken receive(btl::net::Get& get) noexcept override {
    if (next == Taken::posted) receives.push_back(&get);
    return next;
  }
  void cancel(btl::net::Get& get) noexcept override {
    ++cancelled;
    if (cancels) gets_.ended(get, false);
  }
  Taken serve(const btl::net::AskData& what) noexcept override {
    if (next != Taken::again && next != Taken::failed) serves.push_back(what);
    return next;
  }
  [[nodiscard]] bool may_still_write() const noexcept override { return peer_may_live; }

  btl::net::Gets& gets_;
};

using Kind = btl::net::FrameKind;
using Taken = ObedientLink::Taken;

struct Gets : testing::Test {
  Collector sink;
  btl::net::Links links{sink, {ProcId{0, 0}, 2}, {}, {}, {}, 0, 0};
  btl::net::Gets gets{links, true, 20};
  ObedientLink link{gets, links};
  Getting get{1000};

  void ask(std::uint64_t key) { gets.on_asked(link, {1, Kind::ask_data, {0x1000, key, 500, 3}}); }
  void progress_for_ns(std::uint64_t ns) {
    const Deadline deadline = Deadline::after_ns(ns);
    while (!deadline.passed()) gets.progress();
  }
};

TEST_F(Gets, the_tag_of_the_receive_is_asked_for_and_fits_the_provider) {
  ASSERT_EQ(get.start(link), Post::posted);
  ASSERT_EQ(link.frames, std::vector{Kind::ask_data});
  EXPECT_EQ(link.asks[0].tag, link.receives[0]->tag);
  EXPECT_LT(link.asks[0].tag, 1u << 20);
  EXPECT_EQ(link.asks[0].bytes, 1000u);
  EXPECT_TRUE(link.moving() && gets.moving());
  gets.ended(*link.receives[0], true);
  EXPECT_TRUE(get.ok);
  EXPECT_FALSE(link.moving() || gets.moving());
}

TEST_F(Gets, a_receive_that_the_library_does_not_take_now_leaves_nothing) {
  link.next = Taken::again;
  EXPECT_EQ(get.start(link), Post::again);
  EXPECT_FALSE(get.ended() || link.moving() || gets.moving());
  EXPECT_TRUE(link.frames.empty());
}

TEST_F(Gets, a_receive_that_the_library_refuses_is_told) {
  link.next = Taken::failed;
  EXPECT_EQ(get.start(link), Post::posted);
  EXPECT_TRUE(get.ended() && !get.ok);
  EXPECT_FALSE(gets.moving());
  EXPECT_TRUE(link.frames.empty());
}

TEST_F(Gets, what_is_refused_is_taken_back) {
  ASSERT_EQ(get.start(link), Post::posted);
  auto refused = link.asks[0];
  refused.tag += 1;  // somebody else's
  gets.on_asked(link, {1, Kind::refuse_data, refused});
  EXPECT_EQ(link.cancelled, 0);
  refused.tag -= 1;
  gets.on_asked(link, {1, Kind::refuse_data, refused});
  EXPECT_EQ(link.cancelled, 1);
  EXPECT_TRUE(get.ended() && !get.ok);
}

TEST_F(Gets, what_cannot_be_sent_now_is_sent_later) {
  link.next = Taken::again;
  ask(Collector::kAnnounced);
  gets.progress();
  EXPECT_TRUE(link.serves.empty() && link.frames.empty());
  EXPECT_TRUE(link.moving());
  link.next = Taken::posted;
  gets.progress();
  EXPECT_EQ(link.serves.size(), 1u);
  gets.progress();
  EXPECT_EQ(link.serves.size(), 1u);
  EXPECT_TRUE(link.moving());
  gets.served(link);
  EXPECT_FALSE(link.moving() || gets.moving());
}

TEST_F(Gets, what_is_no_longer_announced_is_not_sent_later) {
  struct Forgetful final : btl::Sink {
    void on_message(btl::Origin&, std::span<const std::byte>) noexcept override {}
    void on_peer_lost(ProcId, const Error&) noexcept override {}
    bool announced(ProcId, const btl::RemoteBuffer&, std::size_t) noexcept override { return here; }
    bool here = true;
  } forgetful;
  btl::net::Links other_links{forgetful, {ProcId{0, 0}, 2}, {}, {}, {}, 0, 0};
  btl::net::Gets other(other_links, true);
  ObedientLink owner(other, other_links);
  owner.next = Taken::again;
  other.on_asked(owner, {1, Kind::ask_data, {0x1000, 1, 500, 3}});
  forgetful.here = false;
  owner.next = Taken::posted;
  other.progress();
  EXPECT_TRUE(owner.serves.empty());
  EXPECT_EQ(owner.frames, std::vector{Kind::refuse_data});
  EXPECT_FALSE(owner.moving());
}

TEST_F(Gets, a_flood_of_questions_that_cannot_be_answered_now_is_refused) {
  link.next = Taken::again;
  for (int i = 0; i < 1000; ++i) ask(Collector::kAnnounced);
  EXPECT_GT(link.frames.size(), 800u);
  EXPECT_LT(link.frames.size(), 1000u);
  link.end_peer();
  gets.progress();
  EXPECT_FALSE(link.moving() || gets.moving());
}

TEST_F(Gets, without_gets_nothing_is_given) {
  btl::net::Gets none(links, false);
  ObedientLink owner(none, links);
  EXPECT_FALSE(owner.can_get({}));
  none.on_asked(owner, {1, Kind::ask_data, {0x1000, Collector::kAnnounced, 500, 3}});
  EXPECT_TRUE(owner.serves.empty());
  EXPECT_EQ(owner.frames, std::vector{Kind::refuse_data});
}

TEST_F(Gets, of_a_lost_peer_they_end_when_the_library_lets_go) {
  ASSERT_EQ(get.start(link), Post::posted);
  link.end_peer();
  EXPECT_FALSE(get.ended());
  gets.progress();
  EXPECT_TRUE(get.ended() && !get.ok);
  EXPECT_EQ(link.cancelled, 1);
  EXPECT_EQ(get.start(link), Post::again);
}

TEST_F(Gets, one_that_cannot_be_taken_back_is_given_up_after_a_while_and_told_once) {
  link.cancels = false;
  ASSERT_EQ(get.start(link), Post::posted);
  link.end_peer();
  gets.progress();
  EXPECT_FALSE(get.ended()) << "its buffer may still be written to";
  progress_for_ns(1'300'000'000);
  EXPECT_EQ(get.times_told, 1);
  EXPECT_FALSE(get.ok);
  gets.ended(*link.receives[0], false);
  EXPECT_EQ(get.times_told, 1);
  EXPECT_FALSE(gets.moving());
}

TEST_F(Gets, one_whose_sender_may_live_is_not_given_up) {
  link.cancels = false;
  link.peer_may_live = true;
  ASSERT_EQ(get.start(link), Post::posted);
  link.end_peer();
  progress_for_ns(2'500'000'000);
  EXPECT_FALSE(get.ended());
  EXPECT_GE(link.cancelled, 2);
  gets.ended(*link.receives[0], true);
  EXPECT_EQ(get.times_told, 1);
}

TEST_F(Gets, at_the_end_nobody_is_told) {
  ASSERT_EQ(get.start(link), Post::posted);
  link.next = Taken::again;
  ask(Collector::kAnnounced);
  gets.forget();
  EXPECT_EQ(get.times_told, 0);
  EXPECT_EQ(link.cancelled, 1);
  EXPECT_FALSE(gets.moving());
}

}  // namespace
}  // namespace starling::test
