// Arguments, tiles and errors of kernels.
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

KernelBuilder::KernelBuilder(OpBuilder &builder, func::FuncOp function, kernel::DispatchOp dispatch,
                             const CpuArch &target)
    : ElementBuilder(builder, dispatch.getLoc(), {target.fma, target.f16c}), target(target), function(function),
      dispatch(dispatch) {}

Value KernelBuilder::scratchBuffer(int64_t byteOffset, MemRefType type) {
  return memref::ViewOp::create(b, loc, type, scratch(), index(byteOffset), ValueRange{});
}

void KernelBuilder::forTiles(llvm::function_ref<void(Value)> body) { loop(tileBegin(), tileEnd(), 1, body); }

Value KernelBuilder::innerFirstIfWhole(Value tile, int64_t outer, int64_t inner) {
  Value isWhole =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, sub(tileEnd(), tileBegin()), index(outer * inner));
  Value other = add(mul(rem(tile, outer), inner), div(tile, outer));
  return arith::SelectOp::create(b, loc, isWhole, other, tile);
}

void KernelBuilder::reportIf(Value condition, int32_t code, int32_t op, Value value, Value bound) {
  Type i32 = b.getI32Type();
  if (!errorFlag) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.getBody().front());
    errorFlag = memref::AllocaOp::create(b, loc, MemRefType::get({}, i32));
    memref::StoreOp::create(b, loc, arith::ConstantIntOp::create(b, loc, 0, 32), errorFlag);
  }
  ifThen(condition, [&] {
    Value flag = memref::LoadOp::create(b, loc, errorFlag);
    Value none = arith::ConstantIntOp::create(b, loc, 0, 32);
    Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, flag, none);
    ifThen(first, [&] {
      auto field = [&](int64_t offset, Value content) {
        Value address = LLVM::GEPOp::create(b, loc, status().getType(), b.getI8Type(), status(),
                                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
        LLVM::StoreOp::create(b, loc, content, address);
      };
      Value codeValue = arith::ConstantIntOp::create(b, loc, code, 32);
      field(0, codeValue);
      field(4, arith::ConstantIntOp::create(b, loc, op, 32));
      field(8, value);
      field(16, bound);
      memref::StoreOp::create(b, loc, codeValue, errorFlag);
    });
  });
}

void KernelBuilder::finish() {
  Value code =
      errorFlag ? Value(memref::LoadOp::create(b, loc, errorFlag)) : Value(arith::ConstantIntOp::create(b, loc, 0, 32));
  func::ReturnOp::create(b, loc, code);
}
