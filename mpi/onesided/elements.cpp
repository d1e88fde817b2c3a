// SPDX-License-Identifier: BSD-3-Clause
// Elements of datatypes. Layer: mpi. MPI 5.0 section 12.3.4.

#include "mpi/onesided/elements.hpp"

#include "mpi/datatype/predefined.hpp"
#include "mpi/handles.hpp"

namespace starling::mpi {
namespace {

/// The shape of the one predefined type below a type; null: there are several, or none.
const ShapePtr* one_below(const ShapePtr& shape) {
  if (shape->basic != Basic::none) return &shape;
  const ShapePtr* found = nullptr;
  for (const ShapePtr& old : shape->contents.types) {
    const ShapePtr* const below = one_below(old);
    if (below == nullptr) return nullptr;
    if (found != nullptr &&
        ((*found)->basic != (*below)->basic || (*found)->op_class != (*below)->op_class)) {
      return nullptr;
    }
    found = below;
  }
  return found;
}

}  // namespace

Ref<Datatype> only_element(const Datatype& type) {
  const ShapePtr* const shape = one_below(type.shape());
  if (shape == nullptr) return {};
  if ((*shape)->predefined != 0) {
    return Ref<Datatype>::share(tables().datatype.find((*shape)->predefined));
  }
  return Ref<Datatype>::adopt(new Datatype(*shape));
}

ElementWalk::ElementWalk(const Datatype& element, Visit visit, void* context) noexcept
    : info_(info_of(element.basic())), visit_(visit), context_(context) {}

void ElementWalk::run(const Datatype& type, std::uint64_t count) {
  const Placed& map = type.shape()->map;
  for (std::uint64_t i = 0; i < count; ++i) {
    walk(*map.node, map.displacement + static_cast<std::int64_t>(i) * type.extent());
  }
}

void ElementWalk::walk(const Node& node, std::int64_t at) {
  switch (node.kind) {
    case Node::Kind::leaf: return leaf(node, at);
    case Node::Kind::loop:
      for (std::uint64_t i = 0; i < node.count; ++i) {
        walk(*node.child, at + static_cast<std::int64_t>(i) * node.stride);
      }
      return;
    case Node::Kind::blocks:
      for (std::size_t i = 0; i < node.counts.size(); ++i) {
        for (std::int64_t j = 0; j < node.counts[i]; ++j) {
          walk(*node.child, at + node.displacements[i] + j * node.stride);
        }
      }
      return;
    case Node::Kind::list:
      for (const Placed& item : node.items) walk(*item.node, at + item.displacement);
  }
}

/// The parts of a pair come one after the other; the pair begins with its first.
void ElementWalk::leaf(const Node& node, std::int64_t at) {
  if (info_.first == Basic::none) {
    visit_(context_, at, node.count);
    return;
  }
  const std::int64_t part = info_of(node.basic).extent;
  for (std::uint64_t i = 0; i < node.count; ++i) {
    if (!second_) visit_(context_, at + static_cast<std::int64_t>(i) * part, 1);
    second_ = !second_;
  }
}

}  // namespace starling::mpi
