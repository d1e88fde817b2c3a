// SPDX-License-Identifier: BSD-3-Clause
/// @file  MPI_Bcast. MPI 5.0 section 6.4. Count and type may differ between processes as long as the packed
/// bytes agree, so large messages are cut by packed bytes; a type with gaps is staged for that.

#include <algorithm>

#include "mpi/coll/builders.hpp"
#include "mpi/coll/split.hpp"

namespace starling::mpi::coll {
namespace {

constexpr std::uint64_t kSegmentBytes = 64 * 1024;

/// The message as one run of bytes: the user's buffer, or staging where the type has gaps.
struct Flat {
  Flat(Schedule& schedule, const Bcast& asked, bool root)
      : user(region(asked.buffer, asked.count, asked.type)) {
    if (user.layout == nullptr) {
      bytes = static_cast<std::byte*>(user.base);
      return;
    }
    bytes = schedule.scratch(user.bytes);
    if (root) {
      schedule.copy(user, packed(bytes, user.bytes));
      schedule.next_round();
    }
  }
  void finish(Schedule& schedule, bool root) const {
    schedule.next_round();
    if (user.layout == nullptr || root) return;
    schedule.copy(packed(bytes, user.bytes), user);
    schedule.next_round();
  }
  Buffer user;
  std::byte* bytes = nullptr;
};

}  // namespace

void bcast_binomial(Schedule& schedule, const Team& team, const Bcast& asked) {
  const int n = team.size, me = around(team.rank, -asked.root, n);
  const Buffer buffer = region(asked.buffer, asked.count, asked.type);
  int mask = 1;
  while (mask < n && (me & mask) == 0) mask <<= 1;
  if (me != 0) {
    schedule.receive(around(me - mask, asked.root, n), buffer);
    schedule.next_round();
  }
  for (mask >>= 1; mask > 0; mask >>= 1) {
    if (me + mask < n) schedule.send(around(me + mask, asked.root, n), buffer);
  }
  schedule.next_round();
}

void bcast_scatter_ring(Schedule& schedule, const Team& team, const Bcast& asked) {
  const int n = team.size, me = around(team.rank, -asked.root, n);
  const Flat flat(schedule, asked, me == 0);
  const std::uint64_t total = flat.user.bytes;
  const std::uint64_t chunk = (total / static_cast<std::uint64_t>(n) + 64) / 64 * 64;  // whole cache lines
  const auto piece = [&](int first, int count) {
    const std::uint64_t begin = std::min(total, chunk * static_cast<std::uint64_t>(first));
    const std::uint64_t end = std::min(total, chunk * static_cast<std::uint64_t>(first + count));
    return packed(flat.bytes + begin, end - begin);
  };
  int mask = 1;
  while (mask < n && (me & mask) == 0) mask <<= 1;
  if (me != 0) {
    const Buffer mine = piece(me, std::min(mask, n - me));
    if (mine.bytes != 0) schedule.receive(around(me - mask, asked.root, n), mine);
    schedule.next_round();
  }
  for (mask >>= 1; mask > 0; mask >>= 1) {
    if (me + mask >= n) continue;
    const Buffer theirs = piece(me + mask, std::min(mask, n - me - mask));
    if (theirs.bytes != 0) schedule.send(around(me + mask, asked.root, n), theirs);
  }
  schedule.next_round();
  const int right = around(team.rank, 1, n), left = around(team.rank, -1, n);
  for (int step = 0; step < n - 1; ++step) {
    const Buffer in = piece(around(me, -step - 1, n), 1), out = piece(around(me, -step, n), 1);
    if (in.bytes != 0 && me != 0) schedule.receive(left, in);
    if (out.bytes != 0 && right != asked.root) schedule.send(right, out);
    schedule.next_round();
  }
  flat.finish(schedule, me == 0);
}

void bcast_chain(Schedule& schedule, const Team& team, const Bcast& asked) {
  const int n = team.size, me = around(team.rank, -asked.root, n);
  const Flat flat(schedule, asked, me == 0);
  const std::uint64_t total = flat.user.bytes;
  const auto segment = [&](std::uint64_t at) {
    return packed(flat.bytes + at, std::min(kSegmentBytes, total - at));
  };
  const int next = around(team.rank, 1, n), previous = around(team.rank, -1, n);
  const bool sends = me != n - 1, receives = me != 0;
  for (std::uint64_t at = 0; at < total + kSegmentBytes; at += kSegmentBytes) {
    if (receives && at < total) schedule.receive(previous, segment(at));
    if (sends && at >= kSegmentBytes) schedule.send(next, segment(at - kSegmentBytes));
    schedule.next_round();
  }
  flat.finish(schedule, me == 0);
}

}  // namespace starling::mpi::coll
