// SPDX-License-Identifier: BSD-3-Clause
// Windows: what they hold. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/window.hpp"

#include <utility>

#include "mpi/creation/factory.hpp"
#include "mpi/error.hpp"
#include "mpi/onesided/part.hpp"

namespace starling::mpi {

Win::Win(Comm& comm, int flavor) noexcept : comm_(&comm), flavor_(flavor) {}

Win::~Win() {
  active_messages.reset();  // they use the control words
  part.reset();             // it uses the communicator
  CommFactory::release(*comm_);
}

std::string Win::label() const {
  return "window" + (name.empty() ? std::string() : " '" + name + "'") + " of " + std::to_string(size()) +
         (size() == 1 ? " rank" : " ranks");
}

std::string Win::label(std::uint32_t rank) const {
  return label() + ", target " + std::to_string(rank) + " (" + std::to_string(target(rank).size) + " bytes)";
}

const Target* Win::near(std::uint32_t rank, std::uint64_t address, std::uint64_t bytes) const noexcept {
  const std::uint32_t seat = target(rank).seat;
  if (seat >= parts_.near.size() || parts_.near[seat].path != Path::copy) return nullptr;
  const bool listed = control_.attached(seat).find(address, bytes).look == shm::Look::found;
  return listed ? &parts_.near[seat] : nullptr;
}

void Win::take(WinParts parts, Control::More more) {
  parts_ = std::move(parts);
  std::byte* const extent = parts_.extent.data();
  control_ = Control(extent != nullptr ? extent : parts_.control.data(),
                     static_cast<std::uint32_t>(parts_.domain.local_peers.size()), more);
  epochs.held.assign(size(), Held::nothing);
  constants.base = own().base;
  constants.size = static_cast<MPI_Aint>(own().size);
  constants.unit = static_cast<int>(own().unit);
  constants.flavor = flavor_;
}

int on_window(int error_class) {
  return error_class == MPI_SUCCESS ? MPI_SUCCESS : error(error_class, std::string(last_error_detail()));
}

}  // namespace starling::mpi
