// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Choosing a provider, and libfabric's objects as btl/ofi wants them. Layer: plugin.
///
/// Threads:   one at a time.
/// Ownership: closes what it opened, in libfabric's order.
/// Errors:    a provider or interface that does not exist is reported with where it was set and what exists.

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "params/registry.hpp"
#include "plugins/btl/ofi/computed.hpp"
#include "plugins/btl/ofi/library.hpp"

namespace starling::btl::ofi {

/// A provider and what it offers.
struct Choice {
  std::shared_ptr<fi_info> info;
  std::string provider;
  std::string place;          ///< for people: address and name of the interface
  bool over_tcp = false;      ///< a TCP connection to a process's port tells whether it lives
  bool slices_go_on = false;  ///< a receive buffer is called full while slices of it are still written
  bool gets = false;          ///< btl_ofi_get, decided
  bool remote = false;        ///< btl_ofi_remote, decided
  unsigned tag_bits = 0;      ///< with gets
  std::string note;           ///< a fallback with its reason, for the report
};

/// Errors: Errc::bad_parameter, not_found.
[[nodiscard]] Result<Choice> choose(const Library& library, const params::Registry& params);
/// As choose(), at an address and port that were computed.
[[nodiscard]] Result<Choice> choose_at(const Library& library, const params::Registry& params,
                                       const Listener& own);

class Fabric {
 public:
  [[nodiscard]] static Result<Fabric> open(const Library& library, const Choice& choice);
  Fabric(Fabric&&) noexcept = default;
  Fabric& operator=(Fabric&&) = delete;
  ~Fabric() = default;

  [[nodiscard]] fid_fabric* fabric() const noexcept { return fabric_.get(); }
  [[nodiscard]] fid_domain* domain() const noexcept { return domain_.get(); }
  [[nodiscard]] fid_cq* queue() const noexcept { return queue_.get(); }
  [[nodiscard]] fid_av* addresses() const noexcept { return addresses_.get(); }
  [[nodiscard]] fid_ep* endpoint() const noexcept { return endpoint_.get(); }
  [[nodiscard]] int wait_fd() const noexcept { return wait_fd_; }
  [[nodiscard]] const std::vector<std::byte>& name() const noexcept { return name_; }
  /// Before what was lent to it is destroyed.
  void close_endpoint() noexcept { endpoint_.reset(); }
  [[nodiscard]] const std::vector<std::uint16_t>& ports() const noexcept { return ports_; }

 private:
  struct Close {
    template <class Object>
    void operator()(Object* object) const noexcept {
      ::fi_close(&object->fid);
    }
  };
  template <class Object>
  using Owned = std::unique_ptr<Object, Close>;

  Fabric() = default;
  [[nodiscard]] Result<void> create(const Library& library, fi_info& info);
  [[nodiscard]] Result<void> create_endpoint(const Library& library, fi_info& info);
  [[nodiscard]] Result<void> read_name(const Library& library);

  // In the order of their making: the endpoint is closed first.
  Owned<fid_fabric> fabric_;
  Owned<fid_domain> domain_;
  Owned<fid_cq> queue_;
  Owned<fid_av> addresses_;
  Owned<fid_ep> endpoint_;
  int wait_fd_ = -1;
  std::vector<std::byte> name_;       // the endpoint's address
  std::vector<std::uint16_t> ports_;  // on which its sockets listen
};

}  // namespace starling::btl::ofi
