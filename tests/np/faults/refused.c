/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank to which the kernel refuses one system call from MPI_Init on, as seccomp filters of containers do.
 * It sends small and large messages, makes windows of each kind, small and large, and uses them.
 * Usage: refused none | refused CALL EPERM|ENOSYS [RANK], for this rank only | refused --list
 * Prints "all right" on rank 0. A window that cannot be had is an MPI error, which ends the job. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Not exit_group, brk and rt_sigreturn: the C library cannot do without. */
#define CALL(name) \
  { #name, SYS_##name }
static const struct {
  const char* name;
  long number;
} calls[] = {
    CALL(accept),
    CALL(bind),
    CALL(clock_nanosleep),
    CALL(clone3),
    CALL(close),
    CALL(connect),
    CALL(epoll_create),
    CALL(epoll_ctl),
    CALL(epoll_wait),
    CALL(eventfd2),
    CALL(faccessat2),
    CALL(fallocate),
    CALL(fchmod),
    CALL(fcntl),
    CALL(flock),
    CALL(fstatfs),
    CALL(ftruncate),
    CALL(futex),
    CALL(get_mempolicy),
    CALL(getdents64),
    CALL(geteuid),
    CALL(getpeername),
    CALL(getpid),
    CALL(getppid),
    CALL(getrandom),
    CALL(getrusage),
    CALL(getsockname),
    CALL(getsockopt),
    CALL(gettid),
    CALL(getuid),
    CALL(ioctl),
    CALL(linkat),
    CALL(listen),
    CALL(lseek),
    CALL(madvise),
    CALL(membarrier),
    CALL(memfd_create),
    CALL(mmap),
    CALL(mprotect),
    CALL(munmap),
    CALL(newfstatat),
    CALL(openat),
    CALL(pipe2),
    CALL(poll),
    CALL(ppoll),
    CALL(prctl),
    CALL(prlimit64),
    CALL(process_vm_readv),
    CALL(process_vm_writev),
    CALL(read),
    CALL(readlink),
    CALL(recvfrom),
    CALL(recvmsg),
    CALL(rt_sigaction),
    CALL(rt_sigprocmask),
    CALL(sched_getaffinity),
    CALL(sched_setaffinity),
    CALL(sched_yield),
    CALL(sendmsg),
    CALL(sendto),
    CALL(set_mempolicy),
    CALL(set_robust_list),
    CALL(setsockopt),
    CALL(shutdown),
    CALL(sigaltstack),
    CALL(socket),
    CALL(socketpair),
    CALL(statfs),
    CALL(sysinfo),
    CALL(uname),
    CALL(unlinkat),
    CALL(write),
};

static int refuse(const char* name, int error) {
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i) {
    if (strcmp(calls[i].name, name) != 0) continue;
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof rules / sizeof rules[0], rules};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
  }
  fprintf(stderr, "refused: unknown system call '%s'\n", name);
  return -1;
}

static void expect(int right, const char* what) {
  if (right) return;
  printf("wrong: %s\n", what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void send_around(int rank, int size, int count) {
  int* const out = calloc((size_t)count, sizeof(int));
  int* const in = calloc((size_t)count, sizeof(int));
  const int left = (rank + size - 1) % size;
  out[count - 1] = rank + 1;
  MPI_Sendrecv(out, count, MPI_INT, (rank + 1) % size, 0, in, count, MPI_INT, left, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  expect(in[count - 1] == left + 1, "a message");
  free(out);
  free(in);
}

/* Puts into the right neighbour's part with a fence, and adds to it under a lock. `at`: of that part. */
static void use(MPI_Win win, int* mine, int last, MPI_Aint at, int rank, int size) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size, sent = rank + 1, one = 1;
  MPI_Win_fence(0, win);
  MPI_Put(&sent, 1, MPI_INT, right, at, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  expect(mine[last] == left + 1, "a put");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
  MPI_Accumulate(&one, 1, MPI_INT, right, at, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_unlock(right, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  expect(mine[last] == left + 2, "an accumulate");
  MPI_Win_unlock(rank, win);
  MPI_Win_free(&win);
}

static void make_windows(int count, MPI_Comm node, int rank, int size) {
  const MPI_Aint bytes = count * (MPI_Aint)sizeof(int), last = count - 1;
  int *mine, nrank, nsize;
  MPI_Win win;
  MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  use(win, mine, (int)last, last, rank, size);

  MPI_Comm_rank(node, &nrank);
  MPI_Comm_size(node, &nsize);
  MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, node, &mine, &win);
  use(win, mine, (int)last, last, nrank, nsize);

  int* own = calloc((size_t)count, sizeof(int));
  MPI_Win_create(own, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  use(win, own, (int)last, last, rank, size);
  free(own);
  MPI_Alloc_mem(bytes, MPI_INFO_NULL, &own);
  MPI_Win_create(own, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  use(win, own, (int)last, last, rank, size);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, own, bytes);
  MPI_Aint here, there;
  MPI_Get_address(own + last, &here);
  MPI_Sendrecv(&here, 1, MPI_AINT, (rank + size - 1) % size, 1, &there, 1, MPI_AINT, (rank + 1) % size, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  use(win, own, (int)last, there, rank, size);
  MPI_Free_mem(own);
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i) puts(calls[i].name);
    return 0;
  }
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); /* from here on, for who reads a trace */
  const char* const own = getenv("PMI_RANK");
  if (argc > 2 && (argc < 4 || (own != NULL && strcmp(argv[3], own) == 0)) &&
      refuse(argv[1], strcmp(argv[2], "ENOSYS") == 0 ? ENOSYS : EPERM) != 0) {
    perror("refused");
    return 2;
  }
  int rank, size;
  MPI_Comm node;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  send_around(rank, size, 1);
  send_around(rank, size, 1 << 18);
  make_windows(16, node, rank, size);
  make_windows(1 << 16, node, rank, size);
  MPI_Comm_free(&node);
  MPI_Finalize();
  if (rank == 0) puts("all right");
  return 0;
}
