// SPDX-License-Identifier: BSD-3-Clause
/// @file  Assembling schedules. docs/design/collectives.md

#include "mpi/coll/schedule.hpp"

#include <algorithm>
#include <utility>

namespace starling::mpi::coll {

void Schedule::message(Step step) {
  steps_.push_back(step);
  ++open_.messages;
}

void Schedule::send(int to, Buffer what) {
  message({.what = Do::send, .peer = rank_of(to), .count = 0, .from = what, .to = {}, .special = nullptr});
}

void Schedule::receive(int from, Buffer where) {
  message(
      {.what = Do::receive, .peer = rank_of(from), .count = 0, .from = {}, .to = where, .special = nullptr});
}

void Schedule::copy(Buffer from, Buffer to) {
  if (from.bytes == 0 || to.bytes == 0) return;
  if (from.base == to.base && from.layout == to.layout) return;
  steps_.push_back({.what = Do::copy, .peer = 0, .count = 0, .from = from, .to = to, .special = nullptr});
}

void Schedule::copy_always(Buffer from, Buffer to) {
  const std::size_t before = steps_.size();
  copy(from, to);
  if (steps_.size() != before) steps_.back().always = true;
}

void Schedule::set_reduction(const Operator& operation, const Type& type) noexcept {
  operation_ = operation;
  reduced_type_ = type;
}

void Schedule::reduce(const void* from, void* to, std::uint64_t count) {
  if (count == 0) return;
  steps_.push_back({.what = Do::reduce,
                    .peer = 0,
                    .count = count,
                    .from = packed(const_cast<void*>(from), 0),
                    .to = packed(to, 0),
                    .special = nullptr});
}

std::uint32_t Schedule::send_late(int to) {
  send(to, {});
  steps_.back().late = true;
  return static_cast<std::uint32_t>(steps_.size() - 1);
}

std::uint32_t Schedule::receive_late(int from) {
  receive(from, {});
  steps_.back().late = true;
  return static_cast<std::uint32_t>(steps_.size() - 1);
}

void Schedule::work(Work work, bool always) {
  steps_.push_back({.what = Do::work,
                    .peer = 0,
                    .count = works_.size(),
                    .from = {},
                    .to = {},
                    .special = nullptr,
                    .late = false,
                    .always = always});
  works_.push_back(std::move(work));
}

void Schedule::special(std::unique_ptr<Special> step) {
  steps_.push_back({.what = Do::special, .peer = 0, .count = 0, .from = {}, .to = {}, .special = step.get()});
  specials_.push_back(std::move(step));
}

void Schedule::next_round() {
  open_.end = static_cast<std::uint32_t>(steps_.size());
  if (open_.end == open_.begin) return;
  most_messages_ = std::max(most_messages_, open_.messages);
  rounds_.push_back(open_);
  open_ = {open_.end, open_.end, 0};
}

bool Schedule::settled() const noexcept {
  return std::none_of(steps_.begin(), steps_.end(),
                      [](const Step& step) { return step.late && !step.settled; });
}

std::byte* Schedule::scratch(std::uint64_t bytes) { return scratch_.take(bytes); }

void* Schedule::scratch(const Type& type, std::uint64_t count) {
  if (count == 0) return scratch_.take(0);
  const std::int64_t last = static_cast<std::int64_t>(count - 1) * type.extent;
  const std::int64_t lowest = type.true_lb + std::min<std::int64_t>(last, 0);
  const std::int64_t span = type.true_extent + std::max(last, -last);
  std::byte* const memory = scratch_.take(static_cast<std::uint64_t>(span));
  return memory == nullptr ? nullptr : memory - lowest;
}

void Schedule::clear() noexcept {
  steps_.clear();
  rounds_.clear();
  specials_.clear();
  works_.clear();
  scratch_.clear();
  operation_ = {};
  reduced_type_ = {};
  open_ = {};
  among_ = {};
  most_messages_ = 0;
  direct_ = composed_ = false;
  cut_short_ = false;
}

}  // namespace starling::mpi::coll
