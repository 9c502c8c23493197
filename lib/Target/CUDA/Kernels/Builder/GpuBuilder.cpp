#include "lib/Target/CUDA/Kernels/Builder/GpuBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "runtime/include/sprig/rt/kernel.h"
#include "llvm/Support/MathExtras.h"
#include <cstddef>

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

GpuBuilder::GpuBuilder(OpBuilder &builder, gpu::GPUFuncOp function, unsigned operands, unsigned results,
                       const CudaArch &arch, int32_t firstOperation)
    : ElementBuilder(builder, function.getLoc(), {}), function(function),
      threads(function.getKnownBlockSizeAttr().asArrayRef().front()), arch(arch), firstOperation(firstOperation),
      operands(operands) {
  vectorAlignment = 16;
  ArrayRef<BlockArgument> arguments = function.getBody().front().getArguments();
  buffers.assign(arguments.begin(), arguments.begin() + operands + results);
  threadId = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
}

Value GpuBuilder::scratchBuffer(int64_t byteOffset, MemRefType type) {
  return memref::ViewOp::create(b, loc, type, argument(2), index(byteOffset), ValueRange());
}

Value GpuBuilder::sharedBuffer(ArrayRef<int64_t> shape, Type element) {
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space);
  return function.addWorkgroupAttribution(type, loc);
}

Value GpuBuilder::dynamicSharedBuffer(int64_t elements, Type element, int64_t byteOffset) {
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto typeOf = [&](int64_t size, Type type) {
    return MemRefType::get({size}, type, MemRefLayoutAttrInterface(), space);
  };
  uint32_t bytes = byteOffset + elements * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  dynamicSharedBytes = std::max(dynamicSharedBytes, bytes);
  Value all = gpu::DynamicSharedMemoryOp::create(b, loc, typeOf(ShapedType::kDynamic, b.getI8Type()));
  return memref::ViewOp::create(b, loc, typeOf(elements, element), all, index(byteOffset), ValueRange());
}

Value GpuBuilder::sharedView(int64_t byteOffset, MemRefType type) {
  auto bytes = [&](int64_t count) {
    return MemRefType::get({count}, b.getI8Type(), MemRefLayoutAttrInterface(), type.getMemorySpace());
  };
  if (!sharedArena) {
    constexpr int64_t kAlignment = 128;
    sharedArena = function.addWorkgroupAttribution(bytes(0), loc);
    function.setWorkgroupAttributionAttr(function.getNumWorkgroupAttributions() - 1,
                                         LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(kAlignment));
  }
  int64_t end = byteOffset + type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  end = std::max(end, cast<MemRefType>(sharedArena.getType()).getNumElements());
  sharedArena.setType(bytes(end));
  return memref::ViewOp::create(b, loc, type, sharedArena, index(byteOffset), ValueRange());
}

void GpuBuilder::barrier() { gpu::BarrierOp::create(b, loc); }

void GpuBuilder::copyAsync(Value from, Value fromIndex, Value to, Value toIndex, int64_t width, Value exists) {
  Value count;
  if (exists) {
    fromIndex = arith::SelectOp::create(b, loc, exists, fromIndex, index(0));
    count = arith::SelectOp::create(b, loc, exists, index(width), index(0));
  }
  Type token = nvgpu::DeviceAsyncTokenType::get(b.getContext());
  nvgpu::DeviceAsyncCopyOp::create(b, loc, token, to, toIndex, from, fromIndex, b.getIndexAttr(width), count,
                                   width == 4 ? b.getUnitAttr() : UnitAttr());
}

void GpuBuilder::endCopyGroup() { NVVM::CpAsyncCommitGroupOp::create(b, loc); }

void GpuBuilder::waitForCopies(int64_t groupsLeft) { NVVM::CpAsyncWaitGroupOp::create(b, loc, groupsLeft); }

// No instruction, but one that LLVM moves nothing across.
Value GpuBuilder::pin(Value value) {
  auto op = LLVM::InlineAsmOp::create(b, loc, value.getType(), ValueRange{value}, "", "=f,0", /*has_side_effects=*/true,
                                      /*is_align_stack=*/false, LLVM::TailCallKind::None, LLVM::AsmDialectAttr(),
                                      ArrayAttr());
  return op->getResult(0);
}

// Shuffles move 32 bits.
Value GpuBuilder::shuffleXor(Value value, int64_t offset) {
  Type type = value.getType(), i32 = b.getI32Type();
  unsigned width = type.getIntOrFloatBitWidth();
  auto word = [&](Value bits) -> Value {
    return gpu::ShuffleOp::create(b, loc, bits, offset, kWarp, gpu::ShuffleMode::XOR).getShuffleResult();
  };
  if (type.isF32() || type == i32) return word(value);
  if (width < 32) return arith::TruncIOp::create(b, loc, type, word(arith::ExtUIOp::create(b, loc, i32, value)));
  Type i64 = b.getI64Type();
  Value bits = type == i64 ? value : Value(arith::BitcastOp::create(b, loc, i64, value));
  Value half = arith::ConstantIntOp::create(b, loc, 32, 64);
  Value low = word(arith::TruncIOp::create(b, loc, i32, bits));
  Value high = word(arith::TruncIOp::create(b, loc, i32, arith::ShRUIOp::create(b, loc, bits, half)));
  high = arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, i64, high), half);
  bits = arith::OrIOp::create(b, loc, high, arith::ExtUIOp::create(b, loc, i64, low));
  return type == i64 ? bits : Value(arith::BitcastOp::create(b, loc, type, bits));
}

void GpuBuilder::forThreads(Value tile, int64_t total, int64_t perThread, llvm::function_ref<void(Value)> body) {
  bool isWhole = total % (threads * perThread) == 0;
  Value begin = add(mul(tile, threads * perThread), threadId);
  loop(index(0), index(perThread), 1, [&](Value round) {
    Value i = add(begin, mul(round, threads));
    if (isWhole) return body(i);
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, i, index(total));
    ifThen(exists, [&] { body(i); });
  });
}

// The first of all threads writes the rest.
void GpuBuilder::reportIf(Value condition, int32_t code, int32_t op, Value value, Value bound) {
  ifThen(condition, [&] {
    auto field = [&](size_t offset) -> Value {
      return LLVM::GEPOp::create(b, loc, status().getType(), b.getI8Type(), status(),
                                 ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
    };
    auto number = [&](int32_t i) -> Value { return arith::ConstantIntOp::create(b, loc, i, 32); };
    Value none = number(SPRIG_RT_KERNEL_OK);
    Value exchanged =
        LLVM::AtomicCmpXchgOp::create(b, loc, field(offsetof(sprig_rt_kernel_status, code)), none, number(code),
                                      LLVM::AtomicOrdering::monotonic, LLVM::AtomicOrdering::monotonic);
    Value isFirst = LLVM::ExtractValueOp::create(b, loc, exchanged, ArrayRef<int64_t>{1});
    ifThen(isFirst, [&] {
      LLVM::StoreOp::create(b, loc, number(firstOperation + op), field(offsetof(sprig_rt_kernel_status, op)));
      LLVM::StoreOp::create(b, loc, value, field(offsetof(sprig_rt_kernel_status, value)));
      LLVM::StoreOp::create(b, loc, bound, field(offsetof(sprig_rt_kernel_status, bound)));
    });
  });
}
