/* SPDX-License-Identifier: BSD-3-Clause */
/* Initialisation, which makes the compiler known, and the routines that are no subroutines with an ierror.
 * Layer: fortran. */
#include "fortran/library/support.h"

#include <stdio.h>
#include <string.h>

/* Sizes and truth values of the compiler: compiler.F90 fills the block. */
extern struct {
  int logical_size, integer_size, real_size, double_size, real16, real2;
} starling_mpi_compiler_;

static int set_size(MPI_Info info, const char* key, int value) {
  char text[16];
  snprintf(text, sizeof text, "%d", value);
  return PMPI_Info_set(info, key, text);
}

static int set_supported(MPI_Info info, const char* key, int yes) {
  return PMPI_Info_set(info, key, yes ? "true" : "false");
}

static void describe(MPI_Info info) {
  static const char* const kAlways[] = {
      "mpi_logical1_supported",      "mpi_logical2_supported", "mpi_logical4_supported",
      "mpi_logical8_supported",      "mpi_integer1_supported", "mpi_integer2_supported",
      "mpi_integer4_supported",      "mpi_integer8_supported", "mpi_real4_supported",
      "mpi_real8_supported",         "mpi_complex8_supported", "mpi_complex16_supported",
      "mpi_double_complex_supported"};
  set_size(info, "mpi_logical_size", starling_mpi_compiler_.logical_size);
  set_size(info, "mpi_integer_size", starling_mpi_compiler_.integer_size);
  set_size(info, "mpi_real_size", starling_mpi_compiler_.real_size);
  set_size(info, "mpi_double_precision_size", starling_mpi_compiler_.double_size);
  for (size_t i = 0; i < sizeof kAlways / sizeof *kAlways; ++i) set_supported(info, kAlways[i], 1);
  set_supported(info, "mpi_logical16_supported", starling_mpi_compiler_.real16);
  set_supported(info, "mpi_integer16_supported", starling_mpi_compiler_.real16);
  set_supported(info, "mpi_real2_supported", starling_mpi_compiler_.real2);
  set_supported(info, "mpi_complex4_supported", starling_mpi_compiler_.real2);
  set_supported(info, "mpi_real16_supported", starling_mpi_compiler_.real16);
  set_supported(info, "mpi_complex32_supported", starling_mpi_compiler_.real16);
}

/* Whether what somebody else registered fits this compiler. */
static int agrees(MPI_Info mine, MPI_Info theirs, const char* key) {
  char a[16] = "", b[16] = "";
  int a_size = sizeof a, b_size = sizeof b, a_set = 0, b_set = 0;
  PMPI_Info_get_string(mine, key, &a_size, a, &a_set);
  PMPI_Info_get_string(theirs, key, &b_size, b, &b_set);
  if (!a_set || !b_set || strcmp(a, b) == 0) return 1;
  fprintf(stderr,
          "libmpifort_abi: this Fortran library was built with %s = %s, but the MPI library has been told %s "
          "by another "
          "Fortran binding; build the program with one compiler and one binding\n",
          key, a, b);
  return 0;
}

static void compare(MPI_Info mine) {
  MPI_Info theirs = MPI_INFO_NULL;
  if (PMPI_Abi_get_fortran_info(&theirs) != MPI_SUCCESS || theirs == MPI_INFO_NULL) return;
  (void)(agrees(mine, theirs, "mpi_integer_size") && agrees(mine, theirs, "mpi_logical_size") &&
         agrees(mine, theirs, "mpi_real_size") && agrees(mine, theirs, "mpi_double_precision_size"));
  PMPI_Info_free(&theirs);
}

void register_compiler(void) {
  static int done; /* relaxed: to register twice does no harm, as the first one counts */
  MPI_Info info = MPI_INFO_NULL, theirs = MPI_INFO_NULL;
  int is_set = 0, yes, no;
  if (__atomic_exchange_n(&done, 1, __ATOMIC_RELAXED) || PMPI_Info_create(&info) != MPI_SUCCESS) return;
  describe(info);
  if (PMPI_Abi_get_fortran_info(&theirs) == MPI_SUCCESS && theirs != MPI_INFO_NULL) {
    PMPI_Info_free(&theirs);
    compare(info);
  } else {
    PMPI_Abi_set_fortran_info(info);
  }
  PMPI_Info_free(&info);
  if (PMPI_Abi_get_fortran_booleans(sizeof(int), &yes, &no, &is_set) == MPI_SUCCESS && !is_set) {
    PMPI_Abi_set_fortran_booleans(sizeof(int), &starling_mpi_logicals_.yes, &starling_mpi_logicals_.no);
  }
}

void pmpi_init_(int* ierror) {
  register_compiler();
  const int code = PMPI_Init(NULL, NULL);
  GIVE(ierror, code);
}
NAMES(init)

void pmpi_init_thread_(int* required, int* provided, int* ierror) {
  register_compiler();
  const int code = PMPI_Init_thread(NULL, NULL, *required, provided);
  GIVE(ierror, code);
}
NAMES(init_thread)

double pmpi_wtime_(void) { return PMPI_Wtime(); }
NAMES(wtime)
double pmpi_wtick_(void) { return PMPI_Wtick(); }
NAMES(wtick)
MPI_Aint pmpi_aint_add_(MPI_Aint* base, MPI_Aint* disp) { return PMPI_Aint_add(*base, *disp); }
NAMES(aint_add)
MPI_Aint pmpi_aint_diff_(MPI_Aint* addr1, MPI_Aint* addr2) { return PMPI_Aint_diff(*addr1, *addr2); }
NAMES(aint_diff)
void pmpi_pcontrol_(int* level) { PMPI_Pcontrol(*level); }
NAMES(pcontrol)

/* That it is called is all that it is for: the compiler keeps its hands off the buffer (MPI 5.0, 19.1.17). */
void pmpi_f_sync_reg_(void* buf) { (void)buf; }
NAMES_F90(f_sync_reg)

void pmpi_status_f2f08_(int* f_status, int* f08_status, int* ierror) {
  memcpy(f08_status, f_status, sizeof(MPI_Status));
  GIVE(ierror, MPI_SUCCESS);
}
NAMES(status_f2f08)

void pmpi_status_f082f_(int* f08_status, int* f_status, int* ierror) {
  memcpy(f_status, f08_status, sizeof(MPI_Status));
  GIVE(ierror, MPI_SUCCESS);
}
NAMES(status_f082f)
