// nn.transpose of another innermost dimension, by tiles in shared memory: a block reads neighbours of the operand and
// writes neighbours of the result.
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/CUDA/Kernels/Builder/GpuBuilder.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
/// The operand as [outer, across, along...]: `across` is the result's innermost dimension, and what lies behind it in
/// the operand is in rows there.
struct TransposeForm {
  static std::optional<TransposeForm> of(kernel::DispatchOp dispatch);

  ir::TransposeOp op;
  /// Sizes in the operand's order, and distances in the result.
  SmallVector<int64_t> outerSizes, outerStrides, alongSizes, alongStrides;
  int64_t across, tileAcross, tileAlong;

  static constexpr int64_t kThreads = 256, kTile = 1024;
  int64_t outer() const { return llvm::product_of(outerSizes); }
  int64_t along() const { return llvm::product_of(alongSizes); }
  SmallVector<int64_t> tiles() const {
    return {outer(), int64_t(llvm::divideCeil(across, tileAcross)), int64_t(llvm::divideCeil(along(), tileAlong))};
  }
};
} // namespace

std::optional<TransposeForm> TransposeForm::of(kernel::DispatchOp dispatch) {
  Block &body = dispatch->getRegion(0).front();
  auto op = dyn_cast<ir::TransposeOp>(body.front());
  if (!op || op->getNextNode() != body.getTerminator() || !isa<BlockArgument>(op->getOperand(0))) return std::nullopt;
  ArrayRef<int64_t> sizes = shapeOf(op->getOperand(0)), permutation = op.getPermutation();
  int64_t count = llvm::product_of(sizes);
  if (permutation.empty() || count < kTile) return std::nullopt;
  SmallVector<int64_t> strides(sizes.size()); // in the result, of the operand's dimensions
  int64_t inner = -1, stride = 1;
  for (int64_t dim : llvm::reverse(permutation)) {
    if (inner < 0 && sizes[dim] > 1) inner = dim;
    strides[dim] = stride;
    stride *= sizes[dim];
  }
  TransposeForm form;
  form.op = op;
  // Neighbouring dimensions that stay neighbours are one.
  auto add = [](SmallVector<int64_t> &ofSizes, SmallVector<int64_t> &ofStrides, int64_t size, int64_t stride) {
    if (size == 1) return;
    if (!ofSizes.empty() && ofStrides.back() == size * stride) {
      ofSizes.back() *= size;
      ofStrides.back() = stride;
      return;
    }
    ofSizes.push_back(size);
    ofStrides.push_back(stride);
  };
  // Those in front of the innermost one may be so in both, too.
  int64_t first = inner;
  form.across = sizes[inner];
  while (first > 0 && (sizes[first - 1] == 1 || strides[first - 1] == form.across)) form.across *= sizes[--first];
  for (int64_t d = 0; d < first; ++d) add(form.outerSizes, form.outerStrides, sizes[d], strides[d]);
  for (int64_t d = inner + 1; d < int64_t(sizes.size()); ++d)
    add(form.alongSizes, form.alongStrides, sizes[d], strides[d]);
  if (form.along() == 1) return std::nullopt;
  // Of few across, more along, and the other way round.
  auto most = [](int64_t size) { return int64_t(llvm::PowerOf2Ceil(size)); };
  form.tileAlong = std::min(kWarp, most(form.along()));
  form.tileAcross = std::min(kTile / form.tileAlong, most(form.across));
  form.tileAlong = std::min(kTile / form.tileAcross, most(form.along()));
  // Many small matrices: most threads of a block would have nothing to do.
  if (form.tileAcross * form.tileAlong < kThreads) return std::nullopt;
  return form;
}

namespace {
struct TransposeEmitter : GpuEmitter {
  StringRef name() const override { return "transpose"; }
  bool matches(kernel::DispatchOp dispatch) const override { return TransposeForm::of(dispatch).has_value(); }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    return {llvm::product_of(TransposeForm::of(dispatch)->tiles()), TransposeForm::kThreads};
  }

  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    TransposeForm form = *TransposeForm::of(dispatch);
    Type type = elementOf(form.op.getResult());
    SmallVector<Value> at = k.delinearize(tile, form.tiles());
    Value firstAcross = k.mul(at[1], form.tileAcross), firstAlong = k.mul(at[2], form.tileAlong);
    int64_t size = form.tileAcross * form.tileAlong, along = form.along();
    Value shared = k.sharedBuffer({size + size / kWarp}, storageType(type));
    // A word of each row of banks is left out, so neighbours across are at different banks, too.
    auto sharedAt = [&](Value i) { return k.add(i, k.div(i, kWarp)); };
    auto offset = [&](Value index, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
      Value sum = k.index(0);
      for (auto [part, stride] : llvm::zip_equal(k.delinearize(index, sizes), strides))
        sum = k.add(sum, k.mul(part, stride));
      return sum;
    };
    auto isBelow = [&](Value index, int64_t bound) -> Value {
      return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, index, k.index(bound));
    };
    // The thread's places across and along, in the tile, that are there.
    auto forElements = [&](bool isAlong, llvm::function_ref<void(Value a, Value b)> body) {
      int64_t inner = isAlong ? form.tileAlong : form.tileAcross;
      for (int64_t begin = 0; begin < size; begin += form.kThreads) {
        Value i = k.add(k.thread(), begin), within = k.rem(i, inner), beyond = k.div(i, inner), exists;
        Value a = isAlong ? beyond : within, b = isAlong ? within : beyond;
        auto require = [&](Value condition) {
          exists = exists ? Value(arith::AndIOp::create(k.b, k.loc, exists, condition)) : condition;
        };
        if (size < form.kThreads) require(isBelow(i, size));
        if (form.across % form.tileAcross) require(isBelow(k.add(firstAcross, a), form.across));
        if (along % form.tileAlong) require(isBelow(k.add(firstAlong, b), along));
        auto one = [&] { body(a, b); };
        exists ? k.ifThen(exists, one) : one();
      }
    };
    Value source = k.flatOperand(form.op->getOperand(0));
    Value matrix = k.mul(at[0], form.across);
    forElements(true, [&](Value a, Value b) {
      Value from = k.add(k.mul(k.add(matrix, k.add(firstAcross, a)), along), k.add(firstAlong, b));
      k.store(k.load(source, from, type), shared, sharedAt(k.add(k.mul(a, form.tileAlong), b)), type);
    });
    k.barrier();
    Value target = k.flat(k.resultBuffer(0)), begin = offset(at[0], form.outerSizes, form.outerStrides);
    forElements(false, [&](Value a, Value b) {
      Value to =
          k.add(k.add(begin, k.add(firstAcross, a)), offset(k.add(firstAlong, b), form.alongSizes, form.alongStrides));
      k.store(k.load(shared, sharedAt(k.add(k.mul(a, form.tileAlong), b)), type), target, to, type);
    });
    return success();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuTransposeEmitter() { return std::make_unique<TransposeEmitter>(); }
