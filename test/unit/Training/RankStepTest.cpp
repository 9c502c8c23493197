// Steps of several ranks: the same bits whatever goes together, whether collectives have a lane of their own, who
// drives it and which rank comes late; and the losses of one rank that has all samples.
#include "dialects/Dist/Dist.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNState.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Shard/Passes.h"
#include "lib/Shard/Strategy/Strategy.h"
#include "lib/Training/ReadTrainConfig.h"
#include "lib/Training/StateNames.h"
#include "lib/Training/StepBuilder.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/collective/Shares.h"
#include "sprig/rt/sprig_rt.hpp"
#include "test/unit/CodeCache.h"
#include "test/unit/Training/TrainedProgram.h"
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <thread>

namespace sprig::training {
namespace {

constexpr int64_t kSamples = 16; // of a step
constexpr int kSteps = 6;

struct Network {
  const char *name, *text; // B stands for the samples
  std::vector<int64_t> sample;
};

const Network kLayers = {"layers",
                         R"(
nn.param @w1 = dense<0.0> : tensor<24x12xf32>
nn.param @b1 = dense<0.0> : tensor<24xf32>
nn.param @w2 = dense<0.0> : tensor<24x24xf32>
nn.param @b2 = dense<0.0> : tensor<24xf32>
nn.param @w3 = dense<0.0> : tensor<3x24xf32>
func.func @net(%x: tensor<Bx12xf32>) -> tensor<Bx3xf32> {
  %w1 = nn.get_param @w1 : tensor<24x12xf32>
  %b1 = nn.get_param @b1 : tensor<24xf32>
  %w2 = nn.get_param @w2 : tensor<24x24xf32>
  %b2 = nn.get_param @b2 : tensor<24xf32>
  %w3 = nn.get_param @w3 : tensor<3x24xf32>
  %1 = nn.linear %x, %w1, %b1 : tensor<Bx12xf32>, tensor<24x12xf32>, tensor<24xf32>
  %2 = nn.relu %1 : tensor<Bx24xf32>
  %3 = nn.linear %2, %w2, %b2 : tensor<Bx24xf32>, tensor<24x24xf32>, tensor<24xf32>
  %4 = nn.relu %3 : tensor<Bx24xf32>
  %5 = nn.linear %4, %w3 : tensor<Bx24xf32>, tensor<3x24xf32>
  return %5 : tensor<Bx3xf32>
}
)",
                         {12}};

// Its batch norms wait for each other's sums in both passes, between which gradients leave.
const Network kNorms = {"norms",
                        R"(
nn.param @w1 = dense<0.0> : tensor<4x2x3x3xf32>
nn.param @scale1 = dense<1.0> : tensor<4xf32>
nn.param @shift1 = dense<0.0> : tensor<4xf32>
nn.param @mean1 = dense<0.0> : tensor<4xf32>
nn.param @variance1 = dense<1.0> : tensor<4xf32>
nn.param @w2 = dense<0.0> : tensor<4x4x3x3xf32>
nn.param @scale2 = dense<1.0> : tensor<4xf32>
nn.param @shift2 = dense<0.0> : tensor<4xf32>
nn.param @mean2 = dense<0.0> : tensor<4xf32>
nn.param @variance2 = dense<1.0> : tensor<4xf32>
nn.param @v = dense<0.0> : tensor<3x64xf32>
func.func @net(%x: tensor<Bx2x4x4xf32>) -> tensor<Bx3xf32> {
  %w1 = nn.get_param @w1 : tensor<4x2x3x3xf32>
  %scale1 = nn.get_param @scale1 : tensor<4xf32>
  %shift1 = nn.get_param @shift1 : tensor<4xf32>
  %mean1 = nn.get_param @mean1 : tensor<4xf32>
  %variance1 = nn.get_param @variance1 : tensor<4xf32>
  %w2 = nn.get_param @w2 : tensor<4x4x3x3xf32>
  %scale2 = nn.get_param @scale2 : tensor<4xf32>
  %shift2 = nn.get_param @shift2 : tensor<4xf32>
  %mean2 = nn.get_param @mean2 : tensor<4xf32>
  %variance2 = nn.get_param @variance2 : tensor<4xf32>
  %v = nn.get_param @v : tensor<3x64xf32>
  %1 = nn.conv %x, %w1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<Bx2x4x4xf32>, tensor<4x2x3x3xf32>
  %2 = nn.batch_norm %1, %scale1, %shift1, %mean1, %variance1 {epsilon = 1.0e-3 : f64} : tensor<Bx4x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %3 = nn.relu %2 : tensor<Bx4x4x4xf32>
  %4 = nn.conv %3, %w2 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>} : tensor<Bx4x4x4xf32>, tensor<4x4x3x3xf32>
  %5 = nn.batch_norm %4, %scale2, %shift2, %mean2, %variance2 {epsilon = 1.0e-3 : f64} : tensor<Bx4x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %6 = nn.relu %5 : tensor<Bx4x4x4xf32>
  %7 = nn.reshape %6 : tensor<Bx4x4x4xf32> to tensor<Bx64xf32>
  %8 = nn.linear %7, %v : tensor<Bx64xf32>, tensor<3x64xf32>
  return %8 : tensor<Bx3xf32>
}
)",
                        {2, 4, 4}};

const char *kConfig = R"({"loss": "softmax_cross_entropy", "batch": 1, "steps": 6,
  "optimizer": {"name": "adam", "lr": 0.02}, "batch_norm": {"momentum": 0.8}})";

// Whose steps are taken, and how.
struct Case {
  const char *name;
  const Network &network;
  bool sharesState = false; // each rank has a piece of the optimizer's
  bool isClipped = false;   // by the norm of all gradients, which all updates wait for
  bool isGathered = false;  // factors of gradients are, of steps of one pass
  const char *optimizer = "adam";
  std::vector<std::string> frozen = {}; // scales of norms that keep their statistics

  int64_t passes() const { return isGathered ? 1 : 2; }
  int64_t batch() const { return kSamples / passes(); }
  /// The rank's rows of each pass.
  rt::collective::Range rowsOf(int rank, int ranks, const std::vector<int64_t> &weights) const {
    return rt::collective::shareOf(batch(), uint32_t(ranks), weights, uint32_t(rank));
  }
};

std::vector<float> randomValues(size_t count, uint64_t seed, double scale) {
  std::mt19937_64 random(seed);
  std::vector<float> values(count);
  for (float &value : values) value = float((double(random() >> 11) * 0x1p-53 - 0.5) * scale);
  return values;
}

struct Ways {
  int64_t bucketBytes = 0;
  bool isApart = true;        // collectives have a lane of their own,
  bool isMixed = false;       // or of every other rank alone
  int collectiveThreads = -1; // that a thread drives
  bool isJittered = false;    // ranks come late, now one, now another
  int64_t stepsPerCall = 1;
  int64_t turn = -1;                 // of calls of several steps; below 0: collectives go as they come
  std::vector<int64_t> weights = {}; // of shares
  bool isByRows = false;             // parameters and the optimizer's state are divided, by their rows
};

/// A strategy of the tests alone: parameters and the optimizer's state are split by rows over the ranks, forward and
/// backward passes read whole ones, and gradients are summed where their rows are.
mlir::LogicalResult stateRows(mlir::ModuleOp module, const shard::Mesh &mesh, const shard::StrategyOptions &options) {
  auto byRows = [&](mlir::RankedTensorType type) {
    shard::Sharding sharding = shard::Sharding::replicated(type);
    if (type.getRank()) sharding.dims[0] = {*mesh.axisNamed("data")};
    return sharding;
  };
  if (mlir::failed(stateSamples(module, mesh, options, byRows))) return mlir::failure();
  for (auto param : module.getOps<ir::ParamOp>())
    param->setAttr(ir::dist::kShardingAttr, mesh.write(byRows(param.getTensorType())));
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    mlir::Operation *gradient = nullptr; // behind it are updates, of rows
    function.walk([&](ir::GradientOp op) { gradient = op; });
    for (auto read : llvm::make_early_inc_range(function.getBody().getOps<ir::GetParamOp>())) {
      mlir::Value rows = read.getResult();
      mlir::OpBuilder b(read);
      mlir::Value whole = stateValue(b, rows, mesh, shard::Sharding::replicated(rows.getType()), read.getParam());
      whole.replaceUsesWithIf(rows, [&](mlir::OpOperand &use) { return gradient->isBeforeInBlock(use.getOwner()); });
    }
  }
  return mlir::success();
}

/// The rank's program of a step by the strategy of the tests.
void divideByRows(mlir::ModuleOp module, CompileOptions &options, int rank, int ranks) {
  mlir::OpBuilder b = mlir::OpBuilder::atBlockBegin(module.getBody());
  module.getContext()->loadDialect<ir::dist::DistDialect>();
  auto mesh =
      ir::dist::MeshOp::create(b, module.getLoc(), "mesh", b.getStrArrayAttr({"data"}), llvm::ArrayRef<int64_t>{ranks});
  runPhases(module, options, "canonicalize");
  if (mlir::failed(stateRows(module, shard::Mesh(mesh), {}))) internalError("the strategy does not state");
  shard::dropMarks(module);
  mlir::PassManager passes(module.getContext());
  passes.addNestedPass<mlir::func::FuncOp>(createDifferentiate());
  passes.addPass(createPropagateShardings());
  PartitionOptions part;
  part.rank = rank, part.together = true;
  passes.addPass(createPartition(part));
  if (mlir::failed(passes.run(module))) internalError("the step is not divided");
  // Of each parameter one read and one gradient; and the loss.
  std::map<llvm::StringRef, size_t> counts;
  module.walk([&](mlir::Operation *op) {
    if (ir::dist::collectiveUse(op)) ++counts[op->getName().stripDialect()];
  });
  std::map<llvm::StringRef, size_t> wanted = {{"all_gather", 5}, {"reduce_scatter", 5}, {"all_reduce", 1}};
  EXPECT_EQ(counts, wanted);
  options.compileFrom = "differentiate";
}

// The step of one rank, with weights that are the same on all. `collectives`: those of another rank, which become this
// one's.
rt::Package compileStep(const Case &of, int rank, int rankCount, const Ways &ways,
                        std::vector<std::string> *collectives = nullptr) {
  const Network &network = of.network;
  std::string text = network.text;
  int64_t size = of.batch();
  for (size_t at = 0; (at = text.find("<Bx", at)) != std::string::npos;) text.replace(at + 1, 1, std::to_string(size));
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &sharedContext());
  if (!module) badInput("the network is not valid");
  uint64_t seed = 1;
  for (auto param : module->getOps<ir::ParamOp>()) {
    auto type = param.getTensorType();
    if (param.getSymName().starts_with("variance") || param.getSymName().starts_with("scale")) continue;
    std::vector<float> values = randomValues(size_t(type.getNumElements()), ++seed, 0.8);
    const char *bytes = reinterpret_cast<const char *>(values.data());
    param.setValueAttr(ir::makeConstant(type, {bytes, values.size() * sizeof(float)}));
  }
  TrainConfig config = parseTrainConfig(kConfig, "config", {{{"case", "optimizer.name", of.optimizer}}});
  config.batch = of.batch();
  config.accumulate = of.passes();
  if (of.isClipped) config.gradClipNorm = 0.3;
  if (!of.frozen.empty()) config.frozenNorms = of.frozen;
  resolve(config, kSamples);
  TrainingEntries entries;
  entries.steps = {kSamples};
  entries.stepsPerCall = ways.stepsPerCall;
  mlir::func::FuncOp function = *module->getOps<mlir::func::FuncOp>().begin();
  StepBuilder(*module, {{size, function}}, config, network.name).add(entries);
  CompileOptions options;
  options.freeze = false;
  options.math = MathMode::strict;
  if (ways.isByRows && rankCount > 1) {
    divideByRows(*module, options, rank, rankCount);
  } else if (rankCount > 1) {
    options.mesh = "data=" + std::to_string(rankCount);
    options.strategy = of.sharesState ? "zero1" : "data";
    options.weights = ways.weights;
    options.rank = rank;
    runPhases(*module, options, "differentiate"); // which adds the mesh
    options.compileFrom = "shard";
  }
  if (ways.turn >= 0)
    for (auto step : module->getOps<mlir::func::FuncOp>())
      if (step->hasAttr(ir::kRepeatAttr))
        step->setAttr(ir::kRepeatTurnAttr, mlir::Builder(module->getContext()).getI64IntegerAttr(ways.turn));
  using Beside = CompileOptions::Link::Beside;
  options.link = {9e-5, 1.5e9, ways.isApart ? Beside::always : Beside::never};
  options.threads = 1;
  options.bucketBytes = ways.bucketBytes;
  options.cacheFolder = codeCache(); // the kernels are the same
  std::string remarks;
  if (of.isGathered) {
    options.factors = FactorPolicy::always;
    options.remarks = {"schedule"};
  }
  if (collectives) options.collectives = *collectives;
  CompileResult result = compileModule(*module, options, [&](const std::string &line) { remarks += line; });
  if (collectives) *collectives = result.collectives;
  bool isOfRanks = rankCount > 1;
  EXPECT_EQ(remarks.find("factors of w2 are gathered, and with them b2") != remarks.npos, of.isGathered && isOfRanks)
      << remarks;
  return rt::Package::fromMemory(std::move(result.package));
}

struct RankRun {
  std::vector<float> losses;
  std::string bits;   // of losses and what all ranks have of the state
  std::string pieces; // of what they share
};

const char *entryOf(const Ways &ways) { return ways.stepsPerCall > 1 ? "train_steps" : "train_step"; }

// The rank's rows of a step's passes, one after the other.
void samplesOf(const Case &of, int step, rt::collective::Range rows, int64_t width, std::vector<float> &own,
               std::vector<int64_t> &targets) {
  std::vector<float> all = randomValues(size_t(kSamples * width), uint64_t(100 + step), 2);
  for (int64_t pass = 0; pass < of.passes(); ++pass)
    for (int64_t row = pass * of.batch() + rows.begin; row < pass * of.batch() + rows.end; ++row) {
      own.insert(own.end(), all.begin() + row * width, all.begin() + (row + 1) * width);
      targets.push_back((row * 7 + step) % 3);
    }
}

RankRun train(const Case &of, const rt::Package &package, rt::collective::Range rows, const rt::Group *group,
              const Ways &ways, uint32_t seed) {
  rt::Pool pool(1);
  rt::State state(package);
  rt::Context context(package, {&pool, &state, 0});
  if (group) context.join(*group);
  int64_t size = rows.size(), width = 1;
  for (int64_t each : of.network.sample) width *= each;
  std::mt19937 random(seed);
  std::vector<int64_t> shape = {of.passes() * size};
  shape.insert(shape.end(), of.network.sample.begin(), of.network.sample.end());
  RankRun run;
  for (int first = 0; first < kSteps; first += int(ways.stepsPerCall)) {
    size_t steps = size_t(ways.stepsPerCall);
    std::vector<std::vector<float>> samples(steps);
    std::vector<std::vector<int64_t>> targets(steps);
    std::vector<float> losses(steps);
    std::vector<rt::TensorView> inputs, outputs;
    for (size_t i = 0; i < steps; ++i) {
      samplesOf(of, first + int(i), rows, width, samples[i], targets[i]);
      inputs.push_back({samples[i].data(), SPRIG_RT_F32, shape});
      inputs.push_back({targets[i].data(), SPRIG_RT_I64, std::vector<int64_t>{of.passes() * size}});
      outputs.push_back({&losses[i], SPRIG_RT_F32, std::vector<int64_t>()});
    }
    if (ways.isJittered) std::this_thread::sleep_for(std::chrono::microseconds(random() % 400));
    context.invoke(inputs, outputs, int32_t(package.findEntry(entryOf(ways))));
    run.losses.insert(run.losses.end(), losses.begin(), losses.end());
  }
  run.bits.assign(reinterpret_cast<const char *>(run.losses.data()), run.losses.size() * sizeof(float));
  for (uint32_t i = 0; i < package.info().state_count; ++i) {
    auto held = state.bytes(i);
    sprig_rt_tensor_info info;
    rt::check(sprig_rt_package_state(package.raw(), i, &info));
    bool isOptimizers = std::string_view(info.name).starts_with(kOptimizerPrefix);
    (isOptimizers ? run.pieces : run.bits).append(held.begin(), held.end());
  }
  return run;
}

std::vector<rt::Package> compileSteps(const Case &of, int ranks, const Ways &ways) {
  std::vector<rt::Package> packages;
  std::vector<std::string> collectives;
  for (int rank = 0; rank < ranks; ++rank) {
    Ways own = ways;
    own.isApart &= !ways.isMixed || rank % 2 == 0;
    packages.push_back(compileStep(of, rank, ranks, own, &collectives));
  }
  EXPECT_EQ(collectives.empty(), ranks == 1);
  return packages;
}

size_t lanesOf(const rt::Package &package, const Ways &ways) {
  return package.entry(package.findEntry(entryOf(ways))).lane_count;
}

// What rank 0 has in the end, which all ranks must have, and the pieces of all of them.
RankRun trainOnRanks(const Case &of, const std::vector<rt::Package> &packages, const Ways &ways) {
  int ranks = int(packages.size());
  if (ranks == 1) return train(of, packages[0], of.rowsOf(0, 1, {}), nullptr, ways, 0);
  std::vector<rt::Group> groups = rt::Group::threads(uint32_t(ranks), std::chrono::minutes(1), ways.collectiveThreads);
  std::vector<RankRun> runs{size_t(ranks)};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        runs[size_t(rank)] = train(of, packages[size_t(rank)], of.rowsOf(rank, ranks, ways.weights),
                                   &groups[size_t(rank)], ways, uint32_t(rank + 1));
      } catch (const rt::Error &error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
      }
      groups[size_t(rank)] = rt::Group();
    });
  for (std::thread &thread : threads) thread.join();
  for (int rank = 1; rank < ranks; ++rank) {
    EXPECT_TRUE(ways.isByRows || runs[size_t(rank)].bits == runs[0].bits)
        << "rank " << rank << " of " << ranks << " differs";
    runs[0].pieces += runs[size_t(rank)].pieces;
  }
  return std::move(runs[0]);
}

class RankStepTest : public testing::TestWithParam<Case> {};

TEST_P(RankStepTest, BitsDependOnNothingButTheNumberOfRanks) {
  const Case &of = GetParam();
  std::vector<float> alone = trainOnRanks(of, compileSteps(of, 1, {}), {}).losses;
  for (int ranks = 2; ranks <= 4; ++ranks) {
    Ways plain{.bucketBytes = 1, .isApart = false};
    std::vector<rt::Package> packages = compileSteps(of, ranks, plain);
    EXPECT_EQ(lanesOf(packages[0], plain), 1u);
    RankRun first = trainOnRanks(of, packages, plain);
    ASSERT_EQ(first.losses.size(), alone.size());
    for (size_t i = 0; i < alone.size(); ++i)
      EXPECT_NEAR(first.losses[i], alone[i], 1e-5 * std::fabs(alone[i])) << "step " << i << " on " << ranks << " ranks";
    for (int64_t bytes : {int64_t(1), int64_t(300), INT64_MAX}) {
      packages = compileSteps(of, ranks, {.bucketBytes = bytes});
      EXPECT_EQ(lanesOf(packages[0], {}), 2u);
      for (int collectiveThreads : {-1, 1}) {
        Ways ways{.collectiveThreads = collectiveThreads, .isJittered = true};
        RankRun run = trainOnRanks(of, packages, ways);
        EXPECT_TRUE(run.bits == first.bits && run.pieces == first.pieces)
            << ranks << " ranks, buckets of " << bytes << ", collective threads " << collectiveThreads;
      }
    }
  }
}

TEST_P(RankStepTest, StepsOfOneCallHaveTheBitsOfSingleOnes) {
  const Case &of = GetParam();
  for (int ranks = 1; ranks <= 3; ++ranks) {
    RankRun single = trainOnRanks(of, compileSteps(of, ranks, {}), {});
    for (auto [stepsPerCall, turn] : {std::pair(2, -1), {3, 1}, {6, 0}}) {
      Ways ways{.bucketBytes = 300, .isJittered = true, .stepsPerCall = stepsPerCall, .turn = turn};
      std::vector<rt::Package> packages = compileSteps(of, ranks, ways);
      EXPECT_EQ(lanesOf(packages[0], ways), ranks == 1 ? 1u : 2u);
      RankRun run = trainOnRanks(of, packages, ways);
      EXPECT_TRUE(run.bits == single.bits && run.pieces == single.pieces)
          << ranks << " ranks, calls of " << stepsPerCall << " steps, turn " << turn;
    }
  }
}

// The order of collectives follows from the step, whatever each rank's machine makes of lanes, and however unlike their
// shares are: ranks with a lane for them and without meet in each of them, and have the bits of ranks that are alike.
TEST_P(RankStepTest, RanksMayDecideDifferentlyOnLanes) {
  const Case &of = GetParam();
  for (int ranks : {2, 3})
    for (bool isEven : {true, false})
      for (int64_t stepsPerCall : {1, 3}) {
        Ways alike{.bucketBytes = 300, .stepsPerCall = stepsPerCall};
        // Of shares that are too unlike more bytes would be gathered than added up.
        using Weights = std::vector<int64_t>;
        if (!isEven && of.isGathered) alike.weights = ranks == 2 ? Weights{4, 5} : Weights{3, 4, 4};
        if (!isEven && !of.isGathered) alike.weights = ranks == 2 ? Weights{2, 1} : Weights{1, 2, 3};
        Ways mixed = alike;
        mixed.isMixed = mixed.isJittered = true;
        std::vector<rt::Package> packages = compileSteps(of, ranks, mixed);
        EXPECT_EQ(lanesOf(packages[0], mixed), 2u);
        EXPECT_EQ(lanesOf(packages[1], mixed), 1u);
        RankRun run = trainOnRanks(of, packages, mixed), same = trainOnRanks(of, compileSteps(of, ranks, alike), alike);
        EXPECT_TRUE(run.bits == same.bits && run.pieces == same.pieces)
            << ranks << " ranks, " << (isEven ? "even" : "weighed") << ", calls of " << stepsPerCall << " steps";
      }
}

// A strategy that nobody but this test knows says where parameters lie; all else follows.
TEST(RankStrategies, ParametersByRows) {
  Case of{"layers", kLayers};
  std::vector<float> alone = trainOnRanks(of, compileSteps(of, 1, {}), {}).losses;
  for (int ranks : {2, 4}) {
    Ways ways{.isByRows = true};
    std::vector<rt::Package> packages = compileSteps(of, ranks, ways);
    std::vector<float> losses = trainOnRanks(of, packages, ways).losses;
    ASSERT_EQ(losses.size(), alone.size());
    for (size_t i = 0; i < alone.size(); ++i)
      EXPECT_NEAR(losses[i], alone[i], 1e-5 * std::fabs(alone[i])) << "step " << i << " on " << ranks << " ranks";
  }
}

// Ranks of 11 and of 5 samples come to the same collectives; a rank that would not is not compiled.
TEST(RankCollectives, AreThoseOfTheOtherRanks) {
  Case of{"layers", kLayers};
  Ways ways{.bucketBytes = 300, .weights = {2, 1}};
  std::vector<std::string> first;
  compileStep(of, 0, 2, ways, &first);
  std::vector<std::string> own = first;
  compileStep(of, 1, 2, ways, &own);
  ASSERT_EQ(own, first);
  auto refusalOf = [&](std::vector<std::string> others) -> std::string {
    try {
      compileStep(of, 1, 2, ways, &others);
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::internal);
      return error.what();
    }
    return "none";
  };
  const std::string last = first.back(), number = std::to_string(first.size());
  EXPECT_EQ(last, "'train_step': all_reduce sum of 100 bytes on @mesh [\"data\"]");
  std::vector<std::string> others = first;
  others.back() = "a barrier";
  EXPECT_EQ(refusalOf(others), "collective " + number + " is " + last + " here and a barrier on another rank");
  others.pop_back();
  EXPECT_EQ(refusalOf(others), "collective " + number + " is " + last + " here and none on another rank");
  others = first;
  others.push_back("a barrier");
  EXPECT_EQ(refusalOf(others),
            "collective " + std::to_string(first.size() + 1) + " is none here and a barrier on another rank");
}

// Ranks sum gradients and the loss, and in each pass the sums of norms that take the statistics of all samples. A
// frozen norm adds nothing to that.
TEST(RankCollectives, FrozenNormsNeedNone) {
  auto countOf = [](const Case &of) {
    std::vector<std::string> collectives;
    compileStep(of, 0, 2, {.bucketBytes = INT64_MAX}, &collectives);
    return collectives.size();
  };
  size_t none = countOf({"layers", kLayers}), all = countOf({"norms", kNorms});
  EXPECT_EQ(countOf({.name = "frozen", .network = kNorms, .frozen = {"scale?"}}), none);
  size_t one = countOf({.name = "half", .network = kNorms, .frozen = {"scale1"}});
  EXPECT_EQ(2 * (one - none), all - none);
  EXPECT_GT(one, none);
}

// Kernels are those of the single step: commands alone are more.
TEST_P(RankStepTest, StepsOfOneCallShareTheKernels) {
  const Case &of = GetParam();
  uint32_t kernels = compileStep(of, 0, 2, {}).info().kernel_count;
  for (int64_t stepsPerCall : {2, 6})
    EXPECT_EQ(compileStep(of, 0, 2, {.stepsPerCall = stepsPerCall}).info().kernel_count, kernels)
        << "calls of " << stepsPerCall << " steps";
}

INSTANTIATE_TEST_SUITE_P(Networks, RankStepTest,
                         testing::Values(Case{"layers", kLayers}, Case{"norms", kNorms},
                                         Case{.name = "frozenNorms", .network = kNorms, .frozen = {"scale1"}},
                                         Case{"layersOfSharedState", kLayers, true},
                                         Case{"normsOfSharedStateClipped", kNorms, true, true},
                                         Case{"layersGathered", kLayers, false, false, true},
                                         Case{"layersOfSharedStateByNadam", kLayers, true, true, false, "nadam"},
                                         Case{"layersGatheredByRadam", kLayers, false, false, true, "radam"}),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace sprig::training
