// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Parameters that every pml reads. Layer: framework (pml).
/// Threads: constants. Units: bytes.

#include <algorithm>
#include <array>

#include "frameworks/pml/engine.hpp"
#include "frameworks/pml/findings.hpp"
#include "params/decl.hpp"
#include "params/registry.hpp"

namespace starling::pml {

inline constexpr params::Decl kEagerLimit = params::size_bytes(
    "pml_eager_limit", "0", 0, 1 << 30,
    "Messages up to this many bytes are sent at once, before the receiver has asked for them; longer ones "
    "are announced "
    "first. 0: each transport's own value. Upper bounds: the transport's largest message, or, where messages "
    "go in "
    "parts (within a node), a quarter of a pair's credit (pml_unexpected_max).");
inline constexpr params::Decl kUnexpectedMax = params::size_bytes(
    "pml_unexpected_max", "64m", 1 << 20, std::int64_t{1} << 40,
    "Memory that messages may take in a process before it receives them. Every pair gets its share as credit "
    "(16k to 1m); a sender without credit announces its messages instead, and once the announcements take as "
    "much keeps the rest to itself until it is asked for them. Must be the same in all processes of a job.");
inline constexpr params::Decl kPaths = params::integer(
    "pml_paths", "4", 1, 16,
    "Networks of the selected ones (parameter btl) that a process of another node is reached by at the same "
    "time. With more than one, messages carry numbers and are put back in order.");
inline constexpr params::Decl kPathUse = params::choice(
    "pml_path_use", "spill", "spill|alternate",
    "How messages are dealt to several networks: spill: the best takes what it can, the next what that "
    "refuses; alternate: each in turn. Fragments of large messages take turns always.");
inline constexpr params::Decl kEarlyPush = params::choice(
    "pml_early_push", "auto", "auto|off|always",
    "Whether a receive that waits for a long message is told to its sender, who writes there at once, where "
    "processes of a node may write to each other's memory: auto: where the sender has mostly waited for its "
    "receiver to look; always: wherever it is possible.");
/// Declared under the owner "pml".
inline constexpr std::array kEngineParams{kEagerLimit, kUnexpectedMax, kPaths,
                                          kPathUse,    kTrialsFile,    kEarlyPush};

/// To how many processes pages are lent at most (-1: as many as is good). A user has a limited
/// sum of pipe slots (fs.pipe-user-pages-soft, 16384 by default), of which a job takes half at most.
[[nodiscard]] inline std::uint32_t loans_of(std::int64_t asked, std::uint32_t processes) noexcept {
  if (asked >= 0) return static_cast<std::uint32_t>(asked);
  return std::min<std::uint32_t>(8, 32 / std::max<std::uint32_t>(processes, 1));
}

/// Reads them; declares them first where that has not been done.
[[nodiscard]] inline Result<Config> read_config(const Args& args) {
  if (Result<void> added = args.params.add("pml", kEngineParams); !added)
    return fail(std::move(added).error());
  Config config;
  config.self = args.self;
  config.world_size = args.world_size;
  config.eager_limit = static_cast<std::uint64_t>(args.params.integer(kEagerLimit));
  config.unexpected_max = static_cast<std::uint64_t>(args.params.integer(kUnexpectedMax));
  config.paths_max = static_cast<std::uint32_t>(args.params.integer(kPaths));
  config.early_push = args.params.choice<EarlyPush>(kEarlyPush);
  config.path_use = args.params.choice<peer::PathUse>(kPathUse);
  return config;
}

}  // namespace starling::pml
