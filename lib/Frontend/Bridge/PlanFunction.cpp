#include "lib/Frontend/Bridge/PlanFunction.h"
#include "lib/Frontend/Bridge/RankFacts.h"
#include "lib/Pipeline/ExpectedStep.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Pipeline/RankBuckets.h"
#include "runtime/comm/RankGroup.h"

using namespace mlir;

namespace sprig::frontend {

func::FuncOp bridge::addPlanFunction(ModuleOp module, const Graph &graph, std::span<const StateSlot> states,
                                     const std::string &name, const PlanRanks &ranks, CompileOptions &options) {
  PackageEntry entry{name, &graph, {states.begin(), states.end()}, {}, {}};
  for (StateSlot &slot : entry.states) slot.initial = nullptr;
  options = entryOptions(options, name);
  options.freeze = false;
  options.math = MathMode::strict; // one operation or many in a plan, the bits are the same
  func::FuncOp function = EntryBuilder(module).add(entry);
  if (!ranks.group) return function;
  chooseFactors(function, ranks, options);
  options.bucketBytes = ranks.buckets.bytes;
  Builder b(module.getContext());
  auto sums = llvm::to_vector(function.getBody().front().getOps<ir::dist::AllReduceOp>());
  if (sums.size() == ranks.buckets.order.size()) // else it is that of another kind of arguments
    for (auto [sum, place] : llvm::zip(sums, ranks.buckets.order))
      sum->setAttr(ir::dist::kOrderAttr, b.getI64IntegerAttr(place));
  if (ranks.buckets.link)
    for (auto mesh : module.getOps<ir::dist::MeshOp>()) describeLink(mesh, *ranks.buckets.link);
  return function;
}

RankBuckets chooseBuckets(const Graph &graph, std::span<const StateSlot> states, const CompileOptions &given,
                          const std::string &name, const PlanRanks &ranks, int64_t repetitions) {
  CompileOptions options = given;
  bridge::Workspace work;
  func::FuncOp step = bridge::addPlanFunction(*work.module, graph, states, name, ranks, options);
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
  return expectedStepSeconds(*work.module, options);
}

} // namespace sprig::frontend
