// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How a plugin offers its component. Layer: framework interface.
///
/// A plugin's plugin.cpp declares its parameters, its descriptor and one factory:
///
///     namespace starling::btl {
///     STARLING_PLUGIN(Framework, shm, 50, "shared memory on one node", params::kShmParams, &create_shm);
///     }
///
/// where Framework is the trait type of the framework's interface header (Component, Args, kName, kInterface) and the factory is
/// `Result<std::unique_ptr<Component>> create_shm(const Args&)`. The same source is built as a .so or linked in
/// (STARLING_PLUGIN_BUILTIN is defined by the build then); see docs/design/plugins.md.
///
/// Threads:   create and destroy are called by one thread at a time.
/// Errors:    exceptions that leave a factory are caught here and become Errors: one of the two edges where that is done.

#include <exception>
#include <memory>
#include <string>

#include "core/plugin/descriptor.hpp"
#include "core/result.hpp"
#include "params/decl.hpp"

namespace starling::plugin {

/// Compiler and C++ runtime of this translation unit; a plugin built otherwise cannot share C++ types with us.
#define STARLING_FINGERPRINT_TEXT_2(x) #x
#define STARLING_FINGERPRINT_TEXT(x) STARLING_FINGERPRINT_TEXT_2(x)
inline constexpr FixedString<64> kFingerprint =
    "cxx20 libstdc++ " STARLING_FINGERPRINT_TEXT(_GLIBCXX_RELEASE) " cxx11abi " STARLING_FINGERPRINT_TEXT(_GLIBCXX_USE_CXX11_ABI);

/// What the one exported symbol (starling_plugin_entry) points to. Args and the result are the framework's types.
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

/// Descriptor, manifest and entry of a plugin that is linked in; cmake/StarlingPlugin.cmake generates the list.
struct Builtin {
  const Descriptor* descriptor;
  const params::Decl* params;
  std::size_t param_count;
  const Entry* entry;
};

}  // namespace starling::plugin

#if defined(STARLING_PLUGIN_BUILTIN)
// Linked in: one symbol per plugin, named by framework and name.
#define STARLING_PLUGIN_EXPORT(FRAMEWORK_ID, NAME, DESCRIPTOR, PARAMS, ENTRY)                                            \
  extern const ::starling::plugin::Builtin STARLING_BUILTIN_SYMBOL;                                                    \
  const ::starling::plugin::Builtin STARLING_BUILTIN_SYMBOL = {&(DESCRIPTOR), std::data(PARAMS), std::size(PARAMS), &(ENTRY)};
#else
#define STARLING_PLUGIN_EXPORT(FRAMEWORK_ID, NAME, DESCRIPTOR, PARAMS, ENTRY)                                            \
  extern "C" [[gnu::visibility("default")]] const ::starling::plugin::Entry* const starling_plugin_entry;              \
  extern "C" const ::starling::plugin::Entry* const starling_plugin_entry = &(ENTRY);
#endif

/// FRAMEWORK: trait type; NAME: bare identifier; PRIORITY: int; SUMMARY: literal; PARAMS: a constexpr std::array of
/// params::Decl (use STARLING_NO_PARAMS for none); FACTORY: address of the factory function.
/// PARAMS must be declared with STARLING_PLUGIN_PARAMS so that it is in the manifest section.
#define STARLING_PLUGIN(FRAMEWORK, NAME, PRIORITY, SUMMARY, PARAMS, FACTORY)                                             \
  [[gnu::used, gnu::section(".starling.plugin")]] extern constinit const ::starling::plugin::Descriptor                 \
      starling_descriptor_##NAME;                                                                                      \
  constinit const ::starling::plugin::Descriptor starling_descriptor_##NAME = {                                        \
      .bytes = sizeof(::starling::plugin::Descriptor), .core_interface = ::starling::plugin::kCoreInterface,           \
      .framework_interface = FRAMEWORK::kInterface, .priority = (PRIORITY), .framework = FRAMEWORK::kName,             \
      .name = #NAME, .version = STARLING_PLUGIN_VERSION, .fingerprint = ::starling::plugin::kFingerprint,              \
      .summary = SUMMARY};                                                                                             \
  static constexpr ::starling::plugin::Entry starling_entry_##NAME = {                                                 \
      &::starling::plugin::EntryOf<FRAMEWORK, FACTORY>::create,                                                        \
      &::starling::plugin::EntryOf<FRAMEWORK, FACTORY>::destroy};                                                      \
  STARLING_PLUGIN_EXPORT(FRAMEWORK, NAME, starling_descriptor_##NAME, PARAMS, starling_entry_##NAME)

#define STARLING_PLUGIN_PARAMS [[gnu::used, gnu::section(".starling.params")]] constexpr
