#include "lib/Target/Package/Parts.h"
#include "dialects/Interfaces/Touch.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "dialects/Kernel/OperationNumbers.h"
#include "dialects/NN/NNRecurrent.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace sprig;

// The place in a file: of an ONNX model, the number of the node. Without folders, as packages depend on no path.
static std::string sourceOf(Location location) {
  std::string text;
  location->walk([&](Location part) {
    auto place = dyn_cast<FileLineColLoc>(part);
    if (!place) return WalkResult::advance();
    text = (llvm::sys::path::filename(place.getFilename().getValue()) + ":" + Twine(place.getLine())).str();
    return WalkResult::interrupt();
  });
  return text;
}

// Places of the operations of the kernel that `location` is the use of; see placesOf in Schedule.cpp.
static ArrayAttr placesIn(Location location) {
  if (auto fused = dyn_cast<FusedLoc>(location)) return dyn_cast_if_present<ArrayAttr>(fused.getMetadata());
  return {};
}

static std::string factorsOf(Operation &op) {
  if (fusionKind(&op) != FusionKind::contraction || op.getNumResults() == 0) return {};
  Type factor = getElementTypeOrSelf(op.getOperand(0)), sum = getElementTypeOrSelf(op.getResult(0));
  if (!factor.isIntOrFloat() || !sum.isIntOrFloat() || factor.getIntOrFloatBitWidth() >= sum.getIntOrFloatBitWidth())
    return {};
  return exec::describe(factor);
}

// From and to the dispatch's buffers.
static int64_t movedBytes(Operation &op) {
  int64_t bytes = 0;
  for (OpOperand &operand : op.getOpOperands())
    if (isa<BlockArgument>(operand.get())) bytes += touchedBy(operand).total();
  for (Value result : op.getResults())
    if (llvm::any_of(result.getUsers(), [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); }))
      bytes += touchedToMake(result).total();
  return bytes;
}

// Counts the bodies on: a kernel holds several where commands were merged into it. A call may run it many times.
static void addParts(exec::KernelOp kernel, Location use, int64_t runs, unsigned &call, SmallVectorImpl<Part> &parts) {
  for (auto body : kernel.getBody().getOps<kernel::DispatchOp>()) {
    auto ops = body->getRegion(0).front().without_terminator();
    ArrayAttr places = placesIn(use);
    // Other operations than the kernel's: the place is of something else.
    if (places && places.size() != kernel::operationsOf(body).size()) places = {};
    for (auto [index, op] : llvm::enumerate(ops)) {
      Location place = op.getLoc();
      if (places)
        if (auto own = dyn_cast<LocationAttr>(places[index])) place = Location(own);
      Part part;
      part.name = exec::nameOf(place).str();
      part.kind = op.getName().getStringRef().str();
      if (op.getNumResults()) part.shape = exec::describe(op.getResult(0).getType());
      part.source = sourceOf(place);
      if (auto cost = dyn_cast<CostOpInterface>(op)) part.flops = runs * cost.getFlops();
      part.bytes = runs * movedBytes(op);
      part.call = call;
      part.factors = factorsOf(op);
      if (auto scan = dyn_cast<ir::ScanOp>(op)) {
        part.steps = int64_t(scan.getSteps());
        for (Value same : scan.getInvariants()) part.repeated += exec::byteSize(same.getType());
      }
      parts.push_back(std::move(part));
    }
    ++call;
  }
}

SmallVector<Part> sprig::partsOf(exec::CopyOp copy) {
  auto from = copy.getSource().getDefiningOp<exec::BufferOp>(), to = copy.getTarget().getDefiningOp<exec::BufferOp>();
  std::string source = sourceOf(copy.getLoc());
  if (from.getPlace() == to.getPlace() || source.empty()) return {};
  int64_t bytes = exec::byteSize(from.getType());
  return {{exec::nameOf(copy.getLoc()).str(), "copy", exec::describe(from.getType()), source, 0, 2 * bytes}};
}

SmallVector<Part> sprig::partsOf(exec::DispatchOp dispatch, SymbolTableCollection &symbols) {
  SmallVector<Part> parts;
  auto module = dispatch->getParentOfType<ModuleOp>();
  auto kernelOf = [&](auto use) { return symbols.lookupSymbolIn<exec::KernelOp>(module, use.getKernelAttr()); };
  exec::KernelOp kernel = kernelOf(dispatch);
  unsigned count = 0;
  if (!kernel.isComposite()) {
    addParts(kernel, dispatch.getLoc(), /*runs=*/1, count, parts);
    return parts;
  }
  for (auto call : kernel.getBody().getOps<exec::CallOp>())
    addParts(kernelOf(call), call.getLoc(), call.countRuns(), count, parts);
  return parts;
}
