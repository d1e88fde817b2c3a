// SPDX-License-Identifier: BSD-3-Clause
// btl/ofi: the suites for network btls, and what is particular to libfabric.

#include <gmock/gmock.h>
#include <unistd.h>

#include "plugins/btl/ofi/component.hpp"
#include "plugins/btl/ofi/params.hpp"
#include "tests/unit/btl/net_conformance.hpp"
#include "tests/unit/btl/net_gets.hpp"

namespace starling::test {
namespace {

/// With gets, which sockets have only where somebody asks for them.
struct Ofi {
  static constexpr char kOwner[] = "btl/ofi";
  static constexpr char kKeeps[] = "STARLING_MCA_btl_ofi_get=always";  // it always does
  static constexpr bool kOutlivesReceivers = true;
  static constexpr char kInterfaceParam[] = "btl_ofi_interface";
  static constexpr params::Decl kGetAlways =
      params::choice("btl_ofi_get", "always", "auto|always|never", "As btl_ofi_get, for the tests.");
  static constexpr params::Decl kDecls[] = {btl::kOfiProvider, btl::kOfiInterface, btl::kOfiPeerTimeout,
                                            btl::kOfiPortBase, btl::kOfiNodes,     kGetAlways,
                                            btl::kOfiRemote};
  static Result<std::unique_ptr<btl::Component>> create(const btl::Args& args) {
    return btl::create_ofi_component(args);
  }
};
using OfiHarness = NetHarness<Ofi>;

INSTANTIATE_TYPED_TEST_SUITE_P(Ofi, NetConformance, OfiHarness);
INSTANTIATE_TYPED_TEST_SUITE_P(Ofi, NetGets, OfiHarness);

TEST(OfiReceiving, a_buffer_that_was_refused_is_posted_later) {
  using btl::ofi::Receiving;
  bool refuses = false;
  std::vector<btl::ofi::ReceiveBuffer*> posted;
  Receiving receiving([&](btl::ofi::ReceiveBuffer& buffer) -> Result<void> {
    if (refuses) return fail(Errc::system, "fi_recvmsg", "try again");
    posted.push_back(&buffer);
    return {};
  });
  ASSERT_TRUE(receiving.start());
  ASSERT_EQ(posted.size(), Receiving::kPosted);
  refuses = true;
  EXPECT_FALSE(receiving.full(&posted[0]->context, nullptr));
  receiving.delivering(&posted[1]->context);
  HeldBytes* const kept = receiving.keep({posted[1]->bytes.get(), 100});
  ASSERT_NE(kept, nullptr);
  EXPECT_TRUE(receiving.delivered(100));
  EXPECT_FALSE(receiving.full(&posted[1]->context, nullptr));
  EXPECT_FALSE(receiving.refill());
  kept->release();
  EXPECT_EQ(posted.size(), Receiving::kPosted);
  refuses = false;
  EXPECT_TRUE(receiving.refill());
  ASSERT_EQ(posted.size(), 2 * Receiving::kPosted);
  EXPECT_NE(posted[2], posted[3]);
  for (const std::size_t again : {2, 3})
    EXPECT_TRUE(posted[again] == posted[0] || posted[again] == posted[1]) << "no new memory was needed";
  EXPECT_TRUE(receiving.refill());
  EXPECT_EQ(posted.size(), 2 * Receiving::kPosted) << "two are enough";
}

/// What was posted.
struct AccessEnd : btl::Completion {
  AccessEnd() {
    done = [](btl::Completion* self, bool well) noexcept {
      auto& told = *static_cast<AccessEnd*>(self);
      ++told.times;
      told.ok = well;
    };
  }
  void begin(Post post) noexcept {
    if (post == Post::done) times = 1, ok = true;
  }
  unsigned times = 0;
  bool ok = false;
};

/// Process 0 has opened memory of process 1.
struct OfiRemoteAccess : testing::Test {
  OfiHarness harness{2, {"STARLING_MCA_btl_ofi_remote=always"}};
  btl::Endpoint& link = harness.endpoint(0, 1);
  std::vector<std::byte> memory = std::vector<std::byte>(3'000'000);
  const std::vector<std::byte> bytes = make_message(1, 3'000'000);
  std::unique_ptr<btl::Exposed> exposed;
  std::unique_ptr<btl::Region> region;
  btl::Remote* remote = nullptr;

  void SetUp() override {
    harness.endpoint(1, 0);
    auto made = harness.component(1).expose(memory);
    ASSERT_TRUE(made) << made.error().text();
    exposed = std::move(*made);
    remote = link.remote();
    ASSERT_NE(remote, nullptr);
    auto opened = remote->open(exposed->key());
    ASSERT_TRUE(opened) << opened.error().text();
    region = std::move(*opened);
    put_and_wait(1);
  }
  /// The first access to anybody is refused while the connection is made.
  void put_and_wait(std::size_t length) {
    AccessEnd put;
    Post post = Post::again;
    ASSERT_TRUE(progress_until(harness, [&] {
      if (post == Post::again)
        put.begin(post = remote->put(*region, 0, std::span(bytes).first(length), &put));
      return put.times != 0;
    }));
    ASSERT_TRUE(put.ok);
  }
};

TEST_F(OfiRemoteAccess, a_flush_waits_for_the_puts_before_it_and_for_no_other) {
  AccessEnd first, flush, second;
  first.begin(remote->put(*region, 0, bytes, &first));
  flush.begin(remote->flush(&flush));
  second.begin(remote->put(*region, 0, std::span(bytes).first(9), &second));
  EXPECT_EQ(flush.times, first.times);
  ASSERT_TRUE(progress_until(harness, [&] { return flush.times != 0; }));
  EXPECT_TRUE(first.times == 1 && first.ok && flush.ok);
  EXPECT_EQ(memory, bytes);
  ASSERT_TRUE(progress_until(harness, [&] { return second.times != 0; }));
  EXPECT_EQ(flush.times, 1u);
  AccessEnd nothing;
  EXPECT_EQ(remote->flush(&nothing), Post::done);
}

/// A flush that notes how many of these puts have ended when it ends.
struct FlushEnd : btl::Completion {
  explicit FlushEnd(const std::vector<AccessEnd>& puts) : all(puts) {
    done = [](btl::Completion* self, bool) noexcept {
      auto& told = *static_cast<FlushEnd*>(self);
      told.ended = true;
      for (const AccessEnd& put : told.all) told.puts_ended += put.times;
    };
  }
  const std::vector<AccessEnd>& all;
  bool ended = false;
  unsigned puts_ended = 0;
};

TEST_F(OfiRemoteAccess, a_flush_ends_with_the_last_of_its_puts) {
  std::vector<AccessEnd> puts(5);
  for (AccessEnd& put : puts) put.begin(remote->put(*region, 0, std::span(bytes).first(500'000), &put));
  FlushEnd flush(puts);
  ASSERT_EQ(remote->flush(&flush), Post::posted);
  ASSERT_TRUE(progress_until(harness, [&] { return flush.ended; }));
  EXPECT_EQ(flush.puts_ended, puts.size());
}

TEST_F(OfiRemoteAccess, accesses_to_a_peer_that_ends_end_once_and_say_so) {
  AccessEnd put, flush, get;
  std::vector<std::byte> to(memory.size());
  put.begin(remote->put(*region, 0, bytes, &put));
  flush.begin(remote->flush(&flush));
  get.begin(remote->get(*region, 0, to, &get));
  ASSERT_TRUE(put.times == 0 && flush.times == 0 && get.times == 0) << "3 MB need the peer's progress";
  EXPECT_FALSE(harness.component(0).drained());
  exposed.reset();
  harness.end(1);
  ASSERT_TRUE(progress_until(harness, [&] { return put.times != 0 && flush.times != 0 && get.times != 0; }));
  EXPECT_FALSE(put.ok || flush.ok || get.ok);
  ASSERT_TRUE(progress_until(harness, [&] { return !harness.sink(0).lost.empty(); }));
  for (int i = 0; i < 1000; ++i) harness.component(0).progress();
  EXPECT_TRUE(put.times == 1 && flush.times == 1 && get.times == 1);
  EXPECT_EQ(link.remote(), nullptr);
  AccessEnd late, late_flush;
  EXPECT_EQ(remote->put(*region, 0, std::span(bytes).first(8), &late), Post::posted);
  EXPECT_EQ(remote->flush(&late_flush), Post::posted);
  EXPECT_TRUE(late.times == 1 && !late.ok && late_flush.times == 1 && !late_flush.ok);
}

TEST(OfiRemoteChoice, sockets_have_it_only_where_somebody_asks) {
  const auto puts = [](const std::string& use) {
    OfiHarness harness(1, {"STARLING_MCA_btl_ofi_remote=" + use});
    return harness.component(0).limits().can.has(btl::Capability::put);
  };
  EXPECT_TRUE(puts("always"));
  EXPECT_FALSE(puts("auto"));
  EXPECT_FALSE(puts("never"));
}

/// Buffers that libfabric would fill.
struct OfiKept : testing::Test {
  using Receiving = btl::ofi::Receiving;
  std::vector<btl::ofi::ReceiveBuffer*> posted;
  std::unique_ptr<Receiving> receiving =
      std::make_unique<Receiving>([this](btl::ofi::ReceiveBuffer& buffer) -> Result<void> {
        posted.push_back(&buffer);
        return {};
      });
  /// The oldest posted buffer is filled, and its first bytes are kept.
  HeldBytes* fill_and_keep() {
    btl::ofi::ReceiveBuffer* const buffer = posted.front();
    posted.erase(posted.begin());
    receiving->delivering(&buffer->context);
    std::memset(buffer->bytes.get(), 7, buffer->kBytes);
    HeldBytes* const kept = receiving->keep({buffer->bytes.get(), 5000});
    EXPECT_TRUE(receiving->delivered(5000));
    EXPECT_TRUE(receiving->full(&buffer->context, nullptr));
    return kept;
  }
};

TEST_F(OfiKept, two_buffers_are_posted_however_much_is_kept) {
  ASSERT_TRUE(receiving->start());
  std::vector<HeldBytes*> kept;
  for (std::size_t turn = 0; turn < 3 * Receiving::kMost; ++turn) {
    if (HeldBytes* const held = fill_and_keep()) kept.push_back(held);
    ASSERT_EQ(posted.size(), Receiving::kPosted);
  }
  EXPECT_EQ(kept.size(), Receiving::kMost - Receiving::kPosted);
  for (HeldBytes* const held : kept) held->release();
  HeldBytes* const again = fill_and_keep();
  ASSERT_NE(again, nullptr) << "there is room again";
  again->release();
}

TEST_F(OfiKept, only_bytes_of_what_is_being_delivered_are_kept) {
  ASSERT_TRUE(receiving->start());
  std::byte own[100];
  EXPECT_EQ(receiving->keep({posted[0]->bytes.get(), 100}), nullptr) << "nothing is being delivered";
  receiving->delivering(&posted[0]->context);
  EXPECT_EQ(receiving->keep(own), nullptr);
  EXPECT_EQ(receiving->keep({posted[1]->bytes.get(), 100}), nullptr) << "it is another buffer";
  HeldBytes* const held = receiving->keep({posted[0]->bytes.get() + 50, 100});
  ASSERT_NE(held, nullptr);
  EXPECT_TRUE(receiving->delivered(150));
  held->release();
}

/// A provider that calls a buffer full when its last slice begins, and may end that one before the others.
struct OfiSlices : testing::Test {
  using Receiving = btl::ofi::Receiving;
  std::vector<btl::ofi::ReceiveBuffer*> posted;
  std::unique_ptr<Receiving> receiving = std::make_unique<Receiving>(
      [this](btl::ofi::ReceiveBuffer& buffer) -> Result<void> {
        posted.push_back(&buffer);
        return {};
      },
      Receiving::Slices::may_go_on);
  btl::ofi::ReceiveBuffer* first = nullptr;

  void SetUp() override {
    ASSERT_TRUE(receiving->start());
    first = posted[0];
  }
  void slice(btl::ofi::ReceiveBuffer* of, std::size_t bytes) {
    receiving->delivering(&of->context);
    EXPECT_TRUE(receiving->delivered(bytes));
  }
  /// Fills the buffer that waits longest with one slice.
  void fill_another() {
    btl::ofi::ReceiveBuffer* const buffer = *(posted.end() - 2);
    slice(buffer, 1000);
    EXPECT_TRUE(receiving->full(&buffer->context, buffer->bytes.get() + 1000));
  }
  [[nodiscard]] auto times(const btl::ofi::ReceiveBuffer* buffer) const {
    return std::count(posted.begin(), posted.end(), buffer);
  }
};

TEST_F(OfiSlices, a_buffer_is_used_again_when_all_its_slices_have_ended) {
  slice(first, 200);
  slice(first, 300);  // the last of three slices; that of 500 bytes is still written
  EXPECT_TRUE(receiving->full(&first->context, first->bytes.get() + 1000));
  EXPECT_EQ(posted.size(), 3u) << "another takes its place";
  for (int turn = 0; turn < 20; ++turn) fill_another();
  EXPECT_EQ(times(first), 1) << "it was posted while somebody writes into it";
  slice(first, 500);
  for (int turn = 0; turn < 20; ++turn) fill_another();
  EXPECT_GT(times(first), 1);
}

TEST_F(OfiSlices, one_whose_slices_have_ended_before_is_used_at_once) {
  slice(first, 700);
  slice(first, 300);
  EXPECT_TRUE(receiving->full(&first->context, first->bytes.get() + 1000));
  ASSERT_EQ(posted.size(), 3u);
  EXPECT_EQ(posted[2], first);
}

TEST_F(OfiSlices, a_buffer_with_a_slice_that_failed_is_not_used_again_and_replaced) {
  EXPECT_TRUE(receiving->failed(&first->context, false));
  EXPECT_EQ(posted.size(), 2u) << "it still takes slices";
  slice(first, 400);
  EXPECT_TRUE(receiving->full(&first->context, first->bytes.get() + 1000));
  EXPECT_EQ(posted.size(), 3u);
  btl::ofi::ReceiveBuffer* const second = posted[1];
  EXPECT_TRUE(receiving->failed(&second->context, true));
  EXPECT_EQ(posted.size(), 4u);
  slice(first, 600);  // who was slow has ended after all
  for (int turn = 0; turn < 20; ++turn) fill_another();
  EXPECT_EQ(times(first) + times(second), 2);
}

TEST_F(OfiSlices, what_is_kept_of_a_buffer_that_is_not_used_again_stays) {
  receiving->delivering(&first->context);
  HeldBytes* const held = receiving->keep({first->bytes.get(), 100});
  ASSERT_NE(held, nullptr);
  EXPECT_TRUE(receiving->delivered(100));
  EXPECT_TRUE(receiving->failed(&first->context, true));
  first->bytes[99] = std::byte{7};
  receiving.reset();
  EXPECT_EQ(first->bytes[99], std::byte{7});
  held->release();
}

/// An address sanitizer sees both: a use after the end, and memory that nobody gives back.
TEST_F(OfiKept, what_is_kept_outlives_the_transport) {
  ASSERT_TRUE(receiving->start());
  btl::ofi::ReceiveBuffer* const buffer = posted.front();
  HeldBytes* const held = fill_and_keep();
  ASSERT_NE(held, nullptr);
  receiving.reset();
  EXPECT_EQ(buffer->bytes[4999], std::byte{7});
  held->release();
}

/// Loopback addresses of this process's own, so that two runs at once share no port.
struct OfiComputed : testing::Test {
  static constexpr unsigned kPort = 23571;
  std::string net =
      "127." + std::to_string(1 + ::getpid() % 250) + "." + std::to_string(::getpid() / 250 % 250);
  std::vector<std::string> settings{"STARLING_MCA_btl_ofi_port_base=" + std::to_string(kPort),
                                    "STARLING_MCA_btl_ofi_nodes=" + net + ".[1-2]"};

  static btl::Endpoint& to(OfiHarness& harness, unsigned from, unsigned rank) {
    auto made = harness.component(from).connect(ProcId{0, rank}, {});
    EXPECT_TRUE(made) << made.error().text();
    return **made;
  }
};

TEST_F(OfiComputed, messages_need_no_address_of_anybody) {
  OfiHarness harness(2, settings);
  EXPECT_EQ(harness.component(0).needs().address, btl::AddressSource::computed);
  EXPECT_TRUE(harness.component(0).address().empty());
  EXPECT_EQ(to(harness, 0, 1).send({}, make_message(1, 100)), Post::done);
  EXPECT_EQ(to(harness, 1, 0).send({}, make_message(2, 60'000)), Post::done);
  ASSERT_TRUE(progress_until(
      harness, [&] { return harness.sink(0).messages.size() + harness.sink(1).messages.size() == 2; }));
  EXPECT_EQ(harness.sink(1).messages[0].bytes, make_message(1, 100));
  EXPECT_EQ(harness.sink(0).messages[0].bytes, make_message(2, 60'000));
}

TEST_F(OfiComputed, what_is_sent_before_the_peer_has_started_arrives) {
  OfiHarness harness(2, settings, false);
  harness.restart(0);
  EXPECT_EQ(to(harness, 0, 1).send({}, make_message(1, 100)), Post::done);
  // Long enough for it to be asked whether anybody listens there: nobody does, yet.
  const Deadline while_alone = Deadline::after_ns(2'500'000'000);
  while (!while_alone.passed()) harness.component(0).progress();
  EXPECT_TRUE(harness.sink(0).lost.empty());
  harness.restart(1);
  ASSERT_TRUE(progress_until(harness, [&] { return harness.sink(1).messages.size() == 1; }));
  EXPECT_EQ(harness.sink(1).messages[0].bytes, make_message(1, 100));
}

TEST_F(OfiComputed, a_port_in_use_is_named) {
  OfiHarness harness(2, settings);
  const auto second = harness.create(0);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text(), testing::HasSubstr(net + ".1 port " + std::to_string(kPort)));
  EXPECT_THAT(second.error().text(), testing::HasSubstr("Address already in use"));
}

TEST_F(OfiComputed, what_cannot_be_computed_says_why) {
  const auto error_with = [&](const std::string& nodes, const std::string& base) {
    OfiHarness harness(3, {"STARLING_MCA_btl_ofi_port_base=" + base, "STARLING_MCA_btl_ofi_nodes=" + nodes},
                       false);
    const auto made = harness.create(2);
    return made ? "made" : made.error().text();
  };
  EXPECT_THAT(error_with(net + ".[1-2]", "23571"), testing::HasSubstr("lists 2 nodes, too few for rank 2"));
  EXPECT_THAT(error_with("", "23571"), testing::HasSubstr("needs btl_ofi_nodes"));
  EXPECT_THAT(error_with("a,b,host.invalid", "23571"), testing::HasSubstr("host host.invalid"));
  EXPECT_THAT(error_with("a[1-", "23571"), testing::HasSubstr("has not one pair of brackets"));
}

}  // namespace
}  // namespace starling::test
