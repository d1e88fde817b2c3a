// SPDX-License-Identifier: BSD-3-Clause
// Datatype objects: facts that callers ask for often are copied out of the shape when the object is made.
#include "mpi/datatype/datatype.hpp"

#include <algorithm>
#include <limits>

#include "core/expects.hpp"
#include "mpi/datatype/program.hpp"

namespace starling::mpi {

std::size_t Contents::count(Sort sort) const noexcept {
  std::size_t total = 0;
  for (const Argument& argument : arguments) total += argument.sort == sort ? argument.values.size() : 0;
  return total;
}

bool Contents::needs_large_counts() const noexcept {
  return std::any_of(arguments.begin(), arguments.end(), [](const Argument& argument) {
    return argument.sort == Sort::count &&
           std::any_of(argument.values.begin(), argument.values.end(), [](std::int64_t value) {
             return value > std::numeric_limits<int>::max() || value < std::numeric_limits<int>::min();
           });
  });
}

Datatype::Datatype(ShapePtr shape)
    : shape_(std::move(shape)), size_(shape_->map.node->size), extent_(shape_->ub - shape_->lb) {
  contiguous_ = size_ == 0 || (shape_->map.node->dense && shape_->true_lb() == 0 &&
                               static_cast<std::int64_t>(size_) == extent_);
}

Datatype::~Datatype() = default;

void Datatype::commit() {
  if (program_ == nullptr) program_ = Program::compile(shape_->map, extent_);
}

std::int64_t Datatype::span_bytes(std::uint64_t count) const noexcept {
  if (count == 0 || size_ == 0) return 0;
  const auto last = static_cast<std::int64_t>(count - 1) * extent_;
  return true_extent() + (last < 0 ? -last : last);
}

std::int64_t Datatype::gap(std::uint64_t count) const noexcept {
  if (count == 0 || size_ == 0) return 0;
  return true_lb() + std::min(std::int64_t{0}, static_cast<std::int64_t>(count - 1) * extent_);
}

void Datatype::pack(const void* base, std::uint64_t count, std::uint64_t offset, std::byte* to,
                    std::size_t bytes) const noexcept {
  expects(program_ != nullptr, "pack of a datatype that is not committed");
  program_->pack(base, count, offset, to, bytes);
}

void Datatype::unpack(void* base, std::uint64_t count, std::uint64_t offset, const std::byte* from,
                      std::size_t bytes) const noexcept {
  expects(program_ != nullptr, "unpack of a datatype that is not committed");
  program_->unpack(base, count, offset, from, bytes);
}

pml::Buffer Datatype::laid_out(void* base, std::uint64_t count) const noexcept {
  pml::Buffer result;
  result.bytes = size_ * count;
  if (count == 1 && shape_->map.node->dense) {
    // One element without gaps needs no layout, wherever it begins.
    result.base = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(base) +
                                          static_cast<std::uintptr_t>(true_lb()));
    return result;
  }
  result.base = base;
  result.count = count;
  result.layout = this;
  return result;
}

std::string Datatype::describe() const {
  return program_ == nullptr ? "not committed" : program_->describe();
}

}  // namespace starling::mpi
