// SPDX-License-Identifier: BSD-3-Clause
// Completion of several requests at once. What is hard: errors of single operations travel in the statuses,
// and the call then ends with MPI_ERR_IN_STATUS (MPI 5.0 section 3.7.5); without an error the MPI_ERROR
// fields stay as they are (section 3.2.5). Layer: mpi.

#include "mpi/api/pt2pt/several.hpp"

#include <string>

#include "core/clock.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "mpi/names.gen.hpp"
#include "mpi/request/fault.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/status.hpp"

namespace starling::mpi {
namespace {

/// What went wrong first, for the message of MPI_ERR_IN_STATUS.
struct FirstError {
  int error_class = MPI_SUCCESS;
  std::size_t index = 0;
  std::string detail;
  HandleBits comm = 0;

  [[gnu::cold]] void note(int rc, std::size_t at, HandleBits on) {
    if (error_class != MPI_SUCCESS) return;
    error_class = rc;
    index = at;
    detail = std::string(last_error_detail());
    comm = on;
  }
  [[nodiscard]] int result() const {
    if (error_class == MPI_SUCCESS) return MPI_SUCCESS;
    std::string text =
        "the operation of request " + std::to_string(index) + " ended with an error: " + detail;
    // The completed operation may have been the last that kept its communicator alive.
    const Comm* const alive = comm != 0 ? find_comm(as_handle<MPI_Comm>(comm)) : nullptr;
    return alive != nullptr ? error_on(*alive, MPI_ERR_IN_STATUS, std::move(text))
                            : error(MPI_ERR_IN_STATUS, std::move(text));
  }
};

/// Of the communicator whose error handler hears of this operation; 0: none.
HandleBits comm_of(const Request& request) noexcept { return request.comm ? request.comm->handle() : 0; }

MPI_Status* nth(MPI_Status statuses[], std::size_t index) noexcept {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[index];
}

}  // namespace

bool none_active(const std::vector<Slot>& slots) noexcept {
  for (const Slot& slot : slots) {
    if (slot.request != nullptr) return false;
  }
  return true;
}

bool find_done(const std::vector<Slot>& slots, std::size_t* index) noexcept {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].request == nullptr || !slots[i].request->done()) continue;
    *index = i;
    return true;
  }
  return false;
}

bool all_done(const std::vector<Slot>& slots) noexcept {
  for (const Slot& slot : slots) {
    if (slot.request != nullptr && !slot.request->done()) return false;
  }
  return true;
}

bool give_up(const std::vector<Slot>& slots, std::size_t most) noexcept {
  for (const Slot& slot : slots) {
    if (slot.request != nullptr && !slot.request->hopeless()) return false;
  }
  for (const Slot& slot : slots) {
    if (slot.request == nullptr) continue;
    if (most-- == 0) break;
    (void)slot.request->give_up();
  }
  return true;
}

int nothing_to_wait_for(int* index, MPI_Status* status) {
  *index = MPI_UNDEFINED;
  if (status != MPI_STATUS_IGNORE) set_empty(*status);
  return MPI_SUCCESS;
}

int look_at_all(MPI_Count count, MPI_Request handles[], bool* done) {
  *done = true;
  if (const int rc = of_one_session(count, handles); rc != MPI_SUCCESS) return rc;
  for (MPI_Count i = 0; i < count; ++i) {
    Request* request = nullptr;
    if (!find_active(handles[i], &request)) [[unlikely]]
      return not_live(i);
    if (request != nullptr && !request->done()) *done = false;
  }
  return MPI_SUCCESS;
}

bool FailureLook::failed(MPI_Count from) noexcept {
  constexpr std::uint64_t kLookNs = 10'000'000;
  const std::uint64_t now = now_ns();
  if (next_ns_ == 0) next_ns_ = now + kLookNs;
  if (failed_ || now < next_ns_) return failed_;
  next_ns_ = now + kLookNs;
  for (MPI_Count i = from; i < count_ && !failed_; ++i) {
    Request* request = nullptr;
    if (!find_active(handles_[i], &request) || request == nullptr || !request->done()) continue;
    failed_ = request->comm && failed_here(request->core, *request->comm);
  }
  return failed_;
}

namespace {

/// Waits for one of an array, until it is done or another one has failed here.
void wait_in_turn(Request& request, MPI_Count index, FailureLook& look) {
  Waits& waits = Runtime::get()->waits();
  if (waits.watch_shortly([&] { return request.done(); })) return;
  waits.watch_long(names::Waitall, [&] { return request.give_up() || look.failed(index + 1); });
}

/// The statuses of an array, whose error fields are written from the first error on.
class Statuses {
 public:
  explicit Statuses(MPI_Status* statuses) noexcept : statuses_(statuses) {}
  [[nodiscard]] MPI_Status* at(std::size_t index) const noexcept { return nth(statuses_, index); }
  /// For each index in turn.
  void note(std::size_t index, int code) noexcept {
    if (statuses_ == MPI_STATUSES_IGNORE) return;
    if (code != MPI_SUCCESS && !errors_) {
      errors_ = true;
      for (std::size_t earlier = 0; earlier < index; ++earlier) statuses_[earlier].MPI_ERROR = MPI_SUCCESS;
    }
    if (errors_) statuses_[index].MPI_ERROR = code;
  }

 private:
  MPI_Status* statuses_;
  bool errors_ = false;
};

}  // namespace

int complete_all(MPI_Count count, MPI_Request handles[], MPI_Status array_of_statuses[]) {
  FirstError first;
  Statuses statuses(array_of_statuses);
  FailureLook look(count, handles);
  bool failed = false;  // one has failed here: the others are not waited for
  for (MPI_Count i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    MPI_Status* const status = statuses.at(index);
    Request* request = nullptr;
    (void)find_active(handles[i], &request);  // look_at_all() has found it good
    if (request == nullptr) {
      if (status != MPI_STATUS_IGNORE) set_empty(*status);
      continue;
    }
    if (!request->done() && !failed) wait_in_turn(*request, i, look);
    if (!request->done()) [[unlikely]] {
      statuses.note(index, MPI_ERR_PENDING);
      failed = true;
      continue;
    }
    const HandleBits comm = comm_of(*request);
    failed = failed || (!request->plain() && request->comm && failed_here(request->core, *request->comm));
    const int code = complete(&handles[i], *request, status);
    if (code != MPI_SUCCESS) [[unlikely]]
      first.note(code, index, comm);
    statuses.note(index, code);
  }
  return first.result();
}

int complete_some(std::vector<Slot>& slots, int* outcount, int indices[], MPI_Status statuses[]) {
  FirstError first;
  int done = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].request == nullptr || !slots[i].request->done()) continue;
    const HandleBits comm = comm_of(*slots[i].request);
    slots[i].code = complete(slots[i], nth(statuses, static_cast<std::size_t>(done)));
    if (slots[i].code != MPI_SUCCESS) first.note(slots[i].code, i, comm);
    indices[done++] = static_cast<int>(i);
  }
  *outcount = done;
  if (first.error_class != MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE) {
    for (int i = 0; i < done; ++i) statuses[i].MPI_ERROR = slots[static_cast<std::size_t>(indices[i])].code;
  }
  return first.result();
}

}  // namespace starling::mpi
