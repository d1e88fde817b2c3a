// SPDX-License-Identifier: BSD-3-Clause
// Fibers by ucontext. What is hard: makecontext() passes ints only, so a pointer goes in two halves.
// Layer: bench.

#include "bench/scale/fiber.hpp"

#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "core/expects.hpp"

namespace starling::scale {
Stacks::Stacks(std::size_t count) : memory_(nullptr), bytes_(count * kBytes) {
  void* const memory =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  expects(memory != MAP_FAILED, "no address space for the stacks of so many processes");
  ::madvise(memory, bytes_, MADV_NOHUGEPAGE);  // one huge page would hold 64 stacks, nearly empty
  memory_ = static_cast<std::byte*>(memory);
}

Stacks::~Stacks() { ::munmap(memory_, bytes_); }

Fiber::Fiber(Stacks& stacks, std::size_t index, std::function<void()> run)
    : stacks_(stacks), stack_(stacks.stack(index)), run_(std::move(run)) {
  ::getcontext(&here_);
  here_.uc_stack.ss_sp = stack_;
  here_.uc_stack.ss_size = Stacks::kBytes;
  here_.uc_link = &stacks_.caller_;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  ::makecontext(&here_, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self));
}

void Fiber::enter(unsigned high, unsigned low) {
  const auto self = reinterpret_cast<Fiber*>((std::uintptr_t{high} << 32) | low);
  self->run_();
  self->ended_ = true;
}

void Fiber::resume() { ::swapcontext(&stacks_.caller_, &here_); }

void Fiber::stop() {
  std::uint64_t far_end = 0;
  std::memcpy(&far_end, stack_, sizeof far_end);
  expects(far_end == 0, "a simulated process needs a longer stack");
  ::swapcontext(&here_, &stacks_.caller_);
}

}  // namespace starling::scale
