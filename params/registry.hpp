// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  All parameters of this process: their declarations, values and origins. Layer: params.
///
/// Sources, strongest first: override file, `mpiexec --mca`, environment STARLING_MCA_<name>, job file, user file,
/// system file, default. Every value remembers where it came from. See docs/design/parameters.md.
///
/// Threads:   add() and load() by one thread at a time; reading is free afterwards.
/// Ownership: declarations are copied; returned references live as long as the registry.
/// Errors:    a value is checked when its declaration and its source have both been seen; a bad one is an Error that
///            names parameter, value, source and what was expected.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "params/decl.hpp"

namespace starling::params {

/// Where a value came from.
enum class Source : std::uint8_t { default_value, system_file, user_file, job_file, environment, command_line, override_file };

struct Origin {
  Source source = Source::default_value;
  std::string file;   ///< path of a file source, else empty
  int line = 0;       ///< 1-based line in it, else 0
  /// "default", "environment STARLING_MCA_btl", "/etc/x.conf:12", "mpiexec --mca" ...
  [[nodiscard]] std::string text(std::string_view name) const;
};

struct Value {
  Decl decl;
  std::string written;     ///< the text as its source had it
  std::int64_t number = 0; ///< booleans (0, 1), integers, index of a choice
  Origin origin;
  std::string owner;       ///< who declared it: "core", "mpi", "btl", "btl/shm" ...
};

/// A value set by some source for a name that nobody declared (so far).
struct Unclaimed {
  std::string name;
  std::string written;
  Origin origin;
  std::string nearest;  ///< the nearest declared name, or empty
};

/// Where the sources are; the defaults are the real ones of this process.
struct Places {
  std::string prefix;                       ///< installation prefix: <prefix>/etc/starling/{params,override}.conf
  std::string user_file;                    ///< ~/.config/starling/params.conf; empty: none
  std::string job_file;                     ///< STARLING_PARAMS_FILE or --params; empty: none
  std::vector<std::string> environment;     ///< NAME=VALUE of the process
  bool at_secure = false;                   ///< setuid: user file, job file and environment are ignored
  [[nodiscard]] static Places of_this_process(std::string prefix);
};

class Registry {
 public:
  Registry();
  ~Registry();
  Registry(Registry&&) noexcept;
  Registry& operator=(Registry&&) noexcept;

  /// Reads all sources; names need not be declared yet. A file that does not parse is an Error with file and line.
  [[nodiscard]] Result<void> load(const Places& places);
  /// Adds declarations (of "core", a framework, "btl/shm" ...) and parses what the sources have for them.
  /// Adding the same owner again is a no-op.
  [[nodiscard]] Result<void> add(std::string_view owner, std::span<const Decl> decls);

  /// Values of declared parameters. Asking for an undeclared name or with the wrong type is a bug (expects).
  [[nodiscard]] std::int64_t integer(const Decl& decl) const;
  [[nodiscard]] bool boolean(const Decl& decl) const { return integer(decl) != 0; }
  [[nodiscard]] const std::string& text(const Decl& decl) const;
  /// The index of the chosen value in Decl::choices.
  template <class Enum>
  [[nodiscard]] Enum choice(const Decl& decl) const { return static_cast<Enum>(integer(decl)); }

  [[nodiscard]] const Value* find(std::string_view name) const;
  [[nodiscard]] std::vector<const Value*> all() const;     ///< sorted by owner, then name
  [[nodiscard]] std::vector<Unclaimed> unclaimed() const;  ///< after all declarations are in

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starling::params
