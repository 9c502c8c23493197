// What tests of graphs share: a kernel that adds, and graphs of it.
#ifndef SPRIG_TEST_GPU_DRIVER_TESTS_GRAPHS_H
#define SPRIG_TEST_GPU_DRIVER_TESTS_GRAPHS_H

#include "test/gpu/driver/tests/Api.h"

#include <cstring>

namespace sprig::cuda {

using Ints = std::vector<int>;
inline const char *const orders[] = {"eager", "lazy", "random"};

struct StandInGraphs : StandIn {
  // A kernel that adds `by` to the integer at `to`, which it reads at `from`.
  CUfunction adder() {
    return kernel("add", {8, 8, 4}, [](SprigStandInRun *run) {
      CUdeviceptr to, from;
      int by;
      std::memcpy(&to, run->parameters, 8);
      std::memcpy(&from, run->parameters + 8, 8);
      std::memcpy(&by, run->parameters + 16, 4);
      run->touch(run, from, 4, SprigStandInRun::Read);
      run->touch(run, to, 4, SprigStandInRun::Write);
      *reinterpret_cast<int *>(to) = *reinterpret_cast<int *>(from) + by;
    });
  }
  CUgraph graph() {
    CUgraph graph = nullptr;
    EXPECT_CUDA(api().cuGraphCreate(&graph, 0));
    return graph;
  }
  struct Add {
    CUdeviceptr to, from;
    int by;
    void *pointers[3] = {&to, &from, &by};
    CUDA_KERNEL_NODE_PARAMS parameters(CUfunction function) {
      return {function, 1, 1, 1, 1, 1, 1, 0, pointers, nullptr, nullptr, nullptr};
    }
  };
  CUgraphNode add(CUgraph graph, CUfunction function, Add add, std::vector<CUgraphNode> after = {}) {
    add.pointers[0] = &add.to, add.pointers[1] = &add.from, add.pointers[2] = &add.by;
    CUDA_KERNEL_NODE_PARAMS parameters = add.parameters(function);
    CUgraphNode node = nullptr;
    EXPECT_CUDA(api().cuGraphAddKernelNode_v2(&node, graph, after.data(), after.size(), &parameters));
    return node;
  }
  CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec executable = nullptr;
    EXPECT_CUDA(api().cuGraphInstantiateWithFlags(&executable, graph, 0));
    return executable;
  }
  int value(CUdeviceptr pointer) { return download<int>(pointer, 1)[0]; }
};

} // namespace sprig::cuda

#endif
