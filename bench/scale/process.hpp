// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One simulated process: a shipped bootstrap component, and what it sees of the world. Layer: bench.
///
/// It does what mpi/runtime does for MPI_Init: publishes its address and creates the communicator of all. As
/// control channel it sends and waits; the first message to another node asks the component for the address,
/// again and again while there is none, as the pml does.
///
/// Threads:   one. What is marked so is called by events, everything else in the process's fiber.
/// Ownership: belongs to its World.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "bench/scale/client.hpp"
#include "bench/scale/fiber.hpp"
#include "bench/scale/world.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/select.hpp"

namespace starling::scale {

/// What travels: a short message, or a block.
using Mail = std::variant<std::vector<std::byte>, bootstrap::Block>;

class Process final : public bootstrap::ControlChannel {
 public:
  using Component = plugin::Index::Handle<bootstrap::Framework>;

  Process(World& world, std::uint32_t rank, Stacks& stacks);
  /// By the world, before its first event.
  void give(Component component) { component_ = std::move(component); }
  [[nodiscard]] bootstrap::NodeStore* store() noexcept { return &store_; }
  [[nodiscard]] Client& client() noexcept { return client_; }

  Result<void> send(ProcId to, std::span<const std::byte> message) override;
  Result<void> send_block(ProcId to, const bootstrap::Block& block) override;
  Result<void> pause(std::uint64_t ns, const std::function<std::string()>& what) override;
  Result<void> wait(const std::function<bool()>& ready, Deadline deadline,
                    const std::function<std::string()>& what) override;
  std::uint64_t clock_ns() const noexcept override { return 0; }
  /// Nobody dies here.
  std::optional<ProcId> dead_among(const ProcList&) noexcept override { return std::nullopt; }
  Result<void> fence(std::span<const std::uint32_t> ranks, std::string_view tag, Deadline deadline,
                     const std::function<bool()>& needless) override;

  [[nodiscard]] World& world() noexcept { return world_; }
  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
  /// This process's own time, at or ahead of the world's.
  [[nodiscard]] std::uint64_t clock() const noexcept { return clock_; }
  void spend(std::uint64_t ns) noexcept { clock_ += ns; }
  /// Sends a request and stops until its answer is there.
  void ask(std::uint64_t bytes, std::function<void()> serve);

  /// By events: begins, gets mail, looks again at what it waits for.
  void start();
  void arrived(std::uint32_t from, Mail mail);
  void look();

  [[nodiscard]] const Traffic& sent() const noexcept { return sent_; }
  /// Nothing before its creation has ended.
  [[nodiscard]] const std::optional<Result<ContextId>>& result() const noexcept { return result_; }
  [[nodiscard]] double compute_s() const noexcept { return compute_s_; }
  [[nodiscard]] std::string waits_for() const { return what_ == nullptr ? "an answer" : (*what_)(); }

 private:
  /// The node's store; copying into it takes this process time.
  class CopyingStore final : public bootstrap::NodeStore {
   public:
    explicit CopyingStore(Process& process) : process_(process) {}
    Result<std::uint64_t> keep(const bootstrap::SharedBytes& bytes) override;
    std::span<const std::byte> at(std::uint64_t place, std::size_t bytes) const override;

   private:
    Process& process_;
  };
  /// A process whose address is not there yet.
  struct Awaited {
    std::uint64_t asked_ns = 0, ask_at_ns = 0;
    std::deque<Mail> queue;
  };
  struct Arrived {
    std::uint32_t from;
    Mail mail;
  };
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  void run();
  void resume();
  [[nodiscard]] Result<void> post(ProcId to, Mail mail);
  [[nodiscard]] Result<bool> reachable(std::uint32_t to);
  void transmit(std::uint32_t to, Mail mail);
  [[nodiscard]] Result<void> ask_again();
  [[nodiscard]] std::uint64_t next_question() const noexcept;
  void deliver();
  void stop_until(std::uint64_t time_ns, bool for_mail);
  [[nodiscard]] Result<void> progress_until(const std::function<bool()>& ready, std::uint64_t end_ns);

  World& world_;
  std::uint32_t rank_;
  Client client_;
  CopyingStore store_;
  Component component_;
  Fiber fiber_;
  std::uint64_t clock_ = 0;
  std::uint32_t stops_ = 0;  // tells an event whether what it was made for is over
  bool open_ = false;        // stopped, and mail ends that
  const std::function<std::string()>* what_ = nullptr;
  std::deque<Arrived> inbox_;
  std::unordered_set<std::uint32_t> connected_;
  std::unordered_map<std::uint32_t, Awaited> awaited_;
  Traffic sent_;
  std::optional<Result<ContextId>> result_;
  double compute_s_ = 0;
};

}  // namespace starling::scale
