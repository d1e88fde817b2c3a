// SPDX-License-Identifier: BSD-3-Clause
// The messages of failed argument checks: argument, value, what was expected. Layer: mpi.

#include "mpi/api/checks.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <string>

#include "mpi/error.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/world/world.hpp"

namespace starling::mpi::check {
namespace {

struct KindText {
  const char* null_name;
  const char* noun;
  int error_class;
};

KindText text_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::comm: return {"MPI_COMM_NULL", "communicator", MPI_ERR_COMM};
    case Kind::group: return {"MPI_GROUP_NULL", "group", MPI_ERR_GROUP};
    case Kind::datatype: return {"MPI_DATATYPE_NULL", "datatype", MPI_ERR_TYPE};
    case Kind::op: return {"MPI_OP_NULL", "reduction operation", MPI_ERR_OP};
    case Kind::request: return {"MPI_REQUEST_NULL", "request", MPI_ERR_REQUEST};
    case Kind::info: return {"MPI_INFO_NULL", "info object", MPI_ERR_INFO};
    case Kind::errhandler: return {"MPI_ERRHANDLER_NULL", "error handler", MPI_ERR_ERRHANDLER};
    case Kind::session: return {"MPI_SESSION_NULL", "session", MPI_ERR_SESSION};
    case Kind::message: return {"MPI_MESSAGE_NULL", "message", MPI_ERR_REQUEST};
    case Kind::win: return {"MPI_WIN_NULL", "window", MPI_ERR_WIN};
    case Kind::file: return {"MPI_FILE_NULL", "file", MPI_ERR_FILE};
  }
  return {"null", "object", MPI_ERR_ARG};
}

HandleBits null_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::comm: return as_bits(MPI_COMM_NULL);
    case Kind::group: return as_bits(MPI_GROUP_NULL);
    case Kind::datatype: return as_bits(MPI_DATATYPE_NULL);
    case Kind::op: return as_bits(MPI_OP_NULL);
    case Kind::request: return as_bits(MPI_REQUEST_NULL);
    case Kind::info: return as_bits(MPI_INFO_NULL);
    case Kind::errhandler: return as_bits(MPI_ERRHANDLER_NULL);
    case Kind::session: return as_bits(MPI_SESSION_NULL);
    case Kind::message: return as_bits(MPI_MESSAGE_NULL);
    case Kind::win: return as_bits(MPI_WIN_NULL);
    case Kind::file: return as_bits(MPI_FILE_NULL);
  }
  return 0;
}

/// Why a predefined communicator is not there: the user has written its name, not a number.
int no_world(const char* argument, HandleBits bits) {
  const bool is_world = bits == as_bits(MPI_COMM_WORLD);
  std::string text = std::string(argument) + (is_world ? " is MPI_COMM_WORLD" : " is MPI_COMM_SELF");
  if (world().finalized) {
    text += ", which has ended with MPI_Finalize";
  } else if (registry().active.load(std::memory_order_relaxed)) {
    text +=
        ", which only MPI_Init makes, and this program has opened sessions alone; expected a communicator "
        "made from a group of the session (MPI_Comm_create_from_group), or MPI_Init first";
  } else {
    text += ", which does not exist before MPI_Init; expected MPI_Init first";
  }
  return error(MPI_ERR_COMM, text);
}

std::string is(const char* argument, long long value) {
  return std::string(argument) + " is " + std::to_string(value);
}

std::string element_text(const char* array, std::uint32_t index) {
  return std::string(array) + "[" + std::to_string(index) + "]";
}

std::string ranks(const Comm& comm) { return "0.." + std::to_string(comm.peer_count() - 1); }

/// `count`, or 0 if nobody is in the list.
MPI_Count if_any(std::span<const int> neighbors, MPI_Count count) noexcept {
  const auto exists = [](int rank) { return rank != coll::kNobody; };
  return std::any_of(neighbors.begin(), neighbors.end(), exists) ? count : 0;
}

}  // namespace

MPI_Count received(const Comm& comm, MPI_Count count) noexcept {
  return if_any(comm.topology->neighbors().sources, count);
}

MPI_Count sent(const Comm& comm, MPI_Count count) noexcept {
  return if_any(comm.topology->neighbors().destinations, count);
}

int not_active() {
  if (world().finalized)
    return error(MPI_ERR_OTHER, "MPI has ended: MPI_Finalize was called before, and no session is open");
  return error(MPI_ERR_OTHER, "MPI is not initialised: call MPI_Init or MPI_Session_init first");
}

int not_covered() {
  return error(MPI_ERR_UNSUPPORTED_OPERATION,
               "Starling does not implement this function yet (starling-info lists the others)");
}

int bad_handle(Kind kind, const char* argument, HandleBits bits) {
  const KindText text = text_of(kind);
  if (bits == null_of(kind)) {
    return error(text.error_class,
                 std::string(argument) + " is " + text.null_name + ", expected a " + text.noun);
  }
  if (kind == Kind::comm && (bits == as_bits(MPI_COMM_WORLD) || bits == as_bits(MPI_COMM_SELF)))
    return no_world(argument, bits);
  std::array<char, 24> hex{};
  std::snprintf(hex.data(), hex.size(), "0x%llx", static_cast<unsigned long long>(bits));
  return error(text.error_class, std::string(argument) + " is " + hex.data() + ", which is no " + text.noun +
                                     ", or one that has been freed");
}

int wrong_errhandler(const char* argument, Kind wanted) {
  return error(MPI_ERR_ERRHANDLER, std::string(argument) +
                                       " was made for another kind of object, expected one for a " +
                                       text_of(wanted).noun);
}

int not_committed(const char* argument, const Datatype&) {
  return error(MPI_ERR_TYPE, std::string(argument) +
                                 " has not been committed, expected MPI_Type_commit before communication");
}

int bad_count(const char* argument, MPI_Count value) {
  return error(MPI_ERR_COUNT, is(argument, value) + ", expected 0 or more");
}

int uncountable(const char* argument, MPI_Count value, const Datatype& datatype) {
  return error(MPI_ERR_COUNT, is(argument, value) + ", of " + std::to_string(datatype.size()) +
                                  " bytes each: more bytes than 63 bits count");
}

int bad_received_count(const char* argument, MPI_Count value, const void* buffer) {
  const bool managed = buffer == MPIX_BUFFER_LIBRARY;
  if (value == MPIX_COUNT_ANY && managed) return MPI_SUCCESS;
  if (value == MPIX_COUNT_ANY) {
    return error(MPI_ERR_COUNT,
                 std::string(argument) + " is MPIX_COUNT_ANY, which goes with MPIX_BUFFER_LIBRARY only");
  }
  if (!managed) return bad_count(argument, value);
  return error(MPI_ERR_COUNT, is(argument, value) + ", expected 0 or more, or MPIX_COUNT_ANY");
}

int bad_length(const char* argument, int value) {
  return error(MPI_ERR_ARG, is(argument, value) + ", expected 0 or more");
}

int no_topology() {
  return error(MPI_ERR_TOPOLOGY, "comm has no topology, expected one of MPI_Cart_create or its like");
}

int null_argument(const char* argument) {
  return error(MPI_ERR_ARG, std::string(argument) + " is NULL, expected an address");
}

int bad_dest(const char* argument, int value, const Comm& comm) {
  return error(MPI_ERR_RANK, is(argument, value) + ", expected " + ranks(comm) + " or MPI_PROC_NULL");
}

int bad_source(const char* argument, int value, const Comm& comm) {
  return error(MPI_ERR_RANK,
               is(argument, value) + ", expected " + ranks(comm) + ", MPI_ANY_SOURCE or MPI_PROC_NULL");
}

int bad_root(const char* argument, int value, const Comm& comm) {
  return error(MPI_ERR_ROOT, is(argument, value) + ", expected " + ranks(comm) +
                                 (comm.inter() ? ", MPI_ROOT or MPI_PROC_NULL" : ""));
}

int bad_tag(const char* argument, int value, bool any) {
  return error(MPI_ERR_TAG, is(argument, value) + ", expected 0.." +
                                std::to_string(std::numeric_limits<int>::max()) +
                                (any ? " or MPI_ANY_TAG" : ""));
}

int bad_buffer(const char* argument, const void* buffer, MPI_Count count, const Datatype* datatype,
               bool in_place_allowed) {
  if (buffer == MPI_IN_PLACE) {
    if (in_place_allowed) return MPI_SUCCESS;
    return error(MPI_ERR_BUFFER, std::string(argument) + " is MPI_IN_PLACE, which cannot be used here");
  }
  if (buffer == MPI_BUFFER_AUTOMATIC) {
    return error(MPI_ERR_BUFFER,
                 std::string(argument) + " is MPI_BUFFER_AUTOMATIC, which is only for attaching buffers");
  }
  if (buffer == MPIX_BUFFER_LIBRARY) {
    return error(MPI_ERR_BUFFER,
                 std::string(argument) +
                     " is MPIX_BUFFER_LIBRARY, which only point-to-point receives take (mpix.h lists them)");
  }
  if (buffer != nullptr) return MPI_SUCCESS;
  // MPI_BOTTOM is NULL: right with a type whose displacements are addresses.
  if (count == 0 || datatype == nullptr || datatype->size() == 0 || datatype->absolute()) return MPI_SUCCESS;
  return error(MPI_ERR_BUFFER, std::string(argument) + " is NULL, expected the address of " +
                                   std::to_string(count) + " elements");
}

bool asks_library(const void* buffer, MPI_Count count, const Datatype& datatype, bool null_asks) noexcept {
  if (buffer == MPIX_BUFFER_LIBRARY) return true;
  const bool dense =
      datatype.shape()->predefined != 0 || (datatype.contiguous() && datatype.lb() == 0 &&
                                            datatype.extent() == static_cast<std::int64_t>(datatype.size()));
  return null_asks && buffer == nullptr && count > 0 && datatype.size() != 0 && dense && !datatype.absolute();
}

int bad_buffer(const char* argument, const void* buffer, IntArray, const Datatype*, bool in_place_allowed) {
  return bad_buffer(argument, buffer, 0, nullptr, in_place_allowed);
}

int bad_buffer(const char* argument, const void* buffer, MPI_Count, std::nullptr_t, bool in_place_allowed) {
  return bad_buffer(argument, buffer, 0, static_cast<const Datatype*>(nullptr), in_place_allowed);
}

int bad_array(const char* argument, IntArray values, std::uint32_t length) {
  if (values || length == 0) return MPI_SUCCESS;
  return null_argument(argument);
}

int bad_counts(const char* argument, IntArray counts, std::uint32_t length) {
  if (const int code = bad_array(argument, counts, length); code != MPI_SUCCESS) return code;
  for (std::uint32_t index = 0; index < length; ++index) {
    if (counts[index] < 0) [[unlikely]]
      return bad_count(element_text(argument, index).c_str(), counts[index]);
  }
  return MPI_SUCCESS;
}

int bad_counts(const char* argument, IntArray counts, std::uint32_t length, const Datatype& datatype) {
  if (const int code = bad_counts(argument, counts, length); code != MPI_SUCCESS) return code;
  for (std::uint32_t index = 0; index < length; ++index) {
    if (!countable(counts[index], datatype)) [[unlikely]]
      return uncountable(element_text(argument, index).c_str(), counts[index], datatype);
  }
  return MPI_SUCCESS;
}

int bad_types(const char* argument, const MPI_Datatype types[], IntArray counts, std::uint32_t length) {
  if (types == nullptr) return length == 0 ? MPI_SUCCESS : null_argument(argument);
  for (std::uint32_t index = 0; index < length; ++index) {
    if (types[index] == MPI_DATATYPE_NULL && counts[index] == 0) continue;
    const Datatype* const type = find_datatype(types[index]);
    const bool good = type != nullptr && committed(*type);
    if (good && countable(counts[index], *type)) [[likely]]
      continue;
    const std::string element = element_text(argument, index);
    if (good) return uncountable(("the count beside " + element).c_str(), counts[index], *type);
    if (type == nullptr) return bad_handle(Kind::datatype, element.c_str(), as_bits(types[index]));
    return not_committed(element.c_str(), *type);
  }
  return MPI_SUCCESS;
}

int narrow(const char* argument, MPI_Count value, int* result, bool undefined) {
  if (value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max()) {
    *result = static_cast<int>(value);
    return MPI_SUCCESS;
  }
  if (undefined) {
    *result = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  return error(MPI_ERR_VALUE_TOO_LARGE,
               is(argument, value) + ", which does not fit into an int: use the _c function");
}

}  // namespace starling::mpi::check
