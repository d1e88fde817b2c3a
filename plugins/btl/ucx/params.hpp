// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Parameters of btl/ucx. Layer: plugin.

#include "params/decl.hpp"

namespace starling::btl {

inline constexpr params::Decl kUcxTls = params::text(
    "btl_ucx_tls", "",
    "UCX transports, as in UCX_TLS: \"tcp\", \"rc,ud,tcp\" ... Empty: UCX_TLS if it is set, else tcp, and "
    "rc, "
    "ud and dc too where the machine has InfiniBand or RoCE devices. Shared memory is not UCX's task here.");
inline constexpr params::Decl kUcxDevices =
    params::text("btl_ucx_devices", "",
                 "Devices: one interface for tcp, by name, address or subnet (\"eth1\", \"10.1.0.0/16\"; the "
                 "first of a list "
                 "that exists), or UCX's device names with a colon (\"mlx5_0:1\"). Empty: UCX_NET_DEVICES if "
                 "it is set, else the "
                 "first that is neither loopback nor made for containers. \"^a,b\": not these.");
inline constexpr params::Decl kUcxConnections = params::integer(
    "btl_ucx_connections", "0", 0, 1'000'000,
    "Connections to other processes that stay open: beyond, the one that was idle longest is closed, and "
    "opened again by the next message. For jobs with more peers than a process may have descriptors. 0: no "
    "limit.");
inline constexpr params::Decl kUcxPeerTimeout = params::integer(
    "btl_ucx_peer_timeout", "60", 0, 86400,
    "Over tcp: seconds after which a peer is given up that nothing leads to: no answer from its port while a "
    "connection is made (then at most 4/5 of bootstrap_timeout), or to what was sent. A peer that only "
    "computes is not given up. 0: wait for ever.");
inline constexpr params::Decl kUcxGet = params::choice(
    "btl_ucx_get", "auto", "auto|always|never",
    "Whether large messages go from one user buffer into the other without copies by the library. auto: "
    "where an InfiniBand or RoCE adapter reads them. always: over tcp as well; UCX 1.13 then ends a process "
    "whose peer dies during a transfer. never: in fragments.");
inline constexpr params::Decl kUcxRemote = params::choice(
    "btl_ucx_remote", "auto", "auto|always|never",
    "Whether one-sided operations may use UCX's puts, gets and atomics. auto: where an InfiniBand or RoCE "
    "adapter does them. always: over tcp as well, where the target's UCX does them, within its calls of "
    "MPI.");
inline constexpr params::Decl kUcxKeep = params::choice(
    "btl_ucx_keep", "auto", "auto|always",
    "Whether messages for receive buffers of the library's stay where UCX has received them. auto: where its "
    "transport gives its memory away, as adapters do. always: over tcp as well, where UCX then copies each "
    "message into memory of its own, also those for other receives; for tests.");
}  // namespace starling::btl
