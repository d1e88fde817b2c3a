// SPDX-License-Identifier: BSD-3-Clause
// A rank that speaks PMI through plugins/pmi/pmi1 (or pmi2, where STARLING_MCA_pmi says so) and nothing else;
// what it does is its first argument.
// Layer: tests. Driven by tests/np/mpiexec/run.py. Exit code 0: everything was as expected.

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "plugins/pmi/pmi1/component.hpp"
#include "plugins/pmi/pmi2/component.hpp"

namespace {

using namespace starling;

[[noreturn]] void complain(const std::string& what) {
  std::fprintf(stderr, "pmi_probe: %s\n", what.c_str());
  std::exit(3);
}

template <class T>
T must(Result<T> result, const char* what) {
  if (!result) complain(std::string(what) + ": " + result.error().text());
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

Deadline soon() { return Deadline::after_seconds(60); }

std::unique_ptr<pmi::Component> connect() {
  const char* const which = std::getenv("STARLING_MCA_pmi");
  const auto get = pmi::process_environment();
  if (which != nullptr && std::string(which) == "pmi2")
    return must(pmi::Pmi2::make(get, "asked", 60), "init");
  return must(pmi::Pmi1::make(get, 60), "init");
}

std::vector<std::byte> value_of(std::uint32_t rank, std::size_t bytes) {
  std::vector<std::byte> value(bytes);
  for (std::size_t i = 0; i < bytes; ++i) value[i] = static_cast<std::byte>(i * 7 + rank * 13 + (i >> 8));
  return value;
}

/// put, fence, get of everybody (of 16 neighbours in large jobs), with values of `bytes`.
void exchange(pmi::Component& pmi, std::size_t bytes) {
  const auto& self = pmi.identity();
  must(pmi.put("address", value_of(self.rank, bytes)), "put");
  must(pmi.fence(soon()), "fence");
  const std::uint32_t count = std::min(self.size, 16u);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t rank = (self.rank + i) % self.size;
    const pmi::Lookup found = must(pmi.get(rank, "address"), "get");
    if (found.found != pmi::Found::value || found.value != value_of(rank, bytes))
      complain("a value came back changed");
  }
  if (must(pmi.get(0, "nobody-put-this"), "get").found == pmi::Found::value) complain("a value from nowhere");
  must(pmi.fence(soon()), "second fence");
}

/// Fences of overlapping groups in different orders, while the last rank takes part in none.
void groups(pmi::Component& pmi) {
  const auto& self = pmi.identity();
  if (!pmi.capabilities().group_fence) complain("no group fences");
  std::vector<std::uint32_t> even, low;
  for (std::uint32_t rank = 0; rank + 1 < self.size; ++rank) {
    if (rank % 2 == 0) even.push_back(rank);
    if (rank < self.size / 2) low.push_back(rank);
  }
  const auto in = [&](const std::vector<std::uint32_t>& group) {
    return std::find(group.begin(), group.end(), self.rank) != group.end();
  };
  for (int round = 0; round < 20; ++round) {
    if (in(even)) must(pmi.fence(even, "even", soon()), "even");
    if (in(low)) must(pmi.fence(low, "low", soon()), "low");
  }
  must(pmi.fence(soon()), "world");
}

/// Under Starling's mpiexec a value can be read before any fence.
void direct(pmi::Component& pmi) {
  const auto& self = pmi.identity();
  if (!pmi.capabilities().get_without_fence) complain("no gets without a fence");
  if (self.rank == 0 && must(pmi.get(self.size - 1, "late"), "get").found == pmi::Found::none)
    complain("not yet is not none");
  must(pmi.put("early", value_of(self.rank, 100)), "put");
  const Deadline deadline = soon();
  for (std::uint32_t rank = 0; rank < self.size; ++rank) {
    while (must(pmi.get(rank, "early"), "get").found != pmi::Found::value) {
      if (deadline.passed()) complain("a value never came");
      ::usleep(1000);
    }
  }
}

void names(pmi::Component& pmi) {
  if (pmi.identity().rank == 0) must(pmi.publish("a service", "port 1;%"), "publish");
  must(pmi.fence(soon()), "fence");
  if (must(pmi.lookup("a service"), "lookup") != "port 1;%") complain("the port came back changed");
  if (pmi.lookup("no such").error().code != Errc::not_found) complain("a port from nowhere");
  must(pmi.fence(soon()), "fence");
  if (pmi.identity().rank == 0) must(pmi.unpublish("a service"), "unpublish");
}

/// The test wants to know when (tests/np/jobs.py).
void note_time() {
  const char* const path = std::getenv("STARLING_TEST_FAULT");
  std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "w");
  if (file == nullptr) return;
  const std::uint64_t now = now_ns();
  std::fprintf(file, "%llu.%09llu\n", static_cast<unsigned long long>(now / 1'000'000'000),
               static_cast<unsigned long long>(now % 1'000'000'000));
  std::fclose(file);
}

[[noreturn]] void die(const std::string& manner) {
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  note_time();
  if (manner == "exit0") ::_exit(0);
  if (manner == "exit7") ::_exit(7);
  if (manner == "kill") ::raise(SIGKILL);
  if (manner == "segv") {
    std::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
  }
  if (manner == "stop") ::raise(SIGSTOP);
  if (manner == "hang") ::sleep(3600);
  complain("unknown manner " + manner);
}

/// `victim` dies at `point`; the others go on until they wait for it.
int doomed(const std::string& point, const std::string& manner) {
  const std::uint32_t rank = static_cast<std::uint32_t>(std::atoi(std::getenv("PMI_RANK")));
  const std::uint32_t size = static_cast<std::uint32_t>(std::atoi(std::getenv("PMI_SIZE")));
  const bool victim = rank == size - 1;
  const auto at = [&](const char* here) {
    if (victim && point == here) die(manner);
  };
  at("before-init");
  auto pmi = connect();
  at("before-put");
  must(pmi->put("address", value_of(rank, 100)), "put");
  at("before-fence");
  if (victim && point == "in-fence") {
    (void)pmi->fence(Deadline::after_ns(50'000'000));
    die(manner);
  }
  const auto first = pmi->fence(soon());
  if (!first) return 0;  // mpiexec ends the job
  at("in-traffic");
  if (point == "in-fence") ::pause();
  (void)pmi->fence(soon());
  pmi->set_active(false);
  at("after-finalize");
  return 0;
}

int malformed(const std::string& bytes) {
  const int fd = std::atoi(std::getenv("PMI_FD"));
  if (std::atoi(std::getenv("PMI_RANK")) == 1) {
    if (::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return 3;
  }
  ::sleep(3600);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const std::string arg = argc > 2 ? argv[2] : "";
  if (mode == "die") return doomed(arg, argc > 3 ? argv[3] : "");
  if (mode == "malformed") return malformed(arg + "\n");
  auto pmi = connect();
  if (mode == "exchange") {
    exchange(*pmi, static_cast<std::size_t>(std::atol(arg.c_str())));
  } else if (mode == "groups") {
    groups(*pmi);
  } else if (mode == "direct") {
    direct(*pmi);
  } else if (mode == "names") {
    names(*pmi);
  } else if (mode == "identity") {
    std::printf("%u/%u %s %s\n", pmi->identity().rank, pmi->identity().size, pmi->identity().job.c_str(),
                pmi->identity().nodes.text().c_str());
  } else if (mode == "abort") {
    if (pmi->identity().rank == 0) pmi->abort(42, "a reason; 100 %");
    (void)pmi->fence(soon());
  } else if (mode == "closing") {  // rank 1 dies; rank 0 has noticed it before its end can be known
    if (pmi->identity().rank == 1) {
      ::close(pmi->wait_fd());
      ::usleep(200'000);
      die("kill");
    }
    ::usleep(100'000);
    if (pmi->identity().rank == 0) pmi->abort(3, "the other one is gone");
    ::sleep(3600);
  } else if (mode == "wait") {
    if (pmi->identity().rank != 0) (void)pmi->fence(soon());
    ::sleep(3600);
  } else {
    complain("unknown mode " + mode);
  }
  pmi->set_active(false);
  if (mode == "exchange" && pmi->identity().rank == 0) {
    const auto counted = pmi->counters();
    std::printf("operations %lu\n",
                static_cast<unsigned long>(counted.puts + counted.gets + counted.fences + counted.other));
  }
  return 0;
}
