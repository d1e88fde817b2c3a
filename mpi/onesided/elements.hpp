// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The predefined elements of a datatype, one by one, for accumulates. Layer: mpi.
/// MPI 5.0 section 12.3.4.
///
/// An accumulate works on elements of one predefined type, wherever a derived type has them; of pairs such as
/// MPI_DOUBLE_INT the element is the pair, with its padding.
///
/// Threads:   any.
/// Units:     bytes.

#include <cstdint>

#include "mpi/datatype/datatype.hpp"

namespace starling::mpi {

/// The predefined type (or a type with its typemap) that all of a type consists of; empty: there are several.
[[nodiscard]] Ref<Datatype> only_element(const Datatype& type);

/// Calls visit(displacement, n) for each run of n elements in a row, in the order of the typemap; `element`
/// is only_element(type).
class ElementWalk {
 public:
  using Visit = void (*)(void* context, std::int64_t displacement, std::uint64_t count);
  ElementWalk(Basic element, Visit visit, void* context) noexcept;
  /// Of `count` of the type, `most` elements from element `first` on.
  void run(const Datatype& type, std::uint64_t count, std::uint64_t first, std::uint64_t most);

 private:
  void walk(const Node& node, std::int64_t at);
  void leaf(const Node& node, std::int64_t at);

  const BasicInfo& info_;
  Visit visit_;
  void* context_;
  bool second_ = false;     // of a pair, the first part was the last leaf
  std::uint64_t skip_ = 0;  // in leaves: a pair has two
  std::uint64_t left_ = 0;
};

/// Calls visit(displacement, bytes) for each run of bytes, in the order of the typemap.
class ByteWalk {
 public:
  using Visit = void (*)(void* context, std::int64_t displacement, std::uint64_t bytes);
  ByteWalk(Visit visit, void* context) noexcept : visit_(visit), context_(context) {}
  void run(const Datatype& type, std::uint64_t count);

 private:
  void walk(const Node& node, std::int64_t at);

  Visit visit_;
  void* context_;
};

template <class Function>
void each_run_of_bytes(const Datatype& type, std::uint64_t count, Function&& function) {
  const auto call = [](void* context, std::int64_t displacement, std::uint64_t bytes) {
    (*static_cast<std::remove_reference_t<Function>*>(context))(displacement, bytes);
  };
  ByteWalk(call, &function).run(type, count);
}

/// `first`, `most`: from which element on, and how many.
template <class Function>
void each_run(const Datatype& type, Basic element, std::uint64_t count, Function&& function,
              std::uint64_t first = 0, std::uint64_t most = ~std::uint64_t{0} / 4) {
  const auto call = [](void* context, std::int64_t displacement, std::uint64_t elements) {
    (*static_cast<std::remove_reference_t<Function>*>(context))(displacement, elements);
  };
  ElementWalk(element, call, &function).run(type, count, first, most);
}

}  // namespace starling::mpi
