// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Parameters of btl/trial: what it declares, and how it behaves. Layer: tests.
///
/// The plugin is built under two names, for jobs with two networks: TRIAL, and TRIAL_TEXT as a string.

#include <array>

#include "params/decl.hpp"

namespace starling::btl::trial {

inline constexpr params::Decl kAddress =
    params::choice(TRIAL_TEXT "_address", "published", "published|computed",
                   "published: TCP on trial_interface; computed: unix sockets trial_directory/RANK.");
inline constexpr params::Decl kDirectory =
    params::text(TRIAL_TEXT "_directory", "", "Directory of the sockets with computed addresses.");
inline constexpr params::Decl kInterface =
    params::text(TRIAL_TEXT "_interface", "127.0.0.1", "Own address on the network that TCP uses.");
inline constexpr params::Decl kAcceptsBeforeReady =
    params::boolean(TRIAL_TEXT "_accepts_before_ready", "1",
                    "Declared: messages wait until the peer is there (and they do).");
inline constexpr params::Decl kBarrierBefore =
    params::boolean(TRIAL_TEXT "_barrier_before", "0",
                    "Declared: messages to a process that is not there are lost (and they are).");
inline constexpr params::Decl kBarrierAfter = params::boolean(
    TRIAL_TEXT "_barrier_after", "0",
    "Declared: messages still on their way when the sender closes are lost (see trial_hold_ms).");
inline constexpr params::Decl kLazyPeers =
    params::boolean(TRIAL_TEXT "_lazy_peers", "1", "Declared: peers can be made one by one.");
inline constexpr params::Decl kHoldMs = params::integer(
    TRIAL_TEXT "_hold_ms", "0", 0, 60'000,
    "Milliseconds for which a message is on its way after its sender has been told that it has left.");

inline constexpr params::Decl kMessageBytes =
    params::size_bytes(TRIAL_TEXT "_message_bytes", "64k", 576, 64 * 1024,
                       "Longest message: short ones cut long blocks in pieces.");

inline constexpr std::array kAll = {kAddress,       kDirectory,    kInterface, kAcceptsBeforeReady,
                                    kBarrierBefore, kBarrierAfter, kLazyPeers, kHoldMs,
                                    kMessageBytes};

}  // namespace starling::btl::trial
