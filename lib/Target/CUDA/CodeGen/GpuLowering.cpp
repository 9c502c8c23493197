#include "lib/Target/CUDA/CodeGen/GpuLowering.h"
#include "lib/Target/Math/ExpandMath.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

// What the conversion does not take as it is.
static RewritePatternSet expansions(MLIRContext *context) {
  RewritePatternSet patterns(context);
  populateSprigMathPatterns(patterns);
  populateSprigLibraryMathPatterns(patterns);
  vector::populateVectorMaskOpLoweringPatterns(patterns);
  vector::populateVectorMaskMaterializationPatterns(patterns, /*force32BitVectorIndices=*/true);
  vector::populateVectorBitCastLoweringPatterns(patterns);
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  vector::populateVectorShapeCastLoweringPatterns(patterns);
  vector::populateVectorTransferLoweringPatterns(patterns, /*maxTransferRank=*/1);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  vector::populateVectorRankReducingFMAPattern(patterns);
  vector::populateVectorFromElementsUnrollPatterns(patterns);
  memref::populateExpandStridedMetadataPatterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  populateGpuShufflePatterns(patterns);
  return patterns;
}

static LowerToLLVMOptions loweringOptions(MLIRContext *context) {
  LowerToLLVMOptions options(context);
  // A descriptor would be as many parameters as a buffer has sizes and strides, all of which are constants.
  options.useBarePtrCallConv = true;
  return options;
}

static RewritePatternSet conversions(MLIRContext *context, LLVMTypeConverter &types) {
  configureGpuToNVVMTypeConverter(types);
  types.addConversion([](nvgpu::DeviceAsyncTokenType type) -> Type { return IntegerType::get(type.getContext(), 32); });
  // Above those for gpu, which would call NVIDIA's device library for functions that have an instruction.
  constexpr unsigned kInstructions = 10, kGpu = 1;
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns, /*approximateLog1p=*/false, kInstructions);
  ub::populateUBToLLVMConversionPatterns(types, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
  populateVectorToLLVMConversionPatterns(types, patterns, /*reassociateFPReductions=*/false,
                                         /*force32BitVectorIndices=*/true);
  populateNVGPUToNVVMConversionPatterns(types, patterns);
  populateGpuToNVVMConversionPatterns(types, patterns, kGpu);
  return patterns;
}

GpuLowering::GpuLowering(MLIRContext *context)
    : types(context, loweringOptions(context)), expand(expansions(context)), convert(conversions(context, types)) {}

// Functions that are not expanded: their instructions would be a library's, or an approximation.
static LogicalResult refuseLibraryFunctions(gpu::GPUModuleOp module) {
  bool refused = false;
  module.walk([&](Operation *op) {
    bool isFunction =
        isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp, math::Log2Op, math::Log10Op, math::Log1pOp,
            math::PowFOp, math::FPowIOp, math::SinOp, math::CosOp, math::TanOp, math::AsinOp, math::AcosOp,
            math::AtanOp, math::Atan2Op, math::SinhOp, math::CoshOp, math::TanhOp, math::AsinhOp, math::AcoshOp,
            math::AtanhOp, math::ErfOp, math::ErfcOp, math::CbrtOp, math::RsqrtOp, arith::RemFOp>(op);
    if (!isFunction) return;
    op->emitError("'") << op->getName() << "' of " << getElementTypeOrSelf(op->getResult(0).getType())
                       << " has no code for --target cuda yet";
    refused = true;
  });
  return failure(refused);
}

// The size of a block that is known is the size that it has: more than the limit that the conversion makes of it.
static void requireBlockSizes(gpu::GPUModuleOp module) {
  StringRef most = NVVM::NVVMDialect::getMaxntidAttrName(), exact = NVVM::NVVMDialect::getReqntidAttrName();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (Attribute size = function->removeAttr(most)) function->setAttr(exact, size);
}

// The conversion makes dynamic shared memory a variable of no size, which PTX has as one that is declared and never
// defined. Texts of several modules become one, in which each kernel's has a name of its own.
static void declareDynamicMemory(gpu::GPUModuleOp module) {
  auto functions = module.getOps<LLVM::LLVMFuncOp>();
  auto kernel = llvm::find_if(functions, [](LLVM::LLVMFuncOp function) { return !function.isExternal(); });
  for (auto global : llvm::to_vector(module.getOps<LLVM::GlobalOp>())) {
    auto array = dyn_cast<LLVM::LLVMArrayType>(global.getType());
    if (kernel == functions.end() || !array || array.getNumElements()) continue;
    StringAttr name = StringAttr::get(module.getContext(), (*kernel).getSymName() + "_dynamic");
    if (failed(SymbolTable::replaceAllSymbolUses(global, name, module))) continue;
    global.setSymNameAttr(name);
    global.setLinkage(LLVM::Linkage::External);
  }
}

namespace {
// LLVM joins loads of 4 elements with gaps between them, and reads what lies in a gap or behind the last one as far as
// the alignment of the buffer goes. Of a buffer that ends amid such a vector it hears no more than its size says.
class BufferAlignments {
public:
  explicit BufferAlignments(gpu::GPUModuleOp module) {
    for (auto function : module.getOps<gpu::GPUFuncOp>())
      for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
        if (auto buffer = dyn_cast<MemRefType>(type); buffer && buffer.hasStaticShape())
          if (uint64_t bytes = bytesOf(buffer); bytes % kVectorBytes)
            known.push_back({function.getName().str(), unsigned(i), uint64_t(1) << llvm::countr_zero(bytes)});
  }

  void set(gpu::GPUModuleOp module) const {
    Builder b(module.getContext());
    for (const Known &each : known)
      if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(each.function))
        function.setArgAttr(each.argument, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(each.alignment));
  }

private:
  static constexpr uint64_t kVectorBytes = 16;
  static uint64_t bytesOf(MemRefType buffer) {
    return uint64_t(buffer.getNumElements()) * llvm::divideCeil(buffer.getElementTypeBitWidth(), 8);
  }
  struct Known {
    std::string function;
    unsigned argument;
    uint64_t alignment;
  };
  std::vector<Known> known;
};
} // namespace

LogicalResult GpuLowering::run(gpu::GPUModuleOp module) const {
  BufferAlignments alignments(module);
  if (failed(applyPatternsGreedily(module, expand))) return module.emitError("kernels cannot be expanded for the GPU");
  if (failed(refuseLibraryFunctions(module))) return failure();
  LLVMConversionTarget legal(*module.getContext());
  legal.addLegalDialect<NVVM::NVVMDialect>();
  legal.addLegalOp<gpu::GPUModuleOp>();
  if (failed(applyFullConversion(module, legal, convert)))
    return module.emitError("kernels cannot be lowered for the GPU");
  alignments.set(module);
  requireBlockSizes(module);
  declareDynamicMemory(module);
  return success();
}

void sprig::cuda::registerGpuDialects(DialectRegistry &registry) {
  registry
      .insert<arith::ArithDialect, cf::ControlFlowDialect, gpu::GPUDialect, math::MathDialect, memref::MemRefDialect,
              NVVM::NVVMDialect, nvgpu::NVGPUDialect, scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}
