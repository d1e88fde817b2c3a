#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Loads libmpi_abi.so.1 as Python extensions do, with RTLD_LOCAL, and sends a message to itself.

usage: ctypes_test.py LIBRARY
"""

import ctypes
import os
import sys


def check(code, what):
    if code != 0:
        sys.exit(f"{what} returned {code}")


def main():
    mpi = ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOW | os.RTLD_LOCAL)
    world, status_ignore = ctypes.c_void_p(0x101), ctypes.c_void_p(0)
    integer = ctypes.c_void_p(0x209)
    check(mpi.MPI_Init(None, None), "MPI_Init")
    rank, size = ctypes.c_int(-1), ctypes.c_int(-1)
    check(mpi.MPI_Comm_rank(world, ctypes.byref(rank)), "MPI_Comm_rank")
    check(mpi.MPI_Comm_size(world, ctypes.byref(size)), "MPI_Comm_size")
    assert 0 <= rank.value < size.value
    sent, received, request = ctypes.c_int(42 + rank.value), ctypes.c_int(0), ctypes.c_void_p(0)
    # To the next rank, from the one before.
    check(mpi.MPI_Irecv(ctypes.byref(received), 1, integer, (rank.value - 1) % size.value, 5, world,
                        ctypes.byref(request)), "MPI_Irecv")
    check(mpi.MPI_Send(ctypes.byref(sent), 1, integer, (rank.value + 1) % size.value, 5, world), "MPI_Send")
    check(mpi.MPI_Wait(ctypes.byref(request), status_ignore), "MPI_Wait")
    assert received.value == 42 + (rank.value - 1) % size.value, received.value
    check(mpi.MPI_Finalize(), "MPI_Finalize")


if __name__ == "__main__":
    main()
