#include "lib/Target/CUDA/Kernels/Control/ScanForm.h"
#include "dialects/NN/NNContraction.h"
#include "lib/Machine/CudaModel.h"
#include "lib/Target/CUDA/CudaArch.h"
#include "lib/Target/Kernels/ElementBuilder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;
using ir::RowView;

// Blocks that keep a large GPU busy.
static constexpr int64_t kEnoughBlocks = 128;
// What a multiprocessor's first-level cache keeps from step to step.
static constexpr int64_t kCached = 128 << 10;

std::optional<ScanForm> ScanForm::analyze(ir::ScanOp scan, std::string &why) {
  auto stages = ir::ScanStages::analyze(scan, why);
  if (!stages) return std::nullopt;
  ScanForm form;
  form.stages = std::move(*stages);
  auto add = [&](Value value, int64_t copies) { form.places.insert({value, {RowView::of(value).columns, 0, copies}}); };
  for (Value carried : scan.getCarriedArguments()) add(carried, 2);
  form.launches = scan.getNumInputs();
  for (ValueRange values :
       {ValueRange(scan.getInputArguments()), ValueRange(scan.getStep().getTerminator()->getOperands())})
    for (Value value : values) form.widest = std::max(form.widest, RowView::of(value).columns);
  llvm::DenseSet<Value> matrices;
  int64_t allBytes = 0; // of the matrices
  for (const ir::ScanStage &stage : form.stages.stages) {
    if (!stage.reductions.empty()) {
      why = "its step holds a reduction, which no kernel of a block's threads computes";
      return std::nullopt;
    }
    for (Operation *op : stage.products) {
      auto product = dyn_cast<ir::MatmulOp>(op);
      if (!product) {
        why = "its matrices are packed";
        return std::nullopt;
      }
      if (product.getAccumulator()) {
        why = "its step multiplies bytes";
        return std::nullopt;
      }
      add(product.getResult(), 1);
      auto matrix = cast<RankedTensorType>(product.getRhs().getType());
      form.multiplyAdds += matrix.getNumElements();
      if (matrices.insert(product.getRhs()).second)
        allBytes += matrix.getNumElements() * storageBytes(matrix.getElementType());
    }
    for (Value kept : stage.kept) add(kept, 1);
    form.launches += stage.products.size() + 1;
  }
  // Matrices that do not stay near are worth more rows for each time that they are read.
  int64_t rows = form.stages.rows, wanted = llvm::divideCeil(rows, kEnoughBlocks);
  constexpr int64_t kRowsOfFar = 4;
  if (allBytes > kCached) wanted = std::max(wanted, std::min(rows, kRowsOfFar));
  while (form.setBlockRows(wanted), form.sharedBytes() > CudaArch::kStaticSharedPerBlock) {
    if (wanted == 1) {
      why = "a step keeps " + std::to_string(form.sharedBytes()) + " bytes of a row, which shared memory does not hold";
      return std::nullopt;
    }
    wanted = llvm::divideCeil(wanted, 2);
  }
  form.stageInputs(scan);
  form.holdMatrices();
  return form;
}

// Where a thread has one part of a product at most, its columns of the matrix are the same in every step.
void ScanForm::holdMatrices() {
  constexpr int64_t kMostHeld = 160; // registers, of the 255 that a thread of so few has
  int64_t left = kMostHeld;
  llvm::DenseSet<Value> read;
  for (const ir::ScanStage &stage : stages.stages)
    for (Operation *op : stage.products) {
      auto product = cast<ir::MatmulOp>(op);
      auto matrix = cast<RankedTensorType>(product.getRhs().getType());
      int64_t registers = RowView::of(product.getLhs()).columns * tileOf(op).columns;
      if (partsOf(op) <= threads && registers <= left && matrix.getElementType().isF32()) {
        held.insert(op);
        left -= registers;
      } else if (read.insert(product.getRhs()).second) {
        matrixBytes += matrix.getNumElements() * storageBytes(matrix.getElementType());
      }
    }
}

// What asynchronous copies take, and elementwise operations read: all of it, where it fits.
void ScanForm::stageInputs(ir::ScanOp scan) {
  constexpr int64_t kCopied = 4; // bytes of an element
  ScanForm form = *this;
  for (BlockArgument input : scan.getInputArguments()) {
    RowView view = RowView::of(input);
    auto isProduct = [](Operation *user) { return isa<ir::MatmulOp>(user); };
    if (view.rows != stages.rows || view.columns == 1 || storageBytes(elementOf(input)) != kCopied ||
        input.use_empty() || llvm::any_of(input.getUsers(), isProduct))
      continue;
    int64_t elements = llvm::alignTo(blockRows * view.columns, kQuad);
    form.places.insert({input, {view.columns, elements, 1}});
    form.staged.push_back(input);
  }
  if (form.sharedBytes() <= CudaArch::kStaticSharedPerBlock) *this = std::move(form);
}

void ScanForm::setBlockRows(int64_t wanted) {
  // As many in each block as can be.
  blockRows = llvm::divideCeil(stages.rows, llvm::divideCeil(stages.rows, wanted));
  for (auto &[value, place] : places) {
    place.elements = llvm::alignTo(blockRows * place.columns, kQuad);
    widest = std::max(widest, place.columns);
  }
  constexpr int64_t kMost = 256; // with registers for whatever a step computes
  threads = std::min<int64_t>(llvm::alignTo(blockRows * widest, CudaArch::kWarp), kMost);
}

int64_t ScanForm::sharedBytes() const {
  constexpr int64_t kAlignment = 128;
  int64_t bytes = 0;
  for (auto &[value, place] : places)
    bytes += llvm::alignTo(place.copies * place.elements * storageBytes(elementOf(value)), kAlignment);
  return bytes;
}

int64_t ScanForm::blocks() const { return llvm::divideCeil(stages.rows, blockRows); }

// Several rows for each element of the matrix first, then several columns, as long as all threads have work.
ScanForm::Tile ScanForm::tileOf(Operation *op) const {
  auto product = cast<ir::MatmulOp>(op);
  int64_t columns = RowView::of(product.getResult()).columns;
  constexpr int64_t kMostRows = 8;
  Tile tile;
  for (int64_t rows = kMostRows; rows > 1 && tile.rows == 1; --rows)
    if (blockRows % rows == 0 && blockRows / rows * columns >= threads) tile.rows = rows;
  bool isWide = elementOf(product.getRhs()).isF32() && !product.getTransposeRhs() && columns % kQuad == 0;
  if (isWide && blockRows / tile.rows * columns >= kQuad * threads) tile.columns = kQuad;
  return tile;
}

int64_t ScanForm::partsOf(Operation *op) const {
  Tile tile = tileOf(op);
  return blockRows / tile.rows * (RowView::of(op->getResult(0)).columns / tile.columns);
}

bool ScanForm::pays(std::string &why) const {
  // The model of lib/Machine says what a multiprocessor does in a loop and what a launch costs. Of a recent GPU, a
  // nanosecond each: multiply-adds of all multiprocessors by tiles; what a block's threads compute of elements in one
  // turn takes some nanoseconds.
  using machine::CudaDevice;
  constexpr int64_t kBytes = CudaDevice::kLoopBytes, kMultiplyAdds = CudaDevice::kLoopMultiplyAdds;
  constexpr int64_t kLaunch = CudaDevice::kLaunchNanoseconds, kMultiplyAddsApart = 25000, kTurn = 20;
  int64_t busiest = std::max<int64_t>(blockRows, llvm::divideCeil(stages.rows, kEnoughBlocks));
  int64_t turns = llvm::divideCeil(blockRows * widest, threads);
  int64_t together = std::max({matrixBytes / kBytes, busiest * multiplyAdds / kMultiplyAdds, launches * kTurn * turns});
  int64_t apart = launches * kLaunch + stages.rows * multiplyAdds / kMultiplyAddsApart;
  if (together <= apart) return true;
  why = "a step of " + std::to_string(matrixBytes) + " bytes of matrices and " + std::to_string(stages.rows) +
        " rows is sooner done by kernels of its own";
  return false;
}
