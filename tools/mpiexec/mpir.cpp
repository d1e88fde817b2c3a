// SPDX-License-Identifier: BSD-3-Clause
// The MPIR process table. Layer: tools.

#include "tools/mpiexec/mpir.hpp"

#include <deque>
#include <vector>

struct MPIR_PROCDESC {
  char* host_name;
  char* executable_name;
  int pid;
};

// Definitions with C linkage in a block, so that they need no declarations in a header.
extern "C" {
[[gnu::used, gnu::visibility("default")]] MPIR_PROCDESC* MPIR_proctable = nullptr;
[[gnu::used, gnu::visibility("default")]] int MPIR_proctable_size = 0;
[[gnu::used, gnu::visibility("default")]] volatile int MPIR_being_debugged = 0;
[[gnu::used, gnu::visibility("default")]] volatile int MPIR_debug_state = 0;
[[gnu::used, gnu::visibility("default")]] int MPIR_i_am_starter = 0;
[[gnu::used, gnu::visibility("default")]] int MPIR_partial_attach_ok = 1;
/// Debuggers put a breakpoint here; it must exist as a call.
[[gnu::used, gnu::noinline, gnu::visibility("default")]] void MPIR_Breakpoint() {
  asm volatile("" ::: "memory");
}
}

namespace starling::mpiexec {
namespace {

struct Table {
  std::vector<MPIR_PROCDESC> entries;
  std::deque<std::string> texts;  ///< stable addresses
  char* keep(const std::string& text) {
    // Neighbours usually have the same host and program.
    for (std::size_t back = 1; back <= 2 && back <= texts.size(); ++back) {
      if (texts[texts.size() - back] == text) return texts[texts.size() - back].data();
    }
    return texts.emplace_back(text).data();
  }
};

/// The debugger reads it until this process ends.
Table& table() {
  static Table* const kept = new Table;
  return *kept;
}

}  // namespace

void mpir_prepare(std::uint32_t size) { table().entries.reserve(size); }

void mpir_add(std::uint32_t, const std::string& host, const std::string& program, pid_t pid) {
  table().entries.push_back({table().keep(host), table().keep(program), pid});
}

void mpir_spawned() {
  constexpr int kSpawned = 1;
  MPIR_proctable = table().entries.data();
  MPIR_proctable_size = static_cast<int>(table().entries.size());
  MPIR_debug_state = kSpawned;
  if (MPIR_being_debugged != 0) MPIR_Breakpoint();
}

}  // namespace starling::mpiexec
