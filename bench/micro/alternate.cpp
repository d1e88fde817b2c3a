// SPDX-License-Identifier: BSD-3-Clause
// Do messages take longer when pml/dynamic chooses their way than when pml/static does? With `steal`: when
// processes that wait may copy for others than when they may not?
//
// Two processes on two processors, one engine in each with the protocols of pml/dynamic, and memory that
// stays the same. What chooses changes from batch to batch, in an order that is turned round from pair to
// pair. Printed per kind of memory, direction and size: the median of the ratios second / first of all
// pairs, and its 95 % interval (order statistics: nothing is assumed about how times are distributed).
// Layer: bench. Usage: bench_alternate [pairs [steal]]

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/micro/pin.hpp"
#include "core/clock.hpp"
#include "frameworks/shm/memory/owned.hpp"
#include "frameworks/shm/node_segment.hpp"
#include "plugins/btl/shm/component.hpp"
#include "plugins/pml/dynamic/policy.hpp"
#include "plugins/pml/static/policy.hpp"

namespace starling::pml {
namespace {

constexpr std::size_t kSizes[] = {32768, 65536, 131072, 262144, 1048576, 4194304};
constexpr std::size_t kLargest = 4194304;
constexpr std::size_t kBatchBytes = 8u << 20;
constexpr std::uint32_t kProcesses = 2;

/// What takes turns.
struct Question {
  const char *first, *second;
  bool steal;     // two of pml/dynamic, of which only the second lets others help
  double defect;  // where the interval of second / first lies above it
};
constexpr Question kPolicies{"static", "dynamic", false, 1.03};
constexpr Question kSteal{"never", "auto", true, 1.01};

/// Hands each message to one of the two, and each copy of several processes to that one's plan.
class Either final : public Chooser, public CopyPlan {
 public:
  Either(ProcId self, const Question& question) {
    StaticConfig fixed;
    fixed.self = self;
    DynamicConfig varied;
    varied.self = self;
    if (question.steal) {
      varied.large = DynamicLarge::claim;
      varied.steal = shm::Steal::never;
      add<DynamicPolicy>(0, varied);
      varied.steal = shm::Steal::automatic;
    } else {
      add<StaticPolicy>(0, fixed);
    }
    add<DynamicPolicy>(1, varied);
  }
  void use(int number) noexcept { now_ = number; }
  LargeChoice choose(const LargeReceive& receive) noexcept override {
    return choosers_[now_]->choose(receive);
  }
  void took(std::uint32_t trial, std::uint64_t bytes, std::uint64_t ns) noexcept override {
    choosers_[now_]->took(trial, bytes, ns);
  }
  CopyShape shape(const Peer& peer, std::uint64_t bytes) noexcept override {
    return plan().shape(peer, bytes);
  }
  void took_part(const Peer& peer, std::uint64_t bytes, std::uint64_t who) noexcept override {
    plan().took_part(peer, bytes, who);
  }
  [[nodiscard]] std::vector<std::string> notes() const override { return choosers_[1]->notes(); }

 private:
  template <typename Policy, typename Settings>
  void add(int number, const Settings& settings) {
    auto made =
        std::make_unique<Policy>(settings, std::make_unique<TrialsFile>("", Findings::Origin{}, false));
    if constexpr (std::is_same_v<Policy, DynamicPolicy>) plans_[number] = made.get();
    choosers_[number] = std::move(made);
  }
  [[nodiscard]] CopyPlan& plan() noexcept { return *plans_[plans_[now_] != nullptr ? now_ : 1]; }

  std::unique_ptr<Chooser> choosers_[2];
  CopyPlan* plans_[2] = {};  // null: pml/static's
  int now_ = 0;
};

class Both final : public ProcList {
 public:
  [[nodiscard]] std::uint32_t size() const noexcept override { return kProcesses; }
  [[nodiscard]] ProcId at(std::uint32_t index) const noexcept override { return {0, index}; }
  [[nodiscard]] std::optional<std::uint32_t> find(ProcId proc) const noexcept override {
    return proc.world == 0 && proc.rank < kProcesses ? std::optional(proc.rank) : std::nullopt;
  }
  [[nodiscard]] bool consecutive() const noexcept override { return true; }
};

std::int64_t local_rank_of(const void*, ProcId proc) noexcept { return proc.rank; }

struct Setup {
  params::Registry params;
  shm::Geometry geometry{.local_size = kProcesses, .area_bytes = 16384, .arena_bytes = 64u << 20};
  UniqueFd memfd;
  std::atomic<std::uint32_t>* met = nullptr;  // in memory of both
};

shm::NodeSegment attach(const Setup& setup, std::uint32_t me) {
  shm::Segment segment;
  segment.fd = UniqueFd(::dup(setup.memfd.get()));
  segment.mapping = std::move(Mapping::map(segment.fd.get(), setup.geometry.total_bytes())).value();
  return std::move(shm::NodeSegment::open(std::move(segment), setup.geometry, me)).value();
}

class Process {
 public:
  Process(Setup& setup, std::uint32_t me, const Question& question)
      : me_(me), met_(*setup.met), segment_(attach(setup, me)), memory_(segment_, 16) {
    segment_.enter();
    Config config;
    config.self = {0, me};
    config.world_size = kProcesses;
    config.loans = 8;
    auto either = std::make_unique<Either>(config.self, question);
    either_ = either.get();
    Protocols protocols = standard_protocols(config);
    protocols.push_back(std::make_unique<ClaimProtocol>(*either));
    engine_ = std::make_unique<Engine>(peers_, config, std::move(either), std::move(protocols));
    const btl::Place place{config.self, kProcesses, me, kProcesses, &local_rank_of, nullptr};
    shm_ = std::make_unique<btl::ShmComponent>(btl::Args{setup.params, peers_.sink(), place, &segment_});
    if (!shm_->start()) std::abort();
    peers_.add_transport(*shm_);
    context_ = *engine_->open(ContextId::make(0, 1), Rank{std::int32_t(me)}, std::make_shared<Both>());
  }

  void buffers(bool mapped) {
    out_ = mapped ? *memory_.allocate(kLargest) : private_out_.data();
    in_ = mapped ? *memory_.allocate(kLargest) : private_in_.data();
    std::fill_n(out_, kLargest, std::byte{1});
    std::fill_n(in_, kLargest, std::byte{1});
  }
  /// Nanoseconds of one batch, until both have all of it.
  double batch(int chooser, bool both_ways, std::size_t bytes, std::size_t messages) {
    either_->use(chooser);
    meet();
    const std::uint64_t begin = now_ns();
    for (std::size_t i = 0; i < messages; ++i) {
      Request receive, send;
      fill(receive, in_, bytes);
      fill(send, out_, bytes);
      const bool receives = both_ways || me_ == 1, sends = both_ways || me_ == 0;
      if (receives) engine_->irecv(receive);
      if (sends) engine_->isend(send);
      while ((receives && !receive.complete.load()) || (sends && !send.complete.load())) peers_.progress();
    }
    meet();
    return static_cast<double>(now_ns() - begin);
  }
  [[nodiscard]] std::vector<std::string> notes() const { return either_->notes(); }

 private:
  void fill(Request& request, std::byte* base, std::size_t bytes) const {
    request.buffer = {base, bytes, 0, nullptr};
    request.context = context_;
    request.rank = Rank{std::int32_t(1 - me_)};
    request.tag = Tag{1};
  }
  /// The other one may still need answers.
  void meet() {
    const std::uint32_t target = (met_.fetch_add(1) / kProcesses + 1) * kProcesses;
    while (met_.load() < target) peers_.progress();
  }

  std::uint32_t me_;
  std::atomic<std::uint32_t>& met_;
  shm::NodeSegment segment_;
  shm::OwnedMemory memory_;
  peer::Peers peers_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<btl::ShmComponent> shm_;
  Either* either_ = nullptr;
  Context* context_ = nullptr;
  std::vector<std::byte> private_out_ = std::vector<std::byte>(kLargest);
  std::vector<std::byte> private_in_ = std::vector<std::byte>(kLargest);
  std::byte* out_ = nullptr;
  std::byte* in_ = nullptr;
};

/// Places of the interval that has the median with 95 %, in n sorted values.
std::pair<std::size_t, std::size_t> interval(std::size_t n) {
  const double half = 1.96 * std::sqrt(static_cast<double>(n)) / 2, middle = static_cast<double>(n) / 2;
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(middle - half)));
  return {low, n - 1 - low};
}

struct Kind {
  bool mapped, both_ways;
  std::size_t bytes;
};

void measure(Process& process, std::uint32_t me, std::size_t pairs, const Kind& kind, double defect) {
  const auto [mapped, both_ways, bytes] = kind;
  const std::size_t messages = kBatchBytes / bytes;
  // Long enough for both to have tried every way.
  for (int i = 0; i < 16; ++i) (void)process.batch(i % 2, both_ways, bytes, messages + 8);
  std::vector<double> ratios, times;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    double took[2];
    for (int turn = 0; turn < 2; ++turn) {
      const int chooser = (static_cast<int>(pair) + turn) % 2;
      took[chooser] = process.batch(chooser, both_ways, bytes, messages);
    }
    ratios.push_back(took[1] / took[0]);
    times.push_back(took[0] / static_cast<double>(messages) / 1e3);
  }
  if (me != 0) return;
  std::sort(ratios.begin(), ratios.end());
  std::sort(times.begin(), times.end());
  const auto [low, high] = interval(pairs);
  std::printf("| %s | %s | %zu | %.2f | %.3f | %.3f..%.3f%s |\n", mapped ? "mapped" : "private",
              both_ways ? "both ways" : "one way", bytes, times[pairs / 2], ratios[pairs / 2], ratios[low],
              ratios[high], ratios[low] > defect ? " slower" : "");
  std::fflush(stdout);
}

void run(Setup& setup, std::uint32_t me, std::size_t pairs, const Question& question) {
  bench::pin(me);
  Process process(setup, me, question);
  for (const bool mapped : {false, true}) {
    if (question.steal && !mapped) continue;  // nobody else could copy it
    process.buffers(mapped);
    for (const bool both_ways : {false, true})
      for (const std::size_t bytes : kSizes)
        measure(process, me, pairs, {mapped, both_ways, bytes}, question.defect);
  }
  if (me == 1) {
    for (const std::string& note : process.notes()) std::printf("%s\n", note.c_str());
    std::fflush(stdout);
  }
}

int alternate(std::size_t pairs, const Question& question) {
  Setup setup;
  if (!setup.params.load({}) || !setup.params.add("btl/shm", btl::kShmDecls)) return 1;
  setup.met = new (::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
      std::atomic<std::uint32_t>(0);
  setup.memfd =
      std::move(shm::create_memfd("starling-bench", setup.geometry, shm::job_nonce("alternate"))).value();
  std::printf(
      "| memory | direction | bytes | %s [us] | %s / %s, %zu pairs | 95 %% |\n|---|---|---|---|---|---|\n",
      question.first, question.second, question.first, pairs);
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    run(setup, 1, pairs, question);
    ::_exit(0);
  }
  run(setup, 0, pairs, question);
  ::waitpid(child, nullptr, 0);
  return 0;
}

}  // namespace
}  // namespace starling::pml

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 61;
  if (pairs < 31) {
    std::fprintf(stderr, "bench_alternate: 31 pairs at least, for an interval that means something\n");
    return 2;
  }
  const bool steal = argc > 2 && std::strcmp(argv[2], "steal") == 0;
  return starling::pml::alternate(static_cast<std::size_t>(pairs),
                                  steal ? starling::pml::kSteal : starling::pml::kPolicies);
}
