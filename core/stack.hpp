// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A singly linked list through a member of its elements: the last one pushed is the first. Layer:
/// core.
///
/// No allocation.
/// Threads: one at a time. Ownership: none. Errors: none.

namespace starling {

template <class T, T* T::*Next>
class Stack {
 public:
  [[nodiscard]] bool empty() const noexcept { return top_ == nullptr; }
  [[nodiscard]] T* top() const noexcept { return top_; }
  [[nodiscard]] static T* after(const T& element) noexcept { return element.*Next; }

  void push(T& element) noexcept {
    element.*Next = top_;
    top_ = &element;
  }
  /// The top, taken off; null if there is none.
  T* pop() noexcept {
    T* const top = top_;
    if (top != nullptr) top_ = top->*Next;
    return top;
  }
  /// All of them; what is pushed from now on is a new list.
  [[nodiscard]] Stack take_all() noexcept {
    const Stack all = *this;
    top_ = nullptr;
    return all;
  }

 private:
  T* top_ = nullptr;
};

}  // namespace starling
