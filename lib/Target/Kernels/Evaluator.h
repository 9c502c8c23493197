// Computes elements of a dispatch's values at positions of its loops: on demand, from the leaves, each once per scope.
// For the emitters of loops of every target. Positions give every dimension a base and a step per lane; a value whose
// position has no step is a scalar, else a vector of the evaluator's lanes.
#pragma once
#include "lib/Target/Kernels/ElementBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace sprig::ir {
class ClassIndexOp;
class ConvFilterGradOp;
class ConvOp;
class ConvTransposeOp;
class GatherElementsOp;
class GatherNdOp;
class GatherOp;
class InRangeOp;
class IotaOp;
class MatmulOp;
class PadOp;
class PoolGradOp;
class PoolOp;
} // namespace sprig::ir

namespace sprig {

/// Lane l of a dimension is at base + l * step.
struct Coordinate {
  mlir::Value base;
  int64_t step = 0;
};
using Position = llvm::SmallVector<Coordinate>;

/// Whether lanes lie at different places.
inline bool anyStep(llvm::ArrayRef<Coordinate> position) {
  return llvm::any_of(position, [](const Coordinate &c) { return c.step != 0; });
}

/// A sliding window over the spatial dimensions of an operand.
struct Window {
  llvm::ArrayRef<int64_t> sizes, strides, dilations, padding, inputs, outputs;
};
/// Gets a tap's indices in the window and its place in the operand, and the carried values; gives the next ones.
using WindowBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange taps, mlir::ValueRange places,
                                                                     mlir::ValueRange carried)>;

class Evaluator {
public:
  /// Of vectors of so many lanes; 1: of scalars.
  Evaluator(ElementBuilder &kernel, int64_t lanes);
  virtual ~Evaluator() = default;

  /// The compute value at a position (as long as the value's position shape).
  mlir::Value at(mlir::Value value, llvm::ArrayRef<Coordinate> position);
  mlir::Value vectorAt(mlir::Value value, llvm::ArrayRef<Coordinate> position) { return asVector(at(value, position)); }
  /// A scalar as a vector, where the evaluator has lanes.
  mlir::Value asVector(mlir::Value value);

  /// How many lanes count from now on; the others read nothing and report nothing.
  void setActive(int64_t lanes) { active = lanes; }
  int64_t activeLanes() const { return active; }
  /// The mask of the active lanes; null when all are.
  mlir::Value activeMask();

  /// Makes a value known in this scope, whatever the position: row values.
  void define(mlir::Value value, mlir::Value computed) { known[value] = computed; }

  /// Values computed after the constructor are forgotten by the destructor: one per emitted block.
  class Scope {
  public:
    explicit Scope(Evaluator &evaluator) : evaluator(evaluator), memo(evaluator.memo), known(evaluator.known) {}
    ~Scope() {
      evaluator.memo = std::move(memo);
      evaluator.known = std::move(known);
    }

  private:
    Evaluator &evaluator;
    std::map<std::vector<std::pair<const void *, int64_t>>, mlir::Value> memo;
    llvm::DenseMap<mlir::Value, mlir::Value> known;
  };

  /// The position of an operand that broadcasts to a value at `position`.
  Position broadcastPosition(mlir::Value operand, llvm::ArrayRef<Coordinate> position);

  /// The taps of the window at `outputs` that lie in the operand, in row-major order.
  llvm::SmallVector<mlir::Value> windowLoop(const Window &window, llvm::ArrayRef<Coordinate> outputs,
                                            mlir::ValueRange initial, WindowBody body, size_t dim = 0,
                                            llvm::SmallVector<mlir::Value> taps = {},
                                            llvm::SmallVector<mlir::Value> places = {});

  ElementBuilder &k;
  const int64_t lanes;
  mlir::Value zero; // one index constant that dominates all

protected:
  /// A value's shape as positions count it.
  virtual llvm::SmallVector<int64_t> positionShape(mlir::Value value) const {
    return llvm::SmallVector<int64_t>(shapeOf(value));
  }
  /// Which of a position's coordinates runs along the axis of an iota.
  virtual size_t coordinateOf(ir::IotaOp iota) const;
  /// A value that lies in memory of the kernel already; null where it has to be computed or is an operand.
  virtual mlir::Value stored(mlir::Value value, llvm::ArrayRef<Coordinate> position) { return {}; }
  static bool isUniform(llvm::ArrayRef<Coordinate> position) {
    return llvm::all_of(position, [](const Coordinate &c) { return c.step == 0; });
  }

private:
  mlir::Value compute(mlir::Value value, llvm::ArrayRef<Coordinate> position);
  mlir::Value loadLeaf(mlir::BlockArgument leaf, llvm::ArrayRef<Coordinate> position);
  mlir::Value elementwise(mlir::Operation *op, llvm::ArrayRef<Coordinate> position);
  mlir::Value view(mlir::Operation *op, llvm::ArrayRef<Coordinate> position);
  mlir::Value generator(mlir::Operation *op, llvm::ArrayRef<Coordinate> position);
  mlir::Value pool(ir::PoolOp op, llvm::ArrayRef<Coordinate> position);
  mlir::Value pad(ir::PadOp op, llvm::ArrayRef<Coordinate> position);
  mlir::Value gather(ir::GatherOp op, llvm::ArrayRef<Coordinate> position);
  mlir::Value gatherElements(ir::GatherElementsOp op, llvm::ArrayRef<Coordinate> position);
  mlir::Value gatherNd(ir::GatherNdOp op, llvm::ArrayRef<Coordinate> position);
  mlir::Value matmul(ir::MatmulOp op, llvm::ArrayRef<Coordinate> position);
  mlir::Value conv(ir::ConvOp op, llvm::ArrayRef<Coordinate> position);
  mlir::Value convTranspose(ir::ConvTransposeOp op, llvm::ArrayRef<Coordinate> position);
  mlir::Value convFilterGrad(ir::ConvFilterGradOp op, llvm::ArrayRef<Coordinate> position);
  mlir::Value poolGrad(ir::PoolGradOp op, llvm::ArrayRef<Coordinate> position);
  mlir::Value emptyElement(mlir::Operation *op, int64_t size, mlir::Value index);
  mlir::Value positiveRemainder(mlir::Value value, int64_t size);
  /// Reports arguments that an operation does not take, and puts others in their place where they would do harm.
  void check(mlir::Operation *op, llvm::MutableArrayRef<mlir::Value> arguments);
  void checkClass(ir::ClassIndexOp op, mlir::Value index);
  void checkRange(ir::InRangeOp op, mlir::Value x);
  mlir::Value checkDivisor(mlir::Operation *op, mlir::Value divisor);
  /// A constant of a value's type.
  mlir::Value likeOf(mlir::Value model, double value);
  /// Whether a condition holds in any lane that counts; leaves `found` with those lanes alone.
  mlir::Value isAny(mlir::Value &found);
  /// The largest of the integers where `found` holds.
  mlir::Value largest(mlir::Value found, mlir::Value integers);
  mlir::Value perLane(llvm::ArrayRef<Coordinate> position,
                      llvm::function_ref<mlir::Value(llvm::ArrayRef<Coordinate>)> one);

  int64_t active;
  std::map<std::vector<std::pair<const void *, int64_t>>, mlir::Value> memo;
  llvm::DenseMap<mlir::Value, mlir::Value> known;
  friend class Scope;
};

/// A run-time index into a dimension of `size`: checked, counted from the end where negative; 0 when out of range.
mlir::Value checkedIndex(ElementBuilder &kernel, mlir::Operation *op, mlir::Value index, int64_t size);
/// The number of an operation within its dispatch, by which the status names it.
int32_t operationNumber(mlir::Operation *op);

} // namespace sprig
