/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel that does not let ranks above 0 copy from or to other processes: linked with a program of
 * tests/mpi/rma, where the library finds these functions before libc's. Rank 0 may; so several ways lead to
 * one target. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int refused(void) {
  const char* rank = getenv("PMI_RANK");
  return rank == NULL || atoi(rank) > 0;
}

static ssize_t copy(long number, pid_t pid, const struct iovec* here, unsigned long here_count,
                    const struct iovec* there, unsigned long there_count, unsigned long flags) {
  if (!refused()) return syscall(number, pid, here, here_count, there, there_count, flags);
  errno = EPERM;
  return -1;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec* here, unsigned long here_count,
                         const struct iovec* there, unsigned long there_count, unsigned long flags) {
  return copy(SYS_process_vm_readv, pid, here, here_count, there, there_count, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec* here, unsigned long here_count,
                          const struct iovec* there, unsigned long there_count, unsigned long flags) {
  return copy(SYS_process_vm_writev, pid, here, here_count, there, there_count, flags);
}
