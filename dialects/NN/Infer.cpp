#include "dialects/NN/Infer.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNLoss.h"
#include "dialects/NN/NNUnary.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace sprig::ir {

std::string describe(Type type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    for (int64_t size : tensor.getShape()) (ShapedType::isDynamic(size) ? out << "?" : out << size) << "x";
    out << tensor.getElementType();
  } else {
    out << type;
  }
  return text;
}

FailureOr<SmallVector<int64_t>> broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> shape(std::max(a.size(), b.size()));
  for (size_t i = 0; i < shape.size(); ++i) { // from the last dimension
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return failure();
    shape[shape.size() - 1 - i] = x == 1 ? y : x;
  }
  return shape;
}

bool isCountable(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  if (llvm::is_contained(shape, 0)) return true;
  for (int64_t size : shape)
    if (llvm::MulOverflow(count, size, count) || count > kMostElements) return false;
  return true;
}

bool isStorable(Type element) {
  if (isa<Float64Type, Float32Type, Float16Type, BFloat16Type>(element)) return true;
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || integer.isSigned()) return false;
  return llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth()) || integer.isSignlessInteger(1);
}

LogicalResult Inference::give(RankedTensorType type) const {
  if (!isCountable(type.getShape()))
    return fail("has a result of shape ", describe(type), ", of more than 2^", llvm::Log2_64(kMostElements),
                " elements");
  results.push_back(type);
  return success();
}

LogicalResult Inference::giveTypeOf(Value operand, bool asFlags) const {
  auto type = tensor(operand, "operand");
  if (failed(type)) return failure();
  return give(asFlags ? type->clone(IntegerType::get(type->getContext(), 1)) : *type);
}

FailureOr<RankedTensorType> Inference::tensor(Value operand, StringRef name) const {
  if (!operand) return fail("has no ", name);
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (!type || !type.hasStaticShape())
    return fail("takes a tensor of static shape as ", name, ", got ", describe(operand.getType()));
  if (!isCountable(type.getShape())) return fail("takes ", name, " of uncountable shape ", describe(type));
  return type;
}

LogicalResult Inference::present(Attribute attribute, StringRef name) const {
  return attribute ? success() : fail("has no attribute '", name, "'");
}

FailureOr<ArrayRef<int64_t>> Inference::array(DenseI64ArrayAttr attribute, StringRef name, int64_t size,
                                              StringRef per) const {
  if (failed(present(attribute, name))) return failure();
  if (size >= 0 && attribute.size() != size) return fail("has ", attribute.size(), " ", name, " for ", size, " ", per);
  return attribute.asArrayRef();
}

FailureOr<int64_t> Inference::axis(IntegerAttr attribute, RankedTensorType tensor) const {
  if (failed(present(attribute, "axis"))) return failure();
  int64_t axis = attribute.getInt();
  if (axis < 0 || axis >= tensor.getRank())
    return fail("has axis ", axis, " on ", describe(tensor), " of rank ", tensor.getRank());
  return axis;
}

LogicalResult Inference::sameElementType(RankedTensorType a, StringRef aName, RankedTensorType b,
                                         StringRef bName) const {
  if (a.getElementType() == b.getElementType()) return success();
  return fail("combines ", describe(a.getElementType()), " of ", aName, " with ", describe(b.getElementType()), " of ",
              bName);
}

LogicalResult Inference::rankAtLeast(RankedTensorType type, StringRef name, int64_t rank) const {
  if (type.getRank() >= rank) return success();
  return fail("takes ", name, " of rank ", rank, " or more, got ", describe(type), " of rank ", type.getRank());
}

FailureOr<SmallVector<int64_t>> Inference::broadcast(RankedTensorType a, StringRef aName, RankedTensorType b,
                                                     StringRef bName) const {
  auto shape = broadcastShapes(a.getShape(), b.getShape());
  if (failed(shape)) return fail("does not broadcast ", aName, " ", describe(a), " with ", bName, " ", describe(b));
  return shape;
}

bool isCheckedAtRunTime(Operation *op) {
  if (isa<ClassIndexOp, InRangeOp>(op)) return true;
  return isa<DivOp, RemOp, ModOp>(op) && isa<IntegerType>(getElementTypeOrSelf(op->getResult(0).getType()));
}

} // namespace sprig::ir
