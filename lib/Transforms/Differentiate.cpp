// The differentiate pass: requests for gradients become expressions.
#define GEN_PASS_DEF_DIFFERENTIATE
#include "lib/Transforms/Passes.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/SpellParts.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "lib/Transforms/Marks.h"
#include "lib/Transforms/Pullback.h"
#include "lib/Transforms/Pushforward.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace sprig;

/// One read of each parameter, so that what is asked of one read is asked of the parameter.
static void uniteReads(func::FuncOp function) {
  llvm::DenseMap<Attribute, ir::GetParamOp> first;
  for (auto read : llvm::make_early_inc_range(function.getBody().front().getOps<ir::GetParamOp>())) {
    ir::GetParamOp &kept = first[read.getParamAttr()];
    if (kept) {
      read.replaceAllUsesWith(kept.getResult());
      read.erase();
    } else {
      kept = read;
    }
  }
}

/// Products read transposed matrices by themselves, so that gradients of weights come in the weights' own layout.
static void takeTransposesIn(func::FuncOp function) {
  function.walk([](ir::MatmulOp product) {
    for (unsigned i = 0; i < 2; ++i) {
      auto transpose = product->getOperand(i).getDefiningOp<ir::TransposeOp>();
      if (!transpose) continue;
      SmallVector<int64_t> last = llvm::to_vector(llvm::seq<int64_t>(0, transpose.getPermutation().size()));
      if (last.size() < 2) continue;
      std::swap(last[last.size() - 1], last[last.size() - 2]);
      if (transpose.getPermutation() != ArrayRef<int64_t>(last)) continue;
      product->setOperand(i, transpose.getOperand());
      if (i == 0)
        product.setTransposeLhs(!product.getTransposeLhs());
      else
        product.setTransposeRhs(!product.getTransposeRhs());
    }
  });
}

static FailureOr<SmallVector<Value>> derivativesOf(OpBuilder &b, ir::GradientOp op) {
  SmallVector<Value> seeds(op.getCotangents());
  bool isOfLoss = seeds.empty();
  if (isOfLoss) seeds.push_back(ir::createSplat(b, op.getLoc(), op.getOutputs()[0].getType(), 1));
  auto gradients = pullback(b, op.getOutputs(), seeds, op.getTargets());
  if (failed(gradients)) return failure();
  if (Operation *loss = op.getOutputs()[0].getDefiningOp(); loss && isOfLoss)
    loss->setAttr(ir::kDifferentiatedAttr, b.getUnitAttr());
  return gradients;
}

// The product u J is linear in u, and the derivative of that by u along v is J v (J. Townsend's "double backward").
// What the first product alone needs dies with the placeholder u.
static FailureOr<SmallVector<Value>> derivativesOf(OpBuilder &b, ir::JvpOp op) {
  if (passesLoop(b, op.getOutputs(), op.getTargets()))
    return pushforward(b, op.getOutputs(), op.getTargets(), op.getTangents());
  SmallVector<Value> placeholders;
  for (Value output : op.getOutputs()) placeholders.push_back(ir::createSplat(b, op.getLoc(), output.getType(), 0));
  auto products = pullback(b, op.getOutputs(), placeholders, op.getTargets());
  if (failed(products)) return failure();
  return pullback(b, *products, op.getTangents(), placeholders);
}

/// The region in place of the operation whose function it is.
static void inlinePart(Operation *op, Region &region) {
  OpBuilder b(op);
  IRMapping mapping;
  Block &block = region.front();
  mapping.map(block.getArguments(), op->getOperands());
  for (Operation &inner : block.without_terminator()) b.clone(inner, mapping);
  op->replaceAllUsesWith(llvm::map_to_vector(block.getTerminator()->getOperands(),
                                             [&](Value value) { return mapping.lookupOrDefault(value); }));
  op->erase();
}

/// Drops what was there for differentiation alone. Inner parts first.
static void dropMarks(func::FuncOp function) {
  bool keeps = function->hasAttr(kKeepMarksAttr);
  function.walk([&](Operation *op) {
    if (keeps && isa<ir::StopGradientOp, ir::CustomGradientOp>(op)) return;
    if (auto stop = dyn_cast<ir::StopGradientOp>(op)) {
      Value value = stop.getOperand();
      stop.replaceAllUsesWith(value);
      stop.erase();
      // A value whose gradient was stopped at some places alone: either way it is itself.
      for (Operation *user : value.getUsers())
        if (auto choice = dyn_cast<ir::SelectOp>(user); choice && choice.getOnTrue() == choice.getOnFalse())
          if (choice.getType() == value.getType()) choice.replaceAllUsesWith(value);
    } else if (auto part = dyn_cast<ir::CheckpointOp>(op)) {
      inlinePart(part, part.getBody());
    } else if (auto part = dyn_cast<ir::CustomGradientOp>(op)) {
      inlinePart(part, part.getForward());
    }
  });
}

namespace {
struct Differentiate : sprig::impl::DifferentiateBase<Differentiate> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal()) return;
    uniteReads(function);
    // In program order, so that a gradient of a gradient meets expressions.
    SmallVector<Operation *> requests;
    function.walk([&](Operation *op) {
      if (isa<ir::GradientOp, ir::JvpOp>(op)) requests.push_back(op);
    });
    if (!requests.empty()) takeTransposesIn(function);
    for (Operation *op : requests) {
      OpBuilder b(op);
      auto gradient = dyn_cast<ir::GradientOp>(op);
      auto derivatives = gradient ? derivativesOf(b, gradient) : derivativesOf(b, cast<ir::JvpOp>(op));
      if (failed(derivatives)) return signalPassFailure();
      op->replaceAllUsesWith(*derivatives);
      op->erase();
    }
    dropMarks(function);
    if (!function->hasAttr(ir::kPassesAttr)) ir::spellParts(function); // no ranks are going to share the samples
    function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op)) op->erase();
    });
  }
};
} // namespace
