// SPDX-License-Identifier: BSD-3-Clause
// How a datatype was made. Layer: mpi. MPI 5.0 section 5.1.13.
//
// A type whose counts all fit in an int is described as if the constructor with int counts had made it,
// whichever did: that form can be decoded by every caller. Counts beyond an int are reported as large counts.
#include <string>

#include "mpi/api/datatype/common.hpp"

namespace starling::mpi::api {
namespace {

using Sort = Contents::Sort;

struct Numbers {
  MPI_Count integers = 0, addresses = 0, large_counts = 0, types = 0;
};

Numbers numbers_of(const Contents& contents) {
  Numbers numbers;
  const auto integers = static_cast<MPI_Count>(contents.count(Sort::integer));
  const auto counts = static_cast<MPI_Count>(contents.count(Sort::count));
  const auto addresses = static_cast<MPI_Count>(contents.count(Sort::address));
  numbers.types = static_cast<MPI_Count>(contents.types.size());
  if (contents.needs_large_counts()) {
    numbers.integers = integers;
    numbers.large_counts = counts + addresses;
  } else {
    numbers.integers = integers + counts;
    numbers.addresses = addresses;
  }
  return numbers;
}

int check_room(const char* name, MPI_Count room, MPI_Count needed, const void* array) {
  if (room < needed) {
    return error(MPI_ERR_ARG, std::string(name) + " is " + std::to_string(room) + ", expected at least " +
                                  std::to_string(needed) + " (MPI_Type_get_envelope tells)");
  }
  if (needed > 0 && array == nullptr)
    return error(MPI_ERR_ARG, std::string("the array that ") + name + " belongs to is NULL");
  return MPI_SUCCESS;
}

int named_error() { return error(MPI_ERR_TYPE, "datatype is predefined, only derived types have contents"); }
int large_error() {
  return error(
      MPI_ERR_TYPE,
      "datatype was made with counts that do not fit in an int, expected the _c form of this function");
}

/// Handles of the old types: predefined ones as they are, derived ones as types of the caller's own.
int give_types(const Contents& contents, MPI_Datatype types[]) {
  for (std::size_t i = 0; i < contents.types.size(); ++i) {
    Ref<Datatype> old = object_of(contents.types[i]);
    if (old->handle() != 0) {
      types[i] = as_handle<MPI_Datatype>(old->handle());
      continue;
    }
    if (const int code = give(std::move(old), &types[i]); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace

int Type_get_envelope(Datatype& datatype, int* num_integers, int* num_addresses, int* num_datatypes,
                      int* combiner) {
  if (datatype.contents().needs_large_counts()) return large_error();
  const Numbers numbers = numbers_of(datatype.contents());
  *num_integers = static_cast<int>(numbers.integers);
  *num_addresses = static_cast<int>(numbers.addresses);
  *num_datatypes = static_cast<int>(numbers.types);
  *combiner = static_cast<int>(datatype.contents().combiner);
  return MPI_SUCCESS;
}

int Type_get_envelope_c(Datatype& datatype, MPI_Count* num_integers, MPI_Count* num_addresses,
                        MPI_Count* num_large_counts, MPI_Count* num_datatypes, int* combiner) {
  const Numbers numbers = numbers_of(datatype.contents());
  *num_integers = numbers.integers;
  *num_addresses = numbers.addresses;
  *num_large_counts = numbers.large_counts;
  *num_datatypes = numbers.types;
  *combiner = static_cast<int>(datatype.contents().combiner);
  return MPI_SUCCESS;
}

int Type_get_contents(Datatype& datatype, int max_integers, int max_addresses, int max_datatypes,
                      int array_of_integers[], MPI_Aint array_of_addresses[],
                      MPI_Datatype array_of_datatypes[]) {
  if (datatype.contents().needs_large_counts()) return large_error();
  return Type_get_contents_c(datatype, max_integers, max_addresses, 0, max_datatypes, array_of_integers,
                             array_of_addresses, nullptr, array_of_datatypes);
}

int Type_get_contents_c(Datatype& datatype, MPI_Count max_integers, MPI_Count max_addresses,
                        MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[],
                        MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
                        MPI_Datatype array_of_datatypes[]) {
  const Contents& contents = datatype.contents();
  if (contents.combiner == Combiner::named) return named_error();
  const Numbers needed = numbers_of(contents);
  if (const int code = check_room("max_integers", max_integers, needed.integers, array_of_integers);
      code != MPI_SUCCESS)
    return code;
  if (const int code = check_room("max_addresses", max_addresses, needed.addresses, array_of_addresses);
      code != MPI_SUCCESS)
    return code;
  if (const int code =
          check_room("max_large_counts", max_large_counts, needed.large_counts, array_of_large_counts);
      code != MPI_SUCCESS) {
    return code;
  }
  if (const int code = check_room("max_datatypes", max_datatypes, needed.types, array_of_datatypes);
      code != MPI_SUCCESS)
    return code;
  const bool large = needed.large_counts > 0;
  for (const Contents::Argument& argument : contents.arguments) {
    for (const std::int64_t value : argument.values) {
      if (argument.sort == Sort::integer || (argument.sort == Sort::count && !large)) {
        *array_of_integers++ = static_cast<int>(value);
      } else if (large) {
        *array_of_large_counts++ = value;
      } else {
        *array_of_addresses++ = value;
      }
    }
  }
  return give_types(contents, array_of_datatypes);
}

}  // namespace starling::mpi::api
