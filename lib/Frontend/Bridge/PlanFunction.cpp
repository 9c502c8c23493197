#include "lib/Frontend/Bridge/PlanFunction.h"
#include "dialects/Dist/CollectiveOrder.h"
#include "dialects/NN/Attributes.h"
#include "lib/Pipeline/ExpectedStep.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Pipeline/RankBuckets.h"
#include "runtime/collective/Shares.h"
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
  options.rank = ranks.group->rank();
  options.allowGather = division.allowGather;
}

/// What is known of ranks each of which has recorded its own function: where shares differ and factors of sums may be
/// gathered, whose it is and which sums may come late. All have recorded the same source, so all find the same sums.
static void addRankFacts(func::FuncOp function, const PlanRanks &ranks, FactorPolicy factors) {
  Builder b(function.getContext());
  const uint32_t count = ranks.group->ranks();
  auto shares = llvm::map_range(llvm::seq<uint32_t>(0, count), [&](uint32_t rank) {
    return rt::collective::shareOf(ranks.samples, count, ranks.weights, rank).size();
  });
  if (factors != FactorPolicy::never && !llvm::all_equal(shares)) {
    for (Operation *sum : ir::dist::lateCollectives(function.getBody().front(), /*isOfOneRank=*/false))
      sum->setAttr(ir::dist::kLateAttr, b.getUnitAttr());
    function->setAttr(ir::dist::kSamplesAttr, b.getI64IntegerAttr(ranks.samples));
    function->setAttr(ir::dist::kRankAttr, b.getI64IntegerAttr(ranks.group->rank()));
  }
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
  options.weights = ranks.weights;
  options.dividesProducts = ranks.group->isWithinProcess();
  if (ranks.division)
    addDivision(function, ranks, options);
  else
    addRankFacts(function, ranks, options.factors);
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
