// SPDX-License-Identifier: BSD-3-Clause
// Which buffer is posted next. Layer: plugin.

#include "plugins/btl/ofi/receiving.hpp"

#include <algorithm>
#include <utility>

namespace starling::btl::ofi {

Result<void> Receiving::refill() {
  while (posted() < kPosted) {
    ReceiveBuffer* const buffer = spare();
    if (buffer == nullptr) return fail(Errc::system, "receive buffer", "there is no memory for another one");
    if (auto taken = post_(*buffer); !taken) return taken;
    buffer->posted = true;
  }
  return {};
}

/// Null: no memory.
ReceiveBuffer* Receiving::spare() noexcept {
  const auto found = std::find_if(buffers_.begin(), buffers_.end(), [this](const auto& each) {
    return !each->posted && !each->writing && each->kept == 0 && each.get() != current_;
  });
  if (found != buffers_.end()) return found->get();
  if (buffers_.size() == kRoom) return nullptr;
  std::unique_ptr<ReceiveBuffer> made(new (std::nothrow) ReceiveBuffer(*this));
  if (made == nullptr || made->bytes == nullptr) return nullptr;
  buffers_.push_back(std::move(made));  // room was reserved
  return buffers_.back().get();
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

Result<void> Receiving::delivered(std::size_t bytes) {
  ReceiveBuffer* const buffer = std::exchange(current_, nullptr);
  if (buffer == nullptr) return {};
  buffer->filled += bytes;
  return buffer->writing && buffer->filled == buffer->end ? let_go(*buffer) : Result<void>();
}

Result<void> Receiving::full(void* context, const std::byte* end) {
  ReceiveBuffer* const buffer = find(context);
  if (buffer == nullptr) return {};
  if (slices_ == Slices::ended || end == nullptr) return let_go(*buffer);
  buffer->end = static_cast<std::size_t>(end - buffer->bytes.get());
  if (buffer->filled == buffer->end) return let_go(*buffer);
  if (buffer->broken) return put_away(*buffer);
  buffer->posted = false;
  buffer->writing = true;
  return refill();
}

Result<void> Receiving::failed(void* context, bool last) {
  ReceiveBuffer* const buffer = find(context);
  if (buffer == nullptr) return {};
  if (slices_ == Slices::ended) return last ? let_go(*buffer) : Result<void>();
  buffer->broken = true;
  return last || buffer->writing ? put_away(*buffer) : Result<void>();
}

/// Nobody writes into it any more.
Result<void> Receiving::let_go(ReceiveBuffer& buffer) {
  buffer.posted = buffer.writing = false;
  buffer.filled = buffer.end = 0;
  return refill();
}

Result<void> Receiving::put_away(ReceiveBuffer& buffer) {
  const auto found = std::find_if(buffers_.begin(), buffers_.end(),
                                  [&buffer](const auto& each) { return each.get() == &buffer; });
  (void)found->release();
  buffers_.erase(found);
  buffer.posted = buffer.writing = false;
  buffer.next = put_away_;
  put_away_ = &buffer;
  return refill();
}

/// Each buffer with something kept needs another in its place once it is full.
HeldBytes* Receiving::keep(std::span<const std::byte> bytes) noexcept {
  if (current_ == nullptr) return nullptr;
  const std::less<const std::byte*> before;
  const std::byte* const first = current_->bytes.get();
  if (before(bytes.data(), first) || before(first + ReceiveBuffer::kBytes, bytes.data() + bytes.size()))
    return nullptr;
  const auto kept = static_cast<std::size_t>(
      std::count_if(buffers_.begin(), buffers_.end(), [](const auto& each) { return each->kept != 0; }));
  if (current_->kept == 0 && kept + kPosted >= kMost) return nullptr;
  ++current_->kept;
  return current_;
}

void Receiving::released(ReceiveBuffer& buffer) noexcept {
  if (buffer.posted || buffer.writing || &buffer == current_) return;
  if (posted() < kPosted) {
    (void)refill();
    return;
  }
  const auto spares =
      static_cast<std::size_t>(std::count_if(buffers_.begin(), buffers_.end(), [](const auto& each) {
        return !each->posted && !each->writing && each->kept == 0;
      }));
  if (spares > kSpares)
    std::erase_if(buffers_, [&buffer](const auto& each) { return each.get() == &buffer; });
}

void ReceiveBuffer::release() noexcept {
  if (--kept != 0) return;
  if (owner != nullptr) return owner->released(*this);
  delete this;
}

Receiving::~Receiving() {
  for (auto& buffer : buffers_) {
    buffer->owner = nullptr;
    if (buffer->kept != 0) (void)buffer.release();
  }
  while (put_away_ != nullptr) {
    ReceiveBuffer* const buffer = std::exchange(put_away_, put_away_->next);
    buffer->owner = nullptr;
    if (buffer->kept == 0) delete buffer;
  }
}

}  // namespace starling::btl::ofi
