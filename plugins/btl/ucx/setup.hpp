// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A UCX context and worker, set up as btl/ucx wants them. Layer: plugin.
///
/// Threads:   open() by one thread at a time; the worker by one thread at a time.
/// Ownership: closes worker and context; all endpoints must have been closed before.
/// Errors:    what UCX refuses is reported with the settings it refused and where they came from.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "frameworks/btl/net/interfaces.hpp"
#include "params/registry.hpp"
#include "plugins/btl/ucx/library.hpp"

namespace starling::btl::ucx {

/// Which UCX transports and devices are used; empty: as UCX's environment says.
struct Choice {
  std::string tls;
  std::string devices;
  std::optional<net::IpAddress> address;  ///< of the interface, where it was chosen here
  std::string place;                      ///< for people: address and name of the interface
  bool gets = false;                      ///< btl_ucx_get, decided
  bool remote = false;                    ///< btl_ucx_remote, decided
  bool over_tcp = false;                  ///< and over nothing else
  bool keeps = false;                     ///< btl_ucx_keep=always
  bool copies = false;                    ///< UCX sends nothing out of memory of ours
};

/// Errors: an interface that does not exist, with the parameter, its origin and what exists.
[[nodiscard]] Result<Choice> choose(const params::Registry& params);

/// On a card these bytes stand before UCX's address: the sockaddr_in at which the process can be asked
/// whether it lives, or zeros.
inline constexpr std::size_t kPortBytes = 16;
[[nodiscard]] std::vector<std::byte> port_of(const Choice& choice, std::span<const std::uint16_t> ports);
/// Removes the sockaddr_in from an address and returns it; empty if it was zeros.
[[nodiscard]] std::vector<std::byte> take_port(std::vector<std::byte>& address);

class Worker {
 public:
  [[nodiscard]] static Result<Worker> open(const Library& library, const Choice& choice);
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&&) = delete;
  ~Worker();

  [[nodiscard]] ucp_worker_h get() const noexcept { return worker_; }
  [[nodiscard]] ucp_context_h context() const noexcept { return context_; }
  [[nodiscard]] int wait_fd() const noexcept { return wait_fd_; }
  /// The address for processes of other nodes.
  [[nodiscard]] Result<std::vector<std::byte>> address() const;
  [[nodiscard]] const std::vector<std::uint16_t>& ports() const noexcept { return ports_; }

 private:
  explicit Worker(const Library& library) noexcept : library_(&library) {}
  [[nodiscard]] Result<void> create(const Choice& choice);
  [[nodiscard]] Result<void> create_context(const Choice& choice);

  const Library* library_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int wait_fd_ = -1;
  std::vector<std::uint16_t> ports_;  // on which its sockets listen
};

}  // namespace starling::btl::ucx
