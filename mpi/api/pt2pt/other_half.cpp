// SPDX-License-Identifier: BSD-3-Clause
// The receive of a send-receive whose send has failed. Layer: mpi.

#include "mpi/api/pt2pt/other_half.hpp"

#include <string>

#include "mpi/comm/comm.hpp"
#include "mpi/errhandler/errhandler.hpp"
#include "mpi/error.hpp"
#include "mpi/request/fault.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {

void end_other_half(const char* function, const pml::Request& sent, pml::Request& receive, const Comm& comm) {
  if (sent.status.fault == pml::Fault::none || !failed_here(sent, comm)) return;
  Runtime::get()->pml().cancel(receive);
  if (receive.complete.load(std::memory_order_acquire) || !comm.errhandler) return;
  const Errhandler::Action action = comm.errhandler->action();
  if (action != Errhandler::Action::fatal && action != Errhandler::Action::abort) return;
  const int code = fault_error(sent, &comm);
  (void)comm.errhandler->invoke(Kind::comm, comm.handle(), code,
                                std::string(function) + ": " + std::string(last_error_detail()));
}

}  // namespace starling::mpi
