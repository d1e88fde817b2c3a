// SPDX-License-Identifier: BSD-3-Clause
// btl/trial. Layer: tests.

#include "tests/np/network/trial/component.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/clock.hpp"
#include "tests/np/network/trial/params.hpp"

namespace starling::btl::trial {
namespace {

constexpr char kWhere[] = "btl/trial";

}  // namespace

Trial::Trial(const Args& args) : sink_(args.sink), self_(args.place.self) {
  const params::Registry& params = args.params;
  const auto longest = static_cast<std::size_t>(params.integer(kMessageBytes));
  limits_ = {.message_max_bytes = longest,
             .eager_bytes = std::min<std::size_t>(16 * 1024, longest),
             .fragment_bytes = longest,
             .reach = Reach::network,
             .idle_passes = 16};
  needs_.address = params.text(kAddress) == "published" ? AddressSource::published : AddressSource::computed;
  needs_.accepts_before_ready = params.boolean(kAcceptsBeforeReady);
  needs_.barrier_before_first_message = params.boolean(kBarrierBefore);
  needs_.barrier_after_last_message = params.boolean(kBarrierAfter);
  needs_.lazy_peers = params.boolean(kLazyPeers);
  manner_.lose_early = needs_.barrier_before_first_message || !needs_.accepts_before_ready;
  manner_.hold_ns = static_cast<std::uint64_t>(params.integer(kHoldMs)) * 1'000'000;
  directory_ = params.text(kDirectory);
  interface_ = params.text(kInterface);
}

std::string Trial::socket_path(std::uint32_t rank) const { return directory_ + "/" + std::to_string(rank); }

Result<std::unique_ptr<Component>> Trial::make(const Args& args) {
  std::unique_ptr<Trial> made(new Trial(args));
  if (auto open = made->listen(); !open) return fail(std::move(open).error());
  return std::unique_ptr<Component>(std::move(made));
}

Result<void> Trial::listen() {
  const bool published = needs_.address == AddressSource::published;
  // The name appears when somebody listens, and stays: who is refused there knows that this one has ended.
  const std::string begun = socket_path(self_.rank) + ".new";
  own_ = published ? SocketAddress::tcp(interface_, 0) : SocketAddress::file(begun);
  listener_ = own_.socket();
  if (::bind(listener_.get(), own_.get(), own_.length) != 0) return fail(system_error(kWhere, "bind", errno));
  if (::listen(listener_.get(), SOMAXCONN) != 0) return fail(system_error(kWhere, "listen", errno));
  if (published) {
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&own_.storage), &own_.length);
  } else if (::rename(begun.c_str(), socket_path(self_.rank).c_str()) != 0) {
    return fail(system_error(kWhere, "rename", errno));
  }
  epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{.events = EPOLLIN, .data = {.fd = listener_.get()}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), &event) != 0) {
    return fail(system_error(kWhere, "epoll_ctl", errno));
  }
  return {};
}

Result<Endpoint*> Trial::connect(ProcId peer, std::span<const std::byte> address) {
  std::unique_ptr<Outgoing>& at = outgoing_[peer];
  if (at == nullptr) {
    SocketAddress to = SocketAddress::file(socket_path(peer.rank));
    if (needs_.address == AddressSource::published) {
      auto parsed = SocketAddress::from(address);
      if (!parsed) return fail(std::move(parsed).error());
      to = *parsed;
    }
    at = std::make_unique<Outgoing>(self_, peer, to, manner_, counters_);
    ++counters_.endpoints;
  }
  return static_cast<Endpoint*>(at.get());
}

void Trial::accept() {
  UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) return;
  incoming_.push_back(std::make_unique<Incoming>(std::move(socket)));
  epoll_event event{.events = EPOLLIN, .data = {.fd = incoming_.back()->fd()}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, incoming_.back()->fd(), &event);
}

int Trial::progress() noexcept {
  int events = 0;
  for (auto& [peer, link] : outgoing_) {
    events += link->push();
    if (link->take_refusal()) {
      sink_.on_peer_lost(peer, Error{Errc::peer_left, kWhere, "it listens no more"});
      ++events;
    }
  }
  constexpr int kMost = 64;
  epoll_event ready[kMost];
  const int count = ::epoll_wait(epoll_.get(), ready, kMost, 0);
  for (int i = 0; i < count; ++i) {
    if (ready[i].data.fd == listener_.get()) {
      accept();
      ++events;
      continue;
    }
    const auto link = std::find_if(incoming_.begin(), incoming_.end(),
                                   [&](const auto& in) { return in->fd() == ready[i].data.fd; });
    if (link == incoming_.end()) continue;
    Incoming& in = **link;
    const bool new_here = !in.known();
    const Incoming::State state = in.pull(sink_, counters_);
    if (new_here && in.known()) ended_.erase(in.origin().proc);
    if (state != Incoming::State::idle) ++events;
    if (state != Incoming::State::ended) continue;
    if (in.known())
      tell_end(in.origin().proc, in.left() ? Errc::peer_left : Errc::peer_lost, "it closed its connection");
    std::erase_if(incoming_, [&](const auto& other) { return other.get() == &in; });
  }
  // After what has come, which may say that the peer has left.
  for (auto& [peer, link] : outgoing_) {
    if (!link->take_break()) continue;
    tell_end(peer, Errc::peer_lost, "its connection broke");
    ++events;
  }
  return events;
}

void Trial::tell_end(ProcId peer, Errc how, const char* detail) {
  if (ended_.insert(peer).second) sink_.on_peer_lost(peer, Error{how, kWhere, detail});
}

bool Trial::begin_sleep() noexcept {
  // What is held leaves by the clock, and no descriptor tells.
  return std::none_of(outgoing_.begin(), outgoing_.end(), [](const auto& at) { return at.second->held(); });
}

void Trial::set_idle(bool idle) noexcept {
  for (auto& [peer, link] : outgoing_) link->tell_idle(idle);
  const Deadline deadline = Deadline::after_seconds(1);
  while (idle && !drained() && !deadline.passed()) {
    for (auto& [peer, link] : outgoing_) (void)link->push();
  }
}

bool Trial::drained() const noexcept {
  // One that loses what is on its way does not know that it is.
  if (needs_.barrier_after_last_message) return true;
  return std::none_of(outgoing_.begin(), outgoing_.end(), [](const auto& at) { return at.second->held(); });
}

}  // namespace starling::btl::trial
