// SPDX-License-Identifier: BSD-3-Clause
// Which buffer is posted next. Layer: plugin.

#include "plugins/btl/ofi/receiving.hpp"

#include <algorithm>
#include <utility>

namespace starling::btl::ofi {

Result<void> Receiving::start() {
  while (buffers_.size() < kPosted) {
    buffers_.push_back(std::make_unique<ReceiveBuffer>());
    if (auto posted = post(*buffers_.back()); !posted) return posted;
  }
  return {};
}

Result<void> Receiving::post(ReceiveBuffer& buffer) {
  auto posted = post_(buffer);
  buffer.posted = posted.has_value();
  return posted;
}

ReceiveBuffer* Receiving::find(void* context) noexcept {
  const auto found = std::find_if(buffers_.begin(), buffers_.end(),
                                  [context](const auto& each) { return &each->context == context; });
  return found == buffers_.end() ? nullptr : found->get();
}

std::size_t Receiving::posted() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(buffers_.begin(), buffers_.end(), [](const auto& each) { return each->posted; }));
}

Result<void> Receiving::full(void* context) {
  ReceiveBuffer* const buffer = find(context);
  if (buffer == nullptr) return {};
  buffer->posted = false;
  if (buffer->kept == 0) return post(*buffer);
  buffers_.push_back(std::make_unique<ReceiveBuffer>());  // keep() has seen to it that there may be one more
  return post(*buffers_.back());
}

/// Each buffer with something kept needs another in its place once it is full.
void* Receiving::keep() noexcept {
  if (current_ == nullptr) return nullptr;
  const auto kept = static_cast<std::size_t>(
      std::count_if(buffers_.begin(), buffers_.end(), [](const auto& each) { return each->kept != 0; }));
  if (current_->kept == 0 && kept + kPosted >= kMost) return nullptr;
  ++current_->kept;
  return current_;
}

void Receiving::release(void* kept) noexcept {
  auto* const buffer = static_cast<ReceiveBuffer*>(kept);
  if (--buffer->kept != 0 || buffer->posted || buffer == current_) return;
  if (posted() < kPosted) {
    (void)post(*buffer);
    return;
  }
  std::erase_if(buffers_, [buffer](const auto& each) { return each.get() == buffer; });
}

}  // namespace starling::btl::ofi
