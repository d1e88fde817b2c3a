// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  From a collective call to a running schedule, in its three forms. Layer: mpi.
/// docs/design/collectives.md
///
/// MPI_X builds, starts and waits; MPI_Ix builds, starts and leaves the rest to the progress loop; MPI_X_init
/// builds only. An implementation writes its arguments once, as a function that fills a schedule, and passes
/// the form through.
///
/// Threads:   under the runtime's lock, which waiting releases.
/// Ownership: a request holds communicator, datatypes and operation until it is freed; the blocking form
///            need not.
/// Errors:    MPI error classes, with the peer whose message failed.

#include <initializer_list>
#include <vector>

#include "mpi/coll/arguments.hpp"
#include "mpi/coll/schedule.hpp"
#include "mpi/coll/select.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/handles.hpp"
#include "mpi/int_array.hpp"
#include "mpi/op/op.hpp"

namespace starling::mpi::coll {

/// The form of the call; `request` receives the handle of the last two. `function` is what the program has
/// called, as the table of functions has it: "MPI_Ibcast_c".
struct Form {
  enum class Kind : std::uint8_t { blocking, nonblocking, persistent } kind = Kind::blocking;
  const char* function = "";
  MPI_Request* request = nullptr;
};
[[nodiscard]] inline Form blocking(const char* function) { return {Form::Kind::blocking, function, nullptr}; }
[[nodiscard]] inline Form nonblocking(const char* function, MPI_Request* request) {
  return {Form::Kind::nonblocking, function, request};
}
[[nodiscard]] inline Form persistent(const char* function, MPI_Request* request) {
  return {Form::Kind::persistent, function, request};
}

// The arguments as mpi/coll sees them.
/// With the hierarchy, which is made here at the first call if the parameters want one.
[[nodiscard]] Team team_of(Comm& comm);
[[nodiscard]] Type view(const Datatype& datatype) noexcept;
[[nodiscard]] Operator view(const Op& op) noexcept;
[[nodiscard]] inline Ints view(const IntArray& array) noexcept {
  if (array.wide) return {nullptr, static_cast<const std::int64_t*>(array.data)};
  return {static_cast<const int*>(array.data), nullptr};
}
[[nodiscard]] inline std::uint64_t unsigned_count(MPI_Count count) noexcept {
  return static_cast<std::uint64_t>(count);
}
/// MPI_ROOT and MPI_PROC_NULL of an intercommunicator in mpi/coll's words.
[[nodiscard]] int root_of(const Comm& comm, int root) noexcept;
/// What the parameters ask for, read once.
[[nodiscard]] const Tuning& tuning();
/// MPI_SUCCESS, or MPI_ERR_OP if the operation is not defined for the type (MPI 5.0 section 6.9.2).
[[nodiscard]] int check_op(const Op& op, const Datatype& datatype);

/// MPI_ERR_NO_MEM, for temporary buffers.
[[nodiscard]] int no_memory(const Comm& comm);

/// Objects that the operation uses after the call has returned.
using Used = std::initializer_list<const Object*>;
using UsedList = std::vector<const Object*>;

/// One datatype per peer; each is added to `used`. The handles have been checked.
[[nodiscard]] std::vector<Type> views(const MPI_Datatype types[], std::uint32_t count, UsedList& used);

/// Fills a schedule and runs it as `form` says. `context` is handed to `build`.
using BuildFunction = void (*)(void* context, Schedule& schedule, const Team& team);
[[nodiscard]] int launch_any(const Form& form, Comm& comm, const UsedList& used, BuildFunction build,
                             void* context);
[[nodiscard]] int run_blocking(Comm& comm, BuildFunction build, void* context, const char* function);
/// A part of a blocking call that has taken its tag. `state`: of this process so far; what it passes on is
/// worthless after a disagreement; `gone`: the member that has ended. `lost_before`: an earlier call has told
/// of a loss, and this one fails if it is composed of parts.
struct Part {
  const char* function = "";
  Tag tag{0};
  enum class State : std::uint8_t { sound, worthless, lost, lost_before } state = State::sound;
  int gone = -1;
};
/// What became of it; `gone`: a member that has ended, or, with `told`, one that told of such a member.
struct PartEnd {
  int rc = MPI_SUCCESS;
  bool lost = false;
  int gone = -1;
  bool told = false;
};
[[nodiscard]] PartEnd run_part(Comm& comm, const Part& part, BuildFunction build, void* context);

template <class Build>
[[nodiscard]] int launch(const Form& form, Comm& comm, const UsedList& used, Build&& build) {
  const auto call = [](void* context, Schedule& schedule, const Team& team) {
    (*static_cast<std::remove_reference_t<Build>*>(context))(schedule, team);
  };
  return launch_any(form, comm, used, call, &build);
}
/// Only a call that returns early makes a list of what it uses.
template <class Build>
[[nodiscard]] int launch(const Form& form, Comm& comm, Used used, Build&& build) {
  return form.kind == Form::Kind::blocking ? launch(form, comm, UsedList{}, build)
                                           : launch(form, comm, UsedList(used), build);
}

}  // namespace starling::mpi::coll
