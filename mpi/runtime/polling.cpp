// SPDX-License-Identifier: BSD-3-Clause
// Passes of progress. Layer: mpi. docs/design/waiting.md

#include "mpi/runtime/polling.hpp"

namespace starling::mpi {

int Polling::progress() noexcept {
  int events = peers_.progress();
  for (Progressable* item = items_.front(); item != nullptr; item = cursor_) {
    cursor_ = Items::after(*item);  // remove() moves it on if that one goes
    events += item->progress();
  }
  // Another thread's request may just have ended: it may sleep on the same doorbell.
  if (events != 0) wake();
  return events;
}

int Polling::progress_aside() noexcept {
  int events = peers_.progress();
  for (Progressable* item = items_.front(); item != nullptr; item = cursor_) {
    cursor_ = Items::after(*item);
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
  items_.push_front(item);
}

void Polling::remove(Progressable& item) noexcept {
  if (!item.registered_) return;
  item.registered_ = false;
  if (cursor_ == &item) cursor_ = Items::after(item);
  items_.remove(item);
}

}  // namespace starling::mpi
