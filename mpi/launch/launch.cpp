// SPDX-License-Identifier: BSD-3-Clause
// Running schedules for blocking, nonblocking and persistent calls. Layer: mpi. docs/design/collectives.md

#include "mpi/launch/launch.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "mpi/coll/execution.hpp"
#include "mpi/coll/hierarchy.hpp"
#include "mpi/coll/params.hpp"
#include "mpi/datatype/predefined.hpp"
#include "mpi/errhandler/errhandler.hpp"
#include "mpi/error.hpp"
#include "mpi/launch/node_team.hpp"
#include "mpi/launch/unequal.hpp"
#include "mpi/request/fault.hpp"
#include "mpi/request/request.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/waiting.hpp"

namespace starling::mpi::coll {
namespace {

/// Executions are used again with the memory that they have gathered: a small collective then allocates
/// nothing.
class Executions {
 public:
  [[nodiscard]] std::unique_ptr<Execution> take() {
    if (free_.empty()) return std::make_unique<Execution>();
    auto execution = std::move(free_.back());
    free_.pop_back();
    return execution;
  }
  void give(std::unique_ptr<Execution> execution) noexcept {
    if (free_.size() == kKept) return;
    execution->schedule.clear();
    free_.push_back(std::move(execution));
  }
  /// Guarded by the runtime's lock; never destroyed, because requests may outlive main.
  static Executions& all() {
    static auto* const executions = new Executions;
    return *executions;
  }

 private:
  static constexpr std::size_t kKept = 8;
  Executions() { free_.reserve(kKept); }
  std::vector<std::unique_ptr<Execution>> free_;
};

/// An execution that goes back when its user is done with it.
class Lease {
 public:
  Lease() : execution_(Executions::all().take()) {}
  ~Lease() { Executions::all().give(std::move(execution_)); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  Execution& operator*() const noexcept { return *execution_; }
  Execution* operator->() const noexcept { return execution_.get(); }

 private:
  std::unique_ptr<Execution> execution_;
};

int no_memory_on(const Comm& comm, const std::string& what = {}) {
  return error_on(comm, MPI_ERR_NO_MEM, what + "no memory for the temporary buffers of this collective");
}

/// `what`: "MPI_Ibcast: " where the failing call is another one.
int error_of(const Execution& execution, const Comm& comm, const std::string& what = {}) {
  const int peer = execution.faulty_peer();
  if (execution.fault() == pml::Fault::no_memory && peer < 0) return no_memory_on(comm, what);
  if (execution.told_of_loss()) return error_on(comm, fault_class(execution.fault()), what + told_text(peer));
  if (execution.fault() != pml::Fault::truncated) return fault_error(execution.fault(), comm, peer);
  const int who = peer < 0 ? static_cast<int>(comm.rank()) : peer;
  return error_on(comm, fault_class(pml::Fault::truncated), what + unequal_text(who, execution.lengths()));
}

/// After advance() of one that is not complete: a message has failed here, and another one that has matched,
/// which cannot be cancelled, may never end, since its sender may have failed, too. Ends the job where errors
/// are fatal.
void end_stuck(const Execution& execution, const Comm& comm, const char* function) {
  if (!execution.abandoned() || execution.complete()) [[likely]]
    return;
  if (!failed_here(execution.fault(), comm, execution.faulty_peer()) || !comm.errhandler) return;
  const Errhandler::Action action = comm.errhandler->action();
  if (action != Errhandler::Action::fatal && action != Errhandler::Action::abort) return;
  const int code = error_of(execution, comm);
  (void)comm.errhandler->invoke(Kind::comm, comm.handle(), code,
                                std::string(function) + ": " + std::string(last_error_detail()));
}

Port port_of(Comm& comm, Tag tag) { return {&Runtime::get()->pml(), &comm.collective_context(), tag}; }

/// "MPI_Allreduce on MPI_COMM_WORLD: round 1 of 2, waits for rank 3"
std::string text_of(const char* function, const Comm& comm, const Execution& execution) {
  return std::string(function) + " on " + comm.label() + ": " + execution.state();
}

/// A collective behind a request.
class Ongoing final : public mpi::Operation {
 public:
  Ongoing(const Form& form, Comm& comm, Tag tag, const UsedList& used)
      : function_(form.function), port_(port_of(comm, tag)) {
    for (const Object* object : used) used_.push_back(Ref<Object>::share(const_cast<Object*>(object)));
  }
  ~Ongoing() override { Runtime::get()->polling().remove(*this); }

  [[nodiscard]] Schedule& schedule() noexcept { return execution_->schedule; }

  int start(Request& request) override {
    request_ = &request;
    execution_->start(port_);
    if (execution_->complete()) {
      request.core.complete.store(true, std::memory_order_release);
    } else {
      Runtime::get()->polling().add(*this);
    }
    return MPI_SUCCESS;
  }
  int progress() noexcept override {
    if (!execution_->advance()) {
      end_stuck(*execution_, *request_->comm, function_);
      return 0;
    }
    Runtime::get()->polling().remove(*this);
    request_->core.complete.store(true, std::memory_order_release);
    return 1;
  }
  int finish(MPI_Status&) override {
    if (execution_->fault() == pml::Fault::none) [[likely]]
      return MPI_SUCCESS;
    return error_of(*execution_, *request_->comm, std::string(function_) + ": ");
  }
  [[nodiscard]] std::string describe() const override {
    return text_of(function_, *request_->comm, *execution_);
  }
  /// Asked by the progress thread only, so that who starts a collective need not look.
  [[nodiscard]] bool calls_program() const noexcept override {
    return std::any_of(used_.begin(), used_.end(), [](const Ref<Object>& object) {
      const auto* const op = dynamic_cast<const Op*>(object.get());
      return op != nullptr && op->user();
    });
  }

 private:
  const char* function_;
  Lease execution_;
  Port port_;
  std::vector<Ref<Object>> used_;
  Request* request_ = nullptr;
};

void apply(const Operator& self, const void* in, const void* right, void* out, std::uint64_t count,
           const Type& type) {
  static_cast<const Op*>(self.object)
      ->apply(in, right, out, count, *static_cast<const Datatype*>(type.object));
}

}  // namespace

int no_memory(const Comm& comm) { return no_memory_on(comm); }

namespace {

/// Node by node, if the members are all of this world; else each process would see another one.
std::shared_ptr<const Hierarchy> hierarchy_of(const Comm& comm) {
  constexpr std::uint32_t kLeast = 3;
  const Runtime& runtime = *Runtime::get();
  if (comm.inter() || comm.size() < kLeast || runtime.params().integer(kCollHierarchy) != 0) return nullptr;
  const NodeMap& map = runtime.place().nodes();
  if (map.unknown()) return nullptr;
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t rank = 0; rank < comm.size(); ++rank) {
    const ProcId proc = comm.group()->at(rank);
    if (proc.world != runtime.self().world) return nullptr;
    nodes.push_back(to_int(map.node_of(proc.rank)));
  }
  auto hierarchy = std::make_shared<const Hierarchy>(nodes);
  return hierarchy->useful() ? hierarchy : nullptr;
}

}  // namespace

Team team_of(Comm& comm) {
  if (!comm.hierarchy_known) {
    comm.hierarchy = hierarchy_of(comm);
    comm.hierarchy_known = true;
  }
  return {static_cast<int>(comm.rank()), static_cast<int>(comm.size()),
          comm.inter() ? static_cast<int>(comm.peer_count()) : 0, comm.inter(), comm.hierarchy.get()};
}

Type view(const Datatype& datatype) noexcept {
  return {&datatype,          datatype.size(),        datatype.extent(),
          datatype.true_lb(), datatype.true_extent(), datatype.contiguous(),
          &datatype};
}

std::vector<Type> views(const MPI_Datatype types[], std::uint32_t count, UsedList& used) {
  std::vector<Type> result;
  result.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Datatype* datatype = find_datatype(types[i]);
    if (datatype == nullptr) datatype = predefined_datatype(builtin::kByte);  // none, where the count is 0
    result.push_back(view(*datatype));
    used.push_back(datatype);
  }
  return result;
}

Operator view(const Op& op) noexcept {
  return {apply, &op, op.commutative(), static_cast<std::uint8_t>(static_cast<int>(op.code()) + 1)};
}

int root_of(const Comm& comm, int root) noexcept {
  if (!comm.inter()) return root;
  return root == MPI_ROOT ? kRootHere : root == MPI_PROC_NULL ? kNoPart : root;
}

const Tuning& tuning() {
  static const Tuning read = *Tuning::from(Runtime::get()->params());  // was checked at the start
  return read;
}

int check_op(const Op& op, const Datatype& datatype) {
  std::string why = why_not(op, datatype);
  return why.empty() ? MPI_SUCCESS : error(MPI_ERR_OP, std::move(why));
}

PartEnd run_part(Comm& comm, const Part& part, BuildFunction build, void* context) {
  const Lease execution;
  build(context, execution->schedule, team_of(comm));
  const Port port = port_of(comm, part.tag);
  switch (part.state) {
    case Part::State::sound: execution->start(port); break;
    case Part::State::worthless: execution->start_worthless(port); break;
    case Part::State::lost: execution->abandon(port, part.gone); break;
    case Part::State::lost_before:
      if (execution->schedule.composed())
        execution->abandon(port, part.gone);
      else
        execution->start(port);
      break;
  }
  if (!execution->complete()) {
    const auto what = [&] { return text_of(part.function, comm, *execution); };
    const Waiting waiting(what);
    Runtime::get()->waits().wait([&] {
      const bool done = execution->advance();
      if (!done) end_stuck(*execution, comm, part.function);
      return done;
    });
  }
  if (part.state == Part::State::worthless || part.state == Part::State::lost)
    return {};  // its error is known already
  if (part.state == Part::State::lost_before && execution->schedule.composed())
    return {comm.node_team->died(), true, part.gone};
  if (execution->fault() == pml::Fault::none) [[likely]]
    return {};
  const bool lost = execution->fault() != pml::Fault::truncated && execution->schedule.ok();
  return {error_of(*execution, comm), lost, execution->faulty_peer(), execution->told_of_loss()};
}

int run_blocking(Comm& comm, BuildFunction build, void* context, const char* function) {
  // Also for an empty schedule: all processes count alike.
  Part part{function, comm.next_collective_tag()};
  // Local peers that do not know yet are at the board, and this process would wait for their messages.
  if (comm.node_team != nullptr && comm.node_team->lost()) [[unlikely]]
    part.state = Part::State::lost_before;
  return run_part(comm, part, build, context).rc;
}

int launch_any(const Form& form, Comm& comm, const UsedList& used, BuildFunction build, void* context) {
  if (form.kind == Form::Kind::blocking) return run_blocking(comm, build, context, form.function);
  const bool keeps = form.kind == Form::Kind::persistent;
  // A persistent operation keeps its tag: starts are ordered per operation only.
  const Tag tag = comm.next_collective_tag(keeps ? Comm::Form::persistent : Comm::Form::nonblocking);
  auto operation = std::make_unique<Ongoing>(form, comm, tag, used);
  build(context, operation->schedule(), team_of(comm));
  Request* const request = Request::make(Request::Form::operation);
  request->comm = Ref<Comm>::share(&comm);
  request->operation = std::move(operation);
  request->persistent = keeps;
  *form.request = as_handle<MPI_Request>(request->handle());
  return keeps ? MPI_SUCCESS : request->start();
}

}  // namespace starling::mpi::coll
