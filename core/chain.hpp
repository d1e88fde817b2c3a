// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A doubly linked list through members of its elements. Layer: core.
///
/// No allocation; removal in O(1).
/// Threads: one at a time. Ownership: none. Errors: none.

namespace starling {

template <class T, T* T::*Next, T* T::*Previous>
class Chain {
 public:
  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }
  [[nodiscard]] T* front() const noexcept { return head_; }
  [[nodiscard]] T* back() const noexcept { return tail_; }
  [[nodiscard]] static T* after(const T& element) noexcept { return element.*Next; }

  void push_back(T& element) noexcept {
    element.*Next = nullptr;
    element.*Previous = tail_;
    (tail_ != nullptr ? tail_->*Next : head_) = &element;
    tail_ = &element;
  }
  void push_front(T& element) noexcept {
    element.*Next = head_;
    element.*Previous = nullptr;
    (head_ != nullptr ? head_->*Previous : tail_) = &element;
    head_ = &element;
  }
  void remove(T& element) noexcept {
    T* const next = element.*Next;
    T* const previous = element.*Previous;
    (previous != nullptr ? previous->*Next : head_) = next;
    (next != nullptr ? next->*Previous : tail_) = previous;
  }
  /// The first element, taken off; null if there is none.
  T* pop_front() noexcept {
    T* const first = head_;
    if (first != nullptr) remove(*first);
    return first;
  }

 private:
  T* head_ = nullptr;
  T* tail_ = nullptr;
};

}  // namespace starling
