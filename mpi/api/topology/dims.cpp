// SPDX-License-Identifier: BSD-3-Clause
// MPI_Dims_create. Layer: mpi. MPI 5.0 section 8.5.2.

#include "mpi/api.gen.hpp"
#include "mpi/api/checks.hpp"
#include "mpi/api/topology/attach.hpp"
#include "mpi/error.hpp"
#include "mpi/topology/balance.hpp"

namespace starling::mpi::api {

int Dims_create(int nnodes, int ndims, int dims[]) {
  if (nnodes < 1) return error(MPI_ERR_DIMS, unexpected("nnodes", nnodes, "1 or more"));
  if (ndims < 0) return error(MPI_ERR_DIMS, unexpected("ndims", ndims, "0 or more"));
  const auto count = static_cast<std::uint32_t>(ndims);
  if (const int rc = check::bad_array("dims", dims, count); rc != MPI_SUCCESS) return rc;
  int rest = nnodes, open = 0;
  for (std::size_t d = 0; d < count; ++d) {
    if (dims[d] < 0) return error(MPI_ERR_DIMS, unexpected(element("dims", d), dims[d], "0 or more"));
    if (dims[d] == 0) {
      ++open;
    } else if (rest % dims[d] == 0) {
      rest /= dims[d];
    } else {
      return error(MPI_ERR_DIMS, unexpected("nnodes", nnodes, "a multiple of the product of the given dims"));
    }
  }
  if (open == 0 && rest != 1) {
    return error(MPI_ERR_DIMS, unexpected("nnodes", nnodes, "the product of dims, which are all given"));
  }
  const std::vector<int> factors = topology::balanced_factors(rest, open);
  std::size_t next = 0;
  for (std::size_t d = 0; d < count; ++d) {
    if (dims[d] == 0) dims[d] = factors[next++];
  }
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
