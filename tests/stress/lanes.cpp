// SPDX-License-Identifier: BSD-3-Clause
// Several processes send messages of random sizes to each other through btl/shm for some seconds, with random
// delays put between all steps, sleeping when nothing comes. Every message carries its number and a checksum;
// a sender that is killed in between must not disturb the others. Layer: tests. Usage: stress_lanes [seconds]
// [processes].

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "core/clock.hpp"
#include "frameworks/shm/node_segment.hpp"
#include "plugins/btl/shm/component.hpp"

namespace starling {
namespace {

struct Head {
  std::uint64_t number;
  std::uint64_t checksum;
};

std::uint64_t checksum_of(const std::byte* bytes, std::size_t count) noexcept {
  std::uint64_t sum = count;
  for (std::size_t i = 0; i < count; ++i) sum = sum * 31 + static_cast<std::uint64_t>(bytes[i]);
  return sum;
}

[[noreturn]] void give_up(unsigned me, const char* what, std::uint64_t a, std::uint64_t b) {
  std::fprintf(stderr, "process %u: %s (%llu, %llu)\n", me, what, static_cast<unsigned long long>(a),
               static_cast<unsigned long long>(b));
  ::_exit(1);
}

std::int64_t same_rank(const void* context, ProcId proc) noexcept {
  return proc.rank < *static_cast<const std::uint32_t*>(context) ? std::int64_t{proc.rank} : -1;
}

class Member final : private btl::Sink {
 public:
  Member(const params::Registry& params, shm::NodeSegment& segment, std::uint32_t me, std::uint32_t processes)
      : segment_(segment),
        me_(me),
        processes_(processes),
        random_(me * 7919 + static_cast<unsigned>(now_ns())),
        next_(processes, 0),
        sent_(processes, 0),
        component_({const_cast<params::Registry&>(params),
                    *this,
                    {ProcId{0, me}, processes, me, processes, &same_rank, &processes_},
                    &segment}) {
    if (!component_.start()) give_up(me, "cannot start", 0, 0);
  }

  void run(std::uint64_t seconds) {
    const Deadline end = Deadline::after_seconds(seconds);
    while (!end.passed()) {
      for (unsigned burst = draw(40); burst > 0; --burst) send_one();
      delay();
      if (component_.progress() == 0 && draw(4) == 0) sleep_once();
    }
    // What the others still send is taken until nothing has come for a while.
    for (int quiet = 0; quiet < 100; ++quiet) {
      if (component_.progress() != 0) quiet = 0;
      ::usleep(1000);
    }
  }
  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }

 private:
  std::uint32_t draw(std::uint32_t below) noexcept { return static_cast<std::uint32_t>(random_()) % below; }

  void send_one() {
    const std::uint32_t to = draw(processes_);
    if (to == me_) return;
    static constexpr std::uint32_t kRanges[] = {40, 300, 3000, 16000, 65000};
    std::size_t bytes = draw(kRanges[std::min(draw(12), 4u)]);
    btl::Endpoint& endpoint = **component_.connect(ProcId{0, to}, {});
    const std::size_t most = component_.limits().message_max_bytes - sizeof(Head);
    bytes = std::min(bytes, most);
    const auto fill = [&](std::byte* at) {
      for (std::size_t i = 0; i < bytes; ++i) at[i] = static_cast<std::byte>(sent_[to] + i * 3 + to);
    };
    if (draw(2) == 0) {
      const std::size_t slack = most - bytes;
      std::byte* const place =
          endpoint.reserve(sizeof(Head) + bytes + (slack == 0 ? 0 : draw(static_cast<std::uint32_t>(slack))));
      if (place == nullptr) return;
      fill(place + sizeof(Head));
      const Head head{sent_[to], checksum_of(place + sizeof(Head), bytes)};
      delay();
      std::memcpy(place, &head, sizeof(head));
      endpoint.commit(sizeof(head) + bytes);
    } else {
      std::vector<std::byte> payload(bytes);
      fill(payload.data());
      const Head head{sent_[to], checksum_of(payload.data(), bytes)};
      if (endpoint.send(std::as_bytes(std::span(&head, 1)), payload) != Post::done) return;
    }
    ++sent_[to];
  }

  void on_message(btl::Origin& from, std::span<const std::byte> message) noexcept override {
    Head head{};
    if (message.size() < sizeof(head)) give_up(me_, "a message is cut short", message.size(), from.proc.rank);
    std::memcpy(&head, message.data(), sizeof(head));
    if (head.number != next_[from.proc.rank])
      give_up(me_, "out of order", head.number, next_[from.proc.rank]);
    delay();
    const auto payload = message.subspan(sizeof(head));
    const std::uint64_t sum = checksum_of(payload.data(), payload.size());
    if (sum != head.checksum) give_up(me_, "checksum", head.checksum, sum);
    ++next_[from.proc.rank];
    ++received_;
  }
  void on_peer_lost(ProcId, const Error&) noexcept override {}

  void sleep_once() {
    const std::uint32_t value = segment_.prepare_sleep();
    if (component_.progress() == 0) segment_.sleep(value, 5'000'000);
    segment_.cancel_sleep();
  }

  void delay() noexcept {
    const auto kind = draw(64);
    if (kind == 0) ::usleep(draw(200));
    if (kind < 8) {
      const std::uint64_t until = now_ns() + draw(500);
      while (now_ns() < until) {
      }
    }
  }

  shm::NodeSegment& segment_;
  std::uint32_t me_;
  std::uint32_t processes_;
  std::minstd_rand random_;
  std::vector<std::uint64_t> next_;
  std::vector<std::uint64_t> sent_;
  std::uint64_t received_ = 0;
  btl::ShmComponent component_;
};

int member(int memfd, const shm::Geometry& geometry, std::uint32_t me, std::uint64_t seconds) {
  constexpr std::array kCleaning = {"auto", "idle", "never", "always"};
  params::Registry params;
  params::Places places;
  // Little memory, so that growth is refused, now and then.
  places.environment = {"STARLING_MCA_shm_lanes_total_bytes=512k",
                        std::string("STARLING_MCA_shm_lane_cleaning=") + kCleaning[me % kCleaning.size()]};
  if (!params.load(places) || !params.add("btl/shm", btl::kShmDecls)) return 1;
  shm::Segment raw;
  raw.fd = UniqueFd(::dup(memfd));
  raw.mapping = std::move(Mapping::map(memfd, geometry.total_bytes())).value();
  auto segment = shm::NodeSegment::open(std::move(raw), geometry, me);
  if (!segment) return 1;
  segment->enter();
  Member self(params, *segment, me, geometry.local_size);
  self.run(seconds);
  return self.received() > 0 ? 0 : 2;
}

int stress(std::uint64_t seconds, std::uint32_t processes) {
  const shm::Geometry geometry{.local_size = processes, .area_bytes = 16384, .arena_bytes = 8u << 20};
  const UniqueFd memfd = std::move(shm::create_memfd("starling-stress", geometry, 1)).value();
  std::vector<pid_t> children;
  for (std::uint32_t me = 0; me < processes; ++me) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(member(memfd.get(), geometry, me, seconds));
    children.push_back(child);
  }
  // The last one dies in the middle of whatever it does.
  ::usleep(static_cast<useconds_t>(seconds * 500'000));
  ::kill(children.back(), SIGKILL);
  int failures = 0;
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    if (child != children.back() && status != 0) ++failures;
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace starling

int main(int argc, char** argv) {
  const std::uint64_t seconds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4;
  const auto processes = static_cast<std::uint32_t>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 4);
  return starling::stress(seconds, processes);
}
