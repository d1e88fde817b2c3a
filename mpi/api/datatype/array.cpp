// SPDX-License-Identifier: BSD-3-Clause
// Subarrays and distributed arrays. Layer: mpi. MPI 5.0 sections 5.1.3 and 5.1.4.
#include <string>

#include "mpi/api/datatype/common.hpp"

namespace starling::mpi::api {
namespace {

static_assert(static_cast<int>(ArrayOrder::c) == MPI_ORDER_C &&
              static_cast<int>(ArrayOrder::fortran) == MPI_ORDER_FORTRAN);
static_assert(static_cast<int>(Distribution::none) == MPI_DISTRIBUTE_NONE &&
              static_cast<int>(Distribution::block) == MPI_DISTRIBUTE_BLOCK &&
              static_cast<int>(Distribution::cyclic) == MPI_DISTRIBUTE_CYCLIC &&
              kDefaultDistributionArgument == MPI_DISTRIBUTE_DFLT_DARG);

int bad_order(int order) {
  return error(MPI_ERR_ARG,
               "order is " + std::to_string(order) + ", expected MPI_ORDER_C or MPI_ORDER_FORTRAN");
}
bool is_order(int order) { return order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN; }

}  // namespace

int Type_create_subarray(int ndims, IntArray array_of_sizes, IntArray array_of_subsizes,
                         IntArray array_of_starts, int order, Datatype& oldtype, MPI_Datatype* newtype) {
  if (!is_order(order)) return bad_order(order);
  std::vector<std::int64_t> sizes, subsizes, starts;
  if (const int code = copy_array("array_of_sizes", array_of_sizes, ndims, sizes); code != MPI_SUCCESS)
    return code;
  if (const int code = copy_array("array_of_subsizes", array_of_subsizes, ndims, subsizes);
      code != MPI_SUCCESS)
    return code;
  if (const int code = copy_array("array_of_starts", array_of_starts, ndims, starts); code != MPI_SUCCESS)
    return code;
  return give(make_subarray(sizes, subsizes, starts, static_cast<ArrayOrder>(order), oldtype), newtype);
}

int Type_create_darray(int size, int rank, int ndims, IntArray array_of_gsizes, const int array_of_distribs[],
                       const int array_of_dargs[], const int array_of_psizes[], int order, Datatype& oldtype,
                       MPI_Datatype* newtype) {
  if (!is_order(order)) return bad_order(order);
  std::vector<std::int64_t> sizes, distributions, arguments, processes;
  if (const int code = copy_array("array_of_gsizes", array_of_gsizes, ndims, sizes); code != MPI_SUCCESS)
    return code;
  if (const int code = copy_array("array_of_distribs", array_of_distribs, ndims, distributions);
      code != MPI_SUCCESS)
    return code;
  if (const int code = copy_array("array_of_dargs", array_of_dargs, ndims, arguments); code != MPI_SUCCESS)
    return code;
  if (const int code = copy_array("array_of_psizes", array_of_psizes, ndims, processes); code != MPI_SUCCESS)
    return code;
  std::vector<DarrayDimension> dimensions(sizes.size());
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    if (distributions[i] < MPI_DISTRIBUTE_NONE || distributions[i] > MPI_DISTRIBUTE_CYCLIC) {
      return error(MPI_ERR_ARG,
                   "array_of_distribs[" + std::to_string(i) + "] is " + std::to_string(distributions[i]) +
                       ", expected MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK or MPI_DISTRIBUTE_CYCLIC");
    }
    dimensions[i] = {sizes[i], static_cast<Distribution>(distributions[i]), arguments[i], processes[i]};
  }
  return give(make_darray(size, rank, dimensions, static_cast<ArrayOrder>(order), oldtype), newtype);
}

}  // namespace starling::mpi::api
