// What goes wrong on CUDA devices, by name: drivers and devices that are not there, code that does not fit, kernels
// that fail, memory that ends, devices that are lost.
#include "test/gpu/runtime/CudaTest.h"

namespace sprig::rt::test {
namespace {

CudaPackage adding(int64_t n = 16) {
  CudaPackage package;
  EntryBuilder entry("add");
  uint32_t a = entry.input("a", {n}), b = entry.input("b", {n}), sum = entry.output("sum", {n});
  entry.dispatch(0, Add, {a, b, sum}, n);
  package.program.entries.push_back(entry.entry);
  return package;
}

struct CudaFailures : CudaTest {
  std::string errorOfLoad(const CudaPackage &package, sprig_rt_code *code = nullptr, std::string devices = "") {
    return errorOf([&] { package.load(on(std::move(devices))); }, code);
  }
  std::string errorOfCall(Context &context, sprig_rt_code *code = nullptr) {
    Words a(16, 1), b(16, 2), sum(16);
    return errorOf([&] { context.invoke({a.view(), b.view()}, {sum.view()}); }, code);
  }
  sprig_rt_code code = SPRIG_RT_OK;
};

TEST_F(CudaFailures, DevicesThatAreNotThere) {
  drive({{"DEVICES", "none"}});
  EXPECT_EQ(errorOfLoad(adding(), &code), "test: device cuda:0 is not there: libcuda.so.1 counts 0 devices");
  EXPECT_EQ(code, SPRIG_RT_UNSUPPORTED);
  drive();
  EXPECT_EQ(errorOfLoad(adding(), &code, "cuda:1"), "test: device cuda:1 is not there: libcuda.so.1 counts 1 device");
  drive({{"DRIVER", "11080"}});
  EXPECT_EQ(errorOfLoad(adding(), &code),
            "test: device cuda:0: expected a driver for CUDA 12.0 or newer, found one for 11.8");
  EXPECT_EQ(code, SPRIG_RT_UNSUPPORTED);
  drive();
  EXPECT_EQ(errorOfLoad(adding(), &code, "cpu"),
            "test: device cpu:0 runs code for cpu, expected one of kind 'cuda', for which the program was compiled");
}

TEST_F(CudaFailures, CodeThatDoesNotFit) {
  drive({{"DEVICES", "sm_90"}});
  auto with = [&](auto change) {
    CudaPackage package = adding();
    change(package);
    code = SPRIG_RT_OK;
    return errorOfLoad(package, &code);
  };
  std::string cubin = readFile(SPRIG_TEST_CUBIN);
  EXPECT_EQ(with([](CudaPackage &) {}), "");
  EXPECT_EQ(with([&](CudaPackage &p) { p.setImage(cubin, "sm_80"); }),
            "test: the package has code for sm_80; cuda:0 is sm_90");
  EXPECT_EQ(code, SPRIG_RT_UNSUPPORTED);
  EXPECT_EQ(with([&](CudaPackage &p) { p.setImage(kernelsPtx(), "compute_100"); }),
            "test: the package has code for compute_100; cuda:0 is sm_90");
  EXPECT_EQ(with([&](CudaPackage &p) { p.setImage(kernelsPtx(), "sm_90"); }),
            "test: image 0 for sm_90: the cubin is damaged: it does not begin as one");
  EXPECT_EQ(code, SPRIG_RT_BAD_PACKAGE);
  EXPECT_EQ(
      with([&](CudaPackage &p) { p.setImage(cubin.substr(0, 200), "sm_90"); }).find("the cubin is damaged: its sec"),
      std::string("test: image 0 for sm_90: ").size());
  EXPECT_EQ(with([&](CudaPackage &p) { p.setImage("no text of the kind", "compute_80"); }),
            "test: image 0 for compute_80: the PTX is damaged: expected a text with a .version");
  EXPECT_EQ(with([&](CudaPackage &p) { p.setImage(cubin, "gfx90"); }),
            "test: image 0 for gfx90: expected an architecture as sm_90, or compute_80 of PTX");
  EXPECT_EQ(with([](CudaPackage &p) { p.program.images[0].entryPoints[Mix] = "mux"; }),
            "test: image 0 for compute_80: kernel 'mix': the code has no entry point 'mux'");
  EXPECT_EQ(with([](CudaPackage &p) { p.program.images[0].entryPoints[Mix] = "count"; }),
            "test: image 0 for compute_80: kernel 'mix': expected 6 parameters for 3 operands, found 4");
  EXPECT_EQ(code, SPRIG_RT_BAD_PACKAGE);
  EXPECT_EQ(with([](CudaPackage &p) { p.program.images[0].launches[Mix].shared = 1 << 20; }),
            "test: image 0 for compute_80: kernel 'mix': blocks of 1048576 bytes of shared memory; cuda:0 has up to "
            "232448");
  EXPECT_EQ(code, SPRIG_RT_UNSUPPORTED);
  EXPECT_EQ(with([](CudaPackage &p) { p.program.images[0].launches[Mix].shared = 100 << 10; }), "");
}

TEST_F(CudaFailures, AKernelThatFailsIsNamed) {
  for (const char *order : {"eager", "lazy", "random"}) {
    drive({{"ORDER", order}});
    {
      CudaPackage package;
      EntryBuilder entry("main");
      uint32_t x = entry.input("x", {8}), zero = entry.input("zero", {8}), y = entry.output("y", {8});
      uint32_t index = entry.input("index", {8}, SPRIG_RT_I64), size = entry.input("size", {1}, SPRIG_RT_I64);
      uint32_t z = entry.output("z", {8}), t = entry.arena(32), done = entry.event();
      entry.wait(0, done);
      entry.dispatch(0, Add, {t, x, y}, 8);
      entry.dispatch(1, Divide, {x, zero, t}, 8);
      entry.record(1, done);
      entry.dispatch(1, Gather, {x, index, size, z}, 8);
      package.program.entries.push_back(entry.entry);
      Context context(package.load());
      Words six(8, 6), divisor(8, 3), out(8), picked(8);
      Array indices(SPRIG_RT_I64, {8}), bound(SPRIG_RT_I64, {1});
      bound.as<int64_t>()[0] = 8;
      auto call = [&] {
        return errorOf(
            [&] {
              context.invoke({six.view(), divisor.view(), indices.view(), bound.view()}, {out.view(), picked.view()});
            },
            &code);
      };
      for (int64_t i = 0; i < 8; ++i) indices.as<int64_t>()[i] = 7 - i;
      for (int round = 0; round < 3; ++round) {
        divisor[5] = 0;
        EXPECT_EQ(call(), "entry 'main': 'first_divide': integer division by zero");
        EXPECT_EQ(code, SPRIG_RT_BAD_INPUT);
        divisor[5] = 3;
        indices.as<int64_t>()[3] = 9;
        EXPECT_EQ(call(), "entry 'main': 'second_gather': expected an index below 8, found 9");
        // The first that failed is told, as what follows may have read what it left.
        divisor[5] = 0;
        EXPECT_EQ(call(), "entry 'main': 'first_divide': integer division by zero");
        divisor[5] = 3;
        indices.as<int64_t>()[3] = 4;
        EXPECT_EQ(call(), "");
        EXPECT_EQ(out[5], 8u);
      }
    }
    // t is not written where the division failed.
  }
}

TEST_F(CudaFailures, MemoryThatEnds) {
  drive({{"MEMORY", "1M"}});
  EXPECT_EQ(errorOf(
                [&] {
                  CudaPackage package = adding();
                  package.program.entries[0].arenaSize = 4 << 20;
                  Context context(package.load());
                },
                &code)
                .rfind("cuda:0: no memory for 4194304 bytes of an arena: ", 0),
            0u);
  EXPECT_EQ(code, SPRIG_RT_OUT_OF_MEMORY);
  // Whichever allocation fails, it is an error and nothing stays behind.
  for (int n = 1; n < 30; ++n) {
    std::string fail = "alloc=" + std::to_string(n);
    drive({{"FAIL", fail.c_str()}});
    std::string error = errorOf(
        [&] {
          Context context(adding().load());
          Words a(16, 1), b(16, 2), sum(16);
          context.invoke({a.view(), b.view()}, {sum.view()});
          EXPECT_EQ(sum[3], 3u);
        },
        &code);
    EXPECT_EQ(count("allocations"), count("frees")) << n << ": " << error;
    expectNoComplaint();
    if (error.empty()) {
      EXPECT_GT(n, 3);
      return;
    }
    EXPECT_EQ(code, SPRIG_RT_OUT_OF_MEMORY) << error;
  }
  ADD_FAILURE() << "more allocations than were expected";
}

// Memory that is there again serves the same context.
TEST_F(CudaFailures, AfterMemoryThatEndedACallIsAsGoodAsBefore) {
  for (int n = 1; n < 30; ++n) {
    std::string fail = "alloc=" + std::to_string(n);
    drive({{"FAIL", fail.c_str()}});
    std::unique_ptr<Context> context;
    if (!errorOf([&] { context = std::make_unique<Context>(adding().load()); }).empty()) continue;
    Words a(16, 1), b(16, 2), sum(16);
    std::string error = errorOf([&] { context->invoke({a.view(), b.view()}, {sum.view()}); });
    if (error.empty()) {
      EXPECT_GT(n, 3);
      return;
    }
    context->invoke({a.view(), b.view()}, {sum.view()});
    EXPECT_EQ(sum[3], 3u) << error;
    expectNoComplaint();
  }
  ADD_FAILURE() << "more allocations than were expected";
}

TEST_F(CudaFailures, ALostDeviceStaysLost) {
  for (const char *fail : {"launch=2", "lost=3"}) {
    drive({{"FAIL", fail}});
    Context context(adding().load());
    std::string error;
    for (int call = 0; call < 20 && error.empty(); ++call) error = errorOfCall(context, &code);
    EXPECT_EQ(code, SPRIG_RT_DEVICE_FAULT) << error;
    EXPECT_NE(error.find("cuda:0: "), error.npos) << error;
    for (int call = 0; call < 3; ++call) {
      EXPECT_NE(errorOfCall(context, &code), "");
      EXPECT_EQ(code, SPRIG_RT_DEVICE_FAULT);
    }
  }
}

} // namespace
} // namespace sprig::rt::test
