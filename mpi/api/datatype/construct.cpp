// SPDX-License-Identifier: BSD-3-Clause
// Constructors of datatypes, commit, duplicate and free. Layer: mpi. MPI 5.0
// sections 5.1.2, 5.1.7, 5.1.9, 5.1.10.
#include <algorithm>
#include <optional>
#include <string>

#include "mpi/api/datatype/common.hpp"
#include "mpi/datatype/f90.hpp"

namespace starling::mpi::api {
namespace {

/// Block lengths and displacements, as most constructors take them.
struct Blocks {
  std::vector<std::int64_t> lengths, displacements;

  [[nodiscard]] int read(MPI_Count count, IntArray block_lengths, IntArray places) {
    if (const int code = copy_array("array_of_blocklengths", block_lengths, count, lengths);
        code != MPI_SUCCESS)
      return code;
    return copy_array("array_of_displacements", places, count, displacements);
  }
  /// Entry `from` becomes entry `to`.
  void keep(std::size_t from, std::size_t to) {
    lengths[to] = lengths[from];
    displacements[to] = displacements[from];
  }
  void shorten(std::size_t count) {
    lengths.resize(count);
    displacements.resize(count);
  }
};

int bad_type(const char* name, const std::string& what) {
  return error(MPI_ERR_TYPE, std::string(name) + what);
}

/// MPI_LB and MPI_UB, old names of mpi.h: values of the ABI's block for datatypes that no datatype has.
constexpr HandleBits kLowerMark = 0x3fe, kUpperMark = 0x3ff;

/// The bounds that such entries of a struct set (MPI 2.2, 4.1.6). They carry no data.
class Marks {
 public:
  /// False for an entry that is a datatype.
  [[nodiscard]] bool take(HandleBits entry, std::int64_t blocks, std::int64_t displacement) {
    if (entry != kLowerMark && entry != kUpperMark) return false;
    if (blocks <= 0) return true;  // a mark of no blocks is none
    if (entry == kLowerMark) {
      lb_ = std::min(displacement, lb_.value_or(displacement));
    } else {
      ub_ = std::max(displacement, ub_.value_or(displacement));
    }
    return true;
  }
  /// The type with these bounds; where none is set, its own stays.
  [[nodiscard]] NewType apply(NewType type) const {
    if (!type || (!lb_ && !ub_)) return type;
    const std::int64_t lb = lb_.value_or((*type)->lb());
    std::int64_t extent = 0;
    if (__builtin_sub_overflow(ub_.value_or((*type)->ub()), lb, &extent))
      return fail(Errc::bad_parameter, "datatype", "the bounds of MPI_LB and MPI_UB are too far apart");
    return make_resized(lb, extent, **type);
  }

 private:
  std::optional<std::int64_t> lb_, ub_;
};

}  // namespace

int Type_contiguous(MPI_Count count, Datatype& oldtype, MPI_Datatype* newtype) {
  return give(make_contiguous(count, oldtype), newtype);
}

int Type_vector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, Datatype& oldtype,
                MPI_Datatype* newtype) {
  return give(make_vector(count, blocklength, stride, oldtype), newtype);
}

int Type_create_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, Datatype& oldtype,
                        MPI_Datatype* newtype) {
  return give(make_hvector(count, blocklength, stride, oldtype), newtype);
}

int Type_indexed(MPI_Count count, IntArray array_of_blocklengths, IntArray array_of_displacements,
                 Datatype& oldtype, MPI_Datatype* newtype) {
  Blocks blocks;
  if (const int code = blocks.read(count, array_of_blocklengths, array_of_displacements); code != MPI_SUCCESS)
    return code;
  return give(make_indexed(blocks.lengths, blocks.displacements, oldtype), newtype);
}

int Type_create_hindexed(MPI_Count count, IntArray array_of_blocklengths, IntArray array_of_displacements,
                         Datatype& oldtype, MPI_Datatype* newtype) {
  Blocks blocks;
  if (const int code = blocks.read(count, array_of_blocklengths, array_of_displacements); code != MPI_SUCCESS)
    return code;
  return give(make_hindexed(blocks.lengths, blocks.displacements, oldtype), newtype);
}

int Type_create_indexed_block(MPI_Count count, MPI_Count blocklength, IntArray array_of_displacements,
                              Datatype& oldtype, MPI_Datatype* newtype) {
  std::vector<std::int64_t> places;
  if (const int code = copy_array("array_of_displacements", array_of_displacements, count, places);
      code != MPI_SUCCESS)
    return code;
  return give(make_indexed_block(blocklength, places, oldtype), newtype);
}

int Type_create_hindexed_block(MPI_Count count, MPI_Count blocklength, IntArray array_of_displacements,
                               Datatype& oldtype, MPI_Datatype* newtype) {
  std::vector<std::int64_t> places;
  if (const int code = copy_array("array_of_displacements", array_of_displacements, count, places);
      code != MPI_SUCCESS)
    return code;
  return give(make_hindexed_block(blocklength, places, oldtype), newtype);
}

int Type_create_struct(MPI_Count count, IntArray array_of_blocklengths, IntArray array_of_displacements,
                       const MPI_Datatype array_of_types[], MPI_Datatype* newtype) {
  Blocks blocks;
  if (const int code = blocks.read(count, array_of_blocklengths, array_of_displacements); code != MPI_SUCCESS)
    return code;
  if (count > 0 && array_of_types == nullptr)
    return error(MPI_ERR_ARG, "array_of_types is NULL, expected an array");
  Marks marks;
  std::vector<const Datatype*> types;
  types.reserve(blocks.lengths.size());
  for (std::size_t i = 0; i < blocks.lengths.size(); ++i) {
    const std::int64_t length = blocks.lengths[i], displacement = blocks.displacements[i];
    if (marks.take(as_bits(array_of_types[i]), length, displacement)) continue;
    const Datatype* const type = find_datatype(array_of_types[i]);
    if (type == nullptr) {
      return bad_type("array_of_types", "[" + std::to_string(i) + "] is " +
                                            (array_of_types[i] == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL"
                                                                                    : "no live datatype") +
                                            ", expected a datatype");
    }
    blocks.keep(i, types.size());
    types.push_back(type);
  }
  blocks.shorten(types.size());
  return give(marks.apply(make_struct(blocks.lengths, blocks.displacements, types)), newtype);
}

int Type_create_resized(Datatype& oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype* newtype) {
  return give(make_resized(lb, extent, oldtype), newtype);
}

int Type_dup(Datatype& oldtype, MPI_Datatype* newtype) {
  *newtype = MPI_DATATYPE_NULL;  // what a program finds after a copy callback has failed
  auto made = make_dup(oldtype);
  if (!made) return error(MPI_ERR_ARG, made.error().detail);
  Ref<Datatype> copy = std::move(*made);
  if (const int code = copy->attributes.copy_from(oldtype.handle(), oldtype.attributes); code != MPI_SUCCESS)
    return code;
  return give(std::move(copy), newtype);
}

int Type_commit(MPI_Datatype* datatype) {
  Datatype* const type = find_datatype(*datatype);
  if (type == nullptr) return bad_type("datatype", " is no live datatype");
  type->commit();
  return MPI_SUCCESS;
}

int Type_free(MPI_Datatype* datatype) {
  Datatype* const type = find_datatype(*datatype);
  if (type == nullptr) return bad_type("datatype", " is no live datatype");
  if (type->predefined())
    return bad_type("datatype", " is " + type->name + ", predefined types cannot be freed");
  if (is_f90(type->contents().combiner)) {
    return bad_type("datatype", " was made by MPI_Type_create_f90_*, such types cannot be freed");
  }
  if (const int code = type->attributes.clear(type->handle()); code != MPI_SUCCESS) return code;
  tables().datatype.remove(type->handle());
  type->drop();
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
