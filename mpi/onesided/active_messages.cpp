// SPDX-License-Identifier: BSD-3-Clause
// Active messages. What is hard: two that ask each other at once must not wait in vain, so who waits for an
// answer answers; and one may end at any point. Layer: mpi. docs/design/onesided.md, "Active messages"

#include "mpi/onesided/active_messages.hpp"

#include <sched.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/clock.hpp"
#include "core/pause.hpp"
#include "mpi/onesided/gaps.hpp"
#include "mpi/onesided/reach.hpp"
#include "mpi/onesided/stripes.hpp"
#include "mpi/onesided/window.hpp"
#include "mpi/onesided/work.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

/// A target that waits in MPI has looked many times by then; and one that has the kernel copy meanwhile, as
/// this one would, is back: else two that have begun so at once would never hear each other.
constexpr std::uint64_t kHeardWithinNs = 3000;
/// What the kernel takes for each run of elements with gaps, at least: waiting as long as its copies would
/// take costs at most as much again.
constexpr std::uint64_t kRunByKernelNs = 300;
/// A target that sleeps in MPI is woken for so many: that takes less than their copies.
constexpr std::uint64_t kRunsWorthAWake = 32;
constexpr std::uint32_t kLooksPerClock = 8;
/// Who has claimed an active message and is put aside gets the core that this one gives away.
constexpr std::uint32_t kSpinsBeforeYield = 1000;
constexpr std::uint32_t kYieldsBetweenLooks = 1000;
/// Each window more is a look in each pass of its members.
constexpr std::uint32_t kMostServed = 16;

std::uint32_t served = 0;  // windows of this process

}  // namespace

ActiveMessages::ActiveMessages(Win& win) : win_(win), patience_(win.domain().local_peers.size()) {}

ActiveMessages::~ActiveMessages() {
  note_active_messages(done_);
  if (!serves_) return;
  --served;
  Runtime::get()->polling().remove(*this);
}

void ActiveMessages::serve() {
  if (served == kMostServed) return;
  ++served;
  serves_ = true;
  Runtime::get()->polling().add(*this);
}

template <class Write, class Read>
ActiveMessages::Outcome ActiveMessages::ask(std::uint32_t rank, std::uint64_t offset, std::uint64_t bytes,
                                            Write&& write, Read&& read, std::uint64_t runs, bool insist) {
  const std::uint32_t seat = win_.target(rank).seat;
  if (bytes > win_.control().most_of_active_message() || !(insist || patience_[seat].tries())) return {};
  ActiveMessage& active_message = win_.control().active_message(seat);
  const ActiveMessageWord<StdAtomics> word(active_message.word);
  if (!word.take()) return {};
  active_message.offset = offset;
  active_message.bytes = static_cast<std::uint32_t>(bytes);
  active_message.series = 0;
  write(active_message, win_.control().data_of(active_message, seat, bytes));
  word.ask();
  if (!heard(active_message, rank, runs)) return {};
  if (!finished(active_message, seat)) return ESRCH;
  read(win_.control().data_of(active_message, seat, bytes));
  word.release();
  ++done_;
  return 0;
}

/// False: it was taken back.
bool ActiveMessages::heard(ActiveMessage& active_message, std::uint32_t rank, std::uint64_t runs) noexcept {
  const std::uint32_t seat = win_.target(rank).seat;
  const ActiveMessageWord<StdAtomics> word(active_message.word);
  std::uint64_t awake_ns = 0, end_ns = 0;  // of who would have heard without being woken, and of all
  bool rung = false;
  for (std::uint32_t looks = 1; !word.done(); ++looks) {
    if (serves_) (void)progress();
    pause_cpu();
    if (looks % kLooksPerClock != 0) continue;
    const std::uint64_t now = now_ns();
    if (end_ns == 0) {
      awake_ns = now + kHeardWithinNs;
      end_ns = awake_ns + runs * kRunByKernelNs;
    }
    if (now < end_ns) {
      if (now < awake_ns || runs < kRunsWorthAWake) continue;
      if (!std::exchange(rung, true)) Runtime::get()->place().segment().ring(win_.target(rank).local_rank);
      ::sched_yield();  // the target may have this core
      continue;
    }
    if (!word.take_back()) break;
    patience_[seat].failed();
    return false;
  }
  patience_[seat].succeeded();
  return true;
}

/// False: the target has ended.
bool ActiveMessages::finished(ActiveMessage& active_message, std::uint32_t seat) noexcept {
  const ActiveMessageWord<StdAtomics> word(active_message.word);
  std::uint32_t yields = 0;
  for (std::uint32_t spins = 0; !word.done();) {
    if (spins < kSpinsBeforeYield) {
      ++spins;
      pause_cpu();
      continue;
    }
    ::sched_yield();
    if (++yields % kYieldsBetweenLooks == 0 &&
        !Runtime::get()->place().segment().alive(win_.local_rank_of(seat)))
      return word.done();
  }
  return true;
}

ActiveMessages::Outcome ActiveMessages::put(std::uint32_t rank, std::uint64_t offset,
                                            std::span<const std::byte> bytes) {
  const auto write = [&](ActiveMessage& active_message, std::byte* data) {
    active_message.what = ActiveMessage::What::put;
    std::memcpy(data, bytes.data(), bytes.size());
  };
  return ask(rank, offset, bytes.size(), write, [](const std::byte*) {});
}

ActiveMessages::Outcome ActiveMessages::get(std::uint32_t rank, std::uint64_t offset,
                                            std::span<std::byte> bytes) {
  return ask(
      rank, offset, bytes.size(),
      [](ActiveMessage& active_message, std::byte*) { active_message.what = ActiveMessage::What::get; },
      [&](const std::byte* data) { std::memcpy(bytes.data(), data, bytes.size()); });
}

ActiveMessages::Outcome ActiveMessages::accumulate(std::uint32_t rank, std::uint64_t offset, OpCode code,
                                                   Basic element, const std::byte* in, std::byte* out,
                                                   std::uint64_t count) {
  const std::uint64_t bytes = count * info_of(element).extent;
  const auto write = [&](ActiveMessage& active_message, std::byte* data) {
    active_message.what = out == nullptr ? ActiveMessage::What::accumulate : ActiveMessage::What::fetch;
    active_message.code = code;
    active_message.element = element;
    if (in != nullptr) std::memcpy(data, in, bytes);
  };
  const auto read = [&](const std::byte* data) {
    if (out != nullptr) std::memcpy(out, data, bytes);
  };
  return ask(rank, offset, bytes, write, read);
}

ActiveMessages::Outcome ActiveMessages::accumulate(std::uint32_t rank,
                                                   std::span<const ActiveMessageRuns> series, OpCode code,
                                                   Basic element, const std::byte* in, std::byte* out,
                                                   bool insist) {
  std::uint64_t runs = 0, elements = 0;
  for (const ActiveMessageRuns& one : series) {
    runs += one.runs;
    elements += one.runs * one.count;
  }
  const std::uint64_t bytes = elements * info_of(element).extent;
  const auto write = [&](ActiveMessage& active_message, std::byte* data) {
    active_message.what = out == nullptr ? ActiveMessage::What::accumulate : ActiveMessage::What::fetch;
    active_message.code = code;
    active_message.element = element;
    active_message.series = static_cast<std::uint32_t>(series.size());
    std::memcpy(data, series.data(), series.size_bytes());
    if (in != nullptr) std::memcpy(data + series.size_bytes(), in, bytes);
  };
  const auto read = [&](const std::byte* data) {
    if (out != nullptr) std::memcpy(out, data + series.size_bytes(), bytes);
  };
  return ask(rank, 0, series.size_bytes() + bytes, write, read, runs, insist);
}

ActiveMessages::Outcome ActiveMessages::swap(std::uint32_t rank, std::uint64_t offset, std::size_t bytes,
                                             const void* origin, const void* compare, void* result) {
  if (2 * bytes > ActiveMessage::kHere) return {};
  const auto write = [&](ActiveMessage& active_message, std::byte* data) {
    active_message.what = ActiveMessage::What::swap;
    std::memcpy(data, compare, bytes);
    std::memcpy(data + bytes, origin, bytes);
  };
  return ask(rank, offset, bytes, write, [&](const std::byte* data) { std::memcpy(result, data, bytes); });
}

int ActiveMessages::progress() noexcept {
  ActiveMessage& active_message = win_.control().active_message(win_.seat());
  const ActiveMessageWord<StdAtomics> word(active_message.word);
  if (!word.claim()) return 0;
  grant(active_message);
  word.answer();
  return 1;
}

/// In this process's part, where the origin has checked it.
void ActiveMessages::grant(ActiveMessage& active_message) noexcept {
  const std::uint64_t bytes = active_message.bytes;
  std::byte* const data = win_.control().data_of(active_message, win_.seat(), bytes);
  if (active_message.series != 0) return work_on_series(active_message, data);
  std::byte* const at = win_.own().at(active_message.offset);
  switch (active_message.what) {
    case ActiveMessage::What::put: std::memcpy(at, data, bytes); break;
    case ActiveMessage::What::get: std::memcpy(data, at, bytes); break;
    case ActiveMessage::What::accumulate: work(active_message, data, nullptr); break;
    case ActiveMessage::What::fetch: {
      std::array<std::byte, ActiveMessage::kMost> before;
      work(active_message, data, before.data());
      std::memcpy(data, before.data(), bytes);
      break;
    }
    case ActiveMessage::What::swap: {
      std::array<std::byte, ActiveMessage::kHere> before;
      const Stripe stripe(win_, win_.rank(), active_message.offset);
      std::memcpy(before.data(), at, bytes);
      if (std::memcmp(at, data, bytes) == 0) std::memcpy(at, data + bytes, bytes);
      std::memcpy(data, before.data(), bytes);
      break;
    }
  }
}

void ActiveMessages::work(const ActiveMessage& active_message, const std::byte* in,
                          std::byte* before) noexcept {
  Work work(win_, win_.rank(), active_message.code, active_message.element);
  work.run(active_message.offset, in, before, active_message.bytes / work.extent());
}

void ActiveMessages::work_on_series(const ActiveMessage& active_message, std::byte* data) noexcept {
  std::array<std::byte, ActiveMessage::kMost> before;
  std::byte* const elements = data + active_message.series * sizeof(ActiveMessageRuns);
  const bool gets = active_message.what == ActiveMessage::What::fetch;
  Work work(win_, win_.rank(), active_message.code, active_message.element);
  GapWork gaps(work, elements, gets ? before.data() : nullptr, 0);
  for (std::uint32_t i = 0; i < active_message.series; ++i) {
    ActiveMessageRuns series;
    std::memcpy(&series, data + i * sizeof series, sizeof series);
    gaps.add(series.offset, {0, series.count, series.runs, series.stride});
  }
  gaps.finish();
  if (gets)
    std::memcpy(elements, before.data(),
                active_message.bytes - active_message.series * sizeof(ActiveMessageRuns));
}

}  // namespace starling::mpi
