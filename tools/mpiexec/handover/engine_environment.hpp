// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The environment that an engine gets and hands on to the ranks. Layer: tools.
///
/// Without what says that this process is a rank of another job: the engine would take itself for a part of
/// that job. Without what would overrule the words that mpiexec gives the engine.
///
/// Threads: one. Ownership: block() points into this object.

#include <string>
#include <vector>

#include "tools/mpiexec/handover/engine.hpp"
#include "tools/mpiexec/options.hpp"
#include "tools/mpiexec/rank_environment.hpp"

namespace starling::mpiexec {

class EngineEnvironment {
 public:
  /// `placed`: mpiexec says which rank runs where.
  EngineEnvironment(char* const* inherited, const Variables& for_all, Engine engine, bool placed);

  [[nodiscard]] char* const* block() { return environment_.block({}, {}); }
  /// What a rank should find on another host, too: all but what belongs to this host or this shell.
  [[nodiscard]] std::vector<std::string> names_to_hand_on();

 private:
  static std::vector<char*> kept(char* const* inherited, Engine engine, bool placed);

  RankEnvironment environment_;
};

}  // namespace starling::mpiexec
