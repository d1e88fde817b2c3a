// SPDX-License-Identifier: BSD-3-Clause
// What does a message between two processes of one node cost, and how much of it is physics?
//
// Two processes on two processors bounce messages. Printed per size, one way, as median (min..max) of
// interleaved runs: the bare hand-over of a cache line, a loop that copies into and out of a shared buffer
// (the floor), the bare lane, and the whole of btl/shm. Layer: bench. Usage: bench_lane [runs] [round trips
// per run].

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/micro/pin.hpp"
#include "core/clock.hpp"
#include "frameworks/shm/node_segment.hpp"
#include "plugins/btl/shm/component.hpp"

namespace starling {
namespace {

constexpr std::size_t kSizes[] = {8, 64, 256, 1024, 4096, 16384, 65536 - 64};
constexpr std::size_t kBufferBytes = 1 << 17;
constexpr std::uint64_t kLaneBytes = 256 * 1024;

struct alignas(128) Line {
  std::atomic<std::uint64_t> word;
  std::byte pad[120];
};

/// What both processes share besides the node segment; zero at first.
struct Common {
  Line start;
  Line flags[2];
  alignas(128) std::byte buffers[2][kBufferBytes];
  alignas(128) std::byte lanes[2][kLaneBytes];
};

/// One way of moving bytes; `send` and `receive` are called by either side.
class Way {
 public:
  virtual ~Way() = default;
  virtual void send(const std::byte* from, std::size_t bytes) = 0;
  virtual void receive(std::byte* to, std::size_t bytes) = 0;
};

class HandOver final : public Way {
 public:
  HandOver(Common& common, int me) : out_(common.flags[me].word), in_(common.flags[1 - me].word) {}
  void send(const std::byte*, std::size_t) override { out_.store(++sent_, std::memory_order_release); }
  void receive(std::byte*, std::size_t) override {
    ++received_;
    while (in_.load(std::memory_order_acquire) != received_) {
    }
  }

 private:
  std::atomic<std::uint64_t>& out_;
  std::atomic<std::uint64_t>& in_;
  std::uint64_t sent_ = out_.load();
  std::uint64_t received_ = in_.load();
};

/// The floor: flag and first bytes share a cache line, as in a lane.
class TwoCopies final : public Way {
 public:
  TwoCopies(Common& common, int me) : out_(common.buffers[me]), in_(common.buffers[1 - me]) {}
  void send(const std::byte* from, std::size_t bytes) override {
    std::memcpy(out_ + 8, from, bytes);
    flag(out_).store(++sent_, std::memory_order_release);
  }
  void receive(std::byte* to, std::size_t bytes) override {
    ++received_;
    while (flag(in_).load(std::memory_order_acquire) != received_) {
    }
    std::memcpy(to, in_ + 8, bytes);
  }

 private:
  static std::atomic<std::uint64_t>& flag(std::byte* buffer) {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(buffer);
  }
  std::byte* out_;
  std::byte* in_;
  std::uint64_t sent_ = flag(out_).load();
  std::uint64_t received_ = flag(in_).load();
};

class BareLane final : public Way {
 public:
  BareLane(Common& common, int me)
      : writer_(btl::MappedRing(common.lanes[me], kLaneBytes)),
        reader_(btl::MappedRing(common.lanes[1 - me], kLaneBytes)) {
    writer_.create();
  }
  void send(const std::byte* from, std::size_t bytes) override {
    const std::uint32_t cells = btl::cells_for(bytes);
    std::uint32_t cell = btl::kNoCell;
    while ((cell = writer_.reserve(cells)) == btl::kNoCell) {
    }
    std::memcpy(writer_.ring().payload(cell), from, bytes);
    writer_.commit(cells, btl::record_header(btl::RecordKind::data, static_cast<std::uint32_t>(bytes)));
  }
  void receive(std::byte* to, std::size_t) override {
    std::uint64_t header = 0;
    while ((header = reader_.peek()) == 0) reader_.tidy();
    std::memcpy(to, reader_.ring().payload(reader_.cell()), btl::bytes_of(header));
    reader_.pop(btl::cells_for(btl::bytes_of(header)));
  }

 private:
  btl::LaneWriter<StdAtomics, btl::MappedRing> writer_;
  btl::LaneReader<StdAtomics, btl::MappedRing> reader_;
};

std::int64_t same_rank(const void*, ProcId proc) noexcept {
  return proc.rank < 2 ? std::int64_t{proc.rank} : -1;
}

class WholeBtl final : public Way, private btl::Sink {
 public:
  WholeBtl(params::Registry& params, shm::NodeSegment& segment, unsigned me)
      : component_({params, *this, {ProcId{0, me}, 2, me, 2, &same_rank, nullptr}, &segment}) {
    if (!component_.start()) std::abort();
    endpoint_ = *component_.connect(ProcId{0, 1 - me}, {});
  }
  void send(const std::byte* from, std::size_t bytes) override {
    while (endpoint_->send({}, {from, bytes}) != Post::done) component_.progress();
  }
  void receive(std::byte* to, std::size_t) override {
    to_ = to;
    ++wanted_;
    while (got_ != wanted_) component_.progress();
  }

 private:
  void on_message(btl::Origin&, std::span<const std::byte> message) noexcept override {
    std::memcpy(to_, message.data(), message.size());
    ++got_;
  }
  void on_peer_lost(ProcId, const Error& why) noexcept override {
    std::fprintf(stderr, "%s\n", why.text().c_str());
    std::abort();
  }
  btl::ShmComponent component_;
  btl::Endpoint* endpoint_ = nullptr;
  std::byte* to_ = nullptr;
  std::uint64_t got_ = 0;
  std::uint64_t wanted_ = 0;
};

struct Setup {
  Common* common;
  params::Registry params;
  shm::Geometry geometry;
  UniqueFd memfd;
};

shm::NodeSegment attach(const Setup& setup, std::uint32_t me) {
  shm::Segment segment;
  segment.fd = UniqueFd(::dup(setup.memfd.get()));
  segment.mapping = std::move(Mapping::map(segment.fd.get(), setup.geometry.total_bytes())).value();
  return std::move(shm::NodeSegment::open(std::move(segment), setup.geometry, me)).value();
}

/// Both sides run the same list of measurements; side 0 returns nanoseconds one way.
std::map<std::string, std::map<std::size_t, std::vector<double>>> run(Setup& setup, unsigned me, int runs,
                                                                      int trips) {
  bench::pin(static_cast<unsigned>(me));
  shm::NodeSegment segment = attach(setup, me);
  segment.enter();
  std::vector<std::pair<std::string, std::unique_ptr<Way>>> ways;
  ways.emplace_back("hand-over", std::make_unique<HandOver>(*setup.common, static_cast<int>(me)));
  ways.emplace_back("two copies", std::make_unique<TwoCopies>(*setup.common, static_cast<int>(me)));
  ways.emplace_back("lane", std::make_unique<BareLane>(*setup.common, static_cast<int>(me)));
  ways.emplace_back("btl/shm", std::make_unique<WholeBtl>(setup.params, segment, me));
  setup.common->start.word.fetch_add(1);
  while (setup.common->start.word.load() != 2) {
  }
  std::vector<std::byte> from(kBufferBytes, std::byte{1});
  std::vector<std::byte> to(kBufferBytes);
  std::map<std::string, std::map<std::size_t, std::vector<double>>> results;
  for (int i = 0; i < runs; ++i) {
    for (const std::size_t bytes : kSizes) {
      const int count = bytes <= 4096 ? trips : trips / 8;
      for (auto& [name, way] : ways) {
        std::uint64_t begin = 0;
        for (int trip = -count / 10; trip < count; ++trip) {
          if (trip == 0) begin = now_ns();
          if (me == 0) way->send(from.data(), bytes);
          way->receive(to.data(), bytes);
          if (me == 1) way->send(from.data(), bytes);
        }
        results[name][bytes].push_back(static_cast<double>(now_ns() - begin) / count / 2);
      }
    }
  }
  return results;
}

int measure(int runs, int trips) {
  Setup setup;
  setup.common = static_cast<Common*>(::mmap(nullptr, sizeof(Common), PROT_READ | PROT_WRITE,
                                             MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
  if (!setup.params.load(params::Places::of_this_process("/"))) return 1;
  if (!setup.params.add("btl/shm", btl::kShmDecls)) return 1;
  setup.geometry = {.local_size = 2, .area_bytes = 16384, .arena_bytes = 16u << 20};
  setup.memfd = std::move(shm::create_memfd("starling-bench", setup.geometry, 1)).value();
  const pid_t child = ::fork();
  if (child == 0) {
    (void)run(setup, 1, runs, trips);
    ::_exit(0);
  }
  auto results = run(setup, 0, runs, trips);
  ::waitpid(child, nullptr, 0);
  std::printf("ns one way, median (min..max) of %d runs of %d round trips\n%10s", runs, trips, "bytes");
  for (const char* name : {"hand-over", "two copies", "lane", "btl/shm"}) std::printf("%26s", name);
  std::printf("%12s\n", "btl/floor");
  for (const std::size_t bytes : kSizes) {
    std::printf("%10zu", bytes);
    double floor = 0;
    double whole = 0;
    for (const char* name : {"hand-over", "two copies", "lane", "btl/shm"}) {
      auto& values = results[name][bytes];
      std::sort(values.begin(), values.end());
      const double median = values[values.size() / 2];
      if (std::string_view(name) == "two copies") floor = median;
      whole = median;
      std::printf("%10.1f (%5.1f..%6.1f)", median, values.front(), values.back());
    }
    std::printf("%12.2f\n", whole / floor);
  }
  return 0;
}

}  // namespace
}  // namespace starling

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 7;
  const int trips = argc > 2 ? std::atoi(argv[2]) : 20000;
  return starling::measure(runs, trips);
}
