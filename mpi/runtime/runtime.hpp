// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The running library: components, progress, waiting. Layer: mpi. See docs/design/startup.md.
///
/// Built by the first MPI_Init or MPI_Session_init, purely locally: no fence, nothing of the size of the job.
/// It stays until the process exits, so that worlds and sessions can come and go any number of times.
///
/// Threads:   everything is called under the runtime's lock (lock.hpp); waiting releases it.
/// Ownership: owns the components. Get one with Runtime::get() after ensure() succeeded.
/// Errors:    set-up returns Result. When the job is being ended from outside, waiting does not return: the
///            process exits.
/// Units:     nanoseconds in names.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/ids.hpp"
#include "core/result.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/bootstrap/pieces.hpp"
#include "frameworks/bootstrap/terms.hpp"
#include "frameworks/btl/btl.hpp"
#include "frameworks/pmi/pmi.hpp"
#include "frameworks/pml/pml.hpp"
#include "frameworks/select.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/runtime/allocated_memory.hpp"
#include "mpi/runtime/background_progress.hpp"
#include "mpi/runtime/environment.hpp"
#include "mpi/runtime/fences.hpp"
#include "mpi/runtime/phases.hpp"
#include "mpi/runtime/place.hpp"
#include "mpi/runtime/plan.hpp"
#include "mpi/runtime/progress_thread.hpp"
#include "mpi/runtime/segment_store.hpp"
#include "mpi/runtime/waits.hpp"

namespace starling::mpi {

/// Messages by which communicators are made from groups: those that this process has sent.
struct CreationTraffic {
  struct Messages {
    std::uint64_t count = 0, bytes = 0;
  };
  Messages node;    ///< to itself and to others of its node
  Messages remote;  ///< to other nodes
};

class Runtime final : public bootstrap::Courier, public peer::Port, private FenceWaiter {
 public:
  /// The runtime, built at the first call. The same Error at every later call if that failed.
  [[nodiscard]] static Result<Runtime*> ensure();
  /// Null before ensure() succeeded.
  [[nodiscard]] static Runtime* get() noexcept { return instance_; }

  [[nodiscard]] pml::Component& pml() noexcept { return *pml_; }
  [[nodiscard]] peer::Peers& peers() noexcept { return waits_.polling().peers(); }
  [[nodiscard]] bootstrap::Component& bootstrap() noexcept { return *bootstrap_; }
  [[nodiscard]] pmi::Component& pmi() noexcept { return *pmi_; }
  [[nodiscard]] const params::Registry& params() const noexcept { return environment_.params; }
  [[nodiscard]] Environment& environment() noexcept { return environment_; }
  [[nodiscard]] const std::vector<btl::Component*>& transports() const noexcept { return transport_list_; }

  /// Connections that transports to other nodes have made for sending.
  [[nodiscard]] std::uint64_t network_endpoints() const;

  /// Transports that could not be made, with their reasons.
  [[nodiscard]] const std::vector<std::string>& transports_refused() const noexcept {
    return transports_refused_;
  }

  /// Where this process is.
  [[nodiscard]] const Place& place() const noexcept { return place_; }
  [[nodiscard]] ProcId self() const noexcept { return place_.self(); }
  /// Waiting for something; sleeping and hang help belong to it.
  [[nodiscard]] Waits& waits() noexcept { return waits_; }
  /// Passes of progress, without waiting.
  [[nodiscard]] Polling& polling() noexcept { return waits_.polling(); }
  /// Fences of the process manager.
  [[nodiscard]] Fences& fences() noexcept { return fences_; }
  /// Progress while the program computes.
  [[nodiscard]] BackgroundProgress& background() noexcept { return background_; }
  [[nodiscard]] const BackgroundProgress& background() const noexcept { return background_; }
  /// What MPI_Alloc_mem has given.
  [[nodiscard]] AllocatedMemory& allocated_memory() noexcept { return allocated_memory_; }
  [[nodiscard]] const std::vector<Phase>& phases() const noexcept { return phases_.all(); }
  [[nodiscard]] const CreationTraffic& creation_traffic() const noexcept { return creation_traffic_; }

  /// Finds out who is on which node, where the process manager does not say: then collective over the world,
  /// at the first call. Until then this process counts as alone on its node.
  [[nodiscard]] Result<void> know_place();
  [[nodiscard]] bool knows_place() const noexcept { return placed_ == Placed::on_node; }
  /// Makes what is needed to reach these processes: the network transports, once something else is not
  /// enough. To be called before anything is sent to a new set of processes. The same on every member.
  [[nodiscard]] Result<void> reach(const ProcList& members);
  /// What making a communicator of these members does; a function of facts that all members share.
  [[nodiscard]] StartupPlan plan_for(const ProcList& members) const;
  /// The same for so many members, who are on one node or not.
  [[nodiscard]] StartupPlan plan_for(std::uint32_t members, bool over_network) const;
  /// The plan of a job that is not this one, under a process manager with these abilities. Makes the network
  /// transports if that job loads them. An Error: no transport would reach its processes.
  struct JobShape {
    std::uint32_t nodes = 1;
    std::uint32_t per_node = 1;
    [[nodiscard]] std::uint32_t size() const noexcept { return nodes * per_node; }
  };
  [[nodiscard]] Result<StartupPlan> plan_for_job(JobShape job, const pmi::Capabilities& pmi);
  /// Makes a context id together with the other members, after what the plan wants done before. Collective.
  [[nodiscard]] Result<ContextId> agree(const ProcListPtr& members, const std::string& tag);
  // bootstrap::Courier
  [[nodiscard]] Result<void> send(ProcId to, std::span<const std::byte> message) override;
  [[nodiscard]] Result<void> send_block(ProcId to, const bootstrap::Block& block) override;
  [[nodiscard]] Result<void> pause(std::uint64_t ns, const std::function<std::string()>& what) override;
  [[nodiscard]] Result<void> wait(const std::function<bool()>& ready, Deadline deadline,
                                  const std::function<std::string()>& what) override;
  [[nodiscard]] Result<void> fence(std::span<const std::uint32_t> ranks, std::string_view tag,
                                   Deadline deadline, const std::function<bool()>& needless) override;
  [[nodiscard]] std::uint64_t clock_ns() const noexcept override { return now_ns(); }
  [[nodiscard]] std::optional<ProcId> dead_among(const ProcList& members) noexcept override;
  // peer::Port: messages by which communicators are made
  [[nodiscard]] std::string_view name() const noexcept override { return "creation"; }
  void receive(peer::Peer& from, std::span<const std::byte> message) noexcept override;
  void lose(peer::Peer&) noexcept override {}  // who waits asks dead_among()

  /// Waits until everything that was sent has left this process; after 10 s says what it waits for, and goes
  /// on waiting. `call` is what hang help names: "the end of MPI".
  void drain(const char* call);
  /// Marks this process as properly finalized (its exit is no failure from here on) or in use again.
  void set_idle(bool idle) noexcept;
  /// Ends the whole job; `message` is shown to the user, by the process manager or here. Does not return.
  [[noreturn]] void abort(int exit_code, const std::string& message) noexcept;

 private:
  Runtime(Environment& environment, plugin::Index::Handle<pmi::Framework> pmi) noexcept;
  [[nodiscard]] static Result<std::unique_ptr<Runtime>> build();
  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<void> check_parameters();
  [[nodiscard]] Result<void> find_place();
  [[nodiscard]] Result<void> attach_segment();
  [[nodiscard]] Result<void> move_to_node();
  void settle();
  [[nodiscard]] Result<void> create_transports();
  [[nodiscard]] Result<void> create_node_transports();
  void note_near_transports();
  [[nodiscard]] Result<void> create_transport(const plugin::Candidate& candidate);
  void use_transports(std::size_t first);
  [[nodiscard]] std::size_t remote_message_bytes() const;
  struct Members {
    std::uint32_t count = 1;
    bool everybody = false;  ///< they are the whole world
    bool over_network = false;
  };
  [[nodiscard]] StartupPlan plan_under(const pmi::Capabilities& pmi, const Members& members) const;
  [[nodiscard]] bool is_near(ProcId proc) const;
  /// Whether some member is not near.
  [[nodiscard]] bool needs_network(const ProcList& members) const;
  [[nodiscard]] Result<void> make_network();
  [[nodiscard]] Result<void> create_network();
  [[nodiscard]] Result<void> all_reachable(const ProcList& members) const;
  [[nodiscard]] Result<void> create_bootstrap();
  static void at_exit() noexcept;
  static void at_quick_exit() noexcept;
  void close() noexcept;

  [[nodiscard]] Result<bool> leave_fence(const pmi::Fence& entered, std::size_t count, Deadline deadline,
                                         const std::function<bool()>& needless);
  // FenceWaiter; wait() is that of Courier
  void enter_fence(bool lasts) override { polling().sleeper().enter_fence(lasts); }
  void leave_fence() noexcept override { polling().sleeper().leave_fence(); }

  static Runtime* instance_;

  Environment& environment_;
  int pid_ = 0;
  Phases phases_;
  // Destroyed in reverse: bootstrap, transports, pml, peers, segment, pmi. At the end of the process close()
  // does it.
  plugin::Index::Handle<pmi::Framework> pmi_;
  ProgressThread progress_thread_{registry().lock};
  Place place_;
  Waits waits_;
  Fences fences_;
  BackgroundProgress background_;
  enum class Placed : std::uint8_t { on_node, alone, asking, refused };
  Placed placed_ = Placed::on_node;
  std::optional<Error> refused_place_;
  CreationTraffic creation_traffic_;
  std::vector<std::string> transports_refused_;

  AllocatedMemory allocated_memory_;
  std::optional<SegmentStore> store_;
  bootstrap::Terms terms_;
  bootstrap::Assembly blocks_;
  plugin::Index::Handle<pml::Framework> pml_;
  std::vector<plugin::Index::Handle<btl::Framework>> transports_;
  plugin::Index::Handle<bootstrap::Framework> bootstrap_;

  std::vector<btl::Component*> transport_list_;
  std::string bootstrap_name_;
  std::size_t near_count_ = 0;  // the first of them: those of one node
  bool world_is_near_ = false;  // all its processes are
  bool near_reaches_node_ =
      false;  // by the selection, so the same on all members: more than btl/self is near
  std::optional<NodeMap> lone_nodes_;  // where it is not: each process by itself; the bootstrap reads it
  bool world_is_known_ = false;        // all its addresses are: nothing more to ask the process manager
  std::vector<const plugin::Candidate*> node_candidates_;     // that wait for the place on the node
  std::vector<const plugin::Candidate*> network_candidates_;  // opened by reach()
  bool network_made_ = false;
};

}  // namespace starling::mpi
