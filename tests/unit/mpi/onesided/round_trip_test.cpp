// SPDX-License-Identifier: BSD-3-Clause
// Operations of this process on its own window by messages: each length and number that is written is read
// again. Then answers that say something else than was asked for. Layer: tests.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/predefined.hpp"
#include "mpi/error.hpp"
#include "mpi/onesided/lock_place.hpp"
#include "mpi/onesided/operations.hpp"
#include "tests/unit/mpi/onesided/lone_window.hpp"

namespace starling::mpi::message {
namespace {

struct RoundTrip : testing::Test {
  static constexpr std::uint64_t kBytes = 2'000'000;
  test::LoneWindow window{kBytes};
  Win& win = window.win();
  const Datatype& byte = *predefined_datatype(builtin::kByte);
  const Located found{&win.own(), 0, 0};

  /// Until all is done there.
  int complete() {
    const Hold lock{registry().lock, Hold::always};
    return window.part().flush(0, false, "test");
  }
  void get_into(std::vector<std::byte>& to, std::uint64_t bytes) {
    const Hold lock{registry().lock, Hold::always};
    message::get(win, {to.data(), bytes, byte}, {0, 0, bytes, byte}, found);
  }
  /// An answer to the operation with this number, as if the target had sent it. Under the lock.
  void answer(std::uint64_t token, std::uint64_t first, std::size_t bytes) {
    const std::vector<std::byte> data(bytes, std::byte{0xee});
    Record record;
    record.what = What::data;
    record.token = token;
    record.first = first;
    record.bytes = static_cast<std::uint32_t>(bytes);
    window.part().to(0).on_data(record, data);
  }
};

TEST_F(RoundTrip, what_is_put_and_got_in_pieces_is_all_there) {
  std::vector<std::byte> from(kBytes), to(kBytes + 8, std::byte{0x55});
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + (i >> 12));
  {
    const Hold lock{registry().lock, Hold::always};
    message::put(win, {from.data(), kBytes, byte}, {0, 0, kBytes, byte}, found);
  }
  ASSERT_EQ(complete(), MPI_SUCCESS);
  EXPECT_EQ(std::memcmp(window.memory().data(), from.data(), kBytes), 0);
  get_into(to, kBytes);
  ASSERT_EQ(complete(), MPI_SUCCESS);
  EXPECT_EQ(std::memcmp(to.data(), from.data(), kBytes), 0);
  EXPECT_EQ(to[kBytes], std::byte{0x55});
}

TEST_F(RoundTrip, each_layout_is_known_by_its_own_number) {
  // More than the target remembers at once, then the last ones again, from which none has been dropped.
  constexpr std::int64_t kTypes = 600;
  std::vector<Ref<Datatype>> types;
  for (std::int64_t i = 0; i < kTypes; ++i) {
    const std::array<std::int64_t, 2> lengths{1, 1};
    const std::array<std::int64_t, 2> places{0, 8 + i};
    const std::array<const Datatype*, 2> parts{&byte, &byte};
    types.push_back(*make_struct(lengths, places, parts));
    types.back()->commit();
  }
  std::array<std::byte, 2> two{std::byte{1}, std::byte{2}};
  const auto put = [&](std::int64_t i) {
    std::memset(window.memory().data(), 0, 1024);
    {
      const Hold lock{registry().lock, Hold::always};
      message::put(win, {two.data(), 2, byte}, {0, 0, 1, *types[static_cast<std::size_t>(i)]}, found);
    }
    ASSERT_EQ(complete(), MPI_SUCCESS) << i;
    EXPECT_EQ(window.memory()[0], two[0]) << i;
    EXPECT_EQ(window.memory()[static_cast<std::size_t>(8 + i)], two[1]) << i;
  };
  for (std::int64_t i = 0; i < kTypes; ++i) put(i);
  for (std::int64_t i = kTypes - 255; i < kTypes; ++i) put(i);
}

TEST_F(RoundTrip, answers_longer_than_what_was_asked_for_are_dropped) {
  std::vector<std::byte> to(64, std::byte{0x55});
  get_into(to, 16);
  {
    const Hold lock{registry().lock, Hold::always};
    answer(1, 0, 17);
    answer(1, 1, 16);
    answer(1, 17, 1);
    answer(1, ~std::uint64_t{0}, 2);
    answer(2, 0, 16);
  }
  for (const std::byte one : to) EXPECT_EQ(one, std::byte{0x55});
  EXPECT_EQ(complete(), MPI_SUCCESS);
  EXPECT_EQ(to[15], std::byte{0});
  EXPECT_EQ(to[16], std::byte{0x55});
}

TEST_F(RoundTrip, an_answer_that_is_too_short_does_not_end_the_operation) {
  std::vector<std::byte> to(16, std::byte{0x55});
  get_into(to, 16);
  const Hold lock{registry().lock, Hold::always};
  Channel& channel = window.part().to(0);
  (void)channel.advance();
  answer(1, 0, 15);
  EXPECT_EQ(to[14], std::byte{0xee});
  EXPECT_EQ(to[15], std::byte{0x55});
  EXPECT_FALSE(channel.done_here());
  answer(1, 15, 1);
  EXPECT_TRUE(channel.done_here());
}

TEST_F(RoundTrip, an_operation_that_the_target_refuses_ends_with_its_error) {
  std::vector<std::byte> to(16);
  const Hold lock{registry().lock, Hold::always};
  message::get(win, {to.data(), 16, byte}, {0, 0, 16, byte}, {&win.own(), 0, kBytes});
  EXPECT_EQ(window.part().flush(0, false, "test"), MPI_ERR_RMA_RANGE);
  EXPECT_EQ(last_error_detail().rfind("window of 1 rank", 0), 0u) << last_error_detail();
  EXPECT_TRUE(window.part().to(0).done_here());
}

TEST_F(RoundTrip, the_lock_of_an_origin_that_has_ended_is_free) {
  for (const bool exclusive : {true, false}) {
    Record record;
    record.what = What::lock;
    record.op = exclusive ? 1 : 0;
    window.receive(record, {});
    ASSERT_EQ(window.error(), MPI_SUCCESS);
    const Hold lock{registry().lock, Hold::always};
    Control::Lock target = target_lock_of(win, 0).lock, node = node_lock_of(win).lock;
    EXPECT_FALSE(target.enter(Side::other, false));
    window.part().from(0).lose();
    EXPECT_TRUE(target.enter(Side::other, false));
    EXPECT_TRUE(node.enter(Side::shared, false));
    (void)target.leave(Side::other);
    (void)node.leave(Side::shared);
  }
}

TEST_F(RoundTrip, an_origin_that_has_ended_does_not_wait_for_a_lock) {
  Control::Lock target = target_lock_of(win, 0).lock;
  ASSERT_TRUE(target.enter(Side::other, false));
  Record record;
  record.what = What::lock;
  window.receive(record, {});
  const Hold lock{registry().lock, Hold::always};
  window.part().from(0).lose();
  EXPECT_EQ(target.leave(Side::other), Control::Lock::kNobody) << "somebody waits";
  EXPECT_TRUE(target.enter(Side::other, false));
  (void)target.leave(Side::other);
}

}  // namespace
}  // namespace starling::mpi::message
