// SPDX-License-Identifier: BSD-3-Clause
// btl/ucx: the suites for network btls, and what is particular to UCX.

#include <array>
#include <filesystem>
#include <random>

#include "plugins/btl/ucx/component.hpp"
#include "plugins/btl/ucx/params.hpp"
#include "tests/unit/btl/net_conformance.hpp"
#include "tests/unit/btl/net_gets.hpp"

namespace starling::test {
namespace {

/// With gets, which tcp has only where somebody asks for them.
struct Ucx {
  static constexpr char kOwner[] = "btl/ucx";
  static constexpr char kKeeps[] = "STARLING_MCA_btl_ucx_keep=always";
  static constexpr bool kOutlivesReceivers = false;
  static constexpr char kInterfaceParam[] = "btl_ucx_devices";
  static constexpr params::Decl kGetAlways =
      params::choice("btl_ucx_get", "always", "auto|always|never", "As btl_ucx_get, for the tests.");
  static constexpr params::Decl kDecls[] = {
      btl::kUcxTls,  btl::kUcxDevices, btl::kUcxConnections, btl::kUcxPeerTimeout, btl::kUcxRemote,
      btl::kUcxKeep, kGetAlways};
  static Result<std::unique_ptr<btl::Component>> create(const btl::Args& args) {
    return btl::create_ucx_component(args);
  }
};
using UcxHarness = NetHarness<Ucx>;
namespace ucx = btl::ucx;

INSTANTIATE_TYPED_TEST_SUITE_P(Ucx, NetConformance, UcxHarness);
INSTANTIATE_TYPED_TEST_SUITE_P(Ucx, NetGets, UcxHarness);

std::size_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Everybody writes to everybody and reads from everybody, in bursts between which other pairs are busy.
class UcxConnections {
 public:
  static constexpr unsigned kProcesses = 5;
  explicit UcxConnections(unsigned cap)
      : harness_(kProcesses, {"STARLING_MCA_btl_ucx_connections=" + std::to_string(cap)}) {}

  void run(unsigned bursts) {
    std::mt19937 engine{11};
    const auto random = [&] { return static_cast<unsigned>(engine()); };
    for (unsigned burst = 0; burst < bursts; ++burst) {
      const unsigned from = random() % kProcesses;
      const unsigned to = (from + 1 + random() % (kProcesses - 1)) % kProcesses;
      for (unsigned count = 1 + random() % 4; count != 0; --count) send(from, to, random() % 3 * 20'000 + 8);
      if (random() % 4 == 0) get(to, from, random() % 300'000 + 1);
      for (unsigned pass = random() % 200; pass != 0; --pass) progress();
    }
  }
  /// All that were sent have arrived, in order.
  void expect_all() {
    const Deadline deadline = Deadline::after_seconds(60);
    const auto arrived = [&](unsigned to) { return harness_.sink(to).messages.size(); };
    for (unsigned to = 0; to < kProcesses; ++to) {
      while (arrived(to) < sent_to_[to] && !deadline.passed()) progress();
      ASSERT_EQ(arrived(to), sent_to_[to]);
      std::array<std::uint64_t, kProcesses> next{};
      for (const auto& message : harness_.sink(to).messages) {
        std::uint64_t number = 0;
        std::memcpy(&number, message.bytes.data(), sizeof number);
        ASSERT_EQ(number, next[message.from.rank]++) << "from " << message.from.rank << " to " << to;
      }
      EXPECT_TRUE(harness_.sink(to).lost.empty());
    }
    for (const auto& get : gets_) {
      while (!get->ended() && !deadline.passed()) progress();
      EXPECT_TRUE(get->right());
    }
  }
  void progress() {
    for (unsigned rank = 0; rank < kProcesses; ++rank) harness_.component(rank).progress();
  }
  std::size_t reopened() {
    std::size_t notes = 0;
    for (unsigned rank = 0; rank < kProcesses; ++rank) {
      for (const auto& note : harness_.component(rank).counters().notes) {
        notes += note.find("opened again") != note.npos;
      }
    }
    return notes;
  }

 private:
  void send(unsigned from, unsigned to, std::size_t bytes) {
    std::vector<std::byte> message(bytes, std::byte(bytes));
    std::memcpy(message.data(), &numbers_[from][to], sizeof(std::uint64_t));
    btl::Endpoint& endpoint = harness_.endpoint(from, to);
    const Deadline deadline = Deadline::after_seconds(60);
    while (endpoint.send({}, message) == Post::again && !deadline.passed()) progress();
    ++numbers_[from][to];
    ++sent_to_[to];
  }

  void get(unsigned by, unsigned from, std::size_t bytes) {
    harness_.endpoint(from, by);
    gets_.push_back(std::make_unique<Getting>(bytes));
    if (gets_.back()->start(harness_.endpoint(by, from)) == Post::again) gets_.pop_back();
  }

  UcxHarness harness_;
  std::vector<std::unique_ptr<Getting>> gets_;
  std::array<std::array<std::uint64_t, kProcesses>, kProcesses> numbers_{};
  std::array<std::size_t, kProcesses> sent_to_{};
};

/// Process 1 is gone; at 0 its connection has broken, and 20 ms later it will be lost.
struct UcxBroken : testing::Test {
  UcxHarness harness{2, {"STARLING_MCA_btl_ucx_remote=always"}};
  btl::UcxEndpoint& link = static_cast<btl::UcxEndpoint&>(harness.endpoint(0, 1));
  std::vector<std::byte> memory = std::vector<std::byte>(8000);
  std::vector<std::byte> key;
  std::unique_ptr<btl::Region> region;
  const std::vector<std::byte> bytes = make_message(1, 8000);

  void SetUp() override {
    harness.endpoint(1, 0);
    auto exposed = harness.component(1).expose(memory);
    ASSERT_TRUE(exposed) << exposed.error().text();
    key.assign((*exposed)->key().begin(), (*exposed)->key().end());
    auto opened = link.remote()->open(key);
    ASSERT_TRUE(opened) << opened.error().text();
    region = std::move(*opened);
    Ending put;
    put.begin(link.remote()->put(*region, 0, bytes, &put));
    ASSERT_TRUE(progress_until(harness, [&] { return put.ended; }));
    ASSERT_TRUE(put.ok);
    ASSERT_TRUE(link.unconfirmed());
    exposed->reset();
    harness.end(1);
    ASSERT_TRUE(progress_until(harness, [&] { return !link.connected(); }));
  }
  void expect_loss() {
    EXPECT_TRUE(progress_until(harness, [&] { return !harness.sink(0).lost.empty(); }));
    EXPECT_EQ(harness.sink(0).lost.size(), 1u);
    EXPECT_FALSE(link.connected());
  }
  /// What was posted.
  struct Ending : btl::Completion {
    Ending() {
      done = [](btl::Completion* self, bool well) noexcept {
        auto& told = *static_cast<Ending*>(self);
        told.ended = true;
        told.ok = well;
      };
    }
    void begin(Post post) noexcept {
      if (post == Post::done) ended = ok = true;
    }
    bool ended = false, ok = false;
  };
};

TEST_F(UcxBroken, nothing_is_flushed) {
  link.start_flush();
  expect_loss();
}

TEST_F(UcxBroken, what_is_sent_from_ends_with_the_loss) {
  Ending sending;
  if (link.send_from({}, bytes, &sending) == Post::posted) {
    EXPECT_TRUE(progress_until(harness, [&] { return sending.ended; }));
    EXPECT_FALSE(sending.ok);
    EXPECT_FALSE(harness.sink(0).lost.empty());
  }
  expect_loss();
}

TEST(UcxSendFrom, is_offered_where_ucx_copies) {
  const auto offered = [](const std::string& tls) {
    UcxHarness harness(1, {"STARLING_MCA_btl_ucx_tls=" + tls});
    return harness.component(0).limits().send_from_bytes != 0;
  };
  EXPECT_TRUE(offered("tcp"));
  EXPECT_TRUE(offered("tcp,self"));
  ::setenv("UCX_ZCOPY_THRESH", "8k", 1);
  EXPECT_FALSE(offered("tcp"));
  ::unsetenv("UCX_ZCOPY_THRESH");
}

/// UCX, and how often it is asked for more after the first message has come.
struct CountedUcx : Ucx {
  static inline const Collector* receiver = nullptr;
  static inline unsigned asked_for_more = 0;

  static unsigned count_and_progress(ucp_worker_h worker) {
    if (receiver != nullptr && !receiver->messages.empty()) ++asked_for_more;
    return (*ucx::load())->worker_progress(worker);
  }
  static Result<std::unique_ptr<btl::Component>> create(const btl::Args& args) {
    static const ucx::Library library = [] {
      ucx::Library counting = **ucx::load();
      counting.worker_progress = &count_and_progress;
      return counting;
    }();
    auto choice = ucx::choose(args.params);
    if (!choice) return fail(std::move(choice).error());
    auto worker = ucx::Worker::open(library, *choice);
    if (!worker) return fail(std::move(worker).error());
    auto component = std::make_unique<btl::UcxComponent>(args, library, std::move(*worker), *choice);
    if (auto started = component->start(); !started) return fail(std::move(started).error());
    return std::unique_ptr<btl::Component>(std::move(component));
  }
};

TEST(UcxProgress, ends_with_what_has_come) {
  NetHarness<CountedUcx> harness(2);
  CountedUcx::receiver = &harness.sink(1);
  ASSERT_EQ(harness.endpoint(0, 1).send({}, make_message(1, 64)), Post::done);
  const Deadline deadline = Deadline::after_seconds(60);
  while (harness.sink(1).messages.empty() && !deadline.passed()) {
    harness.component(0).progress();
    harness.component(1).progress();
  }
  CountedUcx::receiver = nullptr;
  EXPECT_EQ(harness.sink(1).messages.size(), 1u);
  EXPECT_EQ(CountedUcx::asked_for_more, 0u) << "an answer would leave a system call later";
}

TEST(UcxLeaving, who_has_left_itself_loses_nothing_by_a_broken_connection) {
  UcxHarness harness(2);
  auto& to_peer = harness.endpoint(0, 1);
  harness.endpoint(1, 0);
  ASSERT_EQ(to_peer.send({}, make_message(1, 64)), Post::done);
  const Deadline deadline = Deadline::after_seconds(60);
  while (harness.sink(1).messages.empty() && !deadline.passed()) {
    harness.component(0).progress();
    harness.component(1).progress();
  }
  harness.component(0).set_idle(true);
  harness.end(1);  // without a word
  while (harness.sink(0).lost.empty() && !deadline.passed()) harness.component(0).progress();
  ASSERT_EQ(harness.sink(0).why_lost.size(), 1u);
  EXPECT_EQ(harness.sink(0).why_lost[0], Errc::peer_left) << harness.sink(0).reasons[0];
}

TEST_F(UcxBroken, nothing_opens_it_again) {
  EXPECT_FALSE(link.remote() != nullptr && link.remote()->open(key));
  link.hold_back(false);  // as the answer to a question about closing does
  EXPECT_NE(link.send({}, bytes), link.lost() ? Post::done : Post::again);
  EXPECT_FALSE(link.connected());
  expect_loss();
}

TEST_F(UcxBroken, what_was_opened_cannot_be_accessed) {
  if (link.remote() != nullptr) {
    EXPECT_FALSE(link.remote()->open(key));
    Ending put, get;
    std::vector<std::byte> to(100);
    put.begin(link.remote()->put(*region, 0, bytes, &put));
    get.begin(link.remote()->get(*region, 0, to, &get));
    EXPECT_TRUE(put.ended && get.ended);
    EXPECT_FALSE(put.ok || get.ok);
  }
  expect_loss();
}

TEST(UcxSleep, a_death_that_is_found_before_a_sleep_is_dealt_with_first) {
  UcxHarness harness(2);
  harness.endpoint(1, 0);
  ASSERT_EQ(harness.endpoint(0, 1).send({}, make_message(1, 64)), Post::done);
  ASSERT_TRUE(progress_until(harness, [&] { return !harness.sink(1).messages.empty(); }));
  harness.segment().tell_far_death(1);
  const Deadline deadline = Deadline::after_seconds(60);
  bool slept = true;
  while (harness.sink(0).lost.empty() && !deadline.passed()) {
    slept = harness.component(0).begin_sleep();
    if (slept) harness.component(0).end_sleep();
  }
  ASSERT_FALSE(harness.sink(0).lost.empty());
  EXPECT_FALSE(slept) << "its endpoint is still to be closed, and what it had borrowed to be given back";
}

TEST(UcxClosing, beyond_the_cap_idle_connections_close_and_nothing_is_lost) {
  for (const unsigned cap : {1u, 2u}) {
    UcxConnections job(cap);
    job.run(600);
    job.expect_all();
    EXPECT_GT(job.reopened(), 0u);
  }
}

TEST(UcxClosing, what_is_closed_gives_its_descriptors_back) {
  const auto open_after = [](unsigned cap) {
    const std::size_t before = descriptors();
    UcxConnections job(cap);
    job.run(300);
    job.expect_all();
    for (int pass = 0; pass < 20'000; ++pass) job.progress();
    return descriptors() - before;
  };
  const std::size_t all = open_after(0);
  EXPECT_LT(open_after(1), all);
}

TEST(UcxClosing, without_a_cap_none_closes) {
  UcxConnections job(0);
  job.run(200);
  job.expect_all();
  EXPECT_EQ(job.reopened(), 0u);
}

}  // namespace
}  // namespace starling::test
