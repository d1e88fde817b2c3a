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
  static constexpr bool kOutlivesReceivers = true;
  static constexpr char kInterfaceParam[] = "btl_ofi_interface";
  static constexpr params::Decl kGetAlways =
      params::choice("btl_ofi_get", "always", "auto|always|never", "As btl_ofi_get, for the tests.");
  static constexpr params::Decl kDecls[] = {btl::kOfiProvider, btl::kOfiInterface, btl::kOfiPeerTimeout,
                                            btl::kOfiPortBase, btl::kOfiNodes,     kGetAlways};
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
  EXPECT_FALSE(receiving.full(&posted[0]->context));
  receiving.delivering(&posted[1]->context);
  void* const kept = receiving.keep();
  receiving.delivered();
  EXPECT_FALSE(receiving.full(&posted[1]->context));
  EXPECT_FALSE(receiving.refill());
  receiving.release(kept);
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
