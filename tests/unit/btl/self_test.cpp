// SPDX-License-Identifier: BSD-3-Clause
// btl/self: what is particular to it. What every btl must do: tests/conformance/btl.

#include "plugins/btl/self/component.hpp"
#include "tests/conformance/btl/collector.hpp"

namespace starling::test {
namespace {

TEST(BtlSelf, a_message_sent_while_one_is_delivered_waits_for_its_turn) {
  class Echo final : public btl::Sink {
   public:
    void on_message(btl::Origin&, std::span<const std::byte> message) noexcept override {
      sizes.push_back(message.size());
      if (message.size() < 5) {
        const auto next = make_message(0, message.size() + 1);
        EXPECT_EQ(endpoint->send({}, next), Post::done);
        EXPECT_EQ(sizes.back(), message.size());
      }
    }
    void on_peer_lost(ProcId, const Error&) noexcept override {}
    btl::Endpoint* endpoint = nullptr;
    std::vector<std::size_t> sizes;
  } echo;
  params::Registry params;
  btl::SelfComponent component({params, echo, btl::Place{}});
  EXPECT_EQ(component.counters().endpoints, 0u);
  for (int turn = 0; turn < 2; ++turn) {
    echo.endpoint = *component.connect(ProcId{}, {});
    EXPECT_EQ(component.counters().endpoints, 1u);
  }
  EXPECT_EQ(component.progress(), 0);
  ASSERT_EQ(echo.endpoint->send({}, {}), Post::done);
  EXPECT_FALSE(component.drained());
  EXPECT_FALSE(component.begin_sleep());
  while (component.progress() != 0) {
  }
  EXPECT_EQ(echo.sizes, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(component.drained());
}

}  // namespace
}  // namespace starling::test
