// What a step of a scan computes at a place of a row: each value once, from what lies in memory. For the scan kernels
// of every target, which say where that is and which place they are at.
#pragma once
#include "dialects/NN/ScanStages.h"
#include "lib/Target/Kernels/ElementBuilder.h"
#include <map>

namespace sprig {

/// Emits the loop over a scan's steps, each with its time and the copy that what is carried is read from, 0 first; the
/// other one is written. Gives the copy that the last step has written.
mlir::Value loopOverTime(ElementBuilder &builder, ir::ScanOp scan,
                         llvm::function_ref<void(mlir::Value time, mlir::Value parity)> step);

class ScanRow {
public:
  virtual ~ScanRow() = default;

protected:
  ScanRow(ElementBuilder &builder, const ir::ScanStages &stages) : stages(stages), builder(builder) {}

  /// What was computed at another place is not known here.
  void startPlace() { known.clear(); }
  /// The value at the place; where it has several columns, `shift` of them further.
  mlir::Value at(mlir::Value value, int64_t shift = 0);

  /// Calls `body` for what makes a value and can be computed place by place: itself, or the parts that are joined in it
  /// from so many columns on.
  void forParts(mlir::Value value, llvm::function_ref<void(mlir::Value part, int64_t column)> body) const;

  /// What lies in memory: an argument of the step, a product, a reduction, or what an earlier stage has kept.
  virtual mlir::Value load(mlir::Value value, int64_t shift) = 0;
  /// A scalar as `load` gives values.
  virtual mlir::Value uniform(mlir::Value scalar) { return scalar; }

  const ir::ScanStages &stages;
  unsigned currentStage = 0;

private:
  bool isInMemory(mlir::Value value) const;
  mlir::Value compute(mlir::Value value, int64_t shift);

  ElementBuilder &builder;
  std::map<std::pair<const void *, int64_t>, mlir::Value> known;
};

} // namespace sprig
