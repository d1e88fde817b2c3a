// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A value or the reason why there is none, with std::expected's member names. Layer: core.
///
/// Used for set-up (init, connect, select, parameters), never on the hot path.
/// Threads: value types, no shared state.
/// Errors: value() of an error is a bug (expects).

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/expects.hpp"

namespace starling {

/// What kind of thing went wrong; mpi/ maps it to an MPI error class.
enum class Errc {
  bad_parameter,  ///< a parameter's value, name or selection list
  bad_input,      ///< malformed bytes from a peer, a file or a process manager
  not_found,      ///< a name, plugin, key or file that does not exist
  unsupported,    ///< this component or machine cannot do it
  no_space,       ///< /dev/shm, memory, descriptors
  denied,         ///< permission, owner or mode
  timed_out,      ///< a deadline passed
  unreachable,    ///< nothing leads to another process any more, and it may live
  peer_lost,      ///< another process died or its launcher went away
  peer_left,      ///< another process has left MPI in order, and is gone
  system,         ///< a system call failed; detail holds errno's text
  internal        ///< anything else
};

struct Error {
  Errc code = Errc::internal;
  std::string where;   ///< component or operation, e.g. "pmi/pmi1: fence"
  std::string detail;  ///< what happened, what was expected, what to do

  /// "where: detail", as it is shown to people.
  [[nodiscard]] std::string text() const { return where.empty() ? detail : where + ": " + detail; }

  /// This error as the caller one level further out passes it on: `outer` is put before where.
  [[nodiscard]] Error within(std::string_view outer) && {
    where = where.empty() ? std::string(outer) : std::string(outer) + ": " + where;
    return std::move(*this);
  }
};

/// Error with errno's text appended to `detail`.
[[nodiscard]] Error system_error(std::string where, std::string detail, int error_number);

struct Unexpected {
  Error error;
};
[[nodiscard]] inline Unexpected fail(Errc code, std::string where, std::string detail) {
  return Unexpected{Error{code, std::move(where), std::move(detail)}};
}
[[nodiscard]] inline Unexpected fail(Error error) { return Unexpected{std::move(error)}; }

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Unexpected failure) : state_(std::in_place_index<1>, std::move(failure.error)) {}

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  T& value() & {
    check();
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    check();
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    check();
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const& {
    expects(!has_value(), "error() of a value");
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    expects(!has_value(), "error() of a value");
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  void check() const { expects(has_value(), "value() of an error"); }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  Result() = default;
  Result(Unexpected failure) : error_(std::move(failure.error)), failed_(true) {}

  [[nodiscard]] bool has_value() const noexcept { return !failed_; }
  explicit operator bool() const noexcept { return has_value(); }
  const Error& error() const& {
    expects(failed_, "error() of a value");
    return error_;
  }
  Error&& error() && {
    expects(failed_, "error() of a value");
    return std::move(error_);
  }

 private:
  Error error_;
  bool failed_ = false;
};

}  // namespace starling
