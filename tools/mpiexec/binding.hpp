// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  -bind-to, -map-by and -rank-by: what their words mean, and the processors that each rank gets.
/// Layer: tools.
///
/// Hydra's words are UNIT[:N], Open MPI's UNIT[:MODIFIER[,MODIFIER]...]; either means the same with both.
///
/// Threads: pure functions. Errors: bad_parameter names the word that is not understood, and those that are.

#include <sched.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "tools/mpiexec/machine.hpp"

namespace starling::mpiexec {

/// What a rank is bound to: `count` objects of a kind that follow each other.
struct BindTo {
  Unit unit = Unit::none;
  std::uint32_t count = 1;
  bool said = false;
  bool overload = false;  ///< ranks may share what they would have alone

  friend bool operator==(const BindTo&, const BindTo&) = default;
};

/// In which order ranks get such places.
struct MapBy {
  Unit unit = Unit::none;          ///< objects that have their turn; none: places as they come
  std::uint32_t count = 1;         ///< so many objects together have one turn
  std::uint32_t per_unit = 0;      ///< ppr:N:UNIT: N ranks on each, one object after the other; 0: not said
  std::uint32_t cores = 0;         ///< PE=N; 0: not said
  bool cores_are_threads = false;  ///< what PE counts
  bool over_all_hosts = false;     ///< SPAN
  bool ranking_said = false;
  Unit ranking = Unit::none;  ///< the order of numbers among the places taken; none: the machine's, if said

  friend bool operator==(const MapBy&, const MapBy&) = default;
};

/// What the three options say about ranks and nodes.
struct PlacementWords {
  BindTo bind;
  MapBy map;
  bool nodes_in_turn = false;  ///< -map-by node, -rank-by node
  std::uint32_t per_node = 0;  ///< ppr:N:node, -ppn; 0: not said
  bool show = false;           ///< DISPLAY, report: tell who runs where
};

/// One for each option; `text` is what it was given.
[[nodiscard]] Result<void> read_bind_to(std::string_view text, PlacementWords& into);
[[nodiscard]] Result<void> read_map_by(std::string_view text, PlacementWords& into);
[[nodiscard]] Result<void> read_rank_by(std::string_view text, PlacementWords& into);
/// After the last option: what they say together.
[[nodiscard]] Result<void> settle(PlacementWords& words);

/// "core:2", as -bind-to and -map-by take it.
[[nodiscard]] std::string word_for(Unit unit, std::uint32_t count = 1);

/// The processors of each of a node's ranks; empty: nobody is bound, since that is not asked for, or a rank
/// would have to share what it was to have alone. A socket, NUMA domain or cache of level 3 is shared by as
/// many as the machine has cores.
[[nodiscard]] std::vector<cpu_set_t> places(const BindTo& bind, const MapBy& map, const Machine& machine,
                                            std::size_t ranks);

}  // namespace starling::mpiexec
