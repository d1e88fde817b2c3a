/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive buffers that the library provides. An extension of Starling's: docs/design/managed-buffers.md.
 *
 * A receive that is given MPIX_BUFFER_LIBRARY in place of its buffer gets one from the library when its
 * message comes, so that the message can be put there before anybody has asked for it:
 *
 *     MPI_Irecv(MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, MPI_DOUBLE, left, 0, comm, &request);
 *     ...
 *     MPI_Wait(&request, &status);
 *     MPIX_Get_recv_buf(status, &data);      the program's own from here on, to read and to write
 *     ...
 *     MPIX_Release_recv_buf(status, data);   the library's again
 *
 * The functions are weak: a program that uses this header runs with every library of the MPI ABI, if it asks
 * MPIX_HAVE_RECV_BUF() first and brings buffers of its own where that is 0. The constants need no library.
 *
 * The functions are local, wait for nobody, and are for any thread while MPI is active. Errors, which belong
 * to no communicator (MPI 5.0, section 9.3): MPI_ERR_ARG for a status that has no buffer, or none any more,
 * MPI_ERR_BUFFER for an address that is not that of its buffer, MPI_ERR_REQUEST for a request that is no such
 * receive or is not complete.
 *
 * Takers: MPI_Recv, MPI_Irecv, MPI_Recv_init, MPI_Sendrecv, MPI_Isendrecv, MPI_Mrecv, MPI_Imrecv, and their
 * forms with large counts. MPI_Irecv takes NULL as well, if its count is not 0 and its type is dense. */
#ifndef MPIX_H_STARLING
#define MPIX_H_STARLING

#include "mpi.h"

/* In place of a receive buffer. No address of a program's, and no constant of the ABI. */
#define MPIX_BUFFER_LIBRARY ((void*)0x53)
/* As the count of such a receive: whatever the message has. Other counts are upper bounds, as ever. */
#define MPIX_COUNT_ANY (-33001)

#ifndef MPIX_CONSTANTS_ONLY

#if !defined(MPIX_WEAK) && defined(__GNUC__)
#define MPIX_WEAK __attribute__((weak))
#elif !defined(MPIX_WEAK)
#define MPIX_WEAK
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/* The buffer of a completed receive, aligned as memory of malloc; NULL for a message without bytes and for
 * MPI_PROC_NULL. Can be asked any number of times until it is released, with any copy of the status. */
int MPIX_Get_recv_buf(MPI_Status status, void** recv_buf) MPIX_WEAK;
/* Gives the buffer back, in any order, from any thread. It must not be touched any more. */
int MPIX_Release_recv_buf(MPI_Status status, void* recv_buf) MPIX_WEAK;
/* The buffer of a receive that is complete and not freed: of a persistent one (MPI_Recv_init), that of its
 * last start. Each start gets another buffer. Where it was completed with MPI_STATUS_IGNORE, nobody need
 * release it: it stays good until the second start after its own, or until the request is freed. */
int MPIX_Request_get_recv_buf(MPI_Request request, void** recv_buf) MPIX_WEAK;

int PMPIX_Get_recv_buf(MPI_Status status, void** recv_buf) MPIX_WEAK;
int PMPIX_Release_recv_buf(MPI_Status status, void* recv_buf) MPIX_WEAK;
int PMPIX_Request_get_recv_buf(MPI_Request request, void** recv_buf) MPIX_WEAK;

#if defined(__cplusplus)
}
#endif

/* 1 if the library that the program runs with has these functions, else 0. Asked through memory: a program
 * that is not position-independent would compare the address of its own PLT entry, which is never null. */
#if defined(__GNUC__)
#define MPIX_HAVE_RECV_BUF()                                                             \
  (__extension__({                                                                       \
    static int (*const volatile mpix_function_)(MPI_Status, void**) = MPIX_Get_recv_buf; \
    mpix_function_ != 0;                                                                 \
  }))
#else
#define MPIX_HAVE_RECV_BUF() 1
#endif

#endif /* MPIX_CONSTANTS_ONLY */

#endif /* MPIX_H_STARLING */
