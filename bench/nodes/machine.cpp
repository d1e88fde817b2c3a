// SPDX-License-Identifier: BSD-3-Clause
// Schedules in virtual time. What is hard: adapters are shared, so processes go on in the order of their
// clocks. Layer: bench. docs/design/collectives.md

#include "bench/nodes/machine.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace starling::nodes {

using mpi::coll::Schedule;
using Do = Schedule::Do;

Machine::Machine(const Costs& costs, const mpi::coll::Hierarchy& hierarchy,
                 const std::vector<std::unique_ptr<Schedule>>& schedules)
    : costs_(costs),
      hierarchy_(hierarchy),
      schedules_(schedules),
      processes_(schedules.size()),
      out_free_(static_cast<std::size_t>(hierarchy.nodes())),
      in_free_(out_free_) {}

double Machine::run() {
  using At = std::pair<double, int>;
  std::priority_queue<At, std::vector<At>, std::greater<>> ready;
  for (int rank = 0; rank < static_cast<int>(processes_.size()); ++rank) ready.push({0, rank});
  std::size_t done = 0;
  double last = 0;
  while (!ready.empty()) {
    const int rank = ready.top().second;
    ready.pop();
    if (advance(rank)) {
      if (process(rank).round == schedule(rank).rounds().size()) {
        ++done;
        last = std::max(last, process(rank).now);
      } else {
        ready.push({process(rank).now, rank});
      }
    }
    for (const int other : woken_) ready.push({process(other).now, other});
    woken_.clear();
  }
  return done == processes_.size() ? last : -1;
}

/// Posts a round, or goes on in it. False: waits for a message that is not on its way yet.
bool Machine::advance(int rank) {
  Process& self = process(rank);
  const auto& rounds = schedule(rank).rounds();
  if (self.round == rounds.size()) return true;
  const Schedule::Round round = rounds[self.round];
  if (!self.posted) {
    self.posted = true;
    self.step = round.begin;
    post(rank);
    return true;  // others may be earlier
  }
  for (; self.step < round.end; ++self.step) {
    const Schedule::Step& step = schedule(rank).steps()[self.step];
    if (step.what == Do::receive && !(step.late && step.to.bytes == 0) && !take(rank, step)) return false;
  }
  work(rank);
  self.posted = false;
  ++self.round;
  return true;
}

void Machine::post(int rank) {
  const Schedule::Round round = schedule(rank).rounds()[process(rank).round];
  for (std::uint32_t i = round.begin; i < round.end; ++i) {
    const Schedule::Step& step = schedule(rank).steps()[i];
    if (step.what == Do::send && !(step.late && step.from.bytes == 0)) send(rank, step);
  }
}

void Machine::send(int rank, const Schedule::Step& step) {
  Process& self = process(rank);
  const int from = hierarchy_.node_of(rank), to = hierarchy_.node_of(step.peer);
  const auto bytes = static_cast<double>(step.from.bytes);
  const Link& link = from == to ? costs_.within : costs_.between;
  self.now += link.overhead;
  double arrival = self.now + link.latency + bytes * link.per_byte;
  if (from == to) {
    self.now += bytes * link.per_byte;  // the processor copies
  } else {
    const double busy = std::max(link.gap, bytes * link.per_byte);
    double& out = out_free_[static_cast<std::size_t>(from)];
    double& in = in_free_[static_cast<std::size_t>(to)];
    out = std::max(out, self.now) + busy;
    in = std::max(in + busy, out + link.latency);
    arrival = in;
    ++messages_;
    bytes_ += step.from.bytes;
  }
  Mail& mail = mails_[key(rank, step.peer)];
  mail.arrivals.push_back(arrival);
  if (std::exchange(mail.awaited, false)) woken_.push_back(step.peer);
}

bool Machine::take(int rank, const Schedule::Step& step) {
  const auto found = mails_.find(key(step.peer, rank));
  if (found == mails_.end() || found->second.arrivals.empty()) {
    mails_[key(step.peer, rank)].awaited = true;
    return false;
  }
  const bool inside = hierarchy_.node_of(rank) == hierarchy_.node_of(step.peer);
  const Link& link = inside ? costs_.within : costs_.between;
  std::vector<double>& arrivals = found->second.arrivals;
  process(rank).now = std::max(process(rank).now, arrivals.front()) + link.overhead;
  arrivals.erase(arrivals.begin());
  if (arrivals.empty()) mails_.erase(found);  // pairs are many
  return true;
}

void Machine::work(int rank) {
  Process& self = process(rank);
  const Schedule::Round round = schedule(rank).rounds()[self.round];
  for (std::uint32_t i = round.begin; i < round.end; ++i) {
    const Schedule::Step& step = schedule(rank).steps()[i];
    if (step.what == Do::copy) self.now += static_cast<double>(step.from.bytes) * costs_.copy_per_byte;
    if (step.what == Do::reduce)
      self.now +=
          static_cast<double>(step.count * schedule(rank).reduced_type().size) * costs_.reduce_per_byte;
  }
}

}  // namespace starling::nodes
