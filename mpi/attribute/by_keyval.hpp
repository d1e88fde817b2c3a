// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Attributes of an object by the number of a keyval, which has to be one for such objects.
/// Layer: mpi. MPI 5.0 section 7.7.
///
/// Threads:   under the runtime's lock.
/// Errors:    MPI_ERR_KEYVAL; what a callback returns is passed on.

#include "mpi/attribute/attributes.hpp"

namespace starling::mpi {

/// Notes that there is no such keyval for objects of this kind: MPI_ERR_KEYVAL.
[[nodiscard, gnu::cold]] int no_keyval(int keyval);
/// To set attributes with; null: there is none for objects of this kind.
[[nodiscard]] KeyvalPtr keyval_for(Kind kind, int keyval);
/// One that was freed exists as long as it has attributes.
[[nodiscard]] bool keyval_exists(Kind kind, int keyval) noexcept;

template <class T>
[[nodiscard]] int set_attribute(T& object, int keyval, void* value, Kind kind) {
  const KeyvalPtr found = keyval_for(kind, keyval);
  return found == nullptr ? no_keyval(keyval) : object.attributes.set(object.handle(), found, value);
}

/// A keyval that has been freed still gives the attributes that were set with it.
template <class T>
[[nodiscard]] int get_attribute(T& object, int keyval, void* value, int* flag, Kind kind) {
  const auto found = object.attributes.get(keyval);
  if (!found && keyval_for(kind, keyval) == nullptr) return no_keyval(keyval);
  *flag = found ? 1 : 0;
  if (found) *static_cast<void**>(value) = *found;
  return MPI_SUCCESS;
}

/// Only a delete callback's refusal makes the call fail (section 7.7.2), not an attribute that is not there:
/// programs delete without having looked.
template <class T>
[[nodiscard]] int erase_attribute(T& object, int keyval, Kind kind) {
  return keyval_exists(kind, keyval) ? object.attributes.erase(object.handle(), keyval) : no_keyval(keyval);
}

}  // namespace starling::mpi
