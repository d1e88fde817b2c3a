// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  State of the tool interface: initialisations, the list of control variables, tool sessions.
/// Layer: mpi. MPI 5.0 chapter 15.
///
/// Every parameter is a control variable; values do not change after they are read, so all are read-only.
/// Performance variables are in variables.hpp. There are no categories and events yet, which the standard
/// allows.
///
/// Threads:   any; every member is used under `mutex`.
/// Ordering:  the index of a variable never changes; parameters that are declared later are added at the end.
/// Errors:    MPI_T error codes, never an error handler.

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mpi.h"
#include "params/registry.hpp"

namespace starling::mpi::tool {

struct State {
  std::mutex mutex;
  int initialised = 0;             ///< MPI_T_init_thread less MPI_T_finalize
  std::vector<std::string> names;  ///< of control variables, by index
  std::set<std::string, std::less<>> known;
  std::set<std::uintptr_t> sessions;  ///< tool sessions that are open
  struct Handle {
    std::uintptr_t session;
    std::size_t variable;  ///< index
  };
  std::map<std::uintptr_t, Handle> handles;  ///< of performance variables
  std::uintptr_t last_object = 0x1000;       ///< sessions and handles, never used twice
};
[[nodiscard]] State& state();

/// Holds the mutex; false when MPI_T is not initialised.
class Guard {
 public:
  Guard() : lock_(state().mutex) {}
  [[nodiscard]] bool ready() const { return state().initialised > 0; }

 private:
  std::scoped_lock<std::mutex> lock_;
};

/// The parameters of this process; null if their files do not parse.
[[nodiscard]] params::Registry* parameters();
/// Adds variables for what has been declared since the last call.
void refresh();
/// The variable with this index; null if there is none.
[[nodiscard]] const params::Value* variable(int index);

/// Texts of the tool interface (section 15.3.3): *length is the room on entry, the length with its NUL on
/// return; both may be null.
void give_text(std::string_view text, char* to, int* length);

}  // namespace starling::mpi::tool
