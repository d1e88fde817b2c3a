// SPDX-License-Identifier: BSD-3-Clause
// A transport whose looks cost much is not looked at in every pass, but as long as something comes.
#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

/// Leads nowhere, counts how often it is looked at, and finds something once if it is told to.
class Network final : public btl::Component {
 public:
  Network() noexcept { limits_.idle_passes = 16; }
  std::string_view name() const noexcept override { return "network"; }
  const btl::Limits& limits() const noexcept override { return limits_; }
  const btl::Needs& needs() const noexcept override { return needs_; }
  std::vector<std::byte> address() const override { return {}; }
  Result<void> reaches(ProcId) const override { return fail(Errc::unreachable, "network", "nobody"); }
  Result<btl::Endpoint*> connect(ProcId, std::span<const std::byte>) override {
    return fail(Errc::unreachable, "network", "nobody");
  }
  Result<std::unique_ptr<btl::Exposed>> expose(std::span<std::byte>) override {
    return fail(Errc::unsupported, "network", "nothing");
  }
  int progress() noexcept override {
    ++looks;
    return std::exchange(finds, 0);
  }
  bool begin_sleep() noexcept override { return true; }
  void end_sleep() noexcept override {}
  int wait_fd() const noexcept override { return -1; }
  bool drained() const noexcept override { return true; }
  void set_idle(bool) noexcept override {}
  Counters counters() const override { return {}; }

  int looks = 0, finds = 0;

 private:
  btl::Limits limits_;
  btl::Needs needs_;
};

class Rare : public testing::Test {
 protected:
  Rare() {
    peers.add_transport(one);
    peers.add_transport(other);
  }
  /// How often a transport is looked at in so many passes.
  int looks(const Network& network, int passes) {
    const int before = network.looks;
    for (int pass = 0; pass < passes; ++pass) peers.progress();
    return network.looks - before;
  }
  bool active() { return peers.table().network_active(); }

  Network one, other;
  Job job{1};
  peer::Peers& peers = job.at(0);
};

TEST_F(Rare, an_idle_one_is_looked_at_every_few_passes) {
  EXPECT_EQ(looks(one, 64), 4);
  EXPECT_FALSE(active());
}

TEST_F(Rare, one_that_finds_something_is_looked_at_in_the_next_256_passes) {
  one.finds = 1;
  peers.progress();
  EXPECT_TRUE(active());
  EXPECT_EQ(looks(one, 255), 255);
  EXPECT_TRUE(active());
  EXPECT_EQ(looks(one, 1), 1);
  EXPECT_FALSE(active());
  EXPECT_EQ(looks(one, 64), 4);
}

TEST_F(Rare, what_comes_meanwhile_makes_it_longer_and_does_not_concern_others) {
  one.finds = 1;
  peers.progress();
  EXPECT_EQ(looks(one, 200), 200);
  one.finds = 1;
  EXPECT_EQ(looks(one, 257), 257);
  EXPECT_EQ(looks(one, 64), 4);
  EXPECT_EQ(other.looks, (1 + 200 + 257 + 64 + 15) / 16);
}

}  // namespace
}  // namespace starling::pml::test
