// SPDX-License-Identifier: BSD-3-Clause
// A conformance suite as a program: which plugin, with which parameters.

#include <cstdio>
#include <cstring>
#include <optional>

#include "tests/conformance/plugin.hpp"

namespace starling::conformance {
namespace {

std::optional<Plugin> opened;

int complain(const std::string& text) {
  std::fprintf(stderr, "conformance: %s\n", text.c_str());
  return 2;
}

int run(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  std::string what;
  std::vector<std::string> settings;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--set" && i + 1 < count && std::strchr(words[i + 1], '=') != nullptr) {
      settings.emplace_back(words[++i]);
    } else if (!word.starts_with("-") && what.empty()) {
      what = word;
    } else {
      what.clear();
      break;
    }
  }
  if (what.empty())
    return complain(
        "usage: <suite> PLUGIN.so|FRAMEWORK/NAME [--set PARAMETER=VALUE]... [options of GoogleTest]");
  auto plugin = Plugin::open(what, std::move(settings));
  if (!plugin) return complain(plugin.error().text());
  if (plugin->descriptor().framework.view() != STARLING_CONFORMANCE_FRAMEWORK)
    return complain(what + " is a plugin of framework " + std::string(plugin->descriptor().framework.view()) +
                    ", expected one of " STARLING_CONFORMANCE_FRAMEWORK);
  if (auto parameters = plugin->parameters(); !parameters) return complain(parameters.error().text());
  opened.emplace(std::move(*plugin));
  return RUN_ALL_TESTS();
}

}  // namespace

const Plugin& plugin_under_test() { return *opened; }

}  // namespace starling::conformance

int main(int count, char** words) { return starling::conformance::run(count, words); }
