// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The sending side of a partitioned operation. Layer: mpi. MPI 5.0 section 4.2.
///
/// Threads:   under the runtime's lock.
/// Ownership: the user's buffer is borrowed; each partition until its message has left.
/// Errors:    MPI error classes (mpi/error.hpp).

#include <memory>

#include "mpi/datatype/datatype.hpp"
#include "mpi/partitioned/wire.hpp"
#include "mpi/request/request.hpp"

namespace starling::mpi::partitioned {

class Send final : public Operation {
 public:
  /// `count` elements in each partition; `dest` MPI_PROC_NULL: nothing is sent.
  Send(const void* buffer, std::uint32_t partitions, std::uint64_t count, Datatype& datatype, int dest);
  ~Send() override;

  /// Tells the receiver about this operation.
  [[nodiscard]] int offer(Comm& comm, int tag);

  int start(Request& request) override;
  int progress() noexcept override;
  int finish(MPI_Status& status) override;

  [[nodiscard]] std::uint32_t partitions() const noexcept { return partitions_; }
  [[nodiscard]] bool ready(std::uint32_t partition) const noexcept { return parts_[partition].given; }
  /// Sends one partition; it is below partitions() and not ready yet.
  void set_ready(std::uint32_t partition);

 private:
  struct Part {
    pml::Request message;
    bool given = false;
  };
  const void* buffer_;
  std::uint32_t partitions_;
  std::uint64_t count_;
  Ref<Datatype> datatype_;
  int dest_;
  std::int32_t first_tag_ = 0;
  pml::Context* context_ = nullptr;
  std::unique_ptr<Part[]> parts_;
  std::uint32_t given_ = 0;
  std::uint32_t done_ = 0;  ///< partitions below this index have left
  Request* request_ = nullptr;
};

}  // namespace starling::mpi::partitioned
