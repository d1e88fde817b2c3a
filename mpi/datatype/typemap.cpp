// SPDX-License-Identifier: BSD-3-Clause
// Builders of typemap trees. Hard part: every product and sum of user-given numbers is computed in 128 bits
// and checked, so that an overflow is an error and never a wrong size. Design: docs/design/datatypes.md.
#include "mpi/datatype/typemap.hpp"

#include <algorithm>
#include <limits>

namespace starling::mpi {
namespace {

__extension__ typedef __int128 Wide;
constexpr Wide kMax = std::numeric_limits<std::int64_t>::max();

bool fits(Wide value) { return value <= kMax && value >= -kMax; }

Unexpected too_large() {
  return fail(Errc::bad_parameter, "datatype", "the type's size or a displacement does not fit in 63 bits");
}

/// Size and bounds while a node is being built.
struct Sum {
  Wide size = 0, elements = 0, lower = 0, upper = 0;
  bool any = false;

  void add(Wide displacement, const Node& node) {
    size += node.size;
    elements += node.elements;
    if (node.size == 0) return;
    include(displacement + node.lower, displacement + node.upper);
  }
  void include(Wide from, Wide to) {
    lower = any ? std::min(lower, from) : from;
    upper = any ? std::max(upper, to) : to;
    any = true;
  }
  [[nodiscard]] bool store(Node& node) const {
    if (!fits(size) || !fits(elements) || !fits(lower) || !fits(upper)) return false;
    node.size = static_cast<std::uint64_t>(size);
    node.elements = static_cast<std::uint64_t>(elements);
    node.lower = static_cast<std::int64_t>(lower);
    node.upper = static_cast<std::int64_t>(upper);
    return true;
  }
};

/// Whether pieces that come one after the other in the packed form also do so in memory.
class DenseCheck {
 public:
  void add(Wide displacement, const Node& node) {
    if (node.size == 0) return;
    dense_ = dense_ && node.dense && (!any_ || displacement + node.lower == next_);
    next_ = displacement + node.upper;
    any_ = true;
  }
  [[nodiscard]] bool dense() const { return dense_; }

 private:
  bool dense_ = true, any_ = false;
  Wide next_ = 0;
};

bool loop_is_dense(Wide count, Wide stride, const Node& child) {
  return child.dense && (count == 1 || stride == Wide{child.upper} - child.lower);
}

NodePtr run_of(Basic basic, std::uint64_t count) {
  auto node = std::make_shared<Node>();
  node->basic = basic;
  node->count = count;
  node->size = count * info_of(basic).bytes;
  node->elements = count;
  node->upper = static_cast<std::int64_t>(node->size);
  return node;
}

}  // namespace

NodePtr make_empty() { return std::make_shared<Node>(); }

NodePtr make_leaf(Basic basic) {
  const BasicInfo& info = info_of(basic);
  if (info.first == Basic::none) return run_of(basic, 1);
  if (info.first == info.second) return run_of(info.first, 2);
  return *make_list({{0, run_of(info.first, 1)}, {info.second_offset, run_of(info.second, 1)}});
}

Result<NodePtr> make_loop(std::int64_t count, std::int64_t stride, NodePtr child) {
  if (count <= 0 || child->size == 0) return make_empty();
  if (count == 1) return child;
  const Wide last = Wide{count - 1} * stride;
  const Wide size = Wide{count} * static_cast<Wide>(child->size);
  if (!fits(last) || !fits(size)) return too_large();
  if (child->kind == Node::Kind::leaf && loop_is_dense(count, stride, *child)) {
    return run_of(child->basic, static_cast<std::uint64_t>(count) * child->count);
  }
  Sum sum;
  sum.size = size;
  sum.elements = Wide{count} * static_cast<Wide>(child->elements);
  sum.include(child->lower, child->upper);
  sum.include(last + child->lower, last + child->upper);
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::loop;
  node->count = static_cast<std::uint64_t>(count);
  node->stride = stride;
  node->dense = loop_is_dense(count, stride, *child);
  node->child = std::move(child);
  if (!sum.store(*node)) return too_large();
  return NodePtr(std::move(node));
}

Result<NodePtr> make_blocks(std::vector<std::int64_t> displacements, std::vector<std::int64_t> counts,
                            std::int64_t stride, NodePtr child) {
  expects(displacements.size() == counts.size(), "as many displacements as counts");
  Sum sum;
  DenseCheck check;
  Node whole;  // stands for one block in the density check
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] <= 0 || child->size == 0) continue;
    const Wide last = Wide{counts[i] - 1} * stride;
    const Wide size = Wide{counts[i]} * static_cast<Wide>(child->size);
    if (!fits(last) || !fits(size) || !fits(sum.size + size)) return too_large();
    sum.size += size;
    sum.elements += Wide{counts[i]} * static_cast<Wide>(child->elements);
    const Wide from = displacements[i];
    sum.include(from + child->lower, from + child->upper);
    sum.include(from + last + child->lower, from + last + child->upper);
    if (!fits(sum.lower) || !fits(sum.upper)) return too_large();
    whole.size = 1;
    whole.dense = loop_is_dense(counts[i], stride, *child);
    whole.lower = child->lower;
    whole.upper = static_cast<std::int64_t>(Wide{child->upper} + last);
    check.add(from, whole);
  }
  if (!sum.any) return make_empty();
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::blocks;
  node->count = counts.size();
  node->stride = stride;
  node->child = std::move(child);
  node->displacements = std::move(displacements);
  node->counts = std::move(counts);
  node->dense = check.dense();
  if (!sum.store(*node)) return too_large();
  return NodePtr(std::move(node));
}

Result<NodePtr> make_list(std::vector<Placed> items) {
  std::erase_if(items, [](const Placed& item) { return item.node->size == 0; });
  Sum sum;
  DenseCheck check;
  for (const Placed& item : items) {
    sum.add(item.displacement, *item.node);
    if (!fits(sum.size) || !fits(sum.elements)) return too_large();
    check.add(item.displacement, *item.node);
  }
  if (items.empty()) return make_empty();
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::list;
  node->count = items.size();
  node->items = std::move(items);
  node->dense = check.dense();
  if (!sum.store(*node)) return too_large();
  return NodePtr(std::move(node));
}

namespace {

/// Whole children and the rest of `wanted` in a row of equal children.
std::optional<std::uint64_t> elements_in_row(const Node& child, std::uint64_t bytes) {
  const auto rest = elements_in(child, bytes % child.size);
  if (!rest) return std::nullopt;
  return bytes / child.size * child.elements + *rest;
}

std::uint64_t bytes_of_row(const Node& child, std::uint64_t elements) {
  return elements / child.elements * child.size + bytes_of(child, elements % child.elements);
}

}  // namespace

std::optional<std::uint64_t> elements_in(const Node& node, std::uint64_t bytes) {
  if (bytes >= node.size) return node.elements;
  if (bytes == 0) return 0;
  switch (node.kind) {
    case Node::Kind::leaf:
      if (bytes % info_of(node.basic).bytes != 0) return std::nullopt;
      return bytes / info_of(node.basic).bytes;
    case Node::Kind::loop:
    case Node::Kind::blocks: return elements_in_row(*node.child, bytes);
    case Node::Kind::list: {
      std::uint64_t before = 0;
      for (const Placed& item : node.items) {
        if (bytes < item.node->size) {
          const auto rest = elements_in(*item.node, bytes);
          if (!rest) return std::nullopt;
          return before + *rest;
        }
        bytes -= item.node->size;
        before += item.node->elements;
      }
      return before;
    }
  }
  return std::nullopt;
}

std::uint64_t bytes_of(const Node& node, std::uint64_t elements) {
  if (elements >= node.elements) return node.size;
  if (elements == 0) return 0;
  switch (node.kind) {
    case Node::Kind::leaf: return elements * info_of(node.basic).bytes;
    case Node::Kind::loop:
    case Node::Kind::blocks: return bytes_of_row(*node.child, elements);
    case Node::Kind::list: {
      std::uint64_t before = 0;
      for (const Placed& item : node.items) {
        if (elements < item.node->elements) return before + bytes_of(*item.node, elements);
        elements -= item.node->elements;
        before += item.node->size;
      }
      return before;
    }
  }
  return 0;
}

Basic only_basic(const Node& node) {
  switch (node.kind) {
    case Node::Kind::leaf: return node.basic;
    case Node::Kind::loop:
    case Node::Kind::blocks: return only_basic(*node.child);
    case Node::Kind::list: {
      const Basic first = only_basic(*node.items.front().node);
      for (const Placed& item : node.items) {
        if (only_basic(*item.node) != first) return Basic::none;
      }
      return first;
    }
  }
  return Basic::none;
}

}  // namespace starling::mpi
