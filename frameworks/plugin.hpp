// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How a plugin offers its component. Layer: framework interface.
///
/// A plugin's plugin.cpp declares its parameters, its descriptor and one factory:
///
///     namespace starling::btl {
///     // kLaneBytes and kEagerLimit are constexpr params::Decl of a header
///     STARLING_PLUGIN_PARAMS std::array kShmParams = {kLaneBytes, kEagerLimit};
///     STARLING_PLUGIN(Framework, shm, 50, "shared memory on one node", kShmParams, &create_shm);
///     }
///
/// where Framework is the trait type of the framework's interface header (Component, Args, kName, kInterface)
/// and the factory is `Result<std::unique_ptr<Component>> create_shm(const Args&)`. A plugin without
/// parameters writes STARLING_NO_PARAMS. One plugin per shared object. The same source is built as a .so or
/// linked in (the build defines STARLING_PLUGIN_BUILTIN then); see docs/design/plugins.md.
///
/// Threads:   create and destroy are called by one thread at a time.
/// Errors:    exceptions that leave a factory are caught here and become Errors: one of the two edges where
///            that is done. An exception that leaves a component's destructor ends the process.

#include <array>
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "core/plugin/descriptor.hpp"
#include "core/result.hpp"
#include "params/decl.hpp"

namespace starling::plugin {

/// Compiler and C++ runtime of this translation unit; a plugin built otherwise cannot share C++ types with
/// us.
#define STARLING_FINGERPRINT_TEXT_2(x) #x
#define STARLING_FINGERPRINT_TEXT(x) STARLING_FINGERPRINT_TEXT_2(x)
inline constexpr FixedString<64> kFingerprint = "cxx20 libstdc++ " STARLING_FINGERPRINT_TEXT(
    _GLIBCXX_RELEASE) " cxx11abi " STARLING_FINGERPRINT_TEXT(_GLIBCXX_USE_CXX11_ABI);

/// The functions of a plugin. Args and the result are the framework's types.
struct Entry {
  /// Returns a Component* or null with *error filled in. Never throws.
  void* (*create)(const void* args, Error* error) noexcept = nullptr;
  void (*destroy)(void* component) noexcept = nullptr;
};

template <class Framework, auto Factory>
struct EntryOf {
  using Component = typename Framework::Component;
  using Args = typename Framework::Args;
  static void* create(const void* args, Error* error) noexcept {
    try {
      Result<std::unique_ptr<Component>> made = Factory(*static_cast<const Args*>(args));
      if (made && *made == nullptr) {
        *error = Error{Errc::internal, "create", "gave neither a component nor an error"};
        return nullptr;
      }
      if (made) return static_cast<void*>(std::move(made).value().release());
      *error = std::move(made).error();
    } catch (const std::exception& thrown) {
      *error = Error{Errc::internal, "create", std::string("threw ") + thrown.what()};
    } catch (...) {
      *error = Error{Errc::internal, "create", "threw something that is no std::exception"};
    }
    return nullptr;
  }
  static void destroy(void* component) noexcept { delete static_cast<Component*>(component); }
};

/// What the one exported symbol of a plugin is: starling_plugin_entry of a .so,
/// starling_builtin_<framework>_<name> where it is linked in. It refers to the two records, so that --gc-
/// sections keeps them.
struct Exported {
  const Descriptor* descriptor;
  const params::Decl* params;
  std::size_t param_count;
  Entry entry;
};

}  // namespace starling::plugin

#define STARLING_NO_PARAMS \
  ::std::span<const ::starling::params::Decl> {}

// Linked in, the records are ordinary constants: several plugins are in one library then.
#if defined(STARLING_PLUGIN_BUILTIN)
#define STARLING_PLUGIN_SECTION(NAME)
#define STARLING_PLUGIN_SYMBOL STARLING_BUILTIN_SYMBOL
#elif defined(__clang__)
// AddressSanitizer would put its red zones into the sections.
#define STARLING_PLUGIN_SECTION(NAME) [[gnu::used, gnu::section(NAME), clang::no_sanitize("address")]]
#define STARLING_PLUGIN_SYMBOL starling_plugin_entry
#else
#define STARLING_PLUGIN_SECTION(NAME) [[gnu::used, gnu::section(NAME)]]
#define STARLING_PLUGIN_SYMBOL starling_plugin_entry
#endif

/// Before the one constexpr std::array of params::Decl that is a plugin's manifest.
#define STARLING_PLUGIN_PARAMS STARLING_PLUGIN_SECTION(".starling.params") static constexpr

/// A transport to other nodes writes STARLING_NETWORK_PLUGIN with the same arguments: it is loaded only when
/// a communicator has a member that nothing else reaches, never in a job on one node. A transport to the own
/// process alone writes STARLING_OWN_PLUGIN: it is made before this process knows who shares its node. A
/// component of pmi that speaks PMI-1, PMI-2 or PMIx, or needs nobody, writes STARLING_PMI_PLUGIN with that
/// (pmi::Speaks) behind its name; one with a protocol of its own writes STARLING_PLUGIN, as all others do.
/// FRAMEWORK: trait type; NAME: bare identifier; PRIORITY: int; SUMMARY: literal; PARAMS: an array declared
///            with STARLING_PLUGIN_PARAMS, or STARLING_NO_PARAMS; FACTORY: address of the factory function.
#define STARLING_PLUGIN(FRAMEWORK, NAME, PRIORITY, SUMMARY, PARAMS, FACTORY) \
  STARLING_PLUGIN_RECORD(FRAMEWORK, NAME, PRIORITY, any, 0, SUMMARY, PARAMS, FACTORY)
#define STARLING_PMI_PLUGIN(FRAMEWORK, NAME, SPEAKS, PRIORITY, SUMMARY, PARAMS, FACTORY)                 \
  STARLING_PLUGIN_RECORD(FRAMEWORK, NAME, PRIORITY, any,                                                 \
                         static_cast<::std::uint32_t>(::starling::pmi::Speaks::SPEAKS), SUMMARY, PARAMS, \
                         FACTORY)
#define STARLING_NETWORK_PLUGIN(FRAMEWORK, NAME, PRIORITY, SUMMARY, PARAMS, FACTORY) \
  STARLING_PLUGIN_RECORD(FRAMEWORK, NAME, PRIORITY, other_nodes, 0, SUMMARY, PARAMS, FACTORY)
#define STARLING_OWN_PLUGIN(FRAMEWORK, NAME, PRIORITY, SUMMARY, PARAMS, FACTORY) \
  STARLING_PLUGIN_RECORD(FRAMEWORK, NAME, PRIORITY, own_process, 0, SUMMARY, PARAMS, FACTORY)

#define STARLING_PLUGIN_RECORD(FRAMEWORK, NAME, PRIORITY, SCOPE, FACT, SUMMARY, PARAMS, FACTORY)       \
  STARLING_PLUGIN_SECTION(".starling.plugin")                                                          \
  static constexpr ::starling::plugin::Descriptor starling_descriptor = {                              \
      .magic = ::starling::plugin::kMagic,                                                             \
      .bytes = sizeof(::starling::plugin::Descriptor),                                                 \
      .core_interface = ::starling::plugin::kCoreInterface,                                            \
      .framework_interface = FRAMEWORK::kInterface,                                                    \
      .priority = (PRIORITY),                                                                          \
      .scope = ::starling::plugin::Scope::SCOPE,                                                       \
      .fact = (FACT),                                                                                  \
      .framework = FRAMEWORK::kName,                                                                   \
      .name = #NAME,                                                                                   \
      .version = STARLING_PLUGIN_VERSION,                                                              \
      .fingerprint = ::starling::plugin::kFingerprint,                                                 \
      .summary = SUMMARY};                                                                             \
  extern "C" [[gnu::visibility("default")]] const ::starling::plugin::Exported STARLING_PLUGIN_SYMBOL; \
  extern "C" constinit const ::starling::plugin::Exported STARLING_PLUGIN_SYMBOL = {                   \
      &starling_descriptor,                                                                            \
      ::std::data(PARAMS),                                                                             \
      ::std::size(PARAMS),                                                                             \
      {&::starling::plugin::EntryOf<FRAMEWORK, FACTORY>::create,                                       \
       &::starling::plugin::EntryOf<FRAMEWORK, FACTORY>::destroy}}
