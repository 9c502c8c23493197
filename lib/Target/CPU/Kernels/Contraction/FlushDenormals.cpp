#include "lib/Target/CPU/Kernels/Contraction/FlushDenormals.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

static Value assembly(KernelBuilder &k, TypeRange results, Value operand, StringRef text, StringRef constraints) {
  auto op = LLVM::InlineAsmOp::create(k.b, k.loc, results, ValueRange{operand}, text, constraints,
                                      /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                      LLVM::AsmDialectAttr(), ArrayAttr());
  return results.empty() ? Value() : op->getResult(0);
}

void FlushDenormals::begin() {
  OpBuilder entry = OpBuilder::atBlockBegin(&k.function.front());
  Type i32 = k.b.getI32Type(), pointer = LLVM::LLVMPointerType::get(k.b.getContext());
  Value two = LLVM::ConstantOp::create(entry, k.loc, i32, 2);
  saved = LLVM::AllocaOp::create(entry, k.loc, pointer, i32, two);
  // FTZ and DAZ: bits 15 and 6.
  assembly(k, {}, saved, "stmxcsr ($0)\n\tmovl ($0), %eax\n\torl $$0x8040, %eax\n\tmovl %eax, 4($0)\n\tldmxcsr 4($0)",
           "r,~{eax},~{memory},~{flags}");
}

Value FlushDenormals::pin(Value vector) { return assembly(k, vector.getType(), vector, "", "=v,0"); }

void FlushDenormals::end() { assembly(k, {}, saved, "ldmxcsr ($0)", "r,~{memory}"); }
