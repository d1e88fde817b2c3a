// SPDX-License-Identifier: BSD-3-Clause
// Operations and which types they are defined for (MPI 5.0 sections 6.9.2 and 6.9.4).
#include "mpi/op/op.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>

#include "core/expects.hpp"

namespace starling::mpi {
namespace {

struct Named {
  HandleBits handle;
  const char* name;
  OpCode code;
};
constexpr Named kNamed[] = {{0x21, "MPI_SUM", OpCode::sum},         {0x22, "MPI_MIN", OpCode::min},
                            {0x23, "MPI_MAX", OpCode::max},         {0x24, "MPI_PROD", OpCode::prod},
                            {0x28, "MPI_BAND", OpCode::band},       {0x29, "MPI_BOR", OpCode::bor},
                            {0x2a, "MPI_BXOR", OpCode::bxor},       {0x30, "MPI_LAND", OpCode::land},
                            {0x31, "MPI_LOR", OpCode::lor},         {0x32, "MPI_LXOR", OpCode::lxor},
                            {0x38, "MPI_MINLOC", OpCode::minloc},   {0x39, "MPI_MAXLOC", OpCode::maxloc},
                            {0x3c, "MPI_REPLACE", OpCode::replace}, {0x3d, "MPI_NO_OP", OpCode::no_op}};

constexpr HandleBits kFirst = 0x20;
using Table = std::array<Op*, 32>;

/// Never destroyed: user code in static destructors may still name predefined operations.
const Table& table() {
  static const Table* const made = [] {
    auto* ops = new Table{};
    for (const Named& named : kNamed) {
      auto* op = new Op(named.code, named.name);
      op->set_handle(named.handle);
      (*ops)[named.handle - kFirst] = op;
    }
    return ops;
  }();
  return *made;
}

constexpr std::uint16_t bits(std::initializer_list<OpClass> classes) {
  unsigned all = 0;
  for (const OpClass one : classes) all |= 1u << static_cast<unsigned>(one);
  return static_cast<std::uint16_t>(all);
}

constexpr std::uint16_t operands_of(OpCode code) {
  using enum OpClass;
  switch (code) {
    case OpCode::min:
    case OpCode::max: return bits({c_integer, fortran_integer, floating, multi_language});
    case OpCode::sum:
    case OpCode::prod: return bits({c_integer, fortran_integer, floating, complex, multi_language});
    case OpCode::land:
    case OpCode::lor:
    // Section 6.9.2 leaves the multi-language types out; MPICH and Open MPI take them, and so do programs.
    case OpCode::lxor: return bits({c_integer, logical, multi_language});
    case OpCode::band:
    case OpCode::bor:
    case OpCode::bxor: return bits({c_integer, fortran_integer, byte, multi_language});
    case OpCode::minloc:
    case OpCode::maxloc: return bits({pair});
    case OpCode::replace:
    case OpCode::no_op:
    case OpCode::user: break;
  }
  return 0xffff;
}

constexpr auto all_operands() {
  std::array<std::uint16_t, kOpCodes + 1> all{};
  for (std::size_t code = 0; code <= kOpCodes; ++code) all[code] = operands_of(static_cast<OpCode>(code));
  return all;
}

const char* classes_of(OpCode code) {
  switch (code) {
    case OpCode::min:
    case OpCode::max: return "integers and floating-point numbers";
    case OpCode::sum:
    case OpCode::prod: return "integers, floating-point and complex numbers";
    case OpCode::land:
    case OpCode::lor:
    case OpCode::lxor: return "C integers, logicals, MPI_AINT, MPI_COUNT and MPI_OFFSET";
    case OpCode::band:
    case OpCode::bor:
    case OpCode::bxor: return "integers and MPI_BYTE";
    default: return "pair types such as MPI_DOUBLE_INT";
  }
}

std::string name_of(const Datatype& type) {
  if (!type.name.empty()) return type.name;
  return type.basic() == Basic::none ? "a derived datatype" : "an unnamed datatype";
}

}  // namespace

constinit const std::array<std::uint16_t, kOpCodes + 1> kClassesOfOperands = all_operands();

void Op::apply(const void* in, const void* right, void* out, std::uint64_t count,
               const Datatype& type) const {
  if (code_ != OpCode::user) {
    const OpKernel kernel = find_kernel(code_, type.basic());
    expects(kernel != nullptr, "a predefined operation was applied to a type that it is not defined for");
    kernel(in, right, out, count);
    return;
  }
  if (out != right) std::memcpy(out, right, count * type.size());
  // A function with an int count is called several times for more elements than an int can say.
  auto from = reinterpret_cast<std::uintptr_t>(in);
  auto to = reinterpret_cast<std::uintptr_t>(out);
  while (count > 0) {
    const std::int64_t now = static_cast<std::int64_t>(std::min(count, static_cast<std::uint64_t>(chunk_)));
    caller_(function_, reinterpret_cast<const void*>(from), reinterpret_cast<void*>(to), now, type.handle());
    from += static_cast<std::uintptr_t>(now * type.extent());
    to += static_cast<std::uintptr_t>(now * type.extent());
    count -= static_cast<std::uint64_t>(now);
  }
}

std::string why_not(const Op& op, const Datatype& type) {
  if (op.user()) return {};
  if (op.rma_only()) return op.name + " is for one-sided accumulates only, not for reductions";
  if (type.basic() != Basic::none && defined_for(op.code(), type.op_class())) return {};
  return op.name + " is not defined for " + name_of(type) + ", only for " + classes_of(op.code());
}

Basic accumulated_as(const Op& op, const Datatype& type) noexcept {
  if (accumulates(op, type)) return type.basic();
  const bool number = !op.user() && defined_for(op.code(), OpClass::c_integer);
  return number && type.basic() == Basic::byte ? Basic::uint8 : Basic::none;
}

std::string why_not_accumulate(const Op& op, const Datatype& type) {
  if (accumulated_as(op, type) != Basic::none) return {};
  if (op.user()) return "accumulates take predefined operations only";
  return why_not(op, type);
}

Op* predefined_op(HandleBits handle) noexcept {
  if (handle < kFirst || handle >= kFirst + std::tuple_size_v<Table>) return nullptr;
  return table()[handle - kFirst];
}

std::vector<Op*> predefined_ops() {
  std::vector<Op*> all;
  for (const Named& named : kNamed) all.push_back(predefined_op(named.handle));
  return all;
}

}  // namespace starling::mpi
