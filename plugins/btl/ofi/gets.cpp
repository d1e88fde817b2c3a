// SPDX-License-Identifier: BSD-3-Clause
// Large messages from buffer to buffer, by libfabric's tagged messages. frameworks/btl/net/gets.cpp says what
// is asked and given. What is hard: libfabric does not say that a peer has died for which a receive waits, so
// such links are looked after (component.cpp). Layer: plugin. Design: docs/design/network.md, "Gets".

#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include <cstddef>

#include "core/clock.hpp"
#include "plugins/btl/ofi/component.hpp"

namespace starling::btl {
namespace {

/// What a context of libfabric lies in.
template <class Record>
Record& record_of(void* context) noexcept {
  return *reinterpret_cast<Record*>(static_cast<std::byte*>(context) - offsetof(Record, context));
}

}  // namespace

OfiEndpoint::Taken OfiEndpoint::receive(net::Get& get) noexcept {
  const ssize_t code = ::fi_trecv(component_.fabric_.endpoint(), get.to, get.bytes, nullptr, FI_ADDR_UNSPEC,
                                  get.tag, 0, get.context);
  if (code == -FI_EAGAIN) return Taken::again;
  if (code != 0) return Taken::failed;
  last_move_ns_ = now_ns();
  return Taken::posted;
}

void OfiEndpoint::cancel(net::Get& get) noexcept {
  get.request = &get;  // its end says nothing about the peer
  (void)::fi_cancel(&component_.fabric_.endpoint()->fid, get.context);
}

OfiEndpoint::Taken OfiEndpoint::serve(const net::AskData& what) noexcept {
  auto& all = component_.serves_;
  OfiComponent::Serve& serve = all.emplace_front();
  serve.link = this;
  const ssize_t code = hand_to_library([&] {
    return ::fi_tsend(component_.fabric_.endpoint(), reinterpret_cast<const void*>(what.address),
                      static_cast<std::size_t>(what.bytes), nullptr, to_, what.tag, serve.context);
  });
  if (code != 0) {
    all.pop_front();
    return code == -FI_EAGAIN ? Taken::again : Taken::failed;
  }
  last_move_ns_ = now_ns();
  return Taken::posted;
}

void OfiComponent::on_asked(const net::Arrivals::Asked& asked) noexcept {
  const auto found = endpoints_.find(asked.rank);
  if (found != endpoints_.end()) gets_.on_asked(*found->second, asked);
}

void OfiComponent::take_tagged(void* context, std::uint64_t flags, std::size_t bytes, int error) noexcept {
  const auto note_end = [&](OfiEndpoint& link, bool broken) {
    link.last_move_ns_ = now_ns();
    if (broken) link.broke();
  };
  if ((flags & FI_RECV) != 0) {
    auto& get = record_of<net::Get>(context);
    note_end(static_cast<OfiEndpoint&>(*get.link), error != 0 && get.request == nullptr);
    gets_.ended(get, error == 0 && bytes == get.bytes);
    return;
  }
  auto& serve = record_of<Serve>(context);
  OfiEndpoint& link = *serve.link;
  note_end(link, error != 0);
  gets_.served(link);
  serves_.remove_if([&](const Serve& item) { return &item == &serve; });
}

}  // namespace starling::btl
