// SPDX-License-Identifier: BSD-3-Clause
// Temporary file, then rename or link. Hard: on NFS a link that was made may be answered with EEXIST when the
// answer to the first request was lost; the link count of the temporary file tells. Layer: plugin.

#include "shared_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/unique_fd.hpp"

namespace starling::pmi {
namespace {

constexpr char kWhere[] = "pmi/shareddir";

Unexpected failed(const std::string& what, int problem) { return fail(system_error(kWhere, what, problem)); }

}  // namespace

Result<void> SharedDirectory::make() const {
  if (::mkdir(path_.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return failed("cannot make the directory " + path_, errno);
}

Result<std::string> SharedDirectory::write_temporary(std::span<const std::byte> bytes) {
  std::string name = full("tmp." + writer_ + "." + std::to_string(written_++));
  const UniqueFd fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return failed("cannot create " + name, errno);
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd.get(), bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      const int problem = errno;
      ::unlink(name.c_str());
      return failed("cannot write " + name, problem);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return name;
}

Result<void> SharedDirectory::write(const std::string& name, std::span<const std::byte> bytes) {
  auto temporary = write_temporary(bytes);
  if (!temporary) return fail(std::move(temporary).error());
  if (::rename(temporary->c_str(), full(name).c_str()) == 0) return {};
  const int problem = errno;
  ::unlink(temporary->c_str());
  return failed("cannot rename to " + full(name), problem);
}

Result<void> SharedDirectory::create(const std::string& name, std::span<const std::byte> bytes) {
  auto temporary = write_temporary(bytes);
  if (!temporary) return fail(std::move(temporary).error());
  const int linked = ::link(temporary->c_str(), full(name).c_str());
  const int problem = errno;
  struct stat status {};
  const bool made = linked == 0 || (::stat(temporary->c_str(), &status) == 0 && status.st_nlink == 2);
  ::unlink(temporary->c_str());
  if (made) return {};
  if (problem == EEXIST) return fail(Errc::denied, kWhere, full(name) + " exists already");
  return failed("cannot link " + full(name), problem);
}

Result<std::vector<std::byte>> SharedDirectory::read(const std::string& name) const {
  const UniqueFd fd(::open(full(name).c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && errno == ENOENT) return fail(Errc::not_found, kWhere, full(name) + " does not exist");
  if (!fd) return failed("cannot open " + full(name), errno);
  std::vector<std::byte> bytes;
  std::byte buffer[4096];
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("cannot read " + full(name), errno);
    if (got == 0) return bytes;
    bytes.insert(bytes.end(), buffer, buffer + got);
  }
}

bool SharedDirectory::exists(const std::string& name) const noexcept {
  try {
    return ::access(full(name).c_str(), F_OK) == 0;
  } catch (const std::bad_alloc&) {
    return false;  // looked at again at the next poll
  }
}

Result<void> SharedDirectory::remove(const std::string& name) const {
  if (::unlink(full(name).c_str()) == 0) return {};
  if (errno == ENOENT) return fail(Errc::not_found, kWhere, full(name) + " does not exist");
  return failed("cannot remove " + full(name), errno);
}

std::string file_name_of(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    if (plain) {
      name += c;
      continue;
    }
    char escaped[4];
    std::snprintf(escaped, sizeof escaped, "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
    name += escaped;
  }
  return name;
}

}  // namespace starling::pmi
