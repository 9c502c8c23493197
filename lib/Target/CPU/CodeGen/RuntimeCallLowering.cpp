// Rewrites around functions that the processor does not have: calls into the runtime's table, and multiply-adds for
// instruction sets without FMA.
#include "lib/Target/CPU/CodeGen/KernelLowering.h"
#include "lib/Target/CPU/CodeGen/ImageLinker.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

static LLVM::LLVMFuncOp declareCall(Operation *from, StringRef symbol, LLVM::LLVMFunctionType type) {
  auto module = from->getParentOfType<ModuleOp>();
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol)) return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::LLVMFuncOp::create(builder, from->getLoc(), symbol, type);
}

namespace {
// The double-precision operation as a call of a function of the table.
template <typename Op> struct CallRuntime : ConvertOpToLLVMPattern<Op> {
  CallRuntime(const LLVMTypeConverter &types, StringRef symbol, PatternBenefit benefit)
      : ConvertOpToLLVMPattern<Op>(types, benefit), symbol(symbol) {
    assert(isRuntimeCall(symbol) && "not in RuntimeCalls.def");
  }

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF64()) return failure();
    Location loc = op.getLoc();
    Type f64 = rewriter.getF64Type();
    SmallVector<Type> parameters(op->getNumOperands(), f64);
    auto function = declareCall(op, symbol, LLVM::LLVMFunctionType::get(f64, parameters));
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!vector) {
      rewriter.replaceOpWithNewOp<LLVM::CallOp>(op, function, adaptor.getOperands());
      return success();
    }
    if (vector.getRank() != 1) return failure();
    Value result = LLVM::PoisonOp::create(rewriter, loc, this->getTypeConverter()->convertType(vector));
    for (int64_t lane = 0; lane < vector.getNumElements(); ++lane) {
      Value position = LLVM::ConstantOp::create(rewriter, loc, rewriter.getI64IntegerAttr(lane));
      SmallVector<Value> arguments;
      for (Value operand : adaptor.getOperands())
        arguments.push_back(LLVM::ExtractElementOp::create(rewriter, loc, operand, position));
      Value value = LLVM::CallOp::create(rewriter, loc, function, arguments).getResult();
      result = LLVM::InsertElementOp::create(rewriter, loc, result, value, position);
    }
    rewriter.replaceOp(op, result);
    return success();
  }

  StringRef symbol;
};

template <typename Op> struct SplitMultiplyAdd : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto operands = op->getOperands();
    Value product = arith::MulFOp::create(rewriter, op.getLoc(), operands[0], operands[1]);
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, product, operands[2]);
    return success();
  }
};
} // namespace

void sprig::cpu::populateRuntimeCallPatterns(const LLVMTypeConverter &types, RewritePatternSet &patterns) {
  // Above the upstream lowerings, some of which approximate (expm1 as exp - 1).
  constexpr unsigned benefit = 10;
  auto add = [&]<typename Op>(StringRef symbol) { patterns.add<CallRuntime<Op>>(types, symbol, benefit); };
  add.operator()<math::PowFOp>("pow");
  add.operator()<math::ExpOp>("exp");
  add.operator()<math::ExpM1Op>("expm1");
  add.operator()<math::LogOp>("log");
  add.operator()<math::Log1pOp>("log1p");
  add.operator()<math::SinOp>("sin");
  add.operator()<math::CosOp>("cos");
  add.operator()<math::TanOp>("tan");
  add.operator()<math::AsinOp>("asin");
  add.operator()<math::AcosOp>("acos");
  add.operator()<math::AtanOp>("atan");
  add.operator()<math::SinhOp>("sinh");
  add.operator()<math::CoshOp>("cosh");
  add.operator()<math::TanhOp>("tanh");
  add.operator()<math::AsinhOp>("asinh");
  add.operator()<math::AcoshOp>("acosh");
  add.operator()<math::AtanhOp>("atanh");
  add.operator()<math::ErfOp>("erf");
}

void sprig::cpu::populateSplitMultiplyAddPatterns(RewritePatternSet &patterns) {
  patterns.add<SplitMultiplyAdd<math::FmaOp>, SplitMultiplyAdd<vector::FMAOp>>(patterns.getContext());
}
