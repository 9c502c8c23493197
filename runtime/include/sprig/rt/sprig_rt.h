/* The C ABI of Sprig's runtime: load a package, run its entries. sprig_rt.hpp is the C++ form of the same.
 *
 * Errors: a function that can fail returns a status, NULL for success; free it with sprig_rt_status_free. Nothing is
 *   written to out parameters on failure. No exception and no signal leaves the library.
 * Threads: a package, a pool and a status may be used by any threads at once. A context is used by one thread at a
 *   time. A state may be shared by contexts; see sprig_rt_state_create. Never across fork.
 * Ownership: *_create and *_load give one reference, *_release takes it back. What introspection returns points into
 *   the package and lives as long as it.
 * Units: sizes in bytes, shapes and strides in elements, times in nanoseconds unless named otherwise.
 */
#ifndef SPRIG_RT_SPRIG_RT_H
#define SPRIG_RT_SPRIG_RT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SPRIG_RT_API __attribute__((visibility("default")))
#else
#define SPRIG_RT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The ABI's version: a new major breaks callers and changes the soname, a new minor adds. */
#define SPRIG_RT_ABI_MAJOR 1
#define SPRIG_RT_ABI_MINOR 12
SPRIG_RT_API const char *sprig_rt_version(void); /* "0.1.0" */

/* ---- Status ---------------------------------------------------------------------------------------------------- */

typedef enum sprig_rt_code {
  SPRIG_RT_OK = 0,
  SPRIG_RT_INVALID_ARGUMENT = 1, /* wrong use of this interface: a null handle, an unknown option */
  SPRIG_RT_NOT_FOUND = 2,        /* no such file, no such entry */
  SPRIG_RT_BAD_PACKAGE = 3,      /* a damaged or inconsistent package */
  SPRIG_RT_BAD_INPUT = 4,        /* wrong count, type, shape or value of an input */
  SPRIG_RT_UNSUPPORTED = 5,      /* a newer format, an instruction set or a device that is not there */
  SPRIG_RT_OUT_OF_MEMORY = 6,
  SPRIG_RT_IO_ERROR = 7,
  SPRIG_RT_CANCELLED = 8,
  SPRIG_RT_TIMEOUT = 9, /* waiting ended, the work goes on */
  SPRIG_RT_BUSY = 10,   /* a context or a state is in use by another run */
  SPRIG_RT_INTERNAL = 11,
  SPRIG_RT_DEVICE_FAULT = 12 /* a device failed or was lost: nothing runs on it any more in this process */
} sprig_rt_code;

typedef struct sprig_rt_status sprig_rt_status;

SPRIG_RT_API sprig_rt_code sprig_rt_status_code(const sprig_rt_status *status);  /* SPRIG_RT_OK for NULL */
SPRIG_RT_API const char *sprig_rt_status_message(const sprig_rt_status *status); /* "" for NULL */
SPRIG_RT_API void sprig_rt_status_free(sprig_rt_status *status);                 /* NULL does nothing */
SPRIG_RT_API const char *sprig_rt_code_name(sprig_rt_code code);                 /* "bad input" */
/* The exit code that the command line gives for a code: 0, 2, 3, 4, 5 or 70. */
SPRIG_RT_API int32_t sprig_rt_code_exit(sprig_rt_code code);

/* ---- Tensors --------------------------------------------------------------------------------------------------- */

typedef enum sprig_rt_dtype {
  SPRIG_RT_F64 = 0,
  SPRIG_RT_F32,
  SPRIG_RT_F16,
  SPRIG_RT_BF16,
  SPRIG_RT_I64,
  SPRIG_RT_I32,
  SPRIG_RT_I16,
  SPRIG_RT_I8,
  SPRIG_RT_U64,
  SPRIG_RT_U32,
  SPRIG_RT_U16,
  SPRIG_RT_U8,
  SPRIG_RT_I1 /* a byte, 0 or 1 */
} sprig_rt_dtype;

SPRIG_RT_API size_t sprig_rt_dtype_size(int32_t dtype);      /* bytes of an element; 0 for no dtype */
SPRIG_RT_API const char *sprig_rt_dtype_name(int32_t dtype); /* "f32", "ui8"; NULL for no dtype */

/* A caller's array. Data that is row-major and aligned to its elements is used in place; other data is copied through
 * memory of the context. data may be NULL when the array has no elements. */
typedef struct sprig_rt_tensor {
  void *data;
  const int64_t *shape;   /* rank values */
  const int64_t *strides; /* in elements, rank values, may be negative or zero (inputs); NULL: row-major */
  uint32_t rank;
  int32_t dtype;
} sprig_rt_tensor;

typedef struct sprig_rt_tensor_info {
  const char *name;
  const int64_t *shape;
  uint32_t rank;
  int32_t dtype;
  uint64_t bytes;
} sprig_rt_tensor_info;

/* ---- What an embedder can give --------------------------------------------------------------------------------- */

/* Memory for arenas, states, staging and splat constants. allocate returns NULL when there is none; alignment is a
 * power of two. Both are called from any thread. */
typedef struct sprig_rt_allocator {
  void *user;
  void *(*allocate)(void *user, size_t size, size_t alignment);
  void (*release)(void *user, void *memory, size_t size);
} sprig_rt_allocator;

/* Threads to help with: execute calls task(argument) once, now or later, on any thread, and must not drop it. */
typedef struct sprig_rt_executor {
  void *user;
  void (*execute)(void *user, void (*task)(void *argument), void *argument);
} sprig_rt_executor;

typedef enum sprig_rt_log_level { SPRIG_RT_LOG_INFO = 0, SPRIG_RT_LOG_WARNING = 1 } sprig_rt_log_level;
typedef void (*sprig_rt_log_fn)(void *user, int32_t level, const char *message);

/* ---- Pool: the threads that help to run ------------------------------------------------------------------------ */

typedef struct sprig_rt_pool sprig_rt_pool;

typedef struct sprig_rt_pool_options {
  size_t size;                       /* sizeof(sprig_rt_pool_options) */
  int32_t threads;                   /* including the caller's; 0: sprig_rt_default_threads() */
  int32_t spin_us;                   /* how long an idle worker looks for work before it parks; 0: 50, negative: not */
  const sprig_rt_executor *executor; /* NULL: the pool's own threads */
  /* 1: each thread is bound to a processor of its own, of those that this process may use: one thread of each core
   * first, and of these one NUMA node's before the next one's. n: from the n-th on, for pools beside each other. 0:
   * not. The first processor is the caller's: a thread that calls is bound to it, unless another one is, and stays
   * bound when the pool is released; threads that it starts are bound as it is. INVALID_ARGUMENT where there are fewer
   * processors than threads, with an executor, and for ranks of 'sprig launch' that are not bound to cores of their
   * own. Since 1.12. */
  int32_t pin;
} sprig_rt_pool_options;

/* The smaller of the processors that this process may run on and its cgroup's quota, at least 1; its share of them
 * where `sprig launch` has started it beside others. */
SPRIG_RT_API int32_t sprig_rt_default_threads(void);
SPRIG_RT_API sprig_rt_status *sprig_rt_pool_create(const sprig_rt_pool_options *options, sprig_rt_pool **pool);
SPRIG_RT_API void sprig_rt_pool_release(sprig_rt_pool *pool);
/* Those that are there, the caller's included: fewer than asked for where the system starts no more. */
SPRIG_RT_API int32_t sprig_rt_pool_threads(const sprig_rt_pool *pool);

/* ---- Package: an immutable loaded program ---------------------------------------------------------------------- */

typedef struct sprig_rt_package sprig_rt_package;

typedef struct sprig_rt_load_options {
  size_t size;     /* sizeof(sprig_rt_load_options) */
  const char *cpu; /* "x86-64-v2", "-v3", "-v4": use no better instruction set; NULL: $SPRIG_CPU, else the best */
  /* A device for each that the program names, in its order: "cpu", "cuda:0,1", "null:3", "null*2" (docs/runtime.md).
   * NULL: those that the program names. "null" alone: execute nothing, keep simulated time. */
  const char *device;
  /* Refuse packages that need more memory than this. 0: what this process may have (the machine's memory, its cgroup's
   * and its own limits), of which 4 GiB for constants that the file has one element of. */
  uint64_t memory_limit;
  const sprig_rt_allocator *allocator; /* copied; NULL: the C library's */
  sprig_rt_log_fn log;                 /* may be NULL; called from the loading thread only */
  void *log_user;
  /* Nonzero: use constants in the file's own pages, which processes share. 0: copy large ones to large pages where the
   * system has them, which kernels read several times faster. */
  int32_t map_constants;
  /* Links of set latency and rate between these devices, as "cpu:0-cpu:1=5us,1GB/s" (docs/runtime.md): a copy over one
   * takes no less, on shares of the processor in real time, on null devices by their clock. A link that no copy of the
   * program goes over is told to the log. */
  const char *const *links;
  size_t link_count;
} sprig_rt_load_options;

/* Maps the file, checks all of it once and makes it ready to run. The file must not change while it is loaded. */
SPRIG_RT_API sprig_rt_status *sprig_rt_package_load(const char *path, const sprig_rt_load_options *options,
                                                    sprig_rt_package **package);
/* The same for bytes in memory. With release, the runtime keeps using the bytes and calls release(user) when it needs
 * them no more (also on failure); without, it copies them. name stands in messages and may be NULL. */
SPRIG_RT_API sprig_rt_status *sprig_rt_package_load_memory(const void *data, size_t size, void (*release)(void *user),
                                                           void *user, const char *name,
                                                           const sprig_rt_load_options *options,
                                                           sprig_rt_package **package);
SPRIG_RT_API void sprig_rt_package_retain(sprig_rt_package *package);
SPRIG_RT_API void sprig_rt_package_release(sprig_rt_package *package);

/* ---- State: buffers that runs update in place ------------------------------------------------------------------ */

typedef struct sprig_rt_state sprig_rt_state;

/* A fresh copy of the package's states at their initial values. Entries that update state exclude every other run on
 * it: the later one gets SPRIG_RT_BUSY. */
SPRIG_RT_API sprig_rt_status *sprig_rt_state_create(sprig_rt_package *package, sprig_rt_state **state);
SPRIG_RT_API void sprig_rt_state_release(sprig_rt_state *state);
/* A state without memory of its own, for callers that keep parameters themselves: each buffer is what
 * sprig_rt_state_bind last gave. A run that uses a buffer which is not bound yet fails. Since 1.2. */
SPRIG_RT_API sprig_rt_status *sprig_rt_state_create_bound(sprig_rt_package *package, sprig_rt_state **state);
/* From the next run on, one state's bytes are at data: row-major, 64-byte aligned, at least as many bytes as
 * sprig_rt_package_state says, and no other state's or array's of a run. Not while a run uses the state; no check is
 * made of what lies there. Takes a few nanoseconds. Since 1.2. */
SPRIG_RT_API sprig_rt_status *sprig_rt_state_bind(sprig_rt_state *state, uint32_t index, void *data);
/* The bytes of one state, described by sprig_rt_package_state; not to be touched while a run uses the state. NULL for
 * one that is to be bound and is not yet. SPRIG_RT_UNSUPPORTED on a device whose memory is not the host's. */
SPRIG_RT_API sprig_rt_status *sprig_rt_state_data(sprig_rt_state *state, uint32_t index, void **data, uint64_t *bytes);
/* Copies all bytes of one state from or to the host's memory, on whichever device the state lies; bytes must be their
 * number. Fails with SPRIG_RT_BUSY while a run uses the state. Since 1.3. */
SPRIG_RT_API sprig_rt_status *sprig_rt_state_read(sprig_rt_state *state, uint32_t index, void *data, uint64_t bytes);
SPRIG_RT_API sprig_rt_status *sprig_rt_state_write(sprig_rt_state *state, uint32_t index, const void *data,
                                                   uint64_t bytes);

/* ---- Context: what one running thread needs -------------------------------------------------------------------- */

typedef struct sprig_rt_context sprig_rt_context;
typedef struct sprig_rt_future sprig_rt_future;

typedef struct sprig_rt_context_options {
  size_t size;           /* sizeof(sprig_rt_context_options) */
  sprig_rt_pool *pool;   /* NULL: one pool of the whole process, with the default number of threads */
  sprig_rt_state *state; /* NULL: a fresh one, if the package has states */
  uint32_t queue_limit;  /* submissions in flight before sprig_rt_submit waits; 0: 64 */
} sprig_rt_context_options;

SPRIG_RT_API sprig_rt_status *
sprig_rt_context_create(sprig_rt_package *package, const sprig_rt_context_options *options, sprig_rt_context **context);
/* Waits for what was submitted, and for runs in streams. */
SPRIG_RT_API void sprig_rt_context_release(sprig_rt_context *context);

#define SPRIG_RT_ANY_ENTRY (-1)

/* Runs an entry and returns when its outputs are written. entry: an index, or SPRIG_RT_ANY_ENTRY for the one that the
 * shapes fit; when samples are independent a batch that no entry has is split or padded over the first axis, within
 * the entries that share the chosen one's name. Allocates and locks nothing once an entry has run with the same kind
 * of pointers, and uses the caller's thread as one of the pool's. */
SPRIG_RT_API sprig_rt_status *sprig_rt_invoke(sprig_rt_context *context, int32_t entry, const sprig_rt_tensor *inputs,
                                              size_t input_count, const sprig_rt_tensor *outputs, size_t output_count);
/* Checks the arguments, queues the run behind the context's earlier ones and returns at once. The arrays (not their
 * descriptions) must stay until the future is ready, and inputs must not change: a device with memory of its own takes
 * them while the run before is under way, unless they share bytes with that one's outputs or the caller has seen its
 * end. */
SPRIG_RT_API sprig_rt_status *sprig_rt_submit(sprig_rt_context *context, int32_t entry, const sprig_rt_tensor *inputs,
                                              size_t input_count, const sprig_rt_tensor *outputs, size_t output_count,
                                              sprig_rt_future **future);
/* Where arrays of a call lie, by their order: "cuda:0" is the memory of a device that the package runs on, NULL, or a
 * list that is NULL, the host's. An array on a device is used where it is: row-major, aligned to 64 bytes, of a shape
 * that an entry has, on the one device that the entry runs on, and no output shares memory with another array there.
 * Its data is the address there (a CUdeviceptr); whether it is one of that device is asked of the driver when it
 * differs from the call before. Since 1.6. */
typedef struct sprig_rt_places {
  size_t size;               /* sizeof(sprig_rt_places) */
  const char *const *inputs; /* input_count names */
  const char *const *outputs;
} sprig_rt_places;

/* sprig_rt_invoke with arrays on devices, in memory that nothing is using and that is written: for what still runs in a
 * stream there is sprig_rt_enqueue. Since 1.6. */
SPRIG_RT_API sprig_rt_status *sprig_rt_invoke_on(sprig_rt_context *context, int32_t entry,
                                                 const sprig_rt_tensor *inputs, size_t input_count,
                                                 const sprig_rt_tensor *outputs, size_t output_count,
                                                 const sprig_rt_places *places);
/* Runs an entry in the caller's own stream (a CUstream of the device's primary context; NULL: its default stream):
 * behind what was put in before, and before what is put in next. All arrays are on the device, and must stay until the
 * run has ended. Returns at once, waits for nothing and says nothing of a run that fails later: sprig_rt_context_wait
 * does. Runs of a context follow one another, whichever streams they are in; the state, if the entry uses it, stays in
 * use until a later call on this context that is in no stream, which waits for them, too. Since 1.6. */
SPRIG_RT_API sprig_rt_status *sprig_rt_enqueue(sprig_rt_context *context, int32_t entry, const sprig_rt_tensor *inputs,
                                               size_t input_count, const sprig_rt_tensor *outputs, size_t output_count,
                                               const char *device, void *stream);
/* Waits for all that was submitted and for runs in streams, and returns what the first of the latter that failed since
 * the last time failed with. Since 1.6. */
SPRIG_RT_API sprig_rt_status *sprig_rt_context_wait(sprig_rt_context *context);
/* Stops the run that is in progress at its next command; from any thread. The run ends with SPRIG_RT_CANCELLED. */
SPRIG_RT_API void sprig_rt_context_cancel(sprig_rt_context *context);

/* What the last finished run of a context did. */
typedef struct sprig_rt_run_info {
  uint32_t entry;          /* the (last) entry that ran */
  uint32_t runs;           /* how many times the batch was split into, 1 for an exact fit */
  uint64_t padded_samples; /* samples computed and thrown away */
  uint32_t packed_inputs;  /* inputs that were copied because of alignment or strides */
  uint32_t packed_outputs;
  const char *isa;          /* "x86-64-v4"; "null" on the null device */
  double simulated_seconds; /* on the null device, else 0 */
} sprig_rt_run_info;
SPRIG_RT_API void sprig_rt_context_last_run(const sprig_rt_context *context, sprig_rt_run_info *info);

/* ---- Group: ranks that run an entry together --------------------------------------------------------------------
 *
 * An entry of several ranks (sprig_rt_package_entry_ranks) is called by each of them, on a context and a state of its
 * own, at the same time: its collectives wait for the others. All ranks make the same calls in the same order. Since
 * 1.8. */

typedef struct sprig_rt_group sprig_rt_group; /* one rank's place in it */

typedef struct sprig_rt_group_options {
  size_t size;        /* sizeof(sprig_rt_group_options) */
  int64_t timeout_ms; /* that a rank waits for another before the group fails; 0: 5 minutes, negative: no limit */
  int32_t spin_us;    /* that it looks before it sleeps; 0: 50 where each rank may have a core, negative: not at all */
  /* Where a program has collectives on a lane of their own: whether a thread of each context drives it beside the
   * call's. 1: always, negative: never, 0: where each rank has a core left for it. Since 1.10. */
  int32_t collective_threads;
} sprig_rt_group_options;

/* Threads of this process as ranks, 1 to 256: one group each, in their order. Options may be null. */
SPRIG_RT_API sprig_rt_status *sprig_rt_groups_create(uint32_t ranks, const sprig_rt_group_options *options,
                                                     sprig_rt_group **groups);

typedef struct sprig_rt_join_options {
  size_t size;        /* sizeof(sprig_rt_join_options) */
  int64_t timeout_ms; /* as sprig_rt_group_options', for ranks to come, too; SPRIG_COLLECTIVE_TIMEOUT goes before it */
} sprig_rt_join_options;

/* Whether the environment says that this process is a rank: RANK, OMPI_COMM_WORLD_RANK, PMI_RANK or SLURM_PROCID is
 * set. Since 1.9. */
SPRIG_RT_API int32_t sprig_rt_is_rank_process(void);
/* This process as a rank, by the environment: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and SPRIG_LAUNCH_SECRET, as
 * `sprig launch` sets them. Returns when all ranks have come. Needs libsprig_rt_processes.so, and between machines
 * libsprig_rt_gloo.so and Gloo; UNSUPPORTED without. Options may be null. Since 1.9. */
SPRIG_RT_API sprig_rt_status *sprig_rt_group_join(const sprig_rt_join_options *options, sprig_rt_group **group);
SPRIG_RT_API uint32_t sprig_rt_group_rank(const sprig_rt_group *group);
SPRIG_RT_API uint32_t sprig_rt_group_ranks(const sprig_rt_group *group);
/* Ranks that wait for this one, now or later, fail with this code and text: for what went wrong outside of calls. A
 * group that has failed stays so; a run that fails or is cancelled makes its group fail, too. From any thread. */
SPRIG_RT_API void sprig_rt_group_fail(sprig_rt_group *group, sprig_rt_code code, const char *text);
typedef enum sprig_rt_reduction {
  SPRIG_RT_SUM = 0,
  SPRIG_RT_MEAN, /* of floating-point elements */
  SPRIG_RT_PRODUCT,
  SPRIG_RT_MIN,
  SPRIG_RT_MAX
} sprig_rt_reduction;
/* All ranks' elements, one by one, in place: the same bits on each. Every rank calls it, between its runs, with the
 * same type, reduction, count and name, which is what errors call it. Since 1.9. */
SPRIG_RT_API sprig_rt_status *sprig_rt_group_all_reduce(sprig_rt_group *group, sprig_rt_dtype dtype,
                                                        sprig_rt_reduction reduction, void *elements, uint64_t count,
                                                        const char *name);
/* Whether a context of so many threads has one more for collectives that a program has on a lane of their own. Since
 * 1.10. */
SPRIG_RT_API int32_t sprig_rt_group_has_core_beside(const sprig_rt_group *group, uint32_t threads);
typedef struct sprig_rt_group_times {
  size_t size;          /* sizeof(sprig_rt_group_times) */
  uint64_t collectives; /* that runs of this rank came to */
  uint64_t ns;          /* that they took, waiting for other ranks included */
  uint64_t exposed_ns;  /* of that: while the run had nothing else to do */
} sprig_rt_group_times;
/* Of all runs since the group began. Since 1.10. */
SPRIG_RT_API sprig_rt_status *sprig_rt_group_get_times(const sprig_rt_group *group, sprig_rt_group_times *times);
/* Of `count` elements each rank gives a piece, and gets all: sizes of pieces differ by one at most, larger ones come
 * first. In place, called as sprig_rt_group_all_reduce. Since 1.10. */
SPRIG_RT_API sprig_rt_status *sprig_rt_group_all_gather(sprig_rt_group *group, sprig_rt_dtype dtype, void *elements,
                                                        uint64_t count, const char *name);
/* The rank has left when its contexts let go of the group, too: whoever waits for it fails. */
SPRIG_RT_API void sprig_rt_group_release(sprig_rt_group *group);
/* The rank that the context's calls are from now on; NULL: none. Contexts of one group are used one at a time. */
SPRIG_RT_API sprig_rt_status *sprig_rt_context_set_group(sprig_rt_context *context, sprig_rt_group *group);

/* ---- Future: a submitted run ----------------------------------------------------------------------------------- */

/* Waits and returns the run's own status; SPRIG_RT_TIMEOUT when timeout_ns passed first. Negative: no limit. */
SPRIG_RT_API sprig_rt_status *sprig_rt_future_wait(sprig_rt_future *future, int64_t timeout_ns);
SPRIG_RT_API int32_t sprig_rt_future_ready(const sprig_rt_future *future); /* never waits */
/* A queued run does not start, a running one stops at its next command. Returns at once. */
SPRIG_RT_API void sprig_rt_future_cancel(sprig_rt_future *future);
/* Type and shape of an output as given to sprig_rt_submit; never waits. */
SPRIG_RT_API sprig_rt_status *sprig_rt_future_output(const sprig_rt_future *future, uint32_t index,
                                                     sprig_rt_tensor_info *info);
/* What this run did, once it has ended; all 0 where it was cancelled before it began. Never waits. Runs on devices with
 * memory of their own may lie beside each other: simulated_seconds is what the devices' clocks went on by until its
 * end, so those of runs in a row add up. */
SPRIG_RT_API void sprig_rt_future_run(const sprig_rt_future *future, sprig_rt_run_info *info);
/* When it ended, in nanoseconds of CLOCK_MONOTONIC, as std::chrono::steady_clock counts them; 0 while it has not. Who
 * was busy elsewhere learns when its result was there. Never waits. */
SPRIG_RT_API int64_t sprig_rt_future_ended_ns(const sprig_rt_future *future);
/* The run goes on when its future is released. */
SPRIG_RT_API void sprig_rt_future_release(sprig_rt_future *future);

/* ---- Introspection --------------------------------------------------------------------------------------------- */

typedef struct sprig_rt_entry_info {
  const char *name;
  uint32_t input_count;
  uint32_t output_count;
  uint32_t lane_count;
  uint32_t command_count; /* over all lanes */
  uint32_t buffer_count;
  uint32_t event_count;
  uint64_t arena_bytes;
  uint64_t flops;
  uint64_t bytes; /* that dispatches read and write */
  int32_t independent_samples;
  int32_t updates_state;
} sprig_rt_entry_info;

typedef enum sprig_rt_command_kind {
  SPRIG_RT_DISPATCH = 0,
  SPRIG_RT_COPY,
  SPRIG_RT_RECORD,
  SPRIG_RT_WAIT,
  SPRIG_RT_ALL_REDUCE,     /* since 1.8 */
  SPRIG_RT_REDUCE_SCATTER, /* and all others since 1.10 */
  SPRIG_RT_ALL_GATHER,
  SPRIG_RT_BROADCAST,
  SPRIG_RT_REDUCE,
  SPRIG_RT_GATHER,
  SPRIG_RT_SCATTER,
  SPRIG_RT_ALL_TO_ALL,
  SPRIG_RT_BARRIER,
  SPRIG_RT_PART /* of a rank's own value; meets nobody */
} sprig_rt_command_kind;

typedef struct sprig_rt_command_info {
  const char *name;
  int32_t kind;
  uint32_t device;       /* of the lane, see sprig_rt_package_device */
  uint32_t kernel;       /* dispatch */
  uint32_t buffer_count; /* dispatch: its operands; copy: source and target; of ranks: see program.fbs */
  const uint32_t *buffers;
  uint32_t event; /* record, wait */
  int64_t tiles;
  int64_t grain;
  uint64_t flops;
  uint64_t bytes;
} sprig_rt_command_info;

/* An operation of the model inside of a dispatch. */
typedef struct sprig_rt_part_info {
  const char *name;   /* what the model calls it; "" where it does not */
  const char *kind;   /* "nn.conv" */
  const char *shape;  /* of its result: "1x64x56x56xf32" */
  const char *source; /* "file:line" or "" */
  uint64_t flops;
  uint64_t bytes; /* that it moves from and to the dispatch's buffers */
  uint32_t call;  /* which of the kernels that were merged into the dispatch, in the order of running */
} sprig_rt_part_info;

typedef struct sprig_rt_buffer_info {
  const char *name;
  const char *kind; /* "arena", "input", "output", "constant", "state" */
  uint32_t index;
  uint64_t offset;
  uint64_t size;
} sprig_rt_buffer_info;

typedef struct sprig_rt_section_info {
  const char *kind; /* "metadata", "constants", "image" */
  uint64_t offset;
  uint64_t size;
} sprig_rt_section_info;

typedef struct sprig_rt_image_info {
  const char *isa;
  const char *features; /* beyond the isa, comma-separated */
  uint32_t section;
  uint64_t code_bytes;
  int32_t loaded; /* whether this is the one that runs here */
} sprig_rt_image_info;

typedef struct sprig_rt_kernel_info {
  const char *name;
  uint64_t scratch_bytes;
  uint32_t buffer_count;
  uint64_t code_bytes; /* in the loaded image; 0 on the null device */
} sprig_rt_kernel_info;

typedef struct sprig_rt_constant_info {
  const char *name;
  uint64_t bytes;
  int32_t splat; /* whether one element repeated, which takes no room in the file */
} sprig_rt_constant_info;

typedef struct sprig_rt_package_info {
  const char *name; /* path, or the name given */
  const char *producer;
  uint32_t format_major;
  uint32_t format_minor;
  uint64_t file_bytes;
  const char *isa; /* of the loaded image; "null" on the null device */
  uint32_t entry_count;
  uint32_t kernel_count;
  uint32_t constant_count;
  uint32_t state_count;
  uint32_t image_count;
  uint32_t section_count;
  uint32_t device_count;
  uint32_t fact_count;
} sprig_rt_package_info;

/* Each fails with SPRIG_RT_INVALID_ARGUMENT when an index is out of range. */
SPRIG_RT_API void sprig_rt_package_describe(const sprig_rt_package *package, sprig_rt_package_info *info);
SPRIG_RT_API sprig_rt_status *sprig_rt_package_entry(const sprig_rt_package *package, uint32_t entry,
                                                     sprig_rt_entry_info *info);
/* Whose an entry is. Since 1.8. */
typedef struct sprig_rt_ranks_info {
  size_t size;      /* sizeof(sprig_rt_ranks_info), set by the caller */
  uint32_t ranks;   /* how many run it together; 1: it stands alone */
  int32_t rank;     /* the one whose program it is; -1: it is every one's */
  uint64_t samples; /* that a call of all ranks has together, of which its arrays hold one rank's share; 0: unknown */
} sprig_rt_ranks_info;
SPRIG_RT_API sprig_rt_status *sprig_rt_package_entry_ranks(const sprig_rt_package *package, uint32_t entry,
                                                           sprig_rt_ranks_info *info);
/* Of an entry that takes several lengths of an axis: callers give inputs of any of them, and get outputs of it. The
 * shapes of inputs and outputs below are those at `last`. Since 1.11. */
typedef struct sprig_rt_lengths_info {
  size_t size;      /* sizeof(sprig_rt_lengths_info), set by the caller */
  const char *axis; /* NULL: all shapes are fixed */
  int64_t first;
  int64_t last;
} sprig_rt_lengths_info;
SPRIG_RT_API sprig_rt_status *sprig_rt_package_entry_lengths(const sprig_rt_package *package, uint32_t entry,
                                                             sprig_rt_lengths_info *info);
/* The sizes of an input's or an output's dimensions at one of these lengths. Since 1.11. */
SPRIG_RT_API sprig_rt_status *sprig_rt_package_input_at(const sprig_rt_package *package, uint32_t entry, uint32_t index,
                                                        int64_t length, int64_t *sizes);
SPRIG_RT_API sprig_rt_status *sprig_rt_package_output_at(const sprig_rt_package *package, uint32_t entry,
                                                         uint32_t index, int64_t length, int64_t *sizes);
SPRIG_RT_API sprig_rt_status *sprig_rt_package_find_entry(const sprig_rt_package *package, const char *name,
                                                          uint32_t *entry);
SPRIG_RT_API sprig_rt_status *sprig_rt_package_input(const sprig_rt_package *package, uint32_t entry, uint32_t index,
                                                     sprig_rt_tensor_info *info);
SPRIG_RT_API sprig_rt_status *sprig_rt_package_output(const sprig_rt_package *package, uint32_t entry, uint32_t index,
                                                      sprig_rt_tensor_info *info);
SPRIG_RT_API sprig_rt_status *sprig_rt_package_buffer(const sprig_rt_package *package, uint32_t entry, uint32_t index,
                                                      sprig_rt_buffer_info *info);
SPRIG_RT_API sprig_rt_status *sprig_rt_package_lane(const sprig_rt_package *package, uint32_t entry, uint32_t lane,
                                                    uint32_t *command_count);
SPRIG_RT_API sprig_rt_status *sprig_rt_package_command(const sprig_rt_package *package, uint32_t entry, uint32_t lane,
                                                       uint32_t index, sprig_rt_command_info *info);
/* Packages of older compilers have no parts: the count is 0. */
SPRIG_RT_API sprig_rt_status *sprig_rt_package_part_count(const sprig_rt_package *package, uint32_t entry,
                                                          uint32_t lane, uint32_t command, uint32_t *count);
SPRIG_RT_API sprig_rt_status *sprig_rt_package_part(const sprig_rt_package *package, uint32_t entry, uint32_t lane,
                                                    uint32_t command, uint32_t index, sprig_rt_part_info *info);
SPRIG_RT_API sprig_rt_status *sprig_rt_package_section(const sprig_rt_package *package, uint32_t index,
                                                       sprig_rt_section_info *info);
SPRIG_RT_API sprig_rt_status *sprig_rt_package_image(const sprig_rt_package *package, uint32_t index,
                                                     sprig_rt_image_info *info);
SPRIG_RT_API sprig_rt_status *sprig_rt_package_kernel(const sprig_rt_package *package, uint32_t index,
                                                      sprig_rt_kernel_info *info);
SPRIG_RT_API sprig_rt_status *sprig_rt_package_constant(const sprig_rt_package *package, uint32_t index,
                                                        sprig_rt_constant_info *info);
SPRIG_RT_API sprig_rt_status *sprig_rt_package_state(const sprig_rt_package *package, uint32_t index,
                                                     sprig_rt_tensor_info *info);
/* As the program names it: "cpu:1"; the first of a kind by its kind alone. */
SPRIG_RT_API sprig_rt_status *sprig_rt_package_device(const sprig_rt_package *package, uint32_t index,
                                                      const char **name);
SPRIG_RT_API sprig_rt_status *sprig_rt_package_fact(const sprig_rt_package *package, uint32_t index, const char **key,
                                                    const char **value);

/* Which entry a call with these inputs would run: chosen is the entry that fits exactly (samples is -1) or one whose
 * batch the call's is split or padded to (samples is the call's batch, the first axis of every output), or that takes
 * several lengths (samples is -1). */
SPRIG_RT_API sprig_rt_status *sprig_rt_package_choose(const sprig_rt_package *package, int32_t entry,
                                                      const sprig_rt_tensor *inputs, size_t input_count,
                                                      uint32_t *chosen, int64_t *samples);
/* The sizes of the dimensions of an output of that call, whose entry is `chosen`. Since 1.11. */
SPRIG_RT_API sprig_rt_status *sprig_rt_package_output_of(const sprig_rt_package *package, uint32_t chosen,
                                                         const sprig_rt_tensor *inputs, size_t input_count,
                                                         uint32_t index, int64_t *sizes);

/* ---- This machine ---------------------------------------------------------------------------------------------- */

typedef struct sprig_rt_device_info {
  const char *kind;     /* "cpu", "null" */
  const char *name;     /* the processor's own name */
  const char *isa;      /* the best of x86-64-v2, -v3, -v4 that it has; "" for none */
  const char *features; /* instruction set extensions beyond the isa, comma-separated */
  int32_t threads;      /* sprig_rt_default_threads() */
  int32_t cpus;         /* logical processors online */
  uint64_t memory;
  uint64_t l1d, l1i, l2, l3; /* bytes of the cache of one processor; 0: unknown */
} sprig_rt_device_info;

SPRIG_RT_API uint32_t sprig_rt_device_count(void);
SPRIG_RT_API sprig_rt_status *sprig_rt_device(uint32_t index, sprig_rt_device_info *info);

#ifdef __cplusplus
}
#endif

#include "sprig/rt/profile.h" /* IWYU pragma: export */
#endif
