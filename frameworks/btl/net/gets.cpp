// SPDX-License-Identifier: BSD-3-Clause
// Large messages from buffer to buffer. What is hard: a receive whose sender has died half-way may not end by
// itself, and until it has ended the user's buffer is not the user's. Layer: framework.
// Design: docs/design/network.md, "Gets".

#include "frameworks/btl/net/gets.hpp"

#include <utility>

#include "core/clock.hpp"
#include "frameworks/btl/net/card.hpp"

namespace starling::btl::net {
namespace {

constexpr std::uint32_t kGetsMost = 64;               // of one link at once
constexpr std::uint64_t kPatienceNs = 1'000'000'000;  // with receives from a lost peer

}  // namespace

GetLink::GetLink(Gets& gets, Links& links, ProcId peer, std::uint64_t token, const char* transport)
    : Link(links, peer, token, transport), gets_(gets) {}

bool GetLink::can_get(const RemoteBuffer&) noexcept { return gets_.on(); }

Post GetLink::get(const RemoteBuffer& from, std::span<std::byte> to, Completion* completion) noexcept {
  if (lost() || own_ >= kGetsMost || !gets_.on()) return Post::again;
  if (to.empty()) return Post::done;
  Get& get = gets_.begin(*this, to, completion);
  switch (receive(get)) {
    case Taken::again:
      get.completion = nullptr;
      --own_;
      gets_.ended(get, false);
      return Post::again;
    case Taken::failed: gets_.ended(get, false); return Post::posted;
    default: break;
  }
  ++links().counters.gets;
  send_ask(FrameKind::ask_data, {from.address, from.key, to.size(), get.tag});
  return Post::posted;
}

Gets::Gets(Links& links, bool on, unsigned tag_bits)
    : links_(links),
      on_(on),
      next_tag_(random_token()),
      tag_mask_(tag_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << tag_bits) - 1) {}

Get& Gets::begin(GetLink& link, std::span<std::byte> to, Completion* completion) {
  std::uint64_t tag = 0;
  do tag = next_tag_++ & tag_mask_;
  while (gets_.count(tag) != 0);
  Get& get = gets_[tag];
  get.link = &link;
  get.completion = completion;
  get.to = to.data();
  get.bytes = to.size();
  get.tag = tag;
  ++link.own_;
  return get;
}

void Gets::ended(Get& get, bool ok) noexcept {
  finish(get, ok);
  gets_.erase(get.tag);
}

/// Tells the pml, once. From then on the buffer is the user's.
void Gets::finish(Get& get, bool ok) noexcept {
  Completion* const completion = std::exchange(get.completion, nullptr);
  if (completion == nullptr) return;
  --get.link->own_;
  completion->done(completion, ok);
}

void Gets::on_asked(GetLink& link, const Arrivals::Asked& asked) noexcept {
  if (link.lost()) return;  // who asks learns that from its own link
  if (asked.kind == FrameKind::refuse_data) {
    const auto get = gets_.find(asked.what.tag);
    if (get == gets_.end() || get->second.link != &link) return;
    link.cancel(get->second);  // it ends: nothing has come for it
    return;
  }
  if (answer(link, asked.what)) return;
  if (link.waiting_ >= kGetsMost) return link.send_ask(FrameKind::refuse_data, asked.what);
  ++link.waiting_;
  ++link.serving_;
  ++serving_;
  waiting_.push_back({&link, asked.what});
}

/// Sends what was asked for, or refuses it; false: not now. What is announced may have changed since it was
/// asked for, so it is looked up each time.
bool Gets::answer(GetLink& link, const AskData& what) noexcept {
  const RemoteBuffer wanted{what.address, what.key};
  const auto bytes = static_cast<std::size_t>(what.bytes);
  const bool ours = on_ && links_.sink.announced(link.peer(), wanted, bytes);
  if (!ours) note(links_.counters, "a get of what was not announced was refused");
  const auto taken = ours ? link.serve(what) : GetLink::Taken::failed;
  if (taken == GetLink::Taken::posted) {
    ++link.serving_;
    ++serving_;
  }
  if (taken == GetLink::Taken::failed && !link.lost()) link.send_ask(FrameKind::refuse_data, what);
  return taken != GetLink::Taken::again;
}

void Gets::served(GetLink& link) noexcept {
  --link.serving_;
  --serving_;
}

int Gets::step() noexcept {
  int events = 0;
  for (std::size_t i = 0; i < waiting_.size();) {
    const Waiting next = waiting_[i];
    if (!next.link->lost() && !answer(*next.link, next.what)) {
      ++i;
      continue;
    }
    --next.link->waiting_;
    served(*next.link);
    waiting_[i] = waiting_.back();
    waiting_.pop_back();
    ++events;
  }
  if (lost_) end_lost();
  return events;
}

/// A receive that has not met its message can be cancelled; one that has gets a second to end, then it is
/// given up where nothing writes into its buffer any more.
void Gets::end_lost() noexcept {
  std::vector<std::uint64_t> open;
  for (const auto& [tag, get] : gets_) {
    if (get.link->lost() && get.completion != nullptr) open.push_back(tag);
  }
  lost_ = !open.empty();
  if (!lost_) return;
  const std::uint64_t now = now_ns();
  for (const std::uint64_t tag : open) {
    auto found = gets_.find(tag);
    if (found == gets_.end()) continue;
    Get& get = found->second;
    const bool first = get.lost_at_ns == 0;
    if (!first && now - get.lost_at_ns <= kPatienceNs) continue;
    get.lost_at_ns = now;
    get.link->cancel(get);  // may end it at once
    found = gets_.find(tag);
    if (!first && found != gets_.end() && !get.link->may_still_write()) finish(get, false);
  }
}

void Gets::forget() noexcept {
  for (const Waiting& next : waiting_) {
    --next.link->waiting_;
    served(*next.link);
  }
  waiting_.clear();
  std::vector<std::uint64_t> open;
  for (auto& [tag, get] : gets_) {
    if (std::exchange(get.completion, nullptr) != nullptr) --get.link->own_;
    open.push_back(tag);
  }
  for (const std::uint64_t tag : open) {
    if (const auto get = gets_.find(tag); get != gets_.end()) get->second.link->cancel(get->second);
  }
}

}  // namespace starling::btl::net
