// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Reduction operations. Layer: mpi. MPI 5.0 section 6.9.
///
/// Predefined operations are kernels found by (operation, basic element); user operations are functions that
/// are called back. A derived type takes user operations only.
///
/// Threads:   immutable after construction; apply() from any thread (user functions run on the calling one).
/// Ownership: reference-counted; operations in progress hold a reference, so MPI_Op_free returns at once.
/// Errors:    why_not() says whether a combination is legal; apply() of an illegal one is a bug.
/// Units:     counts of elements.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "mpi/datatype/datatype.hpp"
#include "mpi/handle.hpp"

namespace starling::mpi {

enum class OpCode : std::uint8_t {
  sum,
  min,
  max,
  prod,
  band,
  bor,
  bxor,
  land,
  lor,
  lxor,
  minloc,
  maxloc,
  replace,
  no_op,
  user
};
inline constexpr std::size_t kOpCodes = static_cast<std::size_t>(OpCode::user);

/// For each operation the classes of types that it is defined for, as bits.
extern const std::array<std::uint16_t, kOpCodes + 1> kClassesOfOperands;

/// out[i] = in[i] op right[i] for i < count. `out` may be `right`; otherwise the buffers do not overlap.
using OpKernel = void (*)(const void* in, const void* right, void* out, std::uint64_t count) noexcept;
/// The kernel of a predefined operation; null where the standard defines none. Pairs go by their own Basic.
[[nodiscard]] OpKernel find_kernel(OpCode code, Basic basic) noexcept;

class Op final : public Object {
 public:
  /// The user's function behind a type that only the entry points know; calls it for one chunk.
  using AnyFunction = void (*)();
  using Caller = void (*)(AnyFunction function, const void* in, void* inout, std::int64_t count,
                          HandleBits datatype);

  Op(OpCode code, std::string op_name) : name(std::move(op_name)), code_(code) {}
  /// A user operation; `chunk` is the largest count that one call can take.
  Op(AnyFunction function, Caller caller, std::int64_t chunk, bool commutative)
      : name("a user-defined operation"),
        code_(OpCode::user),
        commutative_(commutative),
        function_(function),
        caller_(caller),
        chunk_(chunk) {}

  [[nodiscard]] OpCode code() const noexcept { return code_; }
  [[nodiscard]] bool user() const noexcept { return code_ == OpCode::user; }
  [[nodiscard]] bool commutative() const noexcept { return commutative_; }
  /// MPI_REPLACE and MPI_NO_OP: for accumulate only, not for reductions (MPI 5.0 section 6.9.2).
  [[nodiscard]] bool rma_only() const noexcept { return code_ == OpCode::replace || code_ == OpCode::no_op; }

  /// inout = in op inout. `in` is the operand of the lower ranks. The type must be one that the operation
  /// allows.
  void apply(const void* in, void* inout, std::uint64_t count, const Datatype& type) const {
    apply(in, inout, inout, count, type);
  }
  /// out = in op right. `out` is `right`, or overlaps neither; then the type has no gaps.
  void apply(const void* in, const void* right, void* out, std::uint64_t count, const Datatype& type) const;

  std::string name;

 private:
  OpCode code_;
  bool commutative_ = true;
  AnyFunction function_ = nullptr;
  Caller caller_ = nullptr;
  std::int64_t chunk_ = 0;
};

/// Whether an operation is defined for types of a class (MPI 5.0 sections 6.9.2 and 12.3.4).
[[nodiscard]] inline bool defined_for(OpCode code, OpClass op_class) noexcept {
  return (kClassesOfOperands[static_cast<std::size_t>(code)] >> static_cast<unsigned>(op_class) & 1) != 0;
}
/// Whether the standard's tables have it for MPI_Accumulate and its kind: what reductions take, and
/// MPI_REPLACE and MPI_NO_OP for every predefined type.
[[nodiscard]] inline bool accumulates(const Op& op, const Datatype& type) noexcept {
  return !op.user() && type.basic() != Basic::none && defined_for(op.code(), type.op_class());
}
/// As what MPI_Accumulate and its kind work on elements of this type; none: they do not take the operation.
/// They take what accumulates() says, and one thing more: bytes as unsigned numbers. mpi4py asks for MPI_SUM
/// of MPI_BYTE where its caller names neither.
[[nodiscard]] Basic accumulated_as(const Op& op, const Datatype& type) noexcept;

/// Empty if the operation is defined for the type in a reduction, else "MPI_SUM is not defined for MPI_CHAR
/// (...)".
[[nodiscard]] std::string why_not(const Op& op, const Datatype& type);
/// As why_not(), for MPI_Accumulate and its kind: empty where accumulated_as() finds something.
[[nodiscard]] std::string why_not_accumulate(const Op& op, const Datatype& type);

/// The operation behind a predefined constant (0x21 ... 0x3d); null if there is none (MPI_OP_NULL too).
[[nodiscard]] Op* predefined_op(HandleBits handle) noexcept;
[[nodiscard]] std::vector<Op*> predefined_ops();

}  // namespace starling::mpi
