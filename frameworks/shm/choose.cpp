// SPDX-License-Identifier: BSD-3-Clause
// Choosing how the node shares memory. What is hard: processes see different facts at different times (a name
// of somebody else's that goes, a file system that fills up), and must still decide alike. Layer: framework.
// Design: docs/design/shared-memory.md.

#include "frameworks/shm/choose.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "frameworks/shm/attach.hpp"

namespace starling::shm {
namespace {

/// What a candidate other than the last has to find free, so that queues have room too.
constexpr std::uint64_t kRoomPerProcess = std::uint64_t{512} << 10;

/// What another process must see alike: another decision would part the processes of this node.
bool is_final(const Error& error) noexcept {
  return error.code == Errc::bad_input || error.code == Errc::timed_out;
}

std::string inherited_how(const Candidate& candidate) {
  return "shm/" + candidate.name + ", inherited from mpiexec";
}

class Choice {
 public:
  Choice(std::span<const Candidate> candidates, const SegmentSpec& spec, bool ordered, Deadline deadline)
      : candidates_(candidates), spec_(spec), deadline_(deadline) {
    for (std::size_t i = 0; i < candidates.size(); ++i) order_.push_back(i);
    if (!ordered) {
      std::stable_partition(order_.begin(), order_.end(),
                            [&](std::size_t i) { return candidates_[i].component->has_name(); });
    }
  }

  Result<Attached> run() {
    for (;;) {
      auto found = find();
      if (!found) return fail(std::move(found).error());
      if (*found) return std::move(**found);
      if (alone()) return make(nullptr, {});
      auto election = elect(spec_, deadline_);
      if (!election && is_final(election.error())) return fail(std::move(election).error());
      if (!election) return make(nullptr, election.error().text());
      if (!*election) continue;  // somebody has made a name meanwhile, or has died
      if ((*election)->memory) return accept(std::move(**election));
      return make(&**election, {});
    }
  }

 private:
  Result<std::optional<Attached>> find() {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      auto segment = candidates_[i].component->find(spec_, deadline_);
      if (segment) return std::optional<Attached>(attached(std::move(*segment), i, nullptr));
      if (is_final(segment.error())) return fail(std::move(segment).error());
    }
    return std::optional<Attached>{};
  }

  /// This process is elected, or (`no_election` says why) nobody can be.
  Result<Attached> make(Election* election, const std::string& no_election) {
    for (const std::size_t i : order_) {
      Component& component = *candidates_[i].component;
      if (election == nullptr && !component.has_name() && !alone()) {
        refused_.push_back("shm/" + candidates_[i].name + ": " + no_election);
        continue;
      }
      SegmentSpec spec = spec_;
      spec.room_bytes = i == order_.back() ? 0 : kRoomPerProcess * spec_.local_size;
      auto segment = component.attach(spec, deadline_);
      if (segment) return finish(std::move(*segment), i, election);
      refused_.push_back(segment.error().text());
      if (is_final(segment.error())) break;
    }
    std::string reasons;
    for (const std::string& reason : refused_) reasons += "\n  " + reason;
    return fail(Errc::not_found, "shm", "no component can be used:" + reasons);
  }

  Result<Attached> finish(Segment segment, std::size_t candidate, Election* election) {
    if (candidates_[candidate].component->has_name() || segment.inherited || alone()) {
      return attached(std::move(segment), candidate, nullptr);
    }
    std::string why;
    for (const std::string& reason : refused_) why += (why.empty() ? "" : "; ") + reason;
    auto segment_server = SegmentServer::start(segment.fd.get(), std::move(election->listener), spec_, why);
    if (!segment_server) return fail(std::move(segment_server).error());
    return attached(std::move(segment), candidate, std::move(*segment_server));
  }

  Result<Attached> accept(Election election) {
    const auto candidate = std::find_if(candidates_.begin(), candidates_.end(),
                                        [](const Candidate& each) { return !each.component->has_name(); });
    if (candidate == candidates_.end()) {
      return fail(Errc::bad_input, "shm",
                  "another process of this node hands over a memfd, which parameter shm excludes here; all "
                  "processes of a job must see the same parameters");
    }
    auto segment = handed_segment(std::move(election.memory), spec_, deadline_);
    if (!segment) return fail(std::move(segment).error());
    auto segment_server =
        SegmentServer::start(segment->fd.get(), std::move(election.listener), spec_, election.why);
    if (!election.why.empty()) refused_.push_back(std::move(election.why));
    // Others give as well: without a thread of its own this process can still take part.
    return attached(std::move(*segment), static_cast<std::size_t>(candidate - candidates_.begin()),
                    segment_server ? std::move(*segment_server) : nullptr);
  }

  Attached attached(Segment segment, std::size_t candidate, std::unique_ptr<SegmentServer> segment_server) {
    std::string how = "shm/" + candidates_[candidate].name;
    if (segment.inherited) {
      how = inherited_how(candidates_[candidate]);
    } else if (alone()) {
      how = "of this process alone";
    } else if (!candidates_[candidate].component->has_name()) {
      how += ", handed over through the socket " + election_name(spec_);
    }
    return Attached{std::move(segment), candidate, std::move(segment_server), std::move(how),
                    std::move(refused_)};
  }

  /// Then nobody else has to find the segment.
  [[nodiscard]] bool alone() const noexcept { return spec_.local_size == 1; }

  std::span<const Candidate> candidates_;
  const SegmentSpec& spec_;
  Deadline deadline_;
  std::vector<std::size_t> order_;  // in which a segment is made
  std::vector<std::string> refused_;
};

}  // namespace

std::optional<Attached> take_inherited(const Candidate& candidate, const SegmentSpec& spec,
                                       Deadline deadline) {
  if (candidate.component->has_name()) return std::nullopt;
  auto segment = candidate.component->find(spec, deadline);
  if (!segment || !segment->inherited) return std::nullopt;  // attach_node_segment() says why
  return Attached{std::move(*segment), 0, nullptr, inherited_how(candidate), {}};
}

Result<Attached> attach_node_segment(std::span<const Candidate> candidates, const SegmentSpec& spec,
                                     bool ordered, Deadline deadline) {
  return Choice(candidates, spec, ordered, deadline).run();
}

}  // namespace starling::shm
