// Small training runs: the step builder against PyTorch in double precision, and compiled programs against that.
#include "test/unit/Training/TrainedProgram.h"
#include "sprig/error.h"
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace sprig::training {
namespace {

std::vector<std::filesystem::path> references() {
  std::vector<std::filesystem::path> paths;
  for (auto &entry : std::filesystem::directory_iterator(SPRIG_SOURCE_DIR "/test/Training/references"))
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Errors count against the largest element.
void compare(const std::string &what, const std::vector<double> &got, const std::vector<double> &want,
             double tolerance) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double scale = 0;
  for (double v : want) scale = std::max(scale, std::fabs(v));
  for (size_t i = 0; i < got.size(); ++i)
    if (!(std::fabs(got[i] - want[i]) <= tolerance * scale)) {
      ADD_FAILURE() << what << ", element " << i << ": got " << got[i] << ", want " << want[i];
      return;
    }
}

class StepTest : public testing::TestWithParam<std::filesystem::path> {
protected:
  StepTest()
      : reference(nlohmann::json::parse(std::ifstream(GetParam()))), narrow(sharedContext(), reference, "f32"),
        wide(sharedContext(), reference, "f64") {}
  void compareWithReference(const Trajectory &got, double tolerance) {
    auto losses = reference["losses"].get<std::vector<double>>();
    compare("losses", got.losses, losses, std::max(tolerance, 1e-7)); // the loss is an f32
    for (auto &[name, values] : reference["final"].items())
      compare(name, got.state.at(name), values.get<std::vector<double>>(), tolerance);
  }
  nlohmann::json reference;
  TrainedProgram narrow, wide;
};

TEST_P(StepTest, IsTheReferenceInDoublePrecision) {
  int steps = int(reference["losses"].size());
  compareWithReference(wide.interpret(steps), 1e-12);
  std::string bits;
  compareWithReference(wide.compileAndRun(steps, {}, 1, bits), 1e-11);
}

TEST_P(StepTest, HasTheSameBitsHoweverItIsCompiled) {
  int steps = int(reference["losses"].size());
  std::string first, bits;
  compareWithReference(narrow.compileAndRun(steps, {}, 1, first), 1e-5);
  narrow.compileAndRun(steps, {}, 2, bits);
  EXPECT_EQ(bits, first) << "on two threads";
  CompileOptions apart;
  apart.merge = false;
  narrow.compileAndRun(steps, apart, 2, bits);
  EXPECT_EQ(bits, first) << "in several kernels";
  CompileOptions plain;
  plain.fuse = false;
  narrow.compileAndRun(steps, plain, 1, bits);
  EXPECT_EQ(bits, first) << "not fused";
  CompileOptions small;
  small.rematBytes = 1;
  narrow.compileAndRun(steps, small, 1, bits);
  EXPECT_EQ(bits, first) << "with as little kept as possible";
  narrow.compileAndRun(steps, {}, 2, bits, nullptr, steps);
  EXPECT_EQ(bits, first) << "in one call";
  narrow.compileAndRun(steps, apart, 1, bits, nullptr, steps);
  EXPECT_EQ(bits, first) << "in one call of several kernels";
}

// The state that only the step has, too: optimizer, averages, counters.
TEST_P(StepTest, IsWhatTheInterpreterMakesOfIt) {
  const int steps = 6;
  Trajectory want = wide.interpret(steps);
  std::string bits;
  Trajectory got = wide.compileAndRun(steps, {}, 2, bits);
  ASSERT_GT(want.state.size(), reference["final"].size());
  for (auto &[name, values] : want.state) compare(name, got.state.at(name), values, 1e-10);
}

void expectRefusal(const nlohmann::json &reference, const std::string &text) {
  try {
    TrainedProgram refused(sharedContext(), reference, "f32");
    FAIL() << "expected: " << text;
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

/// Quantisers of a weight between its parameter %w and what is multiplied, %d.
struct QuantizedWeight {
  std::string params, lines;
  nlohmann::json scales; ///< by parameter
  nlohmann::json trainable = nullptr;
  nlohmann::json reference() const {
    std::string network = "nn.param @w = dense<0.0> : tensor<2x2xf32>\n" + params +
                          "func.func @net(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
                          "%w = nn.get_param @w : tensor<2x2xf32>\n" +
                          lines +
                          "%y = nn.linear %x, %d : tensor<2x2xf32>, tensor<2x2xf32>\n"
                          "return %y : tensor<2x2xf32>\n}\n";
    nlohmann::json parameters = scales,
                   config = {
                       {"loss", "mse"}, {"batch", 2}, {"steps", 1}, {"optimizer", {{"name", "sgd"}, {"lr", 0.5}}}};
    parameters["w"] = {0.26, 2.0, -0.4, 0.1};
    if (!trainable.is_null()) config["trainable"] = trainable;
    return {
        {"network", network}, {"config", config}, {"parameters", parameters}, {"x", {1, 0, 0, 1}}, {"y", {0, 0, 0, 0}}};
  }
};

const nlohmann::json kScales = {0.01, 0.002};

QuantizedWeight sameNumbers() {
  return {"nn.param @s = dense<0.0> : tensor<2x1xf32>\n",
          R"mlir(
  %s = nn.get_param @s : tensor<2x1xf32>
  %z = nn.constant dense<0> : tensor<i8>
  %q = nn.quantize %w, %s, %z : tensor<2x2xf32>, tensor<2x1xf32>, tensor<i8>
  %d = nn.dequantize %q, %s, %z : tensor<2x2xi8>, tensor<2x1xf32>, tensor<i8>
)mlir",
          {{"s", kScales}}};
}

/// As they are imported: each operator reshapes what it has for an axis. Scales may be two initializers.
QuantizedWeight numbersOfAnAxis(const nlohmann::json &others) {
  return {"nn.param @s = dense<0.0> : tensor<2xf32>\nnn.param @t = dense<0.0> : tensor<2xf32>\n",
          R"mlir(
  %s = nn.get_param @s : tensor<2xf32>
  %sq = nn.reshape %s : tensor<2xf32> to tensor<2x1xf32>
  %zq = nn.constant dense<0> : tensor<2x1xi8>
  %q = nn.quantize %w, %sq, %zq : tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x1xi8>
  %t = nn.get_param @t : tensor<2xf32>
  %sd = nn.reshape %t : tensor<2xf32> to tensor<2x1xf32>
  %zd = nn.constant dense<0> : tensor<2x1xi8>
  %d = nn.dequantize %q, %sd, %zd : tensor<2x2xi8>, tensor<2x1xf32>, tensor<2x1xi8>
)mlir",
          {{"s", kScales}, {"t", others}}};
}

QuantizedWeight clipped() {
  return {"nn.param @s = dense<0.0> : tensor<2x1xf32>\n",
          R"mlir(
  %s = nn.get_param @s : tensor<2x1xf32>
  %z = nn.constant dense<0> : tensor<i8>
  %low = nn.constant dense<-128> : tensor<i8>
  %high = nn.constant dense<100> : tensor<i8>
  %q = nn.quantize %w, %s, %z : tensor<2x2xf32>, tensor<2x1xf32>, tensor<i8>
  %above = nn.max %q, %low : tensor<2x2xi8>, tensor<i8>
  %kept = nn.min %high, %above : tensor<i8>, tensor<2x2xi8>
  %d = nn.dequantize %kept, %s, %z : tensor<2x2xi8>, tensor<2x1xf32>, tensor<i8>
)mlir",
          {{"s", kScales}}};
}

// A step of sgd on mean squares of what quantisers leave of the weights, which are the outputs: a weight that was
// clipped has no gradient, and the scales, one for each row, are not trained.
void expectStep(const QuantizedWeight &weight, double largest) {
  TrainedProgram program(sharedContext(), weight.reference(), "f32");
  std::string bits;
  for (const Trajectory &got : {program.interpret(1), program.compileAndRun(1, {}, 1, bits)}) {
    // Left: 0.26, so many of 0.01, -0.256 of -128, 0.1; the gradient of each is half of it.
    compare("w", got.state.at("w"), {0.26 - 0.25 * 0.26, 2, -0.4, 0.1 - 0.25 * 0.1}, 1e-6);
    // Compiled, it is a constant.
    if (auto scale = got.state.find("s"); scale != got.state.end()) compare("s", scale->second, {0.01, 0.002}, 1e-6);
    compare("losses", got.losses, {(0.26 * 0.26 + largest * largest + 0.256 * 0.256 + 0.1 * 0.1) / 4}, 1e-6);
  }
}

TEST(QuantizedStep, GradientsGoThroughQuantisers) { expectStep(sameNumbers(), 1.27); }
TEST(QuantizedStep, NumbersMayBeWrittenTwice) { expectStep(numbersOfAnAxis(kScales), 1.27); }
TEST(QuantizedStep, GradientsStopAtClips) { expectStep(clipped(), 1); }

TEST(QuantizedStep, PatternsAreOfWhatCanBeTrained) {
  QuantizedWeight weight = sameNumbers();
  weight.trainable = {"*"};
  expectStep(weight, 1.27);
}

/// Four bits, which are imported as operations on floats.
QuantizedWeight writtenOut() {
  return {"nn.param @s = dense<0.0> : tensor<2x1xf32>\n",
          R"mlir(
  %s = nn.get_param @s : tensor<2x1xf32>
  %quotient = nn.div %w, %s : tensor<2x2xf32>, tensor<2x1xf32>
  %rounded = nn.round %quotient : tensor<2x2xf32>
  %low = nn.constant dense<-8.0> : tensor<f32>
  %high = nn.constant dense<7.0> : tensor<f32>
  %above = nn.max %rounded, %low : tensor<2x2xf32>, tensor<f32>
  %kept = nn.min %above, %high : tensor<2x2xf32>, tensor<f32>
  %narrow = nn.cast %kept : tensor<2x2xf32> to tensor<2x2xi8>
  %wide = nn.cast %narrow : tensor<2x2xi8> to tensor<2x2xi32>
  %zero = nn.constant dense<0> : tensor<i32>
  %difference = nn.sub %wide, %zero : tensor<2x2xi32>, tensor<i32>
  %number = nn.cast %difference : tensor<2x2xi32> to tensor<2x2xf32>
  %d = nn.mul %number, %s : tensor<2x2xf32>, tensor<2x1xf32>
)mlir",
          {{"s", kScales}}};
}

TEST(QuantizedStep, WhatHasNoGradientIsRefused) {
  expectRefusal(numbersOfAnAxis({0.01, 0.003}).reference(),
                "lets no gradient through to what is trained in front of it");
  expectRefusal(writtenOut().reference(), "expected one to integers of 8 or 16 bits");
  QuantizedWeight weight = sameNumbers();
  weight.trainable = {"s"};
  expectRefusal(weight.reference(), "trainable: 's' is a quantiser's");
}

// Two batch norms, of which the first one is frozen.
nlohmann::json frozenNorm() {
  return nlohmann::json::parse(std::ifstream(SPRIG_SOURCE_DIR "/test/Training/references/batch-norm-frozen.json"));
}

// Of four steps, compiled and interpreted.
void expectStatistics(const nlohmann::json &reference, const std::vector<std::string> &kept,
                      const std::vector<std::string> &moved) {
  TrainedProgram program(sharedContext(), reference, "f32");
  std::string bits;
  for (const Trajectory &got : {program.interpret(4), program.compileAndRun(4, {}, 1, bits)}) {
    auto initial = [&](const std::string &name) { return reference["parameters"][name].get<std::vector<double>>(); };
    for (const std::string &name : kept) EXPECT_EQ(got.state.at(name), initial(name)) << name;
    for (const std::string &name : moved) EXPECT_NE(got.state.at(name), initial(name)) << name;
  }
}

TEST(FrozenNorms, KeepTheirStatisticsBitForBit) {
  nlohmann::json reference = frozenNorm();
  expectStatistics(reference, {"mean1", "variance1"}, {"scale1", "shift1", "mean2", "variance2"});
  reference["config"]["batch_norm"]["frozen"] = {"*"};
  expectStatistics(reference, {"mean1", "variance1", "mean2", "variance2"}, {"scale1", "shift1", "scale2", "shift2"});
}

// Statistics are no parameters, whatever patterns have their names: neither gradient nor decay moves them.
TEST(FrozenNorms, PatternsTrainNoStatistics) {
  nlohmann::json reference = frozenNorm();
  reference["config"]["trainable"] = {"*"};
  reference["config"]["optimizer"]["weight_decay"] = 0.1;
  expectStatistics(reference, {"mean1", "variance1"}, {"scale1", "shift1", "mean2", "variance2"});
  reference["config"]["trainable"] = {"w?", "mean1"};
  expectRefusal(reference, "trainable: 'mean1' is a running statistic of a batch norm");
}

// One without a scale of its own, as exporters write `affine=False`, goes by its running mean.
TEST(FrozenNorms, GoByTheirMeansWhereScalesAreConstants) {
  nlohmann::json reference = frozenNorm();
  auto text = reference["network"].get<std::string>();
  const std::string read = "nn.get_param @scale1";
  text.replace(text.find(read), read.size(), "nn.constant dense<1.0>");
  reference["network"] = text;
  expectRefusal(reference, "test has no batch norm with the scale 'scale1'; did you mean 'scale2'?");
  reference["config"]["batch_norm"]["frozen"] = {"mean1"};
  expectStatistics(reference, {"mean1", "variance1"}, {"shift1", "mean2", "variance2"});
}

TEST(FrozenNorms, WhatDoesNotFitIsRefused) {
  nlohmann::json reference = frozenNorm();
  reference["config"]["batch_norm"]["frozen"] = {"scale1", "shift?"};
  expectRefusal(reference,
                "batch_norm.frozen: test has no batch norm with the scale 'shift?'\nnote: there are: scale1, scale2");
  reference["config"]["batch_norm"]["frozen"] = {"scale1"};
  auto text = reference["network"].get<std::string>();
  text.replace(text.find("%shift2, %mean2"), 15, "%shift2, %mean1");
  reference["network"] = text;
  expectRefusal(reference, "batch_norm.frozen: test has the running statistic 'mean1' in the batch norms 'scale1' and "
                           "'scale2', of which one alone is frozen");
  nlohmann::json plain = sameNumbers().reference();
  plain["config"]["batch_norm"] = {{"frozen", {"*"}}};
  expectRefusal(plain, "batch_norm.frozen: test has no batch norm with the scale '*'\nnote: there are none");
}

// Twelve layers with dropout between them, wide enough that activations are most of what the arena holds.
nlohmann::json deepNetwork(int passes = 1) {
  const int layers = 12, width = 32, batch = 128;
  std::string wide = "tensor<128x32xf32>", weight = "tensor<32x32xf32>", text,
              body = "%k = nn.constant dense<0> : tensor<i64>\n";
  nlohmann::json parameters;
  uint64_t state = 1;
  auto next = [&] {
    return double((state = state * 6364136223846793005u + 1442695040888963407u) >> 40) * 0x1p-24 - 0.5;
  };
  auto numbers = [&](int count, double scale) {
    std::vector<float> values(count);
    for (float &value : values) value = float(next() * scale);
    return values;
  };
  std::string value = "%x";
  for (int i = 0; i < layers; ++i) {
    std::string n = std::to_string(i);
    text += "nn.param @w" + n + " = dense<0.0> : " + weight + "\n";
    parameters["w" + n] = numbers(width * width, 0.8);
    std::string place = " loc(\"layer" + n + "/part\")\n";
    body += "%w" + n + " = nn.get_param @w" + n + " : " + weight + "\n%l" + n + " = nn.linear " + value + ", %w" + n +
            " : " + wide + ", " + weight + place + "%r" + n + " = nn.relu %l" + n + " : " + wide + place + "%d" + n +
            " = nn.dropout %r" + n + ", %k, %k {ratio = 0.25 : f64, stream = " + n + " : i64} : " + wide +
            ", tensor<i64>, tensor<i64>" + place;
    value = "%d" + n;
  }
  text += "func.func @net(%x: " + wide + ") -> " + wide + " {\n" + body + "return " + value + " : " + wide + "\n}\n";
  nlohmann::json config = {{"loss", "mse"},
                           {"batch", batch},
                           {"accumulate", passes},
                           {"steps", 3},
                           {"optimizer", {{"name", "sgd"}, {"lr", 0.5}}}};
  return {{"network", text},
          {"config", config},
          {"parameters", parameters},
          {"x", numbers(passes * batch * width, 2)},
          {"y", numbers(passes * batch * width, 1)}};
}

TEST(Remat, ShrinksTheArenaOfADeepNetworkAndChangesNoBit) {
  TrainedProgram program(sharedContext(), deepNetwork(), "f32");
  std::string kept, again;
  uint64_t before = 0, after = 0;
  program.compileAndRun(3, {}, 1, kept, &before);
  CompileOptions options;
  options.rematBytes = 64 << 10;
  program.compileAndRun(3, options, 1, again, &after);
  EXPECT_EQ(kept, again);
  EXPECT_LT(double(after), 0.7 * double(before)) << before << " bytes, then " << after;
}

// Of twelve layers every second one.
TEST(Remat, ComputesNamedLayersAgainAndChangesNoBit) {
  nlohmann::json reference = deepNetwork();
  std::string kept, again;
  uint64_t before = 0, after = 0;
  TrainedProgram(sharedContext(), reference, "f32").compileAndRun(3, {}, 1, kept, &before);
  reference["config"]["remat_layers"] = {"layer?1", "layer1", "layer3", "layer5", "layer7", "layer9/p*"};
  TrainedProgram(sharedContext(), reference, "f32").compileAndRun(3, {}, 1, again, &after);
  EXPECT_EQ(kept, again);
  EXPECT_LT(double(after), 0.7 * double(before)) << before << " bytes, then " << after;
  reference["config"]["remat_layers"] = {"layer2", "layer12"};
  expectRefusal(reference, "remat_layers: test has no layer 'layer12'\nnote: there are: layer0/part, ");
}

// Passes follow each other: one has its activations at a time, beside one copy of the gradients.
TEST(Accumulation, PassesTakeTheMemoryOfOneOfThem) {
  constexpr double kGradients = 12 * 32 * 32 * 4;
  uint64_t one = 0;
  for (int passes : {1, 2, 4, 8}) {
    TrainedProgram program(sharedContext(), deepNetwork(passes), "f32");
    std::string bits, plainBits;
    uint64_t arena = 0;
    program.compileAndRun(3, {}, 1, bits, &arena);
    if (passes == 1) one = arena;
    EXPECT_LE(double(arena), 1.05 * (double(one) + (passes > 1 ? kGradients : 0))) << passes << " passes";
    if (passes != 4) continue;
    CompileOptions plain;
    plain.fuse = false;
    program.compileAndRun(3, plain, 1, plainBits);
    EXPECT_EQ(bits, plainBits) << "not fused";
    program.compileAndRun(3, {}, 2, plainBits);
    EXPECT_EQ(bits, plainBits) << "on two threads";
  }
}

std::string nameOf(const testing::TestParamInfo<std::filesystem::path> &info) {
  std::string name = info.param.stem();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(References, StepTest, testing::ValuesIn(references()), nameOf);

} // namespace
} // namespace sprig::training
