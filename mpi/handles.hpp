// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  From ABI handles to objects and back, for every kind. Layer: mpi.
///
/// Predefined handles are the ABI's small constants, found in an array per kind; all others are found in a
/// HandleTable. A value that is no live handle of the kind, whatever its bits are, is answered with null.
///
/// Threads:   find() from any thread without a lock. insert(), remove() and define() under the runtime's
///            lock; info, errhandler and session objects can be made before there is a runtime, so their
///            tables have a mutex of their own.
/// Ownership: tables do not own. What the user's handle stands for is one reference: the creator's, dropped
///            by the free call.

#include <array>
#include <atomic>
#include <mutex>
#include <type_traits>

#include "core/expects.hpp"
#include "mpi.h"
#include "mpi/handle.hpp"

namespace starling::mpi {

class Comm;
class Datatype;
class Errhandler;
class File;
class Group;
class Info;
class Message;
class Op;
class Request;
class Session;
class Win;

/// Locks of a table: none where the runtime's lock guards it anyway.
struct NoMutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};

/// Makes the predefined objects that work before MPI is initialised, at their first use; null for a value
/// that is none.
[[nodiscard]] Errhandler* make_predefined_errhandler(HandleBits constant);
[[nodiscard]] Info* make_predefined_info(HandleBits constant);
// These are in tables of their own (mpi/datatype/predefined.hpp, mpi/op/op.hpp, mpi/group/group.hpp).
[[nodiscard]] Datatype* predefined_datatype(HandleBits constant) noexcept;
[[nodiscard]] Op* predefined_op(HandleBits constant) noexcept;
[[nodiscard]] Group* predefined_group(HandleBits constant) noexcept;

/// kFirst and kCount: the block of the ABI's constants that belongs to the kind; its first value is the null
/// handle. kMake: gives the object of a predefined handle that is looked up before it is defined; null for
/// one that does not exist.
template <class T, Kind kKind, HandleBits kFirst, std::size_t kCount, class Mutex = NoMutex,
          auto kMake = nullptr>
class Handles {
 public:
  static constexpr HandleBits kNull = kFirst;
  constexpr Handles() = default;

  [[nodiscard]] T* find(HandleBits handle) const noexcept {
    if (handle < 0x400) {
      const HandleBits index = handle - kFirst;
      if (index >= kCount) return nullptr;
      T* const object = predefined_[index].load(std::memory_order_acquire);
      if constexpr (!std::is_null_pointer_v<decltype(kMake)>) {
        if (object == nullptr) [[unlikely]]
          return make(handle);
      }
      return object;
    }
    return table_.find(handle);
  }
  template <class Handle>
  [[nodiscard]] T* find(Handle* handle) const noexcept {
    return find(reinterpret_cast<HandleBits>(handle));
  }

  /// Makes a handle for a new object; 0 when there are too many.
  HandleBits insert(T* object) {
    const std::scoped_lock lock(mutex_);
    return table_.insert(object);
  }
  void remove(HandleBits handle) {
    const std::scoped_lock lock(mutex_);
    table_.remove(handle);
  }
  /// As remove(), for pooled objects; see HandleTable.
  void retire(HandleBits handle) noexcept {
    const std::scoped_lock lock(mutex_);
    table_.retire(handle);
  }
  void renew(T* object) noexcept {
    const std::scoped_lock lock(mutex_);
    table_.renew(object);
  }
  /// Sets (or with null clears) the object behind a predefined constant.
  void define(HandleBits constant, T* object) {
    expects(constant > kFirst && constant < kFirst + kCount,
            "a predefined handle lies outside its kind's block");
    predefined_[constant - kFirst].store(object, std::memory_order_release);
    if (object != nullptr) object->set_handle(constant);
  }

  [[nodiscard]] std::int32_t to_int(HandleBits handle) const noexcept {
    return static_cast<std::int32_t>(handle & 0xffffffffu);
  }
  /// The handle with these low 32 bits: the whole handle of a live object, a constant of the kind's block,
  /// else the null handle.
  [[nodiscard]] HandleBits from_int(std::int32_t value) const noexcept {
    const auto bits = static_cast<std::uint32_t>(value);
    if (bits < 0x400) return bits - kFirst < kCount ? bits : kFirst;
    return table_.handle_of_int(value, kFirst);
  }
  [[nodiscard]] std::uint32_t alive() const noexcept { return table_.alive(); }

 private:
  [[nodiscard, gnu::cold, gnu::noinline]] T* make(HandleBits constant) const {
    const std::scoped_lock lock(mutex_);
    auto& slot = predefined_[constant - kFirst];
    T* object = slot.load(std::memory_order_relaxed);
    if (object == nullptr) slot.store(object = kMake(constant), std::memory_order_release);
    return object;
  }

  mutable std::array<std::atomic<T*>, kCount> predefined_{};
  HandleTable<T, kKind> table_;
  [[no_unique_address]] mutable Mutex mutex_;
};

/// All handles of this process.
struct Tables {
  Handles<Op, Kind::op, 0x20, 0x20, NoMutex, predefined_op> op;
  Handles<Comm, Kind::comm, 0x100, 8> comm;
  Handles<Group, Kind::group, 0x108, 8, NoMutex, predefined_group> group;
  Handles<Win, Kind::win, 0x110, 8> win;
  Handles<File, Kind::file, 0x118, 8> file;
  Handles<Session, Kind::session, 0x120, 8, std::mutex> session;
  Handles<Message, Kind::message, 0x128, 8> message;
  Handles<Info, Kind::info, 0x130, 0x10, std::mutex, make_predefined_info> info;
  Handles<Errhandler, Kind::errhandler, 0x140, 0x40, std::mutex, make_predefined_errhandler> errhandler;
  Handles<Request, Kind::request, 0x180, 0x80> request;
  Handles<Datatype, Kind::datatype, 0x200, 0x200, NoMutex, predefined_datatype> datatype;
};

/// Constant-initialised, in .bss, never destroyed.
extern constinit Tables the_tables;
[[nodiscard]] inline Tables& tables() noexcept { return the_tables; }

// What implementations use: the object behind a handle, or null for a handle that is not alive.
[[nodiscard]] inline Comm* find_comm(MPI_Comm handle) noexcept { return tables().comm.find(handle); }
[[nodiscard]] inline Group* find_group(MPI_Group handle) noexcept { return tables().group.find(handle); }
[[nodiscard]] inline Datatype* find_datatype(MPI_Datatype handle) noexcept {
  return tables().datatype.find(handle);
}
[[nodiscard]] inline Op* find_op(MPI_Op handle) noexcept { return tables().op.find(handle); }
[[nodiscard]] inline Request* find_request(MPI_Request handle) noexcept {
  return tables().request.find(handle);
}
[[nodiscard]] inline Info* find_info(MPI_Info handle) noexcept { return tables().info.find(handle); }
[[nodiscard]] inline Errhandler* find_errhandler(MPI_Errhandler handle) noexcept {
  return tables().errhandler.find(handle);
}
[[nodiscard]] inline Session* find_session(MPI_Session handle) noexcept {
  return tables().session.find(handle);
}
[[nodiscard]] inline Win* find_win(MPI_Win handle) noexcept { return tables().win.find(handle); }
[[nodiscard]] inline Message* find_message(MPI_Message handle) noexcept {
  return tables().message.find(handle);
}

/// A handle as the ABI's pointer type: as_handle<MPI_Comm>(comm->handle()).
template <class Handle>
[[nodiscard]] Handle as_handle(HandleBits bits) noexcept {
  return reinterpret_cast<Handle>(bits);
}
template <class Handle>
[[nodiscard]] HandleBits as_bits(Handle* handle) noexcept {
  return reinterpret_cast<HandleBits>(handle);
}

/// Makes the user's handle of a new object, which takes over the caller's reference: *newcomm =
/// new_handle<MPI_Comm>(tables().comm, comm). The null handle of the kind when there are too many objects;
/// the reference is dropped then.
template <class Handle, class Table, class T>
[[nodiscard]] Handle new_handle(Table& table, Ref<T> object) {
  T* const released = object.release();
  const HandleBits bits = table.insert(released);
  if (bits == 0) {
    released->drop();
    return as_handle<Handle>(Table::kNull);
  }
  return as_handle<Handle>(bits);
}

}  // namespace starling::mpi
