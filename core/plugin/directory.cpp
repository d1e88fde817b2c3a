// SPDX-License-Identifier: BSD-3-Clause
// One readdir per directory. Hard: the owner and mode that are checked are those of the directory that is
// then read.

#include "core/plugin/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

#include "core/unique_fd.hpp"

namespace starling::plugin {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

Result<void> check_trust(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return fail(system_error({}, "cannot examine it", errno));
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return fail(Errc::denied, {},
                "its owner is user " + std::to_string(status.st_uid) + ", expected root or user " +
                    std::to_string(::geteuid()));
  }
  if ((status.st_mode & S_IWOTH) != 0) {
    return fail(Errc::denied, {}, "it is writable by others; use `chmod o-w`");
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> shared_objects_in(const std::string& directory, Trust trust) {
  if (trust == Trust::checked && (directory.empty() || directory.front() != '/')) {
    return fail(Errc::bad_parameter, {}, "it is not an absolute path");
  }
  UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd && errno == ENOENT) return fail(Errc::not_found, {}, "it does not exist");
  if (!fd) return fail(system_error({}, "cannot open it", errno));
  if (trust == Trust::checked) {
    if (auto sound = check_trust(fd.get()); !sound) return fail(std::move(sound).error());
  }
  const std::unique_ptr<DIR, CloseDirectory> stream(::fdopendir(fd.get()));
  if (stream == nullptr) return fail(system_error({}, "cannot read it", errno));
  [[maybe_unused]] const int owned_by_stream = fd.release();

  std::vector<std::string> paths;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) {
      if (errno != 0) return fail(system_error({}, "cannot read it", errno));
      break;
    }
    const std::string_view name = entry->d_name;
    if (name.ends_with(".so") && name.size() > 3 && name.front() != '.')
      paths.push_back(directory + "/" + entry->d_name);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace starling::plugin
