// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One-sided access over libfabric: puts and gets. Layer: plugin.
///
/// The adapter does them where it can; over sockets the owner's libfabric does, within its progress.
/// Threads:   as btl::Remote.
/// Ownership: AccessPool owns the records of accesses, which libfabric keeps until they have ended.
/// Ordering:  none. A put ends when its bytes are in the peer's memory (FI_DELIVERY_COMPLETE), so a flush
///            waits for the ends of the puts that were called before it.
/// Errors:    as btl::Remote. When the peer is lost puts end at once with ok = false. So do gets, unless the
///            peer may live: libfabric may then still write into their buffers, and they end when it gives up
///            the connection.
/// Units:     bytes.

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <vector>

#include "core/chain.hpp"
#include "frameworks/btl/btl.hpp"
#include "frameworks/btl/net/record_pool.hpp"
#include "plugins/btl/ofi/library.hpp"

namespace starling::btl {

class OfiEndpoint;

namespace ofi {

/// One access that libfabric has not ended.
struct Access {
  OfiEndpoint* link = nullptr;
  Completion* completion = nullptr;  ///< null: it has been told
  Access* next = nullptr;
  Access* previous = nullptr;
  std::uint64_t number = 0;  ///< of its endpoint's accesses
  bool puts = false;
  alignas(16) std::byte context[64]{};  ///< libfabric's (FI_CONTEXT2)
};
using Accesses = Chain<Access, &Access::next, &Access::previous>;

using AccessPool = net::RecordPool<Access>;

/// Memory that libfabric has registered.
class OfiExposed final : public Exposed {
 public:
  /// `number`: which key to ask for, where the provider leaves that to its users.
  [[nodiscard]] static Result<std::unique_ptr<Exposed>> make(const Library& library, const fi_info& info,
                                                             fid_domain* domain, fid_ep* endpoint,
                                                             std::span<std::byte> memory,
                                                             std::uint64_t number);
  ~OfiExposed() override { ::fi_close(&registered_->fid); }
  [[nodiscard]] std::span<const std::byte> key() const noexcept override { return key_; }

 private:
  explicit OfiExposed(fid_mr* registered) noexcept : registered_(registered) {}
  fid_mr* registered_;
  std::vector<std::byte> key_;
};

}  // namespace ofi

/// What a peer has exposed, as one endpoint reaches it.
class OfiRemote final : public Remote {
 public:
  explicit OfiRemote(OfiEndpoint& link) noexcept : link_(link) {}
  [[nodiscard]] const Facts& facts() const noexcept override;
  [[nodiscard]] Result<std::unique_ptr<Region>> open(std::span<const std::byte> key) override;
  Post put(Region& to, std::uint64_t offset, std::span<const std::byte> from,
           Completion* completion) noexcept override;
  Post get(Region& from, std::uint64_t offset, std::span<std::byte> to,
           Completion* completion) noexcept override;
  /// Not offered: Capability::atomics is not among the component's.
  Post atomic(Region& at, std::uint64_t offset, const AtomicChange& change,
              Completion* completion) noexcept override;
  Post flush(Completion* completion) noexcept override;

  /// Whether an access goes on.
  [[nodiscard]] bool moving() const noexcept { return !open_.empty(); }
  /// libfabric has ended an access of this endpoint.
  void ended(ofi::Access& access, bool ok) noexcept;
  /// The peer is lost. `may_write`: it may live, and what it sends may still come into the buffers of gets.
  void lose(bool may_write) noexcept;

 private:
  class Opened;
  /// A flush that waits for puts numbered below `until`.
  struct Flush {
    Completion* completion;
    std::uint64_t until;
    std::size_t left;
  };
  template <class Call>
  Post begin(Completion* completion, bool puts, Call&& call) noexcept;
  void tell(ofi::Access& access, bool ok) noexcept;
  void count_put(std::uint64_t number, bool ok) noexcept;

  OfiEndpoint& link_;
  std::uint64_t next_number_ = 0;
  ofi::Accesses open_;
  std::size_t puts_ = 0;  // of these that have not been told
  std::vector<Flush> flushes_;
};

}  // namespace starling::btl
