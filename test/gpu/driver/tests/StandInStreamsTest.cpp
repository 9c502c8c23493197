// Streams, events and host functions: what orders what, and that what nothing orders is named in every order of
// execution.
#include "test/gpu/driver/tests/Api.h"

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

namespace sprig::cuda {
namespace {

struct StandInStreams : StandIn {};

TEST_F(StandInStreams, NothingHappensBeforeSomebodyWaits) {
  start();
  CUstream s = stream(), t = stream();
  CUevent e = event();
  int *seen = pinned<int>(2);
  seen[0] = seen[1] = 0;
  CUdeviceptr a = allocate(8);
  EXPECT_CUDA(api().cuMemsetD32Async(a, 1, 1, s));
  EXPECT_CUDA(api().cuMemsetD32Async(a + 4, 2, 1, t));
  EXPECT_CUDA(api().cuMemcpyDtoHAsync_v2(seen, a, 4, s));
  EXPECT_CUDA(api().cuMemcpyDtoHAsync_v2(seen + 1, a + 4, 4, t));
  EXPECT_CUDA(api().cuEventRecord(e, s));
  EXPECT_CUDA(api().cuEventSynchronize(e));
  EXPECT_EQ(seen[0], 1);
  EXPECT_EQ(seen[1], 0); // nobody waits for the other stream
  EXPECT_CUDA(api().cuStreamSynchronize(t));
  EXPECT_EQ(seen[1], 2);
  expectNoComplaint();
}

TEST_F(StandInStreams, AskingEnds) {
  for (const char *order : {"eager", "lazy", "random"}) {
    start({{"ORDER", order}});
    CUstream s = stream();
    CUevent e = event();
    EXPECT_CUDA(api().cuEventQuery(e)); // never recorded
    CUdeviceptr a = allocate(8);
    for (int i = 0; i < 5; ++i) EXPECT_CUDA(api().cuMemsetD32Async(a, i, 1, s));
    EXPECT_CUDA(api().cuEventRecord(e, s));
    int asked = 0;
    while (api().cuEventQuery(e) == CUDA_ERROR_NOT_READY) ASSERT_LT(++asked, 10);
    EXPECT_CUDA(api().cuStreamQuery(s));
    if (order == std::string("lazy")) EXPECT_GT(asked, 3);
  }
}

TEST_F(StandInStreams, AMissingWaitIsNamedInEveryOrder) {
  for (const char *order : {"eager", "lazy", "random"})
    for (bool waits : {true, false}) {
      start({{"ORDER", order}});
      CUdeviceptr a = allocate(16), b = allocate(16);
      CUstream s = stream(), t = stream();
      CUevent e = event();
      EXPECT_CUDA(api().cuMemsetD32Async(a, 1, 4, s));
      EXPECT_CUDA(api().cuEventRecord(e, s));
      if (waits) EXPECT_CUDA(api().cuStreamWaitEvent(t, e, 0));
      EXPECT_CUDA(api().cuMemcpyDtoDAsync_v2(b, a + 8, 8, t));
      EXPECT_CUDA(api().cuCtxSynchronize());
      if (waits)
        expectNoComplaint();
      else
        expectComplaint({"unordered: 'fill' (stream 1 of cuda:0", "writes bytes 8 to 16 of allocation 1",
                         "'copy device to device' (stream 2 of cuda:0", "reads"});
    }
}

// As if the program had not asked for them; the numbers are of each kind's own.
TEST_F(StandInStreams, OrderingsAreDroppedOnDemand) {
  for (const char *drop : {"", "wait=1", "wait=2", "wait=3", "sync=1", "sync=2", "wait=3,sync=3"}) {
    start({{"DROP", drop}, {"ORDER", "eager"}});
    CUdeviceptr a = allocate(16);
    CUstream s = stream(), t = stream();
    CUevent first = event(), second = event();
    EXPECT_CUDA(api().cuMemsetD32Async(a, 1, 4, s));
    EXPECT_CUDA(api().cuEventRecord(first, s));
    EXPECT_CUDA(api().cuStreamWaitEvent(t, first, 0));
    EXPECT_CUDA(api().cuMemsetD32Async(a, 2, 4, t));
    EXPECT_CUDA(api().cuEventRecord(second, t));
    EXPECT_CUDA(api().cuStreamWaitEvent(s, second, 0));
    EXPECT_CUDA(api().cuMemsetD32Async(a, 3, 4, s));
    EXPECT_CUDA(api().cuEventSynchronize(second)); // of which the next one makes nothing needed
    EXPECT_CUDA(api().cuStreamSynchronize(s));
    EXPECT_CUDA(api().cuMemFree_v2(a));
    std::string dropped = drop;
    if (dropped == "wait=1" || dropped == "wait=2")
      expectComplaint({"unordered: 'fill' (stream ", "which 'fill' (stream "});
    else if (dropped == "sync=2")
      expectComplaint({"unordered: 'fill' (stream 1", "which 'cuMemFree' (host"});
    else
      expectNoComplaint();
    std::string report = api().report();
    EXPECT_EQ(report.find("\"dropped\": \"\"") == report.npos, dropped.size() == 6 && dropped != "wait=3");
  }
}

TEST_F(StandInStreams, AnEventStandsForWhatWasBeforeItsRecord) {
  start();
  CUdeviceptr a = allocate(16);
  CUstream s = stream(), t = stream();
  CUevent e = event();
  EXPECT_CUDA(api().cuEventRecord(e, s));
  EXPECT_CUDA(api().cuMemsetD32Async(a, 1, 4, s)); // behind it
  EXPECT_CUDA(api().cuStreamWaitEvent(t, e, 0));
  EXPECT_CUDA(api().cuMemsetD32Async(a, 2, 4, t));
  EXPECT_CUDA(api().cuCtxSynchronize());
  expectComplaint({"unordered", "(stream 1", "(stream 2"});
}

TEST_F(StandInStreams, WhatTheHostHasWaitedForIsBefore) {
  start();
  CUdeviceptr a = allocate(16);
  CUstream s = stream(), t = stream();
  EXPECT_CUDA(api().cuMemsetD32Async(a, 1, 4, s));
  EXPECT_CUDA(api().cuStreamSynchronize(s));
  EXPECT_CUDA(api().cuMemsetD32Async(a, 2, 4, t));
  EXPECT_CUDA(api().cuCtxSynchronize());
  expectNoComplaint();
}

TEST_F(StandInStreams, ReadersDoNotConflict) {
  start();
  CUdeviceptr a = upload(std::vector<int>{1, 2}), b = allocate(8), c = allocate(8);
  EXPECT_CUDA(api().cuCtxSynchronize());
  EXPECT_CUDA(api().cuMemcpyDtoDAsync_v2(b, a, 8, stream()));
  EXPECT_CUDA(api().cuMemcpyDtoDAsync_v2(c, a, 8, stream()));
  EXPECT_CUDA(api().cuCtxSynchronize());
  expectNoComplaint();
  // But a writer behind one of them and not behind the other does.
  EXPECT_CUDA(api().cuMemcpyDtoDAsync_v2(b, a, 8, stream()));
  EXPECT_CUDA(api().cuMemsetD32Async(a, 2, 2, stream()));
  EXPECT_CUDA(api().cuCtxSynchronize());
  expectComplaint({"unordered: 'copy device to device'", "reads bytes 0 to 8", "'fill'", "writes"});
}

TEST_F(StandInStreams, TheDefaultStreamWaitsForBlockingStreamsOnly) {
  for (unsigned flags : {CU_STREAM_DEFAULT, CU_STREAM_NON_BLOCKING}) {
    start();
    CUdeviceptr a = allocate(4), b = allocate(4);
    CUstream s = stream(flags);
    EXPECT_CUDA(api().cuMemsetD32Async(a, 1, 1, s));
    EXPECT_CUDA(api().cuMemcpyDtoDAsync_v2(b, a, 4, nullptr));
    EXPECT_CUDA(api().cuMemsetD32Async(b, 1, 1, s));
    EXPECT_CUDA(api().cuCtxSynchronize());
    if (flags == CU_STREAM_DEFAULT)
      expectNoComplaint();
    else
      expectComplaint({"unordered", "the default stream of cuda:0"});
  }
}

TEST_F(StandInStreams, HostFunctionsRunInOrderAndByThemselves) {
  for (const char *order : {"eager", "lazy", "random"}) {
    start({{"ORDER", order}});
    CUstream s = stream();
    std::vector<int> calls;
    using Call = std::pair<std::vector<int> *, int>;
    Call a = {&calls, 1}, b = {&calls, 2};
    CUhostFn append = [](void *data) {
      auto *call = static_cast<Call *>(data);
      call->first->push_back(call->second);
    };
    EXPECT_CUDA(api().cuLaunchHostFunc(s, append, &a));
    EXPECT_CUDA(api().cuLaunchHostFunc(s, append, &b));
    EXPECT_CUDA(api().cuStreamSynchronize(s));
    EXPECT_EQ(calls, (std::vector<int>{1, 2}));
    // Nobody asks the driver, but somebody waits for what the function does.
    std::atomic<bool> called = false;
    EXPECT_CUDA(api().cuLaunchHostFunc(s, [](void *flag) { *static_cast<std::atomic<bool> *>(flag) = true; }, &called));
    while (!called) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_CUDA(api().cuCtxSynchronize());
    expectNoComplaint();
  }
}

TEST_F(StandInStreams, HostFunctionsMustNotCallTheDriver) {
  start();
  static CUresult result;
  EXPECT_CUDA(api().cuLaunchHostFunc(nullptr, [](void *) { result = api().cuCtxSynchronize(); }, nullptr));
  EXPECT_CUDA(api().cuCtxSynchronize());
  EXPECT_EQ(result, CUDA_ERROR_NOT_PERMITTED);
  expectComplaint({"cuCtxSynchronize is called from a host function"});
}

TEST_F(StandInStreams, TimePassesOnADevicesOwnClock) {
  start();
  CUstream s = stream();
  CUevent begin = event(), end = event();
  CUdeviceptr a = allocate(40 << 20);
  float ms = 0;
  EXPECT_CUDA(api().cuEventRecord(begin, s));
  EXPECT_CUDA(api().cuMemsetD8Async(a, 0, 40 << 20, s));
  EXPECT_CUDA(api().cuEventRecord(end, s));
  EXPECT_EQ(api().cuEventElapsedTime_v2(&ms, begin, end), CUDA_ERROR_NOT_READY);
  EXPECT_CUDA(api().cuEventSynchronize(end));
  EXPECT_CUDA(api().cuEventElapsedTime_v2(&ms, begin, end));
  EXPECT_NEAR(ms, 0.0135, 0.001); // 40 MiB at 3.35 TB/s
  CUevent untimed = nullptr;
  EXPECT_CUDA(api().cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  EXPECT_CUDA(api().cuEventRecord(untimed, s));
  EXPECT_EQ(api().cuEventElapsedTime_v2(&ms, begin, untimed), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(StandInStreams, ALostDeviceStaysLost) {
  start({{"FAIL", "lost=2"}});
  CUdeviceptr a = allocate(4);
  EXPECT_CUDA(api().cuMemsetD32_v2(a, 1, 1));
  EXPECT_CUDA(api().cuCtxSynchronize());
  (void)api().cuMemsetD32_v2(a, 1, 1);
  EXPECT_EQ(api().cuCtxSynchronize(), CUDA_ERROR_DEVICE_UNAVAILABLE);
  EXPECT_EQ(api().cuMemAlloc_v2(&a, 4), CUDA_ERROR_DEVICE_UNAVAILABLE);
  EXPECT_CUDA(api().cuDevicePrimaryCtxReset_v2(0));
  CUcontext context = nullptr;
  EXPECT_EQ(api().cuDevicePrimaryCtxRetain(&context, 0), CUDA_ERROR_DEVICE_UNAVAILABLE);
}

TEST_F(StandInStreams, WrongHandlesAreRefused) {
  start();
  CUstream s = stream();
  CUevent e = event();
  EXPECT_CUDA(api().cuStreamDestroy_v2(s));
  EXPECT_CUDA(api().cuEventDestroy_v2(e));
  EXPECT_EQ(api().cuStreamSynchronize(s), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(api().cuEventSynchronize(e), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(api().cuStreamWaitEvent(nullptr, e, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(api().cuStreamCreate(&s, 7), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StandInStreams, ADestroyedStreamsWorkGoesOn) {
  start();
  CUstream s = stream();
  CUdeviceptr a = allocate(4);
  EXPECT_CUDA(api().cuMemsetD32Async(a, 5, 1, s));
  EXPECT_CUDA(api().cuStreamDestroy_v2(s));
  EXPECT_CUDA(api().cuCtxSynchronize());
  EXPECT_EQ(download<int>(a, 1), std::vector<int>{5});
  expectNoComplaint();
}

// Random programs of fills and copies in streams of two devices, with events, host synchronisation and the default
// stream. Who is ordered is worked out here over all pairs; the stand-in must complain if, and only if, two operations
// that touch the same bytes are not, in every order of execution.
struct RandomStreams : StandIn {
  struct Done {
    std::vector<bool> before; // by operation
    size_t reads, writes;     // buffers; as many as there are: none
  };

  void run(unsigned seed, const char *order) {
    constexpr size_t kStreams = 5, kBuffers = 4, kEvents = 3;
    start({{"DEVICES", "sm_90x2"}, {"ORDER", order}, {"SEED", std::to_string(seed).c_str()}});
    std::mt19937 random(seed);
    auto pick = [&](size_t n) { return random() % n; };
    std::vector<CUdeviceptr> buffers;
    for (size_t i = 0; i < kBuffers; ++i) {
      buffers.push_back(allocate(64));
      EXPECT_CUDA(api().cuMemsetD8_v2(buffers.back(), 0, 64));
    }
    EXPECT_CUDA(api().cuCtxSynchronize());
    // Stream 0 is the default one, 1 and 2 come after it and it after them, 3 and 4 do not; 2 and 4 are of device 1,
    // and so do not know this default stream either.
    std::vector<CUstream> streams = {nullptr};
    for (size_t i = 1; i < kStreams; ++i) {
      EXPECT_CUDA(api().cuCtxSetCurrent(contexts[i % 2 == 0]));
      streams.push_back(stream(i <= 2 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    }
    EXPECT_CUDA(api().cuCtxSetCurrent(contexts[1]));
    EXPECT_CUDA(api().cuCtxEnablePeerAccess(contexts[0], 0));
    EXPECT_CUDA(api().cuCtxSetCurrent(contexts[0]));
    std::vector<std::vector<CUevent>> events(2);
    for (int device : {1, 0}) {
      EXPECT_CUDA(api().cuCtxSetCurrent(contexts[device]));
      for (size_t i = 0; i < kEvents; ++i) events[device].push_back(event());
    }

    std::vector<Done> all;
    using Knows = std::vector<bool>;
    Knows host;
    std::vector<Knows> knows(kStreams);
    std::vector<std::vector<Knows>> recorded(2, std::vector<Knows>(kEvents));
    auto join = [](Knows &a, const Knows &b) {
      if (a.size() < b.size()) a.resize(b.size());
      for (size_t i = 0; i < b.size(); ++i) a[i] = a[i] || b[i];
    };
    // Only stream 1 shares device 0 with the default stream and blocks.
    auto meetDefault = [&](size_t s) {
      if (s == 0) join(knows[0], knows[1]);
      if (s == 1) join(knows[1], knows[0]);
    };
    for (size_t step = 0, steps = 12 + pick(12); step < steps; ++step) {
      size_t s = pick(kStreams);
      size_t device = s == 2 || s == 4, e = pick(kEvents);
      switch (pick(8)) {
      case 0:
      case 1: // an event
        meetDefault(s);
        join(knows[s], host);
        EXPECT_CUDA(api().cuEventRecord(events[device][e], streams[s]));
        recorded[device][e] = knows[s];
        break;
      case 2:
      case 3: {
        size_t other = pick(2);
        meetDefault(s);
        join(knows[s], recorded[other][e]);
        join(knows[s], host);
        EXPECT_CUDA(api().cuStreamWaitEvent(streams[s], events[other][e], 0));
        break;
      }
      case 4:
        if (pick(3)) break;
        if (s == 0) meetDefault(0);
        join(host, knows[s]);
        EXPECT_CUDA(api().cuStreamSynchronize(streams[s]));
        break;
      default: {
        Done done;
        meetDefault(s);
        join(knows[s], host);
        done.before = knows[s];
        done.reads = kBuffers;
        done.writes = pick(kBuffers);
        if (pick(2)) {
          done.reads = (done.writes + 1 + pick(kBuffers - 1)) % kBuffers;
          EXPECT_CUDA(api().cuMemcpyDtoDAsync_v2(buffers[done.writes], buffers[done.reads], 64, streams[s]));
        } else {
          EXPECT_CUDA(api().cuMemsetD8Async(buffers[done.writes], 1, 64, streams[s]));
        }
        knows[s].resize(all.size() + 1);
        knows[s][all.size()] = true;
        all.push_back(std::move(done));
      }
      }
    }
    for (CUcontext context : contexts) {
      EXPECT_CUDA(api().cuCtxSetCurrent(context));
      EXPECT_CUDA(api().cuCtxSynchronize());
    }
    bool races = false;
    for (size_t j = 0; j < all.size(); ++j)
      for (size_t i = 0; i < j; ++i) {
        bool touches = all[i].writes == all[j].writes || all[i].writes == all[j].reads || all[i].reads == all[j].writes;
        races = races || (touches && !(i < all[j].before.size() && all[j].before[i]));
      }
    std::string complaints = api().complaints();
    EXPECT_EQ(races, complaints.find("unordered") != std::string::npos) << "seed " << seed << ", " << order << "\n"
                                                                        << complaints;
    found += races;
  }

  int found = 0;
};

TEST_F(RandomStreams, ComplaintsAreTheClosures) {
  testing::internal::CaptureStderr();
  for (unsigned seed = 1; seed <= 100; ++seed)
    for (const char *order : {"eager", "lazy", "random"}) run(seed, order);
  testing::internal::GetCapturedStderr();
  // Both kinds of programs were among them.
  EXPECT_GT(found, 60);
  EXPECT_LT(found, 290);
}

} // namespace
} // namespace sprig::cuda
