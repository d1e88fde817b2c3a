// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the constructors share: bounds, alignment, contents of a new shape. Layer: mpi. MPI 5.0
/// section 5.1.6.
///
/// Threads:   a builder is used by one thread.
/// Errors:    finish() answers an Error when a bound does not fit in 63 bits.
/// Units:     bytes.

#include <string>
#include <utility>

#include "core/result.hpp"
#include "mpi/datatype/construct.hpp"

namespace starling::mpi {

__extension__ typedef __int128 Int128;

[[nodiscard]] inline Unexpected type_error(std::string detail) {
  return fail(Errc::bad_parameter, "datatype", std::move(detail));
}
/// 63 bits, so that differences of displacements do not overflow either.
[[nodiscard]] inline bool fits_63_bits(Int128 value) {
  constexpr Int128 kLimit = Int128{1} << 62;
  return value <= kLimit && value >= -kLimit;
}
[[nodiscard]] inline Unexpected too_large_error() {
  return type_error("the type's size or a displacement does not fit in 63 bits");
}

class ShapeBuilder {
 public:
  ShapeBuilder(Combiner combiner, std::vector<Contents::Argument> arguments) {
    contents_.combiner = combiner;
    contents_.arguments = std::move(arguments);
  }

  /// Names an old type for MPI_Type_get_contents.
  void refer(const Datatype& old) { contents_.types.push_back(old.shape()); }
  /// Bounds and alignment of `count` elements of an old type, the first at `displacement`, are part of the
  /// new type's.
  void cover(Int128 displacement, std::int64_t count, const Datatype& old);
  /// The new type has these bounds whatever it covers.
  void set_bounds(Int128 lb, Int128 ub);

  [[nodiscard]] NewType finish(Int128 displacement, NodePtr node);
  [[nodiscard]] NewType finish(Result<NodePtr> node) {
    if (!node) return fail(std::move(node).error());
    return finish(0, std::move(*node));
  }

 private:
  struct Bounds {
    bool any = false;
    Int128 lb = 0, ub = 0;
    void include(Int128 from, Int128 to);
  };
  [[nodiscard]] Bounds bounds() const;

  Contents contents_;
  Bounds fixed_;    ///< of set_bounds()
  Bounds markers_;  ///< of old types whose own bounds come from markers
  Bounds data_;     ///< of all other old types
  std::uint32_t align_ = 1;
};

}  // namespace starling::mpi
