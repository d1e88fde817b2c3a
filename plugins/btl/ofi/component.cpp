// SPDX-License-Identifier: BSD-3-Clause
// btl/ofi. What is hard here: "try again" is libfabric's answer to the first send to anybody, to sends to a
// busy process, and to all sends to a dead one. Layer: plugin. Design: docs/design/network.md.

#include "plugins/btl/ofi/component.hpp"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/clock.hpp"
#include "frameworks/btl/net/card.hpp"
#include "frameworks/btl/net/descriptors.hpp"
#include "frameworks/btl/net/leaving.hpp"
#include "plugins/btl/ofi/params.hpp"

namespace starling::btl {
namespace {

constexpr std::size_t kBurst = 16;  // completions read in one progress call
constexpr std::size_t kEagerBytes = 64 * 1024;
constexpr std::uint64_t kAwakeNs = 20'000'000;     // a refused frame keeps the process awake so long
constexpr std::uint32_t kPassesPerLook = 64;       // idle ones, for deaths that the launcher tells
constexpr std::uint64_t kAccessDomain = 0x69666f;  // "ofi"

net::Frame& frame_of(void* context) noexcept {
  auto* const at = static_cast<std::byte*>(context) - offsetof(net::Frame, context);
  return *reinterpret_cast<net::Frame*>(at);
}

}  // namespace

OfiEndpoint::OfiEndpoint(OfiComponent& component, ProcId peer, std::uint64_t token, std::string place,
                         std::vector<std::byte> name, fi_addr_t to)
    : GetLink(component.gets_, component.links_, peer, token, "btl/ofi"),
      component_(component),
      to_(to),
      place_(std::move(place)),
      name_(std::move(name)) {}

Post OfiEndpoint::post(net::Frame& frame) noexcept {
  fid_ep* const endpoint = component_.fabric_.endpoint();
  const bool inject = frame.bytes <= component_.inject_bytes_ && frame.bytes > sizeof(net::FrameHead);
  const ssize_t code = hand_to_library([&] {
    return inject ? ::fi_inject(endpoint, frame.data(), frame.bytes, to_)
                  : ::fi_send(endpoint, frame.data(), frame.bytes, nullptr, to_, frame.context);
  });
  if (code == -FI_EAGAIN) return Post::again;
  if (code != 0) return Post::done;
  injected_ = inject;
  return inject ? Post::done : Post::posted;
}

ssize_t OfiEndpoint::learn_from(ssize_t code) noexcept {
  if (code == 0) {
    if (!connected_ || refused_since_ns_ != 0) taken();
  } else if (code == -FI_EAGAIN) {
    if (refused_since_ns_ == 0) refused();
  } else {
    end(net::no_connection(
        component_.way_to(*this), had_connection(),
        std::string("a message failed: ") + component_.library_.strerror(static_cast<int>(-code))));
  }
  return code;
}

void OfiEndpoint::refused() noexcept { refused_since_ns_ = now_ns(); }

void OfiEndpoint::taken() noexcept {
  refused_since_ns_ = 0;
  if (connected_) return;
  connected_ = true;
  net::mark_connected(name_);
}

OfiComponent::OfiComponent(const Args& args, const ofi::Library& library, const ofi::Choice& choice,
                           ofi::Fabric fabric, std::optional<ofi::ComputedAddresses> computed)
    : library_(library),
      info_(choice.info),
      fabric_(std::move(fabric)),
      over_tcp_(choice.over_tcp),
      inject_bytes_(choice.info->tx_attr->inject_size),
      computed_(std::move(computed)),
      patience_(net::patience_of(args.params, kOfiPeerTimeout)),
      place_(choice.place),
      token_(computed_ ? computed_->token(args.place.self.rank) : net::random_token()),
      protocol_(choice.provider + " of " + library.name() + ", address format " +
                std::to_string(choice.info->addr_format)),
      address_(net::encode({protocol_, choice.place, token_, fabric_.name(), net::this_machine()})),
      links_{args.sink, args.place, {}, {}, {}, 0, 0},
      receiving_([this](ofi::ReceiveBuffer& buffer) { return post(buffer); },
                 choice.slices_go_on ? ofi::Receiving::Slices::may_go_on : ofi::Receiving::Slices::ended),
      arrivals_(args.sink, args.place, token_, links_.counters, &receiving_),
      segment_(args.segment),
      ends_(args.launchers != nullptr ? args.launchers : args.segment, arrivals_),
      gets_(links_, choice.gets, choice.tag_bits) {
  limits_ = {.message_max_bytes = net::kMessageMaxBytes,
             .eager_bytes = kEagerBytes,
             .fragment_bytes = net::kFragmentBytes,
             .reach = Reach::network,
             .idle_passes = 1,
             .get_access_domain = choice.gets ? kAccessDomain : 0,
             .get_bytes = std::min(net::kGetBytes, choice.info->ep_attr->max_msg_size),
             .join_bytes = net::kJoinMost};
  if (!choice.note.empty()) net::note(links_.counters, choice.note);
  limits_.can.add(Capability::get, choice.gets);
  limits_.can.add(Capability::keep);
  limits_.can.add(Capability::put, choice.remote);
  remote_facts_ = {.access_max_bytes = choice.info->ep_attr->max_msg_size,
                   .passive = choice.info->domain_attr->data_progress == FI_PROGRESS_AUTO};
  needs_ = {.address = computed_ ? AddressSource::computed : AddressSource::published,
            .barrier_before_first_message = false,
            .barrier_after_last_message = true,
            .lazy_peers = true};
}

OfiComponent::~OfiComponent() {
  gets_.forget();
  fabric_.close_endpoint();  // libfabric lets go of all memory that it was lent
}

Result<void> OfiComponent::start() { return receiving_.start(); }

Result<void> OfiComponent::post(ofi::ReceiveBuffer& buffer) noexcept {
  iovec memory{buffer.bytes.get(), ofi::ReceiveBuffer::kBytes};
  fi_msg message{};
  message.msg_iov = &memory;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  message.context = &buffer.context;
  const ssize_t code = ::fi_recvmsg(fabric_.endpoint(), &message, FI_MULTI_RECV);
  if (code == 0) return {};
  return fail(Errc::system, "fi_recvmsg", library_.strerror(static_cast<int>(-code)));
}

Result<void> OfiComponent::reaches(ProcId peer) const { return links_.reaches(peer, "btl/ofi"); }

Result<net::Card> OfiComponent::card_of(ProcId peer, std::span<const std::byte> address,
                                        const std::string& where) const {
  if (!computed_) return net::decode_from_peer(address, protocol_, where);
  auto listener = computed_->of(peer.rank);
  if (!listener) return fail(std::move(listener).error().within(where));
  return net::Card{protocol_, listener->place(), computed_->token(peer.rank), listener->name()};
}

Result<Endpoint*> OfiComponent::connect(ProcId peer, std::span<const std::byte> address) {
  auto reached = reaches(peer);
  if (!reached) return fail(std::move(reached).error());
  if (const auto known = endpoints_.find(peer.rank); known != endpoints_.end()) return known->second.get();
  const std::string where = "btl/ofi: rank " + std::to_string(peer.rank);
  auto card = card_of(peer, address, where);
  if (!card) return fail(std::move(card).error());
  if (card->address.size() != fabric_.name().size()) {
    return fail(Errc::bad_input, where, "the address of " + card->place + " has the wrong length");
  }
  fi_addr_t to = FI_ADDR_UNSPEC;
  if (::fi_av_insert(fabric_.addresses(), card->address.data(), 1, &to, 0, nullptr) != 1) {
    return fail(Errc::bad_input, where, "libfabric takes no messages for " + card->place);
  }
  auto link = std::make_unique<OfiEndpoint>(*this, peer, card->token, card->place, card->address, to);
  links_.note_machine(peer, *card, segment_);
  Endpoint* const made = endpoints_.emplace(peer.rank, std::move(link)).first->second.get();
  ++links_.counters.endpoints;
  return made;
}

int OfiComponent::progress() noexcept {
  fi_cq_data_entry entries[kBurst];
  int events = 0;
  links_.begin_delivery();
  if (has_early_) {
    has_early_ = false;
    events += take(early_);
  }
  const ssize_t count = ::fi_cq_read(fabric_.queue(), entries, kBurst);
  if (count > 0) {
    for (ssize_t i = 0; i < count; ++i) events += take(entries[i]);
  } else if (count == -FI_EAVAIL) {
    events += take_error();
  }
  links_.end_delivery();
  events += gets_.progress();
  if (events == 0 && ++idle_passes_ % kPassesPerLook == 0) {
    ends_.look(endpoints_, links_, "btl/ofi");
    (void)receiving_.refill();
  }
  if (awaits_peers()) {
    events += links_.push();
    look_after_waiting();
  }
  events += links_.tell_ended();
  if (senders_ != arrivals_.senders()) {
    senders_ = arrivals_.senders();
    net::mark_accepted(fabric_.ports());
  }
  if (confirm_) [[unlikely]] {
    confirm_ = false;
    for (auto& [rank, link] : endpoints_) {
      if (link->unconfirmed() && link->idle()) link->send_empty_frame();
    }
  }
  return events;
}

int OfiComponent::take(const fi_cq_data_entry& entry) noexcept {
  if ((entry.flags & (FI_TAGGED | FI_RMA)) != 0) {
    if ((entry.flags & FI_RMA) != 0) {
      take_access(entry.op_context, true);
    } else {
      take_tagged(entry.op_context, entry.flags, entry.len, 0);
    }
    return 1;
  }
  if ((entry.flags & FI_SEND) != 0) {
    net::Frame& frame = frame_of(entry.op_context);
    frame.link->completed(frame);
    return 1;
  }
  int events = 0;
  if ((entry.flags & FI_RECV) != 0 && entry.len != 0) {
    receiving_.delivering(entry.op_context);
    events = arrivals_.deliver({static_cast<const std::byte*>(entry.buf), entry.len});
    note_missing(receiving_.delivered(entry.len));
    if (const auto asked = arrivals_.take_asked()) on_asked(*asked);
  }
  if ((entry.flags & FI_MULTI_RECV) != 0) {
    const bool with_slice = (entry.flags & FI_RECV) != 0 && entry.len != 0;
    note_missing(receiving_.full(
        entry.op_context, with_slice ? static_cast<const std::byte*>(entry.buf) + entry.len : nullptr));
  }
  return events;
}

void OfiComponent::note_missing(const Result<void>& posted) {
  if (posted) return;
  net::note(links_.counters, "a receive buffer was missing for a while: " + posted.error().text());
}

int OfiComponent::take_error() noexcept {
  fi_cq_err_entry error{};
  if (::fi_cq_readerr(fabric_.queue(), &error, 0) <= 0) return 0;
  if ((error.flags & FI_TAGGED) != 0 && error.op_context != nullptr) {
    take_tagged(error.op_context, error.flags, 0, error.err);
    return 1;
  }
  if ((error.flags & FI_RMA) != 0 && error.op_context != nullptr) {
    take_access(error.op_context, false);
    return 1;
  }
  if ((error.flags & FI_SEND) != 0 && error.op_context != nullptr) {
    net::Frame& frame = frame_of(error.op_context);
    auto& link = static_cast<OfiEndpoint&>(*frame.link);
    link.broke();
    link.completed(frame);
    return 1;
  }
  if (error.op_context != nullptr)
    note_missing(receiving_.failed(error.op_context, (error.flags & FI_MULTI_RECV) != 0));
  net::note(links_.counters, std::string("a receive ended with: ") + library_.strerror(error.err));
  return 0;
}

bool OfiComponent::begin_sleep() noexcept {
  watch(now_ns());
  if (has_early_ || !links_.ended.empty()) return false;
  // Nobody tells when what was refused would be taken: stay awake for a while, then look at each tick of the
  // sleep.
  if (awaits_peers()) {
    const std::uint64_t now = now_ns();
    for (const auto& [rank, link] : endpoints_) {
      link->look_after(now);
      if (link->refused_since_ns() != 0 && now < link->refused_since_ns() + kAwakeNs) return false;
    }
  }
  fid* queue = &fabric_.queue()->fid;
  if (::fi_trywait(fabric_.fabric(), &queue, 1) != 0) return false;
  // net's fi_trywait moves messages into the queue and says yes nevertheless.
  const ssize_t count = ::fi_cq_read(fabric_.queue(), &early_, 1);
  has_early_ = count > 0;
  return count == -FI_EAGAIN;
}

bool OfiComponent::drained() const noexcept {
  bool all = links_.posted == 0 && links_.busy.empty() && links_.ended.empty();
  for (const auto& [rank, link] : endpoints_) {
    all = all && !link->unconfirmed() && (link->lost() || !link->under_way());
  }
  confirm_ = !all;
  return all;
}

void OfiComponent::set_idle(bool idle) noexcept {
  net::tell_idle(endpoints_, arrivals_, idle, [this] { return progress(); });
}

Result<std::unique_ptr<Component>> create_ofi_component(const Args& args) {
  net::raise_descriptor_limit();
  auto library = ofi::load();
  if (!library) return fail(std::move(library).error());
  auto computed = ofi::ComputedAddresses::from(args.params, args.place);
  if (!computed) return fail(std::move(computed).error());
  std::optional<ofi::Listener> own;
  if (*computed) {
    auto listener = (*computed)->of(args.place.self.rank);
    if (!listener) return fail(std::move(listener).error());
    own = std::move(*listener);
  }
  auto choice = own ? ofi::choose_at(**library, args.params, *own) : ofi::choose(**library, args.params);
  if (!choice) return fail(std::move(choice).error());
  auto fabric = ofi::Fabric::open(**library, *choice);
  if (!fabric) {
    if (!own) return fail(std::move(fabric).error());
    return fail(
        std::move(fabric).error().within(own->place() + " (btl_ofi_port_base + local rank, btl_ofi_nodes)"));
  }
  auto component = std::make_unique<OfiComponent>(args, **library, *choice, std::move(fabric).value(),
                                                  std::move(computed).value());
  auto started = component->start();
  if (!started) return fail(std::move(started).error());
  return std::unique_ptr<Component>(std::move(component));
}

}  // namespace starling::btl
