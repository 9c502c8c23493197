#include "lib/Target/CPU/CodeGen/KernelLowering.h"
#include "lib/Target/Math/ExpandMath.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

// AVX-512 multiplies by powers of two in one instruction (vscalefps), which is slow where it rounds to a denormal, but
// not far below.
static Value timesPowerByScale(ScalarBuilder &s, Value x, Value n) {
  constexpr int64_t kWidth = 16;
  auto type = dyn_cast<VectorType>(x.getType());
  if (!type || type.getNumElements() % kWidth) return timesPowerByBits(s, x, n);
  auto part = VectorType::get({kWidth}, s.b.getF32Type());
  Type i16 = s.b.getI16Type(), i32 = s.b.getI32Type();
  Value all = s.constant(i16, s.b.getIntegerAttr(i16, -1)), rounding = s.constant(i32, s.b.getI32IntegerAttr(4));
  auto scale = [&](Value a, Value power) {
    return LLVM::CallIntrinsicOp::create(s.b, s.loc, part, s.b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
                                         ValueRange{a, power, a, all, rounding})
        .getResult(0);
  };
  if (type.getNumElements() == kWidth) return scale(x, n);
  Value result = x;
  for (int64_t first = 0; first < type.getNumElements(); first += kWidth) {
    auto slice = [&](Value vector) -> Value {
      return vector::ExtractStridedSliceOp::create(s.b, s.loc, vector, ArrayRef<int64_t>{first},
                                                   ArrayRef<int64_t>{kWidth}, ArrayRef<int64_t>{1});
    };
    result = vector::InsertStridedSliceOp::create(s.b, s.loc, scale(slice(x), slice(n)), result,
                                                  ArrayRef<int64_t>{first}, ArrayRef<int64_t>{1});
  }
  return result;
}

// What the conversion does not take as it is: f32 functions, masks from counts, transfers, strided slices, subviews.
static RewritePatternSet expansions(MLIRContext *context, const CpuArch &target) {
  RewritePatternSet patterns(context);
  bool scales = target.vectorBytes == 64; // AVX-512
  populateSprigMathPatterns(patterns, scales ? timesPowerByScale : timesPowerByBits);
  vector::populateVectorMaskOpLoweringPatterns(patterns);
  // Counts fit 32 bits, and comparing 32-bit lanes needs half of the registers.
  vector::populateVectorMaskMaterializationPatterns(patterns, /*force32BitVectorIndices=*/true);
  vector::populateVectorBitCastLoweringPatterns(patterns);
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  vector::populateVectorShapeCastLoweringPatterns(patterns);
  vector::populateVectorInterleaveLoweringPatterns(patterns);
  vector::populateVectorTransferLoweringPatterns(patterns, /*maxTransferRank=*/1);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  vector::populateVectorRankReducingFMAPattern(patterns);
  vector::populateVectorGatherLoweringPatterns(patterns);
  memref::populateExpandStridedMetadataPatterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  if (!target.fma) populateSplitMultiplyAddPatterns(patterns);
  return patterns;
}

/// The integers of a bf16's bits, or of a vector of them; null for other types.
static Type bitsOfBFloat(Type type) {
  if (!getElementTypeOrSelf(type).isBF16()) return {};
  Type bits = IntegerType::get(type.getContext(), 16);
  if (auto vector = dyn_cast<VectorType>(type)) return vector.clone(bits);
  return bits;
}

static Value asBits(OpBuilder &b, Location loc, Value bfloat) {
  Type bits = bitsOfBFloat(bfloat.getType());
  if (auto cast = bfloat.getDefiningOp<LLVM::BitcastOp>(); cast && cast.getArg().getType() == bits)
    return cast.getArg();
  return LLVM::BitcastOp::create(b, loc, bits, bfloat);
}

static void loadAsBits(Operation *op) {
  OpBuilder b(op);
  Type type = op->getResult(0).getType(), bits = bitsOfBFloat(type);
  if (isa<LLVM::MaskedLoadOp>(op))
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get().getType() == type) operand.set(asBits(b, op->getLoc(), operand.get()));
  SmallVector<Operation *> readers(op->getResult(0).getUsers());
  op->getResult(0).setType(bits);
  b.setInsertionPointAfter(op);
  auto back = LLVM::BitcastOp::create(b, op->getLoc(), type, op->getResult(0));
  op->getResult(0).replaceAllUsesExcept(back, back);
  // Who wants the bits gets them: a load that is only read as bf16 would become one of bf16 again.
  for (Operation *reader : readers)
    if (isa<LLVM::BitcastOp>(reader) && reader->getResult(0).getType() == bits) {
      reader->replaceAllUsesWith(op->getResults());
      reader->erase();
    }
}

// Loads and stores of bf16 as those of its 16 bits. The emitters compute on bits and f32 alone, but LLVM moves the bit
// operations after phis and selects, or before the elements that a mask leaves, whose bf16 values it then widens and
// rounds by a call into the compiler's library.
static void moveBFloatsAsBits(ModuleOp module) {
  SmallVector<Operation *> loads, stores;
  module.walk([&](Operation *op) {
    if (isa<LLVM::LoadOp, LLVM::MaskedLoadOp>(op) && bitsOfBFloat(op->getResult(0).getType())) loads.push_back(op);
    if (isa<LLVM::StoreOp, LLVM::MaskedStoreOp>(op) && bitsOfBFloat(op->getOperand(0).getType())) stores.push_back(op);
  });
  for (Operation *op : loads) loadAsBits(op);
  for (Operation *op : stores) {
    OpBuilder b(op);
    op->setOperand(0, asBits(b, op->getLoc(), op->getOperand(0)));
  }
}

// Buffers whose shapes are known are descriptors of constants, and most of them are taken apart again.
static void foldDescriptors(ModuleOp module) {
  SmallVector<LLVM::InsertValueOp> inserts;
  module.walk([&](Operation *op) {
    if (auto insert = dyn_cast<LLVM::InsertValueOp>(op)) inserts.push_back(insert);
    SmallVector<OpFoldResult> folded;
    if (!isa<LLVM::ExtractValueOp>(op) || failed(op->fold(folded)) || folded.empty()) return;
    auto value = dyn_cast<Value>(folded.front());
    if (!value) return;
    op->replaceAllUsesWith(ValueRange(value));
    op->erase();
  });
  for (LLVM::InsertValueOp insert : llvm::reverse(inserts))
    if (insert->use_empty()) insert.erase();
}

static LowerToLLVMOptions loweringOptions(MLIRContext *context) {
  LowerToLLVMOptions options(context);
  options.useBarePtrCallConv = true;
  return options;
}

static RewritePatternSet conversions(MLIRContext *context, const LLVMTypeConverter &types) {
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns, /*approximateLog1p=*/false);
  populateRuntimeCallPatterns(types, patterns);
  ub::populateUBToLLVMConversionPatterns(types, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
  populateVectorToLLVMConversionPatterns(types, patterns, /*reassociateFPReductions=*/false,
                                         /*force32BitVectorIndices=*/true);
  populateFuncToLLVMConversionPatterns(types, patterns);
  return patterns;
}

KernelLowering::KernelLowering(MLIRContext *context, const CpuArch &target)
    : types(context, loweringOptions(context)), expand(expansions(context, target)),
      convert(conversions(context, types)) {}

LogicalResult KernelLowering::run(ModuleOp module) const {
  GreedyRewriteConfig once;
  once.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled); // regions are single blocks
  if (failed(applyPatternsGreedily(module, expand, once)))
    return module.emitError("kernels cannot be expanded for LLVM");
  LLVMConversionTarget legal(*module.getContext());
  legal.addLegalOp<ModuleOp>();
  ConversionConfig unfolded;
  unfolded.foldingMode = DialectConversionFoldingMode::Never; // that has been done
  if (failed(applyFullConversion(module, legal, convert, unfolded)))
    return module.emitError("kernels cannot be lowered to LLVM");
  foldDescriptors(module);
  moveBFloatsAsBits(module);
  return success();
}

LogicalResult sprig::cpu::lowerKernelsToLLVM(ModuleOp module, const CpuArch &target) {
  return KernelLowering(module.getContext(), target).run(module);
}
