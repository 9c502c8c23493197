/* The C ABI of profiles: what ran when, on which thread. Part of sprig_rt.h, which includes it.
 *
 * A profile collects events while it is started on a context, or on all of the process. Each thread writes to a ring of
 *   its own, so recording takes no lock; the oldest events go when a ring is full. Not started, a call pays one
 *   branch.
 * Spans of one thread nest: each lies wholly inside of the one around it. So the time of a span is its own plus that
 *   of the spans directly inside, exactly.
 * What a GPU did stands in rings of its streams, which are numbered with the threads. Spans of one stream follow one
 *   another, those of several may lie side by side; all lie inside of their call, by the clock of the threads.
 * Threads: everything here may be called from any thread.
 */
#ifndef SPRIG_RT_PROFILE_H
#define SPRIG_RT_PROFILE_H

#include "sprig/rt/sprig_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sprig_rt_profile sprig_rt_profile;

typedef struct sprig_rt_profile_options {
  size_t size;                /* sizeof(sprig_rt_profile_options) */
  uint32_t events_per_thread; /* rounded up to a power of two; 0: 65536, of 64 bytes each */
} sprig_rt_profile_options;

SPRIG_RT_API sprig_rt_status *sprig_rt_profile_create(const sprig_rt_profile_options *options,
                                                      sprig_rt_profile **profile);
/* Stops it everywhere first. */
SPRIG_RT_API void sprig_rt_profile_release(sprig_rt_profile *profile);

/* Records the runs of a context; NULL: of every context there is and will be, and the ranges of all threads. A context
 * and the process are recorded by one profile at a time. */
SPRIG_RT_API sprig_rt_status *sprig_rt_profile_start(sprig_rt_profile *profile, sprig_rt_context *context);
/* Stops recording a context; NULL: everything. Waits for the calls that are being recorded, so not to be called from
 * within one (an executor's task). */
SPRIG_RT_API void sprig_rt_profile_stop(sprig_rt_profile *profile, sprig_rt_context *context);

/* Whether ranges are recorded now, for callers whose names take time to make. One load. */
SPRIG_RT_API int32_t sprig_rt_profile_recording(void);
/* A range of the caller's own, on the calling thread, in the profile that records the process; without one, nothing
 * happens and the token is 0. Ranges nest. The name is copied. */
SPRIG_RT_API uint64_t sprig_rt_profile_push(const char *name);
/* Ends the range of a token; ranges inside of it that are still open are dropped. A range whose profile was stopped in
 * between is dropped too. */
SPRIG_RT_API void sprig_rt_profile_pop(uint64_t token);

typedef enum sprig_rt_profile_kind {
  SPRIG_RT_PROFILE_CALL = 0, /* an invoke, or a submitted run: from its checks to its last output */
  SPRIG_RT_PROFILE_BIND,     /* within a call: arrays are looked at, copied where they must be */
  SPRIG_RT_PROFILE_FINISH,   /* within a call: outputs that need it are copied */
  SPRIG_RT_PROFILE_DISPATCH, /* a command, from the view of the thread that drives its lane */
  SPRIG_RT_PROFILE_COPY,
  SPRIG_RT_PROFILE_RECORD,
  SPRIG_RT_PROFILE_WAIT,
  SPRIG_RT_PROFILE_SLICE,  /* a part of a dispatch that was cut, on the thread that took it */
  SPRIG_RT_PROFILE_SUBMIT, /* a submission, on the thread that made it; `call` is that of the call that it becomes */
  SPRIG_RT_PROFILE_RANGE,  /* a caller's own */
  /* The copies of the caller's arrays to a GPU and back: `command` is the number of the input or output, `lane` that of
   * the device in the package. Since 1.7. */
  SPRIG_RT_PROFILE_UPLOAD,
  SPRIG_RT_PROFILE_DOWNLOAD,
  /* Commands of ranks, as SPRIG_RT_PROFILE_DISPATCH, in the order of sprig_rt_command_kind; waiting for other ranks is
   * in them. The first since 1.8, the others since 1.10. */
  SPRIG_RT_PROFILE_ALL_REDUCE,
  SPRIG_RT_PROFILE_REDUCE_SCATTER,
  SPRIG_RT_PROFILE_ALL_GATHER,
  SPRIG_RT_PROFILE_BROADCAST,
  SPRIG_RT_PROFILE_REDUCE,
  SPRIG_RT_PROFILE_GATHER,
  SPRIG_RT_PROFILE_SCATTER,
  SPRIG_RT_PROFILE_ALL_TO_ALL,
  SPRIG_RT_PROFILE_BARRIER,
  SPRIG_RT_PROFILE_PART
} sprig_rt_profile_kind;

typedef struct sprig_rt_profile_event {
  int32_t kind;
  uint32_t thread;   /* below sprig_rt_profile_thread_count */
  uint64_t begin_ns; /* of the system's monotonic clock */
  uint64_t end_ns;
  uint64_t call;    /* numbers calls over the whole profile, from 1; 0 for ranges */
  uint32_t context; /* sprig_rt_context_number */
  uint32_t entry;   /* of commands and slices */
  uint32_t lane;
  uint32_t command;     /* index in the lane */
  uint32_t participant; /* which thread of the pool: 0 is the caller's */
  int64_t tile_begin;   /* of slices */
  int64_t tile_end;
  const char *name; /* of ranges, else NULL */
} sprig_rt_profile_event;

typedef struct sprig_rt_profile_data {
  const sprig_rt_profile_event *events; /* by thread; within one by begin, and a span before those inside of it */
  uint64_t count;
  uint64_t dropped;           /* events that were overwritten or had no memory */
  uint64_t complete_since_ns; /* no event that ended later is missing */
} sprig_rt_profile_data;

/* Takes the events out. They live until the next read or the profile's release. Recording goes on behind it; it waits
 * for calls that are being recorded. */
SPRIG_RT_API sprig_rt_status *sprig_rt_profile_read(sprig_rt_profile *profile, sprig_rt_profile_data *data);

/* The threads that have recorded, in the order of their first event. */
SPRIG_RT_API uint32_t sprig_rt_profile_thread_count(const sprig_rt_profile *profile);
/* What a stream is called: "cuda:0 lane 1", "cuda:0 uploads"; NULL: it is a thread of the system, or index out of
 * range. Lives as long as the profile. Since 1.7. */
SPRIG_RT_API const char *sprig_rt_profile_stream_name(const sprig_rt_profile *profile, uint32_t thread);
/* The system's number of a thread, as ps and perf show it; -1: a stream, or index out of range. */
SPRIG_RT_API int64_t sprig_rt_profile_thread_id(const sprig_rt_profile *profile, uint32_t thread);
/* What events call a context; never 0, never given twice in a process. 0 for NULL. */
SPRIG_RT_API uint32_t sprig_rt_context_number(const sprig_rt_context *context);

#ifdef __cplusplus
}
#endif
#endif
