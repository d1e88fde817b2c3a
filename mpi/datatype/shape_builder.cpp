// SPDX-License-Identifier: BSD-3-Clause
// Bounds of new types. Hard part: the bounds that MPI_Type_create_resized sets are markers that travel with
// the type into every type built on it and there outweigh the data (MPI 5.0 sections 5.1.6 and 5.1.7).
#include "mpi/datatype/shape_builder.hpp"

#include <algorithm>

namespace starling::mpi {

void ShapeBuilder::cover(Int128 displacement, std::int64_t count, const Datatype& old) {
  if (count <= 0) return;
  align_ = std::max(align_, old.shape()->align);
  if (!old.shape()->explicit_bounds || fixed_) return;
  const Int128 last = Int128{count - 1} * old.extent();
  const Int128 low = displacement + std::min(Int128{0}, last) + old.lb();
  const Int128 high = displacement + std::max(Int128{0}, last) + old.ub();
  lb_ = explicit_ ? std::min(lb_, low) : low;
  ub_ = explicit_ ? std::max(ub_, high) : high;
  explicit_ = true;
}

void ShapeBuilder::set_bounds(Int128 lb, Int128 ub) {
  explicit_ = fixed_ = true;
  lb_ = lb;
  ub_ = ub;
}

NewType ShapeBuilder::finish(Int128 displacement, NodePtr node) {
  if (node->size == 0) displacement = 0;
  const Int128 low = displacement + node->lower;
  const Int128 high = displacement + node->upper;
  if (!explicit_) {
    // Without markers the extent is rounded up to the alignment of the strictest element.
    const Int128 over = (high - low) % align_;
    lb_ = low;
    ub_ = high + (over == 0 ? 0 : align_ - over);
  }
  for (const Int128 value : {displacement, low, high, lb_, ub_, ub_ - lb_}) {
    if (!fits_63_bits(value)) return too_large_error();
  }
  auto shape = std::make_shared<Shape>();
  shape->map = {static_cast<std::int64_t>(displacement), std::move(node)};
  shape->lb = static_cast<std::int64_t>(lb_);
  shape->ub = static_cast<std::int64_t>(ub_);
  shape->explicit_bounds = explicit_;
  shape->align = align_;
  shape->contents = std::move(contents_);
  return Ref<Datatype>::adopt(new Datatype(std::move(shape)));
}

}  // namespace starling::mpi
