// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A process manager made of files in a shared directory. Layer: plugin.
///
///     <dir>/<job>/rank.<r>          host name of rank r; made once, so that a second job of the name is
///                                   noticed
///     <dir>/<job>/nodes             the node map, written by rank 0
///     <dir>/<job>/value.<r>.<key>   what rank r put
///     <dir>/<job>/fence.<id>.<i>    member i and everything below it in the tree has arrived; the last
///                                   one: .go
///     <dir>/<job>/abort             who ended the job, and why
///     <dir>/name.<name>             a published port
///
/// Threads:   as pmi::Component. Ownership: files stay when the process ends; whoever started the job removes
///            them.
/// Ordering:  a value is renamed into place before its fence file, so whoever sees the fence's end sees the
///            value.
/// Errors:    a member that does not arrive: Errc::timed_out with its rank; an aborted job: Errc::peer_lost.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frameworks/pmi/pmi.hpp"
#include "shared_directory.hpp"

namespace starling::pmi {

/// How this process was started, as its parameters say.
struct Launch {
  std::string directory;
  std::string job;
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  bool one_node = false;
  std::uint64_t poll_ns = 2'000'000;
  Deadline deadline;  ///< for joining
};

class SharedDirectoryPmi final : public Component {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Component>> join(const Launch& launch);

  [[nodiscard]] const Identity& identity() const noexcept override { return identity_; }
  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return capabilities_; }
  [[nodiscard]] Result<void> put(std::string_view key, std::span<const std::byte> value) override;
  [[nodiscard]] Result<Lookup> get(std::uint32_t rank, std::string_view key) override;
  [[nodiscard]] Result<void> fence(Deadline deadline) override;
  [[nodiscard]] Result<void> fence(std::span<const std::uint32_t> ranks, std::string_view tag,
                                   Deadline deadline) override;
  [[nodiscard]] Result<void> publish(std::string_view name, std::string_view port) override;
  [[nodiscard]] Result<std::string> lookup(std::string_view name) override;
  [[nodiscard]] Result<void> unpublish(std::string_view name) override;
  void set_active(bool) noexcept override {}  // nobody watches the processes
  void abort(int exit_code, std::string_view message) noexcept override;
  [[nodiscard]] int wait_fd() const noexcept override { return -1; }
  [[nodiscard]] Result<void> check() override;
  [[nodiscard]] Counters counters() const noexcept override { return counters_; }

 private:
  explicit SharedDirectoryPmi(const Launch& launch);
  [[nodiscard]] Result<void> enter(const Launch& launch);
  [[nodiscard]] Result<NodeMap> nodes_of_all(Deadline deadline);
  /// Waits until the file is there; `whom` is named if it does not come.
  [[nodiscard]] Result<void> wait_for(const std::string& name, const std::string& whom, Deadline deadline);
  /// Fence of `count` members, of which this is `index`; rank_of(i) is for errors only.
  template <class RankOf>
  [[nodiscard]] Result<void> tree_fence(const std::string& id, std::uint32_t index, std::uint32_t count,
                                        RankOf rank_of, Deadline deadline);

  SharedDirectory directory_;  ///< of the job
  SharedDirectory names_;      ///< of all jobs: published names
  std::uint64_t poll_ns_;
  std::uint64_t world_fences_ = 0;
  std::map<std::string, std::uint64_t> group_fences_;  ///< group and tag -> fences so far
  Identity identity_;
  Capabilities capabilities_;
  Counters counters_;
};

}  // namespace starling::pmi
