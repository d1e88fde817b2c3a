// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Attributes: what users and their libraries cache on communicators, types and windows. Layer: mpi.
/// MPI 5.0 section 7.7.
///
/// A keyval names a pair of callbacks. It stays alive after MPI_Comm_free_keyval as long as some object
/// carries an attribute of it; only then, and not soon, its number is used again.
///
/// Threads:   a set is changed under the runtime's lock; callbacks run under it, too (it is recursive) and
///            may use attributes.
/// Ownership: a set holds references to its keyvals; the values belong to the user.
/// Ordering:  clear() deletes in reverse order of setting, as section 11.2.4 wants it for MPI_COMM_SELF.
/// Errors:    MPI error codes; what a callback returns is passed on.

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mpi.h"
#include "mpi/handle.hpp"

namespace starling::mpi {

/// The callbacks of one kind of object, with the user's extra state.
class Keyval {
 public:
  Keyval(MPI_Comm_copy_attr_function* copy_with, MPI_Comm_delete_attr_function* erase_with,
         void* extra) noexcept;
  Keyval(MPI_Type_copy_attr_function* copy_with, MPI_Type_delete_attr_function* erase_with,
         void* extra) noexcept;
  Keyval(MPI_Win_copy_attr_function* copy_with, MPI_Win_delete_attr_function* erase_with,
         void* extra) noexcept;

  /// Kind::comm, Kind::datatype or Kind::win.
  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] int id() const noexcept { return id_; }

  /// Calls the copy callback; `out` gets the new value if `flag` becomes true.
  int copy(HandleBits from, void* value, void** out, bool* flag) const;
  /// Calls the delete callback.
  int erase(HandleBits object, void* value) const;

 private:
  friend class Keyvals;
  union {
    MPI_Comm_copy_attr_function* comm;
    MPI_Type_copy_attr_function* type;
    MPI_Win_copy_attr_function* win;
  } copy_;
  union {
    MPI_Comm_delete_attr_function* comm;
    MPI_Type_delete_attr_function* type;
    MPI_Win_delete_attr_function* win;
  } erase_;
  void* extra_;
  Kind kind_;
  int id_ = 0;
};

using KeyvalPtr = std::shared_ptr<Keyval>;

/// All keyvals that the user made, by number. One object: keyvals().
class Keyvals {
 public:
  /// Gives it a number. This table outlives it. A number comes again once 64 others have ended after its
  /// keyval, so that programs may make keyvals without end, and those that name an old one are still told.
  [[nodiscard]] int add(std::unique_ptr<Keyval> keyval);
  /// Null if there is none with this number that is still usable for setting.
  [[nodiscard]] KeyvalPtr find(int id) const;
  /// As find(), but finds a released one too, which lives in attributes only. Borrowed.
  [[nodiscard]] const Keyval* find_alive(int id) const noexcept;
  /// Ends its use for setting; attributes that exist keep it alive. Releasing it again changes nothing.
  void release(int id);

 private:
  struct Slot {
    KeyvalPtr usable;     ///< null once released
    const Keyval* alive;  ///< null once the last attribute of a released one has gone
    int later = 0;        ///< number of the slot that was freed next after this free one
  };
  void retire(int id) noexcept;
  [[nodiscard]] const Slot* slot(int id) const noexcept;
  [[nodiscard]] Slot* slot(int id) noexcept { return const_cast<Slot*>(std::as_const(*this).slot(id)); }
  std::vector<Slot> all_;                             ///< index = number - kFirst
  int oldest_free_ = 0, newest_free_ = 0, free_ = 0;  ///< numbers, and how many
  static constexpr int kFirst = 0x10000;
  static constexpr int kFreeKept = 64;
};
/// Made at the first call, kept to the end of the process.
[[nodiscard]] Keyvals& keyvals();

/// The attributes of one object.
class AttributeSet {
 public:
  [[nodiscard]] std::optional<void*> get(int keyval) const noexcept;
  /// Replaces an old value after its delete callback agreed. `object` is the handle of the owner, for the
  /// callbacks.
  int set(HandleBits object, const KeyvalPtr& keyval, void* value);
  /// Nothing to do, and no error, if there is no such attribute.
  int erase(HandleBits object, int keyval);
  /// Fills this empty set from another object's, for MPI_Comm_dup and MPI_Type_dup. After an error this set
  /// may hold a part.
  int copy_from(HandleBits from_object, const AttributeSet& from);
  /// Deletes all, newest first. Stops at the first callback that refuses, with its code; that attribute and
  /// older ones stay.
  int clear(HandleBits object);
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    KeyvalPtr keyval;
    void* value;
  };
  [[nodiscard]] std::size_t position(int keyval) const noexcept;
  std::vector<Entry> entries_;  ///< in the order of setting
};

}  // namespace starling::mpi
