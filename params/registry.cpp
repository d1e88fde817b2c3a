// SPDX-License-Identifier: BSD-3-Clause
// Declarations meet settings, in any order. Hard: synonyms, and one bad value must not hide the next.

#include "params/registry.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "params/excerpt.hpp"
#include "params/foreign.hpp"
#include "params/nearest.hpp"
#include "params/sources.hpp"
#include "params/value.hpp"

namespace starling::params {

struct Registry::State {
  Settings settings;
  std::map<std::string_view, Value> values;  // node-based: references stay valid
  std::map<std::string_view, const Value*> synonyms;
  std::vector<std::unique_ptr<const Decl[]>> kept;

  /// The value's strongest setting by either of its names; the name itself wins among equals.
  [[nodiscard]] std::pair<std::string_view, const Setting*> setting_of(const Decl& decl) const {
    const auto by_name = settings.find(decl.name.view());
    const auto by_synonym = decl.synonym.view().empty() ? settings.end() : settings.find(decl.synonym.view());
    if (by_name == settings.end() && by_synonym == settings.end()) return {decl.name.view(), nullptr};
    const bool use_synonym =
        by_name == settings.end() ||
        (by_synonym != settings.end() && by_synonym->second.origin.source > by_name->second.origin.source);
    return use_synonym ? std::pair{decl.synonym.view(), &by_synonym->second}
                       : std::pair{decl.name.view(), &by_name->second};
  }

  /// Gives a declared value what the sources have for it; the reason if that is refused, else empty.
  std::string resolve(Value& value) const {
    const auto use_default = [&] {
      value.written = value.decl.fallback.view();
      value.number = parse(value.decl, value.written).value();
      value.origin = {};
    };
    const auto [name, setting] = setting_of(value.decl);
    value.set_as = name;
    value.problem.clear();
    if (setting == nullptr) {
      use_default();
      return {};
    }
    auto number = parse(value.decl, setting->written);
    if (!number) {
      use_default();
      value.problem = "parameter " + std::string(value.decl.name.view()) + " = '" +
                      excerpt(setting->written) + "' (" + setting->origin.text(name) + ") " +
                      number.error().detail;
      return value.problem;
    }
    value.written = setting->written;
    value.number = *number;
    value.origin = setting->origin;
    return {};
  }

  /// Who has this name as a synonym; empty: nobody.
  [[nodiscard]] std::string holder_of_synonym(std::string_view name) const {
    const auto synonym = synonyms.find(name);
    return synonym == synonyms.end() ? std::string{} : synonym->second->owner;
  }
  /// Who has this name already, as a name or a synonym; empty: nobody.
  [[nodiscard]] std::string holder_of(std::string_view name) const {
    const auto value = values.find(name);
    return value == values.end() ? holder_of_synonym(name) : value->second.owner;
  }

  [[nodiscard]] const Value& get(const Decl& decl, const char* asked_as, bool type_fits) const {
    const auto found = values.find(decl.name.view());
    if (found == values.end() || !type_fits) {
      const std::string text =
          "parameter '" + std::string(decl.name.view()) + "' is read as " + asked_as +
          (found == values.end() ? " but was never declared" : " but declared otherwise");
      expectation_failed(text.c_str(), __FILE__, __LINE__);
    }
    return found->second;
  }
};

namespace {

void append_line(std::string& lines, const std::string& line) {
  if (line.empty()) return;
  if (!lines.empty()) lines += '\n';
  lines += line;
}

/// Declarations have no padding (static_assert on their size), so bytes tell.
bool same_declaration(const Decl& a, const Decl& b) { return &a == &b || std::memcmp(&a, &b, sizeof a) == 0; }

}  // namespace

Registry::Registry() : state_(std::make_unique<State>()) {}
Registry::~Registry() = default;
Registry::Registry(Registry&&) noexcept = default;
Registry& Registry::operator=(Registry&&) noexcept = default;

Result<void> Registry::load(const Places& places) {
  auto settings = read_sources(places);
  if (!settings) return fail(std::move(settings).error());
  state_->settings = std::move(settings).value();
  std::string problems;
  for (auto& [name, value] : state_->values) append_line(problems, state_->resolve(value));
  if (!problems.empty()) return fail(Errc::bad_parameter, {}, std::move(problems));
  return {};
}

Result<void> Registry::add(std::string_view owner, std::span<const Decl> decls) {
  std::string problems;
  for (const Decl& decl : decls) {
    const std::string_view name = decl.name.view();
    const auto place = state_->values.lower_bound(name);
    const bool known = place != state_->values.end() && place->first == name;
    if (known && place->second.owner == owner && same_declaration(place->second.decl, decl)) continue;
    if (auto sound = check(decl); !sound) {
      append_line(problems, sound.error().detail);
      continue;
    }
    std::string holder = known ? place->second.owner : state_->holder_of_synonym(name);
    if (holder.empty() && !decl.synonym.view().empty()) holder = state_->holder_of(decl.synonym.view());
    if (!holder.empty()) {
      append_line(problems, "declaration of parameter '" + std::string(name) + "' by " + std::string(owner) +
                                ": its name or synonym is already declared by " + holder);
      continue;
    }
    Value& value =
        state_->values.try_emplace(place, name, Value{decl, {}, 0, {}, {}, {}, std::string(owner)})->second;
    if (!decl.synonym.view().empty()) state_->synonyms.emplace(decl.synonym.view(), &value);
    append_line(problems, state_->resolve(value));
  }
  if (!problems.empty()) return fail(Errc::bad_parameter, {}, std::move(problems));
  return {};
}

void Registry::keep(std::unique_ptr<const Decl[]> decls) { state_->kept.push_back(std::move(decls)); }

std::int64_t Registry::integer(const Decl& decl) const {
  const bool fits = decl.type == Type::boolean || decl.type == Type::integer || decl.type == Type::choice;
  return state_->get(decl, "a number", fits).number;
}

const std::string& Registry::text(const Decl& decl) const {
  return state_->get(decl, "a text", decl.type != Type::boolean && decl.type != Type::integer).written;
}

const Value* Registry::find(std::string_view name) const {
  if (const auto value = state_->values.find(name); value != state_->values.end()) return &value->second;
  if (const auto synonym = state_->synonyms.find(name); synonym != state_->synonyms.end()) {
    return synonym->second;
  }
  return nullptr;
}

std::vector<const Value*> Registry::all() const {
  std::vector<const Value*> list;
  list.reserve(state_->values.size());
  for (const auto& [name, value] : state_->values) list.push_back(&value);
  // The map is in order of names already.
  std::stable_sort(list.begin(), list.end(),
                   [](const Value* a, const Value* b) { return a->owner < b->owner; });
  return list;
}

namespace {
bool half_prefixed(std::string_view name, const Origin& origin) {
  return origin.source == Source::environment && name.starts_with(kHalfPrefix) &&
         !name.starts_with(kEnvironmentPrefix);
}
}  // namespace

std::vector<Unclaimed> Registry::unclaimed() const {
  std::vector<std::string_view> known;
  std::vector<Unclaimed> list;
  for (const auto& [name, setting] : state_->settings) {
    if (state_->values.contains(name) || state_->synonyms.contains(name)) continue;
    if (known.empty()) {
      for (const auto& [declared, value] : state_->values) known.emplace_back(declared);
      for (const auto& [synonym, declared] : state_->synonyms) known.emplace_back(synonym);
    }
    std::string_view meant = name;
    if (half_prefixed(name, setting.origin)) {
      meant.remove_prefix(kHalfPrefix.size());
      if (find(meant) == nullptr) continue;  // somebody else's variable
      std::string whole = std::string(kEnvironmentPrefix) + std::string(meant);
      list.push_back({name, setting.written, setting.origin, std::move(whole)});
      continue;
    }
    // A prefix that belongs to the environment only is a likely slip in a file.
    if (meant.starts_with(kEnvironmentPrefix)) meant.remove_prefix(kEnvironmentPrefix.size());
    list.push_back({name, setting.written, setting.origin, nearest(meant, known)});
  }
  return list;
}

std::string describe(const Unclaimed& unclaimed) {
  std::string text = half_prefixed(unclaimed.name, unclaimed.origin)
                         ? "the environment's '" + excerpt(unclaimed.name) + "' is not read"
                         : "unknown parameter '" + excerpt(unclaimed.name) + "' (" +
                               unclaimed.origin.text(excerpt(unclaimed.name)) + ")";
  if (const std::string_view use = instead_of_parameter(unclaimed.name); !use.empty())
    return text + ", which is another MPI library's; here use " + std::string(use);
  if (!unclaimed.nearest.empty()) text += "; did you mean '" + unclaimed.nearest + "'?";
  return text + " (`starling-info` lists all parameters)";
}

}  // namespace starling::params
