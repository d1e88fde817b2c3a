// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Parameters of btl/ofi. Layer: plugin.

#include "params/decl.hpp"

namespace starling::btl {

inline constexpr params::Decl kOfiProvider = params::text(
    "btl_ofi_provider", "",
    "libfabric's provider, as in fi_info: \"tcp\", \"net\", \"verbs;ofi_rxm\", \"efa\" ... Empty: that of a "
    "fabric's "
    "device if the machine has one, else tcp (libfabric 1.18 or later), net (1.17), tcp;ofi_rxm.");
inline constexpr params::Decl kOfiInterface = params::text(
    "btl_ofi_interface", "",
    "Network interface for providers with IP addresses, by name, address or subnet (\"eth1\", "
    "\"10.1.0.0/16\"; the "
    "first of a list that exists). Empty: the first that is neither loopback nor made for containers. "
    "\"^a,b\": not these.");
inline constexpr params::Decl kOfiPeerTimeout =
    params::integer("btl_ofi_peer_timeout", "60", 0, 86400,
                    "Seconds after which a peer is given up that takes no message and shows no sign of life "
                    "(over IP: its port is asked); while a connection is made at most 4/5 of "
                    "bootstrap_timeout. A peer that only computes is not given up. 0: wait for ever.");
inline constexpr params::Decl kOfiPortBase = params::integer(
    "btl_ofi_port_base", "0", 0, 65535,
    "Not 0: each process listens at the address of its node (btl_ofi_nodes) and at this port plus its local "
    "rank, so addresses are known without any exchange. Ports below 1024 are the system's. 0: ports are free "
    "ones, and addresses are published.");
inline constexpr params::Decl kOfiNodes = params::text(
    "btl_ofi_nodes", "",
    "With btl_ofi_port_base: IPv4 addresses or names of the nodes, in the order of their numbers, which is "
    "that of their lowest ranks: \"10.0.0.[1-16],n[17-32]\". The same on all processes.");
inline constexpr params::Decl kOfiGet = params::choice(
    "btl_ofi_get", "auto", "auto|always|never",
    "Whether large messages go from one user buffer into the other without copies by the library, where the "
    "provider has tagged messages. auto: with providers of fabrics, not with those of sockets (net, tcp). "
    "never: in fragments.");
inline constexpr params::Decl kOfiRemote =
    params::choice("btl_ofi_remote", "auto", "auto|always|never",
                   "Whether one-sided operations may use libfabric's puts and gets. auto: with providers of "
                   "fabrics, whose adapters "
                   "do them. always: with those of sockets (net, tcp) as well, where the target's libfabric "
                   "does them, within its "
                   "calls of MPI.");

}  // namespace starling::btl
