/* SPDX-License-Identifier: BSD-3-Clause */
/* The least that starting a job on one machine takes: start n processes, each with a socket to the
 * launcher; each puts one value, maps one shared page and passes one barrier; then all exit. Usage:
 * floor_startup <n> */
#include "bench.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { kSocket = 3, kPage = 4 };

static int rank_main(const char* rank) {
  char line[64];
  const int length = snprintf(line, sizeof line, "put rank-%s address", rank);
  unsigned char* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, kPage, 0);
  if (page == MAP_FAILED) return 1;
  __atomic_fetch_add((int*)page, 1, __ATOMIC_ACQ_REL);
  if (write(kSocket, line, (size_t)length) != length) return 1;
  if (read(kSocket, line, sizeof line) <= 0) return 1; /* the answer to the put */
  if (write(kSocket, "barrier", 7) != 7) return 1;
  if (read(kSocket, line, sizeof line) <= 0) return 1;
  return 0;
}

static pid_t start(const char* self, int rank, int socket, int page) {
  const pid_t child = fork();
  if (child != 0) return child;
  char number[16];
  snprintf(number, sizeof number, "%d", rank);
  /* The two may lie in each other's place: first out of the way, then to where the rank looks for them. */
  const int away_socket = fcntl(socket, F_DUPFD_CLOEXEC, kPage + 1),
            away_page = fcntl(page, F_DUPFD_CLOEXEC, kPage + 1);
  if (away_socket < 0 || away_page < 0) _exit(127);
  dup2(away_socket, kSocket);
  dup2(away_page, kPage);
  execl(self, self, "rank", number, (char*)NULL);
  _exit(127);
}

/* Answers puts at once and barriers when the last one has come. */
static int serve(struct pollfd* sockets, int n) {
  int waiting = 0, gone = 0;
  char text[256];
  while (gone < n) {
    if (poll(sockets, (nfds_t)n, -1) < 0) return 1;
    for (int i = 0; i < n; ++i) {
      if (sockets[i].fd < 0 || !(sockets[i].revents & (POLLIN | POLLHUP))) continue;
      const ssize_t got = read(sockets[i].fd, text, sizeof text);
      if (got <= 0) {
        close(sockets[i].fd);
        sockets[i].fd = -1;
        ++gone;
      } else if (text[0] == 'p') {
        if (write(sockets[i].fd, "ok", 2) != 2) return 1;
      } else if (++waiting == n) {
        for (int k = 0; k < n; ++k)
          if (write(sockets[k].fd, "go", 2) != 2) return 1;
      }
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "rank") == 0) return rank_main(argv[2]);
  const int n = argc > 1 ? atoi(argv[1]) : 2;
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  const int page = memfd_create("floor", MFD_CLOEXEC);
  struct pollfd* sockets = calloc((size_t)n, sizeof *sockets);
  if (page < 0 || !sockets || ftruncate(page, 4096) != 0) {
    perror("floor_startup");
    return 1;
  }
  for (int i = 0; i < n; ++i) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0 ||
        start("/proc/self/exe", i, pair[1], page) < 0) {
      perror("floor_startup");
      return 1;
    }
    close(pair[1]);
    sockets[i] = (struct pollfd){.fd = pair[0], .events = POLLIN};
  }
  int bad = serve(sockets, n), status;
  while (wait(&status) > 0) bad |= status != 0;
  free(sockets);
  return bad;
}
