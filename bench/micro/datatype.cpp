// SPDX-License-Identifier: BSD-3-Clause
// How fast are datatypes packed, compared with memcpy of as many contiguous bytes and with the loop that a
// user would write by hand? Prints one line per layout; best of several rounds, since the machine is shared.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/predefined.hpp"

namespace {

using starling::mpi::ArrayOrder;
using starling::mpi::Datatype;
using starling::mpi::Ref;

constexpr std::int64_t kSide = 128;  // a cube of doubles, 16 MiB
using Cube = std::vector<double>;

const Datatype& type(starling::mpi::HandleBits handle) { return *starling::mpi::predefined_datatype(handle); }
const Datatype& doubles() { return type(0x214); }

/// Nanoseconds per call of the fastest round.
double fastest(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  const auto elapsed = [&](int calls) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  };
  int calls = 1;
  while (elapsed(calls) < 2e6) calls *= 2;
  double best = 1e300;
  for (int round = 0; round < 15; ++round) best = std::min(best, elapsed(calls) / calls);
  return best;
}

using ByHand = std::function<void(const double* from, double* to)>;

void row(const char* name, Ref<Datatype> made, std::uint64_t count, Cube& cube, const ByHand& by_hand) {
  made->commit();
  const std::size_t bytes = made->size() * count;
  std::vector<double> out(bytes / sizeof(double) + 1), contiguous(out.size());
  auto* const stream = reinterpret_cast<std::byte*>(out.data());
  const double copy = fastest([&] { std::memcpy(out.data(), contiguous.data(), bytes); });
  const double pack = fastest([&] { made->pack(cube.data(), count, 0, stream, bytes); });
  const double unpack = fastest([&] { made->unpack(cube.data(), count, 0, stream, bytes); });
  const double hand = by_hand ? fastest([&] { by_hand(cube.data(), out.data()); }) : 0;
  std::printf("%-22s %9zu %8.2f %8.2f %8.2f %10.2f ", name, bytes, static_cast<double>(bytes) / pack,
              static_cast<double>(bytes) / unpack, static_cast<double>(bytes) / copy, pack / copy);
  if (by_hand) {
    std::printf("%8.2f", pack / hand);
  } else {
    std::printf("%8s", "-");
  }
  std::printf("  %s\n", made->describe().c_str());
}

Ref<Datatype> face(std::int64_t z, std::int64_t y, std::int64_t x) {
  const std::int64_t sizes[] = {kSide, kSide, kSide}, part[] = {z, y, x}, starts[] = {0, 0, 0};
  return starling::mpi::make_subarray(sizes, part, starts, ArrayOrder::c, doubles()).value();
}

void faces(Cube& cube) {
  row("face z (plane)", face(1, kSide, kSide), 1, cube, nullptr);
  row("face y (rows)", face(kSide, 1, kSide), 1, cube, [](const double* from, double* to) {
    for (std::int64_t z = 0; z < kSide; ++z)
      std::memcpy(to + z * kSide, from + z * kSide * kSide, kSide * sizeof(double));
  });
  row("face x (doubles)", face(kSide, kSide, 1), 1, cube, [](const double* from, double* to) {
    for (std::int64_t i = 0; i < kSide * kSide; ++i) to[i] = from[i * kSide];
  });
  row("box 64 x 64 x 64", face(64, 64, 64), 1, cube, [](const double* from, double* to) {
    for (std::int64_t z = 0; z < 64; ++z) {
      for (std::int64_t y = 0; y < 64; ++y, to += 64)
        std::memcpy(to, from + (z * kSide + y) * kSide, 64 * sizeof(double));
    }
  });
  row("box 64 x 64 x 3", face(64, 64, 3), 1, cube, [](const double* from, double* to) {
    for (std::int64_t z = 0; z < 64; ++z) {
      for (std::int64_t y = 0; y < 64; ++y) {
        for (std::int64_t x = 0; x < 3; ++x) *to++ = from[(z * kSide + y) * kSide + x];
      }
    }
  });
}

void lists(Cube& cube) {
  constexpr std::int64_t kEntries = 4096;
  std::vector<std::int64_t> at(kEntries), lengths(kEntries);
  for (std::size_t i = 0; i < at.size(); ++i) {
    at[i] = static_cast<std::int64_t>(i * 37 % 9973);
    lengths[i] = static_cast<std::int64_t>(1 + i % 4);
  }
  row("indexed_block of 1", starling::mpi::make_indexed_block(1, at, doubles()).value(), 1, cube,
      [&](const double* from, double* to) {
        for (std::size_t i = 0; i < at.size(); ++i) to[i] = from[at[i]];
      });
  row("indexed, 1 to 4", starling::mpi::make_indexed(lengths, at, doubles()).value(), 1, cube,
      [&](const double* from, double* to) {
        for (std::size_t i = 0; i < at.size(); ++i) {
          for (std::int64_t j = 0; j < lengths[i]; ++j) *to++ = from[at[i] + j];
        }
      });
  struct Particle {
    double place[3];
    int id;
    char kind;
  };
  const std::int64_t parts[] = {3, 1, 1}, places[] = {0, 24, 28};
  const Datatype* const types[] = {&doubles(), &type(0x209), &type(0x243)};
  row("struct of 29 in 32", starling::mpi::make_struct(parts, places, types).value(), 10000, cube,
      [](const double* from, double* to) {
        auto* const out = reinterpret_cast<char*>(to);
        for (std::size_t i = 0; i < 10000; ++i)
          std::memcpy(out + 29 * i, reinterpret_cast<const char*>(from) + 32 * i, 29);
      });
}

}  // namespace

int main() {
  Cube cube(kSide * kSide * kSide);
  std::iota(cube.begin(), cube.end(), 0.0);
  std::printf("%-22s %9s %8s %8s %8s %10s %8s  %s\n", "layout", "bytes", "pack", "unpack", "memcpy",
              "pack time", "pack time", "compiled to");
  std::printf("%-22s %9s %8s %8s %8s %10s %8s\n", "", "", "GB/s", "GB/s", "GB/s", "/ memcpy", "/ hand");
  faces(cube);
  lists(cube);
  return 0;
}
