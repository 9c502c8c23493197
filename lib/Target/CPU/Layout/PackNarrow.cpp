// Weights of a few bits stay so; see Passes.td.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/Kernel/Panels.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNQuantized.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/StridedView.h"
#include "lib/Target/CPU/Layout/ConstantMoves.h"
#include "lib/Target/CPU/Layout/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <numeric>

using namespace mlir;

namespace sprig::cpu {
#define GEN_PASS_DEF_PACKNARROW
#include "lib/Target/CPU/Layout/Passes.h.inc"

namespace {

/// A dequantised constant, and where its elements lie for a matrix that reads it through moves.
struct NarrowMatrix {
  ir::DequantizeOp source;
  int64_t depth = 0, columns = 0;
  int64_t offset = 0, depthStride = 0, columnStride = 0;

  int64_t at(int64_t k, int64_t column) const { return offset + k * depthStride + column * columnStride; }
};

std::optional<NarrowMatrix> matrixOf(ir::MatmulOp op) {
  SmallVector<Operation *> moves;
  Value value = op.getRhs();
  while (Operation *move = value.getDefiningOp()) {
    if (!isa<ir::ReshapeOp, ir::TransposeOp, ir::SliceOp>(move)) break;
    moves.push_back(move);
    value = move->getOperand(0);
  }
  NarrowMatrix matrix;
  matrix.source = value.getDefiningOp<ir::DequantizeOp>();
  if (!matrix.source || !tensorOf(matrix.source.getOperand()).getElementType().isInteger(8)) return std::nullopt;
  for (Value part : matrix.source->getOperands())
    if (!readableConstant(part)) return std::nullopt;
  SmallVector<int64_t> strides = ir::rowMajorStrides(tensorOf(value).getShape());
  for (Operation *move : llvm::reverse(moves)) {
    ArrayRef<int64_t> before = tensorOf(move->getOperand(0)).getShape(),
                      after = tensorOf(move->getResult(0)).getShape();
    if (auto transpose = dyn_cast<ir::TransposeOp>(move)) {
      SmallVector<int64_t> moved;
      for (int64_t source : transpose.getPermutation()) moved.push_back(strides[source]);
      strides = moved;
    } else if (auto slice = dyn_cast<ir::SliceOp>(move)) {
      for (size_t d = 0; d < strides.size(); ++d) {
        matrix.offset += strides[d] * slice.getStarts()[d];
        strides[d] *= slice.getSteps()[d];
      }
    } else {
      auto reshaped = ir::reshapeStrides(before, strides, after);
      if (!reshaped) return std::nullopt;
      strides = *reshaped;
    }
  }
  ArrayRef<int64_t> sizes = tensorOf(op.getRhs()).getShape().take_back(2);
  ArrayRef<int64_t> last = ArrayRef(strides).take_back(2);
  unsigned k = op.getTransposeRhs() ? 1 : 0;
  matrix.depth = sizes[k], matrix.columns = sizes[1 - k];
  matrix.depthStride = last[k], matrix.columnStride = last[1 - k];
  return matrix;
}

/// Scales or zero points by the places of what they broadcast to.
class Broadcast {
public:
  Broadcast(Value value, RankedTensorType to) : view(readableConstant(value)), sizes(to.getShape()) {
    ArrayRef<int64_t> own = tensorOf(value).getShape();
    SmallVector<int64_t> rowMajor = ir::rowMajorStrides(own);
    strides.assign(sizes.size(), 0);
    for (size_t d = 0; d < own.size(); ++d)
      if (own[d] != 1) strides[sizes.size() - own.size() + d] = rowMajor[d];
    isWhole = tensorOf(value).getNumElements() == to.getNumElements();
    for (size_t d = sizes.size(); d-- > 0 && strides[d] == 0;) shared *= sizes[d];
  }
  int64_t at(int64_t place) const {
    if (isWhole) return place;
    int64_t result = 0;
    for (size_t d = sizes.size(); d-- > 0; place /= sizes[d]) result += place % sizes[d] * strides[d];
    return result;
  }

  ir::ConstantView view;
  bool isWhole = false; ///< of the same size
  int64_t shared = 1;   ///< neighbouring places that have one element, from a multiple of as many on

private:
  SmallVector<int64_t> sizes, strides;
};

/// Bytes with a scale for each `group` of a row's elements, as they are dequantised for a product.
struct ScaledBytes {
  Value bytes, scales;
  int64_t group = 0;
  int64_t depth = 0; ///< of a row: whole groups, of which the product's left side may be the first elements
};

/// What gives the first places of its last dimension.
Value behindCut(Value value) {
  auto slice = value.getDefiningOp<ir::SliceOp>();
  if (!slice) return value;
  auto is = [](int64_t wanted) { return [=](int64_t number) { return number == wanted; }; };
  ArrayRef<int64_t> before = tensorOf(slice.getOperand()).getShape(), after = tensorOf(value).getShape();
  bool isCut = llvm::all_of(slice.getStarts(), is(0)) && llvm::all_of(slice.getSteps(), is(1)) && !before.empty() &&
               before.drop_back() == after.drop_back();
  return isCut ? slice.getOperand() : value;
}

std::optional<ScaledBytes> scaledBytes(Value value) {
  value = behindCut(value);
  int64_t depth = tensorOf(value).getShape().back();
  while (auto reshape = value.getDefiningOp<ir::ReshapeOp>()) value = reshape.getOperand();
  auto dequantize = value.getDefiningOp<ir::DequantizeOp>();
  if (!dequantize) return std::nullopt;
  RankedTensorType bytes = dequantize.getOperand().getType(), scales = dequantize.getScale().getType();
  mlir::DenseElementsAttr zero = ir::splatOf(dequantize.getZero());
  if (!bytes.getElementType().isSignlessInteger(8) || !zero || !zero.getSplatValue<APInt>().isZero() ||
      bytes.getRank() == 0 || scales.getRank() != bytes.getRank() || scales.getShape().back() != 1 ||
      scales.getShape().drop_back() != bytes.getShape().drop_back())
    return std::nullopt;
  return ScaledBytes{dequantize.getOperand(), dequantize.getScale(), bytes.getShape().back(), depth};
}

/// Codes, scales and zero points of a matrix in the form of kernel.matmul_narrow.
class Packer {
public:
  explicit Packer(NarrowMatrix matrix)
      : m(matrix), loc(matrix.source.getLoc()), type(matrix.source.getOperand().getType()),
        codes(matrix.source.getOperand(), type), scales(matrix.source.getScale(), type),
        zeros(matrix.source.getZero(), type), isUnsigned(type.getElementType().isUnsignedInteger()) {
    findGroups();
    findBits();
  }

  /// What keeps the matrix from being packed, or nothing.
  std::string obstacle() const {
    if (m.depth == 0 || m.columns == 0) return "it is empty";
    if (group < m.depth && group % places().wordRows())
      return "a scale is of " + std::to_string(group) + " rows, which " + std::to_string(places().wordRows()) +
             " does not divide";
    return {};
  }

  /// Whether sums of a group's products with these bytes are integers of 32 bits that share a scale.
  bool takes(const ScaledBytes &left) const {
    constexpr int64_t kLongest = int64_t(1) << 16;
    if (bits != 4 || left.group < 1 || left.group > kLongest) return false;
    bool isEven = group >= m.depth || group % left.group == 0;
    bool isOfWords = left.depth == left.group || left.group % places().wordRows() == 0;
    // Rows that fill the last group up have the zero point for their code: no product of theirs counts.
    bool mayFill = left.depth == m.depth || (lowestZero >= lowest && highestZero <= lowest + 15);
    return isEven && isOfWords && mayFill && int64_t(llvm::alignTo(m.depth, left.group)) == left.depth;
  }

  Value multiply(OpBuilder &b, ir::MatmulOp op, const std::optional<ScaledBytes> &left) const {
    const int64_t each = left ? left->group : group, rows = left ? left->depth : m.depth;
    int64_t panels = llvm::divideCeil(m.columns, kPanelWidth), groups = llvm::divideCeil(m.depth, each);
    std::vector<char> bytes(size_t(panels * groups * kPanelWidth), 0), floats(bytes.size() * sizeof(float), 0);
    for (int64_t column = 0; column < m.columns; ++column)
      for (int64_t k = 0; k < m.depth; k += each) {
        int64_t place = m.at(k, column);
        auto to = size_t((column / kPanelWidth * groups + k / each) * kPanelWidth + column % kPanelWidth);
        std::memcpy(floats.data() + to * sizeof(float), scales.view.element(scales.at(place)).data(), sizeof(float));
        bytes[to] = char(numberAt(zeros, place) - lowest);
      }
    auto constant = [&](ArrayRef<int64_t> shape, Type element, std::vector<char> data) -> Value {
      auto type = RankedTensorType::get(shape, element);
      return ir::ConstantOp::create(b, loc, type, ir::makeConstant(type, std::move(data)));
    };
    Type ui8 = b.getIntegerType(8, /*isSigned=*/false);
    Value packed = packedCodes(b, loc, rows, m.columns, bits, [&](int64_t k, int64_t column) {
      const Broadcast &from = k < m.depth ? codes : zeros;
      return numberAt(from, m.at(std::min(k, m.depth - 1), column)) - lowest;
    });
    Value factors = constant({panels, groups, kPanelWidth}, b.getF32Type(), std::move(floats));
    int64_t zero = oneZero ? *oneZero - lowest : 0;
    Value points = oneZero ? Value() : constant({panels, groups, kPanelWidth}, ui8, std::move(bytes));
    if (left) {
      SmallVector<int64_t> shape(tensorOf(op.getLhs()).getShape());
      shape.back() = rows;
      Value bytes = reshaped(b, op.getLoc(), left->bytes, shape);
      shape.back() = groups;
      Value leftScales = reshaped(b, op.getLoc(), left->scales, shape);
      return kernel::MatmulNarrowDotOp::create(b, op.getLoc(), bytes, leftScales, packed, factors, points, m.columns,
                                               each, zero);
    }
    return kernel::MatmulNarrowOp::create(b, op.getLoc(), op.getLhs(), packed, factors, points, m.columns, bits, group,
                                          zero);
  }

private:
  kernel::NarrowPlaces places() const { return {m.depth, bits}; }

  int64_t numberAt(const Broadcast &from, int64_t place) const {
    return numberOf(from.view.element(from.at(place)).front());
  }
  int64_t numberOf(char byte) const { return isUnsigned ? int64_t(uint8_t(byte)) : int64_t(int8_t(byte)); }

  // The greatest common divisor of the rows where a scale or zero point of some column ends.
  void findGroups() {
    group = 0;
    int64_t shared = std::gcd(scales.shared, zeros.shared);
    for (int64_t column = 0; column < m.columns; ++column)
      for (int64_t k = 1; k < m.depth; ++k) {
        int64_t before = m.at(k - 1, column), place = m.at(k, column);
        if (int64_t inside = place % shared; m.depthStride == 1 && inside) {
          k += shared - inside - 1; // to where another element may begin
          continue;
        }
        if ((group && k % group == 0) || before / shared == place / shared) continue;
        int64_t scale = scales.at(place), zero = zeros.at(place);
        bool isSame =
            (scale == scales.at(before) || scales.view.element(scale) == scales.view.element(scales.at(before))) &&
            (zero == zeros.at(before) || numberAt(zeros, place) == numberAt(zeros, before));
        if (!isSame) group = std::gcd(group, k);
      }
    if (group == 0) group = std::max<int64_t>(m.depth, 1);
  }

  // Four bits where 16 neighbouring codes are all that there are, and zero points are bytes from the lowest on.
  void findBits() {
    int64_t low = 255, high = -128;
    auto take = [&](int64_t code) { low = std::min(low, code), high = std::max(high, code); };
    bool isAll = codes.isWhole && m.depth * m.columns == codes.view.size();
    if (isAll)
      for (char byte : codes.view.bytes()) take(numberOf(byte));
    for (int64_t column = 0; column < m.columns; ++column) {
      for (int64_t k = 0; k < m.depth && !isAll; ++k) take(numberAt(codes, m.at(k, column)));
      for (int64_t k = 0; k < m.depth; k += group) {
        int64_t zero = numberAt(zeros, m.at(k, column));
        lowestZero = std::min(lowestZero, zero), highestZero = std::max(highestZero, zero);
      }
    }
    if (lowestZero == highestZero) oneZero = lowestZero;
    lowest = isUnsigned ? 0 : -8; // where codes of four bits usually begin
    if (low < lowest || high > lowest + 15) lowest = std::min(low, lowestZero);
    if (low >= lowest && high <= lowest + 15 && lowestZero >= lowest && highestZero <= lowest + 255) return;
    bits = 8;
    lowest = isUnsigned ? 0 : -128;
  }

  NarrowMatrix m;
  Location loc;
  RankedTensorType type; // of the codes
  Broadcast codes, scales, zeros;
  bool isUnsigned;
  int64_t group = 0, bits = 4, lowest = 0, lowestZero = 255, highestZero = -128;
  std::optional<int64_t> oneZero;
};

struct PackNarrow : impl::PackNarrowBase<PackNarrow> {
  using PackNarrowBase::PackNarrowBase;

  void runOnOperation() override {
    SmallVector<ir::MatmulOp> products;
    getOperation().walk([&](ir::MatmulOp op) {
      if (tensorOf(op.getResult()).getElementType().isF32() && tensorOf(op.getLhs()).getElementType().isF32() &&
          !op->getParentOfType<ir::ScanOp>() && meetsOneMatrix(op))
        products.push_back(op);
    });
    for (ir::MatmulOp op : products) {
      std::optional<NarrowMatrix> matrix = matrixOf(op);
      if (!matrix) continue;
      Packer packer(*matrix);
      if (std::string why = packer.obstacle(); !why.empty()) {
        remark::missed(op->getLoc(), remark::RemarkOpts::name("pack-narrow").category("fuse"))
            << "the weights of " << op->getName().getStringRef() << " become f32: " << why;
        continue;
      }
      OpBuilder b(op);
      std::optional<ScaledBytes> left = strict ? std::nullopt : scaledBytes(op.getLhs());
      if (left && !packer.takes(*left)) left.reset();
      Value product = packer.multiply(b, op, left);
      op.getResult().replaceAllUsesWith(product);
      SmallVector<Operation *> unused{op};
      for (Value value = op.getRhs(); Operation *source = value.getDefiningOp(); value = source->getOperand(0)) {
        unused.push_back(source);
        if (source == matrix->source) break;
      }
      for (Operation *each : unused)
        if (each->use_empty()) each->erase();
    }
  }
};

} // namespace
} // namespace sprig::cpu
