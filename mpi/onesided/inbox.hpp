// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What one member does by messages to this process's part of a window. Layer: mpi.
/// docs/design/onesided.md
///
/// Operations are done in the order in which they come. While one waits for a lock, those behind it are kept.
/// They are at most what the sender may have under way.
///
/// Threads:   under the runtime's lock.
/// Errors:    go back to the origin; the rest of a malformed message is dropped.
/// Units:     bytes.

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "core/ids.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/onesided/agent.hpp"
#include "mpi/onesided/wire.hpp"

namespace starling::mpi {
class Win;
}

namespace starling::mpi::message {

class Inbox {
 public:
  Inbox(Win& win, Agent& agent, std::uint32_t origin);

  [[nodiscard]] ProcId proc() const noexcept { return proc_; }
  void on_message(const Head& head, std::span<const std::byte> records);
  /// The lock that an operation waited for is held now.
  void on_granted();
  /// Does the operations that were kept, as far as possible.
  void resume();
  /// Tells the origin at once, of none of its operations.
  void tell_error(int error_class, std::string_view text) {
    fail(error_class, 0, text);
    send_answers();
  }
  /// The origin has ended: frees the lock that it held.
  void lose();

 private:
  struct Waiting {
    Head head;
    std::vector<std::byte> records;
  };
  /// Where the elements of a record lie, if all of them are in this process's part.
  struct Place {
    Ref<Datatype> type;  ///< empty: in a row
    std::uint64_t offset = 0;
    bool good = false;
  };
  [[nodiscard]] bool work(const Head& head, std::span<const std::byte> records, std::size_t& done);
  [[nodiscard]] bool one(const Record& record, std::span<const std::byte> payload);
  /// The place of `more` units of the record's elements, from record.first on; `unit`: the bytes of one.
  [[nodiscard]] Place place_of(const Record& record, std::uint64_t more, std::uint64_t unit);
  [[nodiscard]] bool extent_of(const Record& record, Place& place, std::int64_t& first,
                               std::uint64_t& bytes) const;
  void take_layout(const Record& record, std::span<const std::byte> payload);
  void put(const Record& record, std::span<const std::byte> payload);
  void get(const Record& record);
  void accumulate(const Record& record, std::span<const std::byte> payload);
  void swap(const Record& record, std::span<const std::byte> payload);
  void finished(const Head& head);
  void fail(int error_class, std::uint64_t token, std::string_view text);
  /// Goes with what else is answered to the message that is being worked on.
  void answer(const Record& record, std::span<const std::byte> payload);
  /// What an access has asked for.
  void answer_data(const Record& asked, std::span<const std::byte> payload);
  void send_answers();

  static constexpr std::uint32_t kLayouts = 256;

  Win& win_;
  Agent& agent_;
  std::uint32_t origin_;
  ProcId proc_;
  bool waits_ = false;  // for a lock
  bool holds_ = false, exclusive_ = false;
  std::deque<Waiting> waiting_;
  std::uint64_t done_ = 0, told_ = 0;  // costs
  std::vector<std::byte> answers_;     // behind a head; empty: none
  std::vector<std::byte> layout_;      // that is coming
  std::vector<Ref<Datatype>> layouts_;
};

}  // namespace starling::mpi::message
