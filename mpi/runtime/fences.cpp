// SPDX-License-Identifier: BSD-3-Clause
// Fences of the process manager. What is hard: one may be given up after it was entered. Layer: mpi.

#include "mpi/runtime/fences.hpp"

#include <utility>

namespace starling::mpi {

Result<void> Fences::meet(std::span<const std::uint32_t> ranks, std::string_view tag, Deadline deadline,
                          const std::function<bool()>& needless) {
  const bool world = ranks.empty();
  const auto begun = world ? std::exchange(open_, std::nullopt) : std::nullopt;
  auto entered = begun ? Result<pmi::Fence>(*begun) : pmi_.fence_enter(ranks, tag, deadline);
  if (!entered) return fail(std::move(entered).error());
  auto over = leave(*entered, world ? pmi_.identity().size : ranks.size(), deadline, needless);
  if (!over) return fail(std::move(over).error());
  if (*over) return {};
  if (world) {
    open_ = *entered;
  } else {
    pmi_.fence_abandon(*entered);
  }
  return {};
}

Result<void> Fences::meet_last(const std::function<bool()>& look) {
  if (open_) {
    auto over = pmi_.fence_left(*open_);
    if (!over || !*over) pmi_.fence_abandon(*open_);
    open_.reset();
  }
  auto entered = pmi_.last_fence_enter({});
  if (!entered) return fail(std::move(entered).error());
  auto over = leave(*entered, pmi_.identity().size, {}, look);
  if (!over) return fail(std::move(over).error());
  if (!*over) pmi_.fence_abandon(*entered);
  return {};
}

Result<bool> Fences::leave(const pmi::Fence& entered, std::size_t count, Deadline deadline,
                           const std::function<bool()>& needless) {
  const auto what = [&] {
    return "the process manager's fence of " + std::to_string(count) +
           " processes: waits until all have entered it";
  };
  waiter_.enter_fence(entered.number != pmi::Fence::kLeft);
  Result<bool> left = false;
  bool given_up = false;
  auto waited = waiter_.wait(
      [&] {
        left = pmi_.fence_left(entered);
        given_up = left && !*left && needless && needless();
        return !left || *left || given_up;
      },
      deadline, what);
  waiter_.leave_fence();
  if (waited && left) return !given_up;
  if (!left) return fail(std::move(left).error());
  pmi_.fence_abandon(entered);
  if (waited.error().code != Errc::timed_out) return fail(std::move(waited).error());
  return fail(Errc::timed_out, "fence",
              "gave up (parameter bootstrap_timeout): not all of " + std::to_string(count) +
                  " processes entered a fence of the process manager" +
                  (waited.error().detail.empty() ? "" : "\n  " + waited.error().detail));
}

}  // namespace starling::mpi
