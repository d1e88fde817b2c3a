// SPDX-License-Identifier: BSD-3-Clause
// Large messages from buffer to buffer. The receiver posts a tagged receive into the user's buffer and asks
// by a frame; the owner answers by a tagged send out of its own, and UCX moves the bytes as the fabric can
// best: read by the adapter, or written to a socket. What is hard: a receive whose sender has died half-way
// does not end by itself, and until it has ended the user's buffer is not the user's. Layer: plugin.
// Design: docs/design/network.md, "Gets".

#include <algorithm>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "plugins/btl/ucx/component.hpp"

namespace starling::btl {
namespace {

constexpr std::uint32_t kGetsMost = 64;               // of one link at once
constexpr std::uint64_t kPatienceNs = 1'000'000'000;  // with receives from a lost peer
constexpr std::uint64_t kWholeTag = ~std::uint64_t{0};

}  // namespace

bool UcxEndpoint::can_get() noexcept { return component_.limits_.get; }

Post UcxEndpoint::get(const RemoteBuffer& from, std::span<std::byte> to, Completion* completion) noexcept {
  if (lost() || gets_ >= kGetsMost || !can_get()) return Post::again;
  if (to.empty()) return Post::done;
  const std::uint64_t tag = component_.next_tag_++;
  auto& get = component_.gets_[tag];
  get = {this, completion, tag, to.size(), nullptr};
  ++gets_;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                       UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  param.cb.recv = &UcxEndpoint::got;
  param.user_data = &get;
  const ucs_status_ptr_t answer = component_.library_.tag_recv_nbx(component_.worker_.get(), to.data(),
                                                                   to.size(), tag, kWholeTag, &param);
  if (UCS_PTR_IS_ERR(answer)) {
    component_.finish(get, false);
    component_.gets_.erase(tag);
    return Post::posted;
  }
  get.request = answer;
  ++links().counters.gets;
  send_ask(net::FrameKind::ask_data, {from.address, from.key, to.size(), tag});
  return Post::posted;
}

void UcxEndpoint::got(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                      void* get) noexcept {
  auto& done = *static_cast<UcxComponent::Get*>(get);
  UcxComponent& component = done.link->component_;
  component.finish(done, status == UCS_OK && info->length == done.bytes);
  component.gets_.erase(done.tag);
  ++component.events_;
  component.library_.request_free(request);
}

/// Tells the pml, once. From then on the buffer is the user's.
void UcxComponent::finish(Get& get, bool ok) noexcept {
  Completion* const completion = std::exchange(get.completion, nullptr);
  if (completion == nullptr) return;
  --get.link->gets_;
  completion->done(completion, ok);
}

void UcxComponent::on_asked(const net::Arrivals::Asked& asked) noexcept {
  const auto found = endpoints_.find(asked.rank);
  if (found == endpoints_.end() || found->second->lost()) return;  // who asks learns that from its own link
  UcxEndpoint& link = *found->second;
  if (asked.kind == net::FrameKind::refuse_data) {
    const auto get = gets_.find(asked.what.tag);
    if (get == gets_.end() || get->second.link != &link) return;
    library_.request_cancel(worker_.get(), get->second.request);  // got() follows: nothing has come for it
    return;
  }
  const RemoteBuffer wanted{asked.what.address, asked.what.key};
  const auto bytes = static_cast<std::size_t>(asked.what.bytes);
  const bool ours = limits_.get && links_.sink.announced(link.peer(), wanted, bytes);
  if (!ours) net::note(links_.counters, "a get of what was not announced was refused");
  if (!ours || !link.serve(asked.what)) link.send_ask(net::FrameKind::refuse_data, asked.what);
}

/// Sends what was asked for; false: not now and not later.
bool UcxEndpoint::serve(const net::AskData& what) noexcept {
  if (ep_ == nullptr && !component_.open_endpoint(*this)) return false;
  ucp_request_param_t param{};
  param.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  param.cb.send = &UcxEndpoint::served;
  param.user_data = this;
  const ucs_status_ptr_t answer =
      component_.library_.tag_send_nbx(ep_, reinterpret_cast<const void*>(what.address),
                                       static_cast<std::size_t>(what.bytes), what.tag, &param);
  if (UCS_PTR_IS_ERR(answer)) return false;
  unconfirmed_ = true;
  if (answer != nullptr) ++serving_;
  return true;
}

void UcxEndpoint::served(void* request, ucs_status_t, void* self) noexcept {
  // A failure is told by the error handler too, which knows more.
  auto& link = *static_cast<UcxEndpoint*>(self);
  --link.serving_;
  ++link.component_.events_;
  link.component_.library_.request_free(request);
}

/// Their endpoints have been closed, so nothing writes into the buffers any more. A receive that has not met
/// its message can be cancelled; one that has gets a second to end, then it is given up.
void UcxComponent::end_lost_gets() noexcept {
  std::vector<std::uint64_t> open;
  for (const auto& [tag, get] : gets_) {
    if (get.link->lost() && get.completion != nullptr) open.push_back(tag);
  }
  if (open.empty()) {
    gets_lost_ = false;
    lost_at_ns_ = 0;
    return;
  }
  const bool first = lost_at_ns_ == 0;
  if (first) lost_at_ns_ = now_ns();
  const bool late = now_ns() - lost_at_ns_ > kPatienceNs;
  if (!first && !late) return;
  for (const std::uint64_t tag : open) {
    library_.request_cancel(worker_.get(), gets_.at(tag).request);  // may end it at once
    if (const auto get = gets_.find(tag); late && get != gets_.end()) finish(get->second, false);
  }
  if (late) lost_at_ns_ = 0;
}

bool UcxComponent::moving() const noexcept {
  return !gets_.empty() || std::any_of(endpoints_.begin(), endpoints_.end(),
                                       [](const auto& item) { return item.second->moving(); });
}

/// At the end nobody waits for them.
void UcxComponent::forget_gets() noexcept {
  std::vector<void*> requests;
  for (auto& [tag, get] : gets_) {
    if (std::exchange(get.completion, nullptr) != nullptr) --get.link->gets_;
    requests.push_back(get.request);
  }
  for (void* const request : requests) library_.request_cancel(worker_.get(), request);
}

}  // namespace starling::btl
