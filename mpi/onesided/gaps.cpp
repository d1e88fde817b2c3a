// SPDX-License-Identifier: BSD-3-Clause
// Elements with gaps. What is hard: each call of the kernel, and each stripe, costs more than the work on an
// element, so they are shared by as many as lie in one stripe. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/gaps.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "mpi/onesided/cross_memory.hpp"
#include "mpi/onesided/stripes.hpp"

namespace starling::mpi {
namespace {

/// Longer runs are not worth a list.
constexpr std::uint64_t kLongRun = 1024;
constexpr std::size_t kMostRuns = 256;
constexpr std::uint64_t kManyLists = 2;

/// Runs of exactly `kBytes`, which the compiler then copies without a call.
template <std::size_t kBytes>
void gather_of(std::byte* row, const std::byte* at, std::int64_t stride, std::uint64_t runs) noexcept {
  for (; runs != 0; --runs, row += kBytes, at += stride) std::memcpy(row, at, kBytes);
}
template <std::size_t kBytes>
void scatter_of(const std::byte* row, std::byte* at, std::int64_t stride, std::uint64_t runs) noexcept {
  for (; runs != 0; --runs, row += kBytes, at += stride) std::memcpy(at, row, kBytes);
}

void gather(std::byte* row, const std::byte* at, std::uint64_t each, std::int64_t stride,
            std::uint64_t runs) noexcept {
  if (each == 4) return gather_of<4>(row, at, stride, runs);
  if (each == 8) return gather_of<8>(row, at, stride, runs);
  for (; runs != 0; --runs, row += each, at += stride) std::memcpy(row, at, each);
}
void scatter(const std::byte* row, std::byte* at, std::uint64_t each, std::int64_t stride,
             std::uint64_t runs) noexcept {
  if (each == 4) return scatter_of<4>(row, at, stride, runs);
  if (each == 8) return scatter_of<8>(row, at, stride, runs);
  for (; runs != 0; --runs, row += each, at += stride) std::memcpy(at, row, each);
}

/// Of these runs, how many of the first have all their elements in the first one's stripe.
std::uint64_t in_one_stripe(std::uint64_t offset, std::uint64_t last_element, const Runs& series) noexcept {
  const std::uint64_t left = kStripeBytes - offset % kStripeBytes;
  if (left <= last_element) return 0;
  return std::min(series.runs, (left - 1 - last_element) / static_cast<std::uint64_t>(series.stride) + 1);
}

}  // namespace

GapWork::GapWork(Work& work, const std::byte* in, std::byte* out, std::uint64_t elements) noexcept
    : work_(work), in_(in), out_(out), most_(kMost), insists_(elements * work.extent() > kManyLists * kMost) {
  const std::size_t active_message =
      work.win_.active_messages != nullptr ? work.win_.control().most_of_active_message() : 0;
  if (active_message > ActiveMessage::kHere) most_ = std::min(most_, active_message);
}

void GapWork::pass(std::uint64_t bytes) noexcept {
  if (in_ != nullptr) in_ += bytes;
  if (out_ != nullptr) out_ += bytes;
}

void GapWork::run(std::uint64_t offset, std::uint64_t count) noexcept {
  work_.run(offset, in_, out_, count);
  pass(count * work_.extent());
}

void GapWork::add(std::uint64_t offset, const Runs& series) noexcept {
  const std::uint64_t first = offset + static_cast<std::uint64_t>(series.displacement);
  if (work_.target_.path == Path::direct) return mapped(first, series);
  const std::uint64_t each = series.count * work_.extent();
  if (each <= kLongRun) return list({first, series.stride, series.count, series.runs});
  finish();
  for (std::uint64_t i = 0; i < series.runs; ++i)
    run(first + i * static_cast<std::uint64_t>(series.stride), series.count);
}

void GapWork::mapped(std::uint64_t offset, const Runs& series) noexcept {
  const std::uint64_t each = series.count * work_.extent();
  const bool apart = series.stride > 0 && static_cast<std::uint64_t>(series.stride) >= each;
  Runs left = series;
  while (left.runs > 0) {
    Runs now = left;
    now.runs = apart ? in_one_stripe(offset, each - work_.extent(), left) : 0;
    if (now.runs < 2) {
      now.runs = 1;
      run(offset, series.count);
    } else {
      gathered(offset, now);
    }
    offset += now.runs * static_cast<std::uint64_t>(series.stride);
    left.runs -= now.runs;
  }
}

void GapWork::gathered(std::uint64_t offset, const Runs& series) noexcept {
  alignas(64) std::array<std::byte, kStripeBytes + Work::kMostElement> row;
  const std::uint64_t each = series.count * work_.extent();
  std::byte* const at = work_.target_.at(offset);
  {
    const Stripe stripe(work_.win_, work_.rank_, offset);
    if (work_.reads(out_)) gather(row.data(), at, each, series.stride, series.runs);
    work_.work(row.data(), in_, out_, series.runs * series.count);
    if (work_.writes()) scatter(row.data(), at, each, series.stride, series.runs);
  }
  pass(each * series.runs);
}

/// As part of the last series, if it goes on there.
bool GapWork::join(const ActiveMessageRuns& series) noexcept {
  if (listed_ == 0) return false;
  ActiveMessageRuns& last = all_[listed_ - 1];
  const auto stride = static_cast<std::int64_t>(series.offset - last.offset);
  if (series.runs != 1 || series.count != last.count) return false;
  if (last.runs > 1 && stride != static_cast<std::int64_t>(last.runs) * last.stride) return false;
  if (last.runs == 1) last.stride = stride;
  ++last.runs;
  return true;
}

void GapWork::list(const ActiveMessageRuns& series) noexcept {
  const std::uint64_t each = series.count * work_.extent();
  ActiveMessageRuns left = series;
  while (left.runs > 0 && work_.failed() == 0) {
    const std::uint64_t used = bytes_ + (listed_ + 1) * sizeof(ActiveMessageRuns);
    ActiveMessageRuns now = left;
    const std::uint64_t room = used < most_ ? most_ - used : 0;
    if (left.runs * each > room) now.runs = room / each;
    if (now.runs == 0 || listed_ == all_.size()) {
      flush();
      continue;
    }
    if (!join(now)) all_[listed_++] = now;
    bytes_ += now.runs * each;
    left.offset += now.runs * static_cast<std::uint64_t>(left.stride);
    left.runs -= now.runs;
  }
}

void GapWork::flush() noexcept {
  ActiveMessages::Outcome done;
  if (asks_ && work_.win_.active_messages != nullptr)
    done = work_.win_.active_messages->accumulate(work_.rank_, std::span(all_).first(listed_), work_.code_,
                                                  work_.element_, in_, out_, insists_);
  asks_ = done.has_value();
  if (done) {
    work_.failed_ = *done;
    pass(bytes_);
  } else {
    by_kernel();
  }
  listed_ = 0;
  bytes_ = 0;
}

namespace {

/// The places of some runs in another process that share a stripe.
class Places {
 public:
  void add(std::uint64_t address, std::uint64_t bytes) noexcept {
    runs_[count_++] = {reinterpret_cast<void*>(address), bytes};
    bytes_ += bytes;
  }
  [[nodiscard]] bool full() const noexcept { return count_ == kMostRuns; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  void clear() noexcept {
    count_ = 0;
    bytes_ = 0;
  }
  [[nodiscard]] int move(const CrossMemory& there, Direction direction, std::byte* row) const noexcept {
    std::array<iovec, kMostRuns> runs;
    std::copy_n(runs_.begin(), count_, runs.begin());
    return there.move(direction, {row, bytes_}, std::span(runs).first(count_));
  }

 private:
  std::size_t count_ = 0;
  std::uint64_t bytes_ = 0;
  std::array<iovec, kMostRuns> runs_;
};

}  // namespace

void GapWork::by_kernel() noexcept {
  alignas(64) std::array<std::byte, kMost> row;
  const CrossMemory there = CrossMemory::of(work_.target_);
  Places places;
  std::uint64_t first = 0;  // offset of the first of them
  const auto end_stripe = [&] {
    if (places.bytes() == 0 || work_.failed() != 0) return;
    const Stripe stripe(work_.win_, work_.rank_, first);
    if (work_.reads(out_)) work_.failed_ = places.move(there, Direction::get, row.data());
    if (work_.failed() != 0) return;
    work_.work(row.data(), in_, out_, places.bytes() / work_.extent());
    if (work_.writes()) work_.failed_ = places.move(there, Direction::put, row.data());
    pass(places.bytes());
    places.clear();
  };
  for (const ActiveMessageRuns& series : std::span(all_).first(listed_)) {
    const std::uint64_t each = series.count * work_.extent();
    for (std::uint64_t i = 0; i < series.runs && work_.failed() == 0; ++i) {
      const std::uint64_t offset = series.offset + i * static_cast<std::uint64_t>(series.stride);
      const std::uint64_t stripe = offset / kStripeBytes;
      const bool one = (offset + each - work_.extent()) / kStripeBytes == stripe;
      if (!one || places.full() || stripe != first / kStripeBytes) end_stripe();
      if (!one) {
        run(offset, series.count);
        continue;
      }
      if (places.bytes() == 0) first = offset;
      places.add(work_.target_.address + offset, each);
    }
  }
  end_stripe();
}

}  // namespace starling::mpi
