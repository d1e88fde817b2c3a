// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What an MPI_Request stands for. Layer: mpi. MPI 5.0 section 3.7.
///
/// Threads:   used under the runtime's lock; `core.complete` may be read without it.
/// Ownership: a request keeps its communicator and datatype alive until it is freed. An operation in progress
///            keeps its request: MPI_Request_free of an active request detaches it, and it is freed when its
///            operation ends.
/// Errors:    error is MPI_SUCCESS or what the completed operation ended with.

#include <cstddef>
#include <memory>

#include "frameworks/pml/request.hpp"
#include "mpi.h"
#include "mpi/comm/comm.hpp"
#include "mpi/handle.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {

class Datatype;
class ManagedBuffer;

/// A nonblocking operation that is more than one message: a collective's schedule, a generalised request. It
/// says that it has ended by storing true to Request::core.complete (release).
class Operation : public Progressable {
 public:
  /// Starts the operation; persistent forms are started again and again. Returns an MPI error class.
  [[nodiscard]] virtual int start(class Request& request) = 0;
  /// Fills the status of the completed operation, which is empty before; returns the operation's error class.
  [[nodiscard]] virtual int finish(MPI_Status& status) {
    (void)status;
    return MPI_SUCCESS;
  }
  virtual int cancel(bool complete) {
    (void)complete;
    return MPI_ERR_REQUEST;
  }
  /// Called when the user is done with the completed operation, before it is destroyed.
  [[nodiscard]] virtual int release() { return MPI_SUCCESS; }
  /// The user has got the status of the completed operation, and not MPI_STATUS_IGNORE.
  virtual void told() noexcept {}
  /// The receive without which it does not end, if it waits for nothing else; else null.
  [[nodiscard]] virtual pml::Request* awaited() noexcept { return nullptr; }
  /// The buffer of a receive for which the library provides it (mpi/managed), else null.
  [[nodiscard]] virtual ManagedBuffer* managed() noexcept { return nullptr; }
  /// A one-sided operation (section 12.3.5).
  [[nodiscard]] virtual bool one_sided() const noexcept { return false; }
  /// Whether a call of the user ends it, and not progress. That call then frees a detached request.
  [[nodiscard]] virtual bool ended_by_user() const noexcept { return false; }
};

class Request final : public GuardedObject {
 public:
  enum class Form : std::uint8_t { send, receive, operation, proc_null, sent, moved };

  Request() = default;
  ~Request() override;

  /// Takes a request from the pool, with a handle.
  [[nodiscard]] static Request* make(Form form);
  /// The one request, complete for ever, that stands for every send that was done when its call returned:
  /// most sends of short messages need no request of their own. Form::sent; free() leaves it alone.
  [[nodiscard]] static Request& sent();
  /// As sent(), for one-sided operations. Form::moved.
  [[nodiscard]] static Request& moved();
  /// Gives it back: handle, references, buffers.
  void free();

  /// Whether it has completed without an error, and only has to be freed.
  [[nodiscard]] bool plain() const noexcept {
    return form != Form::operation && !persistent && core.status.fault == pml::Fault::none;
  }

  /// Whether it is that of a one-sided operation, which can only be waited for and tested (section 12.3.5).
  [[nodiscard]] bool one_sided() const noexcept {
    return form == Form::moved || (operation != nullptr && operation->one_sided());
  }

  /// Starts a send, receive or operation whose fields are set; also a persistent one.
  [[nodiscard]] int start();
  [[nodiscard]] bool done() const noexcept { return core.complete.load(std::memory_order_acquire); }
  /// Whether it waits for a message that cannot come any more, since those that could have sent it have left
  /// in order. Calls that do not block leave it as it is.
  [[nodiscard]] bool hopeless() noexcept;
  /// For calls that would wait for ever: ends it with an error if it is hopeless. Whether it is done.
  bool give_up() noexcept;
  /// Waits until it is done, or gives it up. `function`: for hang help.
  void wait(const char* function) {
    if (!Runtime::get()->waits().watch_shortly([this] { return done(); })) wait_long(function);
  }
  /// Result of a completed request into `status`; returns its error class.
  [[nodiscard]] int result(MPI_Status& status);

  pml::Request core;
  Form form = Form::send;
  bool persistent = false;
  bool active = false;
  bool detached = false;  ///< MPI_Request_free while active
  Ref<Comm> comm;
  Ref<Datatype> datatype;
  std::unique_ptr<Operation> operation;
  bool buffered = false;         ///< a (persistent) buffered send: every start copies and completes at once
  Request* next_free = nullptr;  ///< in the pool

 private:
  [[nodiscard]] pml::Request* awaited() noexcept;
  void wait_long(const char* function);
  void destroy() noexcept override;
};

/// Copies the message of a buffered send into the attached buffer and completes the request
/// (mpi/request/buffered.hpp).
[[nodiscard]] int start_buffered(Request& request);

}  // namespace starling::mpi
