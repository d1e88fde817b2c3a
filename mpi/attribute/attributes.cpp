// SPDX-License-Identifier: BSD-3-Clause
// Attributes and their callbacks. Layer: mpi. MPI 5.0 section 7.7.
//
// Callbacks may set and delete attributes of the same object, so no iterator or reference into a set is kept
// across one.

#include "mpi/attribute/by_keyval.hpp"

#include <string>
#include <utility>

#include "mpi/errhandler/codes.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace starling::mpi {
namespace {

// The ABI's MPI_*_NULL_COPY_FN, MPI_*_NULL_DELETE_FN and MPI_*_DUP_FN are the addresses 0 and 1 for all
// kinds.
template <class Function>
bool is_null(Function* function) noexcept {
  return function == nullptr;
}
template <class Function>
bool is_dup(Function* function) noexcept {
  return reinterpret_cast<std::uintptr_t>(function) == 1;
}

template <class Function, class Handle>
int call_copy(Function* function, Handle from, int id, void* extra, void* value, void** out, bool* flag) {
  *flag = false;
  if (is_null(function)) return MPI_SUCCESS;
  if (is_dup(function)) {
    *out = value;
    *flag = true;
    return MPI_SUCCESS;
  }
  int kept = 0;
  const int code = function(from, id, extra, value, out, &kept);
  *flag = kept != 0;
  return code;
}

template <class Function, class Handle>
int call_erase(Function* function, Handle object, int id, void* value, void* extra) {
  return is_null(function) ? MPI_SUCCESS : function(object, id, value, extra);
}

/// Gives `code` with the meaning that it has for its user, since MPI_Error_string of it says no more.
int refused(const char* what, int keyval, int code) {
  return error(code, std::string("the ") + what + " callback of keyval " + std::to_string(keyval) +
                         " returned " + std::to_string(code) + " (" + error_text(code) + ")");
}

}  // namespace

Keyvals& keyvals() {
  static Keyvals* const instance = new Keyvals;
  return *instance;
}

int no_keyval(int keyval) {
  if (keyval == MPI_KEYVAL_INVALID)
    return error(MPI_ERR_KEYVAL, "keyval is MPI_KEYVAL_INVALID, expected one that exists");
  return error(MPI_ERR_KEYVAL, "keyval is " + std::to_string(keyval) +
                                   ", which does not exist or is for another kind of object");
}

KeyvalPtr keyval_for(Kind kind, int keyval) {
  KeyvalPtr found = keyvals().find(keyval);
  return found != nullptr && found->kind() == kind ? found : nullptr;
}

bool keyval_exists(Kind kind, int keyval) noexcept {
  const Keyval* const found = keyvals().find_alive(keyval);
  return found != nullptr && found->kind() == kind;
}

Keyval::Keyval(MPI_Comm_copy_attr_function* copy_with, MPI_Comm_delete_attr_function* erase_with,
               void* extra) noexcept
    : extra_(extra), kind_(Kind::comm) {
  copy_.comm = copy_with;
  erase_.comm = erase_with;
}
Keyval::Keyval(MPI_Type_copy_attr_function* copy_with, MPI_Type_delete_attr_function* erase_with,
               void* extra) noexcept
    : extra_(extra), kind_(Kind::datatype) {
  copy_.type = copy_with;
  erase_.type = erase_with;
}
Keyval::Keyval(MPI_Win_copy_attr_function* copy_with, MPI_Win_delete_attr_function* erase_with,
               void* extra) noexcept
    : extra_(extra), kind_(Kind::win) {
  copy_.win = copy_with;
  erase_.win = erase_with;
}

int Keyval::copy(HandleBits from, void* value, void** out, bool* flag) const {
  switch (kind_) {
    case Kind::datatype:
      return call_copy(copy_.type, as_handle<MPI_Datatype>(from), id_, extra_, value, out, flag);
    case Kind::win: return call_copy(copy_.win, as_handle<MPI_Win>(from), id_, extra_, value, out, flag);
    default: return call_copy(copy_.comm, as_handle<MPI_Comm>(from), id_, extra_, value, out, flag);
  }
}

int Keyval::erase(HandleBits object, void* value) const {
  switch (kind_) {
    case Kind::datatype: return call_erase(erase_.type, as_handle<MPI_Datatype>(object), id_, value, extra_);
    case Kind::win: return call_erase(erase_.win, as_handle<MPI_Win>(object), id_, value, extra_);
    default: return call_erase(erase_.comm, as_handle<MPI_Comm>(object), id_, value, extra_);
  }
}

const Keyvals::Slot* Keyvals::slot(int id) const noexcept {
  if (id < kFirst || static_cast<std::size_t>(id - kFirst) >= all_.size()) return nullptr;
  return &all_[static_cast<std::size_t>(id - kFirst)];
}

int Keyvals::add(std::unique_ptr<Keyval> keyval) {
  int id = oldest_free_;
  if (free_ > kFreeKept) {
    oldest_free_ = slot(id)->later;
    --free_;
  } else {
    id = kFirst + static_cast<int>(all_.size());
    all_.push_back({nullptr, nullptr});
  }
  keyval->id_ = id;
  slot(id)->alive = keyval.get();
  const auto end = [this](Keyval* last) {
    retire(last->id_);
    delete last;
  };
  slot(id)->usable = KeyvalPtr(keyval.release(), end);
  return id;
}

void Keyvals::retire(int id) noexcept {
  slot(id)->alive = nullptr;
  if (free_++ == 0) {
    oldest_free_ = id;
  } else {
    slot(newest_free_)->later = id;
  }
  newest_free_ = id;
}

KeyvalPtr Keyvals::find(int id) const {
  const Slot* const found = slot(id);
  return found == nullptr ? nullptr : found->usable;
}

const Keyval* Keyvals::find_alive(int id) const noexcept {
  const Slot* const found = slot(id);
  return found == nullptr ? nullptr : found->alive;
}

void Keyvals::release(int id) {
  if (Slot* const found = slot(id); found != nullptr) found->usable.reset();
}

std::size_t AttributeSet::position(int keyval) const noexcept {
  std::size_t index = 0;
  while (index < entries_.size() && entries_[index].keyval->id() != keyval) ++index;
  return index;
}

std::optional<void*> AttributeSet::get(int keyval) const noexcept {
  const std::size_t index = position(keyval);
  if (index == entries_.size()) return std::nullopt;
  return entries_[index].value;
}

int AttributeSet::set(HandleBits object, const KeyvalPtr& keyval, void* value) {
  if (const auto old = get(keyval->id()); old) {
    if (const int code = keyval->erase(object, *old); code != MPI_SUCCESS)
      return refused("delete", keyval->id(), code);
  }
  const std::size_t index = position(keyval->id());
  if (index < entries_.size()) {
    entries_[index].value = value;
  } else {
    entries_.push_back({keyval, value});
  }
  return MPI_SUCCESS;
}

int AttributeSet::erase(HandleBits object, int keyval) {
  const std::size_t before = position(keyval);
  if (before == entries_.size()) return MPI_SUCCESS;
  const Entry entry = entries_[before];
  if (const int code = entry.keyval->erase(object, entry.value); code != MPI_SUCCESS)
    return refused("delete", keyval, code);
  if (const std::size_t index = position(keyval); index < entries_.size()) {
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
  }
  return MPI_SUCCESS;
}

int AttributeSet::copy_from(HandleBits from_object, const AttributeSet& from) {
  const std::vector<Entry> source = from.entries_;
  for (const Entry& entry : source) {
    void* value = nullptr;
    bool flag = false;
    const int code = entry.keyval->copy(from_object, entry.value, &value, &flag);
    if (code != MPI_SUCCESS) return refused("copy", entry.keyval->id(), code);
    if (flag) entries_.push_back({entry.keyval, value});
  }
  return MPI_SUCCESS;
}

int AttributeSet::clear(HandleBits object) {
  while (!entries_.empty()) {
    const int keyval = entries_.back().keyval->id();
    if (const int code = erase(object, keyval); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace starling::mpi
