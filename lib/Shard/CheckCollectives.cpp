// The plan-collectives and check-collectives passes: what a rank does together with others, and that it stays so.
#define GEN_PASS_DEF_PLANCOLLECTIVES
#define GEN_PASS_DEF_CHECKCOLLECTIVES
#include "lib/Shard/Passes.h"
#include "dialects/Dist/CollectiveOrder.h"
#include "lib/Shard/Mesh.h"

using namespace mlir;
using namespace sprig;
namespace dist = ir::dist;

namespace {

/// "all_reduce sum of 1192 bytes on @mesh ["data"]".
Attribute describe(Operation *collective) {
  dist::CollectiveUse use = *dist::collectiveUse(collective);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << collective->getName().stripDialect();
  if (use.reduction) os << ' ' << stringifyReduction(*use.reduction);
  if (use.root) os << " root " << use.root;
  os << " of " << shard::wholeBytesOf(collective) << " bytes on " << use.mesh << ' ' << use.axes;
  return StringAttr::get(collective->getContext(), text);
}

SmallVector<Attribute> collectivesOf(func::FuncOp function) {
  SmallVector<Attribute> texts;
  if (!function.isExternal())
    for (Operation *each : dist::collectivesOf(function.getBody().front())) texts.push_back(describe(each));
  return texts;
}

struct PlanCollectives : sprig::impl::PlanCollectivesBase<PlanCollectives> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (SmallVector<Attribute> texts = collectivesOf(function); !texts.empty())
      function->setAttr(dist::kPlanAttr, ArrayAttr::get(&getContext(), texts));
  }
};

struct CheckCollectives : sprig::impl::CheckCollectivesBase<CheckCollectives> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto plan = dyn_cast_or_null<ArrayAttr>(function->removeAttr(dist::kPlanAttr));
    if (!plan) return;
    SmallVector<Attribute> found = collectivesOf(function);
    auto [planned, own] = std::mismatch(plan.begin(), plan.end(), found.begin(), found.end());
    if (planned == plan.end() && own == found.end()) return;
    auto described = [](auto at, auto end) { return at == end ? "none" : cast<StringAttr>(*at).str(); };
    function.emitError() << "internal error: collective " << (planned - plan.begin()) + 1 << " of '"
                         << function.getSymName() << "' is " << described(own, found.end())
                         << ", and the plan of all ranks has " << described(planned, plan.end());
    signalPassFailure();
  }
};

} // namespace
