// SPDX-License-Identifier: BSD-3-Clause
// What people call a communicator, and finding it by what its messages carry. Layer: mpi.

#include <cstdio>
#include <unordered_map>

#include "mpi/comm/comm.hpp"

namespace starling::mpi {
namespace {

/// Communicators that live, by the bits of their id. Never destroyed: communicators may outlive main.
std::unordered_map<ContextId, const Comm*>& alive() {
  static auto* const all = new std::unordered_map<ContextId, const Comm*>;
  return *all;
}

}  // namespace

void Comm::make_known() const { alive()[id().on(Channel::point_to_point)] = this; }
void Comm::forget() const noexcept { alive().erase(id().on(Channel::point_to_point)); }

std::string Comm::label() const {
  if (name.rfind("MPI_COMM_", 0) == 0) return name;
  if (!name.empty()) return "\"" + name + "\"";
  char text[64];
  std::snprintf(text, sizeof text, "an unnamed %scommunicator of %u (id %llx)", inter() ? "inter" : "", size_,
                static_cast<unsigned long long>(id().bits >> 3));
  return text;
}

std::string Comm::label_of(ContextId id) {
  const auto found = alive().find(id.on(Channel::point_to_point));
  return found != alive().end() ? found->second->label() : "a communicator that was freed";
}

}  // namespace starling::mpi
