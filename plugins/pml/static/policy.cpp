// SPDX-License-Identifier: BSD-3-Clause
// See docs/design/pml.md, "Large messages in pml/static".
#include "plugins/pml/static/policy.hpp"

#include "frameworks/shm/claims/copies.hpp"
#include "frameworks/shm/node_segment.hpp"

namespace starling::pml {

namespace {

/// What names a trial and its option in LargeChoice::trial; never 0.
struct Ticket {
  unsigned size_class;
  bool both;
  unsigned option;

  static Ticket of(std::uint32_t number) noexcept {
    return {(number - 1) / 4, (number - 1) / 2 % 2 != 0, (number - 1) % 2};
  }
  [[nodiscard]] std::uint32_t number() const noexcept { return 1 + size_class * 4 + (both ? 2 : 0) + option; }
};

constexpr Large kOneWay[] = {Large::ring, Large::get};
// Where both cost the same the first stays: a get needs no pipe.
constexpr Large kBothWays[] = {Large::get, Large::lend};
constexpr const char* kNames[] = {"ring", "get", "lend"};  // in the order of Large

/// All pairs of a node share a finding, however far they are from each other.
Findings::Key key_of(unsigned size_class, bool both) noexcept {
  Findings::Key key;
  key.both = both;
  key.size_class = size_class;
  return key;
}

/// "64 KiB: get (ring 12100, get 10300 MB/s)"
std::string verdict(unsigned size_class, const Trial<2>& trial, const Large (&protocols)[2]) {
  std::string text =
      SizeClasses::text(size_class) + ": " + kNames[static_cast<unsigned>(protocols[trial.option()])] + " (";
  for (unsigned option = 0; option < 2; ++option) {
    text += std::string(option == 0 ? "" : ", ") + kNames[static_cast<unsigned>(protocols[option])] + " " +
            speed_text(trial.cost(option));
  }
  return text + " MB/s)";
}

}  // namespace

LargeChoice StaticPolicy::choose(const LargeReceive& receive) noexcept {
  const bool may_get = receive.can(Large::get) && receive.bytes >= config_.get_min;
  if (config_.large != StaticLarge::automatic) {
    return {config_.large == StaticLarge::get && may_get ? Large::get : Large::ring};
  }
  // The kernel's get is a copy on our own processor, which must be worth its call. A network's get is the
  // card's work and always saves a copy.
  const bool processors_copy = receive.peer.transport->limits().reach == btl::Reach::node;
  const bool may_lend =
      receive.both && processors_copy && receive.bytes >= config_.lend_min && receive.can(Large::lend);
  if (!may_get) return {may_lend ? Large::lend : Large::ring};
  // One copy instead of two, on one processor; or none at all.
  if (receive.peer.proc == config_.self || !processors_copy) return {Large::get};
  // Each waits for the other's copies if one gets and the other borrows.
  const Large its = receive.peer.large.its_protocol(receive.bytes);
  if (may_lend && receive.peer.proc < config_.self && its != Large::ring) return {its};
  const unsigned size_class = SizeClasses::of(receive.bytes);
  Tried& tried = may_lend ? sizes_[size_class].both_ways : sizes_[size_class].one_way;
  if (!tried.begun) adopt(tried, size_class, may_lend, receive.peer);
  Trial<2>& trial = tried.trial;
  // Between trials messages are counted, not timed.
  if (!trial.trying()) trial.took(0);
  const Large option = may_lend ? kBothWays[trial.option()] : kOneWay[trial.option()];
  if (trial.trying()) return {option, Ticket{size_class, may_lend, trial.option()}.number()};
  return option == Large::ring ? by_ring(receive, size_class) : LargeChoice{option};
}

/// The ring waits for its sender to come back to MPI, a get does not. So the next messages after a late one
/// are got. Of several that are under way at once each waits for those before it, and is not looked at.
LargeChoice StaticPolicy::by_ring(const LargeReceive& receive, unsigned size_class) noexcept {
  Sizes& sizes = sizes_[size_class];
  if (!sizes.ring.tries()) return {Large::get};
  const bool shows = sizes.one_way.trial.cost(1) != 0 && receive.peer.large.receives == 0;
  return {Large::ring, shows ? kWatched | size_class : 0};
}

void StaticPolicy::took(std::uint32_t number, std::uint64_t bytes, std::uint64_t ns) noexcept {
  if ((number & kWatched) != 0) {
    Sizes& sizes = sizes_[(number & ~kWatched) % SizeClasses::kCount];
    const std::uint64_t got_ns = sizes.one_way.trial.cost(1) * (bytes / 1024) / 1024;
    ns > 2 * got_ns + kLateNs ? sizes.ring.failed() : sizes.ring.succeeded();
    return;
  }
  const Ticket ticket = Ticket::of(number);
  if (ticket.size_class >= SizeClasses::kCount) return;
  Sizes& sizes = sizes_[ticket.size_class];
  Tried& tried = ticket.both ? sizes.both_ways : sizes.one_way;
  // Of a window of receives that matched before the last option had been tried enough, the rest says nothing.
  if (!tried.trial.trying() || tried.trial.option() != ticket.option) return;
  tried.bytes += bytes;
  tried.ns += ns;
  if (tried.bytes < kStretchBytes) return;
  const bool ended = tried.trial.took(tried.ns * 1024 / (tried.bytes / 1024));
  tried.bytes = tried.ns = 0;
  if (!ended || trials_ == nullptr) return;
  const auto& protocols = ticket.both ? kBothWays : kOneWay;
  trials_->findings().keep(key_of(ticket.size_class, ticket.both),
                           {protocols[tried.trial.option()], {tried.trial.cost(0), tried.trial.cost(1), 0}});
}

/// The first message of a size: what other processes, or a job before, have found.
void StaticPolicy::adopt(Tried& tried, unsigned size_class, bool both, const Peer& peer) noexcept {
  tried.begun = true;
  if (trials_ == nullptr) return;
  Findings& findings = trials_->findings();
  const btl::CopyWay way = peer.endpoint->copies();
  if (!findings.shared() && way.copies != nullptr) findings.share(way.copies->segment().findings());
  const auto found = findings.find(key_of(size_class, both));
  if (!found) return;
  const auto& protocols = both ? kBothWays : kOneWay;
  if (found->protocol != protocols[0] && found->protocol != protocols[1]) return;
  tried.trial.adopt(found->protocol == protocols[0] ? 0 : 1, {found->costs[0], found->costs[1]}, kAdopted);
}

std::vector<std::string> StaticPolicy::notes() const {
  std::string one_way, both_ways;
  for (unsigned at = 0; at < SizeClasses::kCount; ++at) {
    const auto add = [at](std::string& to, const Trial<2>& trial, const Large(&protocols)[2]) {
      if (trial.cost(1) != 0) to += (to.empty() ? " " : "; ") + verdict(at, trial, protocols);
    };
    add(one_way, sizes_[at].one_way.trial, kOneWay);
    add(both_ways, sizes_[at].both_ways.trial, kBothWays);
  }
  std::vector<std::string> notes;
  if (trials_ != nullptr && !trials_->note().empty()) notes.push_back(trials_->note());
  if (!one_way.empty()) notes.push_back("large messages, tried from" + one_way);
  if (!both_ways.empty()) notes.push_back("large messages while both sides send, tried from" + both_ways);
  return notes;
}

}  // namespace starling::pml
