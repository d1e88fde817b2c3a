// SPDX-License-Identifier: BSD-3-Clause
// The tool interface: start, end, state. Layer: mpi. MPI 5.0 section 15.3.

#include "mpi/api/tool/tool.hpp"

#include "mpi/api.gen.hpp"
#include "mpi/api/text.hpp"
#include "mpi/runtime/environment.hpp"

namespace starling::mpi::tool {

State& state() {
  static State* const instance = new State;  // tools use it to the end of the process
  return *instance;
}

params::Registry* parameters() {
  auto found = environment();
  return found ? &(*found)->params : nullptr;
}

void refresh() {
  params::Registry* const registry = parameters();
  if (registry == nullptr) return;
  State& tool = state();
  for (const params::Value* const value : registry->all()) {
    const std::string name(value->decl.name.view());
    if (tool.known.insert(name).second) tool.names.push_back(name);
  }
}

const params::Value* variable(int index) {
  const State& tool = state();
  if (index < 0 || static_cast<std::size_t>(index) >= tool.names.size()) return nullptr;
  params::Registry* const registry = parameters();
  return registry == nullptr ? nullptr : registry->find(tool.names[static_cast<std::size_t>(index)]);
}

void give_text(std::string_view text, char* to, int* length) {
  if (length == nullptr) return;
  if (to != nullptr && *length > 0) copy_text(text, to, static_cast<std::size_t>(*length));
  *length = static_cast<int>(text.size()) + 1;
}

}  // namespace starling::mpi::tool

namespace starling::mpi::api {

int T_init_thread(int, int* provided) {
  tool::State& tool = tool::state();
  const std::scoped_lock lock(tool.mutex);
  if (tool::parameters() == nullptr) return MPI_T_ERR_CANNOT_INIT;
  ++tool.initialised;
  tool::refresh();
  if (provided != nullptr) *provided = MPI_THREAD_MULTIPLE;  // every call holds a lock of its own
  return MPI_SUCCESS;
}

int T_finalize() {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (--tool::state().initialised == 0) {
    tool::state().sessions.clear();
    tool::state().handles.clear();
  }
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
