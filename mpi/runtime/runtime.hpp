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

#include <poll.h>

#include <array>
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
#include "frameworks/shm/choose.hpp"
#include "frameworks/shm/node_segment.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/runtime/allocated_memory.hpp"
#include "mpi/runtime/busy.hpp"
#include "mpi/runtime/environment.hpp"
#include "mpi/runtime/plan.hpp"
#include "mpi/runtime/poll_loop.hpp"
#include "mpi/runtime/progress_need.hpp"
#include "mpi/runtime/progress_thread.hpp"
#include "mpi/runtime/segment_store.hpp"
#include "mpi/runtime/yields.hpp"

namespace starling::mpi {

/// Something that advances with every progress call until it is done (schedules of collectives). The owner
/// keeps it alive while it is registered.
class Progressable {
 public:
  virtual ~Progressable() = default;
  /// Returns the number of events. May deregister itself and others.
  virtual int progress() noexcept = 0;
  /// For hang help: what it is and what it waits for; empty: nothing to say.
  [[nodiscard]] virtual std::string describe() const { return {}; }
  /// Whether progress() may call functions of the program's, as a user-defined operation is one: only threads
  /// that the program has brought into MPI may run those.
  [[nodiscard]] virtual bool calls_program() const noexcept { return false; }

 private:
  friend class Runtime;
  Progressable* next_ = nullptr;
  Progressable* previous_ = nullptr;
  bool registered_ = false;
  std::uint64_t since_ns_ = 0;  // as Waiting::since_ns
};

/// One phase of start-up, for the report.
struct Phase {
  const char* name;
  std::uint64_t ns;
};

/// Messages by which communicators are made from groups: those that this process has sent.
struct CreationTraffic {
  struct Messages {
    std::uint64_t count = 0, bytes = 0;
  };
  Messages node;    ///< to itself and to others of its node
  Messages remote;  ///< to other nodes
};

/// How this process has slept while it waited.
struct Sleeps {
  std::uint64_t all = 0;
  std::uint64_t to_limit = 0;  ///< ended at their limit, for want of a wake-up
  std::uint64_t missed = 0;    ///< of these, though something was there: a wake-up was lost
};

class Runtime final : public bootstrap::Courier, public peer::Port, private Served {
 public:
  /// The runtime, built at the first call. The same Error at every later call if that failed.
  [[nodiscard]] static Result<Runtime*> ensure();
  /// Null before ensure() succeeded.
  [[nodiscard]] static Runtime* get() noexcept { return instance_; }

  [[nodiscard]] pml::Component& pml() noexcept { return *pml_; }
  [[nodiscard]] peer::Peers& peers() noexcept { return peers_; }
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

  [[nodiscard]] ProcId self() const noexcept { return self_; }
  [[nodiscard]] std::uint32_t world_size() const noexcept { return world_size_; }
  /// Ranks of the world on this node, ascending; the own one is at local_rank().
  [[nodiscard]] const std::vector<std::uint32_t>& node_ranks() const noexcept { return node_ranks_; }
  [[nodiscard]] std::uint32_t local_rank() const noexcept { return local_rank_; }
  /// The memory that the processes of this node share.
  [[nodiscard]] shm::NodeSegment& segment() noexcept { return *segment_; }
  /// What MPI_Alloc_mem has given.
  [[nodiscard]] AllocatedMemory& allocated_memory() noexcept { return allocated_memory_; }
  /// Whether the node has more ranks than cores: polling then takes time from those who are waited for.
  [[nodiscard]] bool crowded() const noexcept { return crowded_; }
  [[nodiscard]] const std::vector<Phase>& phases() const noexcept { return phases_; }
  [[nodiscard]] const CreationTraffic& creation_traffic() const noexcept { return creation_traffic_; }
  [[nodiscard]] const Sleeps& sleeps() const noexcept { return sleeps_; }
  /// How this process got the node's shared memory, and which ways were tried before, with their reasons.
  [[nodiscard]] const std::string& shared_memory() const noexcept { return shared_memory_; }
  [[nodiscard]] const std::vector<std::string>& shared_memory_refused() const noexcept {
    return shared_memory_refused_;
  }

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
  /// Whether a process is on this node.
  [[nodiscard]] bool on_node(ProcId proc) const noexcept;

  /// Polls transports and everything registered once. Returns the number of events.
  int progress() noexcept;
  /// One progress call of a function that does not wait and found nothing; programs that test in a loop get
  /// hang help and notice the launcher's end by it.
  void poll(const char* function);
  void add(Progressable& item) noexcept;
  void remove(Progressable& item) noexcept;
  /// Wakes this process's threads that sleep in wait(): something they may wait for was done by a call.
  void wake() noexcept;
  /// What waits may sleep for besides messages, as a number of frameworks/shm/doorbell.hpp; until it is set
  /// to kAwaitsNothing again. Where threads may wait at once, all are woken for all.
  void set_awaited(std::uint32_t awaited) noexcept { awaited_ = awaited; }

  /// Progress while the program computes (progress_thread.hpp). The reason is kept and told until the need is
  /// destroyed; with progress_thread=auto the thread lives as long as some need. Holds the lock always
  /// (Hold::always), since this may enable it.
  [[nodiscard]] Result<ProgressNeed> need_progress(std::string why);
  /// When MPI gets its first user, and when the last has gone; the lock is held always.
  [[nodiscard]] Result<void> open_progress();
  void close_progress() noexcept;
  /// What the startup report says about it.
  [[nodiscard]] std::vector<std::string> progress_lines() const;
  [[nodiscard]] const ProgressThread& progress_thread() const noexcept { return progress_thread_; }

  /// Progresses until ready() is true: polls for a while, then sleeps between arrivals. ready() is not asked
  /// again after a yes.
  template <class Ready>
  void wait(Ready&& ready) {
    wait(nullptr, ready);
  }
  /// The same; hang help names the function.
  template <class Ready>
  void wait(const char* function, Ready&& ready) {
    for (std::uint32_t polls = 0; polls < hot_polls_; ++polls) {
      if (ready()) return;
      progress();
    }
    if (!ready())
      wait_long(
          function, [](void* context) { return (*static_cast<std::remove_reference_t<Ready>*>(context))(); },
          &ready);
  }

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
  /// The process manager's fence at the end of MPI: everybody who lives has come there. Waits without end;
  /// `look` is called now and then meanwhile, and gives up by true.
  [[nodiscard]] Result<void> last_fence(const std::function<bool()>& look);
  // peer::Port: messages by which communicators are made
  [[nodiscard]] std::string_view name() const noexcept override { return "creation"; }
  void receive(peer::Peer& from, std::span<const std::byte> message) noexcept override;
  void lose(peer::Peer&) noexcept override {}  // who waits asks dead_among()

  /// Waits until everything that was sent has left this process; after 10 s says what it waits for, and goes
  /// on waiting. `call` is what hang help names: "the end of MPI".
  void drain(const char* call);
  /// One line per thing that this process waits for, the latest first.
  [[nodiscard]] std::vector<std::string> waiting_for();
  /// How communicators are called in such lines; without one they are numbers.
  using NameOf = std::string (*)(ContextId);
  void set_communicator_names(NameOf name_of) noexcept { name_of_ = name_of; }
  /// Marks this process as properly finalized (its exit is no failure from here on) or in use again.
  void set_idle(bool idle) noexcept;
  /// Ends the whole job; `message` is shown to the user, by the process manager or here. Does not return.
  [[noreturn]] void abort(int exit_code, const std::string& message) noexcept;

 private:
  using ReadyFunction = bool (*)(void*);
  friend class ProgressNeed;
  class InWait;

  explicit Runtime(Environment& environment) : environment_(environment) {}
  [[nodiscard]] static Result<std::unique_ptr<Runtime>> build();
  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<void> connect_pmi();
  [[nodiscard]] Result<void> check_parameters();
  [[nodiscard]] Result<void> find_place();
  [[nodiscard]] Result<void> take_seat();
  [[nodiscard]] Result<void> move_to_node();
  [[nodiscard]] Result<void> attach_segment();
  [[nodiscard]] Result<shm::Attached> lone_segment(const shm::SegmentSpec& spec);
  [[nodiscard]] Result<shm::Attached> choose_segment(const shm::SegmentSpec& spec, Deadline deadline);
  [[nodiscard]] bool is_absent(std::uint32_t local_rank) const noexcept;
  [[nodiscard]] bool everybody_attached() noexcept;
  [[nodiscard]] std::string absent_processes() const;
  /// Nobody looks for the node's segment any more.
  void segment_complete() noexcept;
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
  void add_phase(const char* name, std::uint64_t ns);
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
  void wait_long(const char* function, ReadyFunction ready, void* context);
  [[nodiscard]] bool wait_until(ReadyFunction ready, void* context, Deadline deadline);
  bool poll_and_sleep(ReadyFunction ready, void* context, Deadline deadline);
  enum class Yielded : std::uint8_t { ready, event, nothing };
  [[nodiscard]] Yielded yield_until(ReadyFunction ready, void* context, std::uint64_t end_ns);
  [[nodiscard]] bool sleep_once(ReadyFunction ready, void* context, Deadline deadline);
  /// What ends a sleep, as it is when that begins; without descriptors the segment's futex does.
  struct WakeUps {
    shm::NodeSegment* segment = nullptr;
    nfds_t count = 0;
    bool blind = false;  ///< no descriptor tells what comes through shared memory
    std::array<pollfd, 34> descriptors;
  };
  [[nodiscard]] WakeUps all_wake_ups(int other) const;
  bool sleep(WakeUps& wake_ups, std::uint32_t doorbell, std::uint64_t limit_ns);
  bool sleep_unlocked(std::uint32_t doorbell, std::uint64_t limit_ns);
  bool look_after_limit(std::uint32_t doorbell, ReadyFunction ready, void* context);
  [[nodiscard]] bool begin_sleep() noexcept;
  void end_sleep() noexcept;
  void open_bell();
  void look_around();
  void note_ages(std::uint64_t now) noexcept;
  void answer_hang_help();
  [[nodiscard]] std::string communicator_name(ContextId id) const {
    return name_of_ == nullptr ? "context " + std::to_string(id.bits) : name_of_(id);
  }
  /// Gives the core away while this process waits; returns the time after.
  std::uint64_t yield();
  void give_way();

  // Served
  [[nodiscard]] bool program_waits() const noexcept override { return in_wait_ != 0; }
  [[nodiscard]] std::uint64_t waits() const noexcept override { return waits_; }
  int progress_aside() noexcept override;
  [[nodiscard]] Arming arm(int nudge) noexcept override;
  bool sleep_armed() noexcept override;
  void awake() noexcept override;
  void interrupt() noexcept override;
  [[nodiscard]] Result<void> start_progress_thread();
  static void before_fork() noexcept;
  static void after_fork() noexcept;
  static void after_fork_in_child() noexcept;
  void drop_need(std::uint64_t id) noexcept;

  static Runtime* instance_;

  Environment& environment_;
  int pid_ = 0;
  ProcId self_;
  std::uint32_t world_size_ = 1;
  std::uint32_t local_rank_ = 0;
  enum class Placed : std::uint8_t { on_node, alone, asking, refused };
  Placed placed_ = Placed::on_node;
  std::optional<Error> refused_place_;
  NodeMap nodes_;  // the bootstrap reads it; while alone: each process by itself
  std::vector<std::uint32_t> node_ranks_;
  bool crowded_ = false;
  std::uint32_t hot_polls_ = 64;  ///< polls of wait() before it reads a clock
  struct Patience {
    std::uint64_t spin_ns = 0;   ///< polls without an event
    std::uint64_t yield_ns = 0;  ///< then yields between polls, before it sleeps
  };
  Patience patience_;
  Patience patience_on_shared_core_;
  std::uint64_t shares_core_until_ns_ = 0;
  Yields yields_;
  Busy busy_;
  std::uint32_t sleepers_ = 0;
  Sleeps sleeps_;
  std::uint32_t awaited_ = 0;
  std::uint32_t in_wait_ = 0;  ///< threads of the program in a wait
  std::uint64_t waits_ = 0;
  ProgressThread progress_thread_{registry().lock};
  ProgressNeeds progress_needs_;
  std::uint32_t aside_doorbell_ = 0;  ///< what the progress thread sleeps on
  WakeUps aside_wake_ups_;
  std::uint64_t next_look_ns_ = 0;
  std::uint32_t idle_polls_ = 0;
  PollLoop poll_loop_;
  std::vector<Phase> phases_;
  CreationTraffic creation_traffic_;
  std::string shared_memory_;
  std::vector<std::string> shared_memory_refused_;
  std::vector<std::string> transports_refused_;

  // Destroyed in reverse: bootstrap, transports, pml, peers, segment, shm, pmi.
  plugin::Index::Handle<pmi::Framework> pmi_;
  plugin::Index::Handle<shm::Framework> shm_;
  std::unique_ptr<shm::Giver> segment_giver_;
  std::unique_ptr<shm::NodeSegment> lone_segment_;  // that of before; threads may have slept on it
  std::unique_ptr<shm::NodeSegment> segment_;
  AllocatedMemory allocated_memory_;
  std::optional<SegmentStore> store_;
  bootstrap::Terms terms_;
  bootstrap::Assembly blocks_;
  peer::Peers peers_;
  plugin::Index::Handle<pml::Framework> pml_;
  std::vector<plugin::Index::Handle<btl::Framework>> transports_;
  plugin::Index::Handle<bootstrap::Framework> bootstrap_;

  NameOf name_of_ = nullptr;
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
  std::vector<btl::Component*> fd_transports_;                // those with a wait_fd
  bool network_made_ = false;
  std::uint32_t fences_ = 0;  // entered and not left
  /// Left early, but entered: the process manager counts this process as there, and takes it once. So the
  /// next fence of the world is this one.
  std::optional<pmi::Fence> open_world_fence_;
  Progressable* items_ = nullptr;
  Progressable* cursor_ = nullptr;  // the next one of the progress call under way
};

}  // namespace starling::mpi
