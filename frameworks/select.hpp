// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Finding, checking, choosing and opening plugins of any framework. Layer: framework.
///
/// The index knows every plugin of every directory from its file's records alone; a file is loaded only when
/// it is opened. Each framework F has a parameter `<F>`, a selection list: empty (all, by priority), `a,b` or
/// `^a`.
///
/// Threads:   one at a time.
/// Ownership: opened libraries stay loaded until exit (ucx and others do not survive dlclose).
/// Errors:    a plugin named by the user that cannot be used is an Error with the reason; else it is skipped
///            and listed.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "frameworks/examine.hpp"
#include "frameworks/plugin.hpp"
#include "frameworks/start_crash.hpp"
#include "frameworks/start_watch.hpp"
#include "params/registry.hpp"

namespace starling::plugin {

class Index {
 public:
  /// Scans the linked-in plugins, the installation's plugin directory and the directories of parameter
  /// `plugin_path`, reads every descriptor and adds every manifest to the registry (and the parameters of
  /// core and the frameworks). A name found twice: the first usable one counts. In a set-uid process
  /// `plugin_path` is ignored. An Error holds every parameter value that was refused. `prefix` is
  /// core/plugin/prefix.hpp's, or that of another installation.
  [[nodiscard]] static Result<Index> scan(params::Registry& params, const std::string& prefix);

  /// As scan(), for listings: bad parameter values do not stop it, they are problems().
  struct Options {
    bool at_secure = false;  ///< as if the process were set-uid
    bool linked_in = true;   ///< also the plugins that are linked in
  };
  [[nodiscard]] static Index inspect(params::Registry& params, const std::string& prefix, Options options);

  Index();
  ~Index();
  Index(Index&&) noexcept;
  Index& operator=(Index&&) noexcept;

  /// Everything that was found, by framework in the order of all_frameworks(), best priority first.
  [[nodiscard]] const std::vector<Candidate>& candidates() const noexcept;
  /// Directories that were not searched, with the reason, one a line: for listings and a warning.
  [[nodiscard]] const std::vector<std::string>& refused_directories() const noexcept;
  /// A site's own plugins that are there and cannot be used, each with the reason: broken files, and those
  /// that have failed when they were loaded or made so far. Not those that say that there is nothing for them
  /// to do here.
  [[nodiscard]] std::vector<std::string> left_out() const;
  /// Parameter values that were refused, one or more lines each.
  [[nodiscard]] const std::vector<std::string>& problems() const noexcept;
  /// Whether the selection list asks for this component by its name.
  [[nodiscard]] bool named_by_user(const Candidate& candidate) const;

  /// Candidates of a framework that its selection list admits, best first (list order, else priority), at
  /// least one. A name in the list that does not exist, or exists and was refused, is an Error that says what
  /// exists, where it was looked for, and why not.
  [[nodiscard]] Result<std::vector<const Candidate*>> admitted(std::string_view framework) const;

  /// Loads the plugin (at first use; once per process) and gives its entry. A candidate of this index.
  [[nodiscard]] Result<const Entry*> open(const Candidate& candidate);

  /// A component and the one that destroys it.
  struct Destroy {
    void (*destroy)(void*) noexcept = nullptr;
    void operator()(void* component) const noexcept { destroy(component); }
  };
  template <class Framework>
  using Handle = std::unique_ptr<typename Framework::Component, Destroy>;

  template <class Framework>
  [[nodiscard]] Result<Handle<Framework>> create(const Candidate& candidate,
                                                 const typename Framework::Args& args) {
    const std::string what = candidate.framework + "/" + candidate.name;
    const StartWatch watch(what, candidate.file, start_timeout());
    const StartCrash crash(what, candidate.file);
    Result<const Entry*> entry = open(candidate);
    if (!entry) return fail(passed_over(candidate, std::move(entry).error()));
    Error error;
    void* const component = (*entry)->create(&args, &error);
    if (component == nullptr) return fail(passed_over(candidate, named(candidate, std::move(error))));
    return Handle<Framework>(static_cast<typename Framework::Component*>(component),
                             Destroy{(*entry)->destroy});
  }

  /// The first admitted candidate that creates: for frameworks of which one component runs (pmi, shm, pml,
  /// bootstrap). The Error lists every candidate with its reason; one whose parameters do not fit those of
  /// other processes is alone, since no other candidate would mend that (Errc::bad_parameter). `chosen`, if
  /// given, receives its name.
  template <class Framework>
  [[nodiscard]] Result<Handle<Framework>> create_first(const typename Framework::Args& args,
                                                       std::string* chosen = nullptr) {
    auto list = admitted(Framework::kName.view());
    if (!list) return fail(std::move(list).error());
    std::string reasons;
    for (const Candidate* candidate : *list) {
      auto made = create<Framework>(*candidate, args);
      if (made) {
        if (chosen != nullptr) *chosen = candidate->name;
        return made;
      }
      if (made.error().code == Errc::bad_parameter) return made;
      reasons += "\n  " + made.error().text();
    }
    return fail(Errc::not_found, std::string(Framework::kName.view()), "no component can be used:" + reasons);
  }

 private:
  /// An error that its component begins with its name stays, others get it here: so it stands there once.
  [[nodiscard]] static Error named(const Candidate& candidate, Error error);
  /// Keeps the error for left_out(), and gives it back.
  [[nodiscard]] Error passed_over(const Candidate& candidate, Error error);
  [[nodiscard]] std::int64_t start_timeout() const noexcept;  ///< seconds

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starling::plugin
