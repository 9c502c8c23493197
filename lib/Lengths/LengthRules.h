// How long each dimension of each value is, operation by operation, and what has to be masked before an operation makes
// something of it. For the pass mask-lengths.
#pragma once
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNLoss.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Lengths/Masks.h"
#include "lib/Lengths/Programs.h"

namespace sprig {

class LengthRules {
public:
  using Lengths = llvm::SmallVector<Length>;

  LengthRules(Programs &programs, Masks masks) : programs(programs), masks(masks) {}

  /// Lengths of the dimensions of an argument, from its sizes.
  mlir::LogicalResult setArgument(mlir::BlockArgument argument);
  /// All operations of the main program, up to its return.
  mlir::LogicalResult run();
  /// Of each dimension of a main value; fixed where it does not grow.
  const Lengths &of(mlir::Value value) const { return lengths.find(value)->second; }

private:
  /// A dimension of an operand.
  struct Place {
    unsigned operand;
    int64_t dim;
    bool operator==(const Place &) const = default;
  };

  /// How long a dimension of a result is, where the operation's rule does not tell.
  struct ResultLength {
    unsigned result;
    int64_t dim;
    Length length;
  };

  mlir::LogicalResult visit(mlir::Operation *op);
  /// By the operation's dimension rule; `done`: places that somebody has dealt with, `given`: what came of it.
  mlir::LogicalResult followRule(mlir::Operation *op, llvm::ArrayRef<Place> done = {},
                                 llvm::ArrayRef<ResultLength> given = {});
  bool passesAll(mlir::Operation *op) const;
  mlir::LogicalResult visitRegions(mlir::Operation *op);
  /// Whether an operation's regions check indices or divisors when they run.
  static bool checksInside(mlir::Operation *op);
  void guardIndices(mlir::Operation *op);
  /// Indices (the second operand) into a dimension of that length; one of `outside` is out of range. Zeros behind their
  /// own end.
  void countFromEnd(mlir::Operation *op, Length length, int64_t outside);

  // Operations along a growing dimension (AxisRules.cpp).
  mlir::LogicalResult visitMatmul(ir::MatmulOp op);
  mlir::LogicalResult visitReduce(ir::ReduceOp op);
  bool changesOrder(ir::ReduceOp op) const;
  mlir::LogicalResult visitAlong(mlir::Operation *op, int64_t axis);
  mlir::LogicalResult visitWindows(mlir::Operation *op);
  mlir::LogicalResult visitRecurrent(mlir::Operation *op);
  mlir::LogicalResult visitScan(ir::ScanOp op);

  // Operations that move elements (ShapeRules.cpp).
  mlir::LogicalResult visitReshape(ir::ReshapeOp op);
  mlir::LogicalResult visitBroadcast(ir::BroadcastOp op);
  mlir::LogicalResult visitSlice(ir::SliceOp op);
  mlir::LogicalResult visitConcat(ir::ConcatOp op);
  mlir::LogicalResult visitPad(ir::PadOp op);
  mlir::LogicalResult visitGather(ir::GatherOp op);
  mlir::LogicalResult visitGatherElements(ir::GatherElementsOp op);
  mlir::LogicalResult visitClassIndex(ir::ClassIndexOp op);

  // Constants and numbers (ConstantRules.cpp).
  mlir::LogicalResult visitConstant(ir::ConstantOp op);

  bool grows(mlir::Value value, int64_t dim) const { return !of(value)[size_t(dim)].isFixed(); }
  bool grows(mlir::Value value) const;
  /// Replaces an operand by what is masked behind its length. The fill is of Neutral, or a value that broadcasts.
  template <typename FillT> void maskOperand(mlir::Operation *op, Place place, FillT fill);
  /// The same along all of its dimensions that grow.
  template <typename FillT> void maskAll(mlir::Operation *op, unsigned operand, FillT fill);
  /// Lengths of a result, which must be what was measured.
  mlir::LogicalResult settle(mlir::Value result, Lengths found);
  /// The same from the sizes alone, of all results.
  mlir::LogicalResult settleBySizes(mlir::Operation *op);
  mlir::InFlightDiagnostic refuse(mlir::Operation *op) const { return programs.refuse(op); }

  Programs &programs;
  Masks masks;
  llvm::DenseMap<mlir::Value, Lengths> lengths;
};

} // namespace sprig
