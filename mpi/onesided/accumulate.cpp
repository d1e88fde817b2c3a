// SPDX-License-Identifier: BSD-3-Clause
// Accumulates on mapped memory. What is hard: elements may lie anywhere, at any alignment, and an element's
// stripe is held while it is worked on, and no longer. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/accumulate.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "mpi/error.hpp"
#include "mpi/onesided/elements.hpp"
#include "mpi/onesided/stripes.hpp"

namespace starling::mpi {
namespace {

/// The largest element: a pair of long double and int.
constexpr std::size_t kMostElement = 64;

/// One operation on elements of one predefined type at one target.
class Work {
 public:
  Work(const Win& win, std::uint32_t rank, const Op& op, const Datatype& element) noexcept
      : win_(win),
        rank_(rank),
        code_(op.code()),
        info_(info_of(element.basic())),
        kernel_(op.rma_only() ? nullptr : find_kernel(op.code(), element.basic())) {}

  [[nodiscard]] std::size_t extent() const noexcept { return info_.extent; }

  /// `count` elements in a row at `at`, in the target's part. Null: no origin, no result.
  void run(std::byte* at, const std::byte* in, std::byte* out, std::uint64_t count) const noexcept {
    while (count > 0) {
      const auto offset = static_cast<std::uint64_t>(at - win_.target(rank_).base);
      const std::uint64_t left = kStripeBytes - offset % kStripeBytes;
      const std::uint64_t now = std::min<std::uint64_t>(count, (left + extent() - 1) / extent());
      {
        const Stripe stripe(win_, rank_, offset);
        if (out != nullptr) std::memcpy(out, at, now * extent());
        if (code_ == OpCode::replace) std::memcpy(at, in, now * extent());
        if (kernel_ != nullptr) combine(at, in, now);
      }
      at += now * extent();
      if (in != nullptr) in += now * extent();
      if (out != nullptr) out += now * extent();
      count -= now;
    }
  }

 private:
  [[nodiscard]] bool aligned(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) % info_.align == 0;
  }
  void combine(std::byte* at, const std::byte* in, std::uint64_t count) const noexcept {
    if (aligned(at) && aligned(in)) [[likely]] {
      kernel_(in, at, count);
      return;
    }
    alignas(64) std::array<std::byte, kMostElement> one;
    alignas(64) std::array<std::byte, kMostElement> other;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::memcpy(one.data(), in + i * extent(), extent());
      std::memcpy(other.data(), at + i * extent(), extent());
      kernel_(one.data(), other.data(), 1);
      std::memcpy(at + i * extent(), other.data(), extent());
    }
  }

  const Win& win_;
  std::uint32_t rank_;
  OpCode code_;
  const BasicInfo& info_;
  OpKernel kernel_;
};

bool in_a_row(const Datatype& type, const Datatype& element) noexcept {
  return type.contiguous() || &type == &element;
}

/// Elements of `data`, one after the other.
std::vector<std::byte> gathered(const Data& data, const Datatype& element, std::uint64_t elements) {
  const std::size_t extent = info_of(element.basic()).extent;
  std::vector<std::byte> all(elements * extent);
  std::byte* to = all.data();
  const auto* const base = static_cast<const std::byte*>(data.base);
  each_run(data.type, element, data.count, [&](std::int64_t displacement, std::uint64_t count) {
    const std::size_t room = static_cast<std::size_t>(all.data() + all.size() - to);
    const std::size_t bytes = std::min<std::size_t>(count * extent, room);
    if (bytes != 0) std::memcpy(to, base + displacement, bytes);
    to += bytes;
  });
  return all;
}

void scatter(const std::vector<std::byte>& all, const Data& data, const Datatype& element) {
  const std::size_t extent = info_of(element.basic()).extent;
  const std::byte* from = all.data();
  auto* const base = static_cast<std::byte*>(data.base);
  each_run(data.type, element, data.count, [&](std::int64_t displacement, std::uint64_t count) {
    const std::size_t left = static_cast<std::size_t>(all.data() + all.size() - from);
    const std::size_t bytes = std::min<std::size_t>(count * extent, left);
    if (bytes != 0) std::memcpy(base + displacement, from, bytes);
    from += bytes;
  });
}

std::uint64_t elements_of(const Datatype& type, const Datatype& element, std::uint64_t count) noexcept {
  return count * type.size() / element.size();
}

int several_elements(const char* which, const Datatype& type) {
  return error(MPI_ERR_TYPE, std::string(which) + (type.name.empty() ? "" : " " + type.name) +
                                 " consists of several predefined types, expected one of a single one");
}

/// MPI_SUCCESS if `data` consists of the same elements as the target, and as many.
int check_same(const Win& win, const char* which, const Data& data, const Datatype& element,
               const Spot& place) {
  const Ref<Datatype> own = only_element(data.type);
  if (!own) return data.bytes() == 0 ? MPI_SUCCESS : several_elements(which, data.type);
  if (own->basic() != element.basic()) {
    return error(MPI_ERR_TYPE, std::string(which) + " consists of " + own->name + ", the target of " +
                                   element.name + "; expected the same");
  }
  const std::uint64_t room = place.count * place.type.size();
  if (data.bytes() == room) return MPI_SUCCESS;
  return error(MPI_ERR_TRUNCATE, win.label(static_cast<std::uint32_t>(place.rank)) + ": " + which + " has " +
                                     std::to_string(data.bytes()) + " bytes, the target's count and type " +
                                     std::to_string(room));
}

void work_on(const Work& work, const Data& origin, const Data* result, const Spot& place, std::byte* at,
             const Datatype& element, bool with_origin) {
  const std::uint64_t elements = elements_of(place.type, element, place.count);
  const bool row = !with_origin || in_a_row(origin.type, element);
  const std::vector<std::byte> in = row ? std::vector<std::byte>() : gathered(origin, element, elements);
  const bool result_row = result == nullptr || in_a_row(result->type, element);
  std::vector<std::byte> out(result_row ? 0 : elements * work.extent());
  const std::byte* from = !with_origin ? nullptr
                          : row        ? static_cast<const std::byte*>(origin.base)
                                       : in.data();
  std::byte* to = result == nullptr ? nullptr
                  : result_row      ? static_cast<std::byte*>(result->base)
                                    : out.data();
  if (in_a_row(place.type, element)) {
    work.run(at, from, to, elements);
  } else {
    each_run(place.type, element, place.count, [&](std::int64_t displacement, std::uint64_t count) {
      work.run(at + displacement, from, to, count);
      if (from != nullptr) from += count * work.extent();
      if (to != nullptr) to += count * work.extent();
    });
  }
  if (!result_row) scatter(out, *result, element);
}

bool swaps(const Datatype& type) noexcept {
  switch (type.op_class()) {
    case OpClass::c_integer:
    case OpClass::fortran_integer:
    case OpClass::multi_language:
    case OpClass::logical:
    case OpClass::byte: return true;
    default: return false;
  }
}

}  // namespace

int accumulate(Win& win, const Data& origin, const Data* result, const Spot& place, const Op& op) {
  std::byte* at = nullptr;
  if (const int rc = locate(win, place, at); rc != MPI_SUCCESS || at == nullptr) return rc;
  const bool with_origin = op.code() != OpCode::no_op;
  const bool quick = place.type.basic() != Basic::none;
  const Ref<Datatype> found = quick ? Ref<Datatype>() : only_element(place.type);
  if (!quick && !found) {
    return place.count * place.type.size() == 0 ? MPI_SUCCESS
                                                : several_elements("target_datatype", place.type);
  }
  const Datatype& element = quick ? place.type : *found;
  if (std::string why = why_not_accumulate(op, element); !why.empty()) return error(MPI_ERR_OP, why);
  // The same predefined type everywhere needs no closer look.
  if (with_origin && (&origin.type != &place.type || origin.count != place.count)) {
    if (const int rc = check_same(win, "origin_datatype", origin, element, place); rc != MPI_SUCCESS)
      return rc;
  }
  if (result != nullptr && (&result->type != &place.type || result->count != place.count)) {
    if (const int rc = check_same(win, "result_datatype", *result, element, place); rc != MPI_SUCCESS)
      return rc;
  }
  if (place.count * place.type.size() == 0) return MPI_SUCCESS;
  const Work work(win, static_cast<std::uint32_t>(place.rank), op, element);
  work_on(work, origin, result, place, at, element, with_origin);
  return MPI_SUCCESS;
}

int compare_and_swap(Win& win, const void* origin, const void* compare, void* result, const Spot& place) {
  std::byte* at = nullptr;
  if (const int rc = locate(win, place, at); rc != MPI_SUCCESS || at == nullptr) return rc;
  if (!swaps(place.type)) {
    return error(MPI_ERR_TYPE, "datatype " + place.type.name +
                                   " cannot be compared and swapped; expected a predefined integer, logical "
                                   "or byte type");
  }
  const auto rank = static_cast<std::uint32_t>(place.rank);
  const std::size_t bytes = place.type.size();
  const Stripe stripe(win, rank, static_cast<std::uint64_t>(at - win.target(rank).base));
  std::memcpy(result, at, bytes);
  if (std::memcmp(at, compare, bytes) == 0) std::memcpy(at, origin, bytes);
  return MPI_SUCCESS;
}

}  // namespace starling::mpi
