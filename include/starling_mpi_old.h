/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that older programs use and that the header of the MPI-5 standard ABI leaves out: conversions for
 * Fortran (MPI_Comm_f2c) and what MPI 3.0 removed (MPI_Address). Included by mpi.h. Layer: public.
 *
 * Nothing here is exported by the library: each name is an inline function over functions of the ABI, so a
 * program that uses it still runs with every library of that ABI.
 * A program that defines one of these names itself says -DSTARLING_STANDARD_NAMES_ONLY and gets none.
 *
 * Threads, errors: those of the functions called. */
#ifndef STARLING_MPI_OLD_H
#define STARLING_MPI_OLD_H

#if defined(__cplusplus)
#define STARLING_OLD static inline
extern "C" {
#elif defined(__GNUC__)
#define STARLING_OLD static __inline__
#else
#define STARLING_OLD static
#endif

/* Handles and Fortran integers (MPI 5.0, 19.3.4). The ABI's handles in Fortran are what MPI_Comm_toint gives
 * (20.4), so MPI_Fint is an int. */
typedef int MPI_Fint;

#define STARLING_OLD_HANDLE(kind, handle_type)                                                        \
  STARLING_OLD MPI_Fint MPI_##kind##_c2f(handle_type handle) { return MPI_##kind##_toint(handle); }   \
  STARLING_OLD handle_type MPI_##kind##_f2c(MPI_Fint number) { return MPI_##kind##_fromint(number); } \
  STARLING_OLD MPI_Fint PMPI_##kind##_c2f(handle_type handle) { return PMPI_##kind##_toint(handle); } \
  STARLING_OLD handle_type PMPI_##kind##_f2c(MPI_Fint number) { return PMPI_##kind##_fromint(number); }
STARLING_OLD_HANDLE(Comm, MPI_Comm)
STARLING_OLD_HANDLE(Errhandler, MPI_Errhandler)
STARLING_OLD_HANDLE(File, MPI_File)
STARLING_OLD_HANDLE(Group, MPI_Group)
STARLING_OLD_HANDLE(Info, MPI_Info)
STARLING_OLD_HANDLE(Message, MPI_Message)
STARLING_OLD_HANDLE(Op, MPI_Op)
STARLING_OLD_HANDLE(Request, MPI_Request)
STARLING_OLD_HANDLE(Session, MPI_Session)
STARLING_OLD_HANDLE(Type, MPI_Datatype)
STARLING_OLD_HANDLE(Win, MPI_Win)
#undef STARLING_OLD_HANDLE

/* Statuses (MPI 5.0, 19.3.5). The ABI has neither these functions nor MPI_F08_status (20.4), so they are no
 * library's; in all three languages a status is MPI_F_STATUS_SIZE integers in the order of MPI_Status. */
typedef struct {
  MPI_Fint MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5];
} MPI_F08_status;

/* Fortran's sentinels, of which these two are known by their address. A program without Fortran has none. */
#ifdef __GNUC__
extern MPI_Fint starling_mpi_sentinels_[22] __attribute__((weak));
STARLING_OLD void* starling_old_sentinel(int place) {
  MPI_Fint* const block = starling_mpi_sentinels_;
  return block ? block + place : 0;
}
#else
STARLING_OLD void* starling_old_sentinel(int place) { return (void)place, (void*)0; }
#endif
#define MPI_F_STATUS_IGNORE ((MPI_Fint*)starling_old_sentinel(6))
#define MPI_F_STATUSES_IGNORE ((MPI_Fint*)starling_old_sentinel(14))
#define MPI_F08_STATUS_IGNORE ((MPI_F08_status*)starling_old_sentinel(6))
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status*)starling_old_sentinel(14))

STARLING_OLD int starling_old_no_status(const void* status) {
  return !status || status == starling_old_sentinel(6) || status == starling_old_sentinel(14);
}

STARLING_OLD int starling_old_copy_status(const void* from, void* to) {
  const MPI_Fint* const source = (const MPI_Fint*)from;
  MPI_Fint* const target = (MPI_Fint*)to;
  int i;
  if (starling_old_no_status(from) || starling_old_no_status(to)) return MPI_ERR_ARG;
  for (i = 0; i < MPI_F_STATUS_SIZE; ++i) target[i] = source[i];
  return MPI_SUCCESS;
}

#define STARLING_OLD_STATUS(name, From, To)                      \
  STARLING_OLD int MPI_Status_##name(const From* from, To* to) { \
    return starling_old_copy_status(from, to);                   \
  }                                                              \
  STARLING_OLD int PMPI_Status_##name(const From* from, To* to) { return starling_old_copy_status(from, to); }
STARLING_OLD_STATUS(f2c, MPI_Fint, MPI_Status)
STARLING_OLD_STATUS(c2f, MPI_Status, MPI_Fint)
STARLING_OLD_STATUS(f082c, MPI_F08_status, MPI_Status)
STARLING_OLD_STATUS(c2f08, MPI_Status, MPI_F08_status)
STARLING_OLD_STATUS(f2f08, MPI_Fint, MPI_F08_status)
STARLING_OLD_STATUS(f082f, MPI_F08_status, MPI_Fint)
#undef STARLING_OLD_STATUS

/* Removed by MPI 3.0 and 4.0 (MPI 5.0, chapter 17). */

typedef MPI_Comm_errhandler_function MPI_Handler_function;
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;

/* Never given by MPI_Type_get_envelope; programs have them as case labels. */
#define MPI_COMBINER_HVECTOR_INTEGER (-105)
#define MPI_COMBINER_HINDEXED_INTEGER (-107)
#define MPI_COMBINER_STRUCT_INTEGER (-110)

/* Known to MPI_Type_struct, and to Starling's MPI_Type_create_struct: values of the ABI's block for datatypes
 * that no datatype has. */
#define MPI_LB ((MPI_Datatype)0x000003fe)
#define MPI_UB ((MPI_Datatype)0x000003ff)

STARLING_OLD int MPI_Address(void* location, MPI_Aint* address) { return MPI_Get_address(location, address); }

STARLING_OLD int MPI_Errhandler_create(MPI_Handler_function* function, MPI_Errhandler* errhandler) {
  return MPI_Comm_create_errhandler(function, errhandler);
}

STARLING_OLD int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
  return MPI_Comm_get_errhandler(comm, errhandler);
}

STARLING_OLD int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
  return MPI_Comm_set_errhandler(comm, errhandler);
}

STARLING_OLD int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint* extent) {
  MPI_Aint lb;
  return MPI_Type_get_extent(datatype, &lb, extent);
}

STARLING_OLD int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint* displacement) {
  MPI_Aint extent;
  return MPI_Type_get_extent(datatype, displacement, &extent);
}

STARLING_OLD int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint* displacement) {
  MPI_Aint extent = 0;
  int code = MPI_Type_get_extent(datatype, displacement, &extent); /* which refuses NULL */
  if (code == MPI_SUCCESS) *displacement = MPI_Aint_add(*displacement, extent);
  return code;
}

STARLING_OLD int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                                  MPI_Datatype* newtype) {
  return MPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}

STARLING_OLD int MPI_Type_hindexed(int count, const int* blocklengths, const MPI_Aint* displacements,
                                   MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return MPI_Type_create_hindexed(count, blocklengths, displacements, oldtype, newtype);
}

/* Makes *sum the struct of *sum and the entries [from, to); MPI_DATATYPE_NULL stands for an empty sum. */
STARLING_OLD int starling_old_struct_add(int from, int to, const int* blocklengths,
                                         const MPI_Aint* displacements, const MPI_Datatype* types,
                                         MPI_Datatype* sum) {
  static const int ones[2] = {1, 1};
  static const MPI_Aint zeros[2] = {0, 0};
  MPI_Datatype parts[2], both = MPI_DATATYPE_NULL;
  int code;
  if (to == from && *sum != MPI_DATATYPE_NULL) return MPI_SUCCESS;
  parts[0] = *sum;
  code =
      MPI_Type_create_struct(to - from, blocklengths + from, displacements + from, types + from, &parts[1]);
  if (code != MPI_SUCCESS) return code;
  if (*sum == MPI_DATATYPE_NULL) {
    *sum = parts[1];
    return MPI_SUCCESS;
  }
  code = MPI_Type_create_struct(2, ones, zeros, parts, &both);
  MPI_Type_free(&parts[1]);
  if (code != MPI_SUCCESS) return code;
  MPI_Type_free(sum);
  *sum = both;
  return MPI_SUCCESS;
}

/* The bounds of `datatype` become those given; where none is given, its own stays. Frees the old type. */
STARLING_OLD int starling_old_set_bounds(MPI_Datatype* datatype, const MPI_Aint* lb_given,
                                         const MPI_Aint* ub_given) {
  MPI_Aint lb, extent, ub;
  MPI_Datatype resized = MPI_DATATYPE_NULL;
  int code = MPI_Type_get_extent(*datatype, &lb, &extent);
  if (code != MPI_SUCCESS) return code;
  ub = ub_given ? *ub_given : MPI_Aint_add(lb, extent);
  if (lb_given) lb = *lb_given;
  code = MPI_Type_create_resized(*datatype, lb, MPI_Aint_diff(ub, lb), &resized);
  if (code != MPI_SUCCESS) return code;
  MPI_Type_free(datatype);
  *datatype = resized;
  return MPI_SUCCESS;
}

/* MPI 2.2, 4.1.2 and 4.1.6. An entry MPI_LB or MPI_UB carries no data and sets a bound; of several the
 * lowest MPI_LB and the highest MPI_UB hold. They outweigh the bounds of the other entries, also bounds that
 * were themselves set by a marker (MPI 1 took the extreme of both). */
STARLING_OLD int MPI_Type_struct(int count, const int* blocklengths, const MPI_Aint* displacements,
                                 const MPI_Datatype* types, MPI_Datatype* newtype) {
  MPI_Datatype sum = MPI_DATATYPE_NULL;
  MPI_Aint lb = 0, ub = 0;
  int has_lb = 0, has_ub = 0, begin = 0, i, code = MPI_SUCCESS;
  for (i = 0; i < count; ++i) {
    if (types[i] != MPI_LB && types[i] != MPI_UB) continue;
    code = starling_old_struct_add(begin, i, blocklengths, displacements, types, &sum);
    if (code != MPI_SUCCESS) break;
    begin = i + 1;
    if (blocklengths[i] == 0) continue;
    if (types[i] == MPI_LB) {
      lb = has_lb && lb < displacements[i] ? lb : displacements[i];
      has_lb = 1;
    } else {
      ub = has_ub && ub > displacements[i] ? ub : displacements[i];
      has_ub = 1;
    }
  }
  if (begin == 0 && code == MPI_SUCCESS) {
    return MPI_Type_create_struct(count, blocklengths, displacements, types, newtype);
  }
  if (code == MPI_SUCCESS) {
    code = starling_old_struct_add(begin, count, blocklengths, displacements, types, &sum);
  }
  if (code == MPI_SUCCESS && (has_lb || has_ub)) {
    code = starling_old_set_bounds(&sum, has_lb ? &lb : 0, has_ub ? &ub : 0);
  }
  if (code == MPI_SUCCESS) {
    *newtype = sum;
  } else if (sum != MPI_DATATYPE_NULL) {
    MPI_Type_free(&sum);
  }
  return code;
}

#undef STARLING_OLD
#if defined(__cplusplus)
}
#endif

#endif /* STARLING_MPI_OLD_H */
