// SPDX-License-Identifier: BSD-3-Clause
// mpiexec's side of the PMIx helper. Layer: tools.
//
// Hard here: the helper must outlive nobody. It leads a session, so that Ctrl-C at the terminal is not for
// it, and sees the end of mpiexec as the end of its socket.

#include "tools/mpiexec/pmix/helper.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "core/clock.hpp"

namespace starling::mpiexec {
namespace {

constexpr std::uint64_t kStartNs = 30'000'000'000;
constexpr int kEndMs = 3'000;
constexpr std::size_t kTextMax = std::size_t{1} << 20;

constexpr char kPmixHelper[] = "mpiexec";  ///< where its errors come from

struct Header {
  std::uint32_t kind = 0;
  std::uint32_t rank = 0;
  std::int32_t code = 0;
  std::uint32_t bytes = 0;
};

[[noreturn]] void become_helper(const PmixJob& job, const std::string& folder, int socket) {
  ::setsid();
  ::prctl(PR_SET_NAME, "mpiexec-pmix");
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, 0);
  ::dup2(null, 1);
  // Whatever else mpiexec has open is waited for by others.
  ::dup2(socket, 3);
  ::close_range(4, ~0u, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  serve_pmix(job, folder, 3);
}

/// "NAME=VALUE" after "NAME=VALUE", each with a NUL behind it.
PmixVariables read_variables(std::string_view text) {
  PmixVariables variables;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const std::size_t equals = one.find('=');
    if (equals != one.npos) variables.emplace_back(one.substr(0, equals), one.substr(equals + 1));
  }
  return variables;
}

}  // namespace

bool send_event(int socket, PmixHelper::Event::Kind kind, std::uint32_t rank, std::int32_t code,
                const std::string& text) noexcept {
  const Header header{static_cast<std::uint32_t>(kind), rank, code, static_cast<std::uint32_t>(text.size())};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += text;
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

Result<std::unique_ptr<PmixHelper>> PmixHelper::start(const PmixJob& job) {
  std::unique_ptr<PmixHelper> helper(new PmixHelper);
  const char* const base = std::getenv("TMPDIR");
  std::string folder =
      std::string(base == nullptr || *base == '\0' ? "/tmp" : base) + "/starling-pmix-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr)
    return fail(system_error(kPmixHelper, "cannot make a folder " + folder, errno));
  helper->folder_ = folder;
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(system_error(kPmixHelper, "cannot make a socket for the PMIx server", errno));
  helper->socket_ = UniqueFd(ends[0]);
  const UniqueFd theirs(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return fail(system_error(kPmixHelper, "cannot start the PMIx server's process", errno));
  if (pid == 0) become_helper(job, folder, theirs.get());
  helper->process_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  helper->variables_.resize(job.program.size());
  if (auto done = helper->await_variables(); !done) return fail(std::move(done).error());
  return helper;
}

PmixHelper::~PmixHelper() {
  socket_.reset();
  if (process_) {
    pollfd ended{process_.get(), POLLIN, 0};
    if (::poll(&ended, 1, kEndMs) == 0)
      (void)::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
    siginfo_t info{};
    (void)::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(process_.get()), &info, WEXITED);
  }
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Result<void> PmixHelper::await_variables() {
  const Deadline limit = Deadline::after_ns(kStartNs);
  while (!limit.passed()) {
    pollfd input{socket_.get(), POLLIN, 0};
    (void)::poll(&input, 1, 1'000);
    for (const Event& event : take()) {
      switch (event.kind) {
        case Event::Kind::variables:
          if (event.rank < variables_.size()) variables_[event.rank] = read_variables(event.text);
          break;
        case Event::Kind::ready: return {};
        case Event::Kind::failed:
          return fail(Errc::unsupported, kPmixHelper,
                      "option -pmi pmix: there is no PMIx server: " + event.text);
        default:
          return fail(Errc::unsupported, kPmixHelper, "option -pmi pmix: the PMIx server's process has died");
      }
    }
  }
  return fail(Errc::unsupported, kPmixHelper, "option -pmi pmix: the PMIx server did not start within 30 s");
}

void PmixHelper::receive() {
  char chunk[64 * 1024];
  while (socket_) {
    const ssize_t got = ::recv(socket_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    if (got == 0) {
      socket_.reset();
      return;
    }
    input_.append(chunk, static_cast<std::size_t>(got));
  }
}

std::vector<PmixHelper::Event> PmixHelper::take() {
  std::vector<Event> events;
  const bool was_there = static_cast<bool>(socket_);
  receive();
  std::size_t at = 0;
  while (input_.size() - at >= sizeof(Header)) {
    Header header;
    std::memcpy(&header, input_.data() + at, sizeof header);
    if (header.bytes > kTextMax) {  // it was overwritten by somebody: nothing behind can be trusted
      socket_.reset();
      input_.clear();
      at = 0;
      break;
    }
    if (input_.size() - at - sizeof header < header.bytes) break;
    events.push_back({static_cast<Event::Kind>(header.kind), header.rank, header.code,
                      input_.substr(at + sizeof header, header.bytes)});
    at += sizeof header + header.bytes;
  }
  input_.erase(0, at);
  if (was_there && !socket_) events.push_back({Event::Kind::gone, 0, 0, ""});
  return events;
}

}  // namespace starling::mpiexec
