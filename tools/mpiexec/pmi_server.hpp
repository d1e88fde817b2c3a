// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A server of PMI 1.2 and PMI 2.0 without any input or output: messages in, replies out. Layer:
/// tools.
///
/// Each rank chooses its version by its init; ranks of both may meet in one barrier and see each other's
/// values.
///
/// A rank may run several PMI programs one after the other (`sh -c './a; ./b'`): each init after the first
/// begins a new generation of that rank, with a key-value space and barriers of its own, so that the second
/// program never sees the addresses of the first. See docs/design/pmi.md.
///
/// Threads:   one. Ownership: a value; replies are texts for the caller to send.
/// Ordering:  per rank, replies are in the order of its requests. A barrier counts entries per member, since
///            a fast rank may enter the next one before a slow one has read that it left.
/// Errors:    a request that breaks the protocol is bad_input with offset and rule: the caller ends that job.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/node_map.hpp"
#include "core/result.hpp"
#include "frameworks/pmi/wire.hpp"

namespace starling::mpiexec {

inline constexpr std::size_t kKeylenMax = 64;
inline constexpr std::size_t kVallenMax = 1024;
/// What Starling's own client may send: any address in one piece.
inline constexpr std::size_t kOwnVallenMax = 96 * 1024;
/// Of everything that ranks have stored: values, names, attributes of nodes.
inline constexpr std::size_t kKvsBytesMax = std::size_t{512} << 20;
/// Requests of one rank that wait for an attribute of its node.
inline constexpr std::size_t kParkedMax = 64;

struct PmiJob {
  std::string name;
  std::uint32_t size = 1;
  std::uint32_t universe_size = 0;
  NodeMap nodes;
  std::vector<std::uint32_t> appnum;  ///< by rank
  bool kept = false;                  ///< it goes on when ranks are lost
};

/// How far a rank has come, as the server sees it.
enum class Phase : std::uint8_t { silent, active, idle, finalized };

class PmiServer {
 public:
  struct Reply {
    std::uint32_t rank;
    std::string text;
  };
  struct Abort {
    int exit_code;
    std::string message;
  };
  /// A rank that waits in a barrier for one that has ended.
  struct Stuck {
    std::uint32_t waiting;
    std::uint32_t missing;
  };

  explicit PmiServer(PmiJob job);

  /// Serves one request of `rank`; what is to be sent is added to `replies`. An Abort if the rank asked for
  /// it.
  [[nodiscard]] Result<std::optional<Abort>> handle(std::uint32_t rank, const pmi::wire::Message& request,
                                                    std::vector<Reply>& replies);
  /// The process of that rank has ended and been reaped: barriers of the living do not wait for it any more.
  void gone(std::uint32_t rank, std::vector<Reply>& replies);
  /// Somebody who can never be released; nothing is searched while nobody is gone.
  [[nodiscard]] std::optional<Stuck> stuck() const;

  /// The job's name, and those of the programs that its ranks ran one after the other.
  [[nodiscard]] std::vector<std::string> job_names() const;
  [[nodiscard]] Phase phase(std::uint32_t rank) const { return ranks_[rank].phase; }
  /// "before init", "in a barrier that 3 of 4 ranks entered" ...
  [[nodiscard]] std::string describe(std::uint32_t rank) const;

 private:
  struct RankState {
    Phase phase = Phase::silent;
    std::uint32_t generation = 0;
    std::uint32_t barriers = 0;  ///< entered and not left
    int version = 1;             ///< that its init has chosen
    bool introduced = false;     ///< version 2: its fullinit has come
    bool gone = false;
    std::string fence_thread;  ///< version 2: the thrid of the fence that it is in
    std::uint32_t parked = 0;  ///< requests that wait for an attribute
  };
  /// A PMI-2 request for an attribute of a node that is not there yet.
  struct Parked {
    std::uint32_t rank;
    std::string key;  ///< of attributes_
    std::string thread;
  };
  struct Barrier {
    std::vector<std::uint32_t> members;  ///< sorted; empty: everybody
    std::vector<std::uint32_t> entered;  ///< by index of the member
    std::size_t arrived = 0;             ///< members with entered > 0
    std::uint32_t tag = 0;
    bool living = false;  ///< in a job that is kept, members that are gone are not waited for

    [[nodiscard]] std::size_t index_of(std::uint32_t rank) const noexcept {
      return members.empty() ? rank
                             : static_cast<std::size_t>(
                                   std::lower_bound(members.begin(), members.end(), rank) - members.begin());
    }
    [[nodiscard]] std::uint32_t rank_at(std::size_t index) const noexcept {
      return members.empty() ? static_cast<std::uint32_t>(index) : members[index];
    }
  };
  using Kvs = std::unordered_map<std::string, std::string>;
  using Message = pmi::wire::Message;
  using Replies = std::vector<Reply>;
  using Handler = Result<void> (PmiServer::*)(std::uint32_t rank, const Message& request, Replies& replies);
  struct Command {
    std::string_view name;
    Handler handler;
    bool before_init;
  };
  static const Command kCommands[];
  static const Command kFrames[];

  Result<void> serve_line(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> serve_frame(std::uint32_t rank, const Message& request, Replies& replies);
  /// Two processes must not be the same rank: a claim to be another one is refused.
  Result<void> check_claim(std::uint32_t rank, const Message& request) const;

  /// Parameters that say how ranks meet (frameworks/pmi/settings.hpp): those of `rank`, which begins the
  /// generation, must be those of the first rank that has told its own. What differs, for people.
  [[nodiscard]] std::string differing(std::uint32_t rank, std::uint32_t generation, const Message& request);
  // What both versions do; a text says why not.
  std::string_view store(std::uint32_t rank, std::string_view kvs, std::string_view key,
                         std::string_view value);
  [[nodiscard]] std::optional<std::string> stored(std::uint32_t rank, std::string_view kvs,
                                                  std::string_view key);
  std::string_view publish(std::string_view name, std::string_view port);
  std::string_view unpublish(std::string_view name);
  void enter(std::uint32_t rank, Barrier& barrier, bool of_the_living, Replies& replies);

  Result<void> init(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> finalize(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> idle(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> busy(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> get_maxes(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> get_universe_size(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> get_appnum(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> get_my_kvsname(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> put(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> get(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> barrier_in(std::uint32_t rank, const Message& request, Replies& replies);
  /// Starling's own: a rank gives up a barrier that it entered and that has not ended.
  Result<void> barrier_leave(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> publish_name(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> unpublish_name(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> lookup_name(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> spawn(std::uint32_t rank, const Message& request, Replies& replies);

  // pmi_server_v2.cpp
  Result<void> fullinit(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> finalize_v2(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> job_getid(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> info_getjobattr(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> info_putnodeattr(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> info_getnodeattr(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> kvs_put(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> kvs_get(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> kvs_fence(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> name_publish(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> name_unpublish(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> name_lookup(std::uint32_t rank, const Message& request, Replies& replies);
  Result<void> no_other_jobs(std::uint32_t rank, const Message& request, Replies& replies);
  [[nodiscard]] std::string attribute_key(std::uint32_t rank, std::string_view key) const;
  [[nodiscard]] static std::string barrier_out(const RankState& member, const Barrier& barrier);

  void release_if_complete(Barrier& barrier, Replies& replies);
  void forget_if_empty(Barrier& barrier);
  Result<Barrier*> barrier_of(std::uint32_t rank, const Message& request);
  Result<std::vector<std::uint32_t>> members_of(std::uint32_t rank, const Message& request,
                                                std::string_view group) const;
  [[nodiscard]] std::string kvs_name(std::uint32_t generation) const;
  Kvs* kvs_of(std::uint32_t rank, std::string_view name);

  PmiJob job_;
  std::vector<RankState> ranks_;
  std::vector<Kvs> kvs_;                           ///< by generation
  std::map<std::uint32_t, std::string> settings_;  ///< by generation, the first that were told
  std::size_t bytes_ = 0;                          ///< stored
  std::map<std::string, Barrier> barriers_;
  std::map<std::string, std::string> names_;
  Kvs attributes_;  ///< of nodes
  std::vector<Parked> parked_;
  std::size_t gone_ = 0;
};

}  // namespace starling::mpiexec
