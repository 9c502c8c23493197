#include "test/gpu/driver/Driver.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace sprig::cuda {
namespace {

std::unique_ptr<Driver> theDriver;
std::mutex makingDriver;
uint64_t generations = 0;

// Contexts pushed by the thread, of the driver that they belong to.
struct ThreadState {
  uint64_t generation = 0;
  std::vector<CUctx_st *> stack;
};
thread_local ThreadState threadState;

void writeReport(Driver &driver) {
  std::ofstream file(driver.config.report);
  driver.report.counts.virtualNanoseconds = static_cast<uint64_t>(driver.scheduler.lastEnd());
  file << driver.report.json() << "\n";
  if (!file.flush())
    std::fprintf(stderr, "stand-in: error: cannot write the report to '%s'\n", driver.config.report.c_str());
}

void atExit() {
  // Never destroyed: threads of the process may still be inside.
  Driver *driver = theDriver.release();
  if (!driver) return;
  std::lock_guard lock(driver->mutex);
  if (!driver->config.report.empty()) writeReport(*driver);
  size_t count = driver->report.complaints().size();
  if (count == 0) return;
  std::fprintf(stderr, "stand-in: %zu kinds of complaints\n", count);
  if (driver->config.exitCode == 0) return;
  std::fflush(nullptr);
  ::_exit(driver->config.exitCode);
}

std::unique_ptr<Driver> makeDriver() {
  static bool registered = std::atexit(atExit) == 0;
  (void)registered;
  std::string error;
  Config config = Config::fromEnvironment(error);
  auto driver = std::make_unique<Driver>(std::move(config));
  if (!error.empty()) {
    std::fprintf(stderr, "stand-in: error: %s\n", error.c_str());
    driver->configError = error;
  }
  return driver;
}

std::vector<uint64_t> memorySizes(const Config &config) {
  std::vector<uint64_t> sizes;
  for (const DeviceKind *kind : config.devices) sizes.push_back(config.memory ? config.memory : kind->memoryBytes);
  return sizes;
}

} // namespace

std::string CUstream_st::title() const {
  std::string where = " of cuda:" + std::to_string(context->device);
  return (isLegacy() ? "the default stream" : "stream " + std::to_string(number)) + where;
}

Driver::Driver(Config given)
    : config(std::move(given)), memory(memorySizes(config), config.checks.host), codes(config.images),
      scheduler(config.order, config.seed, mutex), generation(++generations) {
  for (size_t i = 0; i < config.devices.size(); ++i) {
    auto context = std::make_unique<CUctx_st>();
    context->device = static_cast<int>(i);
    context->kind = config.devices[i];
    context->legacy.context = context.get();
    context->legacy.lane = scheduler.createLane();
    contexts.push_back(std::move(context));
  }
}

Driver &Driver::get() {
  std::lock_guard lock(makingDriver);
  if (!theDriver) theDriver = makeDriver();
  return *theDriver;
}

void Driver::reset() {
  std::lock_guard lock(makingDriver);
  theDriver.reset(); // first: one process has one handler of faults
  theDriver = makeDriver();
}

std::vector<CUctx_st *> &Driver::contextStack() {
  if (threadState.generation != generation) threadState = {generation, {}};
  return threadState.stack;
}

CUresult Driver::current(CUctx_st *&context) {
  auto &stack = contextStack();
  if (stack.empty() || !stack.back()) return CUDA_ERROR_INVALID_CONTEXT;
  context = stack.back();
  if (context->retained == 0) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return context->failed;
}

CUresult Driver::stream(CUstream handle, CUstream_st *&stream) {
  if (handle && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
    if (!streams.has(handle)) return CUDA_ERROR_INVALID_HANDLE;
    stream = handle;
    return stream->context->failed;
  }
  CUctx_st *context = nullptr;
  if (CUresult error = current(context)) return error;
  stream = &context->legacy;
  if (handle == CU_STREAM_PER_THREAD) {
    CUstream &own = context->perThread[std::this_thread::get_id()];
    if (!own) own = createStream(*context, CU_STREAM_DEFAULT, 0);
    stream = own;
  }
  return CUDA_SUCCESS;
}

CUresult Driver::function(CUctx_st &context, CUfunction handle, CUfunction &function) {
  function = nullptr;
  for (CUmodule module : modules.all())
    for (auto &[name, known] : module->functions)
      if (known.get() == handle) function = handle;
  for (CUlibrary library : libraries.all())
    for (auto &[name, kernel] : library->kernels) {
      if (reinterpret_cast<CUfunction>(kernel.get()) != handle) continue;
      CUmodule module = nullptr;
      if (CUresult failed = moduleOf(*this, context, library, module)) return failed;
      function = module->functions.find(name)->second.get();
    }
  return function && function->module->context == &context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUstream Driver::createStream(CUctx_st &context, unsigned flags, int priority) {
  CUstream stream = streams.create();
  stream->context = &context;
  stream->flags = flags;
  stream->priority = priority;
  stream->number = ++streamNumbers;
  stream->lane = scheduler.createLane();
  return stream;
}

CUevent Driver::createEvent(CUctx_st &context, unsigned flags) {
  CUevent event = events.create();
  event->context = &context;
  event->flags = flags;
  return event;
}

OperationRef Driver::queueOperation(CUstream_st &stream, std::shared_ptr<Operation> operation) {
  operation->where = stream.title();
  operation->context = stream.context;
  operation->lane = stream.lane;
  operation->after.push_back(stream.last);
  // The legacy default stream comes after all that blocking streams have queued, and they after it.
  if (stream.isLegacy()) {
    for (CUstream other : streams.all())
      if (other->context == stream.context && other->blocks()) operation->after.push_back(other->last);
  } else if (stream.blocks()) {
    operation->after.push_back(stream.context->legacy.last);
  }
  stream.last = scheduler.add(std::move(operation));
  return stream.last;
}

CUresult Driver::enqueue(CUstream_st &stream, Work work, OperationRef *queued) {
  if (stream.capture) {
    NodeWork node;
    bool known = std::visit(
        [&](const auto &one) {
          constexpr bool canBeNode = std::is_constructible_v<NodeWork, decltype(one)>;
          if constexpr (canBeNode) node = one;
          return canBeNode;
        },
        work);
    return known ? capture(*this, stream, std::move(node)) : CUDA_ERROR_NOT_SUPPORTED;
  }
  auto operation = std::make_shared<Operation>();
  operation->name = nameOf(work);
  operation->callsHost = std::holds_alternative<HostCall>(work);
  report.counts.hostFunctions += operation->callsHost;
  report.counts.launches += std::holds_alternative<KernelLaunch>(work);
  operation->body = [this, work = std::move(work)](const OperationRef &self) { perform(self, work); };
  countOperation(*stream.context);
  OperationRef added = queueOperation(stream, std::move(operation));
  if (queued) *queued = added;
  return CUDA_SUCCESS;
}

OperationRef Driver::enqueueMarker(CUstream_st &stream, std::string name, OperationRef also) {
  auto operation = std::make_shared<Operation>();
  operation->name = std::move(name);
  operation->after.push_back(std::move(also));
  return queueOperation(stream, std::move(operation));
}

void Driver::perform(const OperationRef &operation, const Work &work) {
  // Nothing is done any more in a context that has failed.
  if (operation->context->failed) return;
  CUresult result = std::visit([&](const auto &one) { return sprig::cuda::perform(*this, operation, one); }, work);
  if (result != CUDA_SUCCESS) fail(*operation->context, result);
}

CUresult Driver::wait(CUctx_st &context, const OperationRef &operation) {
  ++report.counts.hostSynchronisations;
  scheduler.wait(operation);
  return context.failed;
}

CUresult Driver::waitAsAsked(CUctx_st &context, const OperationRef &operation) {
  return dropsWaitFor(operation) ? context.failed : wait(context, operation);
}

bool Driver::dropsWaitFor(const OperationRef &operation) {
  if (!operation) return false;
  if (operation->hostWait == Operation::HostWait::None) {
    auto what = [&] { return "wait of the host for " + operation->title(); };
    operation->hostWait = drops(Ordering::Sync, what) ? Operation::HostWait::Dropped : Operation::HostWait::Asked;
  }
  return operation->hostWait == Operation::HostWait::Dropped;
}

void Driver::noteDropped(std::string what) {
  std::fprintf(stderr, "stand-in drops the %s\n", what.c_str());
  report.dropped = std::move(what);
}

CUresult Driver::refuseWhileCapturing(CUctx_st &context) {
  for (CUstream stream : streams.all()) {
    if (!stream->capture || stream->context != &context) continue;
    if (stream->capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED) continue;
    bool mine = stream->capture->thread == std::this_thread::get_id();
    if (stream->capture->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && !mine) continue;
    stream->capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return CUDA_SUCCESS;
}

bool Driver::hasNode(CUgraphNode node) const {
  return std::any_of(graphs.begin(), graphs.end(), [&](auto &graph) { return graph.first->has(node); });
}

void Driver::destroyGraph(CUgraph graph) {
  auto keep = graphs[graph];
  graphs.erase(graph);
  std::erase_if(conditions, [&](auto &condition) { return condition.second.graph == graph; });
  for (auto &node : keep->nodes) {
    if (auto *conditional = std::get_if<Conditional>(&node->work))
      for (auto &body : conditional->bodies) destroyGraph(body.get());
    if (auto *child = std::get_if<ChildGraph>(&node->work); child && graphs.count(child->graph.get()))
      destroyGraph(child->graph.get());
  }
}

CUresult Driver::waitForContext(CUctx_st &context) {
  if (CUresult failed = refuseWhileCapturing(context)) return failed;
  ++report.counts.hostSynchronisations;
  scheduler.wait(context.legacy.last);
  for (CUstream stream : streams.all())
    if (stream->context == &context) scheduler.wait(stream->last);
  for (const OperationRef &last : std::exchange(orphans, {})) scheduler.wait(last);
  return context.failed;
}

void Driver::endContext(CUctx_st &context) {
  for (CUstream stream : streams.all())
    if (stream->context == &context) stream->capture = nullptr;
  (void)waitForContext(context);
  streams.destroyIf([&](auto &stream) { return stream.context == &context; });
  events.destroyIf([&](auto &event) { return event.context == &context; });
  context.perThread.clear();
  context.peers.clear();
  context.droppedPeer = -1;
  context.legacy.last = nullptr;
  modules.destroyIf([&](auto &module) { return module.context == &context; });
  for (CUlibrary library : libraries.all()) library->modules.erase(&context);
  memory.freeAll(context.device, scheduler.hostOperation("end of context"));
  if (context.failed != CUDA_ERROR_DEVICE_UNAVAILABLE) context.failed = CUDA_SUCCESS;
}

void Driver::fail(CUctx_st &context, CUresult error) {
  if (context.failed == CUDA_SUCCESS) context.failed = error;
}

} // namespace sprig::cuda
