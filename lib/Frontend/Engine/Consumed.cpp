#include "lib/Frontend/Engine/Consumed.h"
#include "lib/Frontend/Base/OfThread.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Engine/Trace.h"
#include <algorithm>

namespace sprig::frontend {

namespace {

/// Operations that gradients were taken through since the last end of a lineage; a reference each.
struct Consumed {
  std::vector<Node *> nodes;
  size_t nextSweep = 1024;
  Consumed() = default;
  Consumed(const Consumed &) = delete;
  ~Consumed() {
    for (Node *node : nodes) drop(node);
  }
};

/// Null where the thread has destroyed its own: lineage then lasts as long as its handles.
Consumed *consumedOfThread() { return ofThread<Consumed>(); }

/// Programs without an optimizer never end a lineage: what nobody else holds goes, later operations before those that
/// they hold.
void sweep(Consumed &consumed) {
  std::vector<Node *> kept;
  for (size_t i = consumed.nodes.size(); i-- > 0;) {
    Node *node = consumed.nodes[i];
    if (node->references.load(std::memory_order_acquire) == 1)
      drop(node);
    else
      kept.push_back(node);
  }
  consumed.nodes.assign(kept.rbegin(), kept.rend());
  consumed.nextSweep = std::max<size_t>(1024, 2 * consumed.nodes.size());
}

void release(std::vector<Node *> &nodes) {
  for (Node *node : nodes) {
    node->tracked = false;
    releaseLineage(node, Node::kUntracked);
    drop(node);
  }
  nodes.clear();
}

} // namespace

void consume(const Lineage &lineage) {
  Consumed *consumed = consumedOfThread();
  if (!consumed) return;
  for (Node *node : lineage.nodes) {
    if (node->consumed) continue;
    node->consumed = true;
    keep(node);
    consumed->nodes.push_back(node);
  }
  if (consumed->nodes.size() >= consumed->nextSweep) sweep(*consumed);
}

void endLineage() {
  if (Consumed *consumed = consumedOfThread()) release(consumed->nodes);
  if (Trace *trace = Trace::currentFunction()) trace->endsLineage = true;
  if (!Trace::current()) endSegment();
}

ConsumedScope::ConsumedScope() {
  if (Consumed *consumed = consumedOfThread()) std::swap(outer, consumed->nodes);
}
ConsumedScope::~ConsumedScope() {
  Consumed *consumed = consumedOfThread();
  if (!consumed) return;
  release(consumed->nodes);
  std::swap(outer, consumed->nodes);
}

} // namespace sprig::frontend
