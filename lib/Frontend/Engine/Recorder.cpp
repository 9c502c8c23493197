#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Engine/Engine.h"
#include "lib/Frontend/Engine/SegmentTask.h"
#include "lib/Frontend/Engine/Trace.h"
#include "sprig/grad.h"
#include <optional>

namespace sprig::frontend {

namespace {

/// A segment of more work is started while the next is recorded: about a millisecond of one core.
constexpr double kMostCost = 50e6;
constexpr size_t kMostNodes = 2048;

struct Recorder {
  std::mutex mutex;
  std::optional<Recording> pending;
  bool isComplete = false; // the next operation starts another segment
};
Recorder &recorder() {
  static auto &instance = *new Recorder;
  return instance;
}

thread_local const std::string *layer = nullptr;
thread_local bool lineage = true;

/// Takes what lies recorded when recording has paused, or has been going on for long. While it goes on, cuts by a clock
/// would give the same program other segments at each run, and none of them would be seen twice.
bool cutIdle() {
  constexpr int kMostLooks = 8;
  static uint64_t scope = 0;
  static size_t count = 0;
  static int looks = 0;
  {
    Recorder &r = recorder();
    std::lock_guard lock(r.mutex);
    if (!r.pending) return false;
    if (scope != r.pending->scope) looks = 0;
    bool isGrowing = scope != r.pending->scope || count != r.pending->nodes.size();
    scope = r.pending->scope;
    count = r.pending->nodes.size();
    if (isGrowing && ++looks < kMostLooks) return true;
  }
  flush();
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

} // namespace

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
  std::string text = placeText(at) + (op.starts_with("nn.") ? op.substr(3) : op);
  return layer ? text + " (layer '" + *layer + "')" : text;
}

void fail(Source at, const std::string &op, const std::string &text) {
  throw Error(ErrorKind::usage, placeText(at, op, layer) + ": " + text);
}

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
  if (Trace *trace = Trace::current()) {
    Node *node = trace->recording.add(std::move(description), operands, results, Value::State::traced,
                                      lineage && trace->lineageOutside);
    node->open = lineage;
    for (Value *result : node->results) result->trace = trace;
    std::copy(node->results.begin(), node->results.end(), values);
    if (!lineage && trace->kind == Trace::Kind::region && trace->lineageOutside)
      for (size_t i = 0; i < results.size(); ++i)
        if (isFloat(results[i].dtype)) endGradients(*trace, values[i]);
    return;
  }
  Recorder &r = recorder();
  std::unique_lock lock(r.mutex);
  if (r.isComplete) [[unlikely]] {
    lock.unlock();
    flush();
    lock.lock();
  }
  bool isFirst = !r.pending;
  if (isFirst) r.pending.emplace();
  Node *node = r.pending->add(std::move(description), operands, results, Value::State::pending, lineage);
  std::copy(node->results.begin(), node->results.end(), values);
  bool isFull = r.pending->cost >= kMostCost || r.pending->nodes.size() >= kMostNodes;
  lock.unlock();
  // The results have their callers' handles already: cutting now keeps them.
  if (isFull)
    flush();
  else if (isFirst) {
    [[maybe_unused]] static bool hooked = (Engine::instance().setIdleHook(cutIdle), true);
    Engine::instance().noteRecording();
  }
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
  r.isComplete = r.pending.has_value();
}

void flush(bool wake) {
  Recorder &r = recorder();
  std::unique_lock lock(r.mutex);
  if (!r.pending) return;
  Recording recording = std::move(*r.pending);
  r.pending.reset();
  r.isComplete = false;
  markLive(recording);
  for (Value *value : recording.values) value->state.store(Value::State::queued, std::memory_order_relaxed);
  // Pushed under the lock: segments of several threads stay in the order in which they were recorded.
  Engine::instance().push(makeSegmentTask(std::move(recording)), wake);
}

} // namespace sprig::frontend
