// SPDX-License-Identifier: BSD-3-Clause
// An engine with a protocol that it does not know, and lists of protocols that it refuses.
#include "examples/pml-plugin/backwards.hpp"
#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

/// Chooses one way for all that can go it.
class Always final : public Chooser {
 public:
  explicit Always(Large way) noexcept : way_(way) {}
  [[nodiscard]] LargeChoice choose(const LargeReceive&) noexcept override { return {way_}; }
  void took(std::uint32_t, std::uint64_t, std::uint64_t) noexcept override {}
  [[nodiscard]] std::vector<std::string> notes() const override { return {"all large messages go one way"}; }

 private:
  Large way_;
};

/// Two processes, whose engines bring ring and Backwards.
class Pair {
 public:
  explicit Pair(const PairOptions& options = {}, const Config& given = {}) : network(2, options) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      Config config = given;
      config.self = {0, rank};
      config.world_size = 2;
      Protocols protocols = standard_protocols(config);
      protocols.resize(1);
      auto own = std::make_unique<Backwards>();
      protocols_of[rank] = own.get();
      protocols.push_back(std::move(own));
      engines[rank] = std::make_unique<Engine>(peers[rank], config, std::make_unique<Always>(Large{1}),
                                               std::move(protocols));
      network.at(rank).attach(peers[rank].sink());
      peers[rank].add_transport(network.at(rank));
      contexts[rank] = *engines[rank]->open(kWorld, Rank{std::int32_t(rank)}, std::make_shared<Strip>(2));
    }
  }
  OpPtr start(bool receive, std::uint32_t me, int tag, std::vector<std::byte> data) {
    auto op = std::make_unique<Op>();
    op->data = std::move(data);
    op->request.buffer = {op->data.data(), op->data.size(), 0, nullptr};
    op->request.context = contexts[me];
    op->request.rank = Rank{std::int32_t(1 - me)};
    op->request.tag = Tag{tag};
    if (receive) {
      engines[me]->irecv(op->request);
    } else {
      engines[me]->isend(op->request);
    }
    return op;
  }
  void settle() {
    for (int quiet = 0; quiet < 8;) {
      const int events = peers[0].progress() + peers[1].progress();
      quiet = events == 0 ? quiet + 1 : 0;
    }
  }
  Peer& peer_of(std::uint32_t me) { return *contexts[me]->touched(Rank{std::int32_t(1 - me)})->peer; }

  PairNetwork network;
  peer::Peers peers[2];
  std::unique_ptr<Engine> engines[2];
  Backwards* protocols_of[2];
  Context* contexts[2];
};

TEST(OwnProtocol, it_carries_messages_of_all_sizes_in_both_directions) {
  PairOptions options;
  options.capacity = 3;
  options.again_percent = 20;
  Pair pair(options);
  std::vector<OpPtr> sends, receives;
  const std::size_t sizes[] = {8, 1025, 4096, 70'001, 300'000};
  for (const std::uint32_t me : {0u, 1u}) {
    for (int tag = 0; tag < 5; ++tag) {
      sends.push_back(pair.start(false, me, tag, filled(sizes[tag], me + 10 * unsigned(tag))));
      receives.push_back(pair.start(true, me, tag, std::vector<std::byte>(sizes[tag])));
    }
  }
  pair.settle();
  for (std::size_t at = 0; at < sends.size(); ++at) {
    ASSERT_TRUE(sends[at]->complete() && receives[at]->complete()) << at;
    EXPECT_EQ(receives[at]->data, filled(sizes[at % 5], 1 - at / 5 + 10 * (at % 5))) << at;
    EXPECT_EQ(receives[at]->status().bytes, sizes[at % 5]);
  }
  for (const std::uint32_t me : {0u, 1u}) {
    EXPECT_EQ(pair.protocols_of[me]->received, 4u) << "the one of 8 bytes is eager";
    EXPECT_EQ(pair.protocols_of[me]->asked_by(pair.peer_of(me)), 4u);
    EXPECT_EQ(pair.network.at(me).sent(std::uint8_t(wire::Kind::cts)), 0u) << "nothing goes by ring";
    EXPECT_EQ(pair.network.at(me).sent(std::uint8_t(Backwards::kAsk)), 4u);
    EXPECT_EQ(pair.engines[me]->traffic().at(0).sent.ring.bytes, 1025u + 4096 + 70'001 + 300'000);
    EXPECT_EQ(pair.engines[me]->counters().notes.back(), "all large messages go one way");
    EXPECT_TRUE(pair.peers[me].drained());
  }
}

TEST(OwnProtocol, what_is_not_contiguous_goes_by_the_first) {
  const Strided triples(3, 5);
  Pair pair;
  auto spread = std::make_unique<Op>();
  spread->data.resize(15'000);
  spread->request.buffer = {spread->data.data(), 9000, 3000, &triples};
  spread->request.context = pair.contexts[1];
  spread->request.rank = Rank{0};
  spread->request.tag = Tag{1};
  pair.engines[1]->irecv(spread->request);
  auto send = pair.start(false, 0, 1, filled(9000, 4));
  pair.settle();
  ASSERT_TRUE(send->complete() && spread->complete());
  for (std::size_t at = 0; at < 9000; ++at)
    ASSERT_EQ(spread->data[at / 3 * 5 + at % 3], pattern(4, at)) << at;
  EXPECT_EQ(pair.protocols_of[1]->received, 0u);
}

TEST(OwnProtocol, a_receive_too_short_gets_the_beginning) {
  Pair pair;
  auto receive = pair.start(true, 1, 1, std::vector<std::byte>(5000));
  auto send = pair.start(false, 0, 1, filled(9000, 4));
  pair.settle();
  ASSERT_TRUE(send->complete() && receive->complete());
  EXPECT_EQ(receive->status().fault, Fault::truncated);
  EXPECT_EQ(receive->request.total, 9000u);
  const auto whole = filled(9000, 4);
  EXPECT_TRUE(std::equal(receive->data.begin(), receive->data.end(), whole.begin()));
}

TEST(OwnProtocol, a_loss_in_the_middle_ends_its_transfers_and_forgets_its_state) {
  Pair pair;
  auto receive = pair.start(true, 0, 1, std::vector<std::byte>(900'000));
  auto send = pair.start(false, 0, 1, filled(900'000, 1));
  auto other = pair.start(true, 1, 1, std::vector<std::byte>(900'000));
  auto incoming = pair.start(false, 1, 1, filled(900'000, 2));
  for (int round = 0; round < 4; ++round) {
    pair.peers[0].progress();
    pair.peers[1].progress();
  }
  EXPECT_TRUE(pair.protocols_of[0]->asked_by(pair.peer_of(0)));
  for (const std::uint32_t me : {0u, 1u}) {
    pair.network.at(me).lose(1 - me);
    pair.peers[me].progress();
    pair.peers[me].progress();
  }
  for (const Op* op : {receive.get(), send.get(), other.get(), incoming.get()}) {
    ASSERT_TRUE(op->complete());
    EXPECT_EQ(op->status().fault, Fault::peer_lost);
  }
  EXPECT_FALSE(pair.protocols_of[0]->asked_by(pair.peer_of(0)));
  EXPECT_TRUE(pair.peers[0].drained());
}

TEST(OwnProtocol, nonsense_of_its_kinds_is_noted_and_dropped) {
  Pair pair;
  pair.network.inject(1, 0, std::vector<std::byte>(8, std::byte{128}));
  const wire::Data piece{{Backwards::kPiece, 0, 0, 100}, 7};
  const auto span = wire::bytes_of(piece);
  pair.network.inject(0, 1, {span.begin(), span.end()});
  pair.settle();
  for (const std::uint32_t me : {0u, 1u}) {
    EXPECT_EQ(pair.peers[me].counters().notes.size(), 1u);
    EXPECT_EQ(pair.engines[me]->counters().notes.size(), 1u);
  }
}

/// It takes nothing, has the kinds of a test, and would offer what no get can use.
class Odd final : public Protocol {
 public:
  Odd(std::vector<wire::Kind> kinds, bool contiguous, bool offers = false) : kinds_(std::move(kinds)) {
    facts_ = {.name = "odd", .kinds = kinds_, .contiguous = contiguous, .offers = offers};
  }
  [[nodiscard]] const Facts& facts() const noexcept override { return facts_; }
  void attach(Rendezvous&, Large) noexcept override {}
  void offer(const Transfer&, wire::Offer& offer) noexcept override { offer = {1, 2}; }
  [[nodiscard]] bool possible(const Transfer&) noexcept override { return false; }
  [[nodiscard]] bool ready(const Transfer&) const noexcept override { return false; }
  void prepare(Peer&) noexcept override {}
  void accept(Transfer&) noexcept override {}
  void on_message(Peer&, std::span<const std::byte>) noexcept override {}
  int push(Peer&) noexcept override { return 0; }
  [[nodiscard]] bool drop(Transfer&) noexcept override { return true; }
  void lose(Peer&) noexcept override {}

 private:
  std::vector<wire::Kind> kinds_;
  Facts facts_;
};

TEST(OwnProtocol, a_list_that_cannot_work_is_refused_with_the_reason) {
  const auto why = [](auto... kinds_of) {
    Protocols protocols;
    (protocols.push_back(std::make_unique<Odd>(kinds_of.first, kinds_of.second)), ...);
    const Result<void> checked = Rendezvous::check(protocols);
    return checked ? std::string() : checked.error().detail;
  };
  using Kinds = std::vector<wire::Kind>;
  const auto with = [](Kinds kinds, bool contiguous = false) {
    return std::pair(std::move(kinds), contiguous);
  };
  EXPECT_EQ(why(with({wire::Kind{128}}), with({wire::Kind{255}}, true)), "");
  EXPECT_NE(why().find("there are 0"), std::string::npos);
  EXPECT_NE(why(with({}), with({}), with({}), with({}), with({}), with({}), with({})).find("there are 7"),
            std::string::npos);
  EXPECT_NE(why(with({}, true)).find("must take every receive"), std::string::npos);
  EXPECT_NE(why(with({wire::Kind::rts})).find("kind 3, which are the engine's"), std::string::npos);
  EXPECT_NE(why(with({wire::Kind{130}}), with({wire::Kind{130}})).find("kind 130, which \"odd\" has"),
            std::string::npos);
}

TEST(OwnProtocol, of_two_that_offer_one_is_refused) {
  Protocols protocols = standard_protocols({});
  EXPECT_TRUE(Rendezvous::check(protocols));
  protocols.push_back(std::make_unique<Odd>(std::vector<wire::Kind>(), true, true));
  const Result<void> checked = Rendezvous::check(protocols);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().detail.find("\"odd\" offers, and \"get\" does"), std::string::npos)
      << checked.error().detail;
}

TEST(OwnProtocol, one_that_does_not_offer_leaves_that_of_the_gets_alone) {
  PairOptions options;
  options.get = GetMode::done;
  JobOf<std::unique_ptr<Engine>> job(2, options);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    job.join([&](peer::Peers& its) {
      Config config;
      config.self = {0, rank};
      config.world_size = 2;
      Protocols protocols = standard_protocols(config);
      protocols.push_back(std::make_unique<Odd>(std::vector<wire::Kind>(), true));
      return std::make_unique<Engine>(its, config, std::make_unique<Always>(Large::get),
                                      std::move(protocols));
    });
  }
  auto receive = job.irecv(1, 0, 1, 9000);
  auto send = job.isend(0, 1, 1, filled(9000, 4));
  job.settle();
  ASSERT_TRUE(send->complete() && receive->complete());
  EXPECT_EQ(receive->data, filled(9000, 4));
  EXPECT_EQ(job[0].traffic().at(0).sent.get.count, 1u);
}

}  // namespace
}  // namespace starling::pml::test
