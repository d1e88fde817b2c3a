// SPDX-License-Identifier: BSD-3-Clause
// Buffers are small and written before anything is timed: the first touch of a page costs more than the copy.
#include "plugins/pml/static/calibrate.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include "core/clock.hpp"

namespace starling::pml {

namespace {

constexpr std::size_t kRing = 16 * 1024;
constexpr int kRounds = 5;
constexpr std::uint64_t kBudget_ns = 200'000;

struct Buffers {
  std::vector<std::byte> from = std::vector<std::byte>(kCalibrateLarge, std::byte{1});
  std::vector<std::byte> to = std::vector<std::byte>(kCalibrateLarge, std::byte{2});
  std::vector<std::byte> ring = std::vector<std::byte>(kRing, std::byte{3});
};

bool get_once(Buffers& buffers, std::size_t bytes) {
  const iovec local{buffers.to.data(), bytes};
  const iovec remote{buffers.from.data(), bytes};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

void ring_once(Buffers& buffers, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kRing) {
    std::memcpy(buffers.ring.data(), buffers.from.data() + at, std::min(kRing, bytes - at));
    asm volatile("" : : "r"(buffers.ring.data()) : "memory");  // the copy must happen though nobody reads it
  }
}

/// The best of a few rounds: what the machine can do when it is not interrupted.
template <class Once>
double best_ns(Once once, const Deadline& deadline) {
  double best = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t start = now_ns();
    once();
    best = std::min(best, static_cast<double>(now_ns() - start));
    if (deadline.passed()) break;
  }
  return best;
}

}  // namespace

std::uint64_t crossing(const Costs& get, const Costs& ring) noexcept {
  constexpr auto kSpan = static_cast<double>(kCalibrateLarge - kCalibrateSmall);
  const double get_slope = (get.large_ns - get.small_ns) / kSpan;
  const double ring_slope = (ring.large_ns - ring.small_ns) / kSpan;
  const double ahead_ns = get.small_ns - ring.small_ns;  // how much the get costs more at the small size
  if (ahead_ns <= 0) return get_slope <= ring_slope ? 0 : Calibration::kNever;
  if (get_slope >= ring_slope) return Calibration::kNever;
  const double size = static_cast<double>(kCalibrateSmall) + ahead_ns / (ring_slope - get_slope);
  return size < 1e15 ? static_cast<std::uint64_t>(size) : Calibration::kNever;
}

Calibration calibrate() {
  Buffers buffers;
  Calibration result;
  if (!get_once(buffers, kCalibrateLarge)) {
    result.note =
        std::string("large messages: ring only, process_vm_readv is refused (") + std::strerror(errno) + ")";
    return result;
  }
  const Deadline deadline = Deadline::after_ns(kBudget_ns);
  Costs get, ring;
  get.small_ns = best_ns([&] { (void)get_once(buffers, kCalibrateSmall); }, deadline);
  ring.small_ns = best_ns([&] { ring_once(buffers, kCalibrateSmall); }, deadline);
  get.large_ns = best_ns([&] { (void)get_once(buffers, kCalibrateLarge); }, deadline);
  ring.large_ns = best_ns([&] { ring_once(buffers, kCalibrateLarge); }, deadline);
  result.get_from = crossing(get, ring);
  const auto whole = [](double ns) { return std::to_string(static_cast<long>(ns + 0.5)); };
  result.note =
      "large messages: a get of 64 KiB takes " + whole(get.large_ns) + " ns, one copy through the ring " +
      whole(ring.large_ns) + " ns: " +
      (result.get_from == Calibration::kNever ? std::string("ring at every size")
                                              : "get from " + std::to_string(result.get_from) + " bytes on");
  return result;
}

}  // namespace starling::pml
