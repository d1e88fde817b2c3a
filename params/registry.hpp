// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  All parameters of this process: their declarations, values and origins. Layer: params.
///
/// Sources, strongest first:
///   override file  <prefix>/etc/starling/override.conf, the administrator's
///   command line   `mpiexec --mca NAME VALUE`; travels in STARLING_CMDLINE_MCA, lines `name=value`, of which
///                  later ones win
///   environment    STARLING_MCA_<name>
///   job file       `mpiexec --params FILE`, which sets STARLING_PARAMS_FILE; must exist if named
///   user file      $XDG_CONFIG_HOME/starling/params.conf, else ~/.config/starling/params.conf
///   system file    <prefix>/etc/starling/params.conf
///   default        of the declaration
///
/// Files have lines `name = value` and `#` comments. In a set-uid process (AT_SECURE) only the two files of
/// the prefix count. Every value remembers where it came from. See docs/design/parameters.md.
///
/// Threads:   add() and load() by one thread at a time; reading is free afterwards.
/// Ownership: declarations are referred to, not copied: every process has some 100 of them. They must live as
///            long as the registry; keep() takes those that would not. So do returned references.
/// Errors:    a value is checked when its declaration and its source have both been seen; a bad one is an
///            Error that names parameter, value, source and what was expected.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "params/decl.hpp"

namespace starling::params {

inline constexpr std::string_view kEnvironmentPrefix = "STARLING_MCA_";
inline constexpr std::string_view kHalfPrefix = "STARLING_";
inline constexpr std::string_view kCommandLineVariable = "STARLING_CMDLINE_MCA";
inline constexpr std::string_view kJobFileVariable = "STARLING_PARAMS_FILE";

/// Where a value came from; a greater source is a stronger one.
enum class Source : std::uint8_t {
  default_value,
  system_file,
  user_file,
  job_file,
  environment,
  command_line,
  override_file
};

struct Origin {
  Source source = Source::default_value;
  std::string file;  ///< path of a file source, else empty
  int line = 0;      ///< 1-based line in it, else 0
  /// "default", "environment STARLING_MCA_btl", "/etc/x.conf:12", "mpiexec --mca" ...
  [[nodiscard]] std::string text(std::string_view name) const;
};

struct Value {
  const Decl& decl;
  std::string written;      ///< the text as its source had it
  std::int64_t number = 0;  ///< booleans (0, 1), integers, index of a choice
  Origin origin;
  std::string_view set_as;  ///< the name that its source used: the name or the synonym
  std::string problem;      ///< why what a source has was refused (then the default is in force); else empty
  std::string owner;        ///< who declared it: "core", "mpi", "btl", "btl/shm" ...
};

/// A value set by some source for a name that nobody declared (so far).
struct Unclaimed {
  std::string name;
  std::string written;
  Origin origin;
  std::string nearest;  ///< the nearest declared name, or empty
};

/// For people, on one line: the unknown name, where it was set, and the nearest name.
[[nodiscard]] std::string describe(const Unclaimed& unclaimed);

/// One `--mca NAME VALUE`.
struct CommandLineSetting {
  std::string name;
  std::string written;
};
/// The value of STARLING_CMDLINE_MCA for mpiexec's options; an Error for what is no name or has a line break.
[[nodiscard]] Result<std::string> command_line_value(std::span<const CommandLineSetting> settings);

/// Where the sources are; the defaults are the real ones of this process.
struct Places {
  std::string prefix;     ///< installation prefix: <prefix>/etc/starling/{params,override}.conf
  std::string user_file;  ///< ~/.config/starling/params.conf; empty: none
  std::string job_file;   ///< STARLING_PARAMS_FILE or --params; empty: none
  std::vector<std::string>
      environment;         ///< NAME=VALUE; of_this_process keeps those that begin with STARLING_
  bool at_secure = false;  ///< set-uid: user file, job file, environment, command line are ignored
  [[nodiscard]] static Places of_this_process(std::string prefix);
};

class Registry {
 public:
  Registry();
  ~Registry();
  Registry(Registry&&) noexcept;
  Registry& operator=(Registry&&) noexcept;

  /// Reads all sources, in place of those read before; names need not be declared yet. A file that does not
  /// parse is an Error with file and line.
  [[nodiscard]] Result<void> load(const Places& places);
  /// Adds declarations (of "core", a framework, "btl/shm" ...) and parses what the sources have for them.
  /// Adding the same declaration of the same owner again is a no-op. An Error holds every bad value, one a
  /// line; all declarations are in nevertheless, those with a bad value at their default (Value::problem says
  /// why).
  [[nodiscard]] Result<void> add(std::string_view owner, std::span<const Decl> decls);
  template <std::size_t N>
  Result<void> add(std::string_view owner, const std::array<Decl, N>&& decls) = delete;  // they would be gone
  /// Takes declarations that are no constants, before they are added.
  void keep(std::unique_ptr<const Decl[]> decls);

  /// Values of declared parameters. Asking for an undeclared name or with the wrong type is a bug (expects).
  [[nodiscard]] std::int64_t integer(const Decl& decl) const;
  [[nodiscard]] bool boolean(const Decl& decl) const { return integer(decl) != 0; }
  [[nodiscard]] const std::string& text(const Decl& decl) const;
  /// The index of the chosen value in Decl::choices.
  template <class Enum>
  [[nodiscard]] Enum choice(const Decl& decl) const {
    return static_cast<Enum>(integer(decl));
  }

  /// By name or synonym; null: not declared.
  [[nodiscard]] const Value* find(std::string_view name) const;
  [[nodiscard]] std::vector<const Value*> all() const;     ///< sorted by owner, then name
  [[nodiscard]] std::vector<Unclaimed> unclaimed() const;  ///< after all declarations are in

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starling::params
