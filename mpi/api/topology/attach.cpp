// SPDX-License-Identifier: BSD-3-Clause
// Communicators with a topology. Layer: mpi. MPI 5.0 chapter 8.

#include "mpi/api/topology/attach.hpp"

#include "mpi/error.hpp"
#include "mpi/group/algebra.hpp"
#include "mpi/handles.hpp"

namespace starling::mpi {

Made first_members(Comm& parent, int count) {
  if (static_cast<std::uint32_t>(count) == parent.size()) return CommFactory::duplicate(parent);
  const RankRange first{0, count - 1, 1};
  auto members = include_ranges(parent.group()->members(), {&first, 1});
  if (!members) return {error(members.error()), nullptr};
  return CommFactory::create(parent, Ref<Group>::adopt(new Group(std::move(*members))));
}

int give(const Made& made, std::shared_ptr<const Topology> topology, MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  if (made.comm == nullptr) return made.error_class;
  made.comm->topology = std::move(topology);
  *newcomm = as_handle<MPI_Comm>(made.comm->handle());
  return MPI_SUCCESS;
}

int wrong_topology(const char* expected) {
  return error(MPI_ERR_TOPOLOGY, std::string("comm has no ") + expected + " topology");
}

int no_intracommunicator(const char* argument) {
  return error(MPI_ERR_COMM,
               std::string(argument) + " is an intercommunicator, an intracommunicator was expected");
}

std::string unexpected(const std::string& name, long long value, const std::string& what) {
  return name + " is " + std::to_string(value) + ", expected " + what;
}

std::string element(const char* array, std::size_t index) {
  return std::string(array) + "[" + std::to_string(index) + "]";
}

}  // namespace starling::mpi
