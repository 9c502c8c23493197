#include "lib/Frontend/Engine/SegmentTask.h"
#include "lib/Frontend/Engine/PlanCache.h"
#include "lib/Frontend/Engine/RunNode.h"
#include <unordered_map>

namespace sprig::frontend {

namespace {

class SegmentTask : public Task {
public:
  explicit SegmentTask(Recording given) : recording(std::move(given)) {
    key = recording.hash;
    for (size_t i = 0; i < recording.values.size(); ++i)
      if (recording.values[i]->live) {
        key.mix(i);
        outputs.push_back(recording.values[i]);
      }
  }

  void run() override {
    bool isClean = true;
    for (Value *value : recording.externals) isClean &= value->state.load() == Value::State::ready;
    // One failed value spoils those that depend on it, not the whole segment: that is seen node by node.
    if (!isClean || !runCompiled()) runNodes();
    finish();
  }

private:
  bool runCompiled() {
    if (outputs.empty()) return true;
    Plan *plan = PlanCache::instance().find(key, [&] { return recording.graph(outputs); });
    if (!plan) return false;
    try {
      std::vector<void *> in, out;
      for (Value *value : recording.externals) in.push_back(value->storage->data);
      for (Value *value : outputs) {
        value->storage = Storage::allocate(value->type.bytes());
        out.push_back(value->storage->data);
      }
      plan->run(in, out, {});
    } catch (const Error &) {
      return false; // node by node tells which one, and its line
    }
    for (Value *value : outputs) value->state.store(Value::State::ready, std::memory_order_release);
    return true;
  }

  void runNodes() {
    // Only what a live value depends on; memory goes back behind the last use.
    std::unordered_map<const Value *, size_t> uses;
    std::vector<bool> needed(recording.nodes.size());
    for (size_t i = recording.nodes.size(); i-- > 0;) {
      const Node &node = *recording.nodes[i];
      for (const Value *result : resultsOf(i)) needed[i] = needed[i] || result->live || uses.contains(result);
      if (!needed[i]) continue;
      for (const Value *operand : node.operands) ++uses[operand];
    }
    for (size_t i = 0; i < recording.nodes.size(); ++i) {
      if (!needed[i]) continue;
      const Node &node = *recording.nodes[i];
      runNode(node, resultsOf(i));
      for (Value *result : resultsOf(i))
        if (result->live)
          result->state.store(result->failure ? Value::State::failed : Value::State::ready, std::memory_order_release);
        else if (!uses.contains(result))
          result->storage.reset();
      for (Value *operand : node.operands)
        if (--uses[operand] == 0 && operand->home == recording.scope && !operand->live) operand->storage.reset();
    }
  }

  std::span<Value *const> resultsOf(size_t node) {
    if (starts.empty()) {
      size_t start = 0;
      for (const Node *each : recording.nodes) {
        starts.push_back(start);
        start += each->results.size();
      }
    }
    return {recording.values.data() + starts[node], recording.nodes[node]->results.size()};
  }

  /// What no gradient needs lets its operands go.
  void finish() {
    for (Value *value : outputs)
      if (value->state.load() == Value::State::failed) Engine::instance().noteFailure(value->failure);
    for (size_t i = 0; i < recording.nodes.size(); ++i) releaseLineage(recording.nodes[i], Node::kRan);
  }

  Recording recording;
  Hash key;
  std::vector<Value *> outputs;
  std::vector<size_t> starts;
};

} // namespace

std::unique_ptr<Task> makeSegmentTask(Recording recording) {
  return std::make_unique<SegmentTask>(std::move(recording));
}

} // namespace sprig::frontend
