// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What this process is waiting for, for hang help. Layer: mpi. See docs/design/waiting.md.
///
/// Threads:   under the runtime's lock.
/// Ownership: a Waiting lives on the stack of who waits and links itself in; what it describes outlives it.
/// Units:     nanoseconds. Ages count from the first look around after the wait began (at most 0.1 s late),
///            so that no call has to read a clock.

#include <cstdint>
#include <string>
#include <type_traits>

namespace starling::mpi {

class Waiting {
 public:
  /// `describe` is a callable that gives the text: "MPI_Barrier on ocean: round 1 of 2, waits for rank 3".
  template <class Describe>
  explicit Waiting(const Describe& describe) noexcept
      : describe_([](const void* context) { return (*static_cast<const Describe*>(context))(); }),
        context_(&describe) {
    enter();
  }
  template <class Describe>
  requires(!std::is_lvalue_reference_v<Describe>) explicit Waiting(Describe&&) =
      delete;  // it would be gone before it is asked
  /// An MPI function that waits for messages, which are told beside it. Null: nothing to tell.
  explicit Waiting(const char* function) noexcept
      : function_only_(true),
        describe_([](const void* name) { return std::string(static_cast<const char*>(name)); }),
        context_(function) {
    if (function != nullptr) enter();
  }
  ~Waiting() {
    if (context_ != nullptr) leave();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  [[nodiscard]] std::string text() const { return describe_(context_); }
  [[nodiscard]] bool function_only() const noexcept { return function_only_; }
  /// 0: not looked at yet.
  std::uint64_t since_ns = 0;

  /// Calls visit(Waiting&) for each, the latest first.
  template <class Visit>
  static void each(Visit visit) {
    for (Waiting* at = innermost_; at != nullptr; at = at->outer_) visit(*at);
  }

 private:
  void enter() noexcept;
  void leave() noexcept;

  static inline Waiting* innermost_ = nullptr;  // of all threads
  bool function_only_ = false;
  std::string (*describe_)(const void*);
  const void* context_;
  Waiting* outer_ = nullptr;
  Waiting* inner_ = nullptr;
};

}  // namespace starling::mpi
