// Random networks through the whole compiler: whatever is fused, merged and spread over lanes and threads, on the
// processor and on null devices in orders that are meant to hurt, the bits are those of separate kernels one after the
// other, and the values those of the interpreter; and kernels touch what they say that their tiles touch.
//   SprigRandomNetworksTest                         a few networks, as a test
//   SprigRandomNetworksTest --count N [--seed S] [--keep FOLDER]
//       N others, from seed S on; a failure is made smaller and written to the folder (.) as a test of lit; the last
//       line is `N passed, N failed`
#include "test/unit/RandomGraphs/RandomLanes.h"
#include "test/unit/RandomGraphs/RandomNetwork.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNDialect.h"
#include "lib/Interpreter/Compare.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Machine/MachineFile.h"
#include "lib/Pipeline/Pipeline.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "runtime/test/Campaign.h"
#include "runtime/test/TileRanges.h"
#include "sprig/rt/sprig_rt.hpp"
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iostream>
#include <random>

namespace sprig::randoms {
namespace {

using interp::Tensor;
using Bytes = std::vector<char>;
constexpr int kRounds = 2;
const interp::Tolerance kTolerance = {2e-3, 2e-4};

// A folder for kernels, and a machine so slow that every lane and every thread pays: what is a schedule's to decide is
// then decided in favour of more of them.
struct SlowMachine {
  SlowMachine() {
    char name[] = "/tmp/sprig-randoms-XXXXXX";
    folder = mkdtemp(name);
    setenv("SPRIG_CACHE", folder.c_str(), 1);
    machine::Calibration slow;
    slow.model = machine::machineIdentity().model;
    slow.isa = machine::machineIdentity().isa;
    slow.threads = 2;
    slow.fmaFlops = 1e6;
    slow.fmaFlopsAll = 2e6;
    slow.levels = {{1, 32 << 10, 2, 1e6, 2e6, 1e6, 1e6},
                   {2, 1 << 20, 2, 1e6, 2e6, 1e6, 1e6},
                   {3, 32 << 20, 1, 1e6, 2e6, 1e6, 1e6},
                   {0, 0, 0, 1e6, 2e6, 1e6, 1e6}};
    slow.randomSeconds = 1e-7;
    slow.handOffSeconds = 1e-9;
    slow.crossCore = {1e-9, 1e15};
    slow.latency = {{4096, 1.5}, {8192, 1.5}};
    slow.cacheKnees = {4096};
    std::ofstream(machine::calibrationFile()) << machine::calibrationToText(slow);
    // Without it, the defaults would count, and hardly anything be spread.
    if (!machine::keptCalibration()) throw std::runtime_error("the slow machine's calibration is not taken");
  }
  ~SlowMachine() { std::filesystem::remove_all(folder); }
  std::string folder;
};

SlowMachine &slowMachine() {
  static SlowMachine machine;
  return machine;
}

struct Variant {
  bool fuse, merge;
  int lanes, threads;
  bool scattered = false; // over lanes at random, not by cost
  int devices = 1;        // that half of all operations and parameters are dealt to at random
  std::string flags() const {
    return std::string(fuse ? "" : "--O0 ") + (merge ? "" : "--no-merge ") + "--lanes " + std::to_string(lanes) +
           " --threads " + std::to_string(threads);
  }
};
// The first one is what all others must equal.
constexpr Variant kVariants[] = {{false, false, 1, 1},         {true, true, 1, 1},           {true, false, 1, 2},
                                 {true, false, 2, 1},          {true, false, 2, 2},          {true, false, 8, 2},
                                 {false, false, 8, 1},         {true, false, 3, 2, true},    {false, false, 5, 1, true},
                                 {true, true, 1, 2, false, 2}, {true, false, 2, 1, false, 3}};

struct Drawn {
  uint64_t networks = 0, runs = 0, severalLanes = 0, statedKernels = 0, updates = 0, learning = 0;
};

mlir::MLIRContext &context() {
  static mlir::MLIRContext context(
      [] {
        mlir::DialectRegistry registry;
        registerSprigDialects(registry);
        return registry;
      }(),
      mlir::MLIRContext::Threading::DISABLED);
  return context;
}

mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  if (!module || mlir::failed(mlir::verify(*module))) throw std::runtime_error("the network is not valid:\n" + text);
  return module;
}

CompileOptions optionsOf(const RandomNetwork &network, const Variant &variant) {
  CompileOptions options;
  options.fuse = variant.fuse;
  options.merge = variant.merge;
  options.lanes = variant.lanes;
  options.threads = variant.threads;
  options.freeze = network.freezes && network.updates.empty();
  options.cacheFolder = slowMachine().folder + "/kernels";
  return options;
}

Tensor inputOf(mlir::RankedTensorType type, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> numbers(static_cast<size_t>(type.getNumElements()));
  for (double &number : numbers) number = double(int64_t(random() % 17) - 8) / 8; // exact
  return Tensor::ofFloats(type, std::move(numbers));
}

// Results of all rounds, and then states by name.
struct Outcome {
  std::vector<std::vector<Bytes>> rounds;
  std::map<std::string, Bytes> states;
  bool operator==(const Outcome &) const = default;
};

class Case {
public:
  explicit Case(const RandomNetwork &network) : network(network), module(parse(network.text())) {
    function = *module->getOps<mlir::func::FuncOp>().begin();
    for (int round = 0; round < kRounds; ++round) {
      std::vector<Tensor> &list = inputs.emplace_back();
      for (mlir::Type type : function.getArgumentTypes())
        list.push_back(inputOf(llvm::cast<mlir::RankedTensorType>(type), network.seed + 100 * round + list.size()));
    }
  }

  std::vector<uint8_t> compile(const Variant &variant, llvm::StringRef to = "") {
    mlir::OwningOpRef<mlir::ModuleOp> copy(module->clone());
    CompileOptions options = optionsOf(network, variant);
    if (variant.devices > 1) deal(*copy, variant, options);
    if (variant.scattered) {
      options.compileTo = "schedule";
      options.lanes = 1;
      compileModule(*copy, options);
      scatter(*copy, unsigned(variant.lanes), network.seed);
      options.compileFrom = "plan";
    }
    options.compileTo = to.str();
    std::vector<uint8_t> package = compileModule(*copy, options).package;
    if (!to.empty()) {
      planned.clear();
      llvm::raw_string_ostream stream(planned);
      copy->print(stream);
    }
    return package;
  }

  Outcome run(const std::vector<uint8_t> &bytes, const std::string &devices, uint32_t nullSeed, int threads,
              Drawn &drawn) {
    setenv("SPRIG_NULL_SEED", std::to_string(nullSeed).c_str(), 1);
    rt::LoadOptions load;
    load.device = devices;
    rt::Package package = rt::Package::fromMemory(std::span<const uint8_t>(bytes), "network", load);
    rt::Pool pool(threads);
    rt::State state(package);
    rt::Context running(package, {&pool, &state, 0});
    drawn.severalLanes += package.entry(0).lane_count > 1;
    ++drawn.runs;
    Outcome outcome;
    for (const std::vector<Tensor> &list : inputs) {
      std::vector<Bytes> in, out;
      std::vector<rt::TensorView> inViews, outViews;
      in.reserve(list.size());
      out.reserve(function.getNumResults());
      for (const Tensor &input : list) inViews.push_back(view(in.emplace_back(input.bytes()), input.type()));
      for (mlir::Type type : function.getResultTypes()) {
        auto tensor = llvm::cast<mlir::RankedTensorType>(type);
        size_t width = tensor.getElementType().isF64() ? 8 : 4;
        outViews.push_back(view(out.emplace_back(size_t(tensor.getNumElements()) * width, char(0xa5)), tensor));
      }
      running.invoke(inViews, outViews, 0);
      outcome.rounds.push_back(std::move(out));
    }
    for (uint32_t i = 0; i < package.info().state_count; ++i) {
      sprig_rt_tensor_info info;
      rt::check(sprig_rt_package_state(package.raw(), i, &info));
      Bytes &value = outcome.states[info.name];
      value.resize(info.bytes);
      state.read(i, {reinterpret_cast<uint8_t *>(value.data()), value.size()});
    }
    return outcome;
  }

  // The first kernel whose tiles touch more than the package says; empty where none does.
  std::string checkRanges(const std::vector<uint8_t> &bytes, Drawn &drawn) const {
    rt::core::PackageSource source;
    source.name = "network";
    source.bytes = bytes;
    std::shared_ptr<const rt::core::Package> package;
    if (rt::core::Status status = rt::core::Package::load(std::move(source), {}, package); !status.isOk())
      return std::string(status.message());
    rt::test::TileRangesFound found = rt::test::checkTileRanges(*package, 6);
    drawn.statedKernels += found.stated;
    return found.wrong.empty() ? "" : found.wrong.front();
  }

  // Why these are not the interpreter's values; empty where they are.
  std::string judge(const Outcome &got) {
    if (network.learns) return judgeForward(got);
    llvm::StringMap<Tensor> state;
    interp::RunOptions options;
    options.state = &state;
    for (int round = 0; round < kRounds; ++round)
      if (auto wrong = judgeResults(function, got, round, options); !wrong.empty()) return wrong;
    for (const auto &[name, bytes] : got.states)
      if (auto want = state.find(name); want != state.end())
        if (auto wrong = difference(bytes, want->second); !wrong.empty()) return "parameter " + name + wrong;
    return "";
  }

  std::string planned; // the program as of the phase that a compilation ended with

private:
  // What nobody has said goes by cost.
  void deal(mlir::ModuleOp copy, const Variant &variant, CompileOptions &options) const {
    for (int i = 0; i < variant.devices; ++i) options.devices.push_back("cpu:" + std::to_string(i));
    std::mt19937_64 random(network.seed * 31 + uint64_t(variant.devices));
    copy.walk([&](mlir::Operation *op) {
      if (!llvm::isa<ir::NNDialect>(op->getDialect())) return;
      // A part of a loop goes with it.
      if (!llvm::isa<mlir::func::FuncOp, mlir::ModuleOp>(op->getParentOp()) || random() % 2) return;
      const std::string &place = options.devices[size_t(random() % options.devices.size())];
      op->setAttr(ir::kPlaceAttr, mlir::StringAttr::get(&context(), place));
    });
  }

  std::string judgeResults(mlir::func::FuncOp of, const Outcome &got, int round, const interp::RunOptions &options) {
    auto wants = interp::run(of, inputs[size_t(round)], options);
    if (mlir::failed(wants)) return "the interpreter fails";
    for (auto [i, want] : llvm::enumerate(*wants))
      if (auto wrong = difference(got.rounds[size_t(round)][i], want); !wrong.empty())
        return "result " + std::to_string(i) + " of round " + std::to_string(round) + wrong;
    return "";
  }

  // Gradients jump where rounding decides which of two is larger, so only what comes before them is compared.
  std::string judgeForward(const Outcome &got) {
    RandomNetwork forward = network;
    forward.updates.clear();
    mlir::OwningOpRef<mlir::ModuleOp> other = parse(forward.text());
    mlir::func::FuncOp of = *other->getOps<mlir::func::FuncOp>().begin();
    bool takesTheSame = of.getArgumentTypes() == function.getArgumentTypes();
    return takesTheSame ? judgeResults(of, got, 0, {}) : "";
  }

  static rt::TensorView view(Bytes &bytes, mlir::RankedTensorType type) {
    llvm::ArrayRef<int64_t> shape = type.getShape();
    return rt::TensorView(bytes.data(), type.getElementType().isF64() ? SPRIG_RT_F64 : SPRIG_RT_F32,
                          std::vector<int64_t>(shape.begin(), shape.end()));
  }
  static std::string difference(const Bytes &bytes, const Tensor &want) {
    interp::Difference found = interp::compare(Tensor::ofBytes(want.type(), bytes), want.rounded(), kTolerance);
    if (!found) return "";
    return " at " + std::to_string(found.index) + ": got " + std::to_string(found.got) + ", the interpreter has " +
           std::to_string(found.want);
  }

  const RandomNetwork &network;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  std::vector<std::vector<Tensor>> inputs;
};

// What does not hold of a network; empty where all does.
struct Finding {
  std::string what;
  std::optional<Variant> variant;
  std::string devices;
  uint32_t nullSeed = 0;
};

Finding check(const RandomNetwork &network, Drawn &drawn) {
  Finding at;
  auto found = [&](std::string what) {
    at.what = (at.variant ? at.variant->flags() + (at.variant->scattered ? " at random on " : " on ") + at.devices +
                                ", SPRIG_NULL_SEED=" + std::to_string(at.nullSeed) + ": "
                          : "") +
              std::move(what);
    return at;
  };
  try {
    Case each(network);
    Outcome first;
    for (const Variant &variant : kVariants) {
      at = {"", variant, "cpu", 0};
      std::vector<uint8_t> package = each.compile(variant);
      struct Way {
        std::string devices;
        uint32_t nullSeed;
        int threads;
      };
      std::string count = "*" + std::to_string(variant.devices), cpu = "cpu" + count, null = "null" + count;
      const Way ways[] = {{cpu, 0, 1}, {cpu, 0, 2}, {null, 0, 1}, {null, 1, 1}, {null, uint32_t(network.seed + 2), 1}};
      // One lane has one order.
      for (const Way &way :
           llvm::ArrayRef(ways).take_front(variant.lanes * variant.devices == 1 ? 3 : std::size(ways))) {
        at.devices = way.devices;
        at.nullSeed = way.nullSeed;
        Outcome outcome = each.run(package, way.devices, way.nullSeed, way.threads, drawn);
        if (first.rounds.empty()) {
          if (std::string wrong = each.judge(outcome); !wrong.empty()) return found(wrong);
          first = std::move(outcome);
        } else if (!(outcome == first)) {
          return found("other bits than separate kernels on one lane and one thread");
        }
      }
      if (std::string wrong = variant.lanes > 2 && variant.devices == 1 ? each.checkRanges(package, drawn) : "";
          !wrong.empty())
        return found("kernel " + wrong);
    }
  } catch (const std::exception &error) {
    return found(error.what());
  }
  return {};
}

// A test of lit: the network by the flags that fail; and the program as planned, which needs no cost model to have
// lanes.
void writeTests(const RandomNetwork &network, const Finding &finding, const std::string &folder) {
  std::filesystem::create_directories(folder);
  std::string stem = folder + "/random-" + std::to_string(network.seed);
  Variant variant = finding.variant.value_or(kVariants[0]);
  std::string run = finding.devices.empty() ? "" : " --devices " + finding.devices;
  std::string seed = "env SPRIG_NULL_SEED=" + std::to_string(finding.nullSeed) + " ";
  // What was dealt to devices at random is in the plan alone.
  if (variant.devices == 1)
    std::ofstream(stem + ".mlir") << "// " << finding.what.substr(0, finding.what.find('\n')) << "\n"
                                  << "// RUN: rm -rf %t && mkdir %t\n"
                                  << "// RUN: %sprig run %s --random-inputs 1 " << kVariants[0].flags()
                                  << " --output-dir %t/plain\n"
                                  << "// RUN: " << seed << "%sprig run %s --random-inputs 1 " << variant.flags() << run
                                  << " --output-dir %t/other\n"
                                  << "// RUN: diff -r %t/plain %t/other\n\n"
                                  << network.text();
  try {
    Case each(network);
    each.compile(variant, "plan");
    std::ofstream(stem + "-plan.mlir") << "// RUN: rm -rf %t && mkdir %t\n"
                                       << "// RUN: %sprig compile %s --compile-from plan -o %t/program.sprig\n"
                                       << "// RUN: %sprig run %t/program.sprig --random-inputs 1 --threads 1 "
                                          "--output-dir %t/plain\n"
                                       << "// RUN: " << seed << "%sprig run %t/program.sprig --random-inputs 1" << run
                                       << " --output-dir %t/other\n"
                                       << "// RUN: diff -r %t/plain %t/other\n\n"
                                       << each.planned;
  } catch (const std::exception &) {
    // It fails before there is a plan.
  }
}

std::string report(const RandomNetwork &network, const Finding &finding, const std::string &folder) {
  RandomNetwork least = shrink(network, [](const RandomNetwork &each) {
    Drawn drawn;
    return !check(each, drawn).what.empty();
  });
  Drawn drawn;
  Finding now = check(least, drawn);
  writeTests(least, now, folder);
  return "FAIL network " + std::to_string(network.seed) + ": " + finding.what +
         "\n     again: SprigRandomNetworksTest --seed " + std::to_string(network.seed) + " --count 1\n     of its " +
         std::to_string(network.operations()) + " operations " + std::to_string(least.operations()) +
         " still fail: " + (now.what.empty() ? "not every time" : now.what) + "\n     " + folder + "/random-" +
         std::to_string(network.seed) + ".mlir\n";
}

TEST(RandomNetworks, HaveTheBitsOfSeparateKernels) {
  Drawn drawn;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    RandomNetwork network(seed);
    drawn.updates += network.updates.size();
    drawn.learning += network.learns;
    Finding finding = check(network, drawn);
    ASSERT_EQ(finding.what, "") << network.text();
  }
  EXPECT_GT(drawn.severalLanes, 50u);
  EXPECT_GT(drawn.statedKernels, 5u);
  EXPECT_GT(drawn.updates, 3u);
  EXPECT_GT(drawn.learning, 0u);
}

// As if convolutions failed that something else uses.
TEST(RandomNetworks, ShrinkToWhatFails) {
  int shrunk = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    RandomNetwork network(seed);
    auto fails = [](const RandomNetwork &each) {
      for (const Value &value : each.values)
        for (size_t operand : value.operands)
          if (each.values[operand].format.find("nn.conv") != std::string::npos) {
            parse(each.text()); // stays valid on the way
            return true;
          }
      return false;
    };
    if (!fails(network)) continue;
    RandomNetwork least = shrink(network, fails);
    EXPECT_LE(least.operations(), 3u) << least.text();
    EXPECT_TRUE(fails(least));
    ++shrunk;
  }
  EXPECT_GT(shrunk, 5);
}

int runMany(const rt::test::Campaign &campaign) {
  Drawn drawn;
  uint64_t failed = 0;
  for (uint64_t seed = campaign.seed; seed < campaign.seed + campaign.count; ++seed) {
    rt::test::begin(seed);
    RandomNetwork network(seed);
    drawn.updates += network.updates.size();
    drawn.learning += network.learns;
    if (Finding finding = check(network, drawn); !finding.what.empty()) {
      ++failed;
      std::cout << report(network, finding, campaign.folder) << std::flush;
    }
  }
  std::cout << drawn.runs << " runs, " << drawn.severalLanes << " of several lanes, " << drawn.statedKernels
            << " kernels that state what their tiles touch; " << drawn.updates << " updates of parameters, "
            << drawn.learning << " networks with gradients\n"
            << campaign.count - failed << " passed, " << failed << " failed\n";
  return failed ? 1 : 0;
}

} // namespace
} // namespace sprig::randoms

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  sprig::rt::test::Campaign campaign(argc, argv);
  if (!campaign.wrong.empty()) return 2;
  return campaign.count ? sprig::randoms::runMany(campaign) : RUN_ALL_TESTS();
}
