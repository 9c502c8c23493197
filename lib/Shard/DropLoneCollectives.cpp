// The drop-lone-collectives pass: a rank that is its whole group meets nobody.
#define GEN_PASS_DEF_DROPLONECOLLECTIVES
#include "lib/Shard/Passes.h"
#include "dialects/Dist/Dist.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace sprig;
namespace dist = ir::dist;

namespace {

struct DropLoneCollectives : sprig::impl::DropLoneCollectivesBase<DropLoneCollectives> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    getOperation().walk([&](Operation *op) {
      std::optional<dist::CollectiveUse> use = dist::collectiveUse(op);
      if (!use) return;
      auto mesh = symbols.lookupNearestSymbolFrom<dist::MeshOp>(op, use->mesh);
      if (mesh.groupOf(0, use->axes).size() != 1) return;
      // The program stays one of these ranks.
      if (getOperation()->hasAttr(dist::kRankAttr) && !getOperation()->hasAttr(dist::kMeshAttr))
        getOperation()->setAttr(dist::kMeshAttr, use->mesh);
      op->replaceAllUsesWith(op->getOperands()); // of the same types, as verified: the part of one is the whole
      op->erase();
    });
  }
};

} // namespace
