#include "lib/Frontend/Engine/Recording.h"
#include <algorithm>
#include <unordered_map>

namespace sprig::frontend {

uint64_t newScope() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

uint64_t newSequence() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed);
}

namespace {

constexpr uint32_t kExternal = uint32_t(1) << 31, kConstant = uint32_t(1) << 30;

uint64_t bitsOf(const Value &constant) {
  uint64_t bits = 0;
  std::memcpy(&bits, constant.storage->data, size_t(size(constant.type.dtype)));
  return bits;
}

/// Floating-point operations, roughly: what decides when enough has been recorded to start.
double costOf(const Node &node) {
  double elements = 0;
  for (const Value *result : node.results) elements += double(result->type.elements());
  if (node.operands.size() < 2) return elements;
  const OpName *name = node.description.op;
  const Shape &a = node.operands[0]->type.shape, &b = node.operands[1]->type.shape;
  static const OpName *const linear = &opName("nn.linear"), *const matmul = &opName("nn.matmul"),
                             *const conv = &opName("nn.conv"), *const filter = &opName("nn.conv_filter_grad"),
                             *const transposed = &opName("nn.conv_transpose");
  if (name == linear || name == matmul) {
    double k = a.rank() < 1 ? 1 : double(a.back());
    if (find(node.description.attrs, "transpose_lhs") && a.rank() >= 2) k = double(a[a.rank() - 2]);
    return 2 * elements * k;
  }
  if (name == filter)
    return 2 * elements * double(b.elements()) / double(std::max<int64_t>(b.rank() > 1 ? b[1] : 1, 1));
  if (name == transposed) return 2 * double(a.elements()) * double(b.elements()) / double(std::max<int64_t>(b[0], 1));
  if (name == conv) return 2 * elements * double(b.elements()) / double(std::max<int64_t>(b[0], 1));
  if (!node.description.regions.empty()) return 100 * elements;
  return elements;
}

} // namespace

Recording::Recording(Recording &&other) noexcept
    : scope(other.scope), besides(other.besides), nodes(std::move(other.nodes)), values(std::move(other.values)),
      externals(std::move(other.externals)), constants(std::move(other.constants)), hash(other.hash), cost(other.cost) {
  other.nodes.clear();
  other.values.clear();
  other.externals.clear();
  other.constants.clear();
}

Recording::~Recording() {
  for (Value *value : values) drop(value);
  for (Node *node : nodes) drop(node);
  for (Value *value : externals) drop(value);
  for (Value *value : constants) drop(value);
}

uint32_t Recording::reach(Value *value) {
  if (value->home == scope) return value->place;
  if (value->scope == scope) return value->slot;
  auto &list = value->constant ? constants : externals;
  auto known = list.end();
  // A recording that began later, a region within this one, has written its own place over ours; or another device's.
  if (value->scope >= besides) known = std::find(list.begin(), list.end(), value);
  value->scope = scope;
  value->slot = uint32_t(known - list.begin()) | (value->constant ? kConstant : kExternal);
  if (known != list.end()) return value->slot;
  keep(value);
  list.push_back(value);
  if (value->constant) hash.mix(bitsOf(*value));
  hash.mix(value->type);
  return value->slot;
}

Node *Recording::add(GraphNode &&description, std::span<const Tensor> operands, std::span<const TensorType> results,
                     Value::State state, bool mayTrack, DeviceId device, bool unplaced) {
  auto *node = new Node;
  node->sequence = newSequence();
  node->device = device;
  node->description = std::move(description);
  hash.mix(node->description);
  bool ofGradient = false;
  node->operands.reserve(operands.size());
  for (const Tensor &operand : operands) {
    Value *value = operand.raw();
    hash.mix(reach(value));
    keep(value);
    node->operands.push_back(value);
    node->tracked |= mayTrack && value->tracked;
    ofGradient |= value->ofGradient;
  }
  if (!node->tracked) node->released = Node::kUntracked;
  node->results.reserve(results.size());
  node->resultTypes.assign(results);
  node->references.store(1 + uint32_t(results.size()), std::memory_order_relaxed); // of the recording and the results
  for (const TensorType &type : results) {
    hash.mix(type);
    auto *value = new Value(type, state, 1); // the caller's handle, and the recording's own reference
    value->producer = node;
    value->index = uint16_t(node->results.size());
    value->tracked = node->tracked && isFloat(type.dtype);
    value->ofGradient = ofGradient;
    value->unplaced = unplaced;
    value->device = device;
    value->lane = computeLane(device);
    value->home = scope;
    value->place = uint32_t(values.size());
    node->results.push_back(value);
    values.push_back(value);
  }
  nodes.push_back(node);
  cost += costOf(*node);
  return node;
}

Graph Recording::graph(std::span<Value *const> outputs) const {
  // By address: slots are overwritten by later recordings that use the same values.
  std::unordered_map<const Value *, uint32_t> numbers;
  Graph graph;
  graph.inputCount = uint32_t(externals.size());
  auto define = [&](const Value *value) {
    numbers[value] = uint32_t(graph.types.size());
    graph.types.push_back(value->type);
  };
  for (const Value *value : externals) define(value);
  for (const Value *value : constants) {
    graph.nodes.push_back(constantNode(value->storage->data, value->type.bytes()));
    graph.nodes.back().firstResult = uint32_t(graph.types.size());
    define(value);
  }
  for (size_t i = 0, next = 0; i < nodes.size(); ++i) {
    GraphNode copy = nodes[i]->description;
    for (const Value *operand : nodes[i]->operands) copy.operands.push_back(numbers.at(operand));
    copy.firstResult = uint32_t(graph.types.size());
    copy.resultCount = uint32_t(nodes[i]->results.size());
    for (uint32_t r = 0; r < copy.resultCount; ++r) define(values[next++]);
    graph.nodes.push_back(std::move(copy));
  }
  for (const Value *output : outputs) graph.outputs.push_back(numbers.at(output));
  return graph;
}

} // namespace sprig::frontend
