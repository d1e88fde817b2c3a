// SPDX-License-Identifier: BSD-3-Clause
// Layer: mpi. MPI 5.0 section 15.3.7; docs/user-guide.md lists the names.

#include "mpi/api/tool/variables.hpp"

#include <array>
#include <cstring>

#include "mpi/runtime/traffic.hpp"

namespace starling::mpi::tool {
namespace {

struct Protocol {
  const char* name;
  const char* help;
  pml::Traffic::Messages pml::Traffic::*messages;
};
constexpr std::array kProtocols = {
    Protocol{"eager", "sent at once", &pml::Traffic::eager},
    Protocol{"ring", "announced, then pushed in fragments", &pml::Traffic::ring},
    Protocol{"get", "announced, then copied by the receiver", &pml::Traffic::get}};

constexpr std::array<const char*, 3> kPairs = {"to this process", "to others of its node", "to other nodes"};

/// `which`: class of pairs times the number of protocols, plus protocol.
pml::Traffic::Messages sent(Runtime& runtime, std::size_t which) {
  pml::Traffic sum;
  for (const ClassTraffic& traffic : class_traffic(runtime)) {
    if (static_cast<std::size_t>(traffic.pairs) == which / kProtocols.size()) sum += traffic.sent;
  }
  return sum.*kProtocols[which % kProtocols.size()].messages;
}

void add_messages(std::vector<PerformanceVariable>& all) {
  for (std::size_t which = 0; which < kPairs.size() * kProtocols.size(); ++which) {
    const std::size_t pairs = which / kProtocols.size();
    const Protocol& protocol = kProtocols[which % kProtocols.size()];
    const std::string name = "pml_" + std::string(kPairClassNames[pairs]) + "_" + protocol.name;
    const std::string help =
        std::string(" sent ") + kPairs[pairs] + ", those of collectives included: " + protocol.help;
    all.push_back({name + "_messages", "Messages" + help, MPI_T_PVAR_CLASS_COUNTER,
                   [](Runtime& runtime, std::size_t at) { return sent(runtime, at).count; }, which});
    all.push_back({name + "_bytes", "Bytes" + help, MPI_T_PVAR_CLASS_AGGREGATE,
                   [](Runtime& runtime, std::size_t at) { return sent(runtime, at).bytes; }, which});
  }
}

void add_matching(std::vector<PerformanceVariable>& all) {
  using Counters = pml::Component::Counters;
  static constexpr std::array<std::uint64_t Counters::*, 4> kMembers = {
      &Counters::credit_stalls, &Counters::unexpected, &Counters::unexpected_bytes,
      &Counters::unexpected_bytes_max};
  const auto value = [](Runtime& runtime, std::size_t which) {
    return runtime.pml().counters().*kMembers[which];
  };
  all.push_back({"pml_peers", "Processes that this one has sent to or heard of", MPI_T_PVAR_CLASS_COUNTER,
                 [](Runtime& runtime, std::size_t) { return runtime.peers().counters().peers; }, 0});
  all.push_back({"pml_credit_stalls",
                 "Short messages that were announced first, since the receiver held as much as it may",
                 MPI_T_PVAR_CLASS_COUNTER, value, 0});
  all.push_back({"pml_unexpected_messages", "Messages that came before their receive",
                 MPI_T_PVAR_CLASS_COUNTER, value, 1});
  all.push_back({"pml_unexpected_bytes", "Memory that such messages take now, in bytes",
                 MPI_T_PVAR_CLASS_LEVEL, value, 2});
  all.push_back({"pml_unexpected_bytes_max", "Memory that they took at most, in bytes",
                 MPI_T_PVAR_CLASS_HIGHWATERMARK, value, 3});
}

struct StartupPhase {
  const char* name;
  const char* phase;  // Runtime::phases()
};
constexpr std::array kPhases = {StartupPhase{"parameters", "parameters and plugin index"},
                                StartupPhase{"process_manager", "process manager"},
                                StartupPhase{"check", "parameter check"},
                                StartupPhase{"place", "place on the node"},
                                StartupPhase{"segment", "shared segment"},
                                StartupPhase{"transports", "pml and transports"},
                                StartupPhase{"bootstrap", "bootstrap"},
                                StartupPhase{"network", "network transports"},
                                StartupPhase{"creation", "communicators from groups"}};

std::uint64_t phase_ns(Runtime& runtime, std::size_t which) {
  for (const Phase& phase : runtime.phases()) {
    if (std::strcmp(phase.name, kPhases[which].phase) == 0) return phase.ns;
  }
  return 0;
}

void add_startup(std::vector<PerformanceVariable>& all) {
  for (std::size_t which = 0; which < kPhases.size(); ++which) {
    all.push_back({std::string("startup_") + kPhases[which].name + "_seconds",
                   std::string("Time of a phase of the start: ") + kPhases[which].phase,
                   MPI_T_PVAR_CLASS_TIMER, &phase_ns, which});
  }
  all.push_back({"pmi_operations", "Requests to the process manager", MPI_T_PVAR_CLASS_COUNTER,
                 [](Runtime& runtime, std::size_t) {
                   const pmi::Component::Counters counters = runtime.pmi().counters();
                   return counters.puts + counters.gets + counters.fences + counters.other;
                 },
                 0});
  all.push_back({"pmi_fences", "Fences of the process manager that this process took part in",
                 MPI_T_PVAR_CLASS_COUNTER,
                 [](Runtime& runtime, std::size_t) { return runtime.pmi().counters().fences; }, 0});
  all.push_back({"network_endpoints", "Connections to other nodes that this process has made for sending",
                 MPI_T_PVAR_CLASS_COUNTER,
                 [](Runtime& runtime, std::size_t) { return runtime.transports().network_endpoints(); }, 0});
  all.push_back({"pmi_bytes", "Bytes to and from the process manager", MPI_T_PVAR_CLASS_AGGREGATE,
                 [](Runtime& runtime, std::size_t) {
                   const pmi::Component::Counters counters = runtime.pmi().counters();
                   return counters.bytes_sent + counters.bytes_received;
                 },
                 0});
}

void add_waits(std::vector<PerformanceVariable>& all) {
  static constexpr std::array<std::uint64_t Sleeps::*, 3> kMembers = {&Sleeps::all, &Sleeps::to_limit,
                                                                      &Sleeps::missed};
  const auto value = [](Runtime& runtime, std::size_t which) {
    return runtime.polling().sleeper().counts.*kMembers[which];
  };
  all.push_back(
      {"wait_sleeps", "Times that a waiting thread went to sleep", MPI_T_PVAR_CLASS_COUNTER, value, 0});
  all.push_back({"wait_sleeps_to_limit", "Sleeps that ended at their limit of 0.1 s, since nobody rang",
                 MPI_T_PVAR_CLASS_COUNTER, value, 1});
  all.push_back({"wait_sleeps_missed",
                 "Of these, those in which something had come for which nobody rang: a wake-up was lost",
                 MPI_T_PVAR_CLASS_COUNTER, value, 2});
}

void add_memory(std::vector<PerformanceVariable>& all) {
  all.push_back({"alloc_mem_shared", "Pieces from MPI_Alloc_mem that other processes of the node can map",
                 MPI_T_PVAR_CLASS_LEVEL,
                 [](Runtime& runtime, std::size_t) {
                   return static_cast<std::uint64_t>(runtime.allocated_memory().shared());
                 },
                 0});
  all.push_back({"btl_mapped_gets", "Copies out of mapped memory of other processes of the node",
                 MPI_T_PVAR_CLASS_COUNTER,
                 [](Runtime& runtime, std::size_t) {
                   std::uint64_t sum = 0;
                   for (const btl::Component* transport : runtime.transports().all())
                     sum += transport->counters().mapped_gets;
                   return sum;
                 },
                 0});
}

void add_progress_thread(std::vector<PerformanceVariable>& all) {
  using Counters = ProgressThread::Counters;
  static constexpr std::array<std::atomic<std::uint64_t> Counters::*, 3> kMembers = {
      &Counters::wakes, &Counters::events, &Counters::looks};
  const auto value = [](Runtime& runtime, std::size_t which) {
    return (runtime.background().counters().*kMembers[which]).load(std::memory_order_relaxed);
  };
  all.push_back({"progress_thread_wakes", "Times that something came while the progress thread listened",
                 MPI_T_PVAR_CLASS_COUNTER, value, 0});
  all.push_back({"progress_thread_events", "Events of the progress that the thread made",
                 MPI_T_PVAR_CLASS_COUNTER, value, 1});
  all.push_back({"progress_thread_looks",
                 "Times that the thread looked whether the program is outside of MPI again",
                 MPI_T_PVAR_CLASS_COUNTER, value, 2});
}

}  // namespace

const std::vector<PerformanceVariable>& performance_variables() {
  static const auto* const all = [] {
    auto* const made = new std::vector<PerformanceVariable>;  // tools read it to the end of the process
    add_messages(*made);
    add_matching(*made);
    add_startup(*made);
    add_waits(*made);
    add_memory(*made);
    add_progress_thread(*made);
    return made;
  }();
  return *all;
}

}  // namespace starling::mpi::tool
