// SPDX-License-Identifier: BSD-3-Clause
// One readdir per directory. Hard: what is checked must be what is then opened by its path, so that path has
// no link in it, and nobody else can rename anything on its way (core/trust.hpp).

#include "core/plugin/directory.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "core/trust.hpp"
#include "core/unique_fd.hpp"

namespace starling::plugin {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

/// Names of the `*.so` entries, sorted.
Result<std::vector<std::string>> names_in(const std::string& directory) {
  UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd && errno == ENOENT) return fail(Errc::not_found, {}, "it does not exist");
  if (!fd) return fail(system_error({}, "cannot open it", errno));
  const std::unique_ptr<DIR, CloseDirectory> stream(::fdopendir(fd.get()));
  if (stream == nullptr) return fail(system_error({}, "cannot read it", errno));
  [[maybe_unused]] const int owned_by_stream = fd.release();
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) {
      if (errno != 0) return fail(system_error({}, "cannot read it", errno));
      break;
    }
    const std::string_view name = entry->d_name;
    if (name.ends_with(".so") && name.size() > 3 && name.front() != '.') names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

SharedObject checked(std::string path) {
  auto sound = trusted_path(path);
  if (sound) return {std::move(*sound), {}};
  std::string why = sound.error().code == Errc::not_found ? "cannot open it: No such file or directory"
                                                          : sound.error().text();
  return {std::move(path), std::move(why)};
}

}  // namespace

Result<std::vector<SharedObject>> shared_objects_in(const std::string& directory, Trust trust) {
  std::string folder = directory;
  if (trust == Trust::checked) {
    if (directory.empty() || directory.front() != '/')
      return fail(Errc::bad_parameter, {}, "it is not an absolute path");
    auto sound = trusted_path(directory);
    if (!sound) return fail(std::move(sound).error());
    folder = std::move(*sound);
  }
  auto names = names_in(folder);
  if (!names) return fail(std::move(names).error());
  std::vector<SharedObject> objects;
  for (const std::string& name : *names) {
    std::string path = folder + "/" + name;
    objects.push_back(trust == Trust::checked ? checked(std::move(path)) : SharedObject{std::move(path), {}});
  }
  return objects;
}

}  // namespace starling::plugin
