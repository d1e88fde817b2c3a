// SPDX-License-Identifier: BSD-3-Clause
// The bell's mailbox. Layer: framework. See docs/design/waiting.md.

#include "frameworks/shm/bell.hpp"

#include <sys/socket.h>

#include <utility>

namespace starling::shm {

Result<Bell> Bell::open() {
  auto box = Mailbox::open(false);
  if (!box) return fail(std::move(box).error().within("doorbell"));
  return Bell(std::move(*box));
}

void Bell::silence() noexcept {
  char byte = 0;
  while (::recv(box_.fd(), &byte, sizeof byte, 0) >= 0) {
  }
}

void Bell::ring(std::uint64_t name) noexcept {
  static const Result<Mailbox> box = Mailbox::open(false);
  if (box) (void)box.value().send(name, {});
}

}  // namespace starling::shm
