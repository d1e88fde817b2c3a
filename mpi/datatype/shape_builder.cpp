// SPDX-License-Identifier: BSD-3-Clause
// Bounds of new types. Hard part: the bounds that MPI_Type_create_resized sets are markers that travel with
// the type into every type built on it and there outweigh the data (MPI 5.0 sections 5.1.6 and 5.1.7).
// Without markers a type spans what it is built of, each old type with its padding: docs/design/datatypes.md.
#include "mpi/datatype/shape_builder.hpp"

#include <algorithm>

namespace starling::mpi {

void ShapeBuilder::cover(Int128 displacement, std::int64_t count, const Datatype& old) {
  if (count <= 0) return;
  align_ = std::max(align_, old.shape()->align);
  const bool marked = old.shape()->explicit_bounds;
  if (!marked && old.size() == 0) return;  // a typemap without entries has no bounds
  const Int128 last = Int128{count - 1} * old.extent();
  (marked ? markers_ : data_)
      .include(displacement + std::min(Int128{0}, last) + old.lb(),
               displacement + std::max(Int128{0}, last) + old.ub());
}

void ShapeBuilder::Bounds::include(Int128 from, Int128 to) {
  lb = any ? std::min(lb, from) : from;
  ub = any ? std::max(ub, to) : to;
  any = true;
}

void ShapeBuilder::set_bounds(Int128 lb, Int128 ub) { fixed_ = {true, lb, ub}; }

/// Without markers the extent is rounded up to the alignment of the strictest element.
ShapeBuilder::Bounds ShapeBuilder::bounds() const {
  if (fixed_.any) return fixed_;
  if (markers_.any) return markers_;
  Bounds padded = data_;
  const Int128 over = (padded.ub - padded.lb) % align_;
  if (over != 0) padded.ub += align_ - over;
  return padded;
}

NewType ShapeBuilder::finish(Int128 displacement, NodePtr node) {
  if (node->size == 0) displacement = 0;
  const Int128 low = displacement + node->lower;
  const Int128 high = displacement + node->upper;
  const Bounds all = bounds();
  for (const Int128 value : {displacement, low, high, all.lb, all.ub, all.ub - all.lb}) {
    if (!fits_63_bits(value)) return too_large_error();
  }
  auto shape = std::make_shared<Shape>();
  shape->map = {static_cast<std::int64_t>(displacement), std::move(node)};
  shape->lb = static_cast<std::int64_t>(all.lb);
  shape->ub = static_cast<std::int64_t>(all.ub);
  shape->explicit_bounds = fixed_.any || markers_.any;
  shape->align = align_;
  shape->contents = std::move(contents_);
  return Ref<Datatype>::adopt(new Datatype(std::move(shape)));
}

}  // namespace starling::mpi
