// How the stand-in behaves, by the environment. Read when the first call reaches it; a value that it does not
// understand is named on stderr, and cuInit answers CUDA_ERROR_SYSTEM_NOT_READY.
//
//   SPRIG_STANDIN_DEVICES   kinds of devices, by comma, each with an optional count: sm_90 (default), sm_80x2,sm_90,
//                           none.
//                           Known: sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_103 sm_120.
//   SPRIG_STANDIN_MEMORY    bytes of each device's memory (K, M, G: powers of 1024); default: what the kind has
//   SPRIG_STANDIN_DRIVER    the driver's version as cuDriverGetVersion gives it; default 13000
//   SPRIG_STANDIN_PEERS     all (default) or none: whether devices can reach one another's memory
//   SPRIG_STANDIN_IMAGES    folder of emulation images: HASH.so for a cubin, or PTX, with this SHA-256
//   (sprig-ptx-image) SPRIG_STANDIN_ORDER     when queued work is done: eager (at once), lazy (default: as late as
//   allowed, and then no
//                           more than somebody waits for), random (any order that streams and events allow)
//   SPRIG_STANDIN_SEED      of random; default 1
//   SPRIG_STANDIN_CHECKS    all (default), none, or some of, by comma: order (two operations that nothing orders touch
//   the
//                           same bytes, one writing), kernels (races and other faults inside of a launch), bounds
//                           (outside of allocations, freed ones, those of other devices without peer access), unwritten
//                           (bytes read that nothing wrote), host (host code that touches device memory), pinned (host
//                           code that changes what a queued copy has still to read)
//   SPRIG_STANDIN_EFFECTS   each (default): every launch computes; once: launches of the same kernel, shape and
//   parameters
//                           take over what the first one read and wrote, and compute nothing: for trying many orders of
//                           a program whose accesses do not depend on data. Results mean nothing then. none: launches
//                           compute nothing and touch nothing: for counting what a program asks for.
//   SPRIG_STANDIN_FAIL      failures, by comma: launch=N (the N-th launch fails, and with it the context), lost=N (the
//                           device is lost at the N-th operation), alloc=N (the N-th allocation finds no memory)
//   SPRIG_STANDIN_DROP      orderings that are left out, as if nobody had asked for them, by comma: wait=N (the N-th
//                           wait of a stream for an event), edge=N (the N-th edge of graphs that others do not imply),
//                           sync=N (the N-th operation whose end the host waits for, or asks for, by a stream or an
//                           event, or the N-th wait for a context), peer=N (the N-th access to a peer's memory that is
//                           granted)
//   SPRIG_STANDIN_REPORT    file that gets, as JSON, complaints and counts when the process ends (Report.h)
//   SPRIG_STANDIN_EXIT      the process's exit code if there was a complaint; default 0: the process's own
#ifndef SPRIG_TEST_GPU_DRIVER_CONFIG_H
#define SPRIG_TEST_GPU_DRIVER_CONFIG_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sprig::cuda {

struct DeviceKind;

enum class Order { Eager, Lazy, Random };
enum class LaunchEffects { Each, Once, None }; // of launches
enum class Ordering { Wait, Edge, Sync, Peer };
constexpr size_t kOrderings = 4;

struct Checks {
  bool order = true, kernels = true, bounds = true, unwritten = true, host = true, pinned = true;
};

struct Config {
  std::vector<const DeviceKind *> devices;
  uint64_t memory = 0; // 0: what the kind has
  int driver = 13000;
  bool peers = true;
  std::string images; // a folder
  std::string report; // a file
  Order order = Order::Lazy;
  uint64_t seed = 1;
  Checks checks;
  LaunchEffects effects = LaunchEffects::Each;
  uint64_t failLaunch = 0, failLost = 0, failAlloc = 0; // 0: never
  std::array<uint64_t, kOrderings> drop = {};           // of each kind the N-th; 0: none
  int exitCode = 0;

  /// What the environment says; `error` is empty or names the variable and what was expected of it.
  static Config fromEnvironment(std::string &error);
};

} // namespace sprig::cuda

#endif
