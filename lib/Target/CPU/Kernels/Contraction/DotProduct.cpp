#include "lib/Target/CPU/Kernels/Contraction/DotProduct.h"
#include "lib/Target/CPU/Kernels/Contraction/FlushDenormals.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <array>

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

Value DotProduct::word(Value buffer, Value offset, int64_t valid) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType(), i32 = k.b.getI32Type();
  if (valid == factors) {
    Value whole = vector::LoadOp::create(k.b, k.loc, VectorType::get({factors}, element), buffer, offset);
    Value words = vector::BitCastOp::create(k.b, k.loc, VectorType::get({1}, i32), whole);
    return vector::ExtractOp::create(k.b, k.loc, words, ArrayRef<int64_t>{0});
  }
  int64_t bits = 32 / factors;
  Type pattern = k.b.getIntegerType(bits);
  Value word;
  for (int64_t i = 0; i < valid; ++i) {
    Value factor = memref::LoadOp::create(k.b, k.loc, buffer, ValueRange{k.add(offset, i)});
    if (element != pattern) factor = arith::BitcastOp::create(k.b, k.loc, pattern, factor);
    Value wide = arith::ExtUIOp::create(k.b, k.loc, i32, factor);
    if (i == 0) {
      word = wide;
      continue;
    }
    Value distance = arith::ConstantOp::create(k.b, k.loc, k.b.getI32IntegerAttr(int32_t(bits * i)));
    word = arith::OrIOp::create(k.b, k.loc, word, arith::ShLIOp::create(k.b, k.loc, wide, distance));
  }
  return word;
}

static Value same(KernelBuilder &k, Value words, int64_t value) {
  auto type = cast<VectorType>(words.getType());
  return k.constant(cast<IntegerType>(type.getElementType()), value, type.getNumElements());
}

static Value shift(KernelBuilder &k, Value words, int64_t left, int64_t right, bool isSigned) {
  if (left) words = arith::ShLIOp::create(k.b, k.loc, words, same(k, words, left));
  if (isSigned) return arith::ShRSIOp::create(k.b, k.loc, words, same(k, words, right));
  return arith::ShRUIOp::create(k.b, k.loc, words, same(k, words, right));
}

/// A bf16 in the upper half of an f32 is that number.
static DotProduct::Side asFloats(KernelBuilder &k, Value words) {
  auto type = VectorType::get({cast<VectorType>(words.getType()).getNumElements()}, k.b.getF32Type());
  Value even = arith::ShLIOp::create(k.b, k.loc, words, same(k, words, 16));
  Value odd = arith::AndIOp::create(k.b, k.loc, words, same(k, words, -65536));
  return {vector::BitCastOp::create(k.b, k.loc, type, even), vector::BitCastOp::create(k.b, k.loc, type, odd)};
}

DotProduct::Side DotProduct::left(Value whole) {
  int64_t lanes = cast<VectorType>(whole.getType()).getNumElements();
  auto bits = [&](int64_t count, Type element) -> Value {
    return vector::BitCastOp::create(k.b, k.loc, VectorType::get({count}, element), whole);
  };
  if (isNative()) return {bits(factors * lanes, factors == 4 ? Type(k.b.getI8Type()) : Type(k.b.getBF16Type())), {}};
  if (factors == 2) return asFloats(k, whole);
  Value words = bits(2 * lanes, k.b.getI16Type());
  return {shift(k, words, 8, 8, /*isSigned=*/false), shift(k, words, 0, 8, /*isSigned=*/false)};
}

DotProduct::Side DotProduct::right(Value buffer, Value offset, int64_t lanes) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  return right(vector::LoadOp::create(k.b, k.loc, VectorType::get({factors * lanes}, element), buffer, offset), lanes);
}

DotProduct::Side DotProduct::right(Value whole, int64_t lanes) {
  if (isNative()) return {whole, {}};
  auto bits = [&](int64_t count, Type type) -> Value {
    return vector::BitCastOp::create(k.b, k.loc, VectorType::get({count}, type), whole);
  };
  if (factors == 2) return asFloats(k, bits(lanes, k.b.getI32Type()));
  Value words = bits(2 * lanes, k.b.getI16Type());
  return {shift(k, words, 8, 8, /*isSigned=*/true), shift(k, words, 0, 8, /*isSigned=*/true)};
}

Value DotProduct::byRegisters(ArrayRef<Value> operands, int64_t lanes, Type element,
                              llvm::function_ref<Value(ValueRange, VectorType)> instruction) {
  int64_t width = std::min<int64_t>(lanes, k.target.lanes()), parts = lanes / width;
  auto part = [&](Value vector, int64_t index) -> Value {
    int64_t size = cast<VectorType>(vector.getType()).getNumElements() / parts;
    return vector::ExtractStridedSliceOp::create(k.b, k.loc, vector, ArrayRef<int64_t>{index * size},
                                                 ArrayRef<int64_t>{size}, ArrayRef<int64_t>{1});
  };
  auto type = VectorType::get({width}, element);
  if (parts == 1) return instruction(operands, type);
  Value result = k.zero(element, lanes);
  for (int64_t i = 0; i < parts; ++i) {
    SmallVector<Value> arguments;
    for (Value operand : operands) arguments.push_back(part(operand, i));
    result = vector::InsertStridedSliceOp::create(k.b, k.loc, instruction(arguments, type), result,
                                                  ArrayRef<int64_t>{i * width}, ArrayRef<int64_t>{1});
  }
  return result;
}

namespace {
/// LLVM's names of an instruction by lanes of a register.
struct Instruction {
  StringRef of16, of8, of4;
};
} // namespace
// The first has the form of AVX-VNNI under the name of that of AVX-512, too.
static constexpr Instruction kDotBytes{"llvm.x86.avx512.vpdpbusd.512", "llvm.x86.avx512.vpdpbusd.256",
                                       "llvm.x86.avx512.vpdpbusd.128"};
static constexpr Instruction kPairs{"llvm.x86.avx512.pmaddw.d.512", "llvm.x86.avx2.pmadd.wd", "llvm.x86.sse2.pmadd.wd"};
static constexpr Instruction kBytePairs{"llvm.x86.avx512.pmaddubs.w.512", "llvm.x86.avx2.pmadd.ub.sw",
                                        "llvm.x86.ssse3.pmadd.ub.sw.128"};
static constexpr Instruction kDotHalves{"llvm.x86.avx512bf16.dpbf16ps.512", "llvm.x86.avx512bf16.dpbf16ps.256",
                                        "llvm.x86.avx512bf16.dpbf16ps.128"};

/// An instruction on a register of so many 32-bit lanes.
static Value callOnRegister(KernelBuilder &k, const Instruction &instruction, int64_t lanes, Type result,
                            ValueRange operands) {
  auto name = k.b.getStringAttr(lanes == 16 ? instruction.of16 : lanes == 8 ? instruction.of8 : instruction.of4);
  return LLVM::CallIntrinsicOp::create(k.b, k.loc, result, name, operands).getResult(0);
}

// Products of a byte that has 8 bits and one that has 7 and a sign fit into pairs of words: two of them are added in 32
// bits, where instructions on bytes would saturate in 16.
Value DotProduct::accumulate(const Side &left, const Side &right, Value sums) {
  auto type = cast<VectorType>(sums.getType());
  auto call = [&](const Instruction &instruction, ArrayRef<Value> operands) {
    return byRegisters(operands, type.getNumElements(), type.getElementType(), [&](ValueRange parts, VectorType part) {
      return callOnRegister(k, instruction, part.getNumElements(), part, parts);
    });
  };
  if (isNative()) return call(factors == 4 ? kDotBytes : kDotHalves, {sums, left.even, right.even});
  if (factors == 2) return k.multiplyAdd(left.even, right.even, k.multiplyAdd(left.odd, right.odd, sums));
  for (auto [a, b] : {std::pair(left.even, right.even), std::pair(left.odd, right.odd)})
    sums = arith::AddIOp::create(k.b, k.loc, sums, call(kPairs, {a, b}));
  return sums;
}

SmallVector<Value> DotProduct::withDenormals(ValueRange sums,
                                             llvm::function_ref<SmallVector<Value>(ValueRange)> chain) {
  if (factors != 2 || isNative()) return chain(sums);
  FlushDenormals flush(k);
  auto pin = [&](ValueRange values) {
    SmallVector<Value> pinned;
    for (Value value : values) {
      auto type = cast<VectorType>(value.getType());
      pinned.push_back(byRegisters({value}, type.getNumElements(), type.getElementType(),
                                   [&](ValueRange part, VectorType) { return flush.pin(part.front()); }));
    }
    return pinned;
  };
  flush.begin();
  SmallVector<Value> result = pin(chain(pin(sums)));
  flush.end();
  return result;
}

int64_t HalvedRows::vectors(const CpuArch &target) {
  // For each register of columns sums in 32 bits and two in 16; one for each half of the left side, one for the right.
  constexpr int64_t kMost = 4, kSums = 3, kOthers = 3;
  int64_t parts = std::max<int64_t>(1, kLanes / target.lanes());
  return std::clamp<int64_t>((target.vectorRegisters - kOthers) / (kSums * parts), 1, kMost);
}

MemRefType HalvedRows::type(KernelBuilder &k, int64_t depth, int64_t rows) {
  return MemRefType::get({rows * stride(depth)}, k.b.getI32Type());
}

// Four steps at a time: their lower halves and their upper ones in turn, a word each.
void HalvedRows::take(Value left, Value leftBase, int64_t rowStride, int64_t rows) {
  Type byte = k.b.getIntegerType(8, /*isSigned=*/false);
  constexpr int64_t kWords = kLanes / 4;
  const int64_t whole = depth / kLanes * kLanes;
  auto split = [&](Value row, Value column, Value mask) {
    Value bytes = k.loadVector(left, k.add(leftBase, k.add(k.mul(row, rowStride), column)), byte, mask);
    Value words = vector::BitCastOp::create(k.b, k.loc, VectorType::get({kWords}, k.b.getI32Type()), bytes);
    auto lowBits = [&](Value of) -> Value { return arith::AndIOp::create(k.b, k.loc, of, same(k, words, 0x0f0f0f0f)); };
    Value high = lowBits(shift(k, words, 0, 4, /*isSigned=*/false));
    SmallVector<int64_t> inTurn;
    for (int64_t i = 0; i < kWords; ++i) inTurn.append({i, kWords + i});
    Value both = vector::ShuffleOp::create(k.b, k.loc, lowBits(words), high, inTurn);
    Value at = k.add(k.mul(row, stride(depth)), k.div(column, 2));
    vector::StoreOp::create(k.b, k.loc, both, halves, at);
  };
  k.loop(k.index(0), k.index(rows), 1, [&](Value row) {
    k.loop(k.index(0), k.index(whole), kLanes, [&](Value column) { split(row, column, Value()); });
    if (whole < depth) split(row, k.index(whole), k.mask(depth - whole));
  });
}

SmallVector<Value> HalvedRows::contract(Value row, Value right, Value rightBase, ArrayRef<int64_t> rightOffsets,
                                        int64_t rightStep) {
  // Pairs of products of 15 and -128: of so many steps they stay in 16 bits.
  constexpr int64_t kTogether = 8;
  const int64_t width = std::min<int64_t>(kLanes, k.target.lanes()), parts = kLanes / width;
  const int64_t steps = llvm::divideCeil(depth, 4);
  Type i8 = k.b.getI8Type(), i16 = k.b.getI16Type(), i32 = k.b.getI32Type();
  auto bytes = VectorType::get({4 * width}, i8), pairs = VectorType::get({2 * width}, i16),
       words = VectorType::get({width}, i32);
  Value base = k.mul(row, stride(depth));
  auto together = [&](Value first, int64_t count, ValueRange sums) {
    SmallVector<std::array<Value, 2>> pairSums(sums.size());
    for (int64_t t = 0; t < count; ++t) {
      Value step = k.add(first, t), from = k.add(rightBase, k.mul(step, rightStep));
      std::array<Value, 2> left;
      for (auto [half, value] : llvm::enumerate(left)) {
        Value word =
            memref::LoadOp::create(k.b, k.loc, halves, ValueRange{k.add(k.add(base, k.mul(step, 2)), int64_t(half))});
        value = vector::BitCastOp::create(k.b, k.loc, bytes, k.splat(word, width));
      }
      for (auto [i, ofRegister] : llvm::enumerate(pairSums)) {
        int64_t part = int64_t(i) % parts;
        Value at = k.add(from, rightOffsets[i / size_t(parts)] + part * 4 * width);
        Value factors = vector::LoadOp::create(k.b, k.loc, bytes, right, at);
        for (auto [value, sum] : llvm::zip_equal(left, ofRegister)) {
          Value product = callOnRegister(k, kBytePairs, width, pairs, {value, factors});
          sum = sum ? arith::AddIOp::create(k.b, k.loc, sum, product).getResult() : product;
        }
      }
    }
    SmallVector<Value> next;
    for (auto [sum, ofRegister] : llvm::zip_equal(sums, pairSums)) {
      auto weighted = [&](Value of, int64_t weight) {
        return callOnRegister(k, kPairs, width, words, {of, k.constant(cast<IntegerType>(i16), weight, 2 * width)});
      };
      Value added = arith::AddIOp::create(k.b, k.loc, weighted(ofRegister[0], 1), weighted(ofRegister[1], 16));
      next.push_back(arith::AddIOp::create(k.b, k.loc, sum, added));
    }
    return next;
  };
  const int64_t whole = steps / kTogether * kTogether;
  SmallVector<Value> zeros(rightOffsets.size() * size_t(parts), k.zero(i32, width));
  SmallVector<Value> sums = k.loop(k.index(0), k.index(whole), kTogether, zeros, [&](Value first, ValueRange carried) {
    return together(first, kTogether, carried);
  });
  if (whole < steps) sums = together(k.index(whole), steps - whole, sums);
  SmallVector<Value> joined;
  for (size_t j = 0; j < rightOffsets.size(); ++j) {
    Value vector = k.zero(i32, kLanes);
    for (int64_t part = 0; part < parts; ++part)
      vector = vector::InsertStridedSliceOp::create(k.b, k.loc, sums[j * size_t(parts) + size_t(part)], vector,
                                                    ArrayRef<int64_t>{part * width}, ArrayRef<int64_t>{1});
    joined.push_back(vector);
  }
  return joined;
}
