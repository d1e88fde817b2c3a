#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A hub that holds every frame for a while: joins network interfaces, as a slow path between nodes.

usage: relay.py DELAY_MS INTERFACE ...      (needs root; ends when its standard input does)
The kernels of test machines need not have netem. Frames keep their offload header, so large ones and those without a
checksum yet pass as they are.
"""
import collections
import select
import socket
import sys
import time

SOL_PACKET, PACKET_VNET_HDR, PACKET_OUTGOING = 263, 15, 4
ALL_PROTOCOLS = 0x0300  # ETH_P_ALL, as the network has it
FRAME_MAX = 70_000


def port(interface):
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, ALL_PROTOCOLS)
    made.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    made.bind((interface, 0))
    made.setblocking(False)
    return made


def take(source, ports, waiting, release):
    """Everything that has arrived at one port."""
    while True:
        try:
            frame, address = source.recvfrom(FRAME_MAX)
        except BlockingIOError:
            return
        if address[2] != PACKET_OUTGOING:
            waiting.append((release, frame, [other for other in ports if other is not source]))


def main():
    delay = float(sys.argv[1]) / 1000
    ports = [port(interface) for interface in sys.argv[2:]]
    waiting = collections.deque()
    print("ready", flush=True)
    while True:
        pause = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        readable, _, _ = select.select([*ports, sys.stdin], [], [], pause)
        if sys.stdin in readable:
            return
        for source in readable:
            take(source, ports, waiting, time.monotonic() + delay)
        while waiting and waiting[0][0] <= time.monotonic():
            _, frame, targets = waiting.popleft()
            for target in targets:
                try:
                    target.send(frame)
                except OSError:
                    pass  # a full queue drops, as a wire does


main()
