// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What a plugin says about itself in its file, read before dlopen. Layer: core.
///
/// The record is plain bytes without relocations in the ELF section `.starling.plugin` (kDescriptorSection),
/// so that a refusal, a listing or the unknown-name check runs no plugin code and needs no library that is
/// missing. The parameter manifest (an array of params::Decl) is in `.starling.params` (kParamsSection). See
/// docs/design/plugins.md.

#include <cstdint>
#include <type_traits>

#include "core/fixed_string.hpp"

namespace starling::plugin {

inline constexpr char kDescriptorSection[] = ".starling.plugin";
inline constexpr char kParamsSection[] = ".starling.params";
inline constexpr std::uint64_t kMagic = 0x31676e696c726174u;  // "tarling1" in memory order
/// Changes when core/, params/ or the layout of these records change incompatibly.
inline constexpr std::uint32_t kCoreInterface = 3;

/// Which processes a component serves, so that no process loads one that it cannot use.
enum class Scope : std::uint32_t {
  any = 0,
  /// reaches processes on other nodes: opened only when a process must be reached that no other component
  /// reaches
  other_nodes = 1,
  own_process = 2  ///< only itself: opened at once, before this process knows which processes share its node
};

struct Descriptor {
  std::uint64_t magic = kMagic;
  std::uint32_t bytes = 0;                ///< sizeof(Descriptor) of the plugin's build
  std::uint32_t core_interface = 0;       ///< kCoreInterface of the plugin's build
  std::uint32_t framework_interface = 0;  ///< kInterface of its framework
  std::int32_t priority = 0;              ///< higher is tried first where a list does not say
  Scope scope = Scope::any;
  std::uint32_t fact = 0;       ///< what its framework wants to know besides (pmi::Speaks); 0: nothing
  FixedString<24> framework;    ///< "pmi", "shm", "btl", "pml", "bootstrap"
  FixedString<40> name;         ///< as in selection lists; letters, digits and _
  FixedString<64> version;      ///< the plugin's own version, for people
  FixedString<64> fingerprint;  ///< compiler and standard library of the build; must be equal
  FixedString<160> summary;     ///< one line for starling-info
};
static_assert(std::is_trivially_copyable_v<Descriptor> && sizeof(Descriptor) == 384);

}  // namespace starling::plugin
