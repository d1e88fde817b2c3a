/* SPDX-License-Identifier: BSD-3-Clause */
/* What TCP sockets allow between two nodes, without any MPI or library: both sides spin on non-blocking
 * sockets. Usage: floor_tcp CPU PORT [ADDRESS]; without ADDRESS it is the side that listens. */
#include "bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum { kBatches = 11, kWindow = 32, kLargest = 4194304 };

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static void all_of(int fd, unsigned char* at, size_t bytes, int out) {
  while (bytes != 0) {
    const ssize_t moved = out ? send(fd, at, bytes, MSG_NOSIGNAL) : recv(fd, at, bytes, 0);
    if (moved == 0 && !out) exit(1);
    if (moved < 0 && errno != EAGAIN) fail(out ? "send" : "recv");
    if (moved > 0) {
      at += moved;
      bytes -= (size_t)moved;
    }
  }
}

static int meet(int port, const char* address) {
  const int yes = 1;
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  int fd = socket(AF_INET, SOCK_STREAM, 0), peer;
  if (address == NULL) {
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr*)&name, sizeof name) != 0 || listen(fd, 1) != 0) fail("listen");
    peer = accept(fd, NULL, NULL);
    close(fd);
  } else {
    inet_pton(AF_INET, address, &name.sin_addr);
    for (int tries = 0; connect(fd, (struct sockaddr*)&name, sizeof name) != 0; ++tries) {
      if (tries == 200) fail("connect");
      close(fd);
      usleep(20000);
      fd = socket(AF_INET, SOCK_STREAM, 0);
    }
    peer = fd;
  }
  setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return peer;
}

static double one_way_us(int fd, unsigned char* buffer, size_t bytes, int rounds, int first) {
  const double start = bench_seconds();
  for (int i = 0; i < rounds; ++i)
    for (int half = 0; half < 2; ++half) all_of(fd, buffer, bytes, (half == 0) == first);
  return (bench_seconds() - start) / rounds / 2 * 1e6;
}

static double window_gbs(int fd, unsigned char* buffer, size_t bytes, int windows, int first) {
  unsigned char token = 0;
  const double start = bench_seconds();
  for (int w = 0; w < windows; ++w) {
    for (int i = 0; i < kWindow; ++i) all_of(fd, buffer, bytes, first);
    all_of(fd, &token, 1, !first);
  }
  return (double)windows * kWindow * (double)bytes / (bench_seconds() - start) / 1e9;
}

int main(int argc, char** argv) {
  static const int latency_sizes[] = {8, 256, 1024, 4096, 16384, 65536};
  static const int bandwidth_sizes[] = {16384, 65536, 262144, 1048576, 4194304};
  if (argc < 3) return 2;
  bench_pin(atoi(argv[1]));
  const int first = argc > 3;
  const int fd = meet(atoi(argv[2]), first ? argv[3] : NULL);
  /* Blocking while they meet, spinning from here on. */
  const int flags = fcntl(fd, F_GETFL);
  fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  unsigned char* buffer = bench_buffer(kLargest);
  double batches[kBatches];
  for (unsigned s = 0; s < sizeof latency_sizes / sizeof *latency_sizes; ++s) {
    const int rounds = latency_sizes[s] <= 4096 ? 1500 : 300;
    one_way_us(fd, buffer, (size_t)latency_sizes[s], rounds, first);
    for (int b = 0; b < kBatches; ++b)
      batches[b] = one_way_us(fd, buffer, (size_t)latency_sizes[s], rounds, first);
    if (first) bench_print("latency", latency_sizes[s], bench_median(batches, kBatches), "us");
  }
  for (unsigned s = 0; s < sizeof bandwidth_sizes / sizeof *bandwidth_sizes; ++s) {
    const int windows = bandwidth_sizes[s] < 1048576 ? 5 : 2;
    for (int b = 0; b < kBatches; ++b)
      batches[b] = window_gbs(fd, buffer, (size_t)bandwidth_sizes[s], windows, first);
    if (first) bench_print("bandwidth", bandwidth_sizes[s], bench_median(batches, kBatches), "GB/s");
  }
  free(buffer);
  return 0;
}
