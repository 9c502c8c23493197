// Lays the right sides of contractions out in panels; see Passes.td.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/Constants.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/Kernel/Panels.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "lib/Target/CPU/Layout/ConstantMoves.h"
#include "lib/Target/CPU/Layout/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sprig::cpu {
#define GEN_PASS_DEF_PACK
#include "lib/Target/CPU/Layout/Passes.h.inc"

namespace {

class Pack : public impl::PackBase<Pack> {
public:
  using PackBase::PackBase;

  void runOnOperation() override {
    // One instance of a pass runs on all functions of a module.
    made.clear();
    sources.clear();
    updated.clear();
    getOperation().walk([&](ir::SetParamOp set) { updated.insert(set.getParamAttr()); });
    SmallVector<Operation *> contractions;
    getOperation().walk([&](Operation *op) {
      if (isa<ir::ConvOp>(op) || ((matrices || ahead) && isa<ir::MatmulOp>(op))) contractions.push_back(op);
    });
    for (Operation *op : contractions) {
      if (auto matmul = dyn_cast<ir::MatmulOp>(op))
        packMatmul(matmul);
      else
        packConv(cast<ir::ConvOp>(op));
    }
    getOperation().walk([&](ir::ConvFilterGradOp op) { padInput(op); });
    for (Operation *source : sources)
      if (isOpTriviallyDead(source)) source->erase();
  }

private:
  using Key = std::pair<Value, std::pair<int64_t, int64_t>>;

  /// The packed form of a value, made once for all its users, right after the value.
  Value shared(Value source, int64_t kind, int64_t groups, llvm::function_ref<Value(OpBuilder &)> make) {
    Value &result = made[Key{source, {kind, groups}}];
    if (!result) {
      OpBuilder builder(&getContext());
      builder.setInsertionPointAfterValue(source);
      result = make(builder);
      if (Operation *op = source.getDefiningOp()) sources.insert(op);
    }
    return result;
  }

  /// Whether an invariant value depends on parameters that the function leaves as they are.
  bool canBePrepared(Value value) {
    Operation *op = value.getDefiningOp();
    if (auto read = dyn_cast<ir::GetParamOp>(op)) return !updated.contains(read.getParamAttr());
    return llvm::all_of(op->getOperands(), [&](Value operand) { return canBePrepared(operand); });
  }

  void packMatmul(ir::MatmulOp op) {
    Value rhs = op.getRhs();
    RankedTensorType type = tensorOf(rhs);
    // Known before the run.
    if (!meetsOneMatrix(op) || !isInvariant(rhs) || (!matrices && !canBePrepared(rhs))) return;
    int64_t interleave = op.getAccumulator() ? kernel::interleaveOf(type.getElementType()) : 1;
    bool transposedMatrix = op.getTransposeRhs();
    if (auto lowest = interleave == 4 ? lowestOfFew(rhs) : std::nullopt) return packHalves(op, *lowest);
    Value panels = shared(rhs, (interleave > 1 ? 4 : 0) + transposedMatrix, 1, [&](OpBuilder &b) {
      Value matrix = reshaped(b, op.getLoc(), rhs, type.getShape().take_back(2));
      return packed(b, op.getLoc(), matrix, transposedMatrix, interleave);
    });
    OpBuilder b(op);
    Value result = kernel::MatmulPackedOp::create(b, op.getLoc(), op.getLhs(), panels,
                                                  tensorOf(op.getResult()).getShape().back(), IntegerAttr());
    replace(op, result);
  }

  /// The lowest of a constant's bytes where 16 numbers from it on are all that there are, and where four bits are worth
  /// what taking them apart takes: panels that stay in the first-level cache are not.
  std::optional<int64_t> lowestOfFew(Value rhs) {
    constexpr int64_t kNear = 16 * 1024;
    ElementsAttr attribute = readableConstant(rhs);
    if (!attribute || tensorOf(rhs).getNumElements() <= kNear) return std::nullopt;
    ir::ConstantView view(attribute);
    auto [low, high] = std::minmax_element(view.bytes().begin(), view.bytes().end(),
                                           [](char a, char b) { return int8_t(a) < int8_t(b); });
    if (int8_t(*high) - int8_t(*low) > 15) return std::nullopt;
    return std::min<int64_t>(int8_t(*low), 127 - 15);
  }

  void packHalves(ir::MatmulOp op, int64_t lowest) {
    ArrayRef<int64_t> sizes = tensorOf(op.getRhs()).getShape().take_back(2);
    bool transposed = op.getTransposeRhs();
    int64_t depth = sizes[transposed ? 1 : 0], columns = sizes[transposed ? 0 : 1];
    ir::ConstantView view(readableConstant(op.getRhs()));
    Value panels = shared(op.getRhs(), 6 + transposed, 1, [&](OpBuilder &b) {
      return packedCodes(b, op.getLoc(), depth, columns, 4, [&](int64_t k, int64_t column) {
        return int8_t(view.element(transposed ? column * depth + k : k * columns + column).front()) - lowest;
      });
    });
    OpBuilder b(op);
    replace(op, kernel::MatmulPackedOp::create(b, op.getLoc(), op.getLhs(), panels, b.getI64IntegerAttr(columns),
                                               b.getI64IntegerAttr(lowest)));
  }

  void packConv(ir::ConvOp op) {
    if (!op.getChannelsLast()) return;
    Value filter = op.getFilter();
    RankedTensorType type = tensorOf(filter);
    int64_t groups = op.getGroups(), outputs = type.getDimSize(0);
    OpBuilder b(op);
    // A single channel is a group of its own; its kernel takes neighbours in width as a vector.
    bool hasNeighbours = op.getStrides().back() == 1 && tensorOf(op.getResult()).getShape().drop_back().back() > 1;
    bool isDepthwise = groups == outputs && type.getDimSize(1) == 1 && (groups > 1 || hasNeighbours);
    if (op.getAccumulator())
      return isDepthwise && groups > 1 && type.getElementType().isInteger(8) ? packDepthwiseBytes(op)
                                                                             : packInterleaved(op);
    if (isDepthwise) {
      Value taps = shared(filter, 2, groups, [&](OpBuilder &b) {
        SmallVector<int64_t> permutation, shape(type.getShape().drop_front(2));
        for (int64_t d = 1; d < type.getRank() - 1; ++d) permutation.push_back(d);
        permutation.push_back(0);
        SmallVector<int64_t> flat{outputs};
        flat.append(shape);
        return transposed(b, op.getLoc(), reshaped(b, op.getLoc(), filter, flat), permutation);
      });
      return replace(op, kernel::ConvDepthwiseOp::create(b, op.getLoc(), op.getInput(), taps, op.getStridesAttr(),
                                                         op.getDilationsAttr(), op.getPaddingAttr()));
    }
    Value panels =
        shared(filter, 3, groups, [&](OpBuilder &b) { return packedFilter(b, op.getLoc(), filter, groups); });
    replace(op, kernel::ConvPackedOp::create(b, op.getLoc(), op.getInput(), panels,
                                             b.getDenseI64ArrayAttr(type.getShape().drop_front(2)),
                                             b.getI64IntegerAttr(outputs), op.getStridesAttr(), op.getDilationsAttr(),
                                             op.getPaddingAttr(), b.getI64IntegerAttr(groups)));
  }

  void packInterleaved(ir::ConvOp op) {
    ArrayRef<int64_t> filter = tensorOf(op.getFilter()).getShape(), window = filter.drop_front(2);
    int64_t groups = op.getGroups(), run = kernel::runLength(filter[1] * groups, groups, window, op.getDilations());
    // The padding could leave out no part of what an instruction takes at once.
    if (filter[1] % kernel::interleaveOf(tensorOf(op.getFilter()).getElementType())) writePadding(op);
    Value panels = shared(op.getFilter(), 8 + run, groups, [&](OpBuilder &b) {
      return packedInterleavedFilter(b, op.getLoc(), op.getFilter(), groups, run);
    });
    OpBuilder b(op);
    replace(op, kernel::ConvPackedOp::create(b, op.getLoc(), op.getInput(), panels, b.getDenseI64ArrayAttr(window),
                                             b.getI64IntegerAttr(filter[0]), op.getStridesAttr(), op.getDilationsAttr(),
                                             op.getPaddingAttr(), op.getGroupsAttr()));
  }

  // A pad in front whose numbers are known is the kernel's own padding.
  void packDepthwiseBytes(ir::ConvOp op) {
    Value input = op.getInput();
    SmallVector<int64_t> padding(op.getPadding());
    int64_t fill = 0;
    if (auto pad = input.getDefiningOp<ir::PadOp>(); pad && llvm::all_of(padding, [](int64_t n) { return n == 0; }))
      if (ElementsAttr value = readableConstant(pad.getValue()); value && isSpatialPad(pad)) {
        fill = int64_t(ir::ConstantView(value).asDouble(0));
        padding.assign(pad.getLow().drop_front().drop_back().begin(), pad.getLow().drop_front().drop_back().end());
        llvm::append_range(padding, pad.getHigh().drop_front().drop_back());
        input = pad.getOperand();
        sources.insert(pad);
      }
    Value filter = op.getFilter();
    auto window = tensorOf(filter).getShape().drop_front(2);
    Value taps =
        shared(filter, 5, op.getGroups(), [&](OpBuilder &b) { return packedDepthwiseFilter(b, op.getLoc(), filter); });
    OpBuilder b(op);
    replace(op, kernel::ConvDepthwiseDotOp::create(b, op.getLoc(), input, taps, window, op.getStrides(),
                                                   op.getDilations(), padding, fill));
  }

  static bool isSpatialPad(ir::PadOp pad) {
    ArrayRef<int64_t> low = pad.getLow(), high = pad.getHigh();
    bool isInside = llvm::all_of(llvm::concat<const int64_t>(low, high), [](int64_t size) { return size >= 0; });
    return pad.getMode() == ir::PadMode::constant && isInside && low.front() == 0 && high.front() == 0 &&
           low.back() == 0 && high.back() == 0;
  }

  // With one or two channels, a filter's gradient has rows enough for its register tiles only if they are of several
  // taps, which no padding tells apart: it is written out, for an input that small.
  void padInput(ir::ConvFilterGradOp op) {
    constexpr int64_t kFew = 2;
    if (!op.getChannelsLast() || op.getGroups() != 1 || tensorOf(op.getInput()).getShape().back() > kFew) return;
    if (llvm::all_of(op.getPadding(), [](int64_t size) { return size >= 0; })) writePadding(op);
  }

  /// Zeros around the input instead of the operation's own padding.
  template <typename OpT> void writePadding(OpT op) {
    ArrayRef<int64_t> padding = op.getPadding(), shape = tensorOf(op.getInput()).getShape();
    if (llvm::all_of(padding, [](int64_t size) { return size == 0; })) return;
    OpBuilder b(op);
    auto scalar = RankedTensorType::get({}, tensorOf(op.getInput()).getElementType());
    Value zero = ir::ConstantOp::create(b, op.getLoc(), scalar, ir::makeSplat(scalar, 0));
    size_t spatial = shape.size() - 2;
    SmallVector<int64_t> low{0}, high{0};
    llvm::append_range(low, padding.take_front(spatial));
    llvm::append_range(high, padding.drop_front(spatial));
    low.push_back(0), high.push_back(0);
    op.getInputMutable().assign(
        ir::PadOp::create(b, op.getLoc(), ir::PadMode::constant, op.getInput(), zero, low, high));
    op.setPadding(SmallVector<int64_t>(padding.size(), 0));
  }

  void replace(Operation *op, Value result) {
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }

  llvm::DenseMap<Key, Value> made;
  llvm::DenseSet<Attribute> updated;
  llvm::SetVector<Operation *> sources; ///< each once: a value may be packed in several ways
};

} // namespace
} // namespace sprig::cpu
