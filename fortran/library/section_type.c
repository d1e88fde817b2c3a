/* SPDX-License-Identifier: BSD-3-Clause */
/* A section as a datatype, for large ones in calls with one count and one type. Layer: fortran.
 *
 * The call then reads and writes the user's array itself, where a copy, and a second one to see what has
 * changed, would be made otherwise. */
#include "fortran/library/section.h"

/* Below this many bytes the copy is cheaper than the type. */
enum { kWorthAType = 4096 };

/* The first `runs` runs of `per_run` elements each; of several dimensions all runs. */
static int make(const Section* shape, int runs, int per_run, MPI_Datatype element, MPI_Datatype* made) {
  int code = PMPI_Type_create_hvector(runs, per_run, shape->stride[0], element, made);
  for (int d = 1; d < shape->rank && code == MPI_SUCCESS; ++d) {
    MPI_Datatype inner = *made;
    code = PMPI_Type_create_hvector((int)shape->extent[d], 1, shape->stride[d], inner, made);
    PMPI_Type_free(&inner);
  }
  if (code == MPI_SUCCESS) code = PMPI_Type_commit(made);
  return code;
}

int section_type(const CFI_cdesc_t* array, int count, int datatype, int* made) {
  Section shape;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int size = 0;
  /* Only a constant type of the element's size: its extent is its size, and no error is to be found in it. */
  if (!is_constant(datatype) || datatype == (int)(intptr_t)MPI_DATATYPE_NULL || count <= 0 ||
      (size_t)count > INT32_MAX / array->elem_len)
    return 0;
  if ((size_t)count * array->elem_len < kWorthAType) return 0;
  if (PMPI_Type_size((MPI_Datatype)(uintptr_t)(unsigned)datatype, &size) != MPI_SUCCESS) return 0;
  if (size <= 0 || (size_t)size != array->elem_len) return 0;
  section_describe(&shape, array);
  const size_t per_run = shape.run / array->elem_len, total = shape.bytes / array->elem_len;
  const size_t runs = shape.rank == 1 ? (size_t)count / per_run : (size_t)shape.extent[0];
  if ((size_t)count > total || (size_t)count % per_run != 0 || (shape.rank > 1 && (size_t)count != total))
    return 0;
  if (make(&shape, (int)runs, (int)per_run, (MPI_Datatype)(uintptr_t)(unsigned)datatype, &type) !=
      MPI_SUCCESS)
    return 0;
  *made = type_to(type);
  return 1;
}

void section_type_free(int made) {
  MPI_Datatype type = type_from(made);
  PMPI_Type_free(&type);
}
