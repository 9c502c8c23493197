/* A library to preload, which makes calls of the system fail on demand: see failing_calls.py.
 *
 * SPRIG_FAIL="KIND RANK FIRST COUNT ERRNO": of the calls of that kind in the processes of that rank (-1: those that are
 * of no rank) the FIRST-th, counted from 1 over all of them, and COUNT - 1 more fail. SPRIG_FAIL_COUNTS names a file of
 * zeros that all processes count in: a uint32_t for each rank, from -1 on, and each kind in it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum Kind { SOCKET, CONNECT, ACCEPT, SEND, RECV, POLL, PIPE, FORK, SHM, WRITE, READ, OPEN, KINDS };
static const char *const names[KINDS] = {"socket", "connect", "accept", "send",  "recv", "poll",
                                         "pipe",   "fork",    "shm",    "write", "read", "open"};

static _Atomic uint32_t *counts; /* of this rank */
static int failing = -1, fail_errno;
static uint32_t first, number;

__attribute__((constructor)) static void begin(void) {
  const char *file = getenv("SPRIG_FAIL_COUNTS"), *own = getenv("RANK"), *which = getenv("SPRIG_FAIL");
  int rank = own ? atoi(own) : -1, fail_rank;
  char kind[16];
  int descriptor = file ? open(file, O_RDWR | O_CLOEXEC) : -1;
  if (descriptor < 0) return;
  size_t size = 4096; /* of the file */
  _Atomic uint32_t *all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (all == MAP_FAILED || (size_t)(rank + 2) * KINDS * sizeof *all > size) return;
  if (which && sscanf(which, "%15s %d %u %u %d", kind, &fail_rank, &first, &number, &fail_errno) == 5 &&
      fail_rank == rank)
    for (int i = 0; i < KINDS; ++i)
      if (!strcmp(kind, names[i])) failing = i;
  counts = all + (rank + 1) * KINDS;
}

static int fails(enum Kind kind) {
  if (!counts || kind == KINDS) return 0; /* what a program says and hears is left alone */
  uint32_t own = atomic_fetch_add(&counts[kind], 1) + 1;
  if ((int)kind != failing || own < first || own - first >= number) return 0;
  errno = fail_errno;
  return 1;
}

#define WRAP(kind, type, name, parameters, arguments)                                                                  \
  type name parameters {                                                                                               \
    static type(*real) parameters;                                                                                     \
    if (!real) real = dlsym(RTLD_NEXT, #name);                                                                         \
    return fails(kind) ? -1 : real arguments;                                                                          \
  }

WRAP(SOCKET, int, socket, (int family, int type, int protocol), (family, type, protocol))
WRAP(CONNECT, int, connect, (int fd, const struct sockaddr *address, socklen_t size), (fd, address, size))
WRAP(ACCEPT, int, accept, (int fd, struct sockaddr *address, socklen_t *size), (fd, address, size))
WRAP(ACCEPT, int, accept4, (int fd, struct sockaddr *address, socklen_t *size, int flags), (fd, address, size, flags))
WRAP(SEND, ssize_t, send, (int fd, const void *bytes, size_t size, int flags), (fd, bytes, size, flags))
WRAP(SEND, ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
WRAP(SEND, ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
WRAP(RECV, ssize_t, recv, (int fd, void *bytes, size_t size, int flags), (fd, bytes, size, flags))
WRAP(RECV, ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
WRAP(POLL, int, poll, (struct pollfd * entries, nfds_t count, int time), (entries, count, time))
WRAP(PIPE, int, pipe2, (int ends[2], int flags), (ends, flags))
WRAP(FORK, pid_t, fork, (void), ())
WRAP(SHM, int, memfd_create, (const char *name, unsigned flags), (name, flags))
WRAP(SHM, int, ftruncate, (int fd, off_t size), (fd, size))
WRAP(fd > 2 ? WRITE : KINDS, ssize_t, write, (int fd, const void *bytes, size_t size), (fd, bytes, size))
WRAP(WRITE, ssize_t, pwrite, (int fd, const void *bytes, size_t size, off_t at), (fd, bytes, size, at))
WRAP(fd > 2 ? READ : KINDS, ssize_t, read, (int fd, void *bytes, size_t size), (fd, bytes, size))
WRAP(READ, ssize_t, pread, (int fd, void *bytes, size_t size, off_t at), (fd, bytes, size, at))

#define WRAP_OPEN(name)                                                                                                \
  int name(const char *path, int flags, ...) {                                                                         \
    static int (*real)(const char *, int, ...);                                                                        \
    va_list rest;                                                                                                      \
    va_start(rest, flags);                                                                                             \
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                          \
    va_end(rest);                                                                                                      \
    if (!real) real = dlsym(RTLD_NEXT, #name);                                                                         \
    return fails(OPEN) ? -1 : real(path, flags, mode);                                                                 \
  }
WRAP_OPEN(open)
WRAP_OPEN(open64)
