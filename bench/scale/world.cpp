// SPDX-License-Identifier: BSD-3-Clause
// The simulation. Layer: bench. See docs/design/scale.md.

#include "bench/scale/world.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "bench/scale/process.hpp"

namespace starling::scale {
namespace {

/// The ranks of the job.
class Everybody final : public ProcList {
 public:
  explicit Everybody(std::uint32_t size) : size_(size) {}
  std::uint32_t size() const noexcept override { return size_; }
  ProcId at(std::uint32_t index) const noexcept override { return {0, index}; }
  std::optional<std::uint32_t> find(ProcId proc) const noexcept override {
    return proc.world == 0 && proc.rank < size_ ? std::optional(proc.rank) : std::nullopt;
  }
  bool consecutive() const noexcept override { return true; }

 private:
  std::uint32_t size_;
};

std::uint32_t node_count(const Setup& setup) { return (setup.ranks + setup.per_node - 1) / setup.per_node; }

Traffic sum(const Traffic& a, const Traffic& b) {
  return {a.node_messages + b.node_messages, a.node_bytes + b.node_bytes,
          a.remote_messages + b.remote_messages, a.remote_bytes + b.remote_bytes};
}

Traffic most(const Traffic& a, const Traffic& b) {
  return {std::max(a.node_messages, b.node_messages), std::max(a.node_bytes, b.node_bytes),
          std::max(a.remote_messages, b.remote_messages), std::max(a.remote_bytes, b.remote_bytes)};
}

}  // namespace

Result<std::uint64_t> Store::keep(const bootstrap::SharedBytes& bytes) {
  kept_.push_back(bytes);
  bytes_ += std::max<std::uint64_t>(4096, std::bit_ceil(bytes->size()));
  return kept_.size();
}

std::span<const std::byte> Store::at(std::uint64_t place, std::size_t bytes) const {
  return std::span(*kept_[place - 1]).first(bytes);
}

World::World(const Setup& setup, plugin::Index& plugins, params::Registry& params)
    : setup_(setup),
      nodes_({{0, node_count(setup), setup.per_node}}),
      codec_(*pmi::ValueCodec::make({.keylen_max = 64, .vallen_max = setup.value_max})),
      members_(std::make_shared<Everybody>(setup.ranks)),
      stores_(node_count(setup)),
      links_(node_count(setup)),
      stacks_(setup.ranks) {
  processes_.reserve(setup.ranks);
  for (std::uint32_t rank = 0; rank < setup.ranks; ++rank) {
    processes_.push_back(std::make_unique<Process>(*this, rank, stacks_));
    Process& process = *processes_.back();
    const bootstrap::Args args{params,      process.client(), process,        {0, rank},
                               setup.ranks, &nodes_,          process.store()};
    auto component = plugins.create_first<bootstrap::Framework>(args);
    expects(component.has_value(), "the bootstrap cannot be made");
    process.give(std::move(*component));
  }
}

World::~World() = default;

void World::at(std::uint64_t time_ns, std::function<void()> what) {
  events_.push({std::max(time_ns, now_), number_++, std::move(what)});
}

std::uint64_t World::arrival(std::uint32_t from, std::uint32_t to, std::uint64_t bytes,
                             std::uint64_t begin_ns, std::uint64_t sent_ns) {
  const Costs& costs = setup_.costs;
  if (node_of(from) == node_of(to)) return sent_ns + ns_of_us(costs.shm_latency_us);
  // The link works while the process still makes the messages, and the other end while this one sends.
  const auto on_link = static_cast<std::uint64_t>(static_cast<double>(bytes) * 8 / costs.net_gbit_s);
  const std::uint64_t latency = ns_of_us(costs.net_latency_us);
  Link& out = links_[node_of(from)];
  Link& in = links_[node_of(to)];
  const std::uint64_t start = std::max(begin_ns, out.out_free);
  const std::uint64_t sent = std::max(start + on_link, sent_ns);
  out.out_free = start + on_link;
  out.bytes += bytes;
  const std::uint64_t in_start = std::max(start + latency, in.in_free);
  in.in_free = in_start + on_link;
  return std::max(in_start + on_link, sent + latency);
}

void World::request(std::uint64_t sent_ns, std::uint64_t bytes, std::function<void()> serve,
                    std::function<void()> answered) {
  const std::uint64_t half = ns_of_us(setup_.costs.pmi_round_trip_us) / 2;
  ++server_requests_;
  server_bytes_ += bytes;
  at(sent_ns + half, [this, half, serve = std::move(serve), answered = std::move(answered)]() mutable {
    const std::uint64_t service = ns_of_us(setup_.costs.pmi_request_us);
    server_free_ = std::max(server_free_, now_) + service;
    server_busy_ += service;
    at(server_free_, [this, half, serve = std::move(serve), answered = std::move(answered)]() mutable {
      serve();
      if (answered) at(now_ + half, std::move(answered));
    });
  });
}

void World::entered_fence(const std::string& name, std::uint32_t size,
                          const std::vector<std::uint32_t>& ranks) {
  Fence& fence = fences_[name];
  if (!ranks.empty()) fence.ranks = ranks;
  if (++fence.entered < (size == 0 ? setup_.ranks : size)) return;
  for (const std::uint32_t rank : fence.ranks) release(rank);
  for (std::uint32_t rank = 0; size == 0 && rank < setup_.ranks; ++rank) release(rank);
  fences_.erase(name);
}

void World::release(std::uint32_t rank) {
  const std::uint64_t service = ns_of_us(setup_.costs.pmi_release_us);
  server_free_ = std::max(server_free_, now_) + service;
  server_busy_ += service;
  at(server_free_ + ns_of_us(setup_.costs.pmi_round_trip_us) / 2, [this, rank] {
    process(rank).client().left_fence();
    process(rank).look();
  });
}

Result<Outcome> World::run() {
  for (std::uint32_t rank = 0; rank < setup_.ranks; ++rank) {
    const std::uint64_t share = (rank * std::uint64_t{2654435761u}) & 0xffffffffu;  // spread over [0, 1)
    at(setup_.skew_ns * (share >> 16) >> 16, [this, rank] { process(rank).start(); });
  }
  while (!events_.empty()) {
    now_ = events_.top().time;
    // The queue only gives const access to what is taken off at once.
    const auto what = std::move(const_cast<Event&>(events_.top()).what);
    events_.pop();
    what();
  }
  if (auto checked = check(); !checked) return fail(std::move(checked).error());
  return outcome();
}

/// Everybody has the same communicator.
Result<void> World::check() const {
  for (const auto& process : processes_) {
    const std::string who = "rank " + std::to_string(process->rank());
    if (!process->result())
      return fail(Errc::timed_out, who, "waits without end for " + process->waits_for());
    if (!*process->result()) return fail(Error(process->result()->error()).within(who));
    if (**process->result() != **processes_.front()->result())
      return fail(Errc::internal, who, "has another context id than rank 0");
  }
  return {};
}

Outcome World::outcome() const {
  Outcome out;
  const auto operations = [](const pmi::Component::Counters& c) {
    return c.puts + c.gets + c.fences + c.other;
  };
  for (const auto& process : processes_) {
    const pmi::Component::Counters pmi = process->client().counters();
    out.sent = sum(out.sent, process->sent());
    out.sent_most = most(out.sent_most, process->sent());
    using Counters = pmi::Component::Counters;
    for (const auto member : {&Counters::puts, &Counters::gets, &Counters::early_gets, &Counters::fences,
                              &Counters::other, &Counters::bytes_sent, &Counters::bytes_received}) {
      out.pmi.*member += pmi.*member;
      out.pmi_most.*member = std::max(out.pmi_most.*member, pmi.*member);
    }
    out.operations_most = std::max(out.operations_most, operations(pmi));
    out.end_ns = std::max(out.end_ns, process->clock());
    out.compute_most_s = std::max(out.compute_most_s, process->compute_s());
  }
  for (const Link& link : links_) out.link_bytes_most = std::max(out.link_bytes_most, link.bytes);
  for (const Store& store : stores_) out.table_bytes_most = std::max(out.table_bytes_most, store.bytes());
  out.server_requests = server_requests_;
  out.server_bytes = out.pmi.bytes_sent + out.pmi.bytes_received;
  out.server_busy_ns = server_busy_;
  return out;
}

}  // namespace starling::scale
