// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One-sided access over UCX: puts, gets, atomic changes. Layer: plugin.
///
/// The adapter does them where it can; over tcp the owner's UCX does, within its progress.
/// Threads:   as btl::Remote.
/// Ownership: RemoteUse owns the records of accesses, which UCX keeps until they have ended.
/// Errors:    as btl::Remote; an endpoint that has failed ends all its accesses.
/// Units:     bytes.

#include <array>
#include <vector>

#include "frameworks/btl/btl.hpp"
#include "frameworks/btl/net/record_pool.hpp"
#include "plugins/btl/ucx/library.hpp"

namespace starling::btl {

class UcxEndpoint;

namespace ucx {

/// One access that UCX has not ended.
struct Access {
  UcxEndpoint* link = nullptr;
  Completion* completion = nullptr;
  Access* next = nullptr;             ///< the pool's
  std::byte* fetched = nullptr;       ///< where the old value goes
  std::uint8_t bytes = 0;             ///< of it
  alignas(8) std::byte operand[8]{};  ///< UCX reads it
  alignas(8) std::byte reply[8]{};    ///< and writes the old value here
};

using AccessPool = net::RecordPool<Access>;

/// Memory that UCX has registered.
class UcxExposed final : public Exposed {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Exposed>> make(const Library& library, ucp_context_h context,
                                                             std::span<std::byte> memory);
  ~UcxExposed() override;
  [[nodiscard]] std::span<const std::byte> key() const noexcept override { return key_; }

 private:
  UcxExposed(const Library& library, ucp_context_h context, ucp_mem_h memory) noexcept
      : library_(library), context_(context), memory_(memory) {}
  const Library& library_;
  ucp_context_h context_;
  ucp_mem_h memory_;
  std::vector<std::byte> key_;
};

}  // namespace ucx

/// What a peer has exposed, as one endpoint reaches it.
class UcxRemote final : public Remote {
 public:
  explicit UcxRemote(UcxEndpoint& link) noexcept : link_(link) {}
  [[nodiscard]] const Facts& facts() const noexcept override;
  [[nodiscard]] Result<std::unique_ptr<Region>> open(std::span<const std::byte> key) override;
  Post put(Region& to, std::uint64_t offset, std::span<const std::byte> from,
           Completion* completion) noexcept override;
  Post get(Region& from, std::uint64_t offset, std::span<std::byte> to,
           Completion* completion) noexcept override;
  Post atomic(Region& at, std::uint64_t offset, const AtomicChange& change,
              Completion* completion) noexcept override;
  Post flush(Completion* completion) noexcept override;

  /// Whether the connection must stay: somebody has opened memory of the peer.
  [[nodiscard]] bool in_use() const noexcept { return !opened_.empty(); }
  /// The connection goes, and its keys have to go before it: to be destroyed by the caller. What is opened
  /// can be accessed no more.
  [[nodiscard]] std::vector<ucp_rkey_h> take_keys();

 private:
  class Opened;
  [[nodiscard]] ucx::Access* begin(const Opened* region, Completion* completion) noexcept;
  Post started(ucs_status_ptr_t answer, ucx::Access* access) noexcept;
  static void ended(void* request, ucs_status_t status, void* access) noexcept;

  UcxEndpoint& link_;
  std::vector<Opened*> opened_;
};

}  // namespace starling::btl
