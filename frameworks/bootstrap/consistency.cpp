// SPDX-License-Identifier: BSD-3-Clause
// Members that do not fit. What is hard: whom to tell, and when to stop telling: a failure is passed on by
// those whom it ends, once each, and never back. Who cannot be reached has ended, or hears it from others.
// Layer: framework. See docs/design/startup.md.

#include "frameworks/bootstrap/consistency.hpp"

#include <algorithm>
#include <string_view>

#include "core/worlds.hpp"
#include "params/differences.hpp"

namespace starling::bootstrap {
namespace {

constexpr std::uint64_t kFirstLookNs = 5'000'000'000;
constexpr std::uint64_t kListWaitNs = 5'000'000'000;    // for the list of a process that is in MPI
constexpr std::uint64_t kActivityWaitNs = 500'000'000;  // for what somebody does who may be in no call at all
constexpr std::uint64_t kResultNs = 1'000'000'000;      // for a result that is on its way from the parent
constexpr std::size_t kRemembered = 64;
constexpr std::uint64_t kNobody = ~std::uint64_t{0} >> 32;

SharedBytes bytes_of(std::string_view text) {
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  return share_bytes({begin, begin + text.size()});
}

std::string string_of(const SharedBytes& bytes) {
  if (bytes == nullptr) return {};
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

/// A failure in a block: the code above, the rank that has died below.
ContextId written(const Failure& failure) {
  return ContextId{std::uint64_t{static_cast<std::uint32_t>(failure.code)} << 32 |
                   (failure.dead ? failure.dead->rank : kNobody)};
}

/// Whether it is so for every member and not only for those who have waited.
bool concerns_all(const Failure& failure) { return failure.dead || failure.code == Errc::bad_parameter; }

Failure read_failure(ProcId from, const Block& block) {
  const std::uint64_t code = block.context.bits >> 32, rank = block.context.bits & kNobody;
  Failure failure;
  failure.code =
      code <= static_cast<std::uint64_t>(Errc::internal) ? static_cast<Errc>(code) : Errc::internal;
  if (rank != kNobody) failure.dead = ProcId{from.world, static_cast<std::uint32_t>(rank)};
  failure.text = string_of(block.bytes);
  return failure;
}

}  // namespace

std::string describe(const Creation& creation) {
  return "creation of a communicator of " + std::to_string(creation.members->size()) +
         " processes with tag '" + creation.tag + "'";
}

const Worlds& Consistency::worlds() const {
  static const Worlds one_without_a_name;
  return worlds_ != nullptr ? *worlds_ : one_without_a_name;
}

Consistency::Call::Call(Consistency& consistency, const Creation& creation)
    : consistency_(consistency),
      creation_(creation),
      key_(group_key(consistency.worlds(), *creation.members, creation.tag)),
      orders_(consistency.worlds(), *creation.members),
      number_(++consistency.calls_) {
  Open& open = consistency_.open_[key_];
  open = {};
  open.number = number_;
  open.name = describe(creation);
  const auto of_this = [&](const Early& early) { return early.key == key_; };
  std::erase_if(consistency_.ended_, of_this);
  for (const Early& early : consistency_.early_) {
    if (!of_this(early)) continue;
    if (early.failure) {
      consistency_.fail_open(open, early.from, *early.failure);
    } else {
      open.differs = early.from;
    }
  }
  std::erase_if(consistency_.early_, of_this);
}

Consistency::Call::~Call() {
  const auto open = consistency_.open_.find(key_);
  if (open != consistency_.open_.end() && open->second.number == number_) consistency_.open_.erase(open);
}

bool Consistency::under_way(const Key& key, std::uint64_t number) const {
  const auto open = open_.find(key);
  return open != open_.end() && open->second.number == number;
}

void Consistency::remember(std::deque<Early>& list, Early early) {
  std::erase_if(list, [&](const Early& old) { return old.key == early.key && old.from == early.from; });
  if (list.size() == kRemembered) list.pop_front();
  list.push_back(std::move(early));
}

void Consistency::heard(ProcId from, const Key& key, std::uint64_t settings) {
  if (!differ(settings)) return;
  if (const auto open = open_.find(key); open != open_.end()) {
    if (!open->second.differs) open->second.differs = from;
  } else {
    remember(early_, {key, from, std::nullopt});
  }
}

void Consistency::fail_open(Open& open, ProcId from, Failure failure) {
  if (open.failure) return;
  open.failure = std::move(failure);
  open.source = from;
}

void Consistency::take_failed(ProcId from, const Block& block) {
  const auto open = open_.find(block.key);
  const bool for_any_call = block.call == 0;
  if (open != open_.end()) {
    if (!for_any_call && block.call != open->second.number) return;
    open->second.answered = open->second.answered || !for_any_call;
    fail_open(open->second, from, read_failure(from, block));
  } else if (for_any_call && !has_ended(block.key)) {  // else it is what this process knows and has told, too
    remember(early_, {block.key, from, read_failure(from, block)});
  }
}

bool Consistency::take(ProcId from, const Block& block) {
  if (block.kind != BlockKind::failed) heard(from, block.key, block.settings);
  switch (block.kind) {
    case BlockKind::failed: take_failed(from, block); return true;
    case BlockKind::question:
      if (!reaches_(from)) return true;
      // It may have come when this process had given up already, and could not be told then.
      (void)refused(from, block.key, 0);
      (void)send(from, {BlockKind::answer, block.key, {}, 0, 1, bytes_of(own_answer())});
      return true;
    case BlockKind::answer:
      if (const auto asked = answers_.find(from); asked != answers_.end())
        asked->second = string_of(block.bytes);
      return true;
    case BlockKind::up:
    case BlockKind::down:
    case BlockKind::shared:
    case BlockKind::withdrawn: return false;
  }
  return true;
}

const Failure* Consistency::has_ended(const Key& key) const {
  const auto ended =
      std::find_if(ended_.begin(), ended_.end(), [&](const Early& early) { return early.key == key; });
  return ended == ended_.end() ? nullptr : &*ended->failure;
}

bool Consistency::refused(ProcId from, const Key& key, std::uint64_t call) {
  const Failure* const ended = has_ended(key);
  if (ended == nullptr || open_.contains(key)) return false;
  const Failure failure = *ended;
  (void)send(from, {BlockKind::failed, key, written(failure), 0, 1,
                    failure.dead ? nullptr : bytes_of(failure.text), call});
  return true;
}

Result<void> Consistency::send(ProcId to, Block block) {
  block.settings = settings();
  return control_channel_.send_block(to, block);
}

std::optional<Failure> Consistency::misfit(const Call& call) const {
  const auto open = open_.find(call.key());
  if (open == open_.end()) return std::nullopt;
  if (open->second.failure) return open->second.failure;
  if (open->second.differs) return Failure{Errc::bad_parameter, {}, {}};
  return std::nullopt;
}

Result<void> Consistency::fits(const Call& call) const {
  return still_possible([&] { return misfit(call); }, describe(call.creation()));
}

std::optional<Failure> Consistency::failure(const Call& call) const {
  if (auto found = misfit(call)) return found;
  if (const auto dead = control_channel_.dead_among(*call.creation().members))
    return Failure{Errc::peer_lost, dead, {}};
  return std::nullopt;
}

std::optional<Failure> Consistency::failure_before_result(const Call& call, ProcId parent) {
  auto found = failure(call);
  if (!found || !found->dead || *found->dead == parent || misfit(call)) return found;
  const std::uint64_t now = control_channel_.clock_ns();
  if (now == 0) return found;  // no clock, no patience
  Open& open = open_[call.key()];
  if (open.death_at_ns == 0) open.death_at_ns = now;
  return now - open.death_at_ns < kResultNs ? std::nullopt : std::move(found);
}

void Consistency::look(const Call& call, const std::function<std::vector<ProcId>()>& missing) {
  const auto found = open_.find(call.key());
  const std::uint64_t now = control_channel_.clock_ns();
  if (found == open_.end() || now == 0) return;
  Open& open = found->second;
  if (open.look_at_ns == 0) {
    open.look_again_ns = kFirstLookNs;
    open.look_at_ns = now + kFirstLookNs;
  }
  if (now < open.look_at_ns) return;
  open.look_again_ns *= 2;
  open.look_at_ns = now + open.look_again_ns;
  for (const ProcId proc : missing()) ask(call.key(), proc);
}

void Consistency::rule(const Call& call, Failure failure) {
  if (const auto open = open_.find(call.key()); open != open_.end() && !open->second.failure)
    open->second.failure = std::move(failure);
}

bool Consistency::answered(const Call& call) const {
  const auto open = open_.find(call.key());
  return open != open_.end() && open->second.answered;
}

void Consistency::tell_end(const Call& call, const Error& error, ProcId member, std::uint64_t its_call) {
  const auto dead =
      error.code == Errc::peer_lost ? control_channel_.dead_among(*call.creation().members) : std::nullopt;
  const Failure failure{error.code, dead, error.text()};
  (void)send(member, {BlockKind::failed, call.key(), written(failure), 0, 1,
                      dead ? nullptr : bytes_of(failure.text), its_call});
}

void Consistency::ask(const Key& key, ProcId proc) {
  answers_[proc].clear();
  if (!reaches_(proc)) return;
  (void)send(proc, {BlockKind::question, key, {}, 0, 1, nullptr});
}

void Consistency::wait_for_answers(const std::vector<ProcId>& procs, std::uint64_t ns,
                                   const std::string& what) {
  const auto all_there = [&] {
    return std::none_of(procs.begin(), procs.end(), [&](ProcId proc) { return answers_[proc].empty(); });
  };
  (void)control_channel_.wait(all_there, Deadline::after_ns(ns), [&] { return what; });
}

/// The list of settings, an empty line, and a line for each creation under way.
std::string Consistency::own_answer() const {
  std::string answer = settings_ == nullptr ? std::string("a process\n") : settings_->list();
  answer += '\n';
  for (const auto& [key, open] : open_) answer += open.name + '\n';
  return answer;
}

/// For people, about those that were waited for in vain.
std::string Consistency::what_they_do(const Call& call, const std::vector<ProcId>& procs) {
  for (const ProcId proc : procs) ask(call.key(), proc);
  wait_for_answers(procs, kActivityWaitNs, describe(call.creation()) + ": asks what the others do");
  std::string text;
  for (const ProcId proc : procs) {
    const std::string& answer = answers_[proc];
    const std::size_t end_of_terms = answer.find("\n\n");
    text += "\n  " + text_of(proc);
    if (answer.empty()) {
      text += " does not answer: it is in no call of MPI, or cannot be reached";
    } else if (end_of_terms == std::string::npos || end_of_terms + 2 >= answer.size()) {
      text += " is in MPI, but makes no communicator from a group now";
    } else {
      std::string names = answer.substr(end_of_terms + 2);
      names.pop_back();  // the last line's end
      for (std::size_t at = 0; (at = names.find('\n', at)) != std::string::npos;) names.replace(at, 1, "; ");
      text += " waits in: " + names;
      if (names != describe(call.creation())) text += " (tag and group must be the same on all members)";
    }
  }
  return text;
}

Error Consistency::explain(const Call& call, Error error, const std::vector<ProcId>& waited_for) {
  const std::string name = describe(call.creation());
  std::string others;
  if (error.code == Errc::timed_out) {
    others = what_they_do(call, waited_for);  // an answer may show that settings differ
    if (settings_ != nullptr && !settings_->set().empty())
      others += "\n  set here and to be equal on all members: " + settings_->set();
  }
  const auto open = open_.find(call.key());
  if (open != open_.end() && open->second.failure && error.code == Errc::timed_out)
    return open->second.failure->error(name);  // an answer has told it
  if (open == open_.end() || open->second.failure || !open->second.differs) {
    error.detail += others;
    return error;
  }
  const ProcId other = *open->second.differs;
  if (answers_[other].empty()) {
    ask(call.key(), other);
    wait_for_answers({other}, kListWaitNs, name + ": asks " + text_of(other) + " for its parameters");
  }
  std::string text =
      params::differences(settings_->list(), answers_[other].substr(0, answers_[other].find("\n\n") + 1));
  if (text.empty()) text = " (" + text_of(other) + " has not said what)";
  Error found{Errc::bad_parameter, name,
              "members differ in what all must have alike (docs/parameters.md):" + text};
  rule(call, {found.code, {}, found.text()});
  return found;
}

void Consistency::tell(const Call& call, const Error& error, const std::vector<ProcId>& neighbours) {
  const auto found = open_.find(call.key());
  if (found == open_.end()) return;
  Failure failure;
  if (found->second.failure) {
    failure = *found->second.failure;
  } else if (const auto dead = control_channel_.dead_among(*call.creation().members)) {
    failure = {Errc::peer_lost, dead, {}};
  } else {
    return;
  }
  if (!concerns_all(failure)) return;
  if (!failure.dead && failure.text.empty()) failure.text = error.text();
  std::vector<ProcId> others = neighbours;
  // Its tree may be another one.
  if (const auto differs = found->second.differs;
      differs && std::count(others.begin(), others.end(), *differs) == 0)
    others.push_back(*differs);
  for (const ProcId other : others) {
    if (other == failure.dead || other == found->second.source || !reaches_(other)) continue;
    (void)send(other, {BlockKind::failed, call.key(), written(failure), 0, 1,
                       failure.dead ? nullptr : bytes_of(failure.text)});
  }
  remember(ended_, {call.key(), {}, std::move(failure)});
}

}  // namespace starling::bootstrap
