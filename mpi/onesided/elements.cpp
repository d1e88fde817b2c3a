// SPDX-License-Identifier: BSD-3-Clause
// Elements of datatypes. Layer: mpi. MPI 5.0 section 12.3.4.

#include "mpi/onesided/elements.hpp"

#include <algorithm>
#include <utility>

#include "mpi/datatype/predefined.hpp"
#include "mpi/handles.hpp"

namespace starling::mpi {
namespace {

/// Whether the entry of a constructor's types contributes nothing to the typemap, whatever it is made of.
bool is_empty(const Contents& contents, std::size_t entry) {
  if (contents.types[entry]->map.node->size == 0) return true;
  return contents.combiner == Combiner::structure && contents.arguments[1].values[entry] == 0;
}

/// The shape of the one predefined type below a type; null: there are several, or none.
const ShapePtr* one_below(const ShapePtr& shape) {
  if (shape->basic != Basic::none) return &shape;
  const ShapePtr* found = nullptr;
  for (std::size_t i = 0; i < shape->contents.types.size(); ++i) {
    if (is_empty(shape->contents, i)) continue;
    const ShapePtr* const below = one_below(shape->contents.types[i]);
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

ElementWalk::ElementWalk(Basic element, Visit visit, void* context) noexcept
    : info_(info_of(element)), visit_(visit), context_(context) {}

void ElementWalk::run(const Datatype& type, std::uint64_t count, std::uint64_t first, std::uint64_t most) {
  const Placed& map = type.shape()->map;
  const std::uint64_t parts = info_.first == Basic::none ? 1 : 2;
  skip_ = first * parts;
  left_ = most * parts;
  if (map.node->elements == 0) return;
  std::uint64_t i = skip_ / map.node->elements;
  for (skip_ %= map.node->elements; i < count && left_ > 0; ++i) {
    walk(*map.node, map.displacement + static_cast<std::int64_t>(i) * type.extent());
  }
}

/// What is to be skipped is not walked over.
void ElementWalk::walk(const Node& node, std::int64_t at) {
  if (left_ == 0) return;
  if (skip_ >= node.elements) {
    skip_ -= node.elements;
    return;
  }
  const std::uint64_t each = node.child ? node.child->elements : 0;
  switch (node.kind) {
    case Node::Kind::leaf: return leaf(node, at);
    case Node::Kind::loop: return loop(node, at);
    case Node::Kind::blocks:
      for (std::size_t i = 0; i < node.counts.size() && left_ > 0; ++i) {
        const auto count = static_cast<std::uint64_t>(node.counts[i]);
        std::uint64_t j = std::min(count, skip_ / each);
        for (skip_ -= j * each; j < count && left_ > 0; ++j) {
          walk(*node.child, at + node.displacements[i] + static_cast<std::int64_t>(j) * node.stride);
        }
      }
      return;
    case Node::Kind::list:
      for (const Placed& item : node.items) walk(*item.node, at + item.displacement);
  }
}

/// Whole runs of elements are one series; one of which only a part is wanted is walked over by itself.
void ElementWalk::loop(const Node& node, std::int64_t at) {
  const Node& child = *node.child;
  const bool plain = child.kind == Node::Kind::leaf && info_.first == Basic::none;
  std::uint64_t i = skip_ / child.elements;
  for (skip_ -= i * child.elements; i < node.count && left_ > 0;) {
    const std::int64_t here = at + static_cast<std::int64_t>(i) * node.stride;
    const std::uint64_t whole = std::min(node.count - i, left_ / child.elements);
    if (plain && skip_ == 0 && whole > 0) {
      visit_(context_, {here, child.elements, whole, node.stride});
      left_ -= whole * child.elements;
      i += whole;
    } else {
      walk(child, here);
      ++i;
    }
  }
}

/// The parts of a pair come one after the other; the pair begins with its first.
void ElementWalk::leaf(const Node& node, std::int64_t at) {
  const std::uint64_t from = std::exchange(skip_, 0);
  const std::uint64_t count = std::min(node.count - from, left_);
  left_ -= count;
  const std::int64_t part = info_of(node.basic).extent;
  at += static_cast<std::int64_t>(from) * part;
  if (info_.first == Basic::none) return visit_(context_, {at, count});
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!second_) visit_(context_, {at + static_cast<std::int64_t>(i) * part, 1});
    second_ = !second_;
  }
}

std::uint64_t first_run(const Datatype& type) noexcept {
  const Node* node = type.shape()->map.node.get();
  while (!node->dense && node->size != 0) {
    if (node->kind == Node::Kind::list) {
      node = std::find_if(node->items.begin(), node->items.end(), [](const Placed& item) {
               return item.node->size != 0;
             })->node.get();
    } else {
      node = node->child.get();
    }
  }
  return node->size;
}

void ByteWalk::run(const Datatype& type, std::uint64_t count) {
  const Placed& map = type.shape()->map;
  for (std::uint64_t i = 0; i < count; ++i) {
    walk(*map.node, map.displacement + static_cast<std::int64_t>(i) * type.extent());
  }
}

void ByteWalk::walk(const Node& node, std::int64_t at) {
  if (node.size == 0) return;
  if (node.dense) return visit_(context_, {at + node.lower, node.size});
  switch (node.kind) {
    case Node::Kind::leaf: return;  // always dense
    case Node::Kind::loop:
      if (node.child->dense)
        return visit_(context_, {at + node.child->lower, node.child->size, node.count, node.stride});
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

}  // namespace starling::mpi
