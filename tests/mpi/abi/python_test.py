#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What Python programs do with an MPI library: pickled objects, threads that block outside the interpreter's
lock, operations and callbacks written in Python, and MPI_Finalize from atexit.

usage: python_test.py LIBRARY

Standard library only; ctypes gives the lock back during each call, as extension modules do.
"""

import atexit
import ctypes
import os
import pickle
import sys
import threading
from ctypes import byref, c_double, c_int, c_void_p

MPI = ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOW | os.RTLD_LOCAL)
# Values of the standard ABI.
WORLD, SELF, DOUBLE, BYTE = (c_void_p(value) for value in (0x101, 0x102, 0x214, 0x247))
COMM_NULL, THREAD_MULTIPLE = 0x100, 4096
THREADS, ROUNDS = 3, 10


class Status(ctypes.Structure):
    _fields_ = [("source", c_int), ("tag", c_int), ("error", c_int), ("internal", c_int * 5)]


def call(name, *arguments):
    code = getattr(MPI, name)(*arguments)
    if code != 0:
        raise RuntimeError(f"{name} returned {code}")


def number(name, *arguments):
    """The integer that a function gives by its last argument."""
    value = c_int(-1)
    call(name, *arguments, byref(value))
    return value.value


def send(thing, dest, tag, comm):
    """The request and the bytes, which must live until it is complete."""
    request, text = c_void_p(), pickle.dumps(thing)
    call("MPI_Isend", text, len(text), BYTE, dest, tag, comm, byref(request))
    return request, text


def receive(source, tag, comm):
    message, status = c_void_p(), Status()
    call("MPI_Mprobe", source, tag, comm, byref(message), byref(status))
    room = ctypes.create_string_buffer(number("MPI_Get_count", byref(status), BYTE))
    call("MPI_Mrecv", room, len(room), BYTE, byref(message), byref(status))
    return pickle.loads(room.raw)


def objects(rank, size):
    for length in (0, 1000, 300000):
        sent = [send((rank, bytes(length)), dest, length, WORLD) for dest in range(size)]
        for source in range(size):
            assert receive(source, length, WORLD) == (source, bytes(length))
        for request, _ in sent:
            call("MPI_Wait", byref(request), None)


def threads(rank, size):
    """Each thread has a communicator; one waits from the start for what is sent when all others are done."""
    comms = [c_void_p() for _ in range(THREADS + 1)]
    for comm in comms:
        call("MPI_Comm_dup", WORLD, byref(comm))
    done, got = [], []

    def ring(comm):
        for round_number in range(ROUNDS):
            request, _keep = send((rank, round_number), (rank + 1) % size, round_number, comm)
            assert receive((rank - 1) % size, round_number, comm) == ((rank - 1) % size, round_number)
            call("MPI_Wait", byref(request), None)
            call("MPI_Barrier", comm)
        done.append(comm)

    waiting = threading.Thread(target=lambda: got.append(receive((rank - 1) % size, 0, comms[-1])))
    waiting.start()
    working = [threading.Thread(target=ring, args=(comm,)) for comm in comms[:-1]]
    for thread in working:
        thread.start()
    for thread in working:
        thread.join()
    assert len(done) == THREADS and not got
    call("MPI_Barrier", WORLD)
    request, _keep = send("end", (rank + 1) % size, 0, comms[-1])
    waiting.join()
    assert got == ["end"]
    call("MPI_Wait", byref(request), None)
    for comm in comms:
        call("MPI_Comm_free", byref(comm))
        assert comm.value == COMM_NULL


@ctypes.CFUNCTYPE(None, ctypes.POINTER(c_double), ctypes.POINTER(c_double), ctypes.POINTER(c_int), c_void_p)
def after(left, right, count, _datatype):
    """x -> a x + b as pairs (a, b): first the right one, then the left one, which is not commutative."""
    for i in range(0, 2 * count[0], 2):
        (a, b), (c, d) = left[i:i + 2], right[i:i + 2]
        right[i], right[i + 1] = a * c, a * d + b


def operation(rank, size):
    op, pair = c_void_p(), c_void_p()
    call("MPI_Type_contiguous", 2, DOUBLE, byref(pair))
    call("MPI_Type_commit", byref(pair))
    call("MPI_Op_create", after, 0, byref(op))
    mine, result = (c_double * 2)(2, rank), (c_double * 2)()
    call("MPI_Allreduce", mine, result, 1, pair, op, WORLD)
    expected = sum(2 ** other * other for other in range(size))
    assert list(result) == [2.0 ** size, expected], list(result)
    call("MPI_Op_free", byref(op))
    call("MPI_Type_free", byref(pair))


KEPT, KEY, CALLS = c_void_p(), c_int(), []


@ctypes.CFUNCTYPE(c_int, c_void_p, c_int, c_void_p, c_void_p)
def give_back(_comm, _key, _value, _extra):
    CALLS.append(number("MPI_Finalized"))
    call("MPI_Comm_free", byref(KEPT))
    call("MPI_Comm_free_keyval", byref(KEY))
    return 0


def at_exit():
    code = MPI.MPI_Finalize()
    if code != 0 or CALLS != [0]:
        print(f"MPI_Finalize returned {code}, MPI_Finalized in the callback gave {CALLS}", file=sys.stderr)
        os._exit(3)  # an exception would not change the exit code here


def main():
    assert number("MPI_Init_thread", None, None, THREAD_MULTIPLE) == THREAD_MULTIPLE
    rank, size = number("MPI_Comm_rank", WORLD), number("MPI_Comm_size", WORLD)
    objects(rank, size)
    threads(rank, size)
    operation(rank, size)
    call("MPI_Comm_dup", WORLD, byref(KEPT))
    call("MPI_Comm_create_keyval", None, give_back, byref(KEY), None)
    call("MPI_Comm_set_attr", SELF, KEY, None)
    atexit.register(at_exit)


if __name__ == "__main__":
    main()
