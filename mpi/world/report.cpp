// SPDX-License-Identifier: BSD-3-Clause
// The startup report: plan, phases, process manager, peers, memory. Layer: mpi.
// Every rank's numbers reach rank 0 in one allgather of fixed-size records; nothing of this runs unless it is
// asked for.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/log.hpp"
#include "mpi/creation/exchange.hpp"
#include "mpi/handles.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/world/report.hpp"
#include "mpi/world/world.hpp"

namespace starling::mpi {
namespace {

constexpr std::size_t kMaxPhases = 12;

struct Record {
  std::uint64_t phase_ns[kMaxPhases] = {};
  pmi::Component::Counters pmi;
  std::uint64_t peers = 0, network_endpoints = 0;
  CreationTraffic creation;
  std::uint64_t private_kib = 0, shared_kib = 0;
};

std::uint64_t operations(const pmi::Component::Counters& pmi) {
  return pmi.puts + pmi.gets + pmi.fences + pmi.other;
}

/// Resident memory of this process, from /proc/self/smaps_rollup; zeros where it cannot be read. Of a page
/// that n processes share each counts the n-th part (Pss), so that the sum over the ranks of a node is what
/// the node holds.
void read_memory(Record& record) {
  std::FILE* const file = std::fopen("/proc/self/smaps_rollup", "re");
  if (file == nullptr) return;
  char line[256];
  std::uint64_t own_part = 0;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    unsigned long long kib = 0;
    char name[64];
    if (std::sscanf(line, "%63[^:]: %llu kB", name, &kib) != 2) continue;
    if (std::strncmp(name, "Private_", 8) == 0) record.private_kib += kib;
    if (std::strcmp(name, "Pss") == 0) own_part = kib;
  }
  std::fclose(file);
  record.shared_kib = own_part > record.private_kib ? own_part - record.private_kib : 0;
}

Record own_record(Runtime& runtime) {
  Record record;
  const auto& phases = runtime.phases();
  for (std::size_t i = 0; i < std::min(phases.size(), kMaxPhases); ++i) record.phase_ns[i] = phases[i].ns;
  record.pmi = runtime.pmi().counters();
  record.peers = runtime.peers().counters().peers;
  record.network_endpoints = runtime.transports().network_endpoints();
  record.creation = runtime.control_channel().traffic();
  read_memory(record);
  return record;
}

struct Spread {
  std::uint64_t low = ~std::uint64_t{0}, high = 0, sum = 0;
  double mean = 0;
};

template <class Get>
Spread spread(const std::vector<Record>& all, Get get) {
  Spread spread;
  for (const Record& record : all) {
    const std::uint64_t value = get(record);
    spread.low = std::min(spread.low, value);
    spread.high = std::max(spread.high, value);
    spread.sum += value;
  }
  spread.mean = static_cast<double>(spread.sum) / static_cast<double>(all.size());
  return spread;
}

/// The lines about time, counters and memory.
class Numbers {
 public:
  explicit Numbers(const std::vector<Record>& all) : all_(all) {
    text_ = "\n  per rank                          min       mean        max        all ranks";
  }
  template <class Get>
  void time(const char* name, Get ns) {
    const Spread s = spread(all_, ns);
    add("\n  %-27s %7.3f ms %7.3f ms %7.3f ms", name, static_cast<double>(s.low) * 1e-6, s.mean * 1e-6,
        static_cast<double>(s.high) * 1e-6);
  }
  template <class Get>
  void count(const char* name, Get get) {
    const Spread s = spread(all_, get);
    add("\n  %-27s %10.0f %10.1f %10.0f %16.0f", name, static_cast<double>(s.low), s.mean,
        static_cast<double>(s.high), static_cast<double>(s.sum));
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  template <class... Values>
  void add(const char* format, Values... values) {
    char line[192];
    std::snprintf(line, sizeof line, format, values...);
    text_ += line;
  }

  const std::vector<Record>& all_;
  std::string text_;
};

std::string numbers_of(const Runtime& runtime, const std::vector<Record>& all) {
  Numbers numbers(all);
  for (std::size_t i = 0; i < std::min(runtime.phases().size(), kMaxPhases); ++i) {
    numbers.time(runtime.phases()[i].name, [i](const Record& r) { return r.phase_ns[i]; });
  }
  numbers.count("PMI operations", [](const Record& r) { return operations(r.pmi); });
  numbers.count("PMI puts", [](const Record& r) { return r.pmi.puts; });
  numbers.count("PMI gets", [](const Record& r) { return r.pmi.gets; });
  numbers.count("PMI gets too early", [](const Record& r) { return r.pmi.early_gets; });
  numbers.count("PMI fences", [](const Record& r) { return r.pmi.fences; });
  numbers.count("PMI bytes", [](const Record& r) { return r.pmi.bytes_sent + r.pmi.bytes_received; });
  numbers.count("creation messages, node", [](const Record& r) { return r.creation.node.count; });
  numbers.count("creation bytes, node", [](const Record& r) { return r.creation.node.bytes; });
  numbers.count("creation messages, remote", [](const Record& r) { return r.creation.remote.count; });
  numbers.count("creation bytes, remote", [](const Record& r) { return r.creation.remote.bytes; });
  numbers.count("peers", [](const Record& r) { return r.peers; });
  numbers.count("network endpoints", [](const Record& r) { return r.network_endpoints; });
  numbers.count("private memory (KiB)", [](const Record& r) { return r.private_kib; });
  numbers.count("part of shared memory (KiB)", [](const Record& r) { return r.shared_kib; });
  return numbers.text();
}

void print(Runtime& runtime, const std::string& whose, const StartupPlan& plan,
           const std::vector<Record>& all) {
  std::string text = "startup report: " + whose + ", " + runtime.pmi().capabilities().server;
  for (const std::string& line : plan.lines()) text += "\n  " + line;
  for (const std::string& reason : runtime.transports().refused())
    text += "\n  transport not used: " + reason;
  text += "\n  shared memory: " + runtime.place().shared_memory();
  for (const std::string& reason : runtime.place().shared_memory_refused())
    text += "\n    not used: " + reason;
  for (const std::string& line : runtime.background().lines()) text += "\n  " + line;
  text += numbers_of(runtime, all);
  std::fprintf(stderr, "[starling] %s\n", text.c_str());
}

}  // namespace

void print_startup_report() {
  Runtime& runtime = *Runtime::get();
  Comm& comm = *tables().comm.find(HandleBits{0x101});
  const Record mine = own_record(runtime);
  std::vector<Record> all(comm.size());
  const auto rc = allgather_bytes(comm, std::as_bytes(std::span<const Record, 1>(&mine, 1)),
                                  std::as_writable_bytes(std::span(all)));
  if (rc != 0 || comm.rank() != 0) return;
  print(runtime, std::to_string(comm.size()) + " processes",
        runtime.builder().plan_for(*comm.group()->members()), all);
}

void print_startup_report_of_sessions() {
  static bool printed = false;  // guarded by the runtime's lock
  Runtime& runtime = *Runtime::get();
  if (printed || world().initialised || !runtime.params().boolean(kStartupReport)) return;
  printed = true;
  if (runtime.self().rank != 0) return;
  const std::uint32_t size = runtime.place().world_size();
  print(runtime,
        "rank 0 of " + std::to_string(size) + " alone, since its sessions have ended without MPI_Init",
        runtime.builder().plan_for(*make_strided(ProcId{0, 0}, 1, size)), {own_record(runtime)});
}

}  // namespace starling::mpi
