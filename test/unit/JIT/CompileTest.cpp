// sprig::compile on models written here: numbers, bits, determinism, errors.
#include "sprig/compile.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

using namespace sprig;
using rt::TensorView;

// Two layers, 24 x 40 x 7, with weights that the test can compute too.
static float weight(int layer, int k, int n) { return float((k * 7 + n * 3 + layer * 5) % 11 - 5) / 8; }

static std::string weights(int layer, int K, int N) {
  std::string text = "dense<[";
  for (int k = 0; k < K; ++k) {
    text += k ? ", [" : "[";
    for (int n = 0; n < N; ++n) text += (n ? ", " : "") + std::to_string(weight(layer, k, n));
    text += "]";
  }
  return text + "]> : tensor<" + std::to_string(K) + "x" + std::to_string(N) + "xf32>";
}

static std::string mlp(int batch) {
  std::string b = std::to_string(batch);
  return "nn.param @w0 = " + weights(0, 24, 40) + "\nnn.param @w1 = " + weights(1, 40, 7) + R"(
func.func @main(%x: tensor<)" +
         b + R"(x24xf32> {nn.name = "x"}) -> (tensor<)" + b + R"(x7xf32> {nn.name = "y"}) {
  %w0 = nn.get_param @w0 : tensor<24x40xf32>
  %w1 = nn.get_param @w1 : tensor<40x7xf32>
  %0 = nn.matmul %x, %w0 : tensor<)" +
         b + R"(x24xf32>, tensor<24x40xf32>
  %1 = nn.relu %0 : tensor<)" +
         b + R"(x40xf32>
  %2 = nn.matmul %1, %w1 : tensor<)" +
         b + R"(x40xf32>, tensor<40x7xf32>
  return %2 : tensor<)" +
         b + R"(x7xf32>
})";
}

static std::vector<float> inputOf(int batch) {
  std::vector<float> x(batch * 24);
  for (size_t i = 0; i < x.size(); ++i) x[i] = float(int(i * 13 % 29) - 14) / 16;
  return x;
}

// The chain that docs/numerics.md prescribes: fused multiply-adds in ascending k from zero.
static std::vector<float> reference(const std::vector<float> &x, int batch) {
  std::vector<float> y(batch * 7);
  for (int m = 0; m < batch; ++m) {
    float h[40];
    for (int n = 0; n < 40; ++n) {
      float sum = 0;
      for (int k = 0; k < 24; ++k) sum = std::fma(x[m * 24 + k], weight(0, k, n), sum);
      h[n] = sum > 0 ? sum : 0;
    }
    for (int n = 0; n < 7; ++n) {
      float sum = 0;
      for (int k = 0; k < 40; ++k) sum = std::fma(h[k], weight(1, k, n), sum);
      y[m * 7 + n] = sum;
    }
  }
  return y;
}

static std::vector<float> run(Program &program, int batch) {
  std::vector<float> x = inputOf(batch);
  auto outputs = program({TensorView(x.data(), {batch, 24})});
  EXPECT_EQ(outputs.size(), 1u);
  return {outputs[0].as<float>(), outputs[0].as<float>() + outputs[0].elements()};
}

TEST(Compile, ComputesAnMLPExactly) {
  for (int batch : {1, 2, 5, 16, 33}) {
    Program program = compile(Model::text(mlp(batch)), {.architectures = {"x86-64-v3"}});
    EXPECT_EQ(run(program, batch), reference(inputOf(batch), batch)) << "batch " << batch;
  }
}

TEST(Compile, NothingButArithmeticChangesBits) {
  std::vector<float> want = reference(inputOf(33), 33);
  struct Way {
    const char *name;
    CompileOptions options;
  };
  for (const Way &way : {Way{"native", {}}, Way{"not fused", {.fuse = false}}, Way{"O0", {.optimization = 0}},
                         Way{"O3", {.optimization = 3}}, Way{"not frozen", {.freeze = false}},
                         Way{"strict", {.math = MathMode::strict}}}) {
    Program program = compile(Model::text(mlp(33)), way.options);
    EXPECT_EQ(run(program, 33), want) << way.name;
  }
}

TEST(Compile, ThreadsDoNotChangeBits) {
  rt::Package package = compile(Model::text(mlp(33))).package();
  for (int threads : {1, 2, 3}) {
    rt::Pool pool(threads);
    Program program(package, {.pool = &pool});
    EXPECT_EQ(run(program, 33), reference(inputOf(33), 33)) << threads << " threads";
  }
}

TEST(Compile, PackageFromAFileRunsLikeTheJIT) {
  Program jit = compile(Model::text(mlp(5)));
  std::vector<uint8_t> bytes = compileToPackage(Model::text(mlp(5)));
  std::string path = ::testing::TempDir() + "compile_test.sprig";
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  Program loaded(rt::Package::load(path));
  EXPECT_EQ(run(loaded, 5), run(jit, 5));
  // A package is a model too.
  Program again = compile(Model::file(path));
  EXPECT_EQ(run(again, 5), run(jit, 5));
  std::remove(path.c_str());
}

TEST(Compile, TheSameInputGivesTheSameBytes) {
  CompileOptions options{.architectures = {"x86-64-v2", "x86-64-v3", "x86-64-v4"}};
  std::vector<uint8_t> first = compileToPackage(Model::text(mlp(5)), options);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(compileToPackage(Model::text(mlp(5)), options) == first);
}

TEST(Compile, PackagesHoldAnImagePerInstructionSet) {
  std::vector<uint8_t> bytes =
      compileToPackage(Model::text(mlp(5)), {.architectures = {"x86-64-v2", "x86-64-v3", "x86-64-v3"}});
  rt::Package package = rt::Package::fromMemory(bytes);
  EXPECT_EQ(package.info().image_count, 2u);
  for (const char *cpu : {"x86-64-v2", "x86-64-v3"}) {
    Program program(rt::Package::fromMemory(bytes, "package", {.cpu = cpu}));
    EXPECT_EQ(program.package().isa(), cpu);
    std::vector<float> got = run(program, 5), want = reference(inputOf(5), 5);
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5); // v2 rounds twice
  }
}

TEST(Compile, OutputsMayBeInputsConstantsAndEachOther) {
  Program program = compile(Model::text(R"(
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xi64>) {
  %0 = nn.neg %x : tensor<4xf32>
  %1 = nn.reshape %0 : tensor<4xf32> to tensor<2x2xf32>
  %c = nn.constant dense<[7, -9]> : tensor<2xi64>
  return %x, %1, %0, %0, %c : tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xi64>
})"));
  std::vector<float> x = {1, -2, 3, -4}, negated = {-1, 2, -3, 4};
  auto y = program({TensorView(x.data(), {4})});
  ASSERT_EQ(y.size(), 5u);
  EXPECT_EQ(std::memcmp(y[0].data(), x.data(), 16), 0);
  for (int i : {1, 2, 3}) EXPECT_EQ(std::memcmp(y[i].data(), negated.data(), 16), 0) << "output " << i;
  EXPECT_EQ(y[4].as<int64_t>()[1], -9);
}

TEST(Compile, ManyThreadsCompileAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int batch : {1 + t, 8 + t}) {
        Program program = compile(Model::text(mlp(batch)));
        std::vector<float> x = inputOf(batch);
        auto y = program({TensorView(x.data(), {batch, 24})});
        std::vector<float> want = reference(x, batch);
        wrong[t] += std::memcmp(y[0].data(), want.data(), want.size() * 4) != 0;
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

// A mesh makes programs of all its ranks or of one, or is refused by name.
TEST(Compile, DividesOverAMesh) {
  CompileOptions options;
  options.mesh = "data=2";
  options.shardings = {"x=data,-"};
  auto compiled = [&] { return rt::Package::fromMemory(compileToPackage(Model::text(mlp(5)), options)); };
  EXPECT_EQ(compiled().entryCount(), 2u);
  options.rank = 1;
  rt::Package second = compiled();
  ASSERT_EQ(second.entryCount(), 1u);
  EXPECT_EQ(second.ranks(0).rank, 1);

  auto refused = [&](auto change) {
    CompileOptions wrong = options;
    change(wrong);
    try {
      compileToPackage(Model::text(mlp(5)), wrong);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused([](CompileOptions &o) { o.shardings = {"z=data,-"}; }),
            "--shard z=data,-: there is no 'z'; there are x, y, w0, w1");
  EXPECT_EQ(refused([](CompileOptions &o) { o.rank = 2; }), "--rank 2: --mesh data=2 has 2 ranks, counted from 0");
  EXPECT_EQ(refused([](CompileOptions &o) { o.mesh.clear(); }),
            "--shard x=data,-: names axes of --mesh, which is not given");
  EXPECT_EQ(refused([](CompileOptions &o) { o.mesh.clear(), o.shardings.clear(); }),
            "--rank 1: is one of --mesh, which is not given");
  EXPECT_EQ(refused([](CompileOptions &o) { o.devices = {"cpu:0", "cpu:1"}; }),
            "--mesh data=2: every rank has a part of each layer, and none is placed on 2 devices");
}

TEST(Compile, DumpsEachPhaseAndReportsRemarks) {
  std::string folder = ::testing::TempDir() + "compile_test_phases";
  std::vector<std::string> lines;
  compile(Model::text(mlp(5), "mlp.mlir"), {.dumpPhases = folder,
                                            .remarks = {"memory", "schedule"},
                                            .report = [&](const std::string &line) { lines.push_back(line); }});
  int index = 0;
  for (const char *phase : {"import", "canonicalize", "differentiate", "shard", "remat", "fuse", "schedule", "plan"}) {
    std::string path = folder + "/0" + std::to_string(index++) + "-" + phase + ".mlir";
    std::ifstream file(path);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_NE(text.find(index < 7 ? "func.func" : "exec.program"), std::string::npos) << path;
  }
  std::filesystem::remove_all(folder);
  auto mentions = [&](const std::string &what) {
    return std::any_of(lines.begin(), lines.end(), [&](auto &line) { return line.find(what) != std::string::npos; });
  };

  EXPECT_TRUE(mentions("memory: program 'main': arena of "));
  EXPECT_TRUE(mentions("schedule: 1 programs, 2 different kernels"));
  EXPECT_FALSE(mentions("fuse:"));
}

// Compiles and gives the line of the report that begins with `start`.
static std::string reported(const std::string &start, CompileOptions options, std::vector<uint8_t> &package) {
  std::string found;
  options.reportDetails = true;
  options.report = [&](const std::string &line) {
    if (line.starts_with(start)) found = line;
  };
  package = compileToPackage(Model::text(mlp(6), "mlp.mlir"), options);
  return found;
}

TEST(Compile, TakesKernelsFromTheCache) {
  std::string folder = ::testing::TempDir() + "compile_test_cache";
  std::filesystem::remove_all(folder);
  std::vector<uint8_t> none = compileToPackage(Model::text(mlp(6), "mlp.mlir")), cold, warm;
  std::string first = reported("codegen: ", {.cacheFolder = folder}, cold);
  std::string second = reported("codegen: ", {.cacheFolder = folder}, warm);
  EXPECT_NE(first.find(" kernels, 0 of them from the cache"), std::string::npos) << first;
  size_t end = first.find(" kernels");
  EXPECT_EQ(second, first.substr(0, end) + " kernels, " + first.substr(9, end - 9) + " of them from the cache");
  EXPECT_EQ(none, cold);
  EXPECT_EQ(none, warm);
  std::filesystem::remove_all(folder);
}

TEST(Compile, GivesTheSameBytesOnAnyNumberOfThreads) {
  Model model = Model::text(mlp(6), "mlp.mlir");
  std::vector<std::string> cpus = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
  auto one = compileToPackage(model, {.architectures = cpus, .compileThreads = 1});
  EXPECT_EQ(one, compileToPackage(model, {.architectures = cpus, .compileThreads = 2}));
  EXPECT_EQ(one, compileToPackage(model, {.architectures = cpus, .compileThreads = 7}));
}

TEST(Compile, TunesOnceForAMachine) {
  std::string folder = ::testing::TempDir() + "compile_test_tiles";
  std::filesystem::remove_all(folder);
  std::vector<uint8_t> first, second;
  EXPECT_EQ(reported("tune: ", {.tuneSeconds = 1, .cacheFolder = folder}, first),
            "tune: 2 contractions, 2 measured, 0 known from an earlier time");
  EXPECT_EQ(reported("tune: ", {.tuneSeconds = 1, .cacheFolder = folder}, second),
            "tune: 2 contractions, 0 measured, 2 known from an earlier time");
  EXPECT_EQ(first, second);
  // Tuned or not, the bits are the same.
  std::vector<float> x = inputOf(6);
  auto tuned = Program(rt::Package::fromMemory(std::move(first)))({TensorView(x.data(), {6, 24})});
  auto plain = compile(Model::text(mlp(6), "mlp.mlir"))({TensorView(x.data(), {6, 24})});
  ASSERT_EQ(tuned[0].bytes(), plain[0].bytes());
  EXPECT_EQ(std::memcmp(tuned[0].data(), plain[0].data(), plain[0].bytes()), 0);
  std::filesystem::remove_all(folder);
}

static Error errorOf(const Model &model, const CompileOptions &options = {}) {
  try {
    compileToPackage(model, options);
  } catch (const Error &error) {
    return error;
  }
  return Error(ErrorKind::internal, "no error");
}

TEST(Compile, PlacesLayersOnDevicesWithTheBitsOfOne) {
  std::string text = mlp(3);
  for (auto [type, name] : {std::pair("tensor<24x40xf32>\n  %1", "body"), {"tensor<40x7xf32>\n  return", "head"}}) {
    size_t at = text.find(type);
    ASSERT_NE(at, std::string::npos);
    text.insert(text.find('\n', at), std::string(" loc(\"") + name + "/MatMul\")");
  }
  for (bool freeze : {true, false}) {
    std::vector<Placement> told;
    CompileOptions options;
    options.freeze = freeze;
    options.devices = {"cpu:0", "cpu:1"};
    options.places = {{"head", "cpu:1"}, {"body", "cpu:0"}};
    options.explainPlacement = [&](const Placement &placement) { told.push_back(placement); };
    Program two = compile(Model::text(text), options);
    EXPECT_EQ(run(two, 3), reference(inputOf(3), 3));
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].copies, 1);
    EXPECT_EQ(told[0].copiedBytes, 3 * 40 * 4);
    ASSERT_EQ(told[0].decisions.size(), 2u);
    EXPECT_EQ(told[0].decisions[1].layer, "head");
    EXPECT_EQ(told[0].decisions[1].device, "cpu:1");
    EXPECT_TRUE(told[0].decisions[1].pinned);
    rt::LoadOptions load;
    load.device = "null:2,null:5";
    Program null = compile(Model::text(text), options, {}, load);
    EXPECT_EQ(run(null, 3), reference(inputOf(3), 3));
  }
  auto errorOf = [&](const CompileOptions &options) {
    try {
      compile(Model::text(text), options);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(errorOf({.devices = {"cpu:0", "cpu:1"}, .places = {{"haed", "cpu:1"}}}),
            "place haed=cpu:1: the model has no layer 'haed'; near names are head");
  EXPECT_EQ(errorOf({.devices = {"cpu:0", "cuda:1"}}),
            "device 'cuda:1': nothing there runs code for cpu; expected cpu:N or null:N");
  EXPECT_EQ(errorOf({.places = {{"head", "cpu:1"}}}),
            "place head=cpu:1: there is one device; name several to place on, as cpu:0 and cpu:1");
}

TEST(Compile, ErrorsSayWhatIsWrongAndOfWhichKind) {
  Error missing = errorOf(Model::file("/no/such/model.onnx"));
  EXPECT_EQ(missing.kind(), ErrorKind::badInput);
  EXPECT_EQ(std::string(missing.what()), "/no/such/model.onnx: cannot open: No such file or directory");

  Error syntax = errorOf(Model::text("func.func @main(", "broken.mlir"));
  EXPECT_EQ(syntax.kind(), ErrorKind::badInput);
  EXPECT_EQ(std::string(syntax.what()).substr(0, 12), "broken.mlir:");

  Error shapes = errorOf(Model::text("func.func @main(%x: tensor<2x3xf32>, %y: tensor<5x4xf32>) -> tensor<2x4xf32> {\n"
                                     "  %0 = nn.matmul %x, %y : tensor<2x3xf32>, tensor<5x4xf32>\n"
                                     "  return %0 : tensor<2x4xf32>\n}",
                                     "m.mlir"));
  EXPECT_EQ(shapes.kind(), ErrorKind::badInput);
  EXPECT_NE(std::string(shapes.what()).find("m.mlir:2"), std::string::npos) << shapes.what();

  EXPECT_EQ(errorOf(Model::text("")).kind(), ErrorKind::badInput);

  // What no program holds, and what no parser's stack does.
  Error type =
      errorOf(Model::text("func.func @main(%x: tensor<4xi3>) -> tensor<4xi3> { return %x : tensor<4xi3> }", "m"));
  EXPECT_EQ(type.kind(), ErrorKind::badInput);
  EXPECT_NE(std::string(type.what()).find("expected elements of f64"), std::string::npos) << type.what();
  Error deep =
      errorOf(Model::text("module attributes {a = " + std::string(100000, '[') + "} { func.func }", "deep.mlir"));
  EXPECT_EQ(deep.kind(), ErrorKind::badInput);
  EXPECT_EQ(std::string(deep.what()),
            "deep.mlir:1:279: brackets, regions, attributes or types are nested more than 256 deep");
  Error branch = errorOf(Model::text("func.func @main() {\n  cf.br ^a\n^a:\n  return\n}", "m.mlir"));
  EXPECT_EQ(branch.kind(), ErrorKind::badInput);
  Error call = errorOf(Model::text("func.func @main() {\n  func.call @main() : () -> ()\n  return\n}", "m.mlir"));
  EXPECT_EQ(call.kind(), ErrorKind::badInput);
  EXPECT_EQ(std::string(call.what()),
            "m.mlir:2:3: 'func.call' op cannot stand in a program that is given: expected functions of "
            "nn operations");

  Error cpu = errorOf(Model::text(mlp(1)), {.architectures = {"z80"}});
  EXPECT_EQ(cpu.kind(), ErrorKind::usage);
  EXPECT_EQ(std::string(cpu.what()),
            "unknown instruction set 'z80'; known are native, x86-64-v2, x86-64-v3, x86-64-v3-vnni, "
            "x86-64-v4, x86-64-v4-vnni, x86-64-v4-bf16, x86-64-v4-amx");
  for (const char *name : {"x86-64-v3-bf16", "x86-64-v2-vnni", "x86-64-v3-amx"})
    EXPECT_EQ(errorOf(Model::text(mlp(1)), {.architectures = {name}}).kind(), ErrorKind::usage) << name;
  EXPECT_EQ(errorOf(Model::text(mlp(1)), {.dims = {{"batch", {8}}}}).kind(), ErrorKind::usage);
  Error phase = errorOf(Model::text(mlp(1)), {.compileFrom = "optimise"});
  EXPECT_EQ(phase.kind(), ErrorKind::usage);
  EXPECT_EQ(std::string(phase.what()),
            "there is no phase 'optimise'; the phases are import, canonicalize, differentiate, shard, remat, fuse, "
            "schedule, plan, codegen, package");
}
