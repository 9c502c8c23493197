// What operations touch that look at a part of an operand, or at places that indices name.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/Interfaces/Touch.h"
#include "dialects/NN/ExternalModels.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNShapeOps.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cstdlib>

using namespace mlir;

namespace sprig::ir {
namespace {

int64_t productOf(ArrayRef<int64_t> sizes) { return llvm::product_of(sizes, int64_t(1)); }
int64_t elementBytesOf(RankedTensorType type) { return storageBytes(type.getElementType()); }

Touched touchedPart(SliceOp op) {
  RankedTensorType type = tensorOf(op.getOperand());
  // Trailing dimensions that are taken whole belong to a run; so do neighbours, and steps within a cache line.
  int64_t dim = type.getRank() - 1, run = elementBytesOf(type);
  while (dim >= 0 && op.getSizes()[dim] == type.getDimSize(dim)) run *= op.getSizes()[dim--];
  if (int64_t step = dim < 0 ? 0 : std::abs(op.getSteps()[dim]); step == 1 || (step > 1 && step * run < kCacheLine))
    run *= step * op.getSizes()[dim--];
  return runsIn(type, productOf(op.getSizes().take_front(dim + 1)), run);
}

// Single elements along an axis; those of neighbouring slices come from the same lines.
Touched elementsAlong(RankedTensorType type, int64_t axis, int64_t count) {
  int64_t behind = productOf(type.getShape().drop_front(axis + 1)) * elementBytesOf(type);
  return placesIn(type, count, elementBytesOf(type), type.getDimSize(axis) * std::min(behind, kCacheLine));
}

// The slices behind `depth` dimensions from `first` on.
Touched slicesBehind(RankedTensorType type, int64_t first, int64_t depth, int64_t count) {
  int64_t slice = productOf(type.getShape().drop_front(first + depth)) * elementBytesOf(type);
  return placesIn(type, count, slice, productOf(type.getShape().slice(first, depth)) * slice);
}

// A tuple of indices lies along the last dimension.
int64_t tuplesOf(Value indices) { return productOf(tensorOf(indices).getShape().drop_back()); }

Touched touchedPart(GatherOp op) {
  RankedTensorType type = tensorOf(op.getOperand());
  auto axis = int64_t(op.getAxis());
  return slicesBehind(type, axis, 1,
                      productOf(type.getShape().take_front(axis)) * tensorOf(op.getIndices()).getNumElements());
}
Touched touchedPart(GatherElementsOp op) {
  return elementsAlong(tensorOf(op.getOperand()), int64_t(op.getAxis()), tensorOf(op.getIndices()).getNumElements());
}
Touched touchedPart(GatherNdOp op) {
  return slicesBehind(tensorOf(op.getOperand()), int64_t(op.getBatchDims()),
                      tensorOf(op.getIndices()).getShape().back(), tuplesOf(op.getIndices()));
}

Touched updatesOf(ScatterElementsOp op) {
  return elementsAlong(tensorOf(op.getResult()), int64_t(op.getAxis()), tensorOf(op.getUpdates()).getNumElements());
}
Touched updatesOf(ScatterNdOp op) {
  return slicesBehind(tensorOf(op.getResult()), 0, tensorOf(op.getIndices()).getShape().back(),
                      tuplesOf(op.getIndices()));
}

template <typename OpT> struct PartModel : TouchOpInterface::ExternalModel<PartModel<OpT>, OpT> {
  Touched getTouchedOperand(Operation *op, unsigned index) const {
    return index == 0 ? touchedPart(cast<OpT>(op)) : wholeOf(op->getOperand(index).getType());
  }
};

// The result is written whole, as a copy of the operand; then updates come to their places.
template <typename OpT> struct ScatterModel : TouchOpInterface::ExternalModel<ScatterModel<OpT>, OpT> {
  Touched getTouchedResult(Operation *op, unsigned) const {
    Touched touched = wholeOf(op->getResult(0).getType());
    return touched += updatesOf(cast<OpT>(op));
  }
};

// Each step takes its slice of the inputs, and may look at other places of what is the same in all.
struct ScanModel : TouchOpInterface::ExternalModel<ScanModel, ScanOp> {
  Touched getTouchedOperand(Operation *op, unsigned index) const {
    auto scan = cast<ScanOp>(op);
    unsigned first = scan.getNumInputs() + scan.getNumCarried();
    Touched whole = wholeOf(op->getOperand(index).getType());
    if (index < first) return whole;
    Touched ofStep = touchedOf(scan.getInvariantArguments()[index - first]);
    auto steps = double(scan.getSteps());
    // All steps together touch no byte twice.
    Touched inOrder = ofStep.times(std::min(steps, double(whole.bytes) / double(std::max<int64_t>(ofStep.total(), 1))));
    inOrder.accesses = int64_t(double(ofStep.accesses) * steps);
    return inOrder;
  }
};

} // namespace

void attachTouch(MLIRContext *context) {
  SliceOp::attachInterface<PartModel<SliceOp>>(*context);
  GatherOp::attachInterface<PartModel<GatherOp>>(*context);
  GatherElementsOp::attachInterface<PartModel<GatherElementsOp>>(*context);
  GatherNdOp::attachInterface<PartModel<GatherNdOp>>(*context);
  ScatterElementsOp::attachInterface<ScatterModel<ScatterElementsOp>>(*context);
  ScatterNdOp::attachInterface<ScatterModel<ScatterNdOp>>(*context);
  ScanOp::attachInterface<ScanModel>(*context);
}

} // namespace sprig::ir
