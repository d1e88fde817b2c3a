// SPDX-License-Identifier: BSD-3-Clause
// What is hard: what is kept may be released while its frame is being delivered, and UCX must be told of a
// frame either by the callback or by its release, never by both. Layer: plugin.

#include "plugins/btl/ucx/keeping.hpp"

#include <functional>
#include <utility>

namespace starling::btl::ucx {

Keeping::Keeping(const Library& library, ucp_worker_h worker) noexcept : library_(library), worker_(worker) {
  for (Frame& frame : frames_) {
    frame.of = this;
    frame.next_free = std::exchange(free_, &frame);
  }
}

void Keeping::delivering(void* data, std::size_t bytes, bool stays) noexcept {
  if (stays) current_ = {static_cast<const std::byte*>(data), bytes};
}

HeldBytes* Keeping::keep(std::span<const std::byte> bytes) noexcept {
  const std::less<const std::byte*> before;
  if (current_.empty() || before(bytes.data(), current_.data()) ||
      before(current_.data() + current_.size(), bytes.data() + bytes.size()))
    return nullptr;
  if (entered_ == nullptr) {
    if (free_ == nullptr) return nullptr;
    entered_ = std::exchange(free_, free_->next_free);
    entered_->data = const_cast<std::byte*>(current_.data());
    ++out_;
  }
  ++entered_->kept;
  return entered_;
}

bool Keeping::delivered() noexcept {
  current_ = {};
  Frame* const frame = std::exchange(entered_, nullptr);
  if (frame == nullptr) return false;
  if (frame->kept != 0) return true;
  put_back(*frame);
  return false;
}

void Keeping::released(Frame& frame) noexcept {
  if (&frame == entered_) return;
  library_.am_data_release(worker_, frame.data);
  put_back(frame);
  if (left_ && out_ == 0) delete this;
}

void Keeping::leave(std::unique_ptr<Keeping>&& self, Worker&& worker) noexcept {
  if (self->out_ == 0) return;
  self->left_.emplace(std::move(worker));
  (void)self.release();
}

void Keeping::put_back(Frame& frame) noexcept {
  frame.next_free = std::exchange(free_, &frame);
  --out_;
}

}  // namespace starling::btl::ucx
