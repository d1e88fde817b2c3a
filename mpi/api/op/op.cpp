// SPDX-License-Identifier: BSD-3-Clause
// Reduction operations. Layer: mpi. MPI 5.0 sections 6.9.5 to 6.9.7.
#include <limits>

#include "mpi/api.gen.hpp"
#include "mpi/error.hpp"
#include "mpi/op/op.hpp"

namespace starling::mpi::api {
namespace {

template <class Function, class Count>
void call_user(Op::AnyFunction function, const void* in, void* inout, std::int64_t count,
               HandleBits datatype) {
  auto length = static_cast<Count>(count);
  auto type = as_handle<MPI_Datatype>(datatype);
  // MPI's prototype is not const; the function must not change its input (section 6.9.5).
  reinterpret_cast<Function*>(function)(const_cast<void*>(in), inout, &length, &type);
}

int give(Ref<Op> made, MPI_Op* op) {
  *op = new_handle<MPI_Op>(tables().op, std::move(made));
  if (*op == MPI_OP_NULL) return too_many("operations");
  return MPI_SUCCESS;
}

}  // namespace

int Op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
  return give(
      Ref<Op>::adopt(new Op(reinterpret_cast<Op::AnyFunction>(user_fn), call_user<MPI_User_function, int>,
                            std::numeric_limits<int>::max(), commute != 0)),
      op);
}

int Op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op) {
  return give(Ref<Op>::adopt(new Op(reinterpret_cast<Op::AnyFunction>(user_fn),
                                    call_user<MPI_User_function_c, MPI_Count>,
                                    std::numeric_limits<std::int64_t>::max(), commute != 0)),
              op);
}

int Op_free(MPI_Op* op) {
  Op* const object = find_op(*op);
  if (object == nullptr) return error(MPI_ERR_OP, "op is not a live operation");
  if (object->predefined())
    return error(MPI_ERR_OP, "op is " + object->name + ", predefined operations cannot be freed");
  tables().op.remove(object->handle());
  object->drop();
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

int Op_commutative(Op& op, int* commute) {
  // MPI_REPLACE gives one operand, MPI_NO_OP the other (MPI 5.0, 12.3.4): the order counts.
  *commute = op.commutative() && !op.rma_only() ? 1 : 0;
  return MPI_SUCCESS;
}

int Reduce_local(const void* inbuf, void* inoutbuf, MPI_Count count, Datatype& datatype, Op& op) {
  if (const std::string reason = why_not(op, datatype); !reason.empty()) return error(MPI_ERR_OP, reason);
  if (count > 0 && inbuf == inoutbuf && datatype.size() > 0) {
    return error(MPI_ERR_BUFFER, "inbuf and inoutbuf are the same address, expected two buffers");
  }
  op.apply(inbuf, inoutbuf, static_cast<std::uint64_t>(count), datatype);
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
