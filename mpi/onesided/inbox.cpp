// SPDX-License-Identifier: BSD-3-Clause
// Operations of another member, done here. What is hard: nothing that comes is trusted, and every error has
// to go back to who waits for it. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/inbox.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "mpi/onesided/elements.hpp"
#include "mpi/onesided/gaps.hpp"
#include "mpi/onesided/layout_code.hpp"
#include "mpi/onesided/part.hpp"
#include "mpi/onesided/port.hpp"
#include "mpi/onesided/regions.hpp"
#include "mpi/onesided/stripes.hpp"
#include "mpi/onesided/work.hpp"

namespace starling::mpi::message {

Inbox::Inbox(Win& win, Agent& agent, std::uint32_t origin)
    : win_(win), agent_(agent), origin_(origin), proc_(win.comm().group()->at(origin)) {}

void Inbox::on_message(const Head& head, std::span<const std::byte> records) {
  if (waits_ || !waiting_.empty() || !Part::of(win_).ready()) {
    waiting_.push_back({head, {records.begin(), records.end()}});
    return;
  }
  std::size_t done = 0;
  if (work(head, records, done)) {
    finished(head);
  } else {
    const auto rest = records.subspan(done);
    waiting_.push_back({head, {rest.begin(), rest.end()}});
  }
  send_answers();
}

void Inbox::on_granted() {
  waits_ = false;
  holds_ = true;
  resume();
}

void Inbox::resume() {
  while (!waiting_.empty() && !waits_) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    std::size_t done = 0;
    if (work(next.head, next.records, done)) {
      finished(next.head);
    } else {
      next.records.erase(next.records.begin(), next.records.begin() + static_cast<std::ptrdiff_t>(done));
      waiting_.push_front(std::move(next));
    }
  }
  send_answers();
}

/// False: what follows record `done` waits for a lock.
bool Inbox::work(const Head& head, std::span<const std::byte> records, std::size_t& done) {
  (void)head;
  while (done < records.size()) {
    Record record;
    if (!read(records.subspan(done), record) || record.bytes > records.size() - done - sizeof record) {
      fail(MPI_ERR_INTERN, 0, "a message of a one-sided operation is shorter than it says");
      done = records.size();
      return true;
    }
    done += sizeof record;
    const auto payload = records.subspan(done, record.bytes);
    done += record.bytes;
    if (!one(record, payload)) return false;
  }
  return true;
}

bool Inbox::one(const Record& record, std::span<const std::byte> payload) {
  switch (record.what) {
    case What::layout: take_layout(record, payload); return true;
    case What::put: put(record, payload); return true;
    case What::get: get(record); return true;
    case What::accumulate:
    case What::fetch: accumulate(record, payload); return true;
    case What::swap: swap(record, payload); return true;
    case What::lock:
      if (holds_ || waits_) break;
      exclusive_ = record.op != 0;
      holds_ = agent_.take(origin_, exclusive_, (record.flags & kFirst) != 0);
      waits_ = !holds_;
      return holds_;
    case What::unlock:
      if (!holds_) break;
      holds_ = false;
      agent_.give(exclusive_);
      return true;
    case What::post: ++Part::of(win_).posts(origin_); return true;
    case What::complete: Part::of(win_).exposed(origin_) = false; return true;
    case What::leave: Part::of(win_).note_leaving(origin_); return true;
    default: break;
  }
  fail(MPI_ERR_INTERN, record.token, "a one-sided operation is unknown, or out of turn");
  return true;
}

void Inbox::finished(const Head& head) {
  done_ += head.cost;
  if ((head.flags & kAnswer) == 0 && done_ - told_ < kWindowBytes / 4) return;
  told_ = done_;
  Record record;
  record.what = What::done;
  record.count = done_;
  answer(record, {});
}

void Inbox::answer(const Record& record, std::span<const std::byte> payload) {
  bool final = false;
  if (!answers_.empty() && answers_.size() + sizeof record + payload.size() > longest_message(proc_, final))
    send_answers();
  if (answers_.empty()) {
    const Head head{win_.comm().id().bits, win_.rank(), kBack, 0, 0};
    const auto bytes = bytes_of(head);
    answers_.assign(bytes.begin(), bytes.end());
  }
  const auto bytes = bytes_of(record);
  answers_.insert(answers_.end(), bytes.begin(), bytes.end());
  answers_.insert(answers_.end(), payload.begin(), payload.end());
}

void Inbox::answer_data(const Record& asked, std::span<const std::byte> payload) {
  Record record;
  record.what = What::data;
  record.token = asked.token;
  record.first = asked.first;
  record.bytes = static_cast<std::uint32_t>(payload.size());
  answer(record, payload);
}

/// What was got and that all is done are one message for who waits: a second one would cost as much again.
void Inbox::send_answers() {
  if (answers_.empty()) return;
  const std::vector<std::byte> message = std::exchange(answers_, {});
  (void)Port::get().send(proc_, message);  // who cannot be reached has been told to the port
}

void Inbox::fail(int error_class, std::uint64_t token, std::string_view text) {
  constexpr std::size_t kMostText = 256;
  Record record;
  record.what = What::failed;
  record.count = static_cast<std::uint64_t>(error_class);
  record.token = token;
  const auto bytes = std::as_bytes(std::span(text.substr(0, kMostText)));
  record.bytes = static_cast<std::uint32_t>(bytes.size());
  answer(record, bytes);
}

void Inbox::take_layout(const Record& record, std::span<const std::byte> payload) {
  if (record.first == 0) layout_.clear();
  if (record.first != layout_.size()) return fail(MPI_ERR_INTERN, 0, "a piece of a datatype is missing");
  layout_.insert(layout_.end(), payload.begin(), payload.end());
  if (layout_.size() < record.count) return;
  if (layouts_.empty()) layouts_.resize(kLayouts);
  if (record.layout != 0 && record.layout < kLayouts) layouts_[record.layout] = decode(layout_);
  layout_.clear();
}

/// Where the layout's bytes lie, relative to the record's offset. False: they are more than can be addressed.
bool Inbox::extent_of(const Record& record, Place& place, std::int64_t& first, std::uint64_t& bytes) const {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 56;
  const auto step = static_cast<std::uint64_t>(std::abs(place.type->extent()));
  std::uint64_t all = 0;
  if (record.count > kMost || __builtin_mul_overflow(record.count, step, &all) || all > kMost) return false;
  first = place.type->gap(record.count);
  bytes = static_cast<std::uint64_t>(place.type->span_bytes(record.count));
  return true;
}

Inbox::Place Inbox::place_of(const Record& record, std::uint64_t more, std::uint64_t unit) {
  Place place;
  std::int64_t first = 0;
  std::uint64_t bytes = 0, end = 0;
  if (record.layout < layouts_.size()) place.type = layouts_[record.layout];
  if (record.layout != 0 && !place.type) {
    fail(MPI_ERR_INTERN, record.token, "a datatype is not known to the target");
    return place;
  }
  bool fits = !__builtin_add_overflow(record.first, more, &end) && !__builtin_mul_overflow(end, unit, &bytes);
  if (place.type)
    fits = fits && bytes <= place.type->size() * record.count && extent_of(record, place, first, bytes);
  place.offset = record.offset;
  const std::uint64_t begin = record.offset + static_cast<std::uint64_t>(first);
  place.good = fits && holds(win_, begin, bytes);
  if (!place.good) {
    fail(MPI_ERR_RMA_RANGE, record.token,
         win_.label(win_.rank()) + ": " + std::to_string(bytes) + " bytes at " + range_text(win_, begin) +
             " are not all in memory of the window there");
  }
  return place;
}

void Inbox::put(const Record& record, std::span<const std::byte> payload) {
  const Place place = place_of(record, payload.size(), 1);
  if (!place.good || payload.empty()) return;
  std::byte* const at = win_.own().at(place.offset);
  if (!place.type) {
    std::memcpy(at + record.first, payload.data(), payload.size());
  } else {
    place.type->unpack(at, record.count, record.first, payload.data(), payload.size());
  }
}

void Inbox::get(const Record& record) {
  const Place place = place_of(record, record.count2, 1);
  if (!place.good) return;
  if (record.count2 > kWindowBytes)
    return fail(MPI_ERR_INTERN, record.token, "a get asks for more than is sent at once");
  std::vector<std::byte> bytes(record.count2);
  const std::byte* const at = win_.own().at(place.offset);
  if (place.type) {
    place.type->pack(at, record.count, record.first, bytes.data(), bytes.size());
  } else if (!bytes.empty()) {
    std::memcpy(bytes.data(), at + record.first, bytes.size());
  }
  answer_data(record, bytes);
}

void Inbox::accumulate(const Record& record, std::span<const std::byte> payload) {
  if (record.basic == 0 || record.basic >= kBasics || record.op >= kOpCodes)
    return fail(MPI_ERR_INTERN, record.token, "an accumulate is of no type, or no operation");
  const auto code = static_cast<OpCode>(record.op);
  const auto basic = static_cast<Basic>(record.basic);
  const bool plain = code == OpCode::no_op || code == OpCode::replace;
  if (!plain && find_kernel(code, basic) == nullptr)
    return fail(MPI_ERR_INTERN, record.token, "an accumulate is of a type that its operation does not take");
  Work work(win_, win_.rank(), code, basic);
  const std::uint64_t extent = work.extent();
  const bool carries = code != OpCode::no_op;
  const std::uint64_t elements = carries ? payload.size() / extent : record.count2;
  const bool gets = record.what == What::fetch;
  if (elements > kWindowBytes / extent || (gets && record.count2 != elements))
    return fail(MPI_ERR_INTERN, record.token,
                "an accumulate asks for more than it carries, or than is sent at once");
  // Packed, pairs have no padding.
  const Place place = place_of(record, elements, record.layout == 0 ? extent : info_of(basic).bytes);
  if (!place.good) return;
  std::vector<std::byte> in(payload.begin(), payload.end());  // aligned
  std::vector<std::byte> out(gets ? elements * extent : 0);
  const std::byte* from = carries ? in.data() : nullptr;
  std::byte* to = gets ? out.data() : nullptr;
  if (!place.type) {
    work.run(place.offset + record.first * extent, from, to, elements);
  } else {
    std::uint64_t left = elements;
    GapWork gaps(work, from, to, elements);
    auto run = [&](const Runs& series) {
      // The layout may be of other elements than the record says.
      const std::int64_t whole = static_cast<std::int64_t>(series.runs - 1) * series.stride;
      const std::int64_t first = series.displacement + std::min<std::int64_t>(whole, 0);
      const std::uint64_t bytes = static_cast<std::uint64_t>(std::abs(whole)) + series.count * extent;
      const bool fits = series.runs * series.count <= left &&
                        holds(win_, place.offset + static_cast<std::uint64_t>(first), bytes);
      left = fits ? left - series.runs * series.count : 0;
      if (fits) gaps.add(place.offset, series);
    };
    each_series(*place.type, basic, record.count, run, record.first, elements);
    gaps.finish();
  }
  if (!gets) return;
  answer_data(record, out);
}

void Inbox::swap(const Record& record, std::span<const std::byte> payload) {
  const std::size_t bytes = payload.size() / 2;
  if (bytes == 0 || bytes > Work::kMostElement || record.layout != 0 || record.first != 0)
    return fail(MPI_ERR_INTERN, record.token, "what is to be compared and swapped is no element");
  const Place place = place_of(record, 1, bytes);
  if (!place.good) return;
  std::array<std::byte, Work::kMostElement> before;
  std::byte* const at = win_.own().at(place.offset);
  {
    const Stripe stripe(win_, win_.rank(), place.offset);
    std::memcpy(before.data(), at, bytes);
    if (std::memcmp(at, payload.data(), bytes) == 0) std::memcpy(at, payload.data() + bytes, bytes);
  }
  answer_data(record, std::span(before).first(bytes));
}

void Inbox::lose() {
  waiting_.clear();
  answers_.clear();
  agent_.forget(origin_);
  if (holds_) agent_.give(exclusive_);
  waits_ = holds_ = false;
}

}  // namespace starling::mpi::message
