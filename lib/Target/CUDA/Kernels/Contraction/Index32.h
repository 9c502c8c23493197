// Index arithmetic in 32 bits, of which a GPU needs half the instructions that 64 bits take. For places in tensors of
// less than 2^31 elements. Constants fold.
#pragma once
#include "lib/Target/Kernels/ElementBuilder.h"

namespace sprig::cuda {

class Index32 {
public:
  explicit Index32(ElementBuilder &kernel) : k(kernel) {}

  mlir::Value constant(int64_t value) { return mlir::arith::ConstantIntOp::create(k.b, k.loc, value, 32); }
  mlir::Value of(mlir::Value index) {
    return k.b.createOrFold<mlir::arith::IndexCastOp>(k.loc, k.b.getI32Type(), index);
  }
  /// Of what is not negative.
  mlir::Value index(mlir::Value value) {
    return k.b.createOrFold<mlir::arith::IndexCastUIOp>(k.loc, k.b.getIndexType(), value);
  }

  mlir::Value add(mlir::Value a, mlir::Value b) { return k.b.createOrFold<mlir::arith::AddIOp>(k.loc, a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return k.b.createOrFold<mlir::arith::SubIOp>(k.loc, a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return k.b.createOrFold<mlir::arith::MulIOp>(k.loc, a, b); }
  mlir::Value mul(mlir::Value a, int64_t factor) { return mul(a, constant(factor)); }
  /// Of what is not negative.
  mlir::Value div(mlir::Value a, mlir::Value b) { return k.b.createOrFold<mlir::arith::DivUIOp>(k.loc, a, b); }
  mlir::Value div(mlir::Value a, int64_t divisor) { return div(a, constant(divisor)); }
  mlir::Value rem(mlir::Value a, mlir::Value b) { return k.b.createOrFold<mlir::arith::RemUIOp>(k.loc, a, b); }
  mlir::Value rem(mlir::Value a, int64_t divisor) { return rem(a, constant(divisor)); }
  mlir::Value max(mlir::Value a, int64_t least) {
    return k.b.createOrFold<mlir::arith::MaxSIOp>(k.loc, a, constant(least));
  }
  mlir::Value min(mlir::Value a, int64_t most) {
    return k.b.createOrFold<mlir::arith::MinSIOp>(k.loc, a, constant(most));
  }
  /// The nearest of the places [0, size).
  mlir::Value clamp(mlir::Value a, int64_t size) { return min(max(a, 0), size - 1); }
  /// Whether 0 <= a < bound.
  mlir::Value isBelow(mlir::Value a, mlir::Value bound) {
    return k.b.createOrFold<mlir::arith::CmpIOp>(k.loc, mlir::arith::CmpIPredicate::ult, a, bound);
  }
  mlir::Value isBelow(mlir::Value a, int64_t bound) { return isBelow(a, constant(bound)); }
  /// The indices of position `linear` in a row-major space of these sizes; the first may be beyond its size.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value linear, llvm::ArrayRef<int64_t> sizes) {
    llvm::SmallVector<mlir::Value> indices(sizes.size());
    for (size_t d = sizes.size(); d-- > 1;) {
      indices[d] = rem(linear, sizes[d]);
      linear = div(linear, sizes[d]);
    }
    if (!sizes.empty()) indices[0] = linear;
    return indices;
  }

private:
  ElementBuilder &k;
};

} // namespace sprig::cuda
