// The driver's state: devices, their primary contexts, memory, streams and events, behind one lock. The functions of
// the interface (api/) are thin: they check their arguments, find objects here, and queue work (Work.h).
#ifndef SPRIG_TEST_GPU_DRIVER_DRIVER_H
#define SPRIG_TEST_GPU_DRIVER_DRIVER_H

#include "test/gpu/driver/Config.h"
#include "test/gpu/driver/Cuda.h"
#include "test/gpu/driver/DeviceKinds.h"
#include "test/gpu/driver/Memory.h"
#include "test/gpu/driver/Report.h"
#include "test/gpu/driver/Scheduler.h"
#include "test/gpu/driver/Graph.h"
#include "test/gpu/driver/Module.h"

#include <set>
#include <unordered_map>

namespace sprig::cuda {

struct CUstream_st {
  CUctx_st *context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  uint64_t number = 0; // 0: the legacy default stream
  std::shared_ptr<Lane> lane;
  OperationRef last;
  std::shared_ptr<Capture> capture;
  std::vector<CUgraphNode> captured; // what the next captured node comes after

  bool isLegacy() const { return number == 0; }
  bool blocks() const { return !isLegacy() && !(flags & CU_STREAM_NON_BLOCKING); }
  std::string title() const;
};

struct CUevent_st {
  CUctx_st *context = nullptr;
  unsigned flags = 0;
  OperationRef recorded;            // the marker that stands for all that came before
  std::shared_ptr<Capture> capture; // recorded in a capture: behind these nodes
  std::vector<CUgraphNode> captured;
};

struct CUctx_st {
  int device = 0;
  const DeviceKind *kind = nullptr;
  int retained = 0;
  unsigned flags = 0;
  CUresult failed = CUDA_SUCCESS; // sticky
  std::set<int> peers;            // devices whose memory it may reach, as far as the program knows
  int droppedPeer = -1;           // which of them it does not

  bool reaches(int other) const { return other == device || (peers.count(other) && other != droppedPeer); }
  CUstream_st legacy;
  std::map<std::thread::id, CUstream> perThread;
};

/// Owns what a kind of handle points to, and knows the handles that are alive; goes through them in the order in which
/// they were made, whatever their addresses.
template <typename T> class Handles {
public:
  T *create() {
    auto &object = objects[++made] = std::make_unique<T>();
    serials.emplace(object.get(), made);
    return object.get();
  }
  bool has(T *handle) const { return serials.count(handle) != 0; }
  void destroy(T *handle) {
    auto it = serials.find(handle);
    objects.erase(it->second);
    serials.erase(it);
  }
  template <typename Which> void destroyIf(Which which) {
    std::vector<T *> doomed;
    for (T *object : all())
      if (which(*object)) doomed.push_back(object);
    for (T *object : doomed) destroy(object);
  }
  std::vector<T *> all() const {
    std::vector<T *> list;
    for (auto &[serial, object] : objects) list.push_back(object.get());
    return list;
  }

private:
  uint64_t made = 0;
  std::map<uint64_t, std::unique_ptr<T>> objects;
  std::unordered_map<T *, uint64_t> serials;
};

class Driver {
public:
  explicit Driver(Config config);

  /// The process's driver, made from the environment at first use. A test may ask for a new one.
  static Driver &get();
  static void reset();

  const Config config;
  std::string configError; // set: nothing works
  bool initialised = false;
  std::mutex mutex;
  Report report;
  std::vector<std::unique_ptr<CUctx_st>> contexts; // one a device: primary ones
  Memory memory;
  Handles<CUstream_st> streams;
  Handles<CUevent_st> events;
  Handles<CUmod_st> modules;
  Handles<CUlib_st> libraries;
  CodeStore codes;
  std::map<CUgraph, std::shared_ptr<CUgraph_st>> graphs; // those of conditional nodes too
  Handles<CUgraphExec_st> executables;
  std::map<CUgraphConditionalHandle, Condition> conditions;
  std::deque<std::vector<CUgraph>> bodyLists;       // arrays of conditional nodes' bodies, which callers point to
  OperationRef running;                             // the kernel
  bool conditionSet = false;                        // by it
  std::unordered_map<std::string, Effects> effects; // of launches, where they are found but once
  std::vector<OperationRef> orphans;                // the last ones of streams that are gone
  Scheduler scheduler;                              // last: its thread ends before the rest does

  /// The calling thread's current context; CUDA_ERROR_INVALID_CONTEXT without one, its sticky error if it has one.
  CUresult current(CUctx_st *&context);
  std::vector<CUctx_st *> &contextStack();
  /// The stream of a handle: null and the special handles included.
  CUresult stream(CUstream handle, CUstream_st *&stream);
  /// A function of the context by its handle, or by that of a library's kernel.
  CUresult function(CUctx_st &context, CUfunction handle, CUfunction &function);
  CUstream createStream(CUctx_st &context, unsigned flags, int priority);
  CUevent createEvent(CUctx_st &context, unsigned flags);
  std::string deviceTitle(const CUctx_st &context) const { return "cuda:" + std::to_string(context.device); }

  /// Queues work in a stream, behind all that its kind of stream comes after.
  CUresult enqueue(CUstream_st &stream, Work work, OperationRef *queued = nullptr);
  /// Queues an operation that knows what it does and what else it waits for.
  OperationRef queueOperation(CUstream_st &stream, std::shared_ptr<Operation> operation);
  void perform(const OperationRef &operation, const Work &work);
  /// Queues a marker: it is done when all before it in the stream is, and `also`.
  OperationRef enqueueMarker(CUstream_st &stream, std::string name, OperationRef also = nullptr);
  /// The host waits for the operation, and hears of the context's errors. Counts as a synchronisation.
  CUresult wait(CUctx_st &context, const OperationRef &operation);
  /// The same where the program itself asks for it.
  CUresult waitAsAsked(CUctx_st &context, const OperationRef &operation);
  /// Whether the host is not to learn by configuration that the operation is done: however often it asks.
  bool dropsWaitFor(const OperationRef &operation);
  CUresult waitForContext(CUctx_st &context);
  /// All that the context owns ends; what fails in it is forgotten, but for a lost device.
  void endContext(CUctx_st &context);
  /// The context fails for good, as after an illegal access.
  void fail(CUctx_st &context, CUresult error);

  /// An operation that the host asks for, a graph's launch among them: at the N-th the device is lost.
  void countOperation(CUctx_st &context) {
    if (++operations == config.failLost) fail(context, CUDA_ERROR_DEVICE_UNAVAILABLE);
  }
  /// The next allocation, or launch, is to fail by configuration.
  bool failsLaunch() { return ++launches == config.failLaunch; }
  bool failsAllocation() { return ++allocations == config.failAlloc; }

  /// The next ordering of a kind is to be left out by configuration; `what` tells which it is.
  template <typename What> bool drops(Ordering kind, What what) {
    if (++orderings[size_t(kind)] != config.drop[size_t(kind)]) return false;
    noteDropped(what());
    return true;
  }

  /// Calls that a capture must not meet: what they would wait for, or do at once, is not recorded. Ends it.
  CUresult refuseWhileCapturing(CUctx_st &context);
  /// Whether the graph or one of its nodes is alive.
  bool hasNode(CUgraphNode node) const;
  void destroyGraph(CUgraph graph);
  uint64_t graphNumbers = 0, conditionNumbers = 0;

private:
  void noteDropped(std::string what);

  uint64_t generation; // of thread-local state
  uint64_t streamNumbers = 0, operations = 0, allocations = 0, launches = 0;
  std::array<uint64_t, kOrderings> orderings = {};
};

} // namespace sprig::cuda

#endif
