// Conditional nodes: loops, branches and switches whose conditions kernels set.
#include "test/gpu/driver/tests/Graphs.h"

namespace sprig::cuda {
namespace {

struct StandInConditions : StandInGraphs {
  // A kernel that counts the integer at `to` down and sets the condition to it.
  CUfunction countdown() {
    return kernel("countdown", {8, 8}, [](SprigStandInRun *run) {
      CUdeviceptr to;
      uint64_t handle;
      std::memcpy(&to, run->parameters, 8);
      std::memcpy(&handle, run->parameters + 8, 8);
      run->touch(run, to, 4, SprigStandInRun::Read);
      run->touch(run, to, 4, SprigStandInRun::Write);
      api().setConditional(handle, --*reinterpret_cast<int *>(to));
    });
  }
  CUgraphNode addCountdown(CUgraph graph, CUfunction function, CUdeviceptr to, uint64_t handle,
                           std::vector<CUgraphNode> after = {}) {
    void *pointers[] = {&to, &handle};
    CUDA_KERNEL_NODE_PARAMS parameters = {function, 1, 1, 1, 1, 1, 1, 0, pointers, nullptr, nullptr, nullptr};
    CUgraphNode node = nullptr;
    EXPECT_CUDA(api().cuGraphAddKernelNode_v2(&node, graph, after.data(), after.size(), &parameters));
    return node;
  }
  uint64_t condition(CUgraph graph, unsigned value, unsigned flags = CU_GRAPH_COND_ASSIGN_DEFAULT) {
    uint64_t handle = 0;
    EXPECT_CUDA(api().cuGraphConditionalHandleCreate(&handle, graph, contexts[0], value, flags));
    return handle;
  }
  CUgraphNode addConditional(CUgraph graph, uint64_t handle, unsigned type, unsigned size, std::vector<CUgraph> &bodies,
                             std::vector<CUgraphNode> after = {}) {
    CUgraphNodeParams parameters = {};
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    parameters.conditional = {handle, type, size, nullptr, contexts[0]};
    CUgraphNode node = nullptr;
    EXPECT_CUDA(api().cuGraphAddNode_v2(&node, graph, after.data(), nullptr, after.size(), &parameters));
    bodies.assign(parameters.conditional.phGraph_out, parameters.conditional.phGraph_out + size);
    return node;
  }
};

TEST_F(StandInConditions, ALoopTurnsUntilAKernelEndsIt) {
  for (const char *order : orders) {
    start({{"ORDER", order}});
    CUfunction adds = adder(), counts = countdown();
    CUdeviceptr n = upload(Ints{5}), sum = upload(Ints{0}), copy = allocate(4);
    EXPECT_CUDA(api().cuCtxSynchronize());
    CUgraph g = graph();
    uint64_t handle = condition(g, 1);
    std::vector<CUgraph> bodies;
    CUgraphNode loop = addConditional(g, handle, CU_GRAPH_COND_TYPE_WHILE, 1, bodies);
    CUgraphNode sums = add(bodies[0], adds, {sum, sum, 10});
    addCountdown(bodies[0], counts, n, handle);
    add(bodies[0], adds, {sum, sum, 1}, {sums});
    add(g, adds, {copy, sum, 0}, {loop}); // comes after all turns
    EXPECT_CUDA(api().cuGraphLaunch(instantiate(g), nullptr));
    EXPECT_CUDA(api().cuCtxSynchronize());
    EXPECT_EQ(value(copy), 55);
    expectNoComplaint();
  }
}

TEST_F(StandInConditions, IfElseAndSwitch) {
  for (unsigned chosen : {0u, 1u, 2u, 7u}) {
    start();
    CUfunction adds = adder();
    CUdeviceptr a = upload(Ints{0}), b = upload(Ints{0});
    EXPECT_CUDA(api().cuCtxSynchronize());
    CUgraph g = graph();
    uint64_t handle = condition(g, chosen);
    std::vector<CUgraph> either, cases;
    CUgraphNode choice = addConditional(g, handle, CU_GRAPH_COND_TYPE_IF, 2, either);
    addConditional(g, handle, CU_GRAPH_COND_TYPE_SWITCH, 3, cases, {choice});
    add(either[0], adds, {a, a, 1});
    add(either[1], adds, {a, a, 2});
    for (int i = 0; i < 3; ++i) add(cases[i], adds, {b, b, 10 * (i + 1)});
    EXPECT_CUDA(api().cuGraphLaunch(instantiate(g), nullptr));
    EXPECT_CUDA(api().cuCtxSynchronize());
    EXPECT_EQ(value(a), chosen ? 1 : 2);
    EXPECT_EQ(value(b), chosen < 3 ? int(10 * (chosen + 1)) : 0);
    expectNoComplaint();
  }
}

TEST_F(StandInConditions, WhatBodiesTouchIsOrderedToo) {
  start();
  CUfunction adds = adder();
  CUdeviceptr a = upload(Ints{0});
  EXPECT_CUDA(api().cuCtxSynchronize());
  CUgraph g = graph();
  std::vector<CUgraph> bodies;
  addConditional(g, condition(g, 1), CU_GRAPH_COND_TYPE_IF, 1, bodies);
  add(bodies[0], adds, {a, a, 1});
  add(g, adds, {a, a, 1}); // beside it
  EXPECT_CUDA(api().cuGraphLaunch(instantiate(g), nullptr));
  EXPECT_CUDA(api().cuCtxSynchronize());
  expectComplaint({"unordered: 'kernel add'", "'kernel add'"});
}

TEST_F(StandInConditions, WhoSetsAConditionComesBeforeItsNode) {
  for (bool edge : {true, false}) {
    start({{"ORDER", "eager"}});
    CUfunction counts = countdown();
    CUdeviceptr n = upload(Ints{1});
    EXPECT_CUDA(api().cuCtxSynchronize());
    CUgraph g = graph();
    uint64_t handle = condition(g, 0);
    CUgraphNode set = addCountdown(g, counts, n, handle);
    std::vector<CUgraph> bodies;
    addConditional(g, handle, CU_GRAPH_COND_TYPE_IF, 1, bodies, edge ? std::vector{set} : std::vector<CUgraphNode>());
    EXPECT_CUDA(api().cuGraphLaunch(instantiate(g), nullptr));
    EXPECT_CUDA(api().cuCtxSynchronize());
    if (edge)
      expectNoComplaint();
    else
      expectComplaint({"unordered: 'kernel countdown'", "sets the condition that 'conditional node'"});
  }
}

} // namespace
} // namespace sprig::cuda
