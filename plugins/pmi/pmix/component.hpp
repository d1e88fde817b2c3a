// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A PMIx client over libpmix. Layer: plugin.
///
/// Threads:   as pmi::Component: one call at a time. libpmix has a thread of its own, which talks to the
///            Inbox only.
/// Ordering:  what was put is committed at once, so that a get without a fence finds it.
/// Errors:    a world fence that timed out poisons the later ones: PMIx's fences have no tag. A request that
///            libpmix refuses is Errc::system with PMIx's own words. No rank beyond the job's size is ever
///            asked for (Slurm's server would end the job).

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frameworks/pmi/launchers.hpp"
#include "frameworks/pmi/pmi.hpp"
#include "plugins/pmi/pmix/inbox.hpp"
#include "plugins/pmi/pmix/library.hpp"

namespace starling::pmi::pmix {

class Pmix final : public Component {
 public:
  /// Connects to the server that `get` names. `library` must live as long as the process.
  [[nodiscard]] static Result<std::unique_ptr<Component>> make(const Library& library, const Getenv& get);
  ~Pmix() override;

  [[nodiscard]] const Identity& identity() const noexcept override { return identity_; }
  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return capabilities_; }
  [[nodiscard]] Result<void> put(std::string_view key, std::span<const std::byte> value) override;
  [[nodiscard]] Result<Lookup> get(std::uint32_t rank, std::string_view key) override;
  [[nodiscard]] Result<void> fence(Deadline deadline) override;
  [[nodiscard]] Result<void> fence(std::span<const std::uint32_t> ranks, std::string_view tag,
                                   Deadline deadline) override;
  [[nodiscard]] Result<Fence> fence_enter(std::span<const std::uint32_t> ranks, std::string_view tag,
                                          Deadline deadline) override;
  [[nodiscard]] Result<bool> fence_left(Fence fence) override;
  void fence_abandon(Fence fence) noexcept override;
  [[nodiscard]] Result<void> publish(std::string_view name, std::string_view port) override;
  [[nodiscard]] Result<std::string> lookup(std::string_view name) override;
  [[nodiscard]] Result<void> unpublish(std::string_view name) override;
  [[nodiscard]] std::vector<ProcessSet> process_sets() override;
  /// A launcher takes the end of a process that has not finalized PMIx for a failure, so this closes the
  /// connection and opens it again. A process that has come back several times keeps it, until it exits.
  void set_active(bool active) noexcept override;
  void process_ends() noexcept override { disconnect(); }
  void abort(int exit_code, std::string_view message) noexcept override;
  [[nodiscard]] int wait_fd() const noexcept override { return inbox_->fd(); }
  [[nodiscard]] Result<void> check() override;
  [[nodiscard]] Counters counters() const noexcept override { return counters_; }

 private:
  explicit Pmix(const Library& library) : library_(library), inbox_(std::make_unique<Inbox>()) {}

  [[nodiscard]] Result<void> connect();
  void disconnect() noexcept;
  [[nodiscard]] Result<void> identify(const Getenv& get);
  [[nodiscard]] Result<void> store(const std::string& key, std::span<const std::byte> value);
  /// Asks for a key, unless that has been done and there is no reason to do it again.
  [[nodiscard]] Result<void> ask(std::uint32_t rank, const std::string& key);
  [[nodiscard]] Result<void> enter_fence();
  [[nodiscard]] Unexpected refused(const char* what, pmix_status_t status) const;

  const Library& library_;
  std::unique_ptr<Inbox> inbox_;
  bool connected_ = false;
  bool active_ = true;
  std::uint32_t returns_ = 0;    ///< how often MPI was used again after its end
  std::optional<Error> broken_;  ///< the connection could not be opened again, or fences no longer work
  pmix_proc_t self_{};
  Identity identity_;
  Capabilities capabilities_;
  Counters counters_;
  std::map<std::string, std::vector<std::byte>> own_;  ///< what this process has put
  std::uint32_t fence_ = 0;                            ///< number of the last fence that was entered
  std::uint32_t entries_left_ = 0;  ///< how often it is entered again if the server ends it too early
  bool entered_again_ = false;
  bool fence_open_ = false;
};

}  // namespace starling::pmi::pmix
