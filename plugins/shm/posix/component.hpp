// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The node's segment as a file in /dev/shm, found by a name that every process computes. Layer:
/// plugin.
///
/// The file is made without a name, initialised, and then linked: whoever links first has made the segment,
/// and a segment that can be seen is always complete. Every attached process holds a shared lock (flock) on
/// it, which the system drops however the process ends; a file that can be locked exclusively is a leftover.
///
/// Threads:   as shm::Component.
/// Ownership: holds a duplicate of the segment's descriptor, and with it the lock, until it is destroyed; the
///            last to be destroyed removes the name.
/// Errors:    a file of somebody else, a link, a wrong mode or size: an Error that names it. Nothing is
///            followed or removed that is not a plain file of this user.

#include <memory>
#include <string>

#include "core/unique_fd.hpp"
#include "frameworks/shm/shm.hpp"
#include "params/decl.hpp"

namespace starling::shm {

inline constexpr params::Decl kPosixDirectory = params::equal_in_job(params::text(
    "shm_posix_directory", "/dev/shm",
    "Directory for the file through which the processes of a node share memory: a memory file system, "
    "writable by this user, sticky if others may write to it."));

class PosixComponent final : public Component {
 public:
  PosixComponent(params::Registry& params, std::string directory) noexcept
      : params_(params), directory_(std::move(directory)) {}
  ~PosixComponent() override;
  PosixComponent(const PosixComponent&) = delete;
  PosixComponent& operator=(const PosixComponent&) = delete;

  [[nodiscard]] Result<Segment> find(const SegmentSpec& spec, Deadline deadline) override;
  [[nodiscard]] Result<Segment> attach(const SegmentSpec& spec, Deadline deadline) override;
  [[nodiscard]] bool has_name() const noexcept override { return true; }
  [[nodiscard]] std::string meeting_place() const override;
  void all_attached() noexcept override;

 private:
  enum class Found { ready, nothing, retry };

  [[nodiscard]] Result<void> open_directory();
  [[nodiscard]] Result<Segment> settle(const SegmentSpec& spec, Deadline deadline, bool may_make);
  [[nodiscard]] Result<Found> look(const SegmentSpec& spec, UniqueFd& fd);
  [[nodiscard]] Result<void> check_room(const SegmentSpec& spec) const;
  [[nodiscard]] Result<Found> make(const SegmentSpec& spec, UniqueFd& fd);
  [[nodiscard]] Result<bool> is_leftover(int fd, const std::string& name);
  void sweep() noexcept;
  /// Removes `name` if it still is the file that `fd` is open on.
  void remove_name(int fd, const std::string& name) noexcept;
  [[nodiscard]] std::string path() const { return directory_ + "/" + name_; }

  params::Registry& params_;
  std::string directory_;
  UniqueFd directory_fd_;
  std::string name_;
  UniqueFd held_;  ///< shares the segment's lock
};

[[nodiscard]] Result<std::unique_ptr<Component>> create_posix_component(const Args& args);

}  // namespace starling::shm
