// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A PMI-1.2 server without any input or output: messages in, replies out. Layer: tools.
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

#include "core/result.hpp"
#include "frameworks/pmi/node_map.hpp"
#include "frameworks/pmi/wire.hpp"

namespace starling::mpiexec {

inline constexpr std::size_t kKeylenMax = 64;
inline constexpr std::size_t kVallenMax = 1024;
/// What Starling's own client may send: any address in one piece.
inline constexpr std::size_t kOwnVallenMax = 96 * 1024;
inline constexpr std::size_t kKvsBytesMax = std::size_t{512} << 20;

struct PmiJob {
  std::string name;
  std::uint32_t size = 1;
  std::uint32_t universe_size = 0;
  pmi::NodeMap nodes;
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
    bool gone = false;
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

  void release_if_complete(Barrier& barrier, Replies& replies);
  void forget_if_empty(Barrier& barrier);
  Result<Barrier*> barrier_of(std::uint32_t rank, const Message& request);
  Result<std::vector<std::uint32_t>> members_of(std::uint32_t rank, const Message& request,
                                                std::string_view group) const;
  [[nodiscard]] std::string kvs_name(std::uint32_t generation) const;
  Kvs* kvs_of(std::uint32_t rank, std::string_view name);

  PmiJob job_;
  std::vector<RankState> ranks_;
  std::vector<Kvs> kvs_;  ///< by generation
  std::size_t kvs_bytes_ = 0;
  std::map<std::string, Barrier> barriers_;
  std::map<std::string, std::string> names_;
  std::size_t gone_ = 0;
};

}  // namespace starling::mpiexec
