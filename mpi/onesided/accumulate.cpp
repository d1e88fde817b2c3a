// SPDX-License-Identifier: BSD-3-Clause
// Accumulates. What is hard: elements may lie anywhere, at any alignment, and an element's stripe is held
// while it is worked on, and no longer; also where it has to be copied here and back. Layer: mpi.
// docs/design/onesided.md

#include "mpi/onesided/accumulate.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "mpi/error.hpp"
#include "mpi/onesided/cross_memory.hpp"
#include "mpi/onesided/elements.hpp"
#include "mpi/onesided/gaps.hpp"
#include "mpi/onesided/operations.hpp"
#include "mpi/onesided/quick.hpp"
#include "mpi/onesided/rows.hpp"
#include "mpi/onesided/stripes.hpp"
#include "mpi/onesided/work.hpp"

namespace starling::mpi {
namespace {

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
  const std::uint64_t bytes = data.bytes(), room = place.count * place.type.size();
  if (bytes == 0 && room == 0) return MPI_SUCCESS;  // nothing is of no type
  const Ref<Datatype> own = only_element(data.type);
  if (!own && bytes != 0) return several_elements(which, data.type);
  if (own && own->basic() != element.basic()) {
    return error(MPI_ERR_TYPE, std::string(which) + " consists of " + own->name + ", the target of " +
                                   element.name + "; expected the same");
  }
  if (bytes == room) return MPI_SUCCESS;
  return error(MPI_ERR_TRUNCATE, win.label(static_cast<std::uint32_t>(place.rank)) + ": " + which + " has " +
                                     std::to_string(bytes) + " bytes, the target's count and type " +
                                     std::to_string(room));
}

void work_on(Work& work, const Data& origin, const Data* result, const Spot& place, std::uint64_t offset,
             const Datatype& element, bool with_origin) {
  const std::uint64_t elements = elements_of(place.type, element, place.count);
  const bool row = !with_origin || lies_in_row(origin.type, element.basic());
  const std::vector<std::byte> in =
      row ? std::vector<std::byte>() : gather_row(origin, element.basic(), elements);
  const bool result_row = result == nullptr || lies_in_row(result->type, element.basic());
  std::vector<std::byte> out(result_row ? 0 : elements * work.extent());
  const std::byte* from = !with_origin ? nullptr
                          : row        ? static_cast<const std::byte*>(origin.base)
                                       : in.data();
  std::byte* to = result == nullptr ? nullptr
                  : result_row      ? static_cast<std::byte*>(result->base)
                                    : out.data();
  if (lies_in_row(place.type, element.basic())) {
    work.run(offset, from, to, elements);
  } else {
    GapWork gaps(work, from, to, elements);
    each_series(place.type, element.basic(), place.count,
                [&](const Runs& series) { gaps.add(offset, series); });
    gaps.finish();
  }
  if (!result_row) scatter_row(out, *result, element.basic());
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

/// One predefined type everywhere, without padding, in mapped memory: what most accumulates are. False:
/// nothing has been done, and accumulate() looks closer.
bool accumulate_quickly(Win& win, const Data& origin, const Data* result, const Spot& place, const Op& op) {
  const Datatype& type = place.type;
  const auto is_like_target = [&](const Data& data) {
    return &data.type == &type && data.count == place.count;
  };
  const bool with_origin = op.code() != OpCode::no_op;
  if (with_origin ? !is_like_target(origin) : result == nullptr) return false;
  if (result != nullptr && !is_like_target(*result)) return false;
  if (!type.contiguous() || !accumulates(op, type)) return false;
  const std::byte* const at = quick_place(win, place.rank, place.disp, place.count * type.size());
  if (at == nullptr) return false;
  const auto rank = static_cast<std::uint32_t>(place.rank);
  Work work(win, rank, op.code(), type.basic());
  work.run(static_cast<std::uint64_t>(at - win.target(rank).base),
           with_origin ? static_cast<const std::byte*>(origin.base) : nullptr,
           result != nullptr ? static_cast<std::byte*>(result->base) : nullptr, place.count);
  return true;
}

}  // namespace

int accumulate(Win& win, const Data& origin, const Data* result, const Spot& place, const Op& op) {
  if (accumulate_quickly(win, origin, result, place, op)) [[likely]]
    return MPI_SUCCESS;
  const bool with_origin = op.code() != OpCode::no_op;
  if (!with_origin && result == nullptr) {
    return error(
        MPI_ERR_OP,
        "MPI_NO_OP only reads, so it is for MPI_Get_accumulate, MPI_Rget_accumulate and MPI_Fetch_and_op");
  }
  Located found;
  if (const int rc = locate(win, place, found); rc != MPI_SUCCESS || place.rank == MPI_PROC_NULL) return rc;
  const bool quick = place.type.basic() != Basic::none;
  const Ref<Datatype> single = quick ? Ref<Datatype>() : only_element(place.type);
  if (!quick && !single) {
    return place.count * place.type.size() == 0 ? MPI_SUCCESS
                                                : several_elements("target_datatype", place.type);
  }
  const Datatype& element = quick ? place.type : *single;
  const Basic basic = accumulated_as(op, element);
  if (basic == Basic::none) return error(MPI_ERR_OP, why_not_accumulate(op, element));
  // The same predefined type everywhere needs no closer look.
  if (with_origin && (&origin.type != &place.type || origin.count != place.count)) {
    if (const int rc = check_same(win, "origin_datatype", origin, element, place); rc != MPI_SUCCESS)
      return rc;
  }
  if (result != nullptr && (&result->type != &place.type || result->count != place.count)) {
    if (const int rc = check_same(win, "result_datatype", *result, element, place); rc != MPI_SUCCESS)
      return rc;
  }
  if (found.target == nullptr) return MPI_SUCCESS;
  if (win.overlaps) [[unlikely]]
    win.overlaps->note(Overlaps::Kind::accumulate, found, place);
  if (found.target->path == Path::message) {
    message::accumulate(win, origin, result, place, found, op.code(), basic);
    return MPI_SUCCESS;
  }
  Work work(win, found.rank, op.code(), basic);
  work_on(work, origin, result, place, found.offset, element, with_origin);
  return work.failed() == 0 ? MPI_SUCCESS : copy_error(win, found.rank, work.failed());
}

namespace {

/// In private memory of another process; it goes back if the values were equal. 0 or errno.
int swap_in_copy(Win& win, const Located& found, std::size_t bytes, const void* origin, const void* compare,
                 void* result) {
  if (win.active_messages != nullptr) {
    const ActiveMessages::Outcome done =
        win.active_messages->swap(found.rank, found.offset, bytes, origin, compare, result);
    if (done) return *done;
  }
  std::array<std::byte, Work::kMostElement> copy;
  const std::span<std::byte> value(copy.data(), bytes);
  const std::uint64_t address = found.target->address + found.offset;
  const CrossMemory there = CrossMemory::of(*found.target);
  const Stripe stripe(win, found.rank, found.offset);
  if (const int error = there.move(Direction::get, value, address); error != 0) return error;
  std::memcpy(result, copy.data(), bytes);
  if (std::memcmp(copy.data(), compare, bytes) != 0) return 0;
  std::memcpy(copy.data(), origin, bytes);
  return there.move(Direction::put, value, address);
}

}  // namespace

int compare_and_swap(Win& win, const void* origin, const void* compare, void* result, const Spot& place) {
  Located found;
  if (const int rc = locate(win, place, found); rc != MPI_SUCCESS || place.rank == MPI_PROC_NULL) return rc;
  if (!swaps(place.type)) {
    return error(MPI_ERR_TYPE, "datatype " + place.type.name +
                                   " cannot be compared and swapped; expected a predefined integer, logical "
                                   "or byte type");
  }
  if (win.overlaps) [[unlikely]]
    win.overlaps->note(Overlaps::Kind::accumulate, found, place);
  const std::size_t bytes = place.type.size();
  if (found.target->path == Path::message) {
    message::compare_and_swap(win, origin, compare, result, place, found);
    return MPI_SUCCESS;
  }
  if (found.target->path != Path::direct) {
    const int error = swap_in_copy(win, found, bytes, origin, compare, result);
    return error == 0 ? MPI_SUCCESS : copy_error(win, found.rank, error);
  }
  std::byte* const at = found.target->at(found.offset);
  const Stripe stripe(win, found.rank, found.offset);
  std::memcpy(result, at, bytes);
  if (std::memcmp(at, compare, bytes) == 0) std::memcpy(at, origin, bytes);
  return MPI_SUCCESS;
}

}  // namespace starling::mpi
