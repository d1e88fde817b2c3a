// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A window of this process alone, for which the test writes the messages. Layer: tests.
///
/// The process is its own peer: what a message makes the window answer comes back as a message, by drain().
/// MPI is initialised by the first one, and stays so.

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "frameworks/peer/table.hpp"
#include "mpi/handles.hpp"
#include "mpi/onesided/create.hpp"
#include "mpi/onesided/part.hpp"
#include "mpi/onesided/port.hpp"
#include "mpi/onesided/regions.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::test {

class LoneWindow {
 public:
  using Part = mpi::message::Part;
  using Head = mpi::message::Head;
  using Record = mpi::message::Record;

  /// Over memory of exactly `bytes`, or over a dynamic window to which that is attached.
  explicit LoneWindow(std::size_t bytes, bool dynamic = false) : memory_(bytes) {
    static const bool initialised = MPI_Init(nullptr, nullptr) == MPI_SUCCESS;
    if (!initialised) std::abort();
    const mpi::Hold lock{mpi::registry().lock, mpi::Hold::always};
    mpi::Comm& self = *mpi::find_comm(MPI_COMM_SELF);
    const auto size = static_cast<MPI_Aint>(bytes);
    const mpi::MadeWin made =
        make_window(self, dynamic ? mpi::WinRequest{MPI_WIN_FLAVOR_DYNAMIC}
                                  : mpi::WinRequest{MPI_WIN_FLAVOR_CREATE, size, 1, nullptr, memory_.data()});
    if (made.win == nullptr) std::abort();
    win_ = made.win;
    if (dynamic && mpi::attach(*win_, memory_.data(), size) != MPI_SUCCESS) std::abort();
    renew();
  }
  ~LoneWindow() {
    const mpi::Hold lock{mpi::registry().lock, mpi::Hold::always};
    part().from(0).lose();
    drain_locked();
    bool freed = false;
    if (mpi::free_window(*win_, freed) != MPI_SUCCESS || !freed) std::abort();
  }
  LoneWindow(const LoneWindow&) = delete;
  LoneWindow& operator=(const LoneWindow&) = delete;

  [[nodiscard]] mpi::Win& win() noexcept { return *win_; }
  [[nodiscard]] Part& part() noexcept { return *win_->part; }
  [[nodiscard]] std::span<std::byte> memory() noexcept { return memory_; }
  [[nodiscard]] std::uint64_t id() const noexcept { return win_->comm().id().bits; }

  /// As if nothing had come yet: no layouts, nobody's lock. `started`: the window's memory is there. What the
  /// window before it has told its origins comes to this one.
  void renew(bool started = true) {
    const mpi::Hold lock{mpi::registry().lock, mpi::Hold::always};
    if (win_->part && part().ready()) part().from(0).lose();
    win_->part.reset();
    win_->part = std::make_unique<Part>(*win_);
    if (!mpi::message::Port::get().add(*win_)) std::abort();
    (void)part().to(0);
    if (started) part().start();
    drain_locked();
  }
  void start() {
    const mpi::Hold lock{mpi::registry().lock, mpi::Hold::always};
    part().start();
    drain_locked();
  }

  /// A message from this process to itself, with the prefix that all have; then all that follows from it.
  void receive(const Head& head, std::span<const std::byte> records) {
    const mpi::Hold lock{mpi::registry().lock, mpi::Hold::always};
    mpi::Runtime& runtime = *mpi::Runtime::get();
    peer::wire::Prefix prefix;
    prefix.kind = static_cast<peer::wire::Kind>(mpi::message::kKind);
    prefix.length = static_cast<std::uint32_t>(sizeof head + records.size());
    std::vector<std::byte> message;
    const auto put = [&](std::span<const std::byte> bytes) {
      message.insert(message.end(), bytes.begin(), bytes.end());
    };
    put(peer::wire::bytes_of(prefix));
    put(peer::wire::bytes_of(head));
    put(records);
    mpi::message::Port::get().receive(runtime.peers().table().peer(runtime.place().self()), message);
    drain_locked();
  }
  void receive(const Record& record, std::span<const std::byte> payload) {
    std::vector<std::byte> all(sizeof record);
    std::memcpy(all.data(), &record, sizeof record);
    all.insert(all.end(), payload.begin(), payload.end());
    receive(Head{id(), 0, 0, 0, all.size()}, all);
  }
  /// The class of the error that has come back since the last time, or MPI_SUCCESS.
  [[nodiscard]] int error() {
    const mpi::Hold lock{mpi::registry().lock, mpi::Hold::always};
    return part().to(0).take_error();
  }

 private:
  static void drain_locked() {
    while (mpi::Runtime::get()->polling().progress() != 0) {
    }
  }

  std::vector<std::byte> memory_;
  mpi::Win* win_ = nullptr;
};

}  // namespace starling::test
