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

/// Runs of the same length at equal distances, in the order of the typemap.
struct Runs {
  std::int64_t displacement = 0;  ///< of the first one
  std::uint64_t count = 0;        ///< elements, or bytes, of each
  std::uint64_t runs = 1;
  std::int64_t stride = 0;  ///< bytes from one to the next
};

/// Calls visit() for each such series of elements, in the order of the typemap; `element` is
/// only_element(type).
class ElementWalk {
 public:
  using Visit = void (*)(void* context, const Runs& series);
  ElementWalk(Basic element, Visit visit, void* context) noexcept;
  /// Of `count` of the type, `most` elements from element `first` on.
  void run(const Datatype& type, std::uint64_t count, std::uint64_t first, std::uint64_t most);

 private:
  void walk(const Node& node, std::int64_t at);
  void loop(const Node& node, std::int64_t at);
  void leaf(const Node& node, std::int64_t at);

  const BasicInfo& info_;
  Visit visit_;
  void* context_;
  bool second_ = false;     // of a pair, the first part was the last leaf
  std::uint64_t skip_ = 0;  // in leaves: a pair has two
  std::uint64_t left_ = 0;
};

/// Bytes of the first run that ByteWalk would visit, or somewhat less.
[[nodiscard]] std::uint64_t first_run(const Datatype& type) noexcept;

/// Calls visit() for each series of runs of bytes, in the order of the typemap.
class ByteWalk {
 public:
  using Visit = void (*)(void* context, const Runs& series);
  ByteWalk(Visit visit, void* context) noexcept : visit_(visit), context_(context) {}
  void run(const Datatype& type, std::uint64_t count);

 private:
  void walk(const Node& node, std::int64_t at);

  Visit visit_;
  void* context_;
};

/// Calls function(series).
template <class Function>
void each_series_of_bytes(const Datatype& type, std::uint64_t count, Function&& function) {
  const auto call = [](void* context, const Runs& series) {
    (*static_cast<std::remove_reference_t<Function>*>(context))(series);
  };
  ByteWalk(call, &function).run(type, count);
}

/// Calls function(displacement, bytes) for each run of bytes.
template <class Function>
void each_run_of_bytes(const Datatype& type, std::uint64_t count, Function&& function) {
  each_series_of_bytes(type, count, [&](const Runs& series) {
    for (std::uint64_t i = 0; i < series.runs; ++i)
      function(series.displacement + static_cast<std::int64_t>(i) * series.stride, series.count);
  });
}

inline constexpr std::uint64_t kAllElements = ~std::uint64_t{0} / 4;

/// Calls function(series). `first`, `most`: from which element on, and how many.
template <class Function>
void each_series(const Datatype& type, Basic element, std::uint64_t count, Function&& function,
                 std::uint64_t first = 0, std::uint64_t most = kAllElements) {
  const auto call = [](void* context, const Runs& series) {
    (*static_cast<std::remove_reference_t<Function>*>(context))(series);
  };
  ElementWalk(element, call, &function).run(type, count, first, most);
}

/// Calls function(displacement, n) for each run of n elements in a row.
template <class Function>
void each_run(const Datatype& type, Basic element, std::uint64_t count, Function&& function) {
  each_series(type, element, count, [&](const Runs& series) {
    for (std::uint64_t i = 0; i < series.runs; ++i)
      function(series.displacement + static_cast<std::int64_t>(i) * series.stride, series.count);
  });
}

}  // namespace starling::mpi
