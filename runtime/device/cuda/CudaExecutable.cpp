#include "runtime/device/cuda/CudaExecutable.h"

#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/cuda/Nvtx.h"
#include "runtime/exec/Binding.h"

#include <algorithm>
#include <cstring>

namespace sprig::rt::core {

using namespace cuda;

CudaExecutable::Graph::~Graph() {
  if (!launched) return;
  CudaContext::Scope scope(*context);
  context->driver.cuGraphExecDestroy(launched);
}

Status CudaExecutable::make() {
  SPRIG_RETURN_IF_ERROR(lane.make());
  fork = std::make_unique<CudaEvent>(context);
  SPRIG_RETURN_IF_ERROR(fork->make());
  for (Run &run : runs) {
    run.ended = std::make_unique<CudaEvent>(context);
    SPRIG_RETURN_IF_ERROR(run.ended->make());
  }
  for (auto &entries : graphs) entries.resize(package.program().entries.size());
  for (auto *staging : {uploadStaging, downloadStaging})
    for (uint32_t turn = 0; turn < kTurns; ++turn) staging[turn].resize(package.program().entries.size());
  watchedEntries.resize(package.program().entries.size());
  return {};
}

// The same transfers with memory of ours in the caller's place.
Status CudaExecutable::stage(std::span<const Transfer> given, bool toDevice, Staging &memory,
                             std::vector<Transfer> &staged) {
  for (Transfer transfer : given) {
    CudaContext::Pinned &pinned = memory[{transfer.array, toDevice ? transfer.targetDevice : transfer.sourceDevice}];
    if (!pinned.host)
      SPRIG_RETURN_IF_ERROR(context->allocatePinned(transfer.bytes, "staging of the caller's arrays", pinned));
    if (toDevice)
      transfer.source = pinned.host;
    else
      transfer.target = pinned.host;
    staged.push_back(transfer);
  }
  return {};
}

namespace {

// What a stream is given, taken down from here on; on whatever way out, the stream takes commands again.
class Capture {
public:
  Capture(const CudaContext &context, CUstream stream) : driver(context.driver), stream(stream) {}
  ~Capture() {
    if (isOpen) end();
    if (commands) driver.cuGraphDestroy(commands);
  }
  Capture(const Capture &) = delete;
  // Relaxed: other threads go on, and memory that lanes keep is allocated on the way.
  CUresult begin() {
    CUresult result = driver.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    isOpen = result == CUDA_SUCCESS;
    return result;
  }
  CUresult end() {
    isOpen = false;
    CUresult result = driver.cuStreamEndCapture(stream, &commands);
    if (result != CUDA_SUCCESS) commands = nullptr;
    return result;
  }

  CUgraph commands = nullptr;

private:
  const CudaDriver &driver;
  const CUstream stream;
  bool isOpen = false;
};

} // namespace

// Everything begins behind one event and ends before another, so that it is one graph, whatever lanes there are.
void CudaExecutable::enqueueBranches(const LaneExecutable::Order &order) {
  lane.record(*fork);
  for (DeviceLane *branch : taken.lanesOf(order.entry)) branch->wait(*fork);
  taken.enqueueAll(order);
  for (DeviceEvent *end : taken.endsOf(order.turn)) lane.wait(*end);
}

Status CudaExecutable::takeDown(Kind kind, uint32_t entry, const Binding &binding, Graph &graph) {
  const CudaDriver &driver = context->driver;
  graph.context = context.get();
  size_t operands = package.program().entries[entry].operands.size();
  graph.operands.assign(binding.operands(), binding.operands() + operands);
  const uint32_t turn = turnOf(kind);
  SPRIG_RETURN_IF_ERROR(stage(binding.uploads(), true, uploadStaging[turn][entry], graph.uploads));
  SPRIG_RETURN_IF_ERROR(stage(binding.downloads(), false, downloadStaging[turn][entry], graph.downloads));
  SPRIG_RETURN_IF_ERROR(taken.prepare(entry));
  RunControl &control = kind == kInStreams ? streamTaken : taken.controlOf(turn);
  control.arm(nullptr);
  NvtxRange range([] { return "taking down a graph"; });
  CudaContext::Scope scope(*context);
  Capture capture(*context, lane.stream);
  SPRIG_RETURN_IF_ERROR(context->statusOf(capture.begin(), "taking down a graph"));
  std::span<const Transfer> uploads = graph.uploads;
  if (kind != kAlone) uploads = {};
  enqueueBranches({turn, entry, control, nullptr, graph.operands.data(), uploads, graph.downloads});
  graph.watched = control.takeWatched();
  CUresult ended = capture.end();
  Status status = control.take(package.program());
  if (status.isOk()) status = context->statusOf(ended, "taking down a graph");
  if (!status.isOk()) return status;
  return context->statusOf(driver.cuGraphInstantiateWithFlags(&graph.launched, capture.commands, 0), "making a graph");
}

Status CudaExecutable::prepare(Kind kind, uint32_t entry, const Binding &binding, Graph *&graph) {
  auto &made = graphs[kind][entry];
  // Addresses stay: each turn has its own, the host's arrays have places on the device, and no state moves. The
  // caller's on the device may be others.
  auto found = std::find_if(made.begin(), made.end(), [&](const std::unique_ptr<Graph> &each) {
    return std::equal(each->operands.begin(), each->operands.end(), binding.operands());
  });
  if (found == made.end()) {
    auto fresh = std::make_unique<Graph>();
    SPRIG_RETURN_IF_ERROR(takeDown(kind, entry, binding, *fresh));
    if (made.size() == kMostGraphs) made.pop_back(); // the driver lets it end first
    found = made.insert(made.end(), std::move(fresh));
  }
  std::rotate(made.begin(), found, found + 1);
  graph = made.front().get();
  return {};
}

Status CudaExecutable::run(uint32_t entry, const Binding &binding) {
  SPRIG_RETURN_IF_ERROR(start(0, entry, binding, Behind::all));
  return finish(0);
}

Status CudaExecutable::start(uint32_t turn, uint32_t entry, const Binding &binding, Behind behind) {
  NvtxRange range([&] { return package.program().entries[entry].name; });
  Run &run = runs[turn];
  Graph *graph = nullptr;
  bool isAlone = turn == 0 && behind == Behind::all;
  SPRIG_RETURN_IF_ERROR(prepare(isAlone ? kAlone : turn ? kBesideInTurn1 : kBeside, entry, binding, graph));
  // The run two before has ended, which read the same memory.
  for (size_t i = 0; i < graph->uploads.size(); ++i)
    if (graph->uploads[i].bytes)
      std::memcpy(const_cast<uint8_t *>(graph->uploads[i].source), binding.uploads()[i].source,
                  graph->uploads[i].bytes);
  run.results.clear();
  for (const Transfer &transfer : binding.downloads()) run.results.push_back(transfer.target);
  run.graph = graph;
  run.entry = entry;
  RunControl &control = controlOf(turn);
  if (recorded) { // a profile wants to see commands one by one
    SPRIG_RETURN_IF_ERROR(single.prepare(entry));
    single.enqueueAll({turn, entry, control, recorded, graph->operands.data(), graph->uploads, graph->downloads});
    for (DeviceEvent *end : single.endsOf(turn)) lane.wait(*end);
  } else if (control.isGoing()) {
    if (!isAlone) {
      LaneExecutable::Order order{turn,           entry,           control, nullptr, graph->operands.data(),
                                  graph->uploads, graph->downloads};
      taken.uploadInputs(order);
      for (DeviceEvent *arrived : taken.arrivalsOf(order)) lane.wait(*arrived);
    }
    if (control.isGoing()) { // the inputs are on their way
      CudaContext::Scope scope(*context);
      SPRIG_RETURN_IF_ERROR(
          context->statusOf(context->driver.cuGraphLaunch(graph->launched, lane.stream), "launching a graph"));
      for (const RunControl::Watched &dispatch : graph->watched) control.watch(dispatch);
    }
  }
  lane.record(*run.ended);
  return {};
}

Status CudaExecutable::streamEndOn(const CudaDevice &device, CudaEvent *&end) {
  std::unique_ptr<CudaEvent> &own = streamEnds[&device];
  if (!own) {
    std::unique_ptr<DeviceEvent> made;
    SPRIG_RETURN_IF_ERROR(device.createEvent(made));
    own.reset(static_cast<CudaEvent *>(made.release()));
  }
  end = own.get();
  return {};
}

// All runs in streams follow one another, whichever streams they are in: arena and states are one.
Status CudaExecutable::enqueueInStream(uint32_t entry, const Binding &binding, void *given) {
  NvtxRange range([&] { return package.program().entries[entry].name; });
  auto stream = static_cast<CUstream>(given);
  const auto &device = static_cast<const CudaDevice &>(*package.onlyDevice(entry));
  CudaEvent *end = nullptr;
  SPRIG_RETURN_IF_ERROR(streamEndOn(device, end));
  Graph *graph = nullptr;
  SPRIG_RETURN_IF_ERROR(prepare(kInStreams, entry, binding, graph));
  const CudaContext &own = device.context();
  CudaContext::Scope scope(own);
  if (lastInStream)
    SPRIG_RETURN_IF_ERROR(own.statusOf(own.driver.cuStreamWaitEvent(stream, lastInStream->ofLast(), 0),
                                       "waiting for the call before in the caller's stream"));
  SPRIG_RETURN_IF_ERROR(own.statusOf(own.driver.cuGraphLaunch(graph->launched, stream), "launching a graph"));
  end->record(stream);
  lastInStream = end;
  if (!watchedEntries[entry])
    for (const RunControl::Watched &dispatch : graph->watched) streamControl.watch(dispatch);
  watchedEntries[entry] = true;
  return {};
}

Status CudaExecutable::settle() {
  std::fill(watchedEntries.begin(), watchedEntries.end(), false);
  streamControl.arm(nullptr);
  if (lastInStream) lastInStream->synchronize(lastInStream->last(), std::nullopt);
  lastInStream = nullptr; // nothing need wait for it any more
  for (auto &[device, end] : streamEnds) {
    if (!end) continue;
    end->synchronize(end->last(), std::nullopt);
    if (Status failed = end->failure(); !failed.isOk()) streamControl.fail(std::move(failed));
  }
  return streamControl.take(package.program());
}

bool CudaExecutable::hasEnded(uint32_t turn, std::chrono::nanoseconds limit) {
  return runs[turn].ended->synchronize(runs[turn].ended->last(), limit);
}

Status CudaExecutable::finish(uint32_t turn) {
  Run &run = runs[turn];
  run.ended->synchronize(run.ended->last(), std::nullopt);
  RunControl &control = controlOf(turn);
  if (Status failed = run.ended->failure(); !failed.isOk()) control.fail(std::move(failed));
  if (recorded)
    if (Status told = single.tellRecorded(run.entry, *recorded); !told.isOk()) control.fail(std::move(told));
  SPRIG_RETURN_IF_ERROR(control.take(package.program()));
  for (size_t i = 0; i < run.results.size(); ++i)
    if (run.graph->downloads[i].bytes)
      std::memcpy(run.results[i], run.graph->downloads[i].target, run.graph->downloads[i].bytes);
  return {};
}

} // namespace sprig::rt::core
