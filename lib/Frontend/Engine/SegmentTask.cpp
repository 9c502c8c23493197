#include "lib/Frontend/Engine/SegmentTask.h"
#include "lib/Frontend/Engine/NonFinite.h"
#include "lib/Frontend/Engine/PlanCache.h"
#include "lib/Frontend/Engine/ProfileSpan.h"
#include "lib/Frontend/Engine/RunNode.h"
#include "lib/Frontend/Record.h"
#include <algorithm>

namespace sprig::frontend {

namespace {

class SegmentTask : public Task {
public:
  SegmentTask(Recording given, DeviceId device) : recording(std::move(given)), device(device) {
    key = recording.hash;
    for (size_t i = 0; i < recording.values.size(); ++i)
      if (recording.values[i]->live) {
        key.mix(i);
        outputs.push_back(recording.values[i]);
      }
  }

  void run() override {
    bool isClean = true;
    for (Value *value : recording.externals) {
      Engine::waitForOther(*value, computeLane(device));
      isClean &= value->state.load() == Value::State::ready;
    }
    // One failed value spoils those that depend on it, not the whole segment: that is seen node by node.
    if (!isClean || isWatched() || !runCompiled()) runNodes();
    finish();
  }

private:
  bool isWatched() const {
    return std::any_of(recording.nodes.begin(), recording.nodes.end(),
                       [](const Node *node) { return bool(node->watch); });
  }

  bool runCompiled() {
    if (outputs.empty()) return true;
    std::shared_ptr<Plan> plan = PlanCache::instance().find(key, device, [&] { return recording.graph(outputs); });
    if (!plan) return false;
    try {
      std::vector<void *> in, out;
      in.reserve(recording.externals.size());
      out.reserve(outputs.size());
      for (Value *value : recording.externals) in.push_back(value->storage->data);
      for (Value *value : outputs) {
        value->storage = Storage::allocate(value->type.bytes());
        out.push_back(value->storage->data);
      }
      ProfileSpan span("segment", [&] { return describe(); });
      plan->run(in, out, {});
    } catch (const Error &) {
      return false; // node by node tells which one, and its line
    }
    for (Value *value : outputs) value->state.store(Value::State::ready, std::memory_order_release);
    return true;
  }

  void runNodes() {
    // Only what a live value depends on; memory goes back after the last use. By place: values of the recording.
    std::vector<uint32_t> uses(recording.values.size());
    std::vector<bool> needed(recording.nodes.size());
    size_t end = recording.values.size();
    for (size_t i = recording.nodes.size(); i-- > 0;) {
      const Node &node = *recording.nodes[i];
      for (size_t k = node.results.size(); k-- > 0;) {
        --end;
        needed[i] = needed[i] || recording.values[end]->live || uses[end];
      }
      if (!needed[i]) continue;
      for (const Value *operand : node.operands)
        if (isOurs(operand)) ++uses[operand->place];
    }
    size_t next = 0;
    for (size_t i = 0; i < recording.nodes.size(); ++i) {
      const Node &node = *recording.nodes[i];
      size_t first = next;
      std::span<Value *const> results(recording.values.data() + first, node.results.size());
      next += results.size();
      if (!needed[i]) continue;
      runNode(node, results, device);
      if (node.watch)
        noteOrigins(node.description, *node.watch, {node.operands.begin(), node.operands.end()}, results, device);
      for (size_t k = 0; k < results.size(); ++k)
        if (Value *result = results[k]; result->live)
          result->state.store(result->failure ? Value::State::failed : Value::State::ready, std::memory_order_release);
        else if (!uses[first + k])
          result->storage.reset();
      for (Value *operand : node.operands)
        if (isOurs(operand) && --uses[operand->place] == 0 && !operand->live) operand->storage.reset();
    }
  }

  /// "train.cpp:12: matmul and 3 operations after it"
  std::string describe() const {
    if (recording.nodes.empty()) return "no operation";
    const GraphNode &first = recording.nodes.front()->description;
    size_t more = recording.nodes.size() - 1;
    return placeText(first.source, first.op->text, first.layer) +
           (more ? " and " + std::to_string(more) + (more == 1 ? " operation" : " operations") + " after it" : "");
  }

  bool isOurs(const Value *value) const { return value->home == recording.scope; }

  /// What no gradient needs lets its operands go.
  void finish() {
    for (Value *value : outputs)
      if (value->state.load() == Value::State::failed) Engine::of(computeLane(device)).noteFailure(value->failure);
    for (size_t i = 0; i < recording.nodes.size(); ++i) releaseLineage(recording.nodes[i], Node::kRan);
  }

  Recording recording;
  DeviceId device;
  Hash key;
  std::vector<Value *> outputs;
};

} // namespace

std::unique_ptr<Task> makeSegmentTask(Recording recording, DeviceId device) {
  return std::make_unique<SegmentTask>(std::move(recording), device);
}

} // namespace sprig::frontend
