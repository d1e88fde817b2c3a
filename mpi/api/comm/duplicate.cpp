// SPDX-License-Identifier: BSD-3-Clause
// Duplicating communicators, also without waiting. What is hard: the nonblocking forms make the communicator
// from the progress loop, and the user's variable gets it there. Layer: mpi. MPI 5.0 section 7.4.2.

#include "mpi/creation/duplicate.hpp"

#include <memory>
#include <new>

#include "mpi/api.gen.hpp"
#include "mpi/api/comm/give.hpp"
#include "mpi/comm/hints.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "mpi/info/info.hpp"
#include "mpi/request/request.hpp"
#include "mpi/runtime/waiting.hpp"

namespace starling::mpi::api {
namespace {

/// The duplication behind a request.
class Duplicating final : public Operation {
 public:
  Duplicating(Comm& parent, Ref<Info> info, MPI_Comm* newcomm)
      : duplication_(parent, std::move(info), Comm::Form::nonblocking), newcomm_(newcomm) {}
  ~Duplicating() override { Runtime::get()->polling().remove(*this); }

  int start(Request& request) override {
    request_ = &request;
    duplication_.start();
    if (progress() == 0) Runtime::get()->polling().add(*this);
    return MPI_SUCCESS;
  }
  int progress() noexcept override {
    if (!duplication_.advance()) return 0;
    Runtime::get()->polling().remove(*this);
    end();
    request_->core.complete.store(true, std::memory_order_release);
    return 1;
  }
  [[nodiscard]] std::string describe() const override {
    return std::string(names::Comm_idup) + " of " + duplication_.state();
  }
  [[nodiscard]] bool calls_program() const noexcept override { return duplication_.calls_program(); }
  int finish(MPI_Status&) override {
    return outcome_ == MPI_SUCCESS ? MPI_SUCCESS : error_on(*request_->comm, outcome_, detail_);
  }

 private:
  void end() noexcept {
    try {
      outcome_ = give(duplication_.finish(), newcomm_);
      if (outcome_ != MPI_SUCCESS) detail_ = last_error_detail();
    } catch (const std::bad_alloc&) {
      outcome_ = MPI_ERR_NO_MEM;
    }
  }

  Duplication duplication_;
  MPI_Comm* newcomm_;
  Request* request_ = nullptr;
  int outcome_ = MPI_SUCCESS;
  std::string detail_;
};

int duplicate(Comm& comm, Ref<Info> info, MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  // Waiting gives the lock away: another thread may free the parent meanwhile.
  const Ref<Comm> parent = Ref<Comm>::share(&comm);
  Duplication duplication(comm, std::move(info), Comm::Form::blocking);
  duplication.start();
  const auto what = [&] { return std::string(names::Comm_dup) + " of " + duplication.state(); };
  const Waiting waiting(what);
  Runtime::get()->waits().wait([&] { return duplication.advance(); });
  return give(duplication.finish(), newcomm);
}

int duplicate(Comm& comm, Ref<Info> info, MPI_Comm* newcomm, MPI_Request* handle) {
  *newcomm = MPI_COMM_NULL;
  Request* const request = Request::make(Request::Form::operation);
  request->comm = Ref<Comm>::share(&comm);
  request->operation = std::make_unique<Duplicating>(comm, std::move(info), newcomm);
  *handle = as_handle<MPI_Request>(request->handle());
  return request->start();
}

}  // namespace

// Hints do not pass to the duplicate (since MPI-4.0).
int Comm_dup(Comm& comm, MPI_Comm* newcomm) { return duplicate(comm, {}, newcomm); }

int Comm_dup_with_info(Comm& comm, Info* info, MPI_Comm* newcomm) {
  return duplicate(comm, known_hints(info), newcomm);
}

int Comm_idup(Comm& comm, MPI_Comm* newcomm, MPI_Request* request) {
  return duplicate(comm, {}, newcomm, request);
}

int Comm_idup_with_info(Comm& comm, Info* info, MPI_Comm* newcomm, MPI_Request* request) {
  return duplicate(comm, known_hints(info), newcomm, request);
}

}  // namespace starling::mpi::api
