// Follows the axis of the samples through a graph, by the dimension rules of its operations. For the
// independent-samples pass. A value has such an axis when slice i of it along that axis depends on sample i alone; what
// no rule tells has none (mixed).
#pragma once
#include "dialects/Interfaces/DimensionRule.h"
#include "dialects/NN/NNRecurrent.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace sprig {

class SampleAxis {
public:
  explicit SampleAxis(int64_t axis) : value(axis) {}
  static SampleAxis none() { return SampleAxis(-1); }  // the same for all samples
  static SampleAxis mixed() { return SampleAxis(-2); } // nothing is known
  bool isNone() const { return value == -1; }
  bool isMixed() const { return value == -2; }
  bool isAxis() const { return value >= 0; }
  int64_t axis() const { return value; }
  bool operator==(const SampleAxis &other) const = default;

private:
  int64_t value;
};

class SampleAxes {
public:
  explicit SampleAxes(int64_t samples) : samples(samples) {}
  /// Those of all values of a function whose arguments have the samples along their first axis.
  SampleAxes(mlir::func::FuncOp function, int64_t samples);
  void set(mlir::Value value, int64_t axis) { axes.insert({value, SampleAxis(axis)}); }
  SampleAxis get(mlir::Value value) const;
  /// Decides about the results of an operation whose operands are decided.
  void visit(mlir::Operation *op);

private:
  void visitScan(ir::ScanOp scan);
  // The factor of an operation's rule that its operands' sample axes are: one that passes, alone in each; none where
  // there is no such axis, or they differ.
  std::optional<unsigned> factorOf(const DimensionRule &rule, mlir::Operation *op) const;
  SampleAxis transfer(const DimensionRule &rule, mlir::Operation *op, unsigned result) const;
  bool sameForAllSamples(mlir::Value value, int64_t axis) const;

  int64_t samples;
  llvm::DenseMap<mlir::Value, SampleAxis> axes;
};

/// The size of the first axis of everything that goes in and out of a function; -1 where they differ, or there is none.
int64_t samplesOf(mlir::func::FuncOp function);

/// Whether sample i of each result of a function is computed from sample i of its inputs alone. Where it is not known,
/// `mixes` becomes the first operation whose rule does not tell, if there is one.
bool hasIndependentSamples(mlir::func::FuncOp function, mlir::Operation **mixes = nullptr);

} // namespace sprig
