#include "lib/Frontend/Bridge/PlanFunction.h"
#include "dialects/NN/Attributes.h"
#include "lib/Frontend/Bridge/RankFacts.h"
#include "lib/Pipeline/ExpectedStep.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Pipeline/RankBuckets.h"
#include "runtime/comm/RankGroup.h"
#include "sprig/error.h"

using namespace mlir;

namespace sprig::frontend {

/// What a strategy finds of a function of all ranks' samples, and the options by which it is divided.
static void addDivision(func::FuncOp function, const PlanRanks &ranks, CompileOptions &options) {
  const Division &division = *ranks.division;
  OpBuilder b(function.getContext());
  function->setAttr(ir::kPassesAttr, b.getDenseI64ArrayAttr(division.passes));
  auto module = function->getParentOfType<ModuleOp>();
  auto mesh = ir::dist::MeshOp::create(b, module.getLoc(), "mesh", b.getStrArrayAttr({"data"}),
                                       ArrayRef<int64_t>{ranks.group->ranks()});
  SymbolTable(module).insert(mesh, module.getBody()->begin()); // by another name where that one is taken
  // Whole on every rank, but for the first axis where it is said how ranks divide that.
  auto sharding = [&](Type type, Attribute rows) {
    SmallVector<ArrayAttr> dims(cast<RankedTensorType>(type).getRank(), b.getArrayAttr({}));
    if (rows) dims[0] = b.getArrayAttr(rows);
    return ir::dist::ShardingAttr::get(b.getContext(), FlatSymbolRefAttr::get(mesh.getSymNameAttr()), dims);
  };
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (!division.ofSamples.at(i)) function.setArgAttr(unsigned(i), ir::dist::kShardingAttr, sharding(type, {}));
  Attribute samples = b.getStringAttr("data");
  if (!ranks.weights.empty())
    samples = ir::dist::CutAttr::get(b.getContext(), b.getStringAttr("data"), ranks.weights, {}, 1);
  for (unsigned i = 0; i < division.resultsOfSamples; ++i)
    function.setResultAttr(i, ir::dist::kShardingAttr, sharding(function.getResultTypes()[i], samples));
  options.mesh = "data=" + std::to_string(ranks.group->ranks());
  options.strategy = division.strategy;
  options.weights = ranks.weights;
  options.rank = ranks.group->rank();
  options.allowGather = division.allowGather;
  options.dividesProducts = ranks.group->isWithinProcess();
}

/// What is known of ranks each of which has recorded its own function.
static void addRankFacts(func::FuncOp function, const PlanRanks &ranks, CompileOptions &options) {
  bridge::chooseFactors(function, ranks, options);
  Builder b(function.getContext());
  auto sums = llvm::to_vector(function.getBody().front().getOps<ir::dist::AllReduceOp>());
  if (sums.size() == ranks.buckets.order.size()) // else it is that of another kind of arguments
    for (auto [sum, place] : llvm::zip(sums, ranks.buckets.order))
      sum->setAttr(ir::dist::kOrderAttr, b.getI64IntegerAttr(place));
}

func::FuncOp bridge::addPlanFunction(ModuleOp module, const Graph &graph, std::span<const StateSlot> states,
                                     const std::string &name, const PlanRanks &ranks, CompileOptions &options) {
  PackageEntry entry{name, &graph, {states.begin(), states.end()}, {}, {}};
  if (ranks.division) entry.outputNames = ranks.division->results;
  for (StateSlot &slot : entry.states) slot.initial = nullptr;
  options = entryOptions(options, name);
  options.freeze = false;
  options.math = MathMode::strict; // one operation or many in a plan, the bits are the same
  func::FuncOp function = EntryBuilder(module, ranks.division.has_value()).add(entry);
  if (!ranks.group) return function;
  if (ranks.division)
    addDivision(function, ranks, options);
  else
    addRankFacts(function, ranks, options);
  options.bucketBytes = ranks.buckets.bytes;
  if (ranks.buckets.link) options.link = linkOf(*ranks.buckets.link);
  return function;
}

void bridge::stateDivision(ModuleOp module, const PlanRanks &ranks, CompileOptions &options) {
  if (!ranks.division) return;
  try {
    runPhases(module, options, "differentiate");
  } catch (const Error &error) {
    throw Error(error.kind(), withoutOpNames(error.what()));
  }
  options.compileFrom = "shard";
}

RankBuckets chooseBuckets(const Graph &graph, std::span<const StateSlot> states, const CompileOptions &given,
                          const std::string &name, const PlanRanks &ranks, int64_t repetitions) {
  CompileOptions options = given;
  bridge::Workspace work;
  func::FuncOp step = bridge::addPlanFunction(*work.module, graph, states, name, ranks, options);
  if (ranks.division)
    bridge::stateDivision(*work.module, ranks, options);
  else
    runPhases(*work.module, options, "differentiate");
  divideForRanks(*work.module, options);
  BucketRequest request;
  request.ranks = ranks.group->ranks();
  request.link = *ranks.buckets.link;
  request.bytes = ranks.buckets.bytes;
  request.stepsPerCall = repetitions;
  BucketChoice choice = chooseRankBuckets(step, request, options);
  return {choice.bytes, choice.turn, ranks.buckets.order, request.link};
}

double expectedSeconds(const Graph &graph, std::span<const StateSlot> states, const CompileOptions &given,
                       const std::string &name, const PlanRanks &ranks, int threads) {
  CompileOptions options = given;
  options.threads = threads;
  bridge::Workspace work;
  bridge::addPlanFunction(*work.module, graph, states, name, ranks, options);
  bridge::stateDivision(*work.module, ranks, options);
  return expectedStepSeconds(*work.module, options);
}

} // namespace sprig::frontend
