// SPDX-License-Identifier: BSD-3-Clause
// Datatypes as bytes. Layer: mpi. What is read is not trusted.

#include "mpi/onesided/layout_code.hpp"

#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace starling::mpi::message {
namespace {

/// A program may nest structs as it likes; this much needs less than 1 MiB of stack.
constexpr unsigned kMostDepth = 1024;
/// So that no sum of displacements along a branch overflows.
constexpr std::int64_t kFar = std::int64_t{1} << 56;

bool is_near(std::int64_t value) noexcept { return value > -kFar && value < kFar; }

class Writer {
 public:
  void number(std::int64_t value) {
    const auto* const from = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof value);
  }
  void numbers(const std::vector<std::int64_t>& values) {
    number(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) number(value);
  }
  void node(const Node& node) {
    number(static_cast<std::int64_t>(node.kind));
    switch (node.kind) {
      case Node::Kind::leaf:
        number(static_cast<std::int64_t>(node.basic));
        return number(static_cast<std::int64_t>(node.count));
      case Node::Kind::loop:
        number(static_cast<std::int64_t>(node.count));
        number(node.stride);
        return this->node(*node.child);
      case Node::Kind::blocks:
        numbers(node.displacements);
        numbers(node.counts);
        number(node.stride);
        return this->node(*node.child);
      case Node::Kind::list:
        number(static_cast<std::int64_t>(node.items.size()));
        for (const Placed& item : node.items) {
          number(item.displacement);
          this->node(*item.node);
        }
    }
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] bool number(std::int64_t& value) noexcept {
    if (bytes_.size() < sizeof value) return false;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
    return true;
  }
  /// A number of things of which each takes some bytes.
  [[nodiscard]] bool length(std::int64_t& value) noexcept {
    return number(value) && value >= 0 &&
           static_cast<std::uint64_t>(value) <= bytes_.size() / sizeof(std::int64_t);
  }
  /// Null: it is none.
  [[nodiscard]] NodePtr node(unsigned depth) {
    std::int64_t kind = 0;
    if (depth > kMostDepth || !number(kind)) return nullptr;
    switch (static_cast<Node::Kind>(kind)) {
      case Node::Kind::leaf: return leaf();
      case Node::Kind::loop: return loop(depth);
      case Node::Kind::blocks: return blocks(depth);
      case Node::Kind::list: return list(depth);
    }
    return nullptr;
  }
  [[nodiscard]] bool at_end() const noexcept { return bytes_.empty(); }

 private:
  [[nodiscard]] bool numbers(std::vector<std::int64_t>& values) {
    std::int64_t count = 0;
    if (!length(count)) return false;
    values.resize(static_cast<std::size_t>(count));
    for (std::int64_t& value : values) {
      if (!number(value)) return false;
    }
    return true;
  }
  static NodePtr made(Result<NodePtr> node) {
    return node && is_near((*node)->lower) && is_near((*node)->upper) ? std::move(*node) : nullptr;
  }
  [[nodiscard]] NodePtr leaf() {
    std::int64_t basic = 0, count = 0;
    if (!number(basic) || !number(count) || count < 0 || basic < 0 ||
        static_cast<std::size_t>(basic) >= kBasics) {
      return nullptr;
    }
    if (count == 0 || basic == 0) return make_empty();
    const auto which = static_cast<Basic>(basic);
    if (info_of(which).first != Basic::none) return nullptr;  // a pair is a list
    return made(make_loop(count, static_cast<std::int64_t>(info_of(which).bytes), make_leaf(which)));
  }
  [[nodiscard]] NodePtr loop(unsigned depth) {
    std::int64_t count = 0, stride = 0;
    if (!number(count) || count < 0 || !number(stride)) return nullptr;
    NodePtr child = node(depth + 1);
    return child == nullptr ? nullptr : made(make_loop(count, stride, std::move(child)));
  }
  [[nodiscard]] NodePtr blocks(unsigned depth) {
    std::vector<std::int64_t> displacements, counts;
    std::int64_t stride = 0;
    if (!numbers(displacements) || !numbers(counts) || displacements.size() != counts.size() ||
        !number(stride)) {
      return nullptr;
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] < 0 || !is_near(displacements[i])) return nullptr;
    }
    NodePtr child = node(depth + 1);
    if (child == nullptr) return nullptr;
    return made(make_blocks(std::move(displacements), std::move(counts), stride, std::move(child)));
  }
  [[nodiscard]] NodePtr list(unsigned depth) {
    std::int64_t count = 0;
    if (!length(count)) return nullptr;
    std::vector<Placed> items(static_cast<std::size_t>(count));
    for (Placed& item : items) {
      if (!number(item.displacement) || !is_near(item.displacement)) return nullptr;
      item.node = node(depth + 1);
      if (item.node == nullptr) return nullptr;
    }
    return made(make_list(std::move(items)));
  }

  std::span<const std::byte> bytes_;
};

}  // namespace

std::vector<std::byte> encode(const Datatype& type) {
  const Shape& shape = *type.shape();
  Writer writer;
  writer.number(shape.lb);
  writer.number(shape.ub);
  writer.number(shape.map.displacement);
  writer.node(*shape.map.node);
  return writer.take();
}

Ref<Datatype> decode(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  auto shape = std::make_shared<Shape>();
  if (!reader.number(shape->lb) || !reader.number(shape->ub) || !reader.number(shape->map.displacement))
    return {};
  if (!is_near(shape->lb) || !is_near(shape->ub) || !is_near(shape->map.displacement)) return {};
  shape->explicit_bounds = true;
  shape->map.node = reader.node(0);
  if (shape->map.node == nullptr || !reader.at_end()) return {};
  Ref<Datatype> type = Ref<Datatype>::adopt(new Datatype(std::move(shape)));
  type->commit();
  return type;
}

}  // namespace starling::mpi::message
