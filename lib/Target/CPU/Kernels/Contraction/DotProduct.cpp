#include "lib/Target/CPU/Kernels/Contraction/DotProduct.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace sprig;

Value DotProduct::word(Value buffer, Value offset, int64_t valid) {
  Type i8 = k.b.getI8Type(), i32 = k.b.getI32Type();
  if (valid == 4) {
    Value bytes = vector::LoadOp::create(k.b, k.loc, VectorType::get({4}, i8), buffer, offset);
    Value words = vector::BitCastOp::create(k.b, k.loc, VectorType::get({1}, i32), bytes);
    return vector::ExtractOp::create(k.b, k.loc, words, ArrayRef<int64_t>{0});
  }
  Value word;
  for (int64_t i = 0; i < valid; ++i) {
    Value byte = memref::LoadOp::create(k.b, k.loc, buffer, ValueRange{k.add(offset, i)});
    Value wide = arith::ExtUIOp::create(k.b, k.loc, i32, byte);
    if (i == 0) {
      word = wide;
      continue;
    }
    Value distance = arith::ConstantOp::create(k.b, k.loc, k.b.getI32IntegerAttr(int32_t(8 * i)));
    word = arith::OrIOp::create(k.b, k.loc, word, arith::ShLIOp::create(k.b, k.loc, wide, distance));
  }
  return word;
}

static Value shift(KernelBuilder &k, Value words, int64_t left, int64_t right, bool isSigned) {
  auto by = [&](int64_t distance) -> Value {
    auto type = cast<VectorType>(words.getType());
    auto value = k.b.getIntegerAttr(type.getElementType(), distance);
    return arith::ConstantOp::create(k.b, k.loc, DenseElementsAttr::get(type, Attribute(value)));
  };
  if (left) words = arith::ShLIOp::create(k.b, k.loc, words, by(left));
  if (isSigned) return arith::ShRSIOp::create(k.b, k.loc, words, by(right));
  return arith::ShRUIOp::create(k.b, k.loc, words, by(right));
}

DotProduct::Side DotProduct::left(Value word, int64_t lanes) {
  Value same = k.splat(word, lanes);
  auto bits = [&](int64_t count, Type element) -> Value {
    return vector::BitCastOp::create(k.b, k.loc, VectorType::get({count}, element), same);
  };
  if (k.target.dotBytes) return {bits(4 * lanes, k.b.getI8Type()), {}};
  Value words = bits(2 * lanes, k.b.getI16Type());
  return {shift(k, words, 8, 8, /*isSigned=*/false), shift(k, words, 0, 8, /*isSigned=*/false)};
}

DotProduct::Side DotProduct::right(Value buffer, Value offset, int64_t lanes) {
  Value bytes = vector::LoadOp::create(k.b, k.loc, VectorType::get({4 * lanes}, k.b.getI8Type()), buffer, offset);
  if (k.target.dotBytes) return {bytes, {}};
  Value words = vector::BitCastOp::create(k.b, k.loc, VectorType::get({2 * lanes}, k.b.getI16Type()), bytes);
  return {shift(k, words, 8, 8, /*isSigned=*/true), shift(k, words, 0, 8, /*isSigned=*/true)};
}

Value DotProduct::byRegisters(ArrayRef<Value> operands, int64_t lanes,
                              llvm::function_ref<StringRef(int64_t)> instruction) {
  int64_t width = std::min<int64_t>(lanes, k.target.lanes()), parts = lanes / width;
  auto part = [&](Value vector, int64_t index) -> Value {
    int64_t size = cast<VectorType>(vector.getType()).getNumElements() / parts;
    return vector::ExtractStridedSliceOp::create(k.b, k.loc, vector, ArrayRef<int64_t>{index * size},
                                                 ArrayRef<int64_t>{size}, ArrayRef<int64_t>{1});
  };
  auto call = [&](ValueRange arguments) -> Value {
    auto type = VectorType::get({width}, k.b.getI32Type());
    auto name = k.b.getStringAttr(instruction(width));
    return LLVM::CallIntrinsicOp::create(k.b, k.loc, type, name, arguments).getResult(0);
  };
  if (parts == 1) return call(operands);
  Value result = k.zero(k.b.getI32Type(), lanes);
  for (int64_t i = 0; i < parts; ++i) {
    SmallVector<Value> arguments;
    for (Value operand : operands) arguments.push_back(part(operand, i));
    result = vector::InsertStridedSliceOp::create(k.b, k.loc, call(arguments), result, ArrayRef<int64_t>{i * width},
                                                  ArrayRef<int64_t>{1});
  }
  return result;
}

// The names are LLVM's; it has the form of AVX-VNNI under that of AVX-512, too.
static StringRef dotInstruction(int64_t width) {
  return width == 16  ? "llvm.x86.avx512.vpdpbusd.512"
         : width == 8 ? "llvm.x86.avx512.vpdpbusd.256"
                      : "llvm.x86.avx512.vpdpbusd.128";
}
static StringRef pairInstruction(int64_t width) {
  return width == 16  ? "llvm.x86.avx512.pmaddw.d.512"
         : width == 8 ? "llvm.x86.avx2.pmadd.wd"
                      : "llvm.x86.sse2.pmadd.wd";
}

// Products of a byte that has 8 bits and one that has 7 and a sign fit into pairs of words: two of them are added in 32
// bits, where instructions on bytes would saturate in 16.
Value DotProduct::accumulate(const Side &left, const Side &right, Value sums) {
  int64_t lanes = cast<VectorType>(sums.getType()).getNumElements();
  if (k.target.dotBytes) return byRegisters({sums, left.even, right.even}, lanes, dotInstruction);
  for (auto [a, b] : {std::pair(left.even, right.even), std::pair(left.odd, right.odd)})
    sums = arith::AddIOp::create(k.b, k.loc, sums, byRegisters({a, b}, lanes, pairInstruction));
  return sums;
}
