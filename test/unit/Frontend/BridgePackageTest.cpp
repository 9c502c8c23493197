// Packages of several functions: shared states, entries for several batches, constants, places in profiles.
#include "sprig/rt/sprig_rt.hpp"
#include "test/unit/Frontend/Graphs.h"
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sprig::frontend::test {
namespace {

/// y = x w, for a batch.
Graph product(int64_t batch) {
  Builder b;
  b.layer = &intern("net.linear");
  uint32_t x = b.input(f32({batch, 3})), w = b.input(f32({3, 2}));
  return b.give({b.op("matmul", {x, w}, f32({batch, 2}))});
}

struct Functions {
  Functions() : one(product(1)), four(product(4)) {
    Builder b;
    uint32_t w = b.input(f32({3, 2})), by = b.input(f32({}));
    grown = b.give({b.op("mul", {w, by}, f32({3, 2}))});
    entries = {{"main", &one, {{1, -1, "w", weights.data()}}, {"x"}, {"y"}},
               {"main", &four, {{1, -1, "w", weights.data()}}, {"x"}, {"y"}},
               {"grow", &grown, {{0, 0, "w", weights.data()}}, {"by"}, {}}};
  }
  Floats weights{1, 2, 3, 4, 5, 6};
  Graph one, four, grown;
  std::vector<PackageEntry> entries;
};

TEST(BridgePackage, FunctionsShareTheirStates) {
  Functions f;
  CompileOptions options = quick();
  options.freeze = false;
  rt::Package package = rt::Package::fromMemory(compilePackage(f.entries, options));
  EXPECT_EQ(package.info().state_count, 1u);
  EXPECT_EQ(package.inputs(0)[0].name, "x");
  EXPECT_EQ(package.outputs(1)[0].name, "y");
  rt::Context context(package);
  Floats x{1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 3}, y(10), by{10};
  context.invoke({rt::TensorView(x.data(), {1, 3})}, {rt::TensorView(y.data(), {1, 2})});
  EXPECT_EQ(y[0], 9);
  context.invoke({rt::TensorView(by.data(), {})}, {}, int32_t(package.findEntry("grow")));
  // Five samples: four and one, or four twice.
  context.invoke({rt::TensorView(x.data(), {5, 3})}, {rt::TensorView(y.data(), {5, 2})});
  EXPECT_EQ(y, (Floats{90, 120, 10, 20, 30, 40, 50, 60, 220, 280}));
}

TEST(BridgePackage, FrozenStatesAreConstants) {
  Functions f;
  f.entries.pop_back();
  rt::Package package = rt::Package::fromMemory(compilePackage(f.entries, quick()));
  EXPECT_EQ(package.info().state_count, 0u);
  rt::Context context(package);
  Floats x{1, 1, 1}, y(2);
  context.invoke({rt::TensorView(x.data(), {1, 3})}, {rt::TensorView(y.data(), {1, 2})});
  EXPECT_EQ(y, (Floats{9, 12}));
}

// Evaluation by the compiler must not show: as state and as constants, the same bits.
TEST(BridgePackage, FrozenExpressionsOfParametersKeepTheirBits) {
  Builder b;
  uint32_t x = b.input(f32({64})), p = b.input(f32({64}));
  uint32_t sum = b.op("reduce", {p}, f32({}), {Attr::word("kind", "reduce_kind sum"), Attr::of("axes", Shape{0})});
  uint32_t softmax = b.op("softmax", {p}, f32({64}), {Attr::of("axis", 0)});
  std::vector<uint32_t> results;
  for (uint32_t value : {b.op("rsqrt", {p}, f32({64})), b.op("exp", {p}, f32({64})), softmax, sum})
    results.push_back(b.op("add", {x, value}, f32({64})));
  Graph graph = b.give(results);
  Floats zeros(64), values;
  for (int i = 0; i < 64; ++i) values.push_back(0.1f + float(i) / 23);
  PackageEntry entry{"f", &graph, {{p, -1, "p", values.data()}}, {}, {}};
  std::vector<Floats> outputs[2];
  for (bool freeze : {false, true}) {
    CompileOptions options = quick();
    options.freeze = freeze;
    rt::Package package = rt::Package::fromMemory(compilePackage(std::span(&entry, 1), options));
    EXPECT_EQ(package.info().state_count, freeze ? 0u : 1u);
    rt::Context context(package);
    outputs[freeze].assign(4, Floats(64));
    std::vector<rt::TensorView> in{rt::TensorView(zeros.data(), {64})}, out;
    for (Floats &array : outputs[freeze]) out.emplace_back(array.data(), rt::Dims{64});
    context.invoke(in, out);
  }
  EXPECT_EQ(outputs[0], outputs[1]);
}

TEST(BridgePackage, NamesLayersAndLinesForProfiles) {
  Functions f;
  CompileOptions options = quick();
  options.freeze = false;
  rt::Package package = rt::Package::fromMemory(compilePackage(f.entries, options));
  sprig_rt_part_info part = {};
  rt::check(sprig_rt_package_part(package.raw(), 0, 0, 0, 0, &part));
  EXPECT_STREQ(part.name, "net.linear");
  EXPECT_STREQ(part.source, "train.cpp:1");
}

TEST(BridgePackage, RefusesStatesOfTwoTypes) {
  Functions f;
  Builder b;
  Graph other = b.give({b.input(f32({7}))});
  f.entries.push_back({"other", &other, {{0, -1, "w"}}, {}, {}});
  EXPECT_EQ(errorOf([&] { compilePackage(f.entries, quick()); }),
            "function 'other': state 'w' is 7xf32 here and 3x2xf32 in another function");
}

TEST(BridgePackage, ComesFromTheCacheTheSecondTime) {
  std::string folder = "/tmp/sprig-bridge-test-" + std::to_string(getpid());
  CompileOptions options = quick();
  options.cacheFolder = folder;
  options.reportDetails = true;
  std::string report;
  options.report = [&](const std::string &line) { report += line + "\n"; };
  Functions f;
  std::vector<uint8_t> first = compilePackage(f.entries, options);
  report.clear();
  EXPECT_EQ(compilePackage(f.entries, options), first);
  size_t kernels = report.find("codegen: ");
  ASSERT_NE(kernels, std::string::npos) << report;
  std::string count = report.substr(kernels + 9, report.find(' ', kernels + 9) - kernels - 9);
  EXPECT_NE(report.find(count + " kernels, " + count + " of them from the cache"), std::string::npos) << report;
  std::filesystem::remove_all(folder);
}

} // namespace
} // namespace sprig::frontend::test
