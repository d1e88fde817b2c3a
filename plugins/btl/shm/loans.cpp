// SPDX-License-Identifier: BSD-3-Clause
// What is hard: to be sure that the descriptor found below /proc is the lender's pipe, without opening
// something else by mistake.
#include "plugins/btl/shm/loans.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace starling::btl {

namespace {

constexpr const char* kLoansWhere = "btl/shm: lending of pages";
/// A pipe has one slot for each page or part of a page.
constexpr std::size_t kLentPageBytes = 4096;

[[nodiscard]] Unexpected refused_loan(const std::string& what) {
  return fail(system_error(kLoansWhere, what, errno));
}

bool is_pipe(const struct stat& found, std::uint64_t inode) noexcept {
  return S_ISFIFO(found.st_mode) && found.st_ino == inode;
}

}  // namespace

Result<Lender> Lender::create(std::size_t room) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return refused_loan("no pipe");
  UniqueFd in(ends[0]), out(ends[1]);
  // A user has a limited sum of slots (fs.pipe-user-pages-soft), above which a pipe stays small.
  const int size = ::fcntl(out.get(), F_SETPIPE_SZ, static_cast<int>(room));
  if (size < 0 || static_cast<std::size_t>(size) < room) return refused_loan("the pipe stays too small");
  struct stat found;
  if (::fstat(out.get(), &found) != 0) return refused_loan("the pipe has no inode");
  const PipeAddress address{static_cast<std::uint32_t>(::getpid()), static_cast<std::uint32_t>(out.get()),
                            found.st_ino};
  return Lender(std::move(out), std::move(in), address);
}

std::size_t Lender::lend(std::span<const std::byte> bytes) noexcept {
  std::size_t lent = 0;
  while (lent < bytes.size()) {
    const iovec rest{const_cast<std::byte*>(bytes.data() + lent), bytes.size() - lent};
    ssize_t moved = ::vmsplice(out_.get(), &rest, 1, SPLICE_F_NONBLOCK);
    // Memory whose pages cannot be referred to (a device's, say) is copied.
    if (moved < 0 && errno != EAGAIN && errno != EINTR) {
      moved = ::write(out_.get(), rest.iov_base, std::min(rest.iov_len, kLentPageBytes));
    }
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) break;
    lent += static_cast<std::size_t>(moved);
  }
  return lent;
}

Result<Borrower> Borrower::open(const PipeAddress& at) {
  const std::string path = "/proc/" + std::to_string(at.pid) + "/fd/" + std::to_string(at.descriptor);
  // Looked at before it is opened: opening a device may do things.
  struct stat found;
  if (::stat(path.c_str(), &found) != 0) return refused_loan(path);
  if (!is_pipe(found, at.inode)) return fail(Errc::unsupported, kLoansWhere, path + " is another process's");
  UniqueFd in(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!in) return refused_loan(path);
  if (::fstat(in.get(), &found) != 0 || !is_pipe(found, at.inode)) {
    return fail(Errc::unsupported, kLoansWhere, path + " has changed");
  }
  return Borrower(std::move(in));
}

bool Borrower::take(std::span<std::byte> to) noexcept {
  while (!to.empty()) {
    const ssize_t moved = ::read(in_.get(), to.data(), to.size());
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    to = to.subspan(static_cast<std::size_t>(moved));
  }
  return true;
}

bool Borrower::discard(std::size_t bytes) noexcept {
  std::array<std::byte, kLentPageBytes> nowhere;
  while (bytes != 0) {
    const std::size_t now = std::min(bytes, nowhere.size());
    if (!take(std::span(nowhere).first(now))) return false;
    bytes -= now;
  }
  return true;
}

Result<LoanOffer> PipeLoans::offer() {
  auto made = Lender::create(kPipeBytes);
  if (!made) return fail(std::move(made).error());
  lender_.emplace(std::move(*made));
  return lender_->address().offer();
}

Result<void> PipeLoans::accept(const LoanOffer& offer) {
  auto opened = Borrower::open(PipeAddress::of(offer));
  if (!opened) return fail(std::move(opened).error());
  borrower_.emplace(std::move(*opened));
  return {};
}

bool PipeLoans::borrow(std::span<std::byte> to) noexcept {
  if (borrower_ && borrower_->take(to)) return true;
  borrower_.reset();  // whatever comes is out of step
  return false;
}

bool PipeLoans::discard(std::size_t bytes) noexcept {
  if (borrower_ && borrower_->discard(bytes)) return true;
  borrower_.reset();
  return false;
}

}  // namespace starling::btl
