// SPDX-License-Identifier: BSD-3-Clause
// The index of plugins. Hard: what is an error of the user's and what is merely listed. See
// docs/design/plugins.md.

#include "frameworks/select.hpp"

#include <sys/auxv.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <map>
#include <tuple>

#include "core/log.hpp"
#include "core/plugin/directory.hpp"
#include "core/plugin/loader.hpp"
#include "core/plugin/prefix.hpp"
#include "frameworks/builtin.hpp"
#include "frameworks/handed_records.hpp"
#include "params/core_params.hpp"
#include "params/excerpt.hpp"
#include "params/foreign.hpp"
#include "params/nearest.hpp"
#include "params/value.hpp"

namespace starling::plugin {

struct Index::State {
  struct Chosen {
    params::Selection list;
    std::string said;  ///< "btl = 'a,b' (environment STARLING_MCA_btl)", for errors
  };

  std::vector<Candidate> candidates;
  std::map<std::string, const Exported*> linked_in;  ///< "btl/shm" -> its record
  std::map<std::string, Chosen, std::less<>> chosen;
  std::vector<std::string> searched;
  std::vector<std::string> refused_directories;
  std::vector<std::string> problems;
  std::vector<std::string> passed_over;
  std::int64_t start_timeout = 0;

  void note(const Result<void>& done) {
    if (!done) problems.push_back(done.error().text());
  }
  void declare_selections(params::Registry& params);
  void take(params::Registry& params, Candidate candidate);
  bool take_handed(params::Registry& params, const std::string& directory);
  void search(params::Registry& params, const std::string& directory, Trust trust);
  void search_path(params::Registry& params);
  void sort();

  [[nodiscard]] const Candidate* best(std::string_view framework, std::string_view name) const;
  [[nodiscard]] std::string what_exists(std::string_view framework) const;
  [[nodiscard]] Result<const Candidate*> named(std::string_view framework, std::string_view name,
                                               const Chosen& by) const;
};

namespace {

std::string label(const Candidate& candidate) { return candidate.framework + "/" + candidate.name; }

/// Neither linked in nor beside libstarling, where a file may well lack the library that it needs.
bool is_of_the_site(const Candidate& candidate) {
  return !candidate.file.empty() && !candidate.file.starts_with(installation().plugin_directory + "/");
}

/// Position in all_frameworks(); what belongs to none comes last.
std::size_t order_of(const Candidate& candidate) {
  const auto all = all_frameworks();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const FrameworkInfo& info) { return info.name == candidate.framework; });
  return static_cast<std::size_t>(found - all.begin());
}

/// Why a manifest cannot go beside what is declared already; empty: it can.
std::string clash(const params::Registry& params, const std::string& owner,
                  std::span<const params::Decl> manifest) {
  for (const params::Decl& decl : manifest) {
    for (const auto name : {decl.name.view(), decl.synonym.view()}) {
      const params::Value* const other = name.empty() ? nullptr : params.find(name);
      if (other != nullptr && other->owner != owner) {
        return "declares parameter '" + std::string(name) + "', which " + other->owner +
               " has declared already";
      }
    }
  }
  return {};
}

}  // namespace

void Index::State::declare_selections(params::Registry& params) {
  for (const FrameworkInfo& framework : all_frameworks()) {
    note(params.add(framework.name, std::span(&framework.selection, 1)));
    note(params.add(framework.name, framework.params));
    const params::Value& value = *params.find(framework.name);
    chosen[std::string(framework.name)] = {
        params::parse_selection(value.written).value(),  // the registry has checked it
        std::string(framework.name) + " = '" + params::excerpt(value.written) + "' (" +
            value.origin.text(value.set_as) + ")"};
  }
}

void Index::State::take(params::Registry& params, Candidate candidate) {
  if (candidate.refusal.empty()) {
    const std::string where = candidate.file.empty() ? "linked in" : candidate.file;
    const Candidate* const first = best(candidate.framework, candidate.name);
    if (first != nullptr) {
      candidate.hidden = true;
      candidate.refusal =
          where + ": hidden by " + (first->file.empty() ? "the one that is linked in" : first->file);
    } else if (const std::string why = clash(params, label(candidate), candidate.manifest); !why.empty()) {
      candidate.refusal = where + ": " + why;
    } else {
      note(params.add(label(candidate), candidate.manifest));
    }
  }
  if (!candidate.refusal.empty()) candidate.manifest = {};
  candidates.push_back(std::move(candidate));
}

/// Whether mpiexec has read that directory for this process.
bool Index::State::take_handed(params::Registry& params, const std::string& directory) {
  auto plugins = handed_records(directory);
  if (!plugins) return false;
  searched.push_back(directory);
  for (Candidate& plugin : *plugins) take(params, std::move(plugin));
  return true;
}

void Index::State::search(params::Registry& params, const std::string& directory, Trust trust) {
  auto files = shared_objects_in(directory, trust);
  if (!files && files.error().code == Errc::not_found && trust == Trust::own && !linked_in.empty()) {
    searched.push_back(directory);  // where every plugin is linked in, nobody has to make the directory
    return;
  }
  if (!files) {
    refused_directories.push_back(params::excerpt(directory, PATH_MAX) + ": " + files.error().text());
    return;
  }
  searched.push_back(directory);
  for (const SharedObject& file : *files) {
    Examined plugin = examine_file(file.path);
    if (!file.refusal.empty()) {  // its records are only shown
      plugin.candidate.refusal = file.path + ": " + file.refusal;
      plugin.candidate.manifest = {};
    }
    params.keep(std::move(plugin.read));
    take(params, std::move(plugin.candidate));
  }
}

void Index::State::search_path(params::Registry& params) {
  std::string_view rest = params.text(params::kPluginPath);
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    const std::string directory(rest.substr(0, colon));
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
    if (!directory.empty()) search(params, directory, Trust::checked);
  }
}

void Index::State::sort() {
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    const auto key = [](const Candidate& c) {
      return std::tuple(order_of(c), !c.refusal.empty(), -std::int64_t{c.descriptor.priority},
                        std::string_view(c.name));
    };
    return key(a) < key(b);
  });
}

/// The usable component of that name, or null.
const Candidate* Index::State::best(std::string_view framework, std::string_view name) const {
  for (const Candidate& candidate : candidates) {
    if (candidate.framework == framework && candidate.name == name && candidate.refusal.empty())
      return &candidate;
  }
  return nullptr;
}

std::string Index::State::what_exists(std::string_view framework) const {
  std::string usable;
  std::string refused;
  for (const Candidate& candidate : candidates) {
    if (candidate.framework != framework) continue;
    if (candidate.refusal.empty()) {
      usable += (usable.empty() ? "" : ", ") + candidate.name;
    } else {
      refused += "\n  not usable: " + candidate.refusal;
    }
  }
  std::string text =
      "\n  usable: " + (usable.empty() ? std::string("none") : usable) + refused + "\n  searched: linked in";
  for (const std::string& directory : searched) text += ", " + directory;
  for (const std::string& directory : refused_directories) text += "\n  not searched: " + directory;
  return text;
}

Result<const Candidate*> Index::State::named(std::string_view framework, std::string_view name,
                                             const Chosen& by) const {
  if (const Candidate* const usable = best(framework, name); usable != nullptr) return usable;
  std::vector<std::string_view> names;
  for (const Candidate& candidate : candidates) {
    if (candidate.framework != framework) continue;
    if (candidate.name == name) {
      // `^x` of something that could not be used anyway asks for nothing.
      if (by.list.excluded) return nullptr;
      return fail(
          Errc::not_found, std::string(framework),
          by.said + " names '" + params::excerpt(name) + "', which cannot be used: " + candidate.refusal);
    }
    names.push_back(candidate.name);
  }
  const std::string_view use = params::instead_of_component(framework, name);
  const std::string near = params::nearest(name, names);
  // Recipes for other MPIs exclude theirs (`btl=^openib`), which asks for nothing; a slip is told.
  if (by.list.excluded && near.empty()) return nullptr;
  std::string hint;
  if (!use.empty()) {
    hint = ", but in other MPI libraries; here use " + std::string(use);
  } else if (!near.empty()) {
    hint = " (did you mean '" + near + "'?)";
  }
  return fail(Errc::not_found, std::string(framework),
              by.said + " names '" + params::excerpt(name) + "', which does not exist" + hint +
                  what_exists(framework));
}

Index::Index() : state_(std::make_unique<State>()) {}
Index::~Index() = default;
Index::Index(Index&&) noexcept = default;
Index& Index::operator=(Index&&) noexcept = default;

Index Index::inspect(params::Registry& params, const std::string& prefix, Options options) {
  Index index;
  State& state = *index.state_;
  state.candidates.reserve(32);
  state.note(params::add_core(params));
  state.start_timeout = params.integer(params::kPluginStartTimeout);
  state.declare_selections(params);
  std::vector<Candidate> linked_in;
  for (const Exported* exported : options.linked_in ? builtins() : std::vector<const Exported*>{}) {
    linked_in.push_back(examine_builtin(*exported).candidate);
    state.linked_in[label(linked_in.back())] = exported;
  }
  const Installation& here = installation();
  const bool ours = prefix == here.prefix;
  // A file beside libstarling takes the place of what is linked in under its name.
  if (!ours) {
    state.search(params, prefix + "/lib/starling", Trust::checked);
  } else if (!state.take_handed(params, here.plugin_directory)) {
    state.search(params, here.plugin_directory, Trust::own);
  }
  for (Candidate& plugin : linked_in) state.take(params, std::move(plugin));
  if (!options.at_secure) state.search_path(params);
  state.sort();
  return index;
}

Result<Index> Index::scan(params::Registry& params, const std::string& prefix) {
  Index index = inspect(params, prefix, Options{.at_secure = ::getauxval(AT_SECURE) != 0});
  if (index.problems().empty()) return index;
  std::string all;
  for (const std::string& problem : index.problems()) all += (all.empty() ? "" : "\n") + problem;
  return fail(Errc::bad_parameter, {}, std::move(all));
}

const std::vector<Candidate>& Index::candidates() const noexcept { return state_->candidates; }
const std::vector<std::string>& Index::refused_directories() const noexcept {
  return state_->refused_directories;
}
const std::vector<std::string>& Index::problems() const noexcept { return state_->problems; }

bool Index::named_by_user(const Candidate& candidate) const {
  const auto chosen = state_->chosen.find(candidate.framework);
  if (chosen == state_->chosen.end() || chosen->second.list.excluded) return false;
  const auto& names = chosen->second.list.names;
  return std::find(names.begin(), names.end(), candidate.name) != names.end();
}

Result<std::vector<const Candidate*>> Index::admitted(std::string_view framework) const {
  const auto found = state_->chosen.find(framework);
  expects(found != state_->chosen.end(), "a framework that is not in all_frameworks()");
  const State::Chosen& chosen = found->second;
  std::vector<const Candidate*> list;
  std::vector<const Candidate*> named;
  for (const std::string& name : chosen.list.names) {
    auto candidate = state_->named(framework, name, chosen);
    if (!candidate) return fail(std::move(candidate).error());
    named.push_back(*candidate);
  }
  if (!chosen.list.names.empty() && !chosen.list.excluded) return named;
  for (const Candidate& candidate : state_->candidates) {
    const bool excluded = std::find(named.begin(), named.end(), &candidate) != named.end();
    if (candidate.framework == framework && candidate.refusal.empty() && !excluded)
      list.push_back(&candidate);
  }
  if (list.empty()) {
    return fail(
        Errc::not_found, std::string(framework),
        (named.empty() ? std::string("there is no usable component") : chosen.said + " leaves no component") +
            state_->what_exists(framework));
  }
  return list;
}

std::vector<std::string> Index::left_out() const {
  std::vector<std::string> all;
  for (const Candidate& candidate : state_->candidates) {
    if (!candidate.refusal.empty() && !candidate.hidden && is_of_the_site(candidate))
      all.push_back(label(candidate) + ": " + candidate.refusal);
  }
  all.insert(all.end(), state_->passed_over.begin(), state_->passed_over.end());
  return all;
}

Error Index::passed_over(const Candidate& candidate, Error error) {
  if (error.code != Errc::unsupported && is_of_the_site(candidate))
    state_->passed_over.push_back(error.text());
  return error;
}

std::int64_t Index::start_timeout() const noexcept { return state_->start_timeout; }

Error Index::named(const Candidate& candidate, Error error) {
  const std::string name = label(candidate);
  return (error.where + ":").starts_with(name + ":") ? std::move(error) : std::move(error).within(name);
}

Result<const Entry*> Index::open(const Candidate& candidate) {
  const std::string where = label(candidate);
  if (!candidate.refusal.empty()) return fail(Errc::not_found, where, candidate.refusal);
  if (candidate.file.empty()) return &state_->linked_in.at(where)->entry;
  log::info(where + ": loading " + candidate.file);  // the last line, if its constructors end the process
  auto symbol = load_symbol(candidate.file, kEntrySymbol);
  if (!symbol) return fail(std::move(symbol).error().within(where));
  const auto* const exported = static_cast<const Exported*>(*symbol);
  // A file that was replaced between the listing and now was not checked.
  if (exported->descriptor == nullptr || exported->entry.create == nullptr ||
      exported->entry.destroy == nullptr) {
    return fail(Errc::bad_input, where,
                candidate.file + ": its entry record has no descriptor, create or destroy");
  }
  if (std::memcmp(exported->descriptor, &candidate.descriptor, sizeof(Descriptor)) != 0) {
    return fail(Errc::bad_input, where,
                candidate.file +
                    ": its descriptor is not the one that was read before; was it "
                    "replaced meanwhile? Start again");
  }
  return &exported->entry;
}

}  // namespace starling::plugin
