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
#include "mpi/comm/exchange.hpp"
#include "mpi/handles.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/session/session.hpp"

namespace starling::mpi {
namespace {

constexpr std::size_t kMaxPhases = 12;

struct Record {
  std::uint64_t phase_ns[kMaxPhases] = {};
  std::uint64_t pmi_operations = 0, pmi_bytes = 0, fences = 0, peers = 0, private_kib = 0, shared_kib = 0;
};

/// Private and shared resident memory of this process, from /proc/self/smaps_rollup; zeros where it cannot be
/// read.
void read_memory(Record& record) {
  std::FILE* const file = std::fopen("/proc/self/smaps_rollup", "re");
  if (file == nullptr) return;
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    unsigned long long kib = 0;
    char name[64];
    if (std::sscanf(line, "%63[^:]: %llu kB", name, &kib) != 2) continue;
    if (std::strncmp(name, "Private_", 8) == 0) record.private_kib += kib;
    if (std::strncmp(name, "Shared_", 7) == 0) record.shared_kib += kib;
  }
  std::fclose(file);
}

Record own_record(Runtime& runtime) {
  Record record;
  const auto& phases = runtime.phases();
  for (std::size_t i = 0; i < std::min(phases.size(), kMaxPhases); ++i) record.phase_ns[i] = phases[i].ns;
  const pmi::Component::Counters pmi = runtime.pmi().counters();
  record.pmi_operations = pmi.puts + pmi.gets + pmi.fences + pmi.other;
  record.pmi_bytes = pmi.bytes_sent + pmi.bytes_received;
  record.fences = pmi.fences;
  record.peers = runtime.pml().counters().peers;
  read_memory(record);
  return record;
}

template <class Get>
std::string spread(const std::vector<Record>& all, double unit, const char* format, Get get) {
  std::uint64_t low = ~std::uint64_t{0}, high = 0, sum = 0;
  for (const Record& record : all) {
    const std::uint64_t value = get(record);
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
  }
  char text[128];
  std::snprintf(text, sizeof text, format, static_cast<double>(low) / unit,
                static_cast<double>(sum) / unit / static_cast<double>(all.size()),
                static_cast<double>(high) / unit);
  return text;
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

  std::string text =
      "startup report: " + std::to_string(comm.size()) + " processes, " + runtime.pmi().capabilities().server;
  for (const std::string& line : runtime.plan_for(*comm.group()->members()).lines()) text += "\n  " + line;
  for (const std::string& reason : runtime.transports_refused()) text += "\n  transport not used: " + reason;
  text += "\n  shared memory: " + runtime.shared_memory();
  for (const std::string& reason : runtime.shared_memory_refused()) text += "\n    not used: " + reason;
  text += "\n  per rank                          min       mean        max";
  const auto add = [&text](const char* name, const std::string& numbers) {
    char line[192];
    std::snprintf(line, sizeof line, "\n  %-27s %s", name, numbers.c_str());
    text += line;
  };
  for (std::size_t i = 0; i < std::min(runtime.phases().size(), kMaxPhases); ++i) {
    add(runtime.phases()[i].name,
        spread(all, 1e6, "%7.3f ms %7.3f ms %7.3f ms", [i](const Record& r) { return r.phase_ns[i]; }));
  }
  constexpr const char* kCount = "%10.0f %10.1f %10.0f";
  add("PMI operations", spread(all, 1, kCount, [](const Record& r) { return r.pmi_operations; }));
  add("PMI bytes", spread(all, 1, kCount, [](const Record& r) { return r.pmi_bytes; }));
  add("PMI fences", spread(all, 1, kCount, [](const Record& r) { return r.fences; }));
  add("peers", spread(all, 1, kCount, [](const Record& r) { return r.peers; }));
  add("private memory (KiB)", spread(all, 1, kCount, [](const Record& r) { return r.private_kib; }));
  add("shared memory (KiB)", spread(all, 1, kCount, [](const Record& r) { return r.shared_kib; }));
  std::fprintf(stderr, "[starling] %s\n", text.c_str());
}

}  // namespace starling::mpi
