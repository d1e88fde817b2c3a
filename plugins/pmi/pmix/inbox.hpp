// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What libpmix's own thread reports, kept until MPI looks. Layer: plugin.
///
/// Threads:   libpmix's thread delivers, the component's caller takes; a mutex is held for a copy at most,
///            never in a wait.
/// Ownership: owns an eventfd, which is readable while there may be something to take. Addresses of tickets
///            are given to libpmix, so an Inbox must outlive the connection.
/// Errors:    statuses are PMIx's; Inbox gives no meaning to them.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/unique_fd.hpp"
#include "plugins/pmi/pmix/library.hpp"

namespace starling::pmi::pmix {

class Inbox {
 public:
  /// A question for the value of a key: libpmix holds its address until it has answered.
  struct Ticket {
    Inbox* inbox = nullptr;
    const char* key = nullptr;  ///< its own: libpmix reads it in its thread, after it was asked
    bool asked = false;         ///< libpmix owes an answer
    std::optional<pmix_status_t> answer;
    std::vector<std::byte> value;
    std::optional<Deadline> again;  ///< the answer was "not there": when to ask again
  };

  Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  [[nodiscard]] int fd() const noexcept { return event_.get(); }
  /// Makes fd() unreadable; what is delivered later makes it readable again.
  void drain() noexcept;

  /// The ticket of a key of a rank, made if there is none. This, drop() and the ticket's fields are for a
  /// caller that holds mutex().
  [[nodiscard]] Ticket& ticket(std::uint32_t rank, std::string_view key);
  void drop(std::uint32_t rank, std::string_view key);
  /// Lays aside the tickets of questions that are open: they will be asked again, and who answers the first
  /// time after all harms nobody.
  void give_up_open();
  /// Drops all tickets: the connection was closed, so nothing will be answered.
  void drop_all();
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
  /// Waits until something is delivered, or for so long; `lock` holds mutex().
  void wait(std::unique_lock<std::mutex>& lock, std::uint64_t ns);

  /// The answer to a fence; none: it is not there yet. begin_fence() forgets the last one.
  void begin_fence();
  [[nodiscard]] std::optional<pmix_status_t> fence_answer();
  /// Whether our own connection was lost. set_job() comes before: it tells ranks from servers.
  [[nodiscard]] bool server_lost();
  void set_job(std::string_view nspace);

  // The callbacks that libpmix gets.
  static void on_value(pmix_status_t status, pmix_value_t* value, void* ticket);
  static void on_fence(pmix_status_t status, void* inbox);
  /// A connection was lost: that of `lost` to its server if it is a process of this job, else our own.
  /// \return  whether it was our own.
  static bool on_lost_connection(Inbox& inbox, const pmix_proc_t* lost);

 private:
  void ring() noexcept;

  UniqueFd event_;
  std::mutex mutex_;
  std::condition_variable delivered_;
  std::map<std::pair<std::uint32_t, std::string>, Ticket> tickets_;  // a map: elements keep their addresses
  std::vector<decltype(tickets_)::node_type> given_up_;              // libpmix holds their addresses
  std::optional<pmix_status_t> fence_;
  std::string job_;  ///< the namespace of this job's ranks
  bool server_lost_ = false;
};

}  // namespace starling::pmi::pmix
