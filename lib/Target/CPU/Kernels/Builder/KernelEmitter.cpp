#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include "dialects/NN/NNStructure.h"
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <algorithm>

using namespace mlir;

const sprig::KernelEmitter *sprig::findKernelEmitter(ir::DispatchOp dispatch) {
  for (const KernelEmitter *emitter : kernelEmitters())
    if (emitter->matches(dispatch)) return emitter;
  return nullptr;
}

static const sprig::KernelEmitter *findOrReport(sprig::ir::DispatchOp dispatch) {
  const sprig::KernelEmitter *emitter = sprig::findKernelEmitter(dispatch);
  if (!emitter) {
    InFlightDiagnostic diagnostic = dispatch.emitOpError("has no kernel for the CPU");
    for (Operation &op : dispatch->getRegion(0).front().without_terminator())
      diagnostic.attachNote(op.getLoc()) << "it holds '" << op.getName() << "'";
  }
  return emitter;
}

FailureOr<sprig::KernelPlan> sprig::planDispatch(ir::DispatchOp dispatch) {
  const KernelEmitter *emitter = findOrReport(dispatch);
  if (!emitter) return failure();
  return emitter->plan(dispatch);
}

sprig::CpuTarget sprig::tunedTarget(ir::DispatchOp dispatch, const CpuTarget &target) {
  CpuTarget tuned = target;
  auto tile = dispatch->getAttrOfType<DenseI64ArrayAttr>("nn.tile");
  if (!tile || tile.size() != 2) return tuned;
  // A dump may be edited by hand: what makes no tile is no choice.
  int64_t rows = tile.asArrayRef()[0], vectors = tile.asArrayRef()[1];
  if (rows < 1 || rows > 14 || !llvm::is_contained({1, 2, 4, 8}, vectors)) return tuned;
  tuned.tileRows = rows;
  tuned.tileVectors = vectors;
  return tuned;
}

FailureOr<func::FuncOp> sprig::emitKernel(ir::DispatchOp dispatch, StringRef name, const CpuTarget &target,
                                          ModuleOp module) {
  const KernelEmitter *emitter = findOrReport(dispatch);
  if (!emitter) return failure();
  MLIRContext *context = dispatch.getContext();
  context->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                       memref::MemRefDialect, scf::SCFDialect, vector::VectorDialect>();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Type index = builder.getIndexType();
  SmallVector<Type> arguments{index, index,
                              MemRefType::get({emitter->plan(dispatch).scratchBytes}, builder.getI8Type()),
                              LLVM::LLVMPointerType::get(context)};
  for (Type type : dispatch->getOperandTypes()) arguments.push_back(bufferType(cast<RankedTensorType>(type)));
  for (Type type : dispatch->getResultTypes()) arguments.push_back(bufferType(cast<RankedTensorType>(type)));
  auto function =
      func::FuncOp::create(builder, dispatch.getLoc(), name, builder.getFunctionType(arguments, builder.getI32Type()));
  builder.setInsertionPointToStart(function.addEntryBlock());
  CpuTarget tuned = tunedTarget(dispatch, target);
  KernelBuilder kernel(builder, function, dispatch, tuned);
  if (failed(emitter->emit(dispatch, kernel))) {
    function.erase();
    return failure();
  }
  // An emitter that has a code of its own to give ends the function itself.
  Block &body = function.getBody().back();
  if (body.empty() || !body.back().hasTrait<OpTrait::IsTerminator>()) kernel.finish();
  return function;
}

void sprig::registerKernelDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  scf::SCFDialect, vector::VectorDialect>();
}

int64_t sprig::chooseGrain(int64_t tiles, int64_t flops, int64_t bytes) {
  if (tiles <= 1) return 1;
  // A hand-off to another thread costs a few microseconds: a share below about 20 µs of one core's work is not worth
  // it.
  constexpr double kFlopsPerShare = 1.0e6, kBytesPerShare = 256.0 * 1024;
  double shares = std::max(flops / kFlopsPerShare, bytes / kBytesPerShare);
  if (shares < 2) return tiles;
  return std::clamp<int64_t>(static_cast<int64_t>((tiles + shares - 1) / shares), 1, tiles);
}
