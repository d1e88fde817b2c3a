// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The receiving side of a partitioned operation. Layer: mpi. MPI 5.0 section 4.2.
///
/// Threads:   under the runtime's lock.
/// Ownership: the user's buffer is borrowed while the operation is active.
/// Errors:    MPI error classes (mpi/error.hpp). If the two sides differ in their sizes: MPI_ERR_TRUNCATE for
///            a longer send, of which nothing is written; MPI_ERR_COUNT for a shorter one, which is delivered
///            and counted.

#include <memory>
#include <vector>

#include "mpi/datatype/datatype.hpp"
#include "mpi/partitioned/wire.hpp"
#include "mpi/request/request.hpp"

namespace starling::mpi::partitioned {

class Receive final : public Operation {
 public:
  Receive(void* buffer, std::uint32_t partitions, std::uint64_t count, Datatype& datatype, int source);
  ~Receive() override;

  /// Waits in the background for the sender's offer.
  [[nodiscard]] int expect(Comm& comm, int tag);

  int start(Request& request) override;
  int progress() noexcept override;
  int finish(MPI_Status& status) override;

  [[nodiscard]] std::uint32_t partitions() const noexcept { return partitions_; }
  /// Whether all data of one partition, which is below partitions(), are in the buffer. Does not progress.
  [[nodiscard]] bool arrived(std::uint32_t partition) const noexcept;

 private:
  /// A run of packed bytes of the whole buffer as a layout of its own.
  class Slice final : public pml::Layout {
   public:
    Slice(const Datatype& whole, std::uint64_t count, std::uint64_t begin, std::uint64_t bytes)
        : whole_(whole), count_(count), begin_(begin), bytes_(bytes) {}
    [[nodiscard]] std::uint64_t packed_bytes() const noexcept override { return bytes_; }
    void pack(const void* base, std::uint64_t, std::uint64_t offset, std::byte* to,
              std::size_t bytes) const noexcept override {
      whole_.pack(base, count_, begin_ + offset, to, bytes);
    }
    void unpack(void* base, std::uint64_t, std::uint64_t offset, const std::byte* from,
                std::size_t bytes) const noexcept override {
      whole_.unpack(base, count_, begin_ + offset, from, bytes);
    }

   private:
    const Datatype& whole_;
    std::uint64_t count_, begin_, bytes_;
  };

  [[nodiscard]] std::uint64_t elements() const noexcept { return count_ * partitions_; }
  [[nodiscard]] const Offer& offer() const noexcept { return expected_->offer; }
  /// An offer has come, and messages follow each start of its sender, fitting ones or not.
  [[nodiscard]] bool offered() const noexcept;
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept { return offer().bytes_each * offer().partitions; }
  [[nodiscard]] std::uint64_t expected_bytes() const noexcept { return elements() * datatype_->size(); }
  /// There is room for all that its sender sends.
  [[nodiscard]] bool fits() const noexcept { return sent_bytes() <= expected_bytes(); }
  void post();
  [[nodiscard]] int differ(MPI_Status& status) const;
  [[nodiscard]] pml::Buffer place_of(std::uint32_t part) const noexcept;
  [[nodiscard]] bool arrived_from(std::uint32_t part) const noexcept;

  void* buffer_;
  std::uint32_t partitions_;
  std::uint64_t count_;
  Ref<Datatype> datatype_;
  int source_;
  pml::Context* context_ = nullptr;
  Tag tag_{0};
  std::unique_ptr<Expected> expected_;
  std::vector<Slice> slices_;
  std::unique_ptr<pml::Request[]> parts_;  ///< one per partition of the sender, once the offer is here
  bool posted_ = false;                    ///< the receives of this start
  std::uint32_t done_ = 0;
  Request* request_ = nullptr;
};

}  // namespace starling::mpi::partitioned
