// A library to preload that makes the n-th call of a kind fail, to see what a program does then (docs/testing.md).
//
//   INJECT=KIND:N[+][:ERROR]  the N-th call of KIND in each process fails with ERROR; with + all later ones too. ERROR
//                             is an errno by name or number, by default ENOSPC, or `short`: one byte is transferred
//                             (read, write, send, recv). Allocations, maps and threads fail as theirs do.
//   INJECT_RANK=R             only in processes whose RANK is R; `launcher`: only where RANK is not set
//   INJECT_COUNTS=FILE        each process keeps its calls in FILE.R.PID, R as above: a record for each kind, its name
//                             (16 bytes) and their number (uint64)
//
// kNames has the kinds. Standard input, output and error never fail, so that what the program says is seen.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define KINDS(X)                                                                                                       \
  X(Malloc, "malloc")                                                                                                  \
  X(Read, "read")                                                                                                      \
  X(Write, "write")                                                                                                    \
  X(Fsync, "fsync") X(Rename, "rename") X(Mkdir, "mkdir") X(Open, "open") X(Mmap, "mmap") X(Mprotect, "mprotect")      \
      X(Ftruncate, "ftruncate") X(Thread, "thread") X(Fork, "fork") X(Pipe, "pipe") X(Poll, "poll") X(Shm, "shm")      \
          X(Socket, "socket") X(Connect, "connect") X(Accept, "accept") X(Send, "send") X(Recv, "recv")
#define NAME_OF(kind, name) name,
#define KIND_OF(kind, name) kind,
static const char *const kNames[] = {KINDS(NAME_OF)};
enum Kind { KINDS(KIND_OF) kKinds };
enum { kShort = -1, kWrongUse = 2 };

struct Calls {
  char name[16];
  _Atomic uint64_t number;
};
static struct Calls ownCalls[kKinds], *calls = ownCalls;
static int failing = -1, failure = ENOSPC, allLater;
static uint64_t firstFailing;
static atomic_int setUp; // 1: at it, 2: done

static int errorNamed(const char *text) {
  if (!strcmp(text, "short")) return kShort;
  for (int error = 1; error < 200; ++error) {
    const char *name = strerrorname_np(error);
    if (name && !strcmp(text, name)) return error;
  }
  return atoi(text);
}

static void parse(const char *text) {
  size_t length = strcspn(text, ":");
  for (int kind = 0; kind < kKinds; ++kind)
    if (strlen(kNames[kind]) == length && !strncmp(text, kNames[kind], length)) failing = kind;
  const char *rest = "?";
  if (text[length]) firstFailing = strtoull(text + length + 1, (char **)&rest, 10);
  if (*rest == '+') ++rest, allLater = 1;
  if (*rest == ':') failure = errorNamed(rest + 1);
  if (failing < 0 || (*rest && *rest != ':') || !firstFailing || !failure) {
    dprintf(2, "INJECT=%s: expected KIND:N[+][:ERROR]\n", text);
    _exit(kWrongUse);
  }
}

static void keepCalls(const char *file, const char *rank) {
  char name[4096];
  snprintf(name, sizeof name, "%s.%s.%d", file, rank, (int)getpid());
  int handle = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  void *map = MAP_FAILED;
  if (handle >= 0 && ftruncate(handle, sizeof ownCalls) == 0)
    map = mmap(NULL, sizeof ownCalls, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
  if (map == MAP_FAILED) {
    dprintf(2, "INJECT_COUNTS=%s: cannot be written\n", name);
    _exit(kWrongUse);
  }
  close(handle);
  memcpy(map, ownCalls, sizeof ownCalls);
  calls = map;
}

// A child that has not called exec goes on by itself: the file is its parent's.
static void inChild(void) {
  memcpy(ownCalls, calls, sizeof ownCalls);
  calls = ownCalls;
}

// Whether this call is one that fails. Calls before the C library is set up, and those of setting up, are not counted.
static int fails(enum Kind kind) {
  if (atomic_load(&setUp) != 2) {
    int none = 0;
    if (!environ || !atomic_compare_exchange_strong(&setUp, &none, 1)) return 0;
    for (int each = 0; each < kKinds; ++each) strcpy(ownCalls[each].name, kNames[each]);
    const char *rank = getenv("INJECT_RANK"), *own = getenv("RANK");
    if (!own) own = "launcher";
    if (getenv("INJECT") && (!rank || !strcmp(rank, own))) parse(getenv("INJECT"));
    if (getenv("INJECT_COUNTS")) keepCalls(getenv("INJECT_COUNTS"), own);
    pthread_atfork(NULL, NULL, inChild);
    atomic_store(&setUp, 2);
  }
  uint64_t call = atomic_fetch_add(&calls[kind].number, 1) + 1;
  if ((int)kind != failing || (allLater ? call < firstFailing : call != firstFailing)) return 0;
  errno = failure == kShort ? EIO : failure;
  return 1;
}

// Allocations ask the C library by name: `dlsym` may allocate.
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
static int noMemory(void) {
  if (!fails(Malloc)) return 0;
  errno = ENOMEM;
  return 1;
}
void *malloc(size_t size) { return noMemory() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return noMemory() ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return noMemory() ? NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) { return noMemory() ? NULL : __libc_memalign(alignment, size); }
void *memalign(size_t alignment, size_t size) { return noMemory() ? NULL : __libc_memalign(alignment, size); }
int posix_memalign(void **result, size_t alignment, size_t size) {
  void *memory = noMemory() ? NULL : __libc_memalign(alignment, size);
  if (memory) *result = memory;
  return memory ? 0 : ENOMEM;
}

#define REAL(function)                                                                                                 \
  static __typeof__(&function) real;                                                                                   \
  if (!real) real = (__typeof__(&function))dlsym(RTLD_NEXT, #function)

// A function of a kind: what it returns when it fails, its parameters, its arguments.
#define CALL(kind, failed, result, function, parameters, arguments)                                                    \
  result function parameters {                                                                                         \
    REAL(function);                                                                                                    \
    return fails(kind) ? failed : real arguments;                                                                      \
  }
// One that transfers bytes; `shortened` is its arguments for one byte.
#define TRANSFER(kind, function, parameters, arguments, shortened)                                                     \
  ssize_t function parameters {                                                                                        \
    REAL(function);                                                                                                    \
    if (handle <= 2 || !fails(kind)) return real arguments;                                                            \
    return failure == kShort && size > 0 ? real shortened : -1;                                                        \
  }
TRANSFER(Read, read, (int handle, void *data, size_t size), (handle, data, size), (handle, data, 1))
TRANSFER(Read, pread, (int handle, void *data, size_t size, off_t at), (handle, data, size, at), (handle, data, 1, at))
TRANSFER(Read, pread64, (int handle, void *data, size_t size, off64_t at), (handle, data, size, at),
         (handle, data, 1, at))
TRANSFER(Write, write, (int handle, const void *data, size_t size), (handle, data, size), (handle, data, 1))
TRANSFER(Write, pwrite, (int handle, const void *data, size_t size, off_t at), (handle, data, size, at),
         (handle, data, 1, at))
TRANSFER(Write, pwrite64, (int handle, const void *data, size_t size, off64_t at), (handle, data, size, at),
         (handle, data, 1, at))
TRANSFER(Send, send, (int handle, const void *data, size_t size, int flags), (handle, data, size, flags),
         (handle, data, 1, flags))
TRANSFER(Recv, recv, (int handle, void *data, size_t size, int flags), (handle, data, size, flags),
         (handle, data, 1, flags))
CALL(Send, -1, ssize_t, sendmsg, (int handle, const struct msghdr *message, int flags), (handle, message, flags))
CALL(Recv, -1, ssize_t, recvmsg, (int handle, struct msghdr *message, int flags), (handle, message, flags))
// Standard error is written by these too.
#define VECTORS(kind, function)                                                                                        \
  ssize_t function(int handle, const struct iovec *parts, int count) {                                                 \
    REAL(function);                                                                                                    \
    return handle > 2 && fails(kind) ? -1 : real(handle, parts, count);                                                \
  }
VECTORS(Write, writev)
VECTORS(Read, readv)

CALL(Fsync, -1, int, fsync, (int handle), (handle))
CALL(Fsync, -1, int, fdatasync, (int handle), (handle))
CALL(Rename, -1, int, rename, (const char *from, const char *to), (from, to))
CALL(Rename, -1, int, renameat, (int from, const char *old, int to, const char *name), (from, old, to, name))
CALL(Rename, -1, int, renameat2, (int from, const char *old, int to, const char *name, unsigned flags),
     (from, old, to, name, flags))
CALL(Mkdir, -1, int, mkdir, (const char *path, mode_t mode), (path, mode))
CALL(Mkdir, -1, int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode))
CALL(Ftruncate, -1, int, ftruncate, (int handle, off_t size), (handle, size))
CALL(Ftruncate, -1, int, ftruncate64, (int handle, off64_t size), (handle, size))
CALL(Ftruncate, errno, int, posix_fallocate, (int handle, off_t at, off_t size), (handle, at, size))

// The mode is there where a file may be made.
static mode_t modeIn(int flags, va_list more) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; }
#define OPEN(function, parameters, ...)                                                                                \
  int function parameters {                                                                                            \
    REAL(function);                                                                                                    \
    va_list more;                                                                                                      \
    va_start(more, flags);                                                                                             \
    mode_t mode = modeIn(flags, more);                                                                                 \
    va_end(more);                                                                                                      \
    return fails(Open) ? -1 : real(__VA_ARGS__, mode);                                                                 \
  }
OPEN(open, (const char *path, int flags, ...), path, flags)
OPEN(open64, (const char *path, int flags, ...), path, flags)
OPEN(openat, (int folder, const char *path, int flags, ...), folder, path, flags)
OPEN(openat64, (int folder, const char *path, int flags, ...), folder, path, flags)
CALL(Open, NULL, FILE *, fopen, (const char *path, const char *mode), (path, mode))
CALL(Open, NULL, FILE *, fopen64, (const char *path, const char *mode), (path, mode))
CALL(Open, NULL, DIR *, opendir, (const char *path), (path))

void *mmap(void *at, size_t size, int protection, int flags, int handle, off_t offset) {
  REAL(mmap);
  if (!fails(Mmap)) return real(at, size, protection, flags, handle, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}
void *mmap64(void *at, size_t size, int protection, int flags, int handle, off64_t offset) {
  return mmap(at, size, protection, flags, handle, offset);
}
int mprotect(void *at, size_t size, int protection) {
  REAL(mprotect);
  if (!fails(Mprotect)) return real(at, size, protection);
  errno = ENOMEM;
  return -1;
}
CALL(Thread, EAGAIN, int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
     (thread, attributes, run, argument))
CALL(Fork, -1, pid_t, fork, (void), ())
CALL(Fork, errno, int, posix_spawn,
     (pid_t * process, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
      char *const arguments[], char *const environment[]),
     (process, path, actions, attributes, arguments, environment))
CALL(Fork, errno, int, posix_spawnp,
     (pid_t * process, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
      char *const arguments[], char *const environment[]),
     (process, file, actions, attributes, arguments, environment))
CALL(Pipe, -1, int, pipe, (int ends[2]), (ends))
CALL(Pipe, -1, int, pipe2, (int ends[2], int flags), (ends, flags))
CALL(Pipe, -1, int, eventfd, (unsigned value, int flags), (value, flags))
CALL(Poll, -1, int, poll, (struct pollfd * of, nfds_t count, int wait), (of, count, wait))
CALL(Poll, -1, int, epoll_create1, (int flags), (flags))
CALL(Poll, -1, int, epoll_ctl, (int group, int change, int handle, struct epoll_event *event),
     (group, change, handle, event))
CALL(Poll, -1, int, epoll_wait, (int group, struct epoll_event *events, int count, int wait),
     (group, events, count, wait))
CALL(Shm, -1, int, shm_open, (const char *name, int flags, mode_t mode), (name, flags, mode))
CALL(Shm, -1, int, memfd_create, (const char *name, unsigned flags), (name, flags))
CALL(Socket, -1, int, socket, (int domain, int type, int protocol), (domain, type, protocol))
CALL(Socket, -1, int, socketpair, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends))
CALL(Connect, -1, int, connect, (int handle, const struct sockaddr *address, socklen_t size), (handle, address, size))
CALL(Accept, -1, int, accept, (int handle, struct sockaddr *address, socklen_t *size), (handle, address, size))
CALL(Accept, -1, int, accept4, (int handle, struct sockaddr *address, socklen_t *size, int flags),
     (handle, address, size, flags))
