// SPDX-License-Identifier: BSD-3-Clause
// The calls that are not hot.
#include "frameworks/pml/engine.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "frameworks/pml/get.hpp"
#include "frameworks/pml/lend.hpp"
#include "frameworks/pml/ring.hpp"

namespace starling::pml {

using namespace detail;

Protocols standard_protocols(const Config& config) {
  Protocols protocols;
  protocols.push_back(std::make_unique<Ring>(config.fragments_per_push));
  protocols.push_back(std::make_unique<Get>(config.get_chunk_bytes));
  protocols.push_back(std::make_unique<Lend>(config.loans, config.fragments_per_push));
  return protocols;
}

std::int64_t credit_window(const Config& config) noexcept {
  // Above 4096 processes the floor of 16 KiB wins: a smaller window would turn ordinary traffic into
  // rendezvous.
  const std::uint64_t share = config.unexpected_max / std::max<std::uint64_t>(config.world_size, 1);
  return static_cast<std::int64_t>(std::clamp<std::uint64_t>(share, 16 * 1024, kWindowMax));
}

std::uint32_t announced_max(const Config& config) noexcept {
  if (config.announced_max != 0) return config.announced_max;
  return static_cast<std::uint32_t>(credit_window(config) / cost_of(0));
}

Engine::Engine(peer::Peers& peers, const Config& config, std::unique_ptr<Chooser> chooser,
               Protocols protocols)
    : all_(peers),
      registration_{peers},
      peers_(peers.table()),
      notes_(peers.notes()),
      outbox_(peers.outbox()),
      matcher_(peers_, notes_),
      eager_(outbox_, transfers_),
      parts_(peers_, matcher_, eager_, placer_, notes_),
      rendezvous_(peers_, outbox_, transfers_, notes_, std::move(chooser), std::move(protocols)),
      grants_(peers_, outbox_, notes_, matcher_),
      early_(peers_, outbox_, notes_, transfers_, config.early_push),
      sends_(peers_, outbox_, eager_, rendezvous_, grants_, early_, pml::announced_max(config)),
      holders_(matcher_, outbox_),
      self_(config.self),
      eager_limit_(config.eager_limit),
      window_(credit_window(config)) {
  const Result<void> registered =
      peers.set_front(*this, kinds_of(rendezvous_), {config.paths_max, config.path_use});
  expects(registered.has_value(), "another port has a kind of the pml's");
}

Result<Context*> Engine::open(ContextIds ids, Rank my_rank, ProcListPtr ranks) {
  return matcher_.open(std::move(ids), my_rank, std::move(ranks));
}

void Engine::close(Context* context) noexcept {
  grants_.close(context->id());
  matcher_.close(
      *context,
      [this](Request& request) {
        early_.end(request);
        complete_receive(request, 0, Fault::none, true);
      },
      [this](Peer& peer, const Arrival& arrival) { refuse(peer, arrival); });
}

void Engine::cancel(Request& request) noexcept {
  if (request.complete.load(std::memory_order_relaxed)) return;
  if (!request.receive) return sends_.cancel(request);
  if (request.phase != kPosted) return;
  if ((request.flags & kInvited) != 0 && !early_.withdraw(request)) {
    request.flags |= kCancelAsked;
    return;
  }
  withdraw(request);
  complete_receive(request, 0, Fault::none, true);
}

/// Out of the posted receives.
void Engine::withdraw(Request& request) noexcept {
  if (request.rank == kAnySource) {
    request.context->any_source.remove(request);
  } else {
    request.context->touched(request.rank)->posted.remove(request);
  }
}

bool Engine::probe(Context& context, Rank source, Tag tag, Status* status) noexcept {
  const Message* const message = find_unexpected(context, source, tag);
  if (message == nullptr) {
    if (holders_.any()) holders_.probed_in_vain(context, source);
    return false;
  }
  if (status != nullptr) *status = {message->rank, message->tag, Fault::none, false, message->length};
  return true;
}

Message* Engine::mprobe(Context& context, Rank source, Tag tag, Status* status) noexcept {
  if (!probe(context, source, tag, status)) return nullptr;
  Message* const message = matcher_.take(context, source, tag);
  matcher_.set_aside(*message);
  return message;
}

void Engine::mrecv(Message* message, Request& request) noexcept {
  matcher_.take_back(*message);
  request.receive = true;
  request.flags = 0;
  match_kept(request, *message);
}

}  // namespace starling::pml
