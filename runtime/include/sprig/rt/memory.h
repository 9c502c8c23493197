/* What Sprig's runtime holds of the process's memory, and arrays of its memory. Part of the C ABI of sprig_rt.h; for
 * C++ there are functions of the same names in sprig::rt::memory.
 *
 * Counted are the blocks of arenas, scratch, states, staging and constants that were copied or repeated, whoever's
 * allocator made them, and what sprig_rt_memory_allocate gave. A package's file is mapped, not allocated: its pages
 * belong to the page cache, and processes share them. Threads may call everything at any time. */
#ifndef SPRIG_RT_MEMORY_H
#define SPRIG_RT_MEMORY_H

#include "sprig/rt/sprig_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sprig_rt_memory_info {
  size_t size;        /* sizeof(sprig_rt_memory_info), set by the caller */
  uint64_t allocated; /* bytes in use, as they were asked for */
  uint64_t reserved;  /* bytes taken from the system: in use with their rounding, and kept for later */
  uint64_t peak;      /* the most that was allocated at a time, since the start or the last reset */
  uint64_t mapped;    /* bytes of package files that are mapped */
} sprig_rt_memory_info;

SPRIG_RT_API void sprig_rt_memory_describe(sprig_rt_memory_info *info);
/* The peak becomes what is allocated now. */
SPRIG_RT_API void sprig_rt_memory_reset_peak(void);

/* A 64-byte aligned block, not initialised. Large blocks that were released are kept for the next of their size, up to
 * 256 MB together; sprig_rt_memory_empty_cache gives them back to the system and returns how many bytes that were. */
SPRIG_RT_API sprig_rt_status *sprig_rt_memory_allocate(uint64_t bytes, void **memory);
/* With the bytes that were asked for; null does nothing. */
SPRIG_RT_API void sprig_rt_memory_release(void *memory, uint64_t bytes);
SPRIG_RT_API uint64_t sprig_rt_memory_empty_cache(void);

/* What running a package takes, known before it runs. Loading it and making one context with a pool of so many threads
 * allocates arena + scratch + states + constants_repeated + constants_copied bytes, and calls on aligned, row-major
 * arrays nothing more. */
typedef struct sprig_rt_memory_plan {
  size_t size;                 /* sizeof(sprig_rt_memory_plan), set by the caller */
  uint64_t arena;              /* of the entry that needs the most */
  uint64_t scratch;            /* of all threads together */
  uint64_t states;             /* of one state */
  uint64_t constants_repeated; /* made at load: one element in the file that repeats, or fewer bytes than in memory */
  uint64_t constants_copied;   /* to large pages, or because the package's bytes are not aligned */
  uint64_t constants_mapped;   /* used where they are: in the pages of the file, which processes share */
} sprig_rt_memory_plan;
/* On the null device, which allocates next to nothing, it tells what the processor would take. threads 0: as many as
 * sprig_rt_default_threads(). */
SPRIG_RT_API sprig_rt_status *sprig_rt_package_memory(const sprig_rt_package *package, int32_t threads,
                                                      sprig_rt_memory_plan *plan);

#ifdef __cplusplus
}

namespace sprig::rt::memory {

inline sprig_rt_memory_info describe() {
  sprig_rt_memory_info info = {};
  info.size = sizeof info;
  sprig_rt_memory_describe(&info);
  return info;
}
inline uint64_t allocated() { return describe().allocated; }
inline uint64_t reserved() { return describe().reserved; }
inline uint64_t peak() { return describe().peak; }
inline uint64_t mapped() { return describe().mapped; }
inline void resetPeak() { sprig_rt_memory_reset_peak(); }
inline uint64_t emptyCache() { return sprig_rt_memory_empty_cache(); }

} // namespace sprig::rt::memory
#endif
#endif
