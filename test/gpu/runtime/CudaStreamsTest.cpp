// Arrays that the caller has in a GPU's memory, and calls in its own stream: nothing is copied, nothing is waited for,
// and what the caller or the runtime forgets to order is named.
#include "test/gpu/runtime/CudaTest.h"

namespace sprig::rt::test {
namespace {

using namespace sprig::cuda;

constexpr int64_t kN = 64;

// y = 3 x and z = 32 x + 7, in two lanes that both begin with x.
CudaPackage thrice() {
  CudaPackage made;
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {kN}), y = entry.output("y", {kN}), z = entry.output("z", {kN}), t = entry.arena(256);
  uint32_t done = entry.event();
  entry.dispatch(0, Add, {x, x, t}, kN);
  entry.record(0, done);
  entry.dispatch(1, Mix, {x, x, z}, kN);
  entry.wait(1, done);
  entry.dispatch(1, Add, {t, x, y}, kN);
  made.program.entries.push_back(entry.entry);
  return made;
}

// One lane on each of two devices.
CudaPackage crossingStreams() {
  CudaPackage made(2);
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {kN}), far = entry.arena(256), y = entry.output("y", {kN});
  uint32_t sent = entry.event();
  for (uint32_t buffer : {far, y}) entry.entry.buffers[buffer].device = 1;
  entry.copy(0, x, far);
  entry.record(0, sent);
  entry.wait(1, sent);
  entry.dispatch(1, Add, {far, far, y}, kN);
  entry.entry.lanes[1].device = 1;
  entry.entry.moreArenas = {entry.entry.arenaSize};
  made.program.entries.push_back(entry.entry);
  return made;
}

// Entries "0" and "1", which double, each on one of two devices.
CudaPackage oneEach() {
  CudaPackage made(2);
  for (uint32_t device : {0u, 1u}) {
    EntryBuilder entry(std::to_string(device));
    uint32_t x = entry.input("x", {kN}), y = entry.output("y", {kN});
    for (uint32_t buffer : {x, y}) entry.entry.buffers[buffer].device = device;
    entry.dispatch(0, Add, {x, x, y}, kN);
    entry.entry.lanes[0].device = device;
    entry.entry.moreArenas = {entry.entry.arenaSize};
    made.program.entries.push_back(entry.entry);
  }
  return made;
}

// Counts a state up by one a call, from 5.
CudaPackage countingStream() {
  CudaPackage made;
  core::Constant five = {};
  five.name = "five";
  five.size = kN * 4;
  five.splat = {5, 0, 0, 0};
  made.program.constants.push_back(five);
  core::StateType state = {};
  state.tensor = {"count", SPRIG_RT_U32, {kN}, 0};
  made.program.states.push_back(state);
  EntryBuilder entry("main");
  uint32_t count = entry.state(0, kN * 4), x = entry.input("x", {kN}), y = entry.output("y", {kN});
  entry.dispatch(0, Count, {count}, kN);
  entry.dispatch(0, Add, {count, x, y}, kN);
  entry.entry.updatesState = true;
  made.program.entries.push_back(entry.entry);
  return made;
}

TensorView view(CUdeviceptr address, Dims shape = {kN}, Dims strides = {}) {
  return TensorView(reinterpret_cast<uint32_t *>(address), std::move(shape), std::move(strides));
}

struct CudaStreams : CudaTest {
  // A driver with contexts that are the runtime's too, the first of them current.
  void begin(Settings settings = {}) {
    drive(settings);
    makeContexts();
  }
  void end() {
    expectNoComplaint();
    leave();
  }
  void leave() {
    for (size_t i = 0; i < contexts.size(); ++i) EXPECT_CUDA(api().cuDevicePrimaryCtxRelease_v2(int(i)));
    contexts.clear();
  }
  void makeContexts() {
    ASSERT_CUDA(api().cuInit(0));
    int devices = 0;
    ASSERT_CUDA(api().cuDeviceGetCount(&devices));
    contexts.resize(size_t(devices));
    for (int i = 0; i < devices; ++i) ASSERT_CUDA(api().cuDevicePrimaryCtxRetain(&contexts[size_t(i)], i));
    ASSERT_CUDA(api().cuCtxSetCurrent(contexts[0]));
  }
  void expectAll(CUdeviceptr address, uint32_t want, const std::string &where = "") {
    for (uint32_t value : download<uint32_t>(address, kN)) ASSERT_EQ(value, want) << where;
  }
  // Written when it returns, which a copy of pageable memory alone does not promise.
  CUdeviceptr filled(uint32_t value) {
    CUdeviceptr address = upload(std::vector<uint32_t>(kN, value));
    EXPECT_CUDA(api().cuCtxSynchronize());
    return address;
  }
  sprig_rt_code code = SPRIG_RT_OK;
};

const std::vector<std::pair<const char *, const char *>> kOrders = {{"eager", "1"},  {"lazy", "1"},   {"random", "1"},
                                                                    {"random", "2"}, {"random", "3"}, {"random", "4"}};

TEST_F(CudaStreams, ArraysOnTheDeviceAreUsedWhereTheyAre) {
  for (auto [order, seed] : kOrders) {
    begin({{"ORDER", order}, {"SEED", seed}});
    {
      Context context(thrice().load());
      CUdeviceptr x = filled(3), y = allocate(kN * 4), z = allocate(kN * 4);
      Places there{{"cuda:0"}, {"cuda", "cuda:0"}};
      context.invoke({view(x)}, {view(y), view(z)}, there);
      uint64_t copies = count("copies"), allocations = count("allocations");
      context.invoke({view(x)}, {view(y), view(z)}, there);
      EXPECT_EQ(count("copies"), copies);
      EXPECT_EQ(count("allocations"), allocations);
      expectAll(y, 9, order);
      expectAll(z, 31 * 3 + 3 + 7, order);
      // Some here, some there, and each of them by itself.
      Words hx(kN, 4), hy(kN), hz(kN);
      context.invoke({hx.view()}, {view(y), hz.view()}, {{}, {"cuda:0", ""}});
      expectAll(y, 12, order);
      EXPECT_EQ(hz[5], 32u * 4 + 7);
      context.invoke({view(x)}, {hy.view(), view(z)}, {{"cuda:0"}, {"", "cuda:0"}});
      EXPECT_EQ(hy[63], 9u);
      context.invoke({hx.view()}, {hy.view(), hz.view()});
      EXPECT_EQ(hy[1], 12u);
      context.invoke({view(x)}, {view(y), view(z)}, there);
      expectAll(y, 9, order);
      for (CUdeviceptr each : {x, y, z}) EXPECT_CUDA(api().cuMemFree_v2(each));
    }
    EXPECT_EQ(count("allocations"), count("frees"));
    end();
  }
}

// What is in the stream comes before the call, what is put in later behind it; the host goes on at once.
TEST_F(CudaStreams, ACallInTheCallersStream) {
  for (auto [order, seed] : kOrders) {
    begin({{"ORDER", order}, {"SEED", seed}});
    {
      Context context(thrice().load());
      CUdeviceptr x = allocate(kN * 4), y = allocate(kN * 4), z = allocate(kN * 4), sum = allocate(kN * 4);
      for (CUstream own : {stream(), stream(0), CUstream(nullptr)}) {
        auto *out = pinned<uint32_t>(kN * 2);
        uint64_t waits = 0, launches = 0;
        for (uint32_t round = 0; round < 4; ++round) {
          if (round == 1) waits = count("host synchronisations"), launches = count("graph launches");
          EXPECT_CUDA(api().cuMemsetD32Async(x, round + 1, kN, own));
          context.enqueue({view(x)}, {view(y), view(z)}, "cuda:0", own);
          EXPECT_CUDA(api().cuMemcpyDtoDAsync_v2(sum, y, kN * 4, own));
          context.enqueue({view(y)}, {view(x), view(z)}, "cuda:0", own); // other addresses
        }
        EXPECT_EQ(count("host synchronisations"), waits);
        EXPECT_EQ(count("graph launches"), launches + 6);
        EXPECT_CUDA(api().cuMemcpyDtoHAsync_v2(out, sum, kN * 4, own));
        EXPECT_CUDA(api().cuMemcpyDtoHAsync_v2(out + kN, x, kN * 4, own));
        EXPECT_CUDA(api().cuStreamSynchronize(own));
        for (int64_t i = 0; i < kN; ++i) {
          ASSERT_EQ(out[i], 3 * 4u) << order;
          ASSERT_EQ(out[kN + i], 9 * 4u) << order;
        }
        EXPECT_EQ(context.lastRun().runs, 1u);
        EXPECT_CUDA(api().cuMemFreeHost(out));
      }
      context.wait();
    }
    end();
  }
}

// Arena and state are one, whatever streams the calls are in and whether they are in any.
TEST_F(CudaStreams, CallsFollowOneAnotherOverStreams) {
  for (auto [order, seed] : kOrders) {
    begin({{"ORDER", order}, {"SEED", seed}});
    {
      Package package = countingStream().load();
      State state(package);
      Context context(package, {nullptr, &state, 0}), other(package, {nullptr, &state, 0});
      CUstream first = stream(), second = stream();
      CUdeviceptr x = filled(100), y = allocate(kN * 4), z = allocate(kN * 4);
      Words hx(kN, 1), hy(kN), read(kN);
      std::span<uint8_t> bytes(reinterpret_cast<uint8_t *>(read.data()), kN * 4);
      for (uint32_t round = 0; round < 3; ++round) {
        context.enqueue({view(x)}, {view(y)}, "cuda:0", first);
        context.enqueue({view(x)}, {view(z)}, "cuda:0", second);
        // Nobody else has the state before the end of these was seen.
        EXPECT_NE(errorOf([&] { other.invoke({hx.view()}, {hy.view()}); }, &code), "");
        EXPECT_EQ(code, SPRIG_RT_BUSY);
        EXPECT_NE(errorOf([&] { state.read(0, bytes); }, &code), "");
        EXPECT_EQ(code, SPRIG_RT_BUSY);
        context.invoke({hx.view()}, {hy.view()});
        EXPECT_EQ(hy[7], 5 + 4 * round + 3 + 1) << order;
        expectAll(y, 100 + 5 + 4 * round + 1, order);
        expectAll(z, 100 + 5 + 4 * round + 2, order);
        context.submit({hx.view()}, {hy.view()}).wait();
        EXPECT_EQ(hy[7], 5 + 4 * round + 4 + 1) << order;
      }
      context.enqueue({view(x)}, {view(y)}, "cuda:0", first);
      context.wait();
      state.read(0, bytes);
      EXPECT_EQ(read[0], 5u + 13);
      other.invoke({hx.view()}, {hy.view()});
      context.enqueue({view(x)}, {view(y)}, "cuda:0", second); // its end is waited for with the context's
    }
    end();
  }
}

// Calls in streams that read the state go over to writing it without letting another writer in.
TEST_F(CudaStreams, ReadersBecomeTheWriterWhenTheyAreAlone) {
  begin();
  {
    CudaPackage made = countingStream();
    EntryBuilder peek("peek");
    uint32_t count = peek.state(0, kN * 4), in = peek.input("x", {kN / 2}), out = peek.output("y", {kN / 2});
    peek.dispatch(0, Add, {count, in, out}, kN / 2);
    made.program.entries.push_back(peek.entry);
    Package package = made.load();
    State state(package);
    Context context(package, {nullptr, &state, 0}), other(package, {nullptr, &state, 0});
    CUstream first = stream(), second = stream();
    CUdeviceptr x = filled(100), y = allocate(kN * 4), z = allocate(kN * 4);
    CUdeviceptr otherY = allocate(kN * 4);
    auto read = [&](Context &by, CUstream in, CUdeviceptr out) {
      by.enqueue({view(x, {kN / 2})}, {view(out, {kN / 2})}, "cuda:0", in);
    };
    auto write = [&] { context.enqueue({view(x)}, {view(z)}, "cuda:0", first); };
    read(context, first, y);
    read(other, second, otherY);
    EXPECT_NE(errorOf(write, &code), "");
    EXPECT_EQ(code, SPRIG_RT_BUSY);
    other.wait();
    // What the context holds it still holds.
    Words hx(kN, 1), hy(kN);
    EXPECT_NE(errorOf([&] { other.invoke({hx.view()}, {hy.view()}); }, &code), "");
    EXPECT_EQ(code, SPRIG_RT_BUSY);
    write();
    context.wait();
    expectAll(z, 106);
    other.invoke({hx.view()}, {hy.view()});
    EXPECT_EQ(hy[0], 8u);
  }
  end();
}

// The caller fills its array in one stream and calls in another.
TEST_F(CudaStreams, AWaitThatTheCallerDropsIsNamed) {
  for (auto [order, seed] : kOrders)
    for (bool waits : {true, false}) {
      begin({{"ORDER", order}, {"SEED", seed}});
      {
        Context context(thrice().load());
        CUstream filling = stream(), calling = stream();
        CUevent filled = event();
        CUdeviceptr x = allocate(kN * 4), y = allocate(kN * 4), z = allocate(kN * 4);
        EXPECT_CUDA(api().cuMemsetD32Async(x, 3, kN, filling));
        EXPECT_CUDA(api().cuEventRecord(filled, filling));
        if (waits) EXPECT_CUDA(api().cuStreamWaitEvent(calling, filled, 0));
        context.enqueue({view(x)}, {view(y), view(z)}, "cuda:0", calling);
        EXPECT_CUDA(api().cuStreamSynchronize(calling));
        EXPECT_CUDA(api().cuStreamSynchronize(filling));
        if (waits)
          expectNoComplaint();
        else
          expectComplaint({"unordered: ", "'fill' (stream", "which 'kernel ", "reads"});
      }
      leave();
    }
}

TEST_F(CudaStreams, AsManyAddressesAsTheCallerLikes) {
  begin({{"ORDER", "random"}});
  {
    Context context(thrice().load());
    CUstream own = stream();
    CUdeviceptr z = allocate(kN * 4);
    std::vector<CUdeviceptr> arrays = {filled(1)};
    for (int i = 0; i < 12; ++i) arrays.push_back(allocate(kN * 4));
    auto callAll = [&](size_t most) {
      for (size_t i = 0; i < most; ++i)
        context.enqueue({view(arrays[i])}, {view(arrays[i + 1]), view(z)}, "cuda:0", own);
    };
    callAll(6);
    uint64_t made = count("graphs instantiated");
    callAll(6);
    EXPECT_EQ(count("graphs instantiated"), made); // the last eight are kept
    callAll(12);
    context.wait();
    for (uint32_t i = 0, want = 1; i <= 12; ++i, want *= 3) expectAll(arrays[i], want);
  }
  end();
}

TEST_F(CudaStreams, WhatFailsInAStreamIsToldByWaiting) {
  for (auto [order, seed] : kOrders) {
    begin({{"ORDER", order}, {"SEED", seed}});
    {
      CudaPackage package;
      EntryBuilder entry("main");
      uint32_t x = entry.input("x", {kN}), divisor = entry.input("divisor", {kN}), y = entry.output("y", {kN});
      entry.dispatch(0, Divide, {x, divisor, y}, kN);
      package.program.entries.push_back(entry.entry);
      Context context(package.load());
      CUstream own = stream();
      CUdeviceptr six = filled(6), three = filled(3), zero = filled(0), result = allocate(kN * 4);
      auto call = [&](CUdeviceptr by) { context.enqueue({view(six), view(by)}, {view(result)}, "cuda:0", own); };
      for (int round = 0; round < 2; ++round) {
        for (CUdeviceptr by : {three, zero, three}) call(by);
        EXPECT_EQ(errorOf([&] { context.wait(); }, &code), "'first_divide': integer division by zero");
        EXPECT_EQ(code, SPRIG_RT_BAD_INPUT);
        context.wait(); // told once
        // A call that is in no stream waits for the end, and leaves it to be told.
        call(zero);
        Words a(kN, 6), b(kN, 2), out(kN);
        context.invoke({a.view(), b.view()}, {out.view()});
        EXPECT_EQ(out[9], 3u);
        EXPECT_EQ(errorOf([&] { context.wait(); }), "'first_divide': integer division by zero");
      }
    }
    leave(); // nothing is written where the division failed
  }
}

TEST_F(CudaStreams, ADeviceThatIsLost) {
  begin({{"FAIL", "launch=3"}});
  {
    Context context(thrice().load());
    CUstream own = stream();
    CUdeviceptr x = filled(1), y = allocate(kN * 4), z = allocate(kN * 4);
    std::string error;
    for (int i = 0; i < 4 && error.empty(); ++i)
      error = errorOf([&] { context.enqueue({view(x)}, {view(y), view(z)}, "cuda:0", own); }, &code);
    if (error.empty()) error = errorOf([&] { context.wait(); }, &code);
    EXPECT_EQ(code, SPRIG_RT_DEVICE_FAULT) << error;
    EXPECT_NE(error.find("cuda:0: "), error.npos) << error;
  }
  leave();
}

TEST_F(CudaStreams, WrongUseIsNamed) {
  begin({{"DEVICES", "sm_90x2"}});
  {
    Context context(thrice().load());
    CUdeviceptr x = filled(1), y = allocate(kN * 4 + 64), z = allocate(kN * 4);
    auto *host = pinned<uint32_t>(kN);
    EXPECT_CUDA(api().cuCtxSetCurrent(contexts[1]));
    CUdeviceptr elsewhere = filled(1);
    CUstream foreign = stream(), own = nullptr;
    EXPECT_CUDA(api().cuCtxSetCurrent(contexts[0]));
    own = stream();
    auto of = [&](TensorView in, TensorView out, Places places = {{"cuda:0"}, {"cuda:0", "cuda:0"}}) {
      code = SPRIG_RT_OK;
      return errorOf([&] { context.invoke({in}, {out, view(z)}, places); }, &code);
    };
    auto inStream = [&](TensorView in, const std::string &device, CUstream which) {
      code = SPRIG_RT_OK;
      return errorOf([&] { context.enqueue({in}, {view(y), view(z)}, device, which); }, &code);
    };
    Words words(kN, 1);
    EXPECT_EQ(of(view(elsewhere), view(y)), "input 'x': expected memory of cuda:0, got memory of cuda:1");
    EXPECT_EQ(code, SPRIG_RT_INVALID_ARGUMENT);
    EXPECT_EQ(of(view(reinterpret_cast<CUdeviceptr>(host)), view(y)),
              "input 'x': expected memory of cuda:0, got memory of the host");
    EXPECT_EQ(code, SPRIG_RT_INVALID_ARGUMENT);
    EXPECT_EQ(of(view(x), words.view()),
              "output 'y': expected memory of cuda:0, got an address that the driver does not know");
    EXPECT_EQ(of(view(x), view(y + 4)),
              "output 'y': expected an address in memory of cuda:0 that is aligned to 64 bytes");
    EXPECT_EQ(code, SPRIG_RT_INVALID_ARGUMENT);
    EXPECT_EQ(of(view(x), view(x)), "output 'y' shares memory of its device with input 'x'");
    EXPECT_EQ(code, SPRIG_RT_INVALID_ARGUMENT);
    EXPECT_EQ(of(view(x), view(z)), "output 'z' shares memory of its device with output 'y'");
    EXPECT_EQ(of(view(x, {kN}, {2}), view(y)), "input 'x': expected a row-major array in memory of cuda:0");
    EXPECT_EQ(code, SPRIG_RT_UNSUPPORTED);
    EXPECT_EQ(of(view(x), view(y), {{"cuda:1"}, {}}),
              "input 'x': expected a device that the package runs on (cuda:0), got 'cuda:1'");
    EXPECT_EQ(code, SPRIG_RT_INVALID_ARGUMENT);
    EXPECT_EQ(of(view(x), view(y), {{"cuda:0x"}, {}}),
              "input 'x': expected a device that the package runs on (cuda:0), got 'cuda:0x'");
    EXPECT_EQ(of(view(x), view(y), {{"cuda:0", ""}, {}}), "expected 1 places, got 2");
    EXPECT_EQ(inStream(view(elsewhere), "cuda:0", own), "input 'x': expected memory of cuda:0, got memory of cuda:1");
    EXPECT_EQ(inStream(view(x), "cuda:0", foreign),
              "entry 'main': expected a stream of cuda:0's primary context, got one of another context");
    EXPECT_EQ(code, SPRIG_RT_INVALID_ARGUMENT);
    EXPECT_EQ(inStream(view(x), "cpu", own), "expected a device that the package runs on (cuda:0), got 'cpu'");
    EXPECT_CUDA(api().cuStreamBeginCapture_v2(own, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_EQ(inStream(view(x), "cuda:0", own),
              "entry 'main': expected a stream that runs, got one whose commands are being captured");
    EXPECT_EQ(code, SPRIG_RT_UNSUPPORTED);
    CUgraph graph = nullptr;
    EXPECT_CUDA(api().cuStreamEndCapture(own, &graph));
    EXPECT_CUDA(api().cuGraphDestroy(graph));
    // None of it has done harm.
    EXPECT_EQ(inStream(view(x), "cuda:0", own), "");
    context.wait();
    EXPECT_EQ(of(view(x), view(y)), "");
    expectAll(y, 3);
    EXPECT_CUDA(api().cuMemFreeHost(host));
  }
  end();
}

// Each call goes into a stream of its entry's device, and all of them follow one another.
TEST_F(CudaStreams, EntriesOnDevicesOfTheirOwn) {
  for (auto [order, seed] : kOrders) {
    begin({{"DEVICES", "sm_90x2"}, {"ORDER", order}, {"SEED", seed}});
    {
      Context context(oneEach().load());
      CUdeviceptr x[2], y[2];
      CUstream streams[2];
      for (int device : {0, 1}) {
        EXPECT_CUDA(api().cuCtxSetCurrent(contexts[device]));
        x[device] = filled(device ? 4 : 1);
        y[device] = allocate(kN * 4);
        streams[device] = stream();
      }
      EXPECT_CUDA(api().cuCtxSetCurrent(contexts[0]));
      auto enqueue = [&](int device, CUstream in) {
        context.enqueue({view(x[device])}, {view(y[device])}, device ? "cuda:1" : "cuda:0", in, device);
      };
      enqueue(1, streams[1]);
      enqueue(0, streams[0]);
      enqueue(0, nullptr); // the device's own default stream
      enqueue(1, nullptr);
      EXPECT_EQ(errorOf([&] { enqueue(1, streams[0]); }, &code),
                "entry '1': expected a stream of cuda:1's primary context, got one of another context");
      EXPECT_EQ(code, SPRIG_RT_INVALID_ARGUMENT);
      context.wait();
      expectAll(y[0], 2, order);
      context.invoke({view(y[1])}, {view(x[1])}, {{"cuda:1"}, {"cuda:1"}}, 1);
      EXPECT_CUDA(api().cuCtxSetCurrent(contexts[1]));
      expectAll(y[1], 8, order);
      expectAll(x[1], 16, order);
      EXPECT_CUDA(api().cuCtxSetCurrent(contexts[0]));
    }
    end();
  }
}

TEST_F(CudaStreams, EntriesOnSeveralDevicesOrOnTheProcessor) {
  begin({{"DEVICES", "sm_90x2"}});
  {
    CUdeviceptr x = filled(1), y = allocate(kN * 4);
    CUstream own = stream();
    Context several(crossingStreams().load());
    std::string error = errorOf([&] { several.enqueue({view(x)}, {view(y)}, "cuda:0", own); }, &code);
    EXPECT_EQ(error, "entry 'main' runs on several devices (cuda:0, cuda:1), expected one that runs on cuda:0 alone");
    EXPECT_EQ(code, SPRIG_RT_UNSUPPORTED);
    error = errorOf([&] { several.invoke({view(x)}, {view(y)}, {{"cuda:0"}, {}}); }, &code);
    EXPECT_EQ(error, "input 'x': entry 'main' runs on several devices (cuda:0, cuda:1), expected one that runs on "
                     "cuda:0 alone");
    EXPECT_EQ(code, SPRIG_RT_UNSUPPORTED);
    Context host(addPackage(kN).load());
    Words a(kN, 1), b(kN, 2), sum(kN);
    error = errorOf([&] { host.enqueue({a.view(), b.view()}, {sum.view()}, "cpu:0", own); }, &code);
    EXPECT_EQ(error, "entry 'add': expected a GPU for a stream of the caller's, got cpu:0");
    EXPECT_EQ(code, SPRIG_RT_INVALID_ARGUMENT);
    host.invoke({a.view(), b.view()}, {sum.view()}, {{"cpu:0", ""}, {"cpu"}});
    EXPECT_EQ(sum[0], 3u);
    error = errorOf([&] { host.invoke({a.view(), b.view()}, {sum.view()}, {{"cuda:0", ""}, {}}); }, &code);
    EXPECT_EQ(error, "input 'a': expected a device that the package runs on (cpu:0), got 'cuda:0'");
    host.wait();
    Context null(addPackage(kN).load(on("null:0")));
    error = errorOf([&] { null.invoke({a.view(), b.view()}, {sum.view()}, {{"null:0", ""}, {}}); }, &code);
    EXPECT_EQ(error, "input 'a': nobody but the runtime has memory of null:0");
    EXPECT_EQ(code, SPRIG_RT_UNSUPPORTED);
  }
  end();
}

TEST_F(CudaStreams, BatchesThatNoEntryHas) {
  begin();
  {
    CudaPackage package;
    EntryBuilder entry("main");
    uint32_t in = entry.input("x", {4, kN}), out = entry.output("y", {4, kN});
    entry.dispatch(0, Add, {in, in, out}, 4 * kN);
    entry.entry.independentSamples = true;
    package.program.entries.push_back(entry.entry);
    Context context(package.load());
    CUdeviceptr x = allocate(4 * kN * 4), y = allocate(4 * kN * 4);
    std::string error =
        errorOf([&] { context.invoke({view(x, {3, kN})}, {view(y, {3, kN})}, {{"cuda:0"}, {"cuda:0"}}); }, &code);
    EXPECT_EQ(error, "input 'x': entry 'main': expected a batch that an entry has, as arrays in memory of cuda:0 are "
                     "neither padded nor split, got 3");
    EXPECT_EQ(code, SPRIG_RT_UNSUPPORTED);
  }
  end();
}

} // namespace
} // namespace sprig::rt::test
