// SPDX-License-Identifier: BSD-3-Clause
// Compiles typemaps to programs. Hard part: deciding where to flatten. Irregular nodes become lists of merged
// runs as long as those are about as many as the entries that the user gave; regular ones stay loops of any
// count. Design: docs/design/datatypes.md.
#include <algorithm>
#include <unordered_map>

#include "core/expects.hpp"
#include "mpi/datatype/program.hpp"

namespace starling::mpi {
namespace {

struct Run {
  std::int64_t displacement;
  std::uint64_t bytes;
};

/// Runs in packed order, adjacent ones merged.
class Runs {
 public:
  explicit Runs(std::size_t limit) : limit_(limit) {}

  /// False when there are more than the limit.
  [[nodiscard]] bool add(std::int64_t displacement, std::uint64_t bytes) {
    if (!list_.empty() &&
        list_.back().displacement + static_cast<std::int64_t>(list_.back().bytes) == displacement) {
      list_.back().bytes += bytes;
      return true;
    }
    list_.push_back({displacement, bytes});
    return list_.size() <= limit_;
  }
  [[nodiscard]] bool collect(const Node& node, std::int64_t displacement);

  [[nodiscard]] const std::vector<Run>& list() const { return list_; }

 private:
  bool collect_row(const Node& child, std::int64_t displacement, std::uint64_t count, std::int64_t stride);
  std::vector<Run> list_;
  std::size_t limit_;
};

bool Runs::collect_row(const Node& child, std::int64_t displacement, std::uint64_t count,
                       std::int64_t stride) {
  if (child.dense && stride == static_cast<std::int64_t>(child.size)) {
    return add(displacement + child.lower, child.size * count);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!collect(child, displacement + static_cast<std::int64_t>(i) * stride)) return false;
  }
  return true;
}

bool Runs::collect(const Node& node, std::int64_t displacement) {
  if (node.size == 0) return true;
  if (node.dense) return add(displacement + node.lower, node.size);
  switch (node.kind) {
    case Node::Kind::leaf: break;
    case Node::Kind::loop: return collect_row(*node.child, displacement, node.count, node.stride);
    case Node::Kind::blocks:
      for (std::size_t i = 0; i < node.counts.size(); ++i) {
        if (node.counts[i] <= 0) continue;
        if (!collect_row(*node.child, displacement + node.displacements[i],
                         static_cast<std::uint64_t>(node.counts[i]), node.stride)) {
          return false;
        }
      }
      return true;
    case Node::Kind::list:
      return std::all_of(node.items.begin(), node.items.end(), [&](const Placed& item) {
        return collect(*item.node, displacement + item.displacement);
      });
  }
  return true;
}

/// How many runs a nested part may have to be flattened into its parent.
constexpr std::size_t kFlat = 16;

}  // namespace

class Compiler {
 public:
  explicit Compiler(Program& program) : program_(program) {}

  Step emit(const Node& node) {
    if (node.dense) return run(node.lower, node.size);
    Runs small(kFlat);
    if (small.collect(node, 0)) return from_runs(small.list());
    switch (node.kind) {
      case Node::Kind::leaf: return run(node.lower, node.size);
      case Node::Kind::loop: return loop(node.count, node.stride, *node.child);
      case Node::Kind::blocks: return blocks(node);
      case Node::Kind::list: return list(node);
    }
    return {};
  }

 private:
  static Step run(std::int64_t displacement, std::uint64_t bytes) {
    Step step;
    step.displacement = displacement;
    step.size = step.block = bytes;
    return step;
  }

  std::size_t push(const Step& step) {
    program_.steps_.push_back(step);
    return program_.steps_.size() - 1;
  }

  /// The place of a child's step; one that several parents share is compiled once.
  std::size_t child_of(const Node& node) {
    const auto known = compiled_.find(&node);
    if (known != compiled_.end()) return known->second;
    const std::size_t place = push(emit(node));
    compiled_.emplace(&node, place);
    return place;
  }

  Step loop(std::uint64_t count, std::int64_t stride, const Node& child) {
    const std::size_t place = child_of(child);
    const Step inner = program_.steps_[place];
    Step step = inner;
    step.size = inner.size * count;
    if (count == 1) return inner;
    if (inner.kind == Step::Kind::run) {
      if (static_cast<std::int64_t>(inner.block) == stride) return run(inner.displacement, step.size);
      step.kind = Step::Kind::strided;
      step.count = count;
      step.stride = stride;
      return step;
    }
    if (inner.kind == Step::Kind::strided &&
        inner.stride * static_cast<std::int64_t>(inner.count) == stride) {
      step.count = inner.count * count;
      return step;
    }
    step = {};
    step.kind = Step::Kind::repeat;
    step.size = inner.size * count;
    step.count = count;
    step.stride = stride;
    step.child = place;
    return step;
  }

  /// A step for a list of merged runs, as regular as they are.
  Step from_runs(const std::vector<Run>& runs) {
    if (runs.size() == 1) return run(runs[0].displacement, runs[0].bytes);
    bool equal = true, regular = true;
    std::uint64_t size = 0;
    const std::int64_t stride = runs[1].displacement - runs[0].displacement;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      size += runs[i].bytes;
      equal = equal && runs[i].bytes == runs[0].bytes;
      regular = regular && (i == 0 || runs[i].displacement - runs[i - 1].displacement == stride);
    }
    Step step;
    step.size = size;
    step.count = runs.size();
    step.block = runs[0].bytes;
    if (equal && regular) {
      step.kind = Step::Kind::strided;
      step.displacement = runs[0].displacement;
      step.stride = stride;
      return step;
    }
    step.kind = equal ? Step::Kind::uniform : Step::Kind::indexed;
    // Both arrays grow in step, so that one `first` serves both.
    align_arrays();
    step.first = program_.displacements_.size();
    std::uint64_t offset = 0;
    for (const Run& one : runs) {
      program_.displacements_.push_back(one.displacement);
      if (!equal) program_.offsets_.push_back(offset);
      offset += one.bytes;
    }
    if (equal) return step;
    program_.offsets_.push_back(offset);
    const bool words =
        std::all_of(runs.begin(), runs.end(), [](const Run& run) { return run.bytes % 8 == 0; });
    step.block = words ? 8 : 0;
    return step;
  }

  void align_arrays() {
    const std::size_t size = std::max(program_.displacements_.size(), program_.offsets_.size());
    program_.displacements_.resize(size);
    program_.offsets_.resize(size);
  }

  Step blocks(const Node& node) {
    const Node& child = *node.child;
    Runs runs(node.counts.size() * kFlat);
    if (runs.collect(node, 0)) return from_runs(runs.list());
    if (std::any_of(node.counts.begin(), node.counts.end(), [&](auto n) { return n != node.counts[0]; })) {
      return varying_blocks(node);
    }
    const auto count = static_cast<std::uint64_t>(node.counts[0]);
    const Step inner = loop(count, node.stride, child);
    Step step;
    step.kind = Step::Kind::each;
    step.size = node.size;
    step.count = node.counts.size();
    step.child = push(inner);
    step.first = program_.displacements_.size();
    program_.displacements_.insert(program_.displacements_.end(), node.displacements.begin(),
                                   node.displacements.end());
    return step;
  }

  Step varying_blocks(const Node& node) {
    std::vector<Step> steps;
    for (std::size_t i = 0; i < node.counts.size(); ++i) {
      if (node.counts[i] <= 0) continue;
      steps.push_back(loop(static_cast<std::uint64_t>(node.counts[i]), node.stride, *node.child));
      steps.back().displacement += node.displacements[i];
    }
    return sequence(steps);
  }

  Step list(const Node& node) {
    std::vector<Step> steps;
    std::vector<Run> group;
    const auto flush = [&] {
      if (!group.empty()) steps.push_back(from_runs(group));
      group.clear();
    };
    for (const Placed& item : node.items) {
      Runs small(kFlat);
      if (small.collect(*item.node, item.displacement)) {
        for (const Run& one : small.list()) {
          if (!group.empty() &&
              group.back().displacement + static_cast<std::int64_t>(group.back().bytes) == one.displacement) {
            group.back().bytes += one.bytes;
          } else {
            group.push_back(one);
          }
        }
        continue;
      }
      flush();
      steps.push_back(program_.steps_[child_of(*item.node)]);
      steps.back().displacement += item.displacement;
    }
    flush();
    return sequence(steps);
  }

  Step sequence(const std::vector<Step>& steps) {
    if (steps.size() == 1) return steps[0];
    Step step;
    step.kind = Step::Kind::sequence;
    step.count = steps.size();
    step.child = program_.steps_.size();
    step.first = program_.offsets_.size();
    for (const Step& one : steps) {
      program_.offsets_.push_back(step.size);
      step.size += one.size;
      program_.steps_.push_back(one);
    }
    program_.offsets_.push_back(step.size);
    return step;
  }

  Program& program_;
  std::unordered_map<const Node*, std::size_t> compiled_;
};

std::shared_ptr<const Program> Program::compile(const Placed& map, std::int64_t extent) {
  auto program = std::make_shared<Program>();
  Step root = Compiler(*program).emit(*map.node);
  root.displacement += map.displacement;
  expects(root.size == map.node->size, "a compiled type moves all of its bytes");
  program->root_ = root;
  program->extent_ = extent;
  program->steps_.push_back(root);
  program->steps_.shrink_to_fit();
  program->displacements_.shrink_to_fit();
  program->offsets_.shrink_to_fit();
  return program;
}

std::string Program::describe() const {
  static constexpr const char* kNames[] = {"run",    "strided", "uniform", "indexed",
                                           "repeat", "each",    "sequence"};
  std::string text;
  const Step* step = &root_;
  while (true) {
    text += kNames[static_cast<std::size_t>(step->kind)];
    const bool nested = step->kind == Step::Kind::repeat || step->kind == Step::Kind::each;
    if (step->kind != Step::Kind::run) text += " " + std::to_string(step->count);
    if (!nested && step->kind != Step::Kind::sequence && step->kind != Step::Kind::indexed)
      text += " x " + std::to_string(step->block);
    if (step->kind == Step::Kind::strided || step->kind == Step::Kind::repeat)
      text += " / " + std::to_string(step->stride);
    if (!nested) return text;
    text += " of ";
    step = &steps_[step->child];
  }
}

}  // namespace starling::mpi
