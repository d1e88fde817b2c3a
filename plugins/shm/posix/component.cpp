// SPDX-License-Identifier: BSD-3-Clause
// A segment with a name. What is hard here is that processes come, leave and die in any order, also those of
// other jobs: every decision is made on an open descriptor and under its lock. Layer: plugin. Design:
// docs/design/shared-memory.md.

#include "plugins/shm/posix/component.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "frameworks/shm/attach.hpp"
#include "frameworks/shm/segment_name.hpp"

namespace starling::shm {
namespace {

constexpr char kWhere[] = "shm/posix";

bool try_lock(int fd, int how) noexcept {
  while (::flock(fd, how | LOCK_NB) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

bool has_a_name(int fd) noexcept {
  struct stat facts {};
  return ::fstat(fd, &facts) == 0 && facts.st_nlink > 0;
}

}  // namespace

PosixComponent::~PosixComponent() {
  // The others hold the lock as well: only the last one gets it for itself alone.
  if (held_ && try_lock(held_.get(), LOCK_EX)) remove_name(held_.get(), name_);
}

void PosixComponent::all_attached() noexcept {
  if (held_) remove_name(held_.get(), name_);
}

// A tmpfs has a device number of its own wherever it is mounted.
std::string PosixComponent::meeting_place() const {
  struct stat facts {};
  if (::stat(directory_.c_str(), &facts) != 0) return {};
  return "directory-" + std::to_string(facts.st_dev) + "-" + std::to_string(facts.st_ino);
}

Result<void> PosixComponent::open_directory() {
  directory_fd_ = UniqueFd(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory_fd_) return fail(system_error(kWhere, "cannot open directory " + directory_, errno));
  struct stat facts {};
  if (::fstat(directory_fd_.get(), &facts) != 0) return fail(system_error(kWhere, directory_, errno));
  const bool ours = facts.st_uid == ::geteuid() || facts.st_uid == 0;
  const bool others_may_rename = (facts.st_mode & 022) != 0 && (facts.st_mode & S_ISVTX) == 0;
  if (!ours || others_may_rename) {
    return fail(Errc::denied, kWhere,
                directory_ + " must belong to root or this user and be sticky if others may write to it");
  }
  return {};
}

void PosixComponent::remove_name(int fd, const std::string& name) noexcept {
  struct stat file {};
  struct stat named {};
  if (::fstat(fd, &file) != 0 ||
      ::fstatat(directory_fd_.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0)
    return;
  if (file.st_dev == named.st_dev && file.st_ino == named.st_ino)
    ::unlinkat(directory_fd_.get(), name.c_str(), 0);
}

/// Checks that the open file is one of ours, and whether nobody is attached to it. It is locked exclusively
/// then.
Result<bool> PosixComponent::is_leftover(int fd, const std::string& name) {
  const std::string path = directory_ + "/" + name;
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return fail(system_error(kWhere, path, errno));
  const char* problem = nullptr;
  if (!S_ISREG(facts.st_mode)) {
    problem = "is no plain file";
  } else if (facts.st_uid != ::geteuid()) {
    problem = "belongs to another user";
  } else if ((facts.st_mode & 07777) != 0600) {
    problem = "can be opened by others";
  } else if (facts.st_nlink > 1) {
    problem = "has a second name";
  }
  if (problem != nullptr) {
    return fail(
        Errc::denied, kWhere,
        path + " " + problem + ", so it is not used. Remove it, or select shm=memfd, which needs no name");
  }
  return try_lock(fd, LOCK_EX);
}

Result<PosixComponent::Found> PosixComponent::look(const SegmentSpec& spec, UniqueFd& fd) {
  fd = UniqueFd(::openat(directory_fd_.get(), name_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    if (errno == ENOENT) return Found::nothing;
    const bool denied = errno == EACCES || errno == ELOOP || errno == EPERM;
    Error error = system_error(
        kWhere, "cannot open " + path() + " (somebody else's, or a link?); select shm=memfd", errno);
    if (denied) error.code = Errc::denied;
    return fail(std::move(error));
  }
  auto leftover = is_leftover(fd.get(), name_);
  if (!leftover) return fail(std::move(leftover).error());
  if (*leftover) {
    remove_name(fd.get(), name_);
    return Found::retry;
  }
  // Not locked: somebody holds it exclusively for the moment, to remove it.
  if (!try_lock(fd.get(), LOCK_SH) || !has_a_name(fd.get())) return Found::retry;
  auto checked = check_descriptor(fd.get(), spec, 1, Owner::self, std::string(kWhere) + ": " + path());
  if (!checked) return fail(std::move(checked).error());
  return Found::ready;
}

/// A segment on a full file system would be of no use: better to say so while another component can be
/// chosen.
Result<void> PosixComponent::check_room(const SegmentSpec& spec) const {
  struct statvfs facts {};
  if (::fstatvfs(directory_fd_.get(), &facts) != 0) return fail(system_error(kWhere, directory_, errno));
  const std::uint64_t free = std::uint64_t{facts.f_bavail} * facts.f_frsize;
  if (facts.f_blocks == 0 || free >= spec.room_bytes) return {};  // no blocks: a file system without a limit
  return fail(Errc::no_space, kWhere,
              path() + ": needed: " + std::to_string(spec.room_bytes) + " bytes, free: " +
                  std::to_string(free) + " bytes; enlarge " + directory_ + " or select shm=memfd");
}

Result<PosixComponent::Found> PosixComponent::make(const SegmentSpec& spec, UniqueFd& fd) {
  sweep();
  if (auto room = check_room(spec); !room) return fail(std::move(room).error());
  fd = UniqueFd(::openat(directory_fd_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd) {
    return fail(system_error(
        kWhere, "cannot make a file without a name in " + directory_ + "; select shm=memfd", errno));
  }
  ::fchmod(fd.get(), 0600);  // whatever the umask is
  auto initialised =
      NodeSegment::initialise(fd.get(), geometry_from(params_, spec.local_size), job_nonce(spec.job));
  if (!initialised) return fail(std::move(initialised).error().within(std::string(kWhere) + ": " + path()));
  // Locked before it can be seen, so that nobody takes it for a leftover.
  if (!try_lock(fd.get(), LOCK_SH)) return fail(system_error(kWhere, "cannot lock " + path(), errno));
  const std::string self = "/proc/self/fd/" + std::to_string(fd.get());
  if (::linkat(AT_FDCWD, self.c_str(), directory_fd_.get(), name_.c_str(), AT_SYMLINK_FOLLOW) == 0)
    return Found::ready;
  if (errno == EEXIST) return Found::retry;
  return fail(
      system_error(kWhere, "cannot give the segment its name " + path() + "; select shm=memfd", errno));
}

// Removes what killed jobs of this user left behind.
void PosixComponent::sweep() noexcept {
  const int copy = ::openat(directory_fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return;
  DIR* const listing = ::fdopendir(copy);
  if (listing == nullptr) {
    ::close(copy);
    return;
  }
  const std::string prefix = segment_name_prefix();
  while (const dirent* entry = ::readdir(listing)) {
    const std::string name = entry->d_name;
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    const UniqueFd fd(
        ::openat(directory_fd_.get(), name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!fd) continue;
    const auto leftover = is_leftover(fd.get(), name);
    if (leftover && *leftover) remove_name(fd.get(), name);
  }
  ::closedir(listing);
}

Result<Segment> PosixComponent::find(const SegmentSpec& spec, Deadline deadline) {
  if (spec.local_size == 1) return fail(Errc::not_found, kWhere, "a process alone needs no name");
  return settle(spec, deadline, false);
}

Result<Segment> PosixComponent::attach(const SegmentSpec& spec, Deadline deadline) {
  if (spec.local_size == 1) return private_segment(params_, spec);
  return settle(spec, deadline, true);
}

Result<Segment> PosixComponent::settle(const SegmentSpec& spec, Deadline deadline, bool may_make) {
  auto opened = open_directory();
  if (!opened) return fail(std::move(opened).error());
  name_ = segment_name(spec.job, spec.node);
  UniqueFd fd;
  for (;;) {
    auto found = look(spec, fd);
    if (found && *found == Found::nothing) {
      if (!may_make) return fail(Errc::not_found, kWhere, path() + " does not exist");
      found = make(spec, fd);
    }
    if (!found) return fail(std::move(found).error());
    if (*found == Found::ready) break;
    if (deadline.passed()) {
      return fail(Errc::timed_out, kWhere, path() + " was made and removed by others again and again");
    }
    ::usleep(1000);
  }
  held_ = UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
  if (!held_) return fail(system_error(kWhere, "cannot duplicate a descriptor", errno));
  return map_segment(std::move(fd), spec, deadline);
}

Result<std::unique_ptr<Component>> create_posix_component(const Args& args) {
  return std::unique_ptr<Component>(
      std::make_unique<PosixComponent>(args.params, args.params.text(kPosixDirectory)));
}

}  // namespace starling::shm
