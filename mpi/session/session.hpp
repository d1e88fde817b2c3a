// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What an MPI_Session stands for. Layer: mpi. MPI 5.0 section 11.3.
///
/// Groups, communicators and requests hold a reference to the session that they come from; the world model's
/// hold none. Opening and closing the runtime for a session: mpi/world/open.hpp.
///
/// Threads: under the runtime's lock.

#include <memory>

#include "mpi/errhandler/errhandler.hpp"
#include "mpi/handle.hpp"
#include "mpi/info/info.hpp"

namespace starling::mpi {

class BsendBuffer;  // mpi/request/buffered.hpp

class Session final : public Object {
 public:
  explicit Session(int thread_level_given) noexcept : thread_level(thread_level_given) {}
  Ref<Errhandler> errhandler;
  Ref<Info> info;                             ///< hints that were given and are used: "thread_level"
  int thread_level;                           ///< MPI_THREAD_*, what it may do
  std::shared_ptr<BsendBuffer> bsend_buffer;  ///< or null: none was ever attached
};

}  // namespace starling::mpi
