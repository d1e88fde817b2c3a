// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Why a creation cannot succeed although members are there: they do not fit together.
/// Layer: framework.
///
/// Each first message of a creation carries its sender's Settings::hash(). Who sees another one asks the
/// sender for its list, names what differs, and tells its neighbours in the tree, who tell theirs. Who has
/// waited long asks those that it waits for: they may be somewhere else altogether.
///
/// Threads:   under the runtime's lock, which waits release. Questions are answered whenever a process
///            progresses.
/// Ownership: the control channel and the settings outlive it.
/// Errors:    explain() gives them; asking never fails by itself.
/// Units:     nanoseconds where a name says so.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/bootstrap/group_key.hpp"
#include "frameworks/bootstrap/members.hpp"
#include "frameworks/bootstrap/orders.hpp"
#include "frameworks/bootstrap/settings.hpp"

namespace starling::bootstrap {

/// "creation of a communicator of 4 processes with tag 'x'", for people.
[[nodiscard]] std::string describe(const Creation& creation);

class Consistency {
 public:
  /// Whether a message gets to a process, as far as is known without waiting.
  using Reaches = std::function<bool(ProcId)>;
  /// `settings` null: nothing is compared. `worlds`: as in bootstrap::Args.
  Consistency(ControlChannel& control_channel, const Settings* settings, const Worlds* worlds,
              Reaches reaches)
      : control_channel_(control_channel),
        settings_(settings),
        worlds_(worlds),
        reaches_(std::move(reaches)) {}

  /// One creation in this process, from its entry to its end.
  class Call {
   public:
    Call(Consistency& consistency, const Creation& creation);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    [[nodiscard]] const Key& key() const noexcept { return key_; }
    /// In which order this process gives the members.
    [[nodiscard]] const Orders& orders() const noexcept { return orders_; }
    /// Unique in this process, never 0.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    [[nodiscard]] const Creation& creation() const noexcept { return creation_; }

   private:
    Consistency& consistency_;
    const Creation& creation_;
    Key key_;
    Orders orders_;
    std::uint64_t number_;
  };

  [[nodiscard]] std::uint64_t settings() const noexcept {
    return settings_ == nullptr ? 0 : settings_->hash();
  }
  /// Whether this is the number of a call that is still under way.
  [[nodiscard]] bool under_way(const Key& key, std::uint64_t number) const;

  /// Sends a block of a creation, with the own settings.
  Result<void> send(ProcId to, Block block);

  // What arrives.
  /// A message of a creation came from a process with these settings.
  void heard(ProcId from, const Key& key, std::uint64_t settings);
  /// Takes the kinds of blocks that are for this class; false: it is another kind.
  [[nodiscard]] bool take(ProcId from, const Block& block);
  /// Whether this process has settings and these are others.
  [[nodiscard]] bool differ(std::uint64_t settings) const noexcept {
    return settings_ != nullptr && settings != settings_->hash();
  }
  /// Whether this process has given up such a creation, for a reason that stays.
  [[nodiscard]] bool ended(const Key& key) const { return has_ended(key) != nullptr; }
  /// A message of a creation that has so ended: tells its sender.
  [[nodiscard]] bool refused(ProcId from, const Key& key, std::uint64_t call);

  // While a creation waits.
  /// Whether all that was heard fits: asked once those below have come, before anybody is told that they
  /// have.
  [[nodiscard]] Result<void> fits(const Call& call) const;
  /// A member that has died, or what was heard.
  [[nodiscard]] std::optional<Failure> failure(const Call& call) const;
  /// As failure(), for who has told its parent in the tree that all below are there, and waits for the
  /// result. Another member may have had its own, and have ended since: its death is a failure only if the
  /// result does not come soon. A parent that needs the dead one tells so at once.
  [[nodiscard]] std::optional<Failure> failure_before_result(const Call& call, ProcId parent);
  /// Now and then, and only after seconds: asks those that `missing` gives. Cheap otherwise.
  void look(const Call& call, const std::function<std::vector<ProcId>()>& missing);

  // After it has failed.
  /// Whether the parent has ended this very call: it counts on nothing any more, and may be gone.
  [[nodiscard]] bool answered(const Call& call) const;
  /// What to tell the user: the difference if members do not fit, else what the awaited members are doing.
  /// May wait briefly for answers.
  [[nodiscard]] Error explain(const Call& call, Error error, const std::vector<ProcId>& waited_for);
  /// Tells these members of a failure that concerns all, apart from who has told it.
  void tell(const Call& call, const Error& error, const std::vector<ProcId>& neighbours);
  /// Ends the call of a member that waits for this process, whatever the failure is.
  void tell_end(const Call& call, const Error& error, ProcId member, std::uint64_t its_call);

 private:
  struct Open {
    std::uint64_t number = 0;
    std::string name;
    std::optional<Failure> failure;
    std::optional<ProcId> differs;  // whose settings are others
    std::optional<ProcId> source;   // who has told
    bool answered = false;          // the failure is the answer to what was sent up
    std::uint64_t death_at_ns = 0;  // when a member's death was seen first, before the result
    std::uint64_t look_at_ns = 0, look_again_ns = 0;
  };
  struct Early {
    Key key;
    ProcId from;
    std::optional<Failure> failure;  // none: its settings differ
  };
  [[nodiscard]] const Worlds& worlds() const;
  [[nodiscard]] std::optional<Failure> misfit(const Call& call) const;
  void rule(const Call& call, Failure failure);
  void fail_open(Open& open, ProcId from, Failure failure);
  [[nodiscard]] const Failure* has_ended(const Key& key) const;
  void take_failed(ProcId from, const Block& block);
  void remember(std::deque<Early>& list, Early early);
  [[nodiscard]] std::string own_answer() const;
  [[nodiscard]] std::string what_they_do(const Call& call, const std::vector<ProcId>& procs);
  void ask(const Key& key, ProcId proc);
  void wait_for_answers(const std::vector<ProcId>& procs, std::uint64_t ns, const std::string& what);

  ControlChannel& control_channel_;
  const Settings* settings_;
  const Worlds* worlds_;
  Reaches reaches_;
  std::uint64_t calls_ = 0;
  std::unordered_map<Key, Open, KeyHash> open_;
  std::deque<Early> early_;  // for creations that this process has not entered; the oldest are forgotten
  std::deque<Early> ended_;  // those that it has left for a reason that stays; the oldest are forgotten
  std::map<ProcId, std::string> answers_;  // of those that were asked; empty: not yet
};

}  // namespace starling::bootstrap
