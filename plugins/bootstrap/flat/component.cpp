// SPDX-License-Identifier: BSD-3-Clause
// bootstrap/flat. What is hard: whether a fence is skipped must follow from facts that all members share. The
// list of completed exchanges is such a fact only in the form "one exchange contained all members of the new
// group". Layer: plugin. See docs/design/startup.md.

#include "plugins/bootstrap/flat/component.hpp"

#include <algorithm>

#include "frameworks/bootstrap/params.hpp"

namespace starling::bootstrap {
namespace {

std::string address_key(std::string_view transport) { return "starling-addr-" + std::string(transport); }

bool contains_all(const ProcList& outer, const ProcList& inner) {
  for (std::uint32_t i = 0; i < inner.size(); ++i) {
    if (!outer.find(inner.at(i))) return false;
  }
  return true;
}

}  // namespace

Flat::Flat(const Args& args)
    : params_(args.params),
      pmi_(args.pmi),
      courier_(args.courier),
      self_(args.self),
      world_size_(args.world_size),
      published_(args.published),
      agreement_(args.courier, args.self) {}

Result<void> Flat::publish() {
  for (const LocalAddress& local : published_) {
    if (auto put = pmi_.put(address_key(local.transport), local.bytes); !put) return put;
  }
  return {};
}

std::uint64_t Flat::timeout_seconds() const { return static_cast<std::uint64_t>(params_.integer(kTimeout)); }

Result<ContextId> Flat::create(const Creation& creation, Deadline deadline) {
  if (!published_.empty()) {
    if (auto exchanged = exchange(creation, deadline); !exchanged) return fail(std::move(exchanged).error());
  }
  return agreement_.agree(creation, deadline);
}

Result<void> Flat::exchange(const Creation& creation, Deadline deadline) {
  if (pmi_.capabilities().get_without_fence || world_exchanged_) return {};
  for (const ProcListPtr& group : exchanged_groups_) {
    if (contains_all(*group, *creation.members)) return {};
  }
  Result<void> fenced;
  if (pmi_.capabilities().group_fence && creation.members->size() < world_size_) {
    const Sorted sorted(creation.members);
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t i = 0; i < sorted.size(); ++i) ranks.push_back(sorted.at(i).rank);
    courier_.unlocked([&] { fenced = pmi_.fence(ranks, creation.tag, deadline); });
    if (fenced) exchanged_groups_.push_back(creation.members);
  } else {
    courier_.unlocked([&] { fenced = pmi_.fence(deadline); });
    if (fenced) world_exchanged_ = true;
  }
  return fenced;
}

Result<std::vector<std::byte>> Flat::address(ProcId peer, std::string_view transport) {
  const Deadline deadline = Deadline::after_seconds(timeout_seconds());
  const auto what = [&] {
    return "first contact: waits for the " + std::string(transport) + " address of rank " +
           std::to_string(peer.rank);
  };
  while (true) {
    Result<pmi::Lookup> found = pmi_.get(peer.rank, address_key(transport));
    if (!found) return fail(std::move(found).error());
    if (found->found == pmi::Found::value) return std::move(found->value);
    if (found->found == pmi::Found::none) return std::vector<std::byte>{};
    // A slow peer is never taken for one without a transport: it is asked again until the deadline.
    if (deadline.passed()) {
      return fail(Errc::timed_out, "bootstrap/flat",
                  "rank " + std::to_string(peer.rank) + " has not published its " + std::string(transport) +
                      " address within bootstrap_timeout (" + std::to_string(timeout_seconds()) + " s)");
    }
    auto paused = courier_.wait([] { return false; }, Deadline::after_ns(1'000'000), what);
    if (!paused && paused.error().code != Errc::timed_out) return fail(std::move(paused).error());
  }
}

}  // namespace starling::bootstrap
