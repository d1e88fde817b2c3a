// SPDX-License-Identifier: BSD-3-Clause
// The detail of the last error of each thread. Layer: mpi.

#include "mpi/error.hpp"

#include <utility>

#include "mpi/error_class.hpp"

namespace starling::mpi {
namespace {

struct Last {
  int error_class = 0;
  HandleBits comm = 0;
  bool taken = true;
  std::string detail;
};
thread_local Last last;

int note(int error_class, HandleBits comm, std::string detail) {
  last = {error_class, comm, false, std::move(detail)};
  return error_class;
}

struct Raised {
  int code = 0;
  std::string text;
};
thread_local Raised raised;

}  // namespace

int error(int error_class, std::string detail) { return note(error_class, 0, std::move(detail)); }
int error(const Error& cause) { return note(error_class(cause.code), 0, cause.text()); }
int error_on(HandleBits comm, int error_class, std::string detail) {
  return note(error_class, comm, std::move(detail));
}

int too_many(const char* objects) {
  return error({Errc::no_space, {}, std::string("more than 2^25 ") + objects + " are alive"});
}

std::string_view last_error_detail() noexcept { return last.detail; }

Noted take_error() noexcept {
  if (std::exchange(last.taken, true)) return {};
  return {last.error_class, last.comm, last.detail};
}

void set_raised(int code, std::string text) { raised = {code, std::move(text)}; }
std::string_view raised_text(int code) noexcept {
  return raised.code == code ? std::string_view(raised.text) : std::string_view();
}

}  // namespace starling::mpi
