// Graphs: made by hand and by capture, changed in place; and that what no edge orders is named.
#include "test/gpu/driver/tests/Graphs.h"

#include <nlohmann/json.hpp>
#include <random>

namespace sprig::cuda {
namespace {

TEST_F(StandInGraphs, NodesRunBehindTheirEdges) {
  for (const char *order : orders)
    for (bool edge : {true, false}) {
      start({{"ORDER", order}});
      CUfunction adds = adder();
      CUdeviceptr a = upload(Ints{1}), b = upload(Ints{0});
      EXPECT_CUDA(api().cuCtxSynchronize());
      CUgraph g = graph();
      CUgraphNode first = add(g, adds, {a, a, 10});
      add(g, adds, {b, a, 100}, edge ? std::vector{first} : std::vector<CUgraphNode>());
      CUgraphExec e = instantiate(g);
      EXPECT_CUDA(api().cuGraphDestroy(g)); // which the executable does not need
      for (int i = 0; i < 3; ++i) EXPECT_CUDA(api().cuGraphLaunch(e, nullptr));
      EXPECT_CUDA(api().cuCtxSynchronize());
      if (edge) {
        EXPECT_EQ(value(a), 31);
        EXPECT_EQ(value(b), 131);
        expectNoComplaint();
      } else {
        expectComplaint(
            {"unordered: 'kernel add' (graph 1 in the default stream of cuda:0", "writes bytes 0 to 4", "reads"});
      }
      EXPECT_CUDA(api().cuGraphExecDestroy(e));
      EXPECT_EQ(api().cuGraphLaunch(e, nullptr), CUDA_ERROR_INVALID_HANDLE);
    }
}

// Those that others imply are none.
TEST_F(StandInGraphs, EdgesAreDroppedOnDemand) {
  for (const char *drop : {"edge=1", "edge=2", "edge=3"}) {
    start({{"DROP", drop}});
    CUfunction adds = adder();
    CUdeviceptr a = upload(Ints{1}), b = upload(Ints{0}), c = upload(Ints{0});
    EXPECT_CUDA(api().cuCtxSynchronize());
    CUgraph g = graph();
    CUgraphNode first = add(g, adds, {a, a, 10}), second = add(g, adds, {b, a, 100}, {first});
    add(g, adds, {c, b, 100}, {first, second});
    EXPECT_CUDA(api().cuGraphLaunch(instantiate(g), nullptr));
    EXPECT_CUDA(api().cuCtxSynchronize());
    bool isThere = drop != std::string("edge=3");
    if (isThere)
      expectComplaint({"unordered: 'kernel add'"});
    else
      expectNoComplaint();
    auto report = nlohmann::json::parse(api().report());
    EXPECT_EQ(report["dropped"], isThere ? "edge from 'kernel add' to 'kernel add'" : "");
  }
}

TEST_F(StandInGraphs, EveryKindOfNode) {
  for (const char *order : orders) {
    start({{"ORDER", order}});
    CUfunction adds = adder();
    CUdeviceptr a = allocate(8), b = allocate(8);
    int *host = pinned<int>(2);
    CUgraph child = graph(), g = graph();
    add(child, adds, {a, a, 1});
    CUgraphNode fill, copy, down, inner, empty, call;
    CUDA_MEMSET_NODE_PARAMS fills = {a, 0, 7, 4, 2, 1};
    EXPECT_CUDA(api().cuGraphAddMemsetNode(&fill, g, nullptr, 0, &fills, contexts[0]));
    EXPECT_CUDA(api().cuGraphAddChildGraphNode(&inner, g, &fill, 1, child));
    CUDA_MEMCPY3D within = {}, toHost = {};
    within.srcMemoryType = within.dstMemoryType = toHost.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    toHost.dstMemoryType = CU_MEMORYTYPE_HOST;
    within.srcDevice = a, within.dstDevice = toHost.srcDevice = b;
    toHost.dstHost = host;
    within.WidthInBytes = toHost.WidthInBytes = 8;
    within.Height = within.Depth = toHost.Height = toHost.Depth = 1;
    EXPECT_CUDA(api().cuGraphAddMemcpyNode(&copy, g, &inner, 1, &within, contexts[0]));
    EXPECT_CUDA(api().cuGraphAddEmptyNode(&empty, g, &copy, 1));
    EXPECT_CUDA(api().cuGraphAddMemcpyNode(&down, g, &empty, 1, &toHost, contexts[0]));
    int seen = 0;
    struct Data {
      int *from, *to;
    } data = {host, &seen};
    CUDA_HOST_NODE_PARAMS calls = {[](void *d) { *static_cast<Data *>(d)->to = *static_cast<Data *>(d)->from; }, &data};
    EXPECT_CUDA(api().cuGraphAddHostNode(&call, g, &down, 1, &calls));
    CUevent done = event();
    CUgraphNode recorded;
    EXPECT_CUDA(api().cuGraphAddEventRecordNode(&recorded, g, &call, 1, done));
    unsigned type = 0;
    EXPECT_CUDA(api().cuGraphNodeGetType(inner, &type));
    EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_GRAPH);
    size_t count = 0;
    EXPECT_CUDA(api().cuGraphGetNodes(g, nullptr, &count));
    EXPECT_EQ(count, 7u);
    EXPECT_CUDA(api().cuGraphLaunch(instantiate(g), stream()));
    EXPECT_CUDA(api().cuEventSynchronize(done));
    EXPECT_EQ(host[0], 8);
    EXPECT_EQ(host[1], 7);
    EXPECT_EQ(seen, 8);
    EXPECT_CUDA(api().cuCtxSynchronize());
    expectNoComplaint();
  }
}

TEST_F(StandInGraphs, ParametersChangeInPlace) {
  start();
  CUfunction adds = adder();
  CUdeviceptr a = upload(Ints{1}), b = upload(Ints{2});
  CUgraph g = graph();
  CUgraphNode node = add(g, adds, {a, a, 10});
  CUgraphExec e = instantiate(g);
  EXPECT_CUDA(api().cuGraphLaunch(e, nullptr)); // with what it has now
  Add other = {b, b, 5};
  CUDA_KERNEL_NODE_PARAMS parameters = other.parameters(adds);
  EXPECT_CUDA(api().cuGraphExecKernelNodeSetParams_v2(e, node, &parameters));
  EXPECT_CUDA(api().cuGraphLaunch(e, nullptr));
  EXPECT_CUDA(api().cuCtxSynchronize());
  EXPECT_EQ(value(a), 11);
  EXPECT_EQ(value(b), 7);
  EXPECT_CUDA(api().cuGraphNodeSetEnabled(e, node, 0));
  EXPECT_CUDA(api().cuGraphLaunch(e, nullptr));
  EXPECT_CUDA(api().cuGraphNodeSetEnabled(e, node, 1));
  EXPECT_EQ(value(b), 7);

  CUgraph same = graph(), longer = graph();
  add(same, adds, {a, a, 1000});
  add(longer, adds, {a, a, 1}, {add(longer, adds, {a, a, 1})});
  CUgraphExecUpdateResultInfo info = {};
  EXPECT_CUDA(api().cuGraphExecUpdate_v2(e, same, &info));
  EXPECT_CUDA(api().cuGraphLaunch(e, nullptr));
  EXPECT_EQ(value(a), 1011);
  EXPECT_EQ(api().cuGraphExecUpdate_v2(e, longer, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  parameters.gridDimX = 0;
  EXPECT_EQ(api().cuGraphExecKernelNodeSetParams_v2(e, node, &parameters), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StandInGraphs, WrongGraphsAreRefused) {
  start();
  CUfunction adds = adder();
  CUdeviceptr a = upload(Ints{1});
  CUgraph g = graph(), other = graph();
  CUgraphNode x = add(g, adds, {a, a, 1}), y = add(g, adds, {a, a, 1}, {x}), node = nullptr;
  EXPECT_EQ(api().cuGraphAddEmptyNode(&node, other, &x, 1), CUDA_ERROR_INVALID_VALUE); // a node of another graph
  EXPECT_CUDA(api().cuGraphAddDependencies_v2(g, &y, &x, nullptr, 1));
  CUgraphExec e = nullptr;
  EXPECT_EQ(api().cuGraphInstantiateWithFlags(&e, g, 0), CUDA_ERROR_INVALID_VALUE); // a cycle
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters = {};
  EXPECT_EQ(api().cuGraphInstantiateWithParams(&e, g, &parameters), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(parameters.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
  EXPECT_CUDA(api().cuGraphDestroy(g));
  EXPECT_EQ(api().cuGraphDestroy(g), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(StandInGraphs, CaptureOfForksAndJoins) {
  for (const char *order : orders)
    for (bool waits : {true, false}) {
      start({{"ORDER", order}});
      CUdeviceptr a = allocate(4), b = allocate(4), c = allocate(4);
      int *host = pinned<int>(1);
      *host = 3;
      CUstream s = stream(), t = stream();
      CUevent fork = event(), join = event();
      EXPECT_CUDA(api().cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
      EXPECT_CUDA(api().cuMemcpyHtoDAsync_v2(a, host, 4, s));
      EXPECT_CUDA(api().cuEventRecord(fork, s));
      if (!waits) EXPECT_CUDA(api().cuMemsetD32Async(a, 9, 1, s)); // behind what the other stream waits for
      EXPECT_CUDA(api().cuStreamWaitEvent(t, fork, 0));
      EXPECT_CUDA(api().cuMemcpyDtoDAsync_v2(b, a, 4, t));
      EXPECT_CUDA(api().cuEventRecord(join, t));
      EXPECT_CUDA(api().cuMemsetD32Async(c, 4, 1, s));
      EXPECT_CUDA(api().cuStreamWaitEvent(s, join, 0));
      EXPECT_CUDA(api().cuMemcpyDtoHAsync_v2(host, b, 4, s));
      unsigned status = 0;
      EXPECT_CUDA(api().cuStreamIsCapturing(t, &status));
      EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
      CUgraph g = nullptr;
      EXPECT_CUDA(api().cuStreamEndCapture(s, &g));
      EXPECT_CUDA(api().cuStreamIsCapturing(t, &status));
      EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
      CUgraphExec e = instantiate(g);
      *host = 5; // read when it runs
      EXPECT_CUDA(api().cuGraphLaunch(e, s));
      EXPECT_CUDA(api().cuStreamSynchronize(s));
      if (waits) EXPECT_EQ(*host, 5);
      if (waits)
        expectNoComplaint();
      else
        expectComplaint({"unordered", "'fill' (graph 1", "'copy device to device' (graph 1"});
    }
}

TEST_F(StandInGraphs, CaptureHasRules) {
  start();
  CUstream s = stream(), t = stream();
  CUevent e = event(), early = event();
  CUgraph g = nullptr;
  CUdeviceptr a = allocate(4), b = 0;
  auto begin = [&] { EXPECT_CUDA(api().cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL)); };
  EXPECT_EQ(api().cuStreamEndCapture(s, &g), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_CUDA(api().cuEventRecord(early, t));
  begin(); // work of another stream that nobody joins
  EXPECT_CUDA(api().cuMemsetD32Async(a, 1, 1, s));
  EXPECT_CUDA(api().cuEventRecord(e, s));
  EXPECT_CUDA(api().cuStreamWaitEvent(t, e, 0));
  EXPECT_CUDA(api().cuMemsetD32Async(a, 1, 1, t));
  EXPECT_EQ(api().cuStreamEndCapture(t, &g), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  EXPECT_EQ(api().cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(api().cuEventSynchronize(e), CUDA_ERROR_CAPTURED_EVENT);
  begin(); // waiting
  EXPECT_EQ(api().cuStreamSynchronize(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(api().cuMemsetD32Async(a, 1, 1, s), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(api().cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(); // memory
  EXPECT_EQ(api().cuMemAlloc_v2(&b, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(api().cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(); // what was recorded outside
  EXPECT_EQ(api().cuStreamWaitEvent(s, early, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(api().cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(api().cuStreamBeginCapture_v2(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

// What a step of a program costs its caller: counted, not timed.
TEST_F(StandInGraphs, AStepIsOneLaunch) {
  start();
  CUfunction adds = adder();
  CUdeviceptr a = upload(Ints{0});
  CUgraph g = graph();
  add(g, adds, {a, a, 1}, {add(g, adds, {a, a, 1})});
  CUgraphExec e = instantiate(g);
  EXPECT_CUDA(api().cuCtxSynchronize());
  auto counts = [] { return nlohmann::json::parse(api().report())["counts"]; };
  auto before = counts();
  for (int i = 0; i < 5; ++i) EXPECT_CUDA(api().cuGraphLaunch(e, nullptr));
  auto after = counts();
  EXPECT_EQ(after["graph launches"].get<int>() - before["graph launches"].get<int>(), 5);
  for (const char *name : {"launches", "allocations", "host synchronisations", "copies", "graphs instantiated"})
    EXPECT_EQ(before[name], after[name]) << name;
  EXPECT_CUDA(api().cuCtxSynchronize());
  EXPECT_EQ(value(a), 10);
  auto report = nlohmann::json::parse(api().report());
  EXPECT_EQ(report["kernels"]["add"], 10);
  EXPECT_EQ(report["counts"]["copied bytes"], 8);
  EXPECT_EQ(report["counts"]["host synchronisations"], before["host synchronisations"].get<int>() + 2);
  EXPECT_TRUE(report["complaints"].empty());
}

TEST_F(StandInGraphs, ManyOrdersComputeOnce) {
  for (bool edge : {true, false}) {
    start({{"ORDER", "random"}, {"EFFECTS", "once"}});
    CUfunction adds = adder();
    CUdeviceptr a = upload(Ints{0}), b = upload(Ints{0});
    EXPECT_CUDA(api().cuCtxSynchronize());
    CUgraph g = graph();
    CUgraphNode first = add(g, adds, {a, a, 1});
    add(g, adds, {b, a, 1}, edge ? std::vector{first} : std::vector<CUgraphNode>());
    CUgraphExec e = instantiate(g);
    for (int i = 0; i < 20; ++i) EXPECT_CUDA(api().cuGraphLaunch(e, nullptr));
    EXPECT_CUDA(api().cuCtxSynchronize());
    EXPECT_EQ(value(a), 1); // nothing more was computed
    auto report = nlohmann::json::parse(api().report());
    EXPECT_EQ(report["kernels"]["add"], 40);
    EXPECT_EQ(report["counts"]["computed kernels"], 2);
    if (edge)
      expectNoComplaint();
    else
      expectComplaint({"unordered: 'kernel add'"});
  }
}

TEST_F(StandInGraphs, CountingComputesNothing) {
  start({{"EFFECTS", "none"}});
  CUfunction adds = adder();
  CUdeviceptr a = upload(Ints{5});
  CUgraph g = graph();
  add(g, adds, {a, a, 1});
  CUgraphExec e = instantiate(g);
  for (int i = 0; i < 4; ++i) EXPECT_CUDA(api().cuGraphLaunch(e, nullptr));
  EXPECT_EQ(value(a), 5);
  auto report = nlohmann::json::parse(api().report());
  EXPECT_EQ(report["kernels"]["add"], 4);
  EXPECT_EQ(report["counts"]["computed kernels"], 0);
}

// Random graphs: complaints if, and only if, the closure of the edges leaves two nodes that touch the same bytes
// unordered.
TEST_F(StandInGraphs, ComplaintsAreTheClosures) {
  testing::internal::CaptureStderr();
  int found = 0, runs = 0;
  for (unsigned seed = 1; seed <= 60; ++seed)
    for (const char *order : orders) {
      start({{"ORDER", order}, {"SEED", std::to_string(seed).c_str()}});
      std::mt19937 random(seed);
      CUfunction adds = adder();
      std::vector<CUdeviceptr> buffers;
      for (int i = 0; i < 4; ++i) buffers.push_back(upload(Ints{i}));
      EXPECT_CUDA(api().cuCtxSynchronize());
      CUgraph g = graph();
      struct Made {
        CUgraphNode node;
        size_t to, from;
        std::vector<bool> before;
      };
      std::vector<Made> made;
      bool races = false;
      for (size_t i = 0; i < 8; ++i) {
        Made one = {nullptr, random() % 4, random() % 4, std::vector<bool>(i)};
        std::vector<CUgraphNode> after;
        for (size_t j = 0; j < i; ++j) {
          bool touches = one.to == made[j].to || one.to == made[j].from || one.from == made[j].to;
          if (random() % 20 >= (touches ? 19u : 4u)) continue; // seldom forgotten
          after.push_back(made[j].node);
          one.before[j] = true;
          for (size_t k = 0; k < j; ++k) one.before[k] = one.before[k] || made[j].before[k];
        }
        for (size_t j = 0; j < i; ++j) {
          bool touches = one.to == made[j].to || one.to == made[j].from || one.from == made[j].to;
          races = races || (touches && !one.before[j]);
        }
        one.node = add(g, adds, {buffers[one.to], buffers[one.from], 1}, after);
        made.push_back(std::move(one));
      }
      EXPECT_CUDA(api().cuGraphLaunch(instantiate(g), stream()));
      EXPECT_CUDA(api().cuCtxSynchronize());
      std::string complaints = api().complaints();
      EXPECT_EQ(races, complaints.find("unordered") != std::string::npos) << "seed " << seed << ", " << order << "\n"
                                                                          << complaints;
      found += races;
      ++runs;
    }
  testing::internal::GetCapturedStderr();
  EXPECT_GT(found, runs / 10);
  EXPECT_LT(found, runs * 9 / 10);
}

} // namespace
} // namespace sprig::cuda
