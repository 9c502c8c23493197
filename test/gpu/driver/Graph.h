// Graphs: nodes with edges, what they become when they are instantiated (a plan, in order, with lanes for the clocks),
// and how a launch queues them.
#ifndef SPRIG_TEST_GPU_DRIVER_GRAPH_H
#define SPRIG_TEST_GPU_DRIVER_GRAPH_H

#include "test/gpu/driver/Work.h"

namespace sprig::cuda {

struct NoWork {};
struct RecordEvent {
  CUevent event = nullptr;
};
struct AwaitEvent {
  CUevent event = nullptr;
};
struct ChildGraph {
  std::shared_ptr<CUgraph_st> graph;
};
struct Conditional {
  CUgraphConditionalHandle handle = 0;
  unsigned type = 0;
  std::vector<std::shared_ptr<CUgraph_st>> bodies;
};
using NodeWork =
    std::variant<NoWork, KernelLaunch, Copy, Fill, HostCall, RecordEvent, AwaitEvent, ChildGraph, Conditional>;

struct CUgraphNode_st {
  CUgraph_st *graph = nullptr;
  CUctx_st *context = nullptr;
  NodeWork work;
  std::vector<CUgraphNode> after;

  unsigned type() const; // CU_GRAPH_NODE_TYPE_...
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;

  CUgraphNode add(CUctx_st &context, NodeWork work, std::vector<CUgraphNode> after);
  bool has(CUgraphNode node) const;
  /// A copy with nodes of its own; bodies of conditional nodes are shared.
  std::shared_ptr<CUgraph_st> clone() const;
};

/// A graph as it is launched.
struct GraphPlan {
  struct Node {
    CUgraphNode source = nullptr; // what parameters are set by; it may be gone
    CUctx_st *context = nullptr;
    NodeWork work;
    std::vector<size_t> after;
    std::shared_ptr<Lane> lane;
    std::vector<GraphPlan> bodies; // of a conditional node
    bool enabled = true;
  };
  std::vector<Node> nodes; // each behind what it comes after

  /// Without the edge that is to be dropped (Config.h). CUDA_ERROR_INVALID_VALUE: the graph has a cycle.
  static CUresult make(Driver &driver, const CUgraph_st &graph, GraphPlan &plan);
  Node *find(CUgraphNode source);
};

struct CUgraphExec_st {
  GraphPlan plan;
  uint64_t number = 0;
  OperationRef last; // launches of it come one after the other
};

/// A value that kernels set and conditional nodes read.
struct Condition {
  CUgraph graph = nullptr;
  unsigned value = 0, initial = 0;
  bool assigned = false; // at each launch
  OperationRef setBy;
};

/// Queues all nodes behind what the stream has queued; the stream goes on behind them.
void launchGraph(Driver &driver, CUgraphExec_st &executable, CUstream_st &stream);

/// A stream that records instead of doing.
struct Capture {
  CUgraph graph = nullptr;
  CUstream origin = nullptr;
  unsigned mode = 0;
  std::thread::id thread;
  bool invalid = false;
};
/// Adds a node behind what the stream has captured so far.
CUresult capture(Driver &driver, CUstream_st &stream, NodeWork work);

} // namespace sprig::cuda

#endif
