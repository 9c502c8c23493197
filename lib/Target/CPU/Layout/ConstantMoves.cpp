#include "lib/Target/CPU/Layout/ConstantMoves.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/Kernel/Panels.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/StridedView.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

bool sprig::cpu::isInvariant(Value value) {
  SmallVector<Value> work{value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || !isPure(op)) return false;
    if (!seen.insert(op).second) continue;
    if (seen.size() > 64) return false; // deep expressions of parameters: not worth the search
    llvm::append_range(work, op->getOperands());
  }
  return true;
}

ElementsAttr sprig::cpu::readableConstant(Value value) {
  auto constant = value.getDefiningOp<ir::ConstantOp>();
  std::string reason;
  return constant && ir::isReadableConstant(constant.getValue(), reason) ? constant.getValue() : ElementsAttr();
}

/// Calls `body` with a null pointer of an unsigned type as wide as an element.
template <typename Body> static void withElement(Type elementType, Body body) {
  switch (storageBytes(elementType)) {
  case 1: return body(static_cast<uint8_t *>(nullptr));
  case 2: return body(static_cast<uint16_t *>(nullptr));
  case 4: return body(static_cast<uint32_t *>(nullptr));
  default: return body(static_cast<uint64_t *>(nullptr));
  }
}

static Value constantOf(OpBuilder &b, Location loc, RankedTensorType type, std::vector<char> bytes) {
  return ir::ConstantOp::create(b, loc, type, ir::makeConstant(type, std::move(bytes)));
}

bool sprig::cpu::meetsOneMatrix(ir::MatmulOp op) {
  RankedTensorType right = tensorOf(op.getRhs());
  return !op.getTransposeLhs() && right.getRank() <= tensorOf(op.getLhs()).getRank() &&
         llvm::all_of(right.getShape().drop_back(2), [](int64_t size) { return size == 1; });
}

Value sprig::cpu::transposed(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> permutation) {
  ArrayRef<int64_t> operandShape = tensorOf(value).getShape();
  if (ir::keepsOrder(operandShape, permutation)) {
    SmallVector<int64_t> shape;
    for (int64_t d : permutation) shape.push_back(operandShape[d]);
    return reshaped(b, loc, value, shape);
  }
  ElementsAttr attribute = readableConstant(value);
  if (!attribute) return ir::TransposeOp::create(b, loc, value, b.getDenseI64ArrayAttr(permutation));
  ir::ConstantView view(attribute);
  ArrayRef<int64_t> shape = view.type().getShape();
  int64_t rank = shape.size();
  SmallVector<int64_t> sourceStrides(rank, 1), sizes, strides;
  for (int64_t d = rank - 2; d >= 0; --d) sourceStrides[d] = sourceStrides[d + 1] * shape[d + 1];
  for (int64_t d : permutation) {
    sizes.push_back(shape[d]);
    strides.push_back(sourceStrides[d]);
  }
  auto type = RankedTensorType::get(sizes, view.elementType());
  if (view.isSplat()) return constantOf(b, loc, type, view.bytes().vec());
  std::vector<char> bytes(view.bytes().size());
  withElement(view.elementType(), [&](auto *element) {
    using T = std::remove_pointer_t<decltype(element)>;
    const T *source = reinterpret_cast<const T *>(view.bytes().data());
    T *target = reinterpret_cast<T *>(bytes.data());
    SmallVector<int64_t> index(rank, 0);
    int64_t inner = sizes.back(), innerStride = strides.back(), offset = 0;
    for (int64_t done = 0, total = view.size(); done < total; done += inner) {
      for (int64_t i = 0; i < inner; ++i) target[done + i] = source[offset + i * innerStride];
      for (int64_t d = rank - 2; d >= 0; --d) {
        offset += strides[d];
        if (++index[d] < sizes[d]) break;
        offset -= sizes[d] * strides[d];
        index[d] = 0;
      }
    }
  });
  return constantOf(b, loc, type, std::move(bytes));
}

Value sprig::cpu::reshaped(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorOf(value);
  if (type.getShape() == shape) return value;
  auto result = RankedTensorType::get(shape, type.getElementType());
  if (ElementsAttr attribute = readableConstant(value))
    return constantOf(b, loc, result, ir::ConstantView(attribute).bytes().vec());
  return ir::ReshapeOp::create(b, loc, result, value);
}

namespace {
/// A source of panels: `outputs` columns in `groups` groups, taps * channels rows, with the distances in elements.
struct PanelSource {
  int64_t outputs, groups, taps, channels, outputStride, tapStride, channelStride;
  int64_t run = 1, interleave = 1; // how rows lie in a panel
};
} // namespace

static Value packConstant(OpBuilder &b, Location loc, ElementsAttr attribute, const PanelSource &from) {
  ir::ConstantView view(attribute);
  constexpr int64_t width = kPanelWidth;
  int64_t groupOutputs = from.outputs / from.groups, panels = llvm::divideCeil(groupOutputs, width);
  kernel::PanelPlaces places{from.taps * from.channels, std::max<int64_t>(from.run, 1), from.interleave};
  SmallVector<int64_t> shape{from.groups * panels, places.rows(), width};
  if (from.interleave > 1) shape.push_back(from.interleave);
  auto type = RankedTensorType::get(shape, view.elementType());
  // Rows of padding meet zeros of the left side: nothing that is not finite may stand there.
  bool isPadded = places.rows() * from.interleave > places.depth;
  bool mayRepeat = !isPadded || !isa<FloatType>(view.elementType()) || std::isfinite(view.asDouble(0));
  if (view.isSplat() && mayRepeat) return constantOf(b, loc, type, view.bytes().vec());
  std::vector<char> repeated = view.isSplat() ? view.expanded() : std::vector<char>();
  ArrayRef<char> data = view.isSplat() ? ArrayRef<char>(repeated) : view.bytes();
  std::vector<char> bytes(type.getNumElements() * storageBytes(view.elementType()), 0);
  withElement(view.elementType(), [&](auto *element) {
    using T = std::remove_pointer_t<decltype(element)>;
    const T *source = reinterpret_cast<const T *>(data.data());
    T *panel = reinterpret_cast<T *>(bytes.data());
    for (int64_t group = 0; group < from.groups; ++group)
      for (int64_t p = 0; p < panels; ++p, panel += places.size()) {
        const T *columns = source + (group * groupOutputs + p * width) * from.outputStride;
        int64_t count = std::min(width, groupOutputs - p * width);
        for (int64_t tap = 0, k = 0; tap < from.taps; ++tap)
          for (int64_t channel = 0; channel < from.channels; ++channel, ++k) {
            T *row = panel + places.at(k, 0);
            for (int64_t j = 0; j < count; ++j)
              row[j * from.interleave] =
                  columns[j * from.outputStride + tap * from.tapStride + channel * from.channelStride];
          }
      }
  });
  return constantOf(b, loc, type, std::move(bytes));
}

Value sprig::cpu::converted(OpBuilder &b, Location loc, Value value, FloatType element) {
  RankedTensorType type = tensorOf(value).clone(element);
  ElementsAttr attribute = readableConstant(value);
  if (!attribute) return ir::CastOp::create(b, loc, type, value);
  auto from = cast<FloatType>(tensorOf(value).getElementType());
  size_t fromBytes = from.getWidth() / 8, toBytes = element.getWidth() / 8;
  ir::ConstantView view(attribute);
  ArrayRef<char> floats = view.bytes();
  std::vector<char> results(floats.size() / fromBytes * toBytes);
  for (size_t i = 0; i < results.size() / toBytes; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, floats.data() + fromBytes * i, fromBytes);
    APFloat number(from.getFloatSemantics(), APInt(from.getWidth(), bits));
    bool inexact;
    number.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    bits = number.bitcastToAPInt().getZExtValue();
    std::memcpy(results.data() + toBytes * i, &bits, toBytes);
  }
  return constantOf(b, loc, type, std::move(results));
}

Value sprig::cpu::packed(OpBuilder &b, Location loc, Value matrix, bool transposedMatrix, int64_t interleave) {
  RankedTensorType type = tensorOf(matrix);
  int64_t outputs = type.getDimSize(transposedMatrix ? 0 : 1), depth = type.getDimSize(transposedMatrix ? 1 : 0);
  if (ElementsAttr attribute = readableConstant(matrix))
    return packConstant(b, loc, attribute,
                        transposedMatrix ? PanelSource{outputs, 1, 1, depth, depth, 0, 1, depth, interleave}
                                         : PanelSource{outputs, 1, 1, depth, 1, 0, outputs, depth, interleave});
  return kernel::PackOp::create(b, loc, matrix, transposedMatrix, /*groups=*/1, interleave);
}

Value sprig::cpu::packedCodes(OpBuilder &b, Location loc, int64_t depth, int64_t columns, int64_t bits,
                              llvm::function_ref<int64_t(int64_t, int64_t)> code) {
  kernel::NarrowPlaces places{depth, bits};
  int64_t panels = llvm::divideCeil(columns, kPanelWidth);
  std::vector<char> bytes(size_t(panels * places.size()), 0);
  for (int64_t column = 0; column < columns; ++column) {
    char *panel = bytes.data() + column / kPanelWidth * places.size();
    for (int64_t k = 0; k < depth; ++k)
      panel[places.byteAt(k, column % kPanelWidth)] |= char(code(k, column) << places.shiftOf(k));
  }
  Type ui8 = b.getIntegerType(8, /*isSigned=*/false);
  return constantOf(b, loc, RankedTensorType::get({panels, places.words(), kPanelWidth, 4}, ui8), std::move(bytes));
}

Value sprig::cpu::packedFilter(OpBuilder &b, Location loc, Value filter, int64_t groups) {
  RankedTensorType type = tensorOf(filter);
  int64_t outputs = type.getDimSize(0), channels = type.getDimSize(1), taps = 1;
  for (int64_t size : type.getShape().drop_front(2)) taps *= size;
  if (ElementsAttr attribute = readableConstant(filter))
    return packConstant(b, loc, attribute, {outputs, groups, taps, channels, channels * taps, 1, taps});
  Value matrix = reshaped(b, loc, filter, {outputs, channels, taps});
  matrix = transposed(b, loc, matrix, {0, 2, 1});
  matrix = reshaped(b, loc, matrix, {outputs, taps * channels});
  return kernel::PackOp::create(b, loc, matrix, /*transposed=*/true, groups);
}

Value sprig::cpu::packedInterleavedFilter(OpBuilder &b, Location loc, Value filter, int64_t groups, int64_t run) {
  RankedTensorType type = tensorOf(filter);
  int64_t outputs = type.getDimSize(0), channels = type.getDimSize(1), taps = 1;
  for (int64_t size : type.getShape().drop_front(2)) taps *= size;
  return packConstant(
      b, loc, readableConstant(filter),
      {outputs, groups, taps, channels, channels * taps, 1, taps, run, kernel::interleaveOf(type.getElementType())});
}

Value sprig::cpu::packedDepthwiseFilter(OpBuilder &b, Location loc, Value filter) {
  ArrayRef<int64_t> shape = tensorOf(filter).getShape();
  auto places = kernel::DepthwisePlaces::get(shape.drop_front(2), shape[0]);
  auto type = RankedTensorType::get(places.shape(), b.getI8Type());
  std::vector<char> source = ir::ConstantView(readableConstant(filter)).expanded(), bytes(type.getNumElements(), 0);
  for (int64_t channel = 0, i = 0; channel < places.channels; ++channel)
    for (int64_t above = 0; above < places.above; ++above)
      for (int64_t tap = 0; tap < places.width; ++tap, ++i) bytes[places.at(above, tap, channel)] = source[i];
  return constantOf(b, loc, type, std::move(bytes));
}
