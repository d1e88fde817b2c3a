// SPDX-License-Identifier: BSD-3-Clause
// Passes of progress. Layer: mpi. docs/design/waiting.md

#include "mpi/runtime/polling.hpp"

namespace starling::mpi {

int Polling::progress() noexcept {
  int events = peers_.progress();
  for (Progressable* item = items_; item != nullptr; item = cursor_) {
    cursor_ = item->next_;  // remove() moves it on if that one goes
    events += item->progress();
  }
  // Another thread's request may just have ended: it may sleep on the same doorbell.
  if (events != 0) wake();
  return events;
}

int Polling::progress_aside() noexcept {
  int events = peers_.progress();
  for (Progressable* item = items_; item != nullptr; item = cursor_) {
    cursor_ = item->next_;
    if (!item->calls_program()) events += item->progress();
  }
  if (events != 0) wake();
  return events;
}

void Polling::wake_threads() noexcept {
  sleeper_.wake();
  parking_.call();
}

void Polling::add(Progressable& item) noexcept {
  if (item.registered_) return;
  item.registered_ = true;
  item.since_ns = 0;
  item.previous_ = nullptr;
  item.next_ = items_;
  if (items_ != nullptr) items_->previous_ = &item;
  items_ = &item;
}

void Polling::remove(Progressable& item) noexcept {
  if (!item.registered_) return;
  item.registered_ = false;
  if (cursor_ == &item) cursor_ = item.next_;
  (item.previous_ != nullptr ? item.previous_->next_ : items_) = item.next_;
  if (item.next_ != nullptr) item.next_->previous_ = item.previous_;
  item.next_ = item.previous_ = nullptr;
}

}  // namespace starling::mpi
