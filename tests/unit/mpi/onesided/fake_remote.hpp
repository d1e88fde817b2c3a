// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A transport's puts and gets, which end when the test says so. Layer: tests.
///
/// The process is its own peer: its endpoint to itself is replaced by one that can be accessed, and gives
/// messages to the one that was there.

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tests/unit/mpi/onesided/lone_window.hpp"

namespace starling::test {

class FakeRemote final : public btl::Remote {
 public:
  const Facts& facts() const noexcept override { return facts_; }
  Result<std::unique_ptr<btl::Region>> open(std::span<const std::byte>) override {
    return std::unique_ptr<btl::Region>(std::make_unique<Opened>());
  }
  Post put(btl::Region&, std::uint64_t, std::span<const std::byte>,
           btl::Completion* completion) noexcept override {
    return begin(completion);
  }
  Post get(btl::Region&, std::uint64_t, std::span<std::byte>, btl::Completion* completion) noexcept override {
    return begin(completion);
  }
  Post atomic(btl::Region&, std::uint64_t, const btl::AtomicChange&, btl::Completion*) noexcept override {
    return Post::again;
  }
  Post flush(btl::Completion* completion) noexcept override {
    ++flushes;
    return begin(completion);
  }
  /// The oldest access or flush ends.
  void end(bool ok) {
    btl::Completion* const completion = open_.front();
    open_.erase(open_.begin());
    completion->done(completion, ok);
  }
  [[nodiscard]] std::size_t open() const noexcept { return open_.size(); }

  void allow(std::size_t most) noexcept { facts_.access_max_bytes = most; }
  bool broken = false;  ///< what begins now fails at once
  int flushes = 0;

 private:
  Facts facts_{.access_max_bytes = SIZE_MAX};
  struct Opened final : btl::Region {
    std::size_t bytes() const noexcept override { return 64; }
  };
  Post begin(btl::Completion* completion) noexcept {
    if (broken) {
      completion->done(completion, false);
    } else {
      open_.push_back(completion);
    }
    return Post::posted;
  }
  std::vector<btl::Completion*> open_;
};

class RemoteEndpoint final : public btl::Endpoint {
 public:
  RemoteEndpoint(btl::Endpoint& messages, FakeRemote& fake) noexcept : messages_(messages), fake_(fake) {}
  Post send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept override {
    return messages_.send(header, payload);
  }
  Post send_from(std::span<const std::byte> header, std::span<const std::byte> payload,
                 btl::Completion* completion) noexcept override {
    return messages_.send_from(header, payload, completion);
  }
  std::byte* reserve(std::size_t bytes) noexcept override { return messages_.reserve(bytes); }
  void commit(std::size_t bytes) noexcept override { messages_.commit(bytes); }
  bool await_room() noexcept override { return messages_.await_room(); }
  Post get(const btl::RemoteBuffer&, std::span<std::byte>, btl::Completion*) noexcept override {
    return Post::again;
  }
  bool can_get(const btl::RemoteBuffer&) noexcept override { return false; }
  btl::Loans* loans() noexcept override { return nullptr; }
  btl::Writes* writes() noexcept override { return nullptr; }
  btl::CopyWay copies() noexcept override { return {}; }
  btl::Remote* remote() noexcept override { return &fake_; }

 private:
  btl::Endpoint& messages_;
  FakeRemote& fake_;
};

/// Does something in a pass of a wait, once.
class InTheWait final : public mpi::Progressable {
 public:
  explicit InTheWait(std::function<void()> what) : what_(std::move(what)) {
    mpi::Runtime::get()->polling().add(*this);
  }
  ~InTheWait() override { mpi::Runtime::get()->polling().remove(*this); }
  InTheWait(const InTheWait&) = delete;
  InTheWait& operator=(const InTheWait&) = delete;
  int progress() noexcept override {
    constexpr int kPasses = 10;
    if (++passes_ < kPasses) return 0;
    mpi::Runtime::get()->polling().remove(*this);
    done_ = true;
    what_();
    return 1;
  }
  [[nodiscard]] bool done() const noexcept { return done_; }

 private:
  std::function<void()> what_;
  int passes_ = 0;
  bool done_ = false;
};

}  // namespace starling::test
