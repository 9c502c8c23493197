// Graphs, and the nodes that are added to them.
#include "test/gpu/driver/api/GraphNodes.h"

#include <cstdio>

namespace sprig::cuda {
namespace {

CUresult add(Driver &driver, CUctx_st &context, CUgraphNode *result, CUgraph graph, const CUgraphNode *after,
             size_t count, NodeWork work) {
  if (!driver.graphs.count(graph)) return CUDA_ERROR_INVALID_HANDLE;
  if (!result || (count && !after)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i)
    if (!graph->has(after[i])) return CUDA_ERROR_INVALID_VALUE;
  *result = graph->add(context, std::move(work), std::vector<CUgraphNode>(after, after + count));
  return CUDA_SUCCESS;
}

template <typename Parameters>
CUresult addWith(const char *function, CUgraphNode *result, CUgraph graph, const CUgraphNode *after, size_t count,
                 const Parameters *parameters, CUcontext given = nullptr) {
  return callInContext(function, [&](Driver &driver, CUctx_st &current) -> CUresult {
    if (!parameters) return CUDA_ERROR_INVALID_VALUE;
    CUctx_st &context = given ? *given : current;
    NodeWork work;
    SPRIG_CUDA_TRY(workOf(driver, context, *parameters, work));
    return add(driver, context, result, graph, after, count, std::move(work));
  });
}

CUresult addPlain(const char *function, CUgraphNode *result, CUgraph graph, const CUgraphNode *after, size_t count,
                  NodeWork work) {
  return callInContext(function, [&](Driver &driver, CUctx_st &context) {
    return add(driver, context, result, graph, after, count, std::move(work));
  });
}

CUresult addChild(const char *function, CUgraphNode *result, CUgraph graph, const CUgraphNode *after, size_t count,
                  CUgraph child) {
  return callInContext(function, [&](Driver &driver, CUctx_st &context) -> CUresult {
    if (!driver.graphs.count(child) || child == graph) return CUDA_ERROR_INVALID_VALUE;
    return add(driver, context, result, graph, after, count, ChildGraph{child->clone()});
  });
}

CUresult addEvent(const char *function, CUgraphNode *result, CUgraph graph, const CUgraphNode *after, size_t count,
                  CUevent event, bool records) {
  return callInContext(function, [&](Driver &driver, CUctx_st &context) {
    if (!driver.events.has(event)) return CUDA_ERROR_INVALID_HANDLE;
    return add(driver, context, result, graph, after, count,
               records ? NodeWork(RecordEvent{event}) : NodeWork(AwaitEvent{event}));
  });
}

CUresult addConditional(CUgraphNode *result, CUgraph graph, const CUgraphNode *after, size_t count,
                        CUDA_CONDITIONAL_NODE_PARAMS &parameters) {
  return callInContext("cuGraphAddNode", [&](Driver &driver, CUctx_st &context) -> CUresult {
    bool right = parameters.type == CU_GRAPH_COND_TYPE_WHILE ? parameters.size == 1
                 : parameters.type == CU_GRAPH_COND_TYPE_IF
                     ? parameters.size == 1 || parameters.size == 2
                     : parameters.type == CU_GRAPH_COND_TYPE_SWITCH && parameters.size > 0;
    if (!right || !driver.conditions.count(parameters.handle)) return CUDA_ERROR_INVALID_VALUE;
    Conditional work = {parameters.handle, parameters.type, {}};
    for (unsigned i = 0; i < parameters.size; ++i) work.bodies.push_back(std::make_shared<CUgraph_st>());
    auto made = work.bodies;
    CUctx_st &owner = parameters.ctx ? *parameters.ctx : context;
    SPRIG_CUDA_TRY(add(driver, owner, result, graph, after, count, std::move(work)));
    std::vector<CUgraph> &bodies = driver.bodyLists.emplace_back();
    for (auto &body : made) {
      driver.graphs[body.get()] = body;
      bodies.push_back(body.get());
    }
    parameters.phGraph_out = bodies.data();
    return CUDA_SUCCESS;
  });
}

} // namespace

CUresult workOf(Driver &driver, CUctx_st &context, const CUDA_KERNEL_NODE_PARAMS &parameters, NodeWork &work) {
  CUfunction handle = parameters.func ? parameters.func : reinterpret_cast<CUfunction>(parameters.kern);
  CUfunction function = nullptr;
  SPRIG_CUDA_TRY(driver.function(parameters.ctx ? *parameters.ctx : context, handle, function));
  LaunchShape shape = {{parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ},
                       {parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ},
                       {},
                       parameters.sharedMemBytes};
  KernelLaunch launch;
  SPRIG_CUDA_TRY(prepareLaunch(driver, context, function, shape, parameters.kernelParams, parameters.extra, launch));
  work = std::move(launch);
  return CUDA_SUCCESS;
}

CUresult workOf(Driver &driver, CUctx_st &, const CUDA_MEMCPY3D &parameters, NodeWork &work) {
  bool flat = parameters.Height <= 1 && parameters.Depth <= 1 && !parameters.srcY && !parameters.srcZ &&
              !parameters.dstY && !parameters.dstZ && !parameters.srcLOD && !parameters.dstLOD;
  auto isArray = [](CUmemorytype type) { return type == CU_MEMORYTYPE_ARRAY; };
  if (!flat || isArray(parameters.srcMemoryType) || isArray(parameters.dstMemoryType)) {
    std::fprintf(stderr, "stand-in: copy nodes of rows or arrays are not supported\n");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  auto address = [](CUmemorytype type, const void *host, CUdeviceptr device) {
    return type == CU_MEMORYTYPE_HOST ? reinterpret_cast<uint64_t>(host) : device;
  };
  Copy copy;
  copy.bytes = parameters.WidthInBytes;
  uint64_t to = address(parameters.dstMemoryType, parameters.dstHost, parameters.dstDevice) + parameters.dstXInBytes;
  uint64_t from = address(parameters.srcMemoryType, parameters.srcHost, parameters.srcDevice) + parameters.srcXInBytes;
  SPRIG_CUDA_TRY(locate(driver, "copy node", to, copy.bytes, copy.to));
  SPRIG_CUDA_TRY(locate(driver, "copy node", from, copy.bytes, copy.from));
  work = std::move(copy);
  return CUDA_SUCCESS;
}

CUresult workOf(Driver &driver, CUctx_st &, const CUDA_MEMSET_NODE_PARAMS &parameters, NodeWork &work) {
  unsigned bytes = parameters.elementSize;
  if (parameters.height != 1 || (bytes != 1 && bytes != 2 && bytes != 4) || parameters.dst % bytes)
    return CUDA_ERROR_INVALID_VALUE;
  Place place;
  SPRIG_CUDA_TRY(locate(driver, "fill node", parameters.dst, parameters.width * bytes, place));
  if (place.kind == Place::Kind::Pageable) return CUDA_ERROR_INVALID_VALUE;
  work = Fill{parameters.dst, place.allocation, parameters.value, bytes, parameters.width};
  return CUDA_SUCCESS;
}

CUresult workOf(Driver &, CUctx_st &, const CUDA_HOST_NODE_PARAMS &parameters, NodeWork &work) {
  if (!parameters.fn) return CUDA_ERROR_INVALID_VALUE;
  work = HostCall{parameters.fn, parameters.userData};
  return CUDA_SUCCESS;
}

CUresult cuGraphCreate(CUgraph *result, unsigned flags) {
  return call(__func__, [&](Driver &driver) {
    if (!result || flags) return CUDA_ERROR_INVALID_VALUE;
    auto graph = std::make_shared<CUgraph_st>();
    *result = graph.get();
    driver.graphs[graph.get()] = std::move(graph);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return call(__func__, [&](Driver &driver) {
    if (!driver.graphs.count(graph)) return CUDA_ERROR_INVALID_HANDLE;
    driver.destroyGraph(graph);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *result, CUgraph graph, const CUgraphNode *after, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS *parameters) {
  return addWith("cuGraphAddKernelNode", result, graph, after, count, parameters,
                 parameters ? parameters->ctx : nullptr);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after, size_t count,
                              const CUDA_MEMCPY3D *parameters, CUcontext context) {
  return addWith(__func__, result, graph, after, count, parameters, context);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context) {
  return addWith(__func__, result, graph, after, count, parameters, context);
}

CUresult cuGraphAddHostNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after, size_t count,
                            const CUDA_HOST_NODE_PARAMS *parameters) {
  return addWith(__func__, result, graph, after, count, parameters);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after, size_t count) {
  return addPlain(__func__, result, graph, after, count, NoWork());
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after, size_t count,
                                  CUgraph child) {
  return addChild(__func__, result, graph, after, count, child);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after, size_t count,
                                   CUevent event) {
  return addEvent(__func__, result, graph, after, count, event, true);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after, size_t count,
                                 CUevent event) {
  return addEvent(__func__, result, graph, after, count, event, false);
}

CUresult cuGraphAddNode_v2(CUgraphNode *result, CUgraph graph, const CUgraphNode *after, const CUgraphEdgeData *edges,
                           size_t count, CUgraphNodeParams *parameters) {
  constexpr const char *name = "cuGraphAddNode";
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; edges && i < count; ++i)
    if (edges[i].from_port || edges[i].to_port || edges[i].type) {
      std::fprintf(stderr, "stand-in: cuGraphAddNode: programmatic edges are not supported\n");
      return CUDA_ERROR_NOT_SUPPORTED;
    }
  switch (parameters->type) {
  case CU_GRAPH_NODE_TYPE_KERNEL:
    return addWith(name, result, graph, after, count, &parameters->kernel, parameters->kernel.ctx);
  case CU_GRAPH_NODE_TYPE_MEMCPY:
    return addWith(name, result, graph, after, count, &parameters->memcpy.copyParams, parameters->memcpy.copyCtx);
  case CU_GRAPH_NODE_TYPE_MEMSET: return addWith(name, result, graph, after, count, &parameters->memset);
  case CU_GRAPH_NODE_TYPE_HOST: return addWith(name, result, graph, after, count, &parameters->host);
  case CU_GRAPH_NODE_TYPE_GRAPH: return addChild(name, result, graph, after, count, parameters->graph.graph);
  case CU_GRAPH_NODE_TYPE_EMPTY: return addPlain(name, result, graph, after, count, NoWork());
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    return addEvent(name, result, graph, after, count, parameters->eventWait.event, false);
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    return addEvent(name, result, graph, after, count, parameters->eventRecord.event, true);
  case CU_GRAPH_NODE_TYPE_CONDITIONAL: return addConditional(result, graph, after, count, parameters->conditional);
  default:
    std::fprintf(stderr, "stand-in: cuGraphAddNode: nodes of type %u are not supported\n", parameters->type);
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *, size_t count) {
  return call(__func__, [&](Driver &driver) {
    if (!driver.graphs.count(graph)) return CUDA_ERROR_INVALID_HANDLE;
    for (size_t i = 0; i < count; ++i)
      if (!graph->has(from[i]) || !graph->has(to[i])) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; ++i) to[i]->after.push_back(from[i]);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
  return call(__func__, [&](Driver &driver) {
    if (!driver.graphs.count(graph)) return CUDA_ERROR_INVALID_HANDLE;
    size_t room = nodes ? *count : 0;
    for (size_t i = 0; i < std::min(room, graph->nodes.size()); ++i) nodes[i] = graph->nodes[i].get();
    *count = nodes ? std::min(room, graph->nodes.size()) : graph->nodes.size();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
  return call(__func__, [&](Driver &driver) {
    if (!driver.hasNode(node)) return CUDA_ERROR_INVALID_HANDLE;
    *type = node->type();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph, CUcontext, unsigned value,
                                        unsigned flags) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &) {
    if (!driver.graphs.count(graph)) return CUDA_ERROR_INVALID_HANDLE;
    if (flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
    *handle = ++driver.conditionNumbers;
    driver.conditions[*handle] = {graph, value, value, flags == CU_GRAPH_COND_ASSIGN_DEFAULT, nullptr};
    return CUDA_SUCCESS;
  });
}

} // namespace sprig::cuda
