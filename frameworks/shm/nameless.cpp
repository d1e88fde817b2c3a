// SPDX-License-Identifier: BSD-3-Clause
// Files without a name. Layer: framework. Design: docs/design/shared-memory.md.

#include "frameworks/shm/nameless.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace starling::shm {
namespace {

constexpr char kNameless[] = "shared memory";
constexpr char kDirectory[] = "/dev/shm";
constexpr mode_t kMode = 0600;  // a memfd has 0777

bool is_refusal(int error) noexcept { return error == EPERM || error == ENOSYS || error == EACCES; }

}  // namespace

Result<NamelessFile> make_nameless(const char* name) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (fd) return NamelessFile{std::move(fd), true};
  const int cause = errno;
  if (!is_refusal(cause)) return fail(system_error(kNameless, "memfd_create", cause));
  fd = UniqueFd(::open(kDirectory, O_TMPFILE | O_RDWR | O_CLOEXEC, kMode));
  if (fd && ::fchmod(fd.get(), kMode) == 0)
    return NamelessFile{std::move(fd), false};  // whatever the umask is
  Error second = system_error({}, std::string("a file without a name in ") + kDirectory, errno);
  return fail(Errc::system, kNameless, system_error({}, "memfd_create", cause).text() + "; " + second.text());
}

bool is_own_nameless(int fd) noexcept {
  struct stat facts {};
  return ::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == ::geteuid() &&
         (facts.st_mode & 07777) == kMode && facts.st_nlink == 0;
}

}  // namespace starling::shm
