#include "dialects/Dist/Dist.h"
#include "runtime/collective/AxisGroup.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sprig::ir::dist;

#include "dialects/Dist/DistDialect.cpp.inc"
#include "dialects/Dist/DistEnums.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Dist/DistOps.cpp.inc"

void DistDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/Dist/DistOps.cpp.inc"
      >();
}

std::optional<CollectiveUse> sprig::ir::dist::collectiveUse(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<CollectiveUse>>(op)
      .Case<AllReduceOp, ReduceScatterOp, AllGatherOp, BroadcastOp, ReduceOp, GatherOp, ScatterOp, AllToAllOp, PartOp,
            BarrierOp>([](auto collective) {
        CollectiveUse use{collective.getMeshAttr(), collective.getAxes(), collective.getAlgorithmAttr()};
        if constexpr (requires { collective.getRoot(); }) use.root = collective.getRoot();
        if constexpr (requires { collective.getReduction(); }) use.reduction = collective.getReduction();
        return use;
      })
      .Default(std::nullopt);
}

sprig::rt::collective::Kind sprig::ir::dist::kindOf(Operation *collective) {
  using rt::collective::Kind;
  return llvm::TypeSwitch<Operation *, Kind>(collective)
      .Case([](AllReduceOp) { return Kind::allReduce; })
      .Case([](ReduceScatterOp) { return Kind::reduceScatter; })
      .Case([](AllGatherOp) { return Kind::allGather; })
      .Case([](BroadcastOp) { return Kind::broadcast; })
      .Case([](ReduceOp) { return Kind::reduce; })
      .Case([](GatherOp) { return Kind::gather; })
      .Case([](ScatterOp) { return Kind::scatter; })
      .Case([](AllToAllOp) { return Kind::allToAll; })
      .Case([](PartOp) { return Kind::part; })
      .Case([](BarrierOp) { return Kind::barrier; });
}

int64_t MeshOp::numRanks() { return llvm::product_of(getSizes()); }

SmallVector<int64_t> MeshOp::groupOf(int64_t rank, ArrayAttr axes) {
  SmallVector<uint32_t> over;
  for (auto [number, name] : llvm::enumerate(getAxes()))
    if (llvm::is_contained(axes, name)) over.push_back(uint32_t(number));
  return llvm::to_vector_of<int64_t>(sprig::rt::collective::groupOf(getSizes(), over, int(rank)));
}
