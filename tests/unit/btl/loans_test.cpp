// SPDX-License-Identifier: BSD-3-Clause
// Pages lent through a pipe, by the pipe's two ends and by what an endpoint gives out.
#include "plugins/btl/shm/loans.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/conformance/btl/collector.hpp"

namespace starling::btl {
namespace {

constexpr std::size_t kRoom = 64 * 1024;

std::vector<std::byte> filled(std::size_t bytes, std::uint64_t number) {
  return starling::test::make_message(number, bytes);
}

Lender make_lender(std::size_t room = kRoom) {
  auto made = Lender::create(room);
  EXPECT_TRUE(made);
  return std::move(*made);
}

Borrower make_borrower(const Lender& lender) {
  auto opened = Borrower::open(lender.address());
  EXPECT_TRUE(opened);
  return std::move(*opened);
}

TEST(Loan, bytes_of_any_alignment_arrive_in_order) {
  Lender lender = make_lender();
  Borrower borrower = make_borrower(lender);
  const auto data = filled(40'000, 3);
  std::vector<std::byte> got(data.size());
  for (std::size_t from = 0; from < data.size();) {
    const std::size_t bytes = std::min<std::size_t>(data.size() - from, 1 + from % 9001);
    ASSERT_EQ(lender.lend(std::span(data).subspan(from, bytes)), bytes);
    ASSERT_TRUE(borrower.take(std::span(got).subspan(from, bytes)));
    from += bytes;
  }
  EXPECT_EQ(got, data);
}

TEST(Loan, a_full_pipe_takes_less_and_then_nothing) {
  Lender lender = make_lender();
  Borrower borrower = make_borrower(lender);
  const auto data = filled(2 * kRoom, 5);
  const std::size_t lent = lender.lend(data);
  EXPECT_GT(lent, kRoom / 2);
  EXPECT_LE(lent, kRoom);
  EXPECT_EQ(lender.lend(std::span(data).subspan(lent)), 0u);
  std::vector<std::byte> got(100);
  EXPECT_TRUE(borrower.discard(lent - 100));
  EXPECT_TRUE(borrower.take(got));
  EXPECT_TRUE(std::equal(got.begin(), got.end(), data.begin() + std::ptrdiff_t(lent) - 100));
  EXPECT_FALSE(borrower.take(got)) << "nothing is left";
}

TEST(Loan, only_the_pipe_that_was_named_is_opened) {
  const Lender lender = make_lender();
  PipeAddress at = lender.address();
  at.inode += 1;
  EXPECT_FALSE(Borrower::open(at));
  at = lender.address();
  at.descriptor = 100'000;
  EXPECT_FALSE(Borrower::open(at));
  at = lender.address();
  at.pid = 0;
  EXPECT_FALSE(Borrower::open(at));
  EXPECT_FALSE(Lender::create(std::size_t{1} << 40)) << "no pipe is so large";
}

TEST(Loan, what_a_lender_lent_can_be_taken_after_its_end) {
  auto lender = std::make_unique<Lender>(make_lender());
  Borrower borrower = make_borrower(*lender);
  const auto data = filled(5000, 1);
  ASSERT_EQ(lender->lend(data), data.size());
  lender.reset();
  std::vector<std::byte> got(data.size());
  EXPECT_TRUE(borrower.take(got));
  EXPECT_EQ(got, data);
  EXPECT_FALSE(borrower.take(got));
}

TEST(PipeLoans, both_lend_and_borrow_after_an_offer_each) {
  PipeLoans one, other;
  EXPECT_EQ(one.lend(filled(10, 1)), 0u) << "nothing has been offered";
  std::vector<std::byte> got(300'000);
  EXPECT_FALSE(one.borrow(got)) << "nothing has been accepted";
  for (PipeLoans* const lender : {&one, &other}) {
    PipeLoans& borrower = lender == &one ? other : one;
    const auto offer = lender->offer();
    ASSERT_TRUE(offer);
    ASSERT_TRUE(borrower.accept(*offer));
    const auto data = filled(got.size(), lender == &one ? 3 : 4);
    ASSERT_LE(data.size(), lender->limits().window_bytes);
    ASSERT_EQ(lender->lend(data), data.size());
    ASSERT_TRUE(borrower.discard(1000));
    ASSERT_TRUE(borrower.borrow(std::span(got).subspan(1000)));
    EXPECT_TRUE(std::equal(got.begin() + 1000, got.end(), data.begin() + 1000));
  }
  other.close();
  EXPECT_EQ(other.lend(got), 0u);
}

TEST(PipeLoans, nothing_is_borrowed_from_who_is_out_of_step) {
  const auto data = filled(1000, 5);
  std::vector<std::byte> got(data.size() + 1);
  const auto by_borrowing = [&](PipeLoans& loans) { return loans.borrow(got); };
  const auto by_discarding = [&](PipeLoans& loans) { return loans.discard(got.size()); };
  const auto by_closing = [&](PipeLoans& loans) {
    loans.close();
    return false;
  };
  const auto expect_none_after = [&](auto step) {
    PipeLoans lender, borrower;
    ASSERT_TRUE(borrower.accept(lender.offer().value()));
    ASSERT_EQ(lender.lend(data), data.size());
    EXPECT_FALSE(step(borrower)) << "less is there than was asked for";
    (void)lender.lend(data);
    EXPECT_FALSE(borrower.borrow(std::span(got).first(10)));
    EXPECT_FALSE(borrower.discard(10));
  };
  expect_none_after(by_borrowing);
  expect_none_after(by_discarding);
  expect_none_after(by_closing);
}

TEST(PipeLoans, an_offer_that_leads_elsewhere_is_refused) {
  PipeLoans one, other;
  auto offer = one.offer();
  ASSERT_TRUE(offer);
  offer->words[1] += 1;
  EXPECT_FALSE(other.accept(*offer));
}

}  // namespace
}  // namespace starling::btl
