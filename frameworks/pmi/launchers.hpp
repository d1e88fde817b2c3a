// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The launchers that are known by the variables they set, and what follows when none of them offers a
/// process manager that works. Layer: framework; used by pmi/singleton, the runtime and mpiexec.
///
/// A process that no process manager serves runs alone, as rank 0 of 1. If a launcher started it together
/// with others, that would be wrong N times in silence, so such proof is an error. The children of a rank
/// inherit the proof and are alone nevertheless. They are told apart by a mark, which a rank leaves in its
/// own environment once it is connected: its pid, and what each launcher's variables were. A launcher that is
/// started inside a rank changes its variables, so for its processes the mark no longer holds.
///
/// Threads:   functions of their arguments. leave_mark() calls setenv, which must not race with getenv.
/// Errors:    none; why_not_alone() gives a text for people.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace starling::pmi {

/// Reads one variable: null if it is not set. Tests pass their own.
using Getenv = std::function<const char*(const char* name)>;
[[nodiscard]] Getenv process_environment();
/// Whether the variable is set to something.
[[nodiscard]] bool is_set(const Getenv& get, const char* name);

/// The variable that holds a rank's mark.
inline constexpr char kRankMark[] = "STARLING_RANK_MARK";

/// The mark of a rank with this environment.
[[nodiscard]] std::string rank_mark(const Getenv& get, std::int64_t pid);
/// Puts the mark into this process's environment: for its children. Called by a process that is connected.
void leave_mark();

/// How a process is related to the rank whose mark it finds.
enum class Kinship : std::uint8_t {
  none,      ///< there is no mark: no rank that was connected is among the ancestors
  itself,    ///< the rank replaced itself by exec(), and lost its connection by that
  child,     ///< started by a rank, no launcher between them
  launched,  ///< the variables have changed since the mark was left: a launcher was started inside the rank
};
/// Whose variables: those of PMI-1 and PMI-2, or PMIx's.
enum class Manager : std::uint8_t { pmi, pmix };
[[nodiscard]] Kinship kinship(const Getenv& get, std::int64_t pid, Manager manager);
/// Why a process of this kinship has no claim to the connection that the variables describe; null: it has.
[[nodiscard]] const char* why_not_served(Kinship kinship) noexcept;

/// Whether the environment offers a PMIx server.
[[nodiscard]] bool offers_pmix(const Getenv& get);

/// Set if the environment shows that a launcher started several processes: why this one must not run alone,
/// and what to do.
[[nodiscard]] std::optional<std::string> why_not_alone(const Getenv& get, std::int64_t pid);

}  // namespace starling::pmi
