// SPDX-License-Identifier: BSD-3-Clause
// btl/ucx. What is hard here: UCX calls back from within its progress, where endpoints must not be closed;
// and what it has accepted may be in no kernel yet. Layer: plugin.
// Design: docs/design/network.md.

#include "plugins/btl/ucx/component.hpp"

#include <new>
#include <utility>

#include "core/clock.hpp"
#include "frameworks/btl/net/card.hpp"
#include "frameworks/btl/net/descriptors.hpp"
#include "frameworks/btl/net/leaving.hpp"
#include "plugins/btl/ucx/params.hpp"

namespace starling::btl {
namespace {

constexpr unsigned kMessageId = 1;
constexpr int kBurst = 32;                              // progress calls of UCX in one of ours
constexpr std::uint64_t kCloseLimitNs = 1'000'000'000;  // for the ends of all endpoints together
constexpr std::size_t kEagerBytes = 64 * 1024;
constexpr std::uint64_t kAskNs = 200'000'000;  // for an answer of the peer's port
constexpr std::uint32_t kPassesPerLook = 64;   // idle ones, for deaths that the launcher tells
constexpr std::size_t kSendFromBytes = 4096;   // where UCX copies what it sends: one copy instead of two
// Over tcp UCX sends short active messages in three parts; what is described by pieces it copies into one,
// which the kernel takes faster.
constexpr std::size_t kInOnePart = 2048;
constexpr std::uint64_t kAccessDomain = 0x756378;  // "ucx"

/// Writes into a frame's context where its bytes lie: what is in the frame, the sender's payload, zeros up to
/// a multiple of 16. UCX reads it until the request ends. Returns how many pieces there are.
std::size_t lay_out(net::Frame& frame) noexcept {
  static_assert(3 * sizeof(ucp_dt_iov_t) <= sizeof frame.context && alignof(ucp_dt_iov_t) <= 16);
  static constexpr std::byte kZeros[16]{};
  auto* const pieces = new (frame.context) ucp_dt_iov_t[3];
  pieces[0] = {frame.data(), frame.bytes};
  if (frame.payload.empty()) return 1;
  pieces[1] = {const_cast<std::byte*>(frame.payload.data()), frame.payload.size()};
  const std::size_t missing = (16 - (frame.bytes + frame.payload.size()) % 16) % 16;
  pieces[2] = {const_cast<std::byte*>(kZeros), missing};
  return missing == 0 ? 2 : 3;
}

}  // namespace

UcxEndpoint::UcxEndpoint(UcxComponent& component, ProcId peer, net::Card card)
    : GetLink(component.gets_, component.links_, peer, card.token, "btl/ucx"),
      component_(component),
      card_(std::move(card)) {
  port_ = ucx::take_port(card_.address);
}

net::Way UcxEndpoint::way() const noexcept { return {peer(), card_.place, component_.place_, port_}; }

Post UcxEndpoint::post(net::Frame& frame) noexcept {
  if (ep_ == nullptr) [[unlikely]] {
    if (!may_open()) return Post::again;
    if (auto opened = component_.open_endpoint(*this); !opened) {
      give_up(opened.error().text());
      return Post::done;
    }
    ++component_.reopened_;
    reopened_ = true;
    had_connection_ = false;
  }
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS |
                       UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  param.cb.send = &UcxEndpoint::sent;
  param.user_data = &frame;
  const void* from = frame.data();
  std::size_t count = frame.bytes;
  if (!frame.payload.empty() || (component_.over_tcp_ && count <= kInOnePart)) {
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = UCP_DATATYPE_IOV;
    count = lay_out(frame);
    from = frame.context;
  }
  const ucs_status_ptr_t answer =
      component_.library_.am_send_nbx(ep_, kMessageId, nullptr, 0, from, count, &param);
  unconfirmed_ = true;
  if (answer == nullptr) return Post::done;
  if (UCS_PTR_IS_ERR(answer)) {
    UcxComponent::on_error(this, ep_, UCS_PTR_STATUS(answer));
    return Post::again;
  }
  frame.request = answer;
  return Post::posted;
}

void UcxEndpoint::sent(void* request, ucs_status_t status, void* frame) noexcept {
  auto& done = *static_cast<net::Frame*>(frame);
  auto& link = static_cast<UcxEndpoint&>(*done.link);
  // The sender is told when the link has been judged, so it must be, whether UCX's error handler is called or
  // not.
  if (status != UCS_OK && link.ep_ != nullptr) UcxComponent::on_error(&link, link.ep_, status);
  link.completed(done, status == UCS_OK);
  ++link.component_.events_;
  link.component_.library_.request_free(request);
}

void UcxEndpoint::start_flush() noexcept {
  // What is held back goes by the next connection.
  const bool all_posted = stage_ == Stage::agreed ? posted() == 0 : idle();
  if (flushing_ || !unconfirmed() || !all_posted) return;
  if (ep_ == nullptr) return;  // it broke, and what was sent is confirmed no more
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = &UcxEndpoint::flushed;
  param.user_data = this;
  unconfirmed_ = false;
  const ucs_status_ptr_t answer = component_.library_.ep_flush_nbx(ep_, &param);
  flushing_ = answer != nullptr && !UCS_PTR_IS_ERR(answer);
}

/// A flush waits for the other side, which may compute for hours. Over tcp UCX accepts a message only when
/// the kernel has taken those before it, so an empty frame that was accepted says as much as is needed.
void UcxEndpoint::confirm() noexcept {
  if (!component_.over_tcp_) return start_flush();
  if (!unconfirmed() || !idle()) return;
  send_empty_frame();
  unconfirmed_ = false;  // or true again once it is posted, if it waits in line
}

void UcxEndpoint::flushed(void* request, ucs_status_t, void* self) noexcept {
  auto& link = *static_cast<UcxEndpoint*>(self);
  link.flushing_ = false;
  link.component_.library_.request_free(request);
}

UcxComponent::UcxComponent(const Args& args, const ucx::Library& library, ucx::Worker worker,
                           const ucx::Choice& choice)
    : library_(library),
      worker_(std::move(worker)),
      keeping_(std::make_unique<ucx::Keeping>(library_, worker_.get())),
      keeps_(choice.keeps),
      token_(net::random_token()),
      place_(choice.place),
      own_port_(ucx::port_of(choice, worker_.ports())),
      links_{args.sink, args.place, {}, {}, {}, 0, 0},
      arrivals_(args.sink, args.place, token_, links_.counters, keeping_.get()),
      segment_(args.segment),
      ends_(args.launchers != nullptr ? args.launchers : args.segment, arrivals_),
      gets_(links_, choice.gets),
      connections_max_(static_cast<std::size_t>(args.params.integer(kUcxConnections))),
      over_tcp_(choice.over_tcp),
      patience_(net::patience_of(args.params, kUcxPeerTimeout)) {
  limits_ = {.message_max_bytes = net::kMessageMaxBytes,
             .eager_bytes = kEagerBytes,
             .fragment_bytes = net::kFragmentBytes,
             .reach = Reach::network,
             .idle_passes = 16,
             .get_access_domain = choice.gets ? kAccessDomain : 0,
             .get_bytes = net::kGetBytes,
             .send_from_bytes = choice.copies ? kSendFromBytes : 0,
             .join_bytes = net::kJoinMost};
  if (choice.copies) links_.send_from_bytes = kSendFromBytes;
  limits_.can.add(Capability::get, choice.gets);
  limits_.can.add(Capability::put, choice.remote);
  limits_.can.add(Capability::atomics, choice.remote);
  limits_.can.add(Capability::keep, choice.keeps || !choice.over_tcp);
  needs_ = {.address = AddressSource::published,
            .barrier_before_first_message = false,
            .barrier_after_last_message = true,
            .lazy_peers = true};
  unsigned major = 0, minor = 0, release = 0;
  library_.get_version(&major, &minor, &release);
  protocol_ = "ucx " + std::to_string(major) + "." + std::to_string(minor);
}

Result<void> UcxComponent::start() {
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG | UCP_AM_HANDLER_PARAM_FIELD_FLAGS;
  handler.id = kMessageId;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG;
  if (keeps_) handler.flags |= UCP_AM_FLAG_PERSISTENT_DATA;
  handler.cb = &UcxComponent::on_frame;
  handler.arg = this;
  const ucs_status_t status = library_.worker_set_am_recv_handler(worker_.get(), &handler);
  if (status != UCS_OK)
    return fail(Errc::system, "ucp_worker_set_am_recv_handler", library_.status_text(status));
  auto address = worker_.address();
  if (!address) return fail(std::move(address).error());
  address->insert(address->begin(), own_port_.begin(), own_port_.end());
  address_ = net::encode({protocol_, place_, token_, *std::move(address), net::this_machine()});
  return {};
}

UcxComponent::~UcxComponent() {
  gets_.forget();
  for (auto& [rank, link] : endpoints_) retire(*link);
  close_failed();
  // Requests end with the endpoints; their frames are given back then.
  const Deadline deadline = Deadline::after_ns(kCloseLimitNs);
  const auto busy = [this] { return links_.posted != 0 || gets_.moving() || accesses_.out() != 0; };
  while (busy() && !deadline.passed()) library_.worker_progress(worker_.get());
  ucx::Keeping::leave(std::move(keeping_), std::move(worker_));
}

Result<void> UcxComponent::reaches(ProcId peer) const { return links_.reaches(peer, "btl/ucx"); }

Result<Endpoint*> UcxComponent::connect(ProcId peer, std::span<const std::byte> address) {
  auto reached = reaches(peer);
  if (!reached) return fail(std::move(reached).error());
  if (const auto known = endpoints_.find(peer.rank); known != endpoints_.end()) return known->second.get();
  const std::string where = "btl/ucx: rank " + std::to_string(peer.rank);
  auto card = net::decode_from_peer(address, protocol_, where);
  if (!card) return fail(std::move(card).error());
  if (card->address.size() <= ucx::kPortBytes)
    return fail(Errc::bad_input, where, "the address is too short");
  links_.note_machine(peer, *card, segment_);
  auto link = std::make_unique<UcxEndpoint>(*this, peer, *std::move(card));
  if (auto opened = open_endpoint(*link); !opened) return fail(std::move(opened).error().within(where));
  ++links_.counters.endpoints;
  auto& made = endpoints_[peer.rank];
  made = std::move(link);
  return made.get();
}

Result<void> UcxComponent::open_endpoint(UcxEndpoint& link) {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(link.card_.address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = &UcxComponent::on_error;
  params.err_handler.arg = &link;
  net::DescriptorWatch watch;
  const ucs_status_t status = library_.ep_create(worker_.get(), &params, &link.ep_);
  watch.mark();
  if (status == UCS_OK) {
    ++open_;
    return {};
  }
  link.ep_ = nullptr;
  return fail(Errc::system, "", net::broken_connection(link.way(), false, kAskNs).text);
}

void UcxComponent::close(ucp_ep_h ep) noexcept {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  const ucs_status_ptr_t request = library_.ep_close_nbx(ep, &param);
  if (request == nullptr || UCS_PTR_IS_ERR(request)) return;
  const Deadline deadline = Deadline::after_ns(kCloseLimitNs);
  while (library_.request_check_status(request) == UCS_INPROGRESS && !deadline.passed()) {
    library_.worker_progress(worker_.get());
  }
  library_.request_free(request);
}

void UcxComponent::close_failed() noexcept {
  while (!failed_.empty()) {
    const Retired retired = std::move(failed_.back());
    failed_.pop_back();
    for (ucp_rkey_h const key : retired.keys) library_.rkey_destroy(key);
    close(retired.ep);
  }
}

void UcxComponent::retire(UcxEndpoint& link) noexcept {
  if (link.ep_ == nullptr) return;
  failed_.push_back({std::exchange(link.ep_, nullptr), link.remote_.take_keys()});
  --open_;
}

ucs_status_t UcxComponent::on_frame(void* self, const void*, std::size_t, void* data, std::size_t bytes,
                                    const ucp_am_recv_param_t* param) noexcept {
  auto& component = *static_cast<UcxComponent*>(self);
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
    net::note(component.links_.counters,
              "a rendezvous of UCX was dropped: UCX_RNDV_THRESH must be inf on all processes");
    return UCS_OK;
  }
  ucx::Keeping& keeping = *component.keeping_;
  keeping.delivering(data, bytes, (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0);
  component.events_ += component.arrivals_.deliver({static_cast<const std::byte*>(data), bytes});
  const bool kept = keeping.delivered();
  if (const auto closing = component.arrivals_.take_closing()) component.on_closing(*closing);
  if (const auto asked = component.arrivals_.take_asked()) component.on_asked(*asked);
  return kept ? UCS_INPROGRESS : UCS_OK;  // then UCX is told by ucp_am_data_release
}

void UcxComponent::on_asked(const net::Arrivals::Asked& asked) noexcept {
  const auto found = endpoints_.find(asked.rank);
  if (found != endpoints_.end()) gets_.on_asked(*found->second, asked);
}

int UcxComponent::progress() noexcept {
  events_ = 0;
  // What has come is for somebody who waits: over tcp one call reads all sockets that have something, and the
  // next would cost a system call before the answer leaves.
  links_.begin_delivery();
  for (int i = 0; i < kBurst && events_ == 0 && library_.worker_progress(worker_.get()) != 0; ++i) {
  }
  links_.end_delivery();
  if (!closing_.empty()) [[unlikely]]
    close_idle();
  if (!failed_.empty()) close_failed();
  if (!broken_.empty()) [[unlikely]]
    settle_broken(now_ns());
  events_ += gets_.progress();
  events_ += links_.push();
  events_ += links_.tell_ended();
  if (events_ == 0 && ++idle_passes_ % kPassesPerLook == 0) ends_.look(endpoints_, links_, "btl/ucx");
  if (connections_max_ != 0 && open_ > connections_max_) ask_the_idlest();
  if (senders_ != arrivals_.senders()) {
    senders_ = arrivals_.senders();
    net::mark_accepted(worker_.ports());
  }
  if (confirm_) {
    confirm_ = false;
    for (auto& [rank, link] : endpoints_) link->confirm();
  }
  return events_;
}

bool UcxComponent::begin_sleep() noexcept {
  watch(now_ns());
  if (!broken_.empty() || !failed_.empty() || !links_.ended.empty()) return false;
  return library_.worker_arm(worker_.get()) == UCS_OK;
}

bool UcxComponent::drained() const noexcept {
  bool all = links_.posted == 0 && links_.busy.empty() && links_.ended.empty() && closing_.empty();
  for (const auto& [rank, link] : endpoints_) {
    if (link->lost()) continue;
    all = all && !link->unconfirmed() && !link->flushing_ && !link->moving();
  }
  confirm_ = !all;
  return all && accesses_.out() == 0;
}

void UcxComponent::set_idle(bool idle) noexcept {
  idle_ = idle;
  net::tell_idle(endpoints_, arrivals_, idle, [this] { return progress(); });
}

Component::Counters UcxComponent::counters() const {
  Counters counters = links_.counters;
  if (reopened_ != 0) {
    counters.notes.push_back("idle connections were closed, and " + std::to_string(reopened_) +
                             " opened again (btl_ucx_connections)");
  }
  return counters;
}

Result<std::unique_ptr<Component>> create_ucx_component(const Args& args) {
  net::raise_descriptor_limit();
  auto library = ucx::load();
  if (!library) return fail(std::move(library).error());
  auto choice = ucx::choose(args.params);
  if (!choice) return fail(std::move(choice).error());
  auto worker = ucx::Worker::open(**library, *choice);
  if (!worker) return fail(std::move(worker).error());
  auto component = std::make_unique<UcxComponent>(args, **library, std::move(worker).value(), *choice);
  auto started = component->start();
  if (!started) return fail(std::move(started).error());
  return std::unique_ptr<Component>(std::move(component));
}

}  // namespace starling::btl
