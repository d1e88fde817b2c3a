// SPDX-License-Identifier: BSD-3-Clause
// The hash is over names and values as they are read (`yes` is `1`), so that only what matters differs;
// origins are not in it. Layer: framework. See docs/design/startup.md.

#include "frameworks/bootstrap/settings.hpp"

#include <utility>

#include "params/decl.hpp"
#include "params/differences.hpp"

namespace starling::bootstrap {
namespace {

constexpr std::string_view kLibrary = "library";

class Hash {
 public:
  void add(std::string_view text) noexcept {
    for (const char byte : text) step(static_cast<unsigned char>(byte));
    step(0x100);  // where a text ends
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return hash_; }

 private:
  void step(std::uint64_t number) noexcept { hash_ = (hash_ ^ number) * 0x100000001b3u; }
  std::uint64_t hash_ = 0xcbf29ce484222325u;  // FNV-1a
};

/// As it counts: numbers as numbers, texts as they were written.
std::string meaning_of(const params::Value& value) {
  switch (value.decl.type) {
    case params::Type::boolean:
    case params::Type::integer:
    case params::Type::choice: return std::to_string(value.number);
    case params::Type::text:
    case params::Type::selection: return value.written;
  }
  return value.written;
}

}  // namespace

Settings Settings::of(const params::Registry& params, std::string_view library, std::string who) {
  Settings settings;
  Hash hash;
  hash.add(library);
  settings.list_ = params::shown(who) + "\n" + std::string(kLibrary) + "\t" + params::shown(library) +
                   "\tthis build\n" + params::list_of(params, params::Alike::members);
  for (const params::Value* const value : params.all()) {
    if (value->decl.equal == static_cast<std::uint16_t>(params::Alike::nobody)) continue;
    const std::string name(value->decl.name.view());
    if (value->decl.equal == static_cast<std::uint16_t>(params::Alike::members)) {
      hash.add(name);
      hash.add(meaning_of(*value));
    }
    if (value->origin.source == params::Source::default_value) continue;
    settings.set_ += (settings.set_.empty() ? "" : ", ") + name + "=" + params::shown(value->written) + " (" +
                     params::shown(value->origin.text(value->set_as)) + ")";
  }
  settings.hash_ = hash.value();
  return settings;
}

}  // namespace starling::bootstrap
