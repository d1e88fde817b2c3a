// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What a window has of messages: channels to its targets, inboxes of its origins. Layer: mpi.
/// docs/design/onesided.md
///
/// Threads:   under the runtime's lock, which waiting releases.
/// Ownership: the window's; channels and inboxes are made at first use.
/// Errors:    MPI error classes: what the targets say, and MPI_ERR_PROC_ABORTED for those that have ended.

#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/ids.hpp"
#include "mpi/onesided/agent.hpp"
#include "mpi/onesided/channel.hpp"
#include "mpi/onesided/inbox.hpp"
#include "mpi/onesided/native.hpp"
#include "mpi/runtime/progress_need.hpp"

namespace starling::mpi::message {

class Part final : private Granted {
 public:
  explicit Part(Win& win);
  ~Part();
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  /// Of a window that has one.
  [[nodiscard]] static Part& of(Win& win) noexcept;

  /// The window has its memory: members that were ready earlier may have sent something already.
  void start();
  [[nodiscard]] bool ready() const noexcept { return ready_; }

  [[nodiscard]] Channel& to(std::uint32_t rank);
  /// As channel(), for an operation: with MPI_Win_lock_all, it takes the target's lock first.
  [[nodiscard]] Channel& for_operation(std::uint32_t rank);
  [[nodiscard]] Inbox& from(std::uint32_t rank);

  /// Waits until operations on a target, or on all, are done there; `here`: until the program's buffers are
  /// free. Returns the first error.
  [[nodiscard]] int flush(std::uint32_t rank, bool here, const char* function);
  [[nodiscard]] int flush_all(bool here, const char* function);
  /// Waits until what the transport does itself has taken effect: before anything is sent that depends on it.
  void settle(std::uint32_t rank, const char* function);
  void settle_all(const char* function);
  /// Gives back the locks of MPI_Win_lock_all.
  void drop_locks();

  // Freeing a window after a member has died, when the barrier of the call has failed on some members.
  /// Waits until all living members free it: they may still be using this process's part.
  void leave_with_the_living();
  /// Answers members that wait for this process in leave_with_the_living(). It has seen no death itself, and
  /// does not wait for them.
  void answer_leaving();
  void note_leaving(std::uint32_t rank) { leaving_.insert(rank); }
  /// The member has freed the window.
  void on_gone(std::uint32_t rank) noexcept;

  /// What the transport does itself; null: nothing.
  void use(std::unique_ptr<Native> native) noexcept { native_ = std::move(native); }
  [[nodiscard]] Native* native() const noexcept { return native_.get(); }
  /// As native(), for an operation of `bytes`. Null too if a message must take a lock first.
  [[nodiscard]] Native* native_for(std::uint32_t rank, std::uint64_t bytes);

  /// The process has ended, or cannot be reached.
  void lose(ProcId proc) noexcept;
  [[nodiscard]] bool lost(std::uint32_t rank) const noexcept { return lost_.count(rank) != 0; }

  /// As lost(), after a look at the deaths that only the node's memory tells of.
  [[nodiscard]] bool look_for(std::uint32_t rank) noexcept {
    look();
    return lost(rank);
  }

  // MPI_Win_post and complete with members elsewhere.
  /// How often this target has posted for this process.
  [[nodiscard]] std::int64_t& posts(std::uint32_t target) { return posts_[target]; }
  /// This process has posted for an origin, which has not completed since.
  [[nodiscard]] bool& exposed(std::uint32_t origin) { return exposed_[origin]; }

  /// The helper thread stays as long as this window.
  void keep(ProgressNeed need) noexcept { need_ = std::move(need); }

 private:
  void on_granted(std::uint32_t origin) noexcept override;
  void on_holder_died(std::uint32_t origin, std::uint32_t dead) noexcept override;
  template <class Ready>
  void wait(const char* function, Ready&& ready);
  void look();
  [[nodiscard]] std::string fate(std::uint32_t rank) const;
  [[nodiscard]] Channel& with_lock(std::uint32_t rank);
  [[nodiscard]] bool native_done(std::uint32_t rank, bool here) noexcept;
  [[nodiscard]] int take_error(std::uint32_t rank);

  Win& win_;
  bool ready_ = false;
  Agent agent_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Channel>> channels_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Inbox>> inboxes_;
  std::unordered_map<std::uint32_t, std::int64_t> posts_;
  std::unordered_map<std::uint32_t, bool> exposed_;
  std::set<std::uint32_t> lost_;
  std::set<std::uint32_t> leaving_;
  std::unique_ptr<Native> native_;
  ProgressNeed need_;
};

}  // namespace starling::mpi::message
