// SPDX-License-Identifier: BSD-3-Clause
// The receiver's side of messages that are held back.
#include "frameworks/pml/holders.hpp"

#include <algorithm>
#include <new>

namespace starling::pml {

void Holders::on_held(Peer& peer, const wire::Envelope& header) noexcept {
  const ContextId id{header.context};
  const Rank rank{header.source};
  Context* const context = matcher_.find(id);
  if (context != nullptr && matcher_.source_of(peer, *context, rank) == nullptr) return;
  const auto same = [&](const Holder& holder) { return holder.peer == &peer && holder.context == id; };
  if (std::any_of(holders_.begin(), holders_.end(), same)) return;
  const Holder holder{&peer, id, rank};
  try {
    holders_.push_back(holder);
  } catch (const std::bad_alloc&) {
    ask(holder);
  }
}

/// Whether something waits here that a held message could match. A context that is closed wants all of them,
/// to refuse them.
bool Holders::wanted(const Holder& holder) noexcept {
  const Context* const context = matcher_.find(holder.context);
  if (context == nullptr) return matcher_.closed(holder.context);
  const Source* const source = context->touched(holder.rank);
  return !context->any_source.empty() || (source != nullptr && !source->posted.empty());
}

void Holders::ask(const Holder& holder) noexcept {
  const wire::Envelope header{{wire::Kind::go_on, 0, 0, 0}, holder.context.bits, 0, 0};
  outbox_.answer(*holder.peer, wire::bytes_of(header));
}

/// `asked` says which holders to ask.
template <class Asked>
int Holders::ask_those(Asked asked) noexcept {
  int events = 0;
  for (std::size_t at = 0; at < holders_.size();) {
    const Holder holder = holders_[at];
    if (!asked(holder)) {
      ++at;
      continue;
    }
    holders_[at] = holders_.back();
    holders_.pop_back();
    ask(holder);
    ++events;
  }
  return events;
}

int Holders::ask() noexcept {
  return ask_those([this](const Holder& holder) { return wanted(holder); });
}

void Holders::probed_in_vain(const Context& context, Rank source) noexcept {
  (void)ask_those([&](const Holder& holder) {
    return holder.context == context.id() && (source == kAnySource || source == holder.rank);
  });
}

void Holders::forget(const Peer& peer) noexcept {
  std::erase_if(holders_, [&](const Holder& holder) { return holder.peer == &peer; });
}

}  // namespace starling::pml
