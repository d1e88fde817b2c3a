// SPDX-License-Identifier: BSD-3-Clause
// Finding and marking descriptors through /proc/self/fd. Layer: framework. Design: docs/design/network.md.

#include "frameworks/btl/net/descriptors.hpp"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

namespace starling::btl::net {
namespace {

/// Sockets, event descriptors and pipes; never a file that the program may have opened meanwhile.
bool of_a_library(int fd) noexcept {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return false;
  const auto kind = status.st_mode & S_IFMT;
  return kind == S_IFSOCK || kind == S_IFIFO || kind == 0;  // 0: epoll, eventfd, timerfd
}

void mark(int fd) noexcept {
  const int flags = ::fcntl(fd, F_GETFD);
  if (flags >= 0 && (flags & FD_CLOEXEC) == 0) ::fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

/// 0: no IP socket.
std::uint16_t local_port(int fd) noexcept {
  sockaddr_storage name{};
  socklen_t length = sizeof(name);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &length) != 0) return 0;
  if (name.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &name, sizeof(in));
    return ntohs(in.sin_port);
  }
  if (name.ss_family != AF_INET6) return 0;
  sockaddr_in6 in6{};
  std::memcpy(&in6, &name, sizeof(in6));
  return ntohs(in6.sin6_port);
}

bool listens(int fd) noexcept {
  int yes = 0;
  socklen_t length = sizeof(yes);
  return ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &length) == 0 && yes != 0;
}

}  // namespace

std::vector<int> open_descriptors() {
  std::vector<int> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), &::closedir);
  if (folder == nullptr) return found;
  while (const dirent* const entry = ::readdir(folder.get())) {
    if (entry->d_name[0] == '.') continue;
    const int fd = std::atoi(entry->d_name);
    if (fd != ::dirfd(folder.get())) found.push_back(fd);
  }
  std::sort(found.begin(), found.end());
  return found;
}

DescriptorWatch::DescriptorWatch() : before_(open_descriptors()) {}

std::vector<std::uint16_t> DescriptorWatch::mark() noexcept {
  std::vector<std::uint16_t> ports;
  for (const int fd : open_descriptors()) {
    if (std::binary_search(before_.begin(), before_.end(), fd) || !of_a_library(fd)) continue;
    net::mark(fd);
    if (listens(fd)) ports.push_back(local_port(fd));
  }
  return ports;
}

void mark_accepted(const std::vector<std::uint16_t>& ports) noexcept {
  for (const int fd : open_descriptors()) {
    const std::uint16_t port = local_port(fd);
    if (port != 0 && std::find(ports.begin(), ports.end(), port) != ports.end()) mark(fd);
  }
}

void mark_connected(std::span<const std::byte> address) noexcept {
  for (const int fd : open_descriptors()) {
    sockaddr_storage name{};
    socklen_t length = sizeof(name);
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&name), &length) != 0) continue;
    if (length == address.size() && std::memcmp(&name, address.data(), length) == 0) mark(fd);
  }
}

int inner_epoll(int fd) noexcept {
  const auto path = [](const char* folder, int number) {
    return std::string("/proc/self/") + folder + "/" + std::to_string(number);
  };
  std::ifstream info(path("fdinfo", fd));
  int found = -1;
  for (std::string word; info >> word;) {
    int target = -1;
    if (word != "tfd:" || !(info >> target)) continue;
    char link[64] = {};
    if (::readlink(path("fd", target).c_str(), link, sizeof(link) - 1) <= 0) continue;
    if (std::string_view(link) != "anon_inode:[eventpoll]") continue;
    if (found >= 0) return -1;
    found = target;
  }
  return found;
}

void raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace starling::btl::net
