// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A job in virtual time: processes, nodes and their links, a process manager. Layer: bench.
///
/// Each process runs the shipped bootstrap component (process.hpp) until that waits; then the next event has
/// its turn. Time passes only by the costs of what processes send, receive, copy and ask (costs.hpp); other
/// computing costs none. See docs/design/scale.md.
///
/// Threads:   one.
/// Ownership: a World owns its processes.
/// Ordering:  events of the same time are handled in the order in which they were made: a run can be
///            repeated.
/// Errors:    a creation that fails, or a job in which nobody goes on, is the Error of run().
/// Units:     bytes; nanoseconds of virtual time.

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/scale/costs.hpp"
#include "bench/scale/fiber.hpp"
#include "core/result.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/bootstrap/group_mode.hpp"
#include "frameworks/bootstrap/pieces.hpp"
#include "frameworks/pmi/value.hpp"
#include "frameworks/select.hpp"

namespace starling::scale {

class Process;

/// What is simulated.
struct Setup {
  std::uint32_t ranks = 64, per_node = 8;
  bool roots_tree = true;  ///< the component is bootstrap/hierarchical
  bool async_modex = false;
  bootstrap::GroupMode group_mode = bootstrap::GroupMode::automatic;
  pmi::Capabilities pmi;
  std::size_t value_max = 96 * 1024;  ///< the server's vallen_max
  std::string transport = "trial";    ///< its name and the length of its addresses make the cards
  std::size_t address_bytes = 16;
  std::size_t message_bytes = bootstrap::kRemoteMessageBytes;  ///< longest control message between nodes
  std::uint64_t skew_ns = 0;  ///< each process starts at a time of its own within this
  bool compute = false;       ///< also take the real processor time of each process
  Costs costs;
};

struct Traffic {
  std::uint64_t node_messages = 0, node_bytes = 0, remote_messages = 0, remote_bytes = 0;
};

/// What came of it.
struct Outcome {
  Traffic sent, sent_most;                 ///< by all; by the busiest process, each count on its own
  std::uint64_t link_bytes_most = 0;       ///< out of the busiest node
  pmi::Component::Counters pmi, pmi_most;  ///< operations of all; of the busiest process, each on its own
  std::uint64_t operations_most = 0;
  std::uint64_t server_requests = 0, server_bytes = 0, server_busy_ns = 0;
  std::uint64_t table_bytes_most = 0;  ///< kept on a node
  std::uint64_t end_ns = 0;            ///< when the last process has its communicator
  double compute_most_s = 0;
};

/// Where a node of the simulation keeps tables.
class Store final : public bootstrap::NodeStore {
 public:
  Result<std::uint64_t> keep(const bootstrap::SharedBytes& bytes) override;
  std::span<const std::byte> at(std::uint64_t place, std::size_t bytes) const override;
  /// What the node's segment would use for it: powers of two of at least 4 KiB.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::vector<bootstrap::SharedBytes> kept_;
  std::uint64_t bytes_ = 0;
};

class World {
 public:
  World(const Setup& setup, plugin::Index& plugins, params::Registry& params);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] Result<Outcome> run();

  // For processes.
  [[nodiscard]] const Setup& setup() const noexcept { return setup_; }
  [[nodiscard]] const ProcListPtr& members() const noexcept { return members_; }
  [[nodiscard]] const pmi::ValueCodec& codec() const noexcept { return codec_; }
  [[nodiscard]] std::uint64_t now() const noexcept { return now_; }
  [[nodiscard]] std::uint32_t node_of(std::uint32_t rank) const noexcept { return rank / setup_.per_node; }
  [[nodiscard]] Store& store(std::uint32_t rank) noexcept { return stores_[node_of(rank)]; }
  [[nodiscard]] Process& process(std::uint32_t rank) noexcept { return *processes_[rank]; }
  /// An event.
  void at(std::uint64_t time_ns, std::function<void()> what);
  /// When something arrives whose sender worked on it from `begin_ns` to `sent_ns`.
  [[nodiscard]] std::uint64_t arrival(std::uint32_t from, std::uint32_t to, std::uint64_t bytes,
                                      std::uint64_t begin_ns, std::uint64_t sent_ns);
  /// A request to the server: `serve` runs there, `answered`, if any, when the reply is back.
  void request(std::uint64_t sent_ns, std::uint64_t bytes, std::function<void()> serve,
               std::function<void()> answered);
  /// By `serve`: somebody is in a fence of `size` processes (0: everybody). `ranks`: all of them, from one.
  void entered_fence(const std::string& name, std::uint32_t size, const std::vector<std::uint32_t>& ranks);

  /// What the server holds.
  std::unordered_map<std::string, std::string> values, names;

 private:
  struct Event {
    std::uint64_t time, number;
    std::function<void()> what;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const noexcept {
      return a.time != b.time ? a.time > b.time : a.number > b.number;
    }
  };
  struct Link {
    std::uint64_t out_free = 0, in_free = 0, bytes = 0;
  };
  struct Fence {
    std::uint32_t entered = 0;
    std::vector<std::uint32_t> ranks;
  };
  void release(std::uint32_t rank);
  [[nodiscard]] Result<void> check() const;
  [[nodiscard]] Outcome outcome() const;

  Setup setup_;
  NodeMap nodes_;
  pmi::ValueCodec codec_;
  ProcListPtr members_;
  std::vector<Store> stores_;
  std::vector<Link> links_;
  Stacks stacks_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::unordered_map<std::string, Fence> fences_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::uint64_t now_ = 0, number_ = 0;
  std::uint64_t server_free_ = 0, server_busy_ = 0, server_requests_ = 0, server_bytes_ = 0;
};

}  // namespace starling::scale
