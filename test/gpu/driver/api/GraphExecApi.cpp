// Instantiated graphs: made, changed in place, launched.
#include "test/gpu/driver/api/GraphNodes.h"

namespace sprig::cuda {
namespace {

CUresult instantiate(const char *function, CUgraphExec *result, CUgraph graph) {
  return callInContext(function, [&](Driver &driver, CUctx_st &) -> CUresult {
    if (!driver.graphs.count(graph)) return CUDA_ERROR_INVALID_HANDLE;
    GraphPlan plan;
    SPRIG_CUDA_TRY(GraphPlan::make(driver, *graph, plan));
    ++driver.report.counts.graphsInstantiated;
    *result = driver.executables.create();
    (*result)->plan = std::move(plan);
    (*result)->number = ++driver.graphNumbers;
    return CUDA_SUCCESS;
  });
}

template <typename Body>
CUresult callWithNode(const char *function, CUgraphExec executable, CUgraphNode node, Body body) {
  return callInContext(function, [&](Driver &driver, CUctx_st &) -> CUresult {
    if (!driver.executables.has(executable)) return CUDA_ERROR_INVALID_HANDLE;
    GraphPlan::Node *planned = executable->plan.find(node);
    return planned ? body(driver, *planned) : CUDA_ERROR_INVALID_VALUE;
  });
}

template <typename Parameters>
CUresult setParameters(const char *function, CUgraphExec executable, CUgraphNode node, const Parameters *parameters) {
  return callWithNode(function, executable, node, [&](Driver &driver, GraphPlan::Node &planned) -> CUresult {
    NodeWork work;
    SPRIG_CUDA_TRY(workOf(driver, *planned.context, *parameters, work));
    if (work.index() != planned.work.index()) return CUDA_ERROR_INVALID_VALUE;
    planned.work = std::move(work);
    return CUDA_SUCCESS;
  });
}

// Takes over what `from` says, where both have the same nodes and edges.
CUresult update(GraphPlan &plan, const GraphPlan &from, CUgraphExecUpdateResultInfo &info) {
  auto fails = [&](unsigned why, CUgraphNode node) {
    info = {why, node, nullptr};
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  };
  if (plan.nodes.size() != from.nodes.size()) return fails(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr);
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    const GraphPlan::Node &node = from.nodes[i];
    if (plan.nodes[i].work.index() != node.work.index())
      return fails(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, node.source);
    if (plan.nodes[i].after != node.after || plan.nodes[i].bodies.size() != node.bodies.size())
      return fails(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node.source);
    for (size_t b = 0; b < node.bodies.size(); ++b)
      if (CUresult failed = update(plan.nodes[i].bodies[b], node.bodies[b], info)) return failed;
  }
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    // Nodes are known by those that they were made from, which stay.
    plan.nodes[i].work = from.nodes[i].work;
    plan.nodes[i].context = from.nodes[i].context;
  }
  return CUDA_SUCCESS;
}

} // namespace

CUresult cuGraphInstantiateWithFlags(CUgraphExec *result, CUgraph graph, unsigned long long) {
  return instantiate("cuGraphInstantiate", result, graph);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *result, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  CUresult done = instantiate("cuGraphInstantiate", result, graph);
  parameters->hErrNode_out = nullptr;
  parameters->result_out = done == CUDA_SUCCESS               ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                           : done == CUDA_ERROR_INVALID_VALUE ? CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
                                                              : CUDA_GRAPH_INSTANTIATE_ERROR;
  return done;
}

// What it has queued goes on.
CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return call(__func__, [&](Driver &driver) {
    if (!driver.executables.has(executable)) return CUDA_ERROR_INVALID_HANDLE;
    driver.executables.destroy(executable);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *parameters) {
  return setParameters("cuGraphExecKernelNodeSetParams", executable, node, parameters);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_MEMCPY3D *parameters,
                                        CUcontext) {
  return setParameters(__func__, executable, node, parameters);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext) {
  return setParameters(__func__, executable, node, parameters);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *parameters) {
  return setParameters(__func__, executable, node, parameters);
}

CUresult cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode node, unsigned enabled) {
  return callWithNode(__func__, executable, node, [&](Driver &, GraphPlan::Node &planned) {
    bool can = std::holds_alternative<KernelLaunch>(planned.work) || std::holds_alternative<Copy>(planned.work) ||
               std::holds_alternative<Fill>(planned.work);
    if (!can) return CUDA_ERROR_INVALID_VALUE;
    planned.enabled = enabled;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &) -> CUresult {
    if (!driver.executables.has(executable) || !driver.graphs.count(graph)) return CUDA_ERROR_INVALID_HANDLE;
    if (!info) return CUDA_ERROR_INVALID_VALUE;
    GraphPlan plan;
    SPRIG_CUDA_TRY(GraphPlan::make(driver, *graph, plan));
    *info = {CU_GRAPH_EXEC_UPDATE_SUCCESS, nullptr, nullptr};
    return update(executable->plan, plan, *info);
  });
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream handle) {
  return callInStream(__func__, handle, [&](Driver &driver, CUstream_st &stream) {
    if (!driver.executables.has(executable)) return CUDA_ERROR_INVALID_HANDLE;
    if (stream.capture) {
      stream.capture->invalid = true;
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    launchGraph(driver, *executable, stream);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphUpload(CUgraphExec executable, CUstream handle) {
  return callInStream(__func__, handle, [&](Driver &driver, CUstream_st &stream) {
    if (!driver.executables.has(executable)) return CUDA_ERROR_INVALID_HANDLE;
    driver.enqueueMarker(stream, "graph upload");
    return CUDA_SUCCESS;
  });
}

} // namespace sprig::cuda
