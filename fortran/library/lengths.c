/* SPDX-License-Identifier: BSD-3-Clause */
/* Routines where the length of a string is an argument, which counts C's final zero and not Fortran's
 * blanks. Layer: fortran. */
#include "fortran/library/support.h"

#include <stdlib.h>

void pmpi_info_get_(int* info, char* key, int* valuelen, char* value, int* flag, int* ierror, size_t key_len,
                    size_t value_len) {
  Text key_;
  int flag_ = 0, wanted = *valuelen;
  if (wanted >= 0 && (size_t)wanted > value_len) wanted = (int)value_len;
  char* const room_ = malloc((size_t)length(wanted) + 1);
  if (room_ == NULL) abort();
  info_text_from(&key_, key, key_len);
  const int code = PMPI_Info_get(info_from(*info), key_.at, wanted, room_, &flag_);
  if (code == MPI_SUCCESS) {
    *flag = logical_to(flag_);
    if (flag_) text_to(value, value_len, room_);
  }
  text_free(&key_);
  free(room_);
  GIVE(ierror, code);
}
NAMES(info_get)

/* How much room C gets for what Fortran asks: 0 asks for the length only. */
static int room_with_zero(int asked, size_t given) {
  if (asked <= 0) return asked;
  return (int)((size_t)asked < given ? (size_t)asked : given) + 1;
}

void pmpi_info_get_string_(int* info, char* key, int* buflen, char* value, int* flag, int* ierror,
                           size_t key_len, size_t value_len) {
  Text key_;
  int flag_ = 0, size = room_with_zero(*buflen, value_len);
  const int asked = size;
  char* const room_ = malloc((size_t)length(asked) + 1);
  if (room_ == NULL) abort();
  info_text_from(&key_, key, key_len);
  const int code = PMPI_Info_get_string(info_from(*info), key_.at, &size, room_, &flag_);
  if (code == MPI_SUCCESS) {
    *flag = logical_to(flag_);
    if (flag_) *buflen = size - 1;
    if (flag_ && asked > 0) text_to(value, value_len, room_);
  }
  text_free(&key_);
  free(room_);
  GIVE(ierror, code);
}
NAMES(info_get_string)

void pmpi_session_get_nth_pset_(int* session, int* info, int* n, int* pset_len, char* pset_name, int* ierror,
                                size_t pset_name_len) {
  int size = room_with_zero(*pset_len, pset_name_len);
  const int asked = size;
  char* const room_ = malloc((size_t)length(asked) + 1);
  if (room_ == NULL) abort();
  const int code = PMPI_Session_get_nth_pset(session_from(*session), info_from(*info), *n, &size, room_);
  if (code == MPI_SUCCESS) {
    *pset_len = size - 1;
    if (asked > 0) text_to(pset_name, pset_name_len, room_);
  }
  free(room_);
  GIVE(ierror, code);
}
NAMES(session_get_nth_pset)

void pmpi_info_create_env_(int* info, int* ierror) {
  MPI_Info info_ = MPI_INFO_NULL;
  const int code = PMPI_Info_create_env(0, NULL, &info_);
  if (code == MPI_SUCCESS) *info = info_to(info_);
  GIVE(ierror, code);
}
NAMES(info_create_env)
