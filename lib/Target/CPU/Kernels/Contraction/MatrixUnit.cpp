#include "lib/Target/CPU/Kernels/Contraction/MatrixUnit.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

static constexpr int64_t kWordBytes = 4, kSumBytes = 4;

// The unit's tiles by their numbers: sums of two vectors of columns, rows of the left side, two vectors of the right
// one.
static constexpr int64_t kSums[] = {0, 1}, kLeft = 2, kRight[] = {3, 4};

// In halves of a cycle: a step of the unit takes 16 cycles for 16 columns, a dot product one half for a row of them.
static constexpr int64_t kStepCost = 32;

/// Words of a step for chains of so many: those that leave least to be done, what they leave over included.
static int64_t chooseWords(int64_t chain, int64_t rows, bool isWhole) {
  int64_t best = 0, least = chain * rows;
  for (int64_t words = std::min(chain, MatrixUnit::kMostWords); words > 0; --words) {
    if (isWhole && chain % words) continue;
    int64_t cost = chain / words * kStepCost + chain % words * rows;
    if (cost < least) best = words, least = cost;
  }
  return best;
}

std::optional<MatrixUnit::Sizes> MatrixUnit::choose(const CpuArch &target, int64_t interleave, const Work &work) {
  constexpr int64_t kFewestRows = 5; // fewer come with more columns
  if (!target.matrixBytes || interleave != kWordBytes || work.block < kFewestRows) return std::nullopt;
  // Telling the unit the sizes has to pay.
  constexpr int64_t kLeastDots = 2048;
  int64_t vectors = llvm::divideCeil(work.columns, kLanes);
  if (work.sums * vectors * work.chains * work.chain < kLeastDots) return std::nullopt;
  int64_t rows = splitRows(work.block, kMostRows).rows, words = chooseWords(work.chain, rows, work.isWhole);
  if (words == 0) return std::nullopt;
  // What storing and loading sums takes for a vector of columns, measured; where all that comes before has to be done
  // first; and where what follows the sums is long chains, which go on while dot products are computed.
  constexpr int64_t kSumsCost = 90, kAloneCost = 400, kFunctionsCost = 500;
  int64_t chainCost = work.chain / words * kStepCost + work.chain % words * rows;
  int64_t cost = work.chains * chainCost + (work.isAlone ? kAloneCost : kSumsCost);
  if (work.hasFunctions) cost += kFunctionsCost;
  if (cost >= work.chains * work.chain * rows) return std::nullopt;
  return Sizes{rows, words};
}

int64_t MatrixUnit::sumsBytes(int64_t interleave) {
  return interleave == kWordBytes ? 2 * kPartRows * kPanelWidth * kSumBytes : 0;
}

void MatrixUnit::call(StringRef name, ValueRange operands) {
  LLVM::CallIntrinsicOp::create(k.b, k.loc, k.b.getStringAttr(name), operands);
}

Value MatrixUnit::number(int64_t tile) {
  return LLVM::ConstantOp::create(k.b, k.loc, k.b.getI8Type(), k.b.getI8IntegerAttr(int8_t(tile)));
}

Value MatrixUnit::address(Value buffer, Value offset) {
  int64_t bytes = storageBytes(cast<MemRefType>(buffer.getType()).getElementType());
  Value start = memref::ExtractAlignedPointerAsIndexOp::create(k.b, k.loc, buffer);
  Value at = arith::IndexCastOp::create(k.b, k.loc, k.b.getI64Type(), k.add(start, k.mul(offset, bytes)));
  return LLVM::IntToPtrOp::create(k.b, k.loc, LLVM::LLVMPointerType::get(k.b.getContext()), at);
}

void MatrixUnit::move(StringRef name, int64_t tile, Value address, int64_t rowBytes) {
  Value distance = LLVM::ConstantOp::create(k.b, k.loc, k.b.getI64Type(), k.b.getI64IntegerAttr(rowBytes));
  call(name, {number(tile), address, distance});
}

MatrixUnit::MatrixUnit(KernelBuilder &kernel, Sizes sizes, Value sums) : sizes(sizes), sums(sums), k(kernel) {
  // Palette 1: a byte with its number, bytes of a row from byte 16 on, in two each, rows from byte 48 on.
  constexpr int64_t kBytes = 64, kBytesOfRow = 16, kRows = 48;
  SmallVector<int8_t> told(kBytes);
  told[0] = 1;
  auto tile = [&](int64_t number, int64_t rows, int64_t bytes) {
    told[size_t(kBytesOfRow + 2 * number)] = int8_t(bytes);
    told[size_t(kRows + number)] = int8_t(rows);
  };
  for (int64_t sum : kSums) tile(sum, sizes.rows, kLanes * kSumBytes);
  tile(kLeft, sizes.rows, sizes.words * kWordBytes);
  for (int64_t right : kRight) tile(right, sizes.words, kLanes * kWordBytes);

  OpBuilder entry = OpBuilder::atBlockBegin(&k.function.front());
  auto type = VectorType::get({kBytes}, k.b.getI8Type());
  Value memory = memref::AllocaOp::create(entry, k.loc, MemRefType::get({kBytes}, k.b.getI8Type()));
  Value content = arith::ConstantOp::create(k.b, k.loc, DenseElementsAttr::get(type, ArrayRef<int8_t>(told)));
  vector::StoreOp::create(k.b, k.loc, content, memory, k.index(0));
  call("llvm.x86.ldtilecfg", address(memory, k.index(0)));
}

void MatrixUnit::release() { call("llvm.x86.tilerelease"); }

void MatrixUnit::forTiles(int64_t length, llvm::function_ref<void(Value first)> tile) {
  Value last = k.index(length - sizes.rows);
  k.loop(k.index(0), k.index(llvm::divideCeil(length, sizes.rows)), 1,
         [&](Value index) { tile(k.min(k.mul(index, sizes.rows), last)); });
}

void MatrixUnit::forParts(int64_t length, Tile tile, Store store) {
  const int64_t part = 2 * sizes.rows, count = llvm::divideCeil(length, part), before = (count - 1) * part;
  if (count == 1) {
    forTiles(length, [&](Value first) { tile(first, k.max(first, k.index(0))); });
    return store(k.index(0), length, k.index(sumsBefore(length)));
  }
  auto place = [&](Value index) { return k.mul(k.rem(index, 2), kPartRows); };
  auto compute = [&](Value index) {
    Value first = k.min(k.mul(index, part), k.index(length - part)), sum = place(index);
    k.loop(k.index(0), k.index(part), sizes.rows, [&](Value row) { tile(k.add(first, row), k.add(sum, row)); });
  };
  compute(k.index(0));
  k.loop(k.index(0), k.index(count - 1), 1, [&](Value index) {
    compute(k.add(index, 1));
    store(k.mul(index, part), part, place(index));
  });
  Value last = k.index(count - 1);
  store(k.index(before), length - before, k.add(place(last), before - (length - part)));
}

void MatrixUnit::begin(int64_t ofVectors) {
  vectors = ofVectors;
  for (int64_t j = 0; j < vectors; ++j) call("llvm.x86.tilezero", number(kSums[j]));
}

void MatrixUnit::add(const ContractionLoop &loop) {
  k.loop(k.index(0), k.div(loop.count, sizes.words), 1, [&](Value step) {
    Value left = k.add(loop.leftBase, k.mul(step, loop.leftStep * sizes.words));
    Value right = k.add(loop.rightBase, k.mul(step, loop.rightStep * sizes.words));
    move("llvm.x86.tileloadd64", kLeft, address(loop.left, left), loop.leftRowStride);
    for (int64_t j = 0; j < vectors; ++j) {
      move("llvm.x86.tileloadd64", kRight[j], address(loop.right, k.add(right, loop.rightOffsets[j])), loop.rightStep);
      call("llvm.x86.tdpbusd", {number(kSums[j]), number(kLeft), number(kRight[j])});
    }
  });
}

void MatrixUnit::end(Value sum) {
  for (int64_t j = 0; j < vectors; ++j)
    move("llvm.x86.tilestored64", kSums[j], address(sums, k.add(k.mul(sum, kPanelWidth), j * kLanes)),
         kPanelWidth * kSumBytes);
}
