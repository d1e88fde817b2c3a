// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The plugin that a conformance suite is run on, loaded as a job loads it. Layer: tests.
///
/// Threads:   main() opens it before the first test.
/// Ownership: it stays loaded; components are their callers'.
/// Errors:    what keeps the plugin from being loaded is the loader's own text.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "frameworks/examine.hpp"
#include "params/registry.hpp"

namespace starling::conformance {

class Plugin {
 public:
  /// `what`: the file of a plugin, or "btl/shm" for one that is linked into libstarling. `settings`:
  /// "name=value", for the parameters of each registry that follows.
  [[nodiscard]] static Result<Plugin> open(const std::string& what, std::vector<std::string> settings);

  [[nodiscard]] const plugin::Descriptor& descriptor() const noexcept {
    return examined_.candidate.descriptor;
  }
  [[nodiscard]] std::string label() const;

  /// Parameters as a job's process has them: from files and the environment, and `settings` and `more` above
  /// them. All of core, of the plugin's framework and of the plugin are declared.
  [[nodiscard]] Result<params::Registry> parameters(const std::vector<std::string>& more = {}) const;

  template <class Component>
  struct Destroy {
    void (*destroy)(void*) noexcept = nullptr;
    void operator()(Component* component) const noexcept { destroy(component); }
  };
  template <class Framework>
  using Handle = std::unique_ptr<typename Framework::Component, Destroy<typename Framework::Component>>;

  template <class Framework>
  [[nodiscard]] Result<Handle<Framework>> create(const typename Framework::Args& args) const {
    Error error;
    void* const made = exported_->entry.create(&args, &error);
    if (made == nullptr) return fail(std::move(error).within(label()));
    return Handle<Framework>(static_cast<typename Framework::Component*>(made), {exported_->entry.destroy});
  }

 private:
  plugin::Examined examined_;
  const plugin::Exported* exported_ = nullptr;
  std::vector<std::string> settings_;
};

/// The one that main() was told to test. Used by the tests only, which have no arguments.
[[nodiscard]] const Plugin& plugin_under_test();

/// Parameters of a test; a failure of the test if they cannot be had.
[[nodiscard]] params::Registry test_parameters(const std::vector<std::string>& more = {});

}  // namespace starling::conformance
