// SPDX-License-Identifier: BSD-3-Clause
// Messages of one-sided operations that say something wrong: each ends at the origin as an error, and nothing
// outside of the window's memory is touched. Layer: tests.

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/predefined.hpp"
#include "mpi/onesided/layout_code.hpp"
#include "mpi/onesided/lock_place.hpp"
#include "mpi/op/op.hpp"
#include "tests/unit/mpi/onesided/lone_window.hpp"

namespace starling::mpi::message {
namespace {

using test::LoneWindow;

constexpr std::uint64_t kLast = ~std::uint64_t{0};

struct Messages : testing::Test {
  static constexpr std::size_t kBytes = 64;
  LoneWindow window{kBytes};
  std::array<std::byte, 16> payload{};

  static Record of(What what, std::uint64_t offset, std::uint32_t bytes) {
    Record record;
    record.what = what;
    record.offset = offset;
    record.bytes = bytes;
    return record;
  }
  static Record ints(What what, std::uint64_t offset, std::uint32_t bytes) {
    Record record = of(what, offset, bytes);
    record.op = static_cast<std::uint8_t>(OpCode::sum);
    record.basic = static_cast<std::uint8_t>(Basic::int32);
    return record;
  }
  int sent(const Record& record) {
    window.receive(record, std::span(payload).first(record.bytes));
    return window.error();
  }
  /// Teaches the window a layout.
  int teach(std::uint32_t number, std::span<const std::byte> code) {
    Record record;
    record.what = What::layout;
    record.layout = number;
    record.count = code.size();
    record.bytes = static_cast<std::uint32_t>(code.size());
    window.receive(record, code);
    return window.error();
  }
  static std::vector<std::byte> code_of(std::span<const std::int64_t> numbers) {
    const auto bytes = std::as_bytes(numbers);
    return {bytes.begin(), bytes.end()};
  }
};

TEST_F(Messages, a_put_is_done_to_the_last_byte) {
  payload.fill(std::byte{7});
  EXPECT_EQ(sent(of(What::put, kBytes - 16, 16)), MPI_SUCCESS);
  EXPECT_EQ(window.memory()[kBytes - 1], std::byte{7});
  EXPECT_EQ(window.memory()[kBytes - 17], std::byte{0});
}

TEST_F(Messages, who_waits_for_a_window_that_could_not_be_made_is_told) {
  window.renew(false);
  payload.fill(std::byte{7});
  EXPECT_EQ(sent(of(What::put, 0, 16)), MPI_SUCCESS) << "it is kept until the window is there";
  EXPECT_EQ(window.memory()[0], std::byte{0});
  window.renew();
  EXPECT_TRUE(window.part().to(0).lost()) << "the origin would wait for what was kept";
}

TEST_F(Messages, what_comes_before_the_window_is_there_is_done_then) {
  window.renew(false);
  payload.fill(std::byte{7});
  EXPECT_EQ(sent(of(What::put, 0, 16)), MPI_SUCCESS);
  window.start();
  EXPECT_EQ(window.memory()[0], std::byte{7});
}

TEST_F(Messages, what_is_not_all_in_the_window_is_refused) {
  EXPECT_EQ(sent(of(What::put, kBytes - 15, 16)), MPI_ERR_RMA_RANGE);
  EXPECT_EQ(sent(of(What::put, kLast, 8)), MPI_ERR_RMA_RANGE);
  Record skipped = of(What::put, 0, 16);
  skipped.first = kLast - 11;  // with the payload it is four bytes again
  EXPECT_EQ(sent(skipped), MPI_ERR_RMA_RANGE);
  Record get = of(What::get, 0, 0);
  get.count2 = kBytes + 1;
  EXPECT_EQ(sent(get), MPI_ERR_RMA_RANGE);
  get.count2 = kLast;
  get.first = 2;
  EXPECT_EQ(sent(get), MPI_ERR_RMA_RANGE);
  for (const std::byte byte : window.memory()) EXPECT_EQ(byte, std::byte{0});
}

TEST_F(Messages, an_accumulate_stays_in_the_window) {
  EXPECT_EQ(sent(ints(What::accumulate, kBytes - 16, 16)), MPI_SUCCESS);
  EXPECT_EQ(sent(ints(What::accumulate, kBytes - 12, 16)), MPI_ERR_RMA_RANGE);
  Record skipped = ints(What::accumulate, 0, 16);
  skipped.first = (kLast >> 2) - 2;  // times four it is behind the beginning
  EXPECT_EQ(sent(skipped), MPI_ERR_RMA_RANGE);
  Record of_nothing = ints(What::accumulate, 0, 16);
  of_nothing.basic = 0;
  EXPECT_EQ(sent(of_nothing), MPI_ERR_INTERN);
  Record of_too_much = of_nothing;
  of_too_much.basic = 255;
  EXPECT_EQ(sent(of_too_much), MPI_ERR_INTERN);
  for (const std::uint8_t basic : {std::uint8_t{0}, std::uint8_t{255}}) {
    of_nothing.basic = basic;
    of_nothing.op = static_cast<std::uint8_t>(OpCode::replace);
    EXPECT_EQ(sent(of_nothing), MPI_ERR_INTERN);
  }
  Record misfit = ints(What::accumulate, 0, 16);
  misfit.op = static_cast<std::uint8_t>(OpCode::bxor);
  misfit.basic = static_cast<std::uint8_t>(Basic::float64);
  EXPECT_EQ(sent(misfit), MPI_ERR_INTERN);
}

TEST_F(Messages, a_swap_is_of_one_element) {
  EXPECT_EQ(sent(of(What::swap, 60, 8)), MPI_SUCCESS);
  EXPECT_EQ(sent(of(What::swap, 61, 8)), MPI_ERR_RMA_RANGE);
  EXPECT_EQ(sent(of(What::swap, 0, 1)), MPI_ERR_INTERN);
  Record behind = of(What::swap, 0, 8);
  behind.first = 1;
  EXPECT_EQ(sent(behind), MPI_ERR_INTERN);
  LoneWindow large(4 * kBytes);
  const std::array<std::byte, 130> two_of_65{};
  large.receive(of(What::swap, 0, 130), two_of_65);
  EXPECT_EQ(large.error(), MPI_ERR_INTERN);
  Record with_layout = of(What::swap, 60, 16);
  const std::array<std::int64_t, 6> bytes{0, 1, 0, 0, static_cast<std::int64_t>(Basic::int8), 1};
  ASSERT_EQ(teach(1, code_of(bytes)), MPI_SUCCESS);
  with_layout.layout = 1;
  with_layout.count = 1;
  EXPECT_EQ(sent(with_layout), MPI_ERR_INTERN);
}

TEST_F(Messages, unknown_and_broken_layouts_are_refused) {
  Record put = of(What::put, 0, 4);
  put.layout = 9;
  put.count = 1;
  EXPECT_EQ(sent(put), MPI_ERR_INTERN);
  put.layout = 4'000'000'000;
  EXPECT_EQ(sent(put), MPI_ERR_INTERN);
  const std::array<std::int64_t, 2> cut{0, 4};
  EXPECT_EQ(teach(9, code_of(cut)), MPI_SUCCESS) << "it is noticed when it is used";
  put.layout = 9;
  EXPECT_EQ(sent(put), MPI_ERR_INTERN);
  Record second_half;
  second_half.what = What::layout;
  second_half.layout = 9;
  second_half.count = 100;
  second_half.first = 50;
  EXPECT_EQ(sent(second_half), MPI_ERR_INTERN);
}

/// A loop of `count` ints, each `stride` bytes behind the one before.
std::array<std::int64_t, 9> strided(std::int64_t count, std::int64_t stride, std::int64_t ub) {
  const auto loop = static_cast<std::int64_t>(Node::Kind::loop);
  const auto leaf = static_cast<std::int64_t>(Node::Kind::leaf);
  return {0, ub, 0, loop, count, stride, leaf, static_cast<std::int64_t>(Basic::int32), 1};
}

TEST_F(Messages, a_layout_has_to_lie_in_the_window) {
  ASSERT_EQ(teach(1, code_of(strided(4, 16, 64))), MPI_SUCCESS);
  Record put = of(What::put, 0, 16);
  put.layout = 1;
  put.count = 1;
  payload.fill(std::byte{9});
  EXPECT_EQ(sent(put), MPI_SUCCESS);
  EXPECT_EQ(window.memory()[51], std::byte{9});
  put.count = 2;
  EXPECT_EQ(sent(put), MPI_ERR_RMA_RANGE);
  put.count = std::uint64_t{1} << 58;  // times the extent it is nothing
  EXPECT_EQ(sent(put), MPI_ERR_RMA_RANGE);
  ASSERT_EQ(teach(2, code_of(strided(1, 4, 0))), MPI_SUCCESS);
  put = of(What::put, 0, 4);
  put.layout = 2;
  put.count = (std::uint64_t{1} << 56) + 1;  // all of them lie on one place
  EXPECT_EQ(sent(put), MPI_ERR_RMA_RANGE);
  put = of(What::put, 0, 16);
  put.layout = 1;
  put.count = 1;
  put.first = 8;  // more than the layout has
  EXPECT_EQ(sent(put), MPI_ERR_RMA_RANGE);
}

TEST_F(Messages, a_layout_far_away_is_none) {
  EXPECT_FALSE(decode(code_of(strided(2, std::int64_t{1} << 60, 8))));
  EXPECT_FALSE(decode(code_of(strided(2, 8, std::int64_t{1} << 60))));
  EXPECT_FALSE(decode(code_of(strided(std::int64_t{1} << 62, 8, 8))));
  EXPECT_FALSE(decode(code_of(strided(-1, 8, 8))));
  EXPECT_TRUE(decode(code_of(strided(2, 1024, 8))));
}

TEST_F(Messages, a_layout_is_refused_for_each_number_that_makes_no_sense) {
  constexpr std::int64_t kAway = std::int64_t{1} << 60;
  const auto leaf = static_cast<std::int64_t>(Node::Kind::leaf);
  const auto list = static_cast<std::int64_t>(Node::Kind::list);
  const auto blocks = static_cast<std::int64_t>(Node::Kind::blocks);
  const auto number = static_cast<std::int64_t>(Basic::int32);
  const auto pair = static_cast<std::int64_t>(Basic::float32_int);
  const auto good = [](std::vector<std::int64_t> numbers) { return bool(decode(code_of(numbers))); };
  EXPECT_TRUE(good({0, 4, 0, leaf, number, 1}));
  EXPECT_FALSE(good({kAway, 4, 0, leaf, number, 1}));
  EXPECT_FALSE(good({0, 4, kAway, leaf, number, 1}));
  EXPECT_FALSE(good({0, 4, 0, leaf, number, 1, 0})) << "something follows";
  EXPECT_FALSE(good({0, 4, 0, leaf, number, -1}));
  EXPECT_FALSE(good({0, 4, 0, leaf, -1, 1}));
  EXPECT_FALSE(good({0, 4, 0, leaf, static_cast<std::int64_t>(kBasics), 1}));
  EXPECT_FALSE(good({0, 8, 0, leaf, pair, 1}));
  EXPECT_TRUE(good({0, 4, 0, list, 1, 0, leaf, number, 1}));
  EXPECT_FALSE(good({0, 4, 0, list, -1, 0, leaf, number, 1}));
  EXPECT_FALSE(good({0, 4, 0, list, std::int64_t{1} << 40, 0, leaf, number, 1}));
  EXPECT_FALSE(good({0, 4, 0, list, 1, kAway, leaf, number, 1}));
  EXPECT_TRUE(good({0, 4, 0, blocks, 1, 0, 1, 1, 4, leaf, number, 1}));
  EXPECT_FALSE(good({0, 4, 0, blocks, 1, kAway, 1, 1, 4, leaf, number, 1}));
  EXPECT_FALSE(good({0, 4, 0, blocks, 1, 0, 1, -1, 4, leaf, number, 1}));
  EXPECT_FALSE(good({0, 4, 0, blocks, 2, 0, 4, 1, 1, 4, leaf, number, 1}));
  EXPECT_FALSE(good({0, 4, 0, static_cast<std::int64_t>(Node::Kind::loop), 2, -kAway, leaf, number, 1}));
}

TEST_F(Messages, a_layout_of_shorter_elements_does_not_carry_an_accumulate_outside) {
  // Sixteen single bytes at the end; the record says doubles.
  const auto leaf = static_cast<std::int64_t>(Node::Kind::leaf);
  const std::array<std::int64_t, 6> bytes{0, 16, 0, leaf, static_cast<std::int64_t>(Basic::int8), 16};
  ASSERT_EQ(teach(1, code_of(bytes)), MPI_SUCCESS);
  Record record = ints(What::accumulate, kBytes - 16, 16);
  record.basic = static_cast<std::uint8_t>(Basic::float64);
  record.layout = 1;
  record.count = 1;
  payload.fill(std::byte{1});
  (void)sent(record);  // whatever it says, it must not write outside: a sanitizer sees that
}

TEST_F(Messages, cut_records_and_unknown_ones_end_there) {
  Record longer = of(What::put, 0, 16);
  std::vector<std::byte> cut(sizeof longer + 3);
  std::memcpy(cut.data(), &longer, sizeof longer);
  window.receive({window.id(), 0, 0, 0, 8}, cut);
  EXPECT_EQ(window.error(), MPI_ERR_INTERN);
  cut.resize(sizeof longer + 15);
  window.receive({window.id(), 0, 0, 0, 8}, cut);
  EXPECT_EQ(window.error(), MPI_ERR_INTERN);
  EXPECT_EQ(sent(of(static_cast<What>(200), 0, 0)), MPI_ERR_INTERN);
  EXPECT_EQ(sent(of(What::unlock, 0, 0)), MPI_ERR_INTERN) << "nothing is locked";
  EXPECT_EQ(sent(of(What::lock, 0, 0)), MPI_SUCCESS);
  EXPECT_EQ(sent(of(What::lock, 0, 0)), MPI_ERR_INTERN) << "twice";
  EXPECT_EQ(sent(of(What::unlock, 0, 0)), MPI_SUCCESS);
}

TEST_F(Messages, answers_that_nobody_has_asked_for_are_dropped) {
  for (const What what : {What::done, What::data, What::failed}) {
    Record record;
    record.what = what;
    record.token = 77;
    record.count = kLast;
    std::vector<std::byte> all(sizeof record);
    std::memcpy(all.data(), &record, sizeof record);
    window.receive({window.id(), 0, kBack, 0, 0}, all);
    EXPECT_EQ(window.error(), what == What::failed ? MPI_ERR_INTERN : MPI_SUCCESS);
  }
  EXPECT_TRUE(window.part().to(0).done());
}

TEST_F(Messages, an_answer_that_is_cut_or_late_changes_nothing) {
  const auto back = [&](What what, std::uint64_t count, std::uint32_t bytes) {
    Record record;
    record.what = what;
    record.count = count;
    record.bytes = bytes;
    std::vector<std::byte> all(sizeof record);
    std::memcpy(all.data(), &record, sizeof record);
    window.receive({window.id(), 0, kBack, 0, 0}, all);
  };
  back(What::failed, MPI_ERR_RANK, 1);
  EXPECT_EQ(window.error(), MPI_SUCCESS) << "its text is missing";
  back(What::failed, MPI_SUCCESS, 0);
  EXPECT_EQ(window.error(), MPI_ERR_INTERN) << "a failure is one, whatever its class";
  {
    const Hold lock{registry().lock, Hold::always};
    window.part().to(0).notice(What::leave);
    ASSERT_EQ(window.part().flush(0, false, "test"), MPI_SUCCESS);
  }
  back(What::done, 1, 0);
  EXPECT_TRUE(window.part().to(0).done()) << "it was further already";
}

TEST_F(Messages, what_follows_a_lock_is_done_when_it_is_taken) {
  const auto place = [&] { return target_lock_of(window.win(), 0).lock; };
  ASSERT_TRUE(place().enter(Side::other, false));
  payload.fill(std::byte{7});
  EXPECT_EQ(sent(of(What::lock, 0, 0)), MPI_SUCCESS);
  EXPECT_EQ(sent(of(What::put, 0, 16)), MPI_SUCCESS);
  EXPECT_EQ(window.memory()[0], std::byte{0});
  (void)place().leave(Side::other);
  const Hold lock{registry().lock, Hold::always};
  while (Runtime::get()->polling().progress() != 0) {
  }
  EXPECT_EQ(window.memory()[15], std::byte{7});
}

TEST_F(Messages, who_uses_a_window_that_was_freed_hears_that) {
  // The question names a window that is not there; the answer would name this one.
  Record gone;
  gone.what = What::gone;
  std::vector<std::byte> all(sizeof gone);
  std::memcpy(all.data(), &gone, sizeof gone);
  (void)window.part().to(0);
  window.receive({window.id(), kUnknownRank, kBack, 0, 0}, all);
  EXPECT_TRUE(window.part().to(0).lost());
}

TEST_F(Messages, more_than_is_sent_at_once_is_refused) {
  LoneWindow large(kWindowBytes + 64);
  Record get = of(What::get, 0, 0);
  get.count2 = kWindowBytes;
  large.receive(get, {});
  EXPECT_EQ(large.error(), MPI_SUCCESS);
  ++get.count2;
  large.receive(get, {});
  EXPECT_EQ(large.error(), MPI_ERR_INTERN);
  Record fetch = ints(What::fetch, 0, 8);
  fetch.count2 = 2;
  EXPECT_EQ(sent(fetch), MPI_SUCCESS);
  fetch.count2 = 3;
  EXPECT_EQ(sent(fetch), MPI_ERR_INTERN) << "two elements come";
  fetch = ints(What::fetch, 0, 0);
  fetch.op = static_cast<std::uint8_t>(OpCode::no_op);
  fetch.count2 = kWindowBytes / 4 + 1;
  EXPECT_EQ(sent(fetch), MPI_ERR_INTERN);
}

TEST_F(Messages, who_frees_with_the_living_is_answered) {
  const auto answers = [&] {
    const Hold lock{registry().lock, Hold::always};
    const std::uint64_t before = window.part().to(0).number();
    window.part().answer_leaving();
    return window.part().to(0).number() - before;
  };
  EXPECT_EQ(answers(), 0u) << "nobody has asked";
  EXPECT_EQ(sent(of(What::leave, 0, 0)), MPI_SUCCESS);
  EXPECT_EQ(answers(), 1u);
}

TEST_F(Messages, layouts_come_back_as_they_went) {
  const std::array<std::int64_t, 3> displacements{8, -16, 40};
  const std::array<std::int64_t, 3> counts{2, 0, 1};
  const auto leaf = static_cast<std::int64_t>(Node::Kind::leaf);
  const auto blocks = static_cast<std::int64_t>(Node::Kind::blocks);
  std::vector<std::int64_t> numbers{-4, 60, 4, blocks, 3};
  numbers.insert(numbers.end(), displacements.begin(), displacements.end());
  numbers.push_back(3);
  numbers.insert(numbers.end(), counts.begin(), counts.end());
  for (const std::int64_t number :
       {std::int64_t{8}, leaf, static_cast<std::int64_t>(Basic::int32), std::int64_t{1}})
    numbers.push_back(number);
  const auto code = code_of(numbers);
  const Ref<Datatype> type = decode(code);
  ASSERT_TRUE(type);
  EXPECT_EQ(encode(*type), code);
  EXPECT_EQ(type->size(), 12u);
  for (std::size_t bytes = 0; bytes < code.size(); ++bytes)
    EXPECT_FALSE(decode(std::span(code).first(bytes))) << bytes;
}

TEST_F(Messages, layouts_may_be_nested_deeply_but_not_without_end) {
  const Datatype& number = *predefined_datatype(builtin::kInt);
  const std::array<std::int64_t, 2> lengths{1, 1};
  Ref<Datatype> type = *make_dup(number);
  for (std::int64_t level = 1; level <= 1500; ++level) {
    const std::array<std::int64_t, 2> displacements{0, 8 * level};
    const std::array<const Datatype*, 2> parts{type.get(), &number};
    type = *make_struct(lengths, displacements, parts);
    if (level == 500) {
      EXPECT_TRUE(decode(encode(*type)));
    }
  }
  EXPECT_FALSE(decode(encode(*type)));
}

}  // namespace
}  // namespace starling::mpi::message
