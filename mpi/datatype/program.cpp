// SPDX-License-Identifier: BSD-3-Clause
// Runs compiled datatypes. Hard part: a packed range may begin and end inside any nested block; every step
// therefore has a whole form (hot) and a part form that trims head and tail and hands the middle to the whole
// form. Design: docs/design/datatypes.md.
#include "mpi/datatype/program.hpp"

#include <algorithm>

#include "mpi/datatype/kernels.hpp"

namespace starling::mpi {

template <bool kPack>
class Mover {
 public:
  explicit Mover(const Program& program) noexcept : program_(program) {}

  /// Moves the whole step that lies at `memory`; answers the end of its packed form.
  std::byte* whole(const Step& step, std::uintptr_t memory, std::byte* stream) const noexcept {
    return count_of(step, at(memory, step.displacement), 0, step.count, stream);
  }

  /// Moves packed bytes [from, to) of the step; `stream` is where byte `from` lies.
  std::byte* part(const Step& step, std::uintptr_t memory, std::uint64_t from, std::uint64_t to,
                  std::byte* stream) const noexcept {
    if (from >= to) return stream;
    if (from == 0 && to == step.size) return whole(step, memory, stream);
    const std::uintptr_t origin = at(memory, step.displacement);
    if (step.kind == Step::Kind::run) {
      kernels::copy<kPack>(origin + from, stream, to - from);
      return stream + (to - from);
    }
    const std::uint64_t last = index_of(step, to - 1);
    std::uint64_t index = index_of(step, from);
    const std::uint64_t begin = offset_of(step, index);
    if (from > begin || (index == last && to < offset_of(step, last + 1))) {
      const std::uint64_t end = std::min(to, offset_of(step, index + 1));
      stream = piece(step, origin, index, from - begin, end - begin, stream);
      if (index++ == last) return stream;
    }
    const bool tail = to < offset_of(step, last + 1);
    const std::uint64_t middle = last + (tail ? 0 : 1) - index;
    stream = count_of(step, origin, index, middle, stream);
    if (!tail) return stream;
    return piece(step, origin, last, 0, to - offset_of(step, last), stream);
  }

 private:
  static std::uintptr_t at(std::uintptr_t memory, std::int64_t displacement) noexcept {
    return memory + static_cast<std::uintptr_t>(displacement);
  }
  static std::uintptr_t at(std::uintptr_t memory, std::int64_t stride, std::uint64_t index) noexcept {
    return memory + static_cast<std::uintptr_t>(stride) * index;
  }

  /// Packed bytes of one entry of a step whose entries are equal.
  [[nodiscard]] std::uint64_t entry_bytes(const Step& step) const noexcept {
    return step.kind == Step::Kind::repeat || step.kind == Step::Kind::each ? program_.steps_[step.child].size
                                                                            : step.block;
  }

  /// The entry that holds a packed byte of the step.
  [[nodiscard]] std::uint64_t index_of(const Step& step, std::uint64_t offset) const noexcept {
    if (step.kind != Step::Kind::indexed && step.kind != Step::Kind::sequence)
      return offset / entry_bytes(step);
    const std::uint64_t* const offsets = program_.offsets_.data() + step.first;
    return static_cast<std::uint64_t>(std::upper_bound(offsets, offsets + step.count, offset) - offsets) - 1;
  }

  [[nodiscard]] std::uint64_t offset_of(const Step& step, std::uint64_t index) const noexcept {
    if (step.kind != Step::Kind::indexed && step.kind != Step::Kind::sequence)
      return index * entry_bytes(step);
    return program_.offsets_[step.first + index];
  }

  /// Bytes [from, to) of one entry.
  std::byte* piece(const Step& step, std::uintptr_t origin, std::uint64_t index, std::uint64_t from,
                   std::uint64_t to, std::byte* stream) const noexcept {
    std::uintptr_t memory = origin;
    switch (step.kind) {
      case Step::Kind::repeat:
        return part(program_.steps_[step.child], at(origin, step.stride, index), from, to, stream);
      case Step::Kind::each:
        return part(program_.steps_[step.child], at(origin, displacement(step, index)), from, to, stream);
      case Step::Kind::sequence: return part(program_.steps_[step.child + index], origin, from, to, stream);
      case Step::Kind::strided: memory = at(origin, step.stride, index); break;
      case Step::Kind::uniform:
      case Step::Kind::indexed: memory = at(origin, displacement(step, index)); break;
      case Step::Kind::run: break;
    }
    kernels::copy<kPack>(memory + from, stream, to - from);
    return stream + (to - from);
  }

  /// Whole entries [index, index + count).
  std::byte* count_of(const Step& step, std::uintptr_t origin, std::uint64_t index, std::uint64_t count,
                      std::byte* stream) const noexcept {
    switch (step.kind) {
      case Step::Kind::run: kernels::copy<kPack>(origin, stream, step.block); return stream + step.block;
      case Step::Kind::strided: return strided(step, at(origin, step.stride, index), count, stream);
      case Step::Kind::uniform: return uniform(step, origin, index, count, stream);
      case Step::Kind::indexed:
        if (step.block == 8) {
          return kernels::indexed_words<kPack>(origin, program_.displacements_.data() + step.first + index,
                                               program_.offsets_.data() + step.first + index, count, stream);
        }
        return kernels::indexed<kPack>(origin, program_.displacements_.data() + step.first + index,
                                       program_.offsets_.data() + step.first + index, count, stream);
      case Step::Kind::repeat: return repeat(step, at(origin, step.stride, index), count, stream);
      case Step::Kind::each:
        for (std::uint64_t i = index; i < index + count; ++i) {
          stream = whole(program_.steps_[step.child], at(origin, displacement(step, i)), stream);
        }
        return stream;
      case Step::Kind::sequence:
        for (std::uint64_t i = index; i < index + count; ++i) {
          stream = whole(program_.steps_[step.child + i], origin, stream);
        }
        return stream;
    }
    return stream;
  }

  static std::byte* strided(const Step& step, std::uintptr_t memory, std::uint64_t count,
                            std::byte* stream) noexcept {
    return kernels::with_block(step.block, [&]<std::size_t kBlock>() {
      if constexpr (kBlock == 0) {
        return kernels::strided_any<kPack>(memory, step.stride, count, step.block, stream);
      } else {
        return kernels::strided<kPack, kBlock>(memory, step.stride, count, stream);
      }
    });
  }

  std::byte* uniform(const Step& step, std::uintptr_t origin, std::uint64_t index, std::uint64_t count,
                     std::byte* stream) const noexcept {
    const std::int64_t* const displacements = program_.displacements_.data() + step.first + index;
    return kernels::with_block(step.block, [&]<std::size_t kBlock>() {
      if constexpr (kBlock == 0) {
        return kernels::uniform_any<kPack>(origin, displacements, count, step.block, stream);
      } else {
        return kernels::uniform<kPack, kBlock>(origin, displacements, count, stream);
      }
    });
  }

  /// The strided child's block size is looked at once, not once per iteration: faces of a cube are such
  /// loops.
  std::byte* repeat(const Step& step, std::uintptr_t memory, std::uint64_t count,
                    std::byte* stream) const noexcept {
    const Step& child = program_.steps_[step.child];
    if (child.kind != Step::Kind::strided) {
      for (std::uint64_t i = 0; i < count; ++i, memory = at(memory, step.stride))
        stream = whole(child, memory, stream);
      return stream;
    }
    memory = at(memory, child.displacement);
    return kernels::with_block(child.block, [&]<std::size_t kBlock>() {
      for (std::uint64_t i = 0; i < count; ++i, memory = at(memory, step.stride)) {
        if constexpr (kBlock == 0) {
          stream = kernels::strided_any<kPack>(memory, child.stride, child.count, child.block, stream);
        } else {
          stream = kernels::strided<kPack, kBlock>(memory, child.stride, child.count, stream);
        }
      }
      return stream;
    });
  }

  [[nodiscard]] std::int64_t displacement(const Step& step, std::uint64_t index) const noexcept {
    return program_.displacements_[step.first + index];
  }

  const Program& program_;
};

Step Program::elements(std::uint64_t count) const noexcept {
  if (count == 1) return root_;
  Step all = root_;
  all.size = root_.size * count;
  if (root_.kind == Step::Kind::run) {
    if (static_cast<std::int64_t>(root_.block) == extent_) {
      all.block = root_.block * count;
      return all;
    }
    all.kind = Step::Kind::strided;
    all.count = count;
    all.stride = extent_;
    return all;
  }
  if (root_.kind == Step::Kind::strided && root_.stride * static_cast<std::int64_t>(root_.count) == extent_) {
    all.count = root_.count * count;
    return all;
  }
  all.kind = Step::Kind::repeat;
  all.displacement = 0;
  all.count = count;
  all.stride = extent_;
  all.child = steps_.size() - 1;  // compile() leaves a copy of the root there
  return all;
}

template <bool kPack>
void Program::move(std::uintptr_t base, std::uint64_t count, std::uint64_t offset, std::byte* stream,
                   std::size_t bytes) const noexcept {
  if (bytes == 0) return;
  const Step all = elements(count);
  Mover<kPack>(*this).part(all, base, offset, offset + bytes, stream);
}

void Program::pack(const void* base, std::uint64_t count, std::uint64_t offset, std::byte* to,
                   std::size_t bytes) const noexcept {
  move<true>(reinterpret_cast<std::uintptr_t>(base), count, offset, to, bytes);
}

void Program::unpack(void* base, std::uint64_t count, std::uint64_t offset, const std::byte* from,
                     std::size_t bytes) const noexcept {
  // The stream is only read in this direction.
  move<false>(reinterpret_cast<std::uintptr_t>(base), count, offset, const_cast<std::byte*>(from), bytes);
}

}  // namespace starling::mpi
