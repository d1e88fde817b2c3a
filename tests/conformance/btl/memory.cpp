// SPDX-License-Identifier: BSD-3-Clause
// Btls with Capability::put or atomics: exposed memory is reached, and flush() tells when.

#include <cstring>

#include "tests/conformance/btl/ending.hpp"

namespace starling::conformance {
namespace {

using Kind = btl::AtomicChange::Kind;

/// Memory of process 1 as process 0 reaches it.
class BtlMemory : public Btl {
 protected:
  static constexpr std::size_t kBytes = 3'000'000;

  /// False: skipped, or the failure has been told.
  bool open(BtlJob& job, btl::Capability capability) {
    if (!job.works()) return false;
    if (!job.component(1).limits().can.has(capability)) return false;
    job.endpoint(1, 0);
    (void)progress_until(job, [&] { return (remote_ = job.endpoint(0, 1).remote()) != nullptr; });
    if (remote_ == nullptr) return false;
    auto exposed = job.component(1).expose(std::as_writable_bytes(std::span(memory_)));
    EXPECT_TRUE(exposed) << "Capability::put, but expose(): " << exposed.error().text();
    if (!exposed) return false;
    exposed_ = *std::move(exposed);
    EXPECT_LE(exposed_->key().size(), btl::Exposed::kKeyMax);
    auto region = remote_->open(exposed_->key());
    EXPECT_TRUE(region) << "the peer's key is refused: " << region.error().text();
    if (!region) return false;
    region_ = *std::move(region);
    EXPECT_EQ(region_->bytes(), memory_.size());
    return true;
  }
  /// Before the job.
  void close() {
    region_.reset();
    exposed_.reset();
  }
  void flush(BtlJob& job) {
    finish(job, "flush()", [&](btl::Completion* end) { return remote_->flush(end); });
  }
  std::uint64_t word(std::size_t offset, std::size_t bytes) const {
    std::uint64_t value = 0;
    std::memcpy(&value, memory_.data() + offset, bytes);
    return value;
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(kBytes);
  btl::Remote* remote_ = nullptr;
  std::unique_ptr<btl::Exposed> exposed_;
  std::unique_ptr<btl::Region> region_;
};

TEST_F(BtlMemory, who_has_no_put_says_so) {
  BtlJob job(2);
  ASSERT_TRUE(job.works());
  if (job.component(0).limits().can.has(btl::Capability::put)) return;
  EXPECT_FALSE(job.component(0).limits().can.has(btl::Capability::atomics)) << "atomics need exposed memory";
  auto exposed = job.component(0).expose(std::span(memory_));
  ASSERT_FALSE(exposed) << "expose() works without Capability::put";
  EXPECT_EQ(exposed.error().code, Errc::unsupported);
  EXPECT_EQ(job.endpoint(0, 1).remote(), nullptr) << "remote() without Capability::put";
}

TEST_F(BtlMemory, puts_are_there_after_a_flush_and_gets_bring_them_back) {
  BtlJob job(2);
  if (!open(job, btl::Capability::put)) {
    if (HasFailure() || !job.works()) FAIL();
    GTEST_SKIP() << "it does not say that it can put, or this machine refuses";
  }
  std::size_t at = 0;
  for (const std::size_t bytes : {1u, 8u, 4096u, 70'001u, 1u << 20, 1'500'003u}) {
    const auto message = test::make_message(bytes, bytes);
    finish(job, "put()", [&](btl::Completion* end) { return remote_->put(*region_, at, message, end); });
    flush(job);
    ASSERT_EQ(std::memcmp(memory_.data() + at, message.data(), bytes), 0)
        << "a flush has ended, and the bytes of a put of " << bytes << " are not there";
    std::vector<std::byte> back(bytes);
    finish(job, "get()", [&](btl::Completion* end) { return remote_->get(*region_, at, back, end); });
    ASSERT_EQ(back, message) << "a get of " << bytes << " bytes has ended with others than are there";
    at += bytes;
  }
  EXPECT_EQ(std::count_if(memory_.begin() + static_cast<std::ptrdiff_t>(at), memory_.end(),
                          [](std::byte each) { return each != std::byte{}; }),
            0)
      << "bytes behind what was put have changed";
  close();
}

TEST_F(BtlMemory, one_flush_covers_many_puts) {
  BtlJob job(2);
  if (!open(job, btl::Capability::put)) GTEST_SKIP() << "it does not say that it can put";
  constexpr std::size_t kPuts = 500, kEach = 64;
  const auto message = test::make_message(7, kPuts * kEach);
  std::vector<Ending> ends(kPuts);
  std::vector<Post> posts(kPuts, Post::again);
  for (std::size_t i = 0; i < kPuts; ++i) {
    const Deadline deadline = patience();
    while ((posts[i] = remote_->put(*region_, i * kEach, test::bytes_of(message, i * kEach, kEach),
                                    &ends[i])) == Post::again) {
      job.progress();
      ASSERT_FALSE(deadline.passed()) << "put() gives again for ever";
    }
  }
  flush(job);
  EXPECT_EQ(std::memcmp(memory_.data(), message.data(), message.size()), 0)
      << "a flush has ended before all puts that were called before it had taken effect";
  EXPECT_TRUE(progress_until(job, [&] {
    for (std::size_t i = 0; i < kPuts; ++i) {
      if (posts[i] == Post::posted && ends[i].times_told == 0) return false;
    }
    return true;
  })) << "a put has never ended";
  close();
}

TEST_F(BtlMemory, atomic_changes_do_what_they_say) {
  BtlJob job(2);
  if (!open(job, btl::Capability::atomics)) GTEST_SKIP() << "it does not say that it can change atomically";
  struct Step {
    Kind kind;
    std::uint64_t operand, compare, after;
  };
  const Step steps[] = {{Kind::swap, 0xf0f0, 0, 0xf0f0},    {Kind::add, 0x10, 0, 0xf100},
                        {Kind::bit_or, 0x0f, 0, 0xf10f},    {Kind::bit_and, 0xff0f, 0, 0xf10f},
                        {Kind::bit_xor, 0xf000, 0, 0x010f}, {Kind::compare_swap, 5, 0x010f, 5},
                        {Kind::compare_swap, 9, 0x010f, 5}};
  for (const std::uint8_t bytes : {std::uint8_t{4}, std::uint8_t{8}}) {
    const std::size_t at = 64;
    std::memset(memory_.data(), 0, 128);
    std::uint64_t before = 0;
    for (const Step& step : steps) {
      std::uint64_t fetched = 0;
      btl::AtomicChange change{step.kind, bytes, step.operand, step.compare,
                               reinterpret_cast<std::byte*>(&fetched)};
      finish(job, "atomic()",
             [&](btl::Completion* end) { return remote_->atomic(*region_, at, change, end); });
      EXPECT_EQ(fetched, before) << "kind " << int(step.kind) << " of " << int(bytes)
                                 << " bytes fetched what was not there before";
      flush(job);
      ASSERT_EQ(word(at, 8), step.after) << "kind " << int(step.kind) << " of " << int(bytes) << " bytes";
      before = step.after;
    }
    btl::AtomicChange add{Kind::add, bytes, 3, 0, nullptr};
    finish(job, "atomic()", [&](btl::Completion* end) { return remote_->atomic(*region_, at, add, end); });
    flush(job);
    EXPECT_EQ(word(at, 8), 8u) << "a change that fetches nothing has not taken effect after a flush";
    EXPECT_EQ(word(at - 8, 8) | word(at + 8, 8), 0u) << "its neighbours have changed";
  }
  close();
}

TEST_F(BtlMemory, a_key_of_something_else_is_refused) {
  BtlJob job(2);
  if (!open(job, btl::Capability::put)) GTEST_SKIP() << "it does not say that it can put";
  const std::vector<std::byte> other(3, std::byte{0xab});
  EXPECT_FALSE(remote_->open(other)) << "three bytes are taken for a key";
  EXPECT_FALSE(remote_->open({})) << "nothing is taken for a key";
  close();
}

}  // namespace
}  // namespace starling::conformance
