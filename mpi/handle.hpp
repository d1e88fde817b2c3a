// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Objects behind MPI handles, and the tables that find them. Layer: mpi.
///
/// A handle of an object that the user made is not an address: it is {generation (32 bits), 01, kind (4),
/// index (26)}. Any wrong, stale or random handle is therefore recognised without touching freed memory, and
/// the low 32 bits are what MPI_*_toint gives. Predefined handles are the ABI's small constants (below 0x400)
/// and are looked up by value.
///
/// Threads:   find() from any thread without a lock; insert() and remove() under the runtime's lock.
/// Ownership: a table does not own; objects are reference-counted (Ref). Most objects are counted under the
///            runtime's lock only and are GuardedObjects.
/// Errors:    find() answers null for every handle that is not a live object of this kind.

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "core/expects.hpp"

namespace starling::mpi {

enum class Kind : std::uint8_t {
  comm = 1,
  group,
  datatype,
  op,
  request,
  info,
  errhandler,
  session,
  message,
  win,
  file
};

/// Value of a handle as an integer: what the opaque pointer of the ABI holds.
using HandleBits = std::uintptr_t;

/// Base of everything that a handle can name.
class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  /// The handle of this object; a predefined constant, or made by HandleTable::insert; 0 if it has none.
  [[nodiscard]] HandleBits handle() const noexcept { return handle_; }
  void set_handle(HandleBits handle) noexcept { handle_ = handle; }
  [[nodiscard]] bool predefined() const noexcept { return handle_ < 0x400; }

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  /// Drops one reference; the last one destroys the object.
  void drop() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

 protected:
  virtual void destroy() noexcept { delete this; }

 private:
  friend class GuardedObject;
  std::atomic<std::uint32_t> references_{1};
  HandleBits handle_ = 0;
};

/// An object that is referred to under the runtime's lock only: it is counted without locked instructions.
/// These would wait until the cache line of the message that was just sent has come from its receiver.
class GuardedObject : public Object {
 public:
  void retain() noexcept {
    references_.store(references_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void drop() noexcept {
    const std::uint32_t left = references_.load(std::memory_order_relaxed) - 1;
    references_.store(left, std::memory_order_relaxed);
    if (left == 0) destroy();
  }
};

/// A counted reference.
template <class T>
class Ref {
 public:
  Ref() = default;
  /// Takes over a reference that the caller holds (a new object starts with one).
  [[nodiscard]] static Ref adopt(T* object) noexcept { return Ref(object); }
  /// Adds a reference to an object that somebody else holds.
  [[nodiscard]] static Ref share(T* object) noexcept {
    if (object != nullptr) object->retain();
    return Ref(object);
  }
  Ref(const Ref& other) noexcept : object_(other.object_) {
    if (object_ != nullptr) object_->retain();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->drop();
  }
  [[nodiscard]] T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  /// Gives the reference to the caller.
  [[nodiscard]] T* release() noexcept { return std::exchange(object_, nullptr); }

 private:
  explicit Ref(T* object) noexcept : object_(object) {}
  T* object_ = nullptr;
};

template <class T, Kind kKind>
class HandleTable {
 public:
  constexpr HandleTable() = default;

  /// Makes a handle for the object; 0 when 2^25 objects of this kind are alive.
  HandleBits insert(T* object) {
    std::uint32_t index = 0;
    if (free_ != 0) {
      index = free_ - 1;
      free_ = entry(index)->next_free;
    } else {
      if (used_ == kPageSize * kPages) return 0;
      index = used_++;
      auto& page = pages_[index / kPageSize];
      if (page.load(std::memory_order_relaxed) == nullptr) page.store(new Page, std::memory_order_release);
    }
    Entry& slot = *entry(index);
    slot.object.store(object, std::memory_order_relaxed);
    const std::uint32_t generation = slot.generation.load(std::memory_order_relaxed) + 1;  // odd: alive
    slot.generation.store(generation, std::memory_order_release);
    ++alive_;
    const HandleBits handle = (HandleBits{generation} << 32) | kMark | index;
    object->set_handle(handle);
    return handle;
  }

  /// Ends the life of a handle; the object itself stays with its references.
  void remove(HandleBits handle) {
    expects(find(handle) != nullptr, "removed a handle that is not in the table");
    const auto index = static_cast<std::uint32_t>(handle & kIndexMask);
    Entry& slot = *entry(index);
    slot.generation.store(static_cast<std::uint32_t>(handle >> 32) + 1, std::memory_order_release);
    slot.object.store(nullptr, std::memory_order_relaxed);
    slot.next_free = free_;
    free_ = index + 1;
    --alive_;
  }

  /// Ends the life of a handle like remove(), but keeps its entry for the object, which renew() gives a new
  /// handle: for objects that are pooled.
  void retire(HandleBits handle) noexcept {
    const auto generation = static_cast<std::uint32_t>(handle >> 32);
    Entry& slot = *entry(static_cast<std::uint32_t>(handle & kIndexMask));
    expects(slot.generation.load(std::memory_order_relaxed) == generation, "retired a handle that is stale");
    slot.generation.store(generation + 1, std::memory_order_release);
    --alive_;
  }
  HandleBits renew(T* object) noexcept {
    const HandleBits handle = object->handle() + (HandleBits{2} << 32);  // the next odd generation
    entry(static_cast<std::uint32_t>(handle & kIndexMask))
        ->generation.store(static_cast<std::uint32_t>(handle >> 32), std::memory_order_release);
    ++alive_;
    object->set_handle(handle);
    return handle;
  }

  [[nodiscard]] T* find(HandleBits handle) const noexcept {
    if ((handle & ~kIndexMask & 0xffffffffu) != kMark) return nullptr;
    const auto index = static_cast<std::uint32_t>(handle & kIndexMask);
    if (index >= kPageSize * kPages) return nullptr;
    Page* const page = pages_[index / kPageSize].load(std::memory_order_acquire);
    if (page == nullptr) return nullptr;
    const Entry& slot = (*page)[index % kPageSize];
    if (slot.generation.load(std::memory_order_acquire) != static_cast<std::uint32_t>(handle >> 32))
      return nullptr;
    return slot.object.load(std::memory_order_relaxed);
  }

  /// MPI_*_fromint: the handle of the live object with these low 32 bits, else `none`.
  [[nodiscard]] HandleBits handle_of_int(std::int32_t value, HandleBits none) const noexcept {
    const auto bits = static_cast<std::uint32_t>(value);
    if ((bits & ~static_cast<std::uint32_t>(kIndexMask)) != kMark) return none;
    const std::uint32_t index = bits & static_cast<std::uint32_t>(kIndexMask);
    if (index >= kPageSize * kPages) return none;
    Page* const page = pages_[index / kPageSize].load(std::memory_order_acquire);
    if (page == nullptr) return none;
    const std::uint32_t generation = (*page)[index % kPageSize].generation.load(std::memory_order_acquire);
    return generation % 2 == 1 ? (HandleBits{generation} << 32) | bits : none;
  }

  /// Objects with a handle now; for leak reports at finalize.
  [[nodiscard]] std::uint32_t alive() const noexcept { return alive_; }

 private:
  struct Entry {
    std::atomic<T*> object{nullptr};
    std::atomic<std::uint32_t> generation{0};
    std::uint32_t next_free = 0;
  };
  static constexpr std::uint32_t kPageSize = 1024, kPages = 32768;
  static constexpr HandleBits kIndexMask = (1u << 26) - 1;
  static constexpr HandleBits kMark =
      (HandleBits{1} << 30) | (HandleBits{static_cast<std::uint8_t>(kKind)} << 26);
  using Page = std::array<Entry, kPageSize>;

  [[nodiscard]] Entry* entry(std::uint32_t index) noexcept {
    return &(*pages_[index / kPageSize].load(std::memory_order_relaxed))[index % kPageSize];
  }

  std::array<std::atomic<Page*>, kPages> pages_{};
  std::uint32_t used_ = 0;
  std::uint32_t free_ =
      0;  ///< 1 + index of the first free entry, 0: none; all zero, so that tables lie in .bss
  std::uint32_t alive_ = 0;
};

}  // namespace starling::mpi
