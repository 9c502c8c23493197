#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Engine/Collective.h"
#include "lib/Frontend/Engine/CopyTask.h"
#include "lib/Frontend/Engine/NonFinite.h"
#include "lib/Frontend/Engine/RankScope.h"
#include "lib/Frontend/Engine/SegmentTask.h"
#include "lib/Frontend/Engine/Trace.h"
#include "sprig/grad.h"
#include <optional>

namespace sprig::frontend {

namespace {

/// A segment of more work is started while the next is recorded: about a millisecond of one core.
constexpr double kMostCost = 50e6;
constexpr size_t kMostNodes = 2048;

/// The segment of a device that is being filled.
struct Segment {
  std::optional<Recording> pending;
  bool isComplete = false; // the next operation starts another segment
  // What an executor without work found when it last looked.
  uint64_t seenScope = 0;
  size_t seenCount = 0;
  int looks = 0;
};

struct Recorder {
  std::mutex mutex;
  Segment segments[kMostOpenDevices];
};
Recorder &recorder() {
  static auto &instance = *new Recorder;
  return instance;
}

thread_local const std::string *layer = nullptr;
thread_local bool lineage = true;
thread_local DeviceId lastDevice = 0; // that an operation was recorded for

/// Takes what lies recorded when recording has paused, or has been going on for long. While it goes on, cuts by a clock
/// would give the same program other segments at each run, and none of them would be seen twice.
bool cutIdle(LaneId lane) {
  constexpr int kMostLooks = 8;
  DeviceId device = deviceOfLane(lane);
  if (lane != computeLane(device)) return false; // copies are handed over at once
  {
    Recorder &r = recorder();
    std::lock_guard lock(r.mutex);
    Segment &own = r.segments[device];
    if (!own.pending) return false;
    bool isNew = own.seenScope != own.pending->scope, isGrowing = isNew || own.seenCount != own.pending->nodes.size();
    if (isNew) own.looks = 0;
    own.seenScope = own.pending->scope;
    own.seenCount = own.pending->nodes.size();
    if (isGrowing && ++own.looks < kMostLooks) return true;
  }
  flushDevice(device);
  return false;
}

/// A node is retained when a gradient may still be taken through it: its operands are read then, even without handles.
void markLive(const Recording &recording) {
  for (Value *value : recording.values) value->live = value->hasHandles();
  for (auto node = recording.nodes.rbegin(); node != recording.nodes.rend(); ++node) {
    if (!(*node)->tracked) continue;
    bool needed = false;
    for (Value *result : (*node)->results) needed |= result->live;
    if (!needed) continue;
    for (Value *result : (*node)->results) result->live = true;
    for (Value *operand : (*node)->operands)
      if (operand->home == recording.scope) operand->live = true;
  }
}

void checkOperands(std::span<const Tensor> operands, const OpName &op, Source at) {
  for (const Tensor &operand : operands) {
    if (!operand.defined()) fail(at, op.text, "got a tensor that holds nothing");
    const Value &value = *operand.raw();
    if (value.state.load(std::memory_order_relaxed) != Value::State::traced) continue;
    Trace *trace = Trace::current();
    while (trace && trace != value.trace) trace = trace->outer;
    if (!trace)
      fail(at, op.text,
           "uses a value of a function that was being recorded; what such a function computes is known by its results "
           "alone");
  }
}

/// Hands over what lies recorded for a device; the recorder's lock is held. Pushed under the lock: segments of several
/// threads stay in the order in which they were recorded.
void flushHeld(Recorder &r, DeviceId device, bool wake) {
  Segment &own = r.segments[device];
  if (!own.pending) return;
  Recording recording = std::move(*own.pending);
  own.pending.reset();
  own.isComplete = false;
  markLive(recording);
  for (Value *value : recording.values) value->state.store(Value::State::queued, std::memory_order_relaxed);
  Engine::of(computeLane(device)).push(makeSegmentTask(std::move(recording), device), wake);
}

/// What another device has recorded and this value needs goes first; the lock is held.
void flushProducer(Recorder &r, const Value &value) {
  if (value.state.load(std::memory_order_relaxed) == Value::State::pending) flushHeld(r, value.device, true);
}

/// The oldest recording that may write places into values while a new one is filled.
uint64_t oldestScope(const Recorder &r, uint64_t own) {
  for (size_t device = 0, count = openDevices(); device < count; ++device)
    if (const auto &pending = r.segments[device].pending) own = std::min(own, pending->scope);
  return own;
}

[[noreturn]] void failOnTwoDevices(const Value &a, const Value &b, const OpName &op, Source at) {
  fail(at, op.text,
       "has operands on two devices: " + describe(a.type) + " on " + deviceOf(a.device).name() + " and " +
           describe(b.type) + " on " + deviceOf(b.device).name() + "; copy one of them, as by .to(\"" +
           deviceOf(a.device).name() + "\")");
}

} // namespace

Placed placeFor(std::span<const Tensor> operands, const OpName &op, Source at) {
  const Value *first = nullptr, *scalar = nullptr;
  for (const Tensor &operand : operands) {
    const Value *value = operand.raw();
    if (!value->isPlaced()) {
      if (!scalar && !value->constant && !value->unplaced) scalar = value;
    } else if (!first) {
      first = value;
    } else if (value->device != first->device) [[unlikely]] {
      failOnTwoDevices(*first, *value, op, at);
    }
  }
  if (first) return {lastDevice = first->device, false};
  // Scalars go where they are needed: what a gradient makes of them is for operations of the device that it is of.
  if (const DeviceId *made = creationDevice()) return {*made, false};
  if (scalar) return {lastDevice = scalar->device, false};
  return {lastDevice, true};
}

bool lineageIsOn() { return lineage; }
bool setLineage(bool on) { return std::exchange(lineage, on); }

} // namespace sprig::frontend

sprig::NoGrad::NoGrad() : outer(std::exchange(frontend::lineage, false)) {}
sprig::NoGrad::~NoGrad() { frontend::lineage = outer; }

namespace sprig::frontend {

LayerScope::LayerScope(const std::string *path) : outer(std::exchange(layer, path)) {}
LayerScope::~LayerScope() { layer = outer; }

std::string placeText(Source at) { return at.line ? std::string(at.file) + ":" + std::to_string(at.line) + ": " : ""; }

std::string placeText(Source at, const std::string &op, const std::string *layer) {
  size_t dialect = op.starts_with("nn.") || op.starts_with("dist.") ? op.find('.') + 1 : 0;
  std::string text = placeText(at) + op.substr(dialect);
  return layer ? text + " (layer '" + *layer + "')" : text;
}

void fail(Source at, const std::string &op, const std::string &text) { badUse(placeText(at, op, layer) + ": " + text); }

void requireDefined(const Tensor &tensor, const char *op, const char *what, Source at) {
  if (!tensor.defined()) fail(at, op, std::string(what) + " is a tensor that holds nothing");
}

/// A region is differentiated as a whole: where gradients are to end within it has to stand in its graph.
static void endGradients(Trace &trace, Value *&value) {
  static const OpName &stop = opName("nn.stop_gradient");
  Tensor whole = Tensor::own(value);
  GraphNode description;
  description.op = &stop;
  description.layer = layer;
  Node *node =
      trace.recording.add(std::move(description), {&whole, 1}, {&whole.type(), 1}, Value::State::traced, false);
  value = node->results[0];
  value->trace = &trace;
}

/// The results, with a handle each that the caller takes over. The node itself may be gone when this returns.
static void recordNode(GraphNode &&description, std::span<const Tensor> operands, std::span<const TensorType> results,
                       Value **values) {
  description.layer = layer;
  checkOperands(operands, *description.op, description.source);
  if (isCollective(*description.op)) [[unlikely]] {
    if (!Trace::current()) return queueCollective(std::move(description), operands, results, values, lineage);
    noteCollective(*Trace::current(), description);
  }
  Placed placed = placeFor(operands, *description.op, description.source);
  if (Trace *trace = Trace::current()) {
    Node *node = trace->recording.add(std::move(description), operands, results, Value::State::traced,
                                      lineage && trace->lineageOutside, placed.device, placed.isFree);
    node->open = lineage;
    for (Value *result : node->results) result->trace = trace;
    std::copy(node->results.begin(), node->results.end(), values);
    if (!lineage && trace->kind == Trace::Kind::region && trace->lineageOutside)
      for (size_t i = 0; i < results.size(); ++i)
        if (isFloat(results[i].dtype)) endGradients(*trace, values[i]);
    return;
  }
  requireOwn(placed.device, *description.op, description.source);
  Recorder &r = recorder();
  std::unique_lock lock(r.mutex);
  Segment &own = r.segments[placed.device];
  if (own.isComplete) [[unlikely]]
    flushHeld(r, placed.device, true);
  for (const Tensor &operand : operands)
    if (operand.raw()->device != placed.device) [[unlikely]]
      flushProducer(r, *operand.raw());
  bool isFirst = !own.pending;
  if (isFirst) {
    own.pending.emplace();
    own.pending->besides = oldestScope(r, own.pending->scope);
  }
  Node *node = own.pending->add(std::move(description), operands, results, Value::State::pending, lineage,
                                placed.device, placed.isFree);
  node->watch = watchFor(operands);
  std::copy(node->results.begin(), node->results.end(), values);
  bool isFull = own.pending->cost >= kMostCost || own.pending->nodes.size() >= kMostNodes;
  lock.unlock();
  // The results have their callers' handles already: cutting now keeps them.
  if (isFull) return flushDevice(placed.device);
  if (isFirst) {
    Engine &engine = Engine::of(computeLane(placed.device));
    engine.setIdleHook(cutIdle);
    engine.noteRecording();
    Engine::makeRoom(); // of what went before this segment
  }
}

/// In a function that is being recorded: an operation that changes nothing but the device.
static Tensor copyInTrace(Trace &trace, const Tensor &from, DeviceId device, Source at) {
  static const OpName &reshape = opName("nn.reshape");
  if (trace.kind == Trace::Kind::region)
    fail(at, "to",
         "moves " + describe(from.type()) + " to " + deviceOf(device).name() +
             " in a branch, a loop or a checkpoint, which runs on one device; move it outside");
  GraphNode description;
  description.op = &reshape;
  description.source = at;
  description.layer = layer;
  Node *node = trace.recording.add(std::move(description), {&from, 1}, {&from.type(), 1}, Value::State::traced,
                                   lineage && trace.lineageOutside, device);
  node->open = lineage;
  node->isCopy = true;
  node->results[0]->trace = &trace;
  return Tensor::own(node->results[0]);
}

Tensor copyTo(const Tensor &from, DeviceId device, Source at) {
  if (Trace *trace = Trace::current()) return copyInTrace(*trace, from, device, at);
  return queueCopy(from, device, at);
}

Tensor queueCopy(const Tensor &from, DeviceId device, Source at) {
  Value *source = from.raw();
  Recorder &r = recorder();
  std::unique_lock lock(r.mutex);
  flushProducer(r, *source);
  auto *value = new Value(source->type, Value::State::queued, 1); // the caller's handle, and the task's reference
  value->device = device;
  value->lane = copyLane(device);
  value->ofGradient = source->ofGradient;
  Tensor result = Tensor::own(value);
  if (lineage && source->tracked) rememberCopy(from, result, layer, at);
  Engine::of(value->lane).push(makeCopyTask(from, value, at));
  lock.unlock();
  Engine::makeRoom();
  return result;
}

Tensor record(const OpName &op, std::span<const Tensor> operands, AttrList attrs, const TensorType &result, Source at) {
  GraphNode description;
  description.op = &op;
  description.attrs = std::move(attrs);
  description.source = at;
  Value *value;
  recordNode(std::move(description), operands, {&result, 1}, &value);
  return Tensor::own(value);
}

std::vector<Tensor> recordAll(const OpName &op, std::span<const Tensor> operands, AttrList attrs,
                              std::span<const TensorType> results, Source at,
                              std::vector<std::shared_ptr<const Graph>> regions) {
  GraphNode description;
  description.op = &op;
  description.attrs = std::move(attrs);
  description.source = at;
  description.regions = std::move(regions);
  std::vector<Value *> values(results.size());
  recordNode(std::move(description), operands, results, values.data());
  std::vector<Tensor> tensors;
  for (Value *value : values) tensors.push_back(Tensor::own(value));
  return tensors;
}

std::vector<Tensor> replay(const Graph &graph, std::span<const Tensor> inputs, Source at) {
  std::vector<Tensor> values(inputs.begin(), inputs.end());
  std::vector<Tensor> operands;
  std::vector<Value *> fresh;
  values.reserve(graph.types.size());
  for (const GraphNode &node : graph.nodes) {
    GraphNode copy = node;
    copy.operands.clear();
    if (!copy.source.line) copy.source = at;
    operands.clear();
    for (uint32_t operand : node.operands) operands.push_back(values[operand]);
    std::span<const TensorType> results(graph.types.data() + node.firstResult, node.resultCount);
    LayerScope scope(node.layer ? node.layer : layer);
    fresh.resize(results.size());
    recordNode(std::move(copy), operands, results, fresh.data());
    for (Value *value : fresh) values.push_back(Tensor::own(value));
  }
  std::vector<Tensor> outputs;
  for (uint32_t output : graph.outputs) outputs.push_back(values[output]);
  return outputs;
}

void endSegment() {
  Recorder &r = recorder();
  std::lock_guard lock(r.mutex);
  for (size_t device = 0, count = openDevices(); device < count; ++device)
    r.segments[device].isComplete = r.segments[device].pending.has_value();
}

/// Hands over under the lock, and waits for room without it.
template <typename F> static void handOver(F f) {
  {
    Recorder &r = recorder();
    std::lock_guard lock(r.mutex);
    f(r);
  }
  Engine::makeRoom();
}

void flush(bool wake) {
  handOver([&](Recorder &r) {
    for (size_t device = 0, count = openDevices(); device < count; ++device) flushHeld(r, DeviceId(device), wake);
  });
}

void flushDevice(DeviceId device, bool wake) {
  handOver([&](Recorder &r) { flushHeld(r, device, wake); });
}

void flushBefore(std::span<const Tensor> values) {
  handOver([&](Recorder &r) {
    for (const Tensor &value : values) flushProducer(r, *value.raw());
  });
}

} // namespace sprig::frontend
