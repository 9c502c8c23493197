#include "dialects/NN/Constants.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/Storage.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include <cstring>

using namespace mlir;

namespace sprig::ir {

/// From this size on a constant is a resource: hashing and comparing its content would cost more than uniquing saves.
static constexpr size_t kResourceBytes = 4096;

bool isReadableConstant(ElementsAttr attribute, std::string &reason) {
  auto type = dyn_cast<RankedTensorType>(attribute.getType());
  if (!type || !type.hasStaticShape() || !isStorable(type.getElementType()) || !isCountable(type.getShape())) {
    reason = "is no tensor of static shape whose elements programs can hold";
    return false;
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    const AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob) {
      reason = "names the resource '" + resource.getRawHandle().getKey().str() + "', which is not there";
      return false;
    }
    int64_t want = type.getNumElements() * storageBytes(type.getElementType());
    if (static_cast<int64_t>(blob->getData().size()) != want) {
      reason = "has a resource of " + std::to_string(blob->getData().size()) + " bytes where its type takes " +
               std::to_string(want);
      return false;
    }
    return true;
  }
  if (isa<DenseIntOrFPElementsAttr>(attribute)) return true;
  reason = "is neither dense nor a dense resource";
  return false;
}

ConstantView::ConstantView(ElementsAttr attribute)
    : tensorType(cast<RankedTensorType>(attribute.getType())), elementBytes(storageBytes(tensorType.getElementType())) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    view = resource.getData();
    splat = size() == 1;
    return;
  }
  auto dense = cast<DenseIntOrFPElementsAttr>(attribute);
  splat = dense.isSplat();
  view = dense.getRawData();
  if (elementType().isInteger(1) && size() > 0) { // stored as bits
    if (splat)
      owned.push_back(dense.getSplatValue<bool>());
    else
      for (bool value : dense.getValues<bool>()) owned.push_back(value);
  }
  view = view.take_front(splat ? elementBytes : size() * elementBytes);
}

std::vector<char> ConstantView::expanded() const {
  if (!splat) return {bytes().begin(), bytes().end()};
  std::vector<char> all(size() * elementBytes);
  for (int64_t i = 0; i < size(); ++i) std::memcpy(all.data() + i * elementBytes, bytes().data(), elementBytes);
  return all;
}

static uint64_t readBits(ArrayRef<char> bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), bytes.size());
  return bits;
}

double ConstantView::asDouble(int64_t index) const {
  Type type = elementType();
  uint64_t bits = readBits(element(index));
  if (auto floating = dyn_cast<FloatType>(type)) {
    APFloat value(floating.getFloatSemantics(), APInt(floating.getWidth(), bits));
    bool lossy;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    return value.convertToDouble();
  }
  if (type.isUnsignedInteger() || type.isInteger(1)) return static_cast<double>(bits);
  return static_cast<double>(asInt64(index));
}

int64_t ConstantView::asInt64(int64_t index) const {
  Type type = elementType();
  if (isa<FloatType>(type)) return static_cast<int64_t>(asDouble(index));
  uint64_t bits = readBits(element(index));
  if (type.isUnsignedInteger() || type.isInteger(1)) return static_cast<int64_t>(bits);
  return APInt(type.getIntOrFloatBitWidth(), bits).getSExtValue();
}

/// Whether all elements have the bits of the first.
static bool allEqual(ArrayRef<char> bytes, size_t element) {
  return bytes.size() > element && std::memcmp(bytes.data(), bytes.data() + element, bytes.size() - element) == 0;
}

static DenseElementsAttr makeDense(RankedTensorType type, ArrayRef<char> bytes) {
  if (!type.getElementType().isInteger(1)) return DenseElementsAttr::getFromRawBuffer(type, bytes);
  SmallVector<bool> bits(bytes.begin(), bytes.end());
  return DenseElementsAttr::get(type, bits);
}

ElementsAttr makeConstant(RankedTensorType type, ArrayRef<char> bytes) {
  return makeConstant(type, std::vector<char>(bytes.begin(), bytes.end()));
}

ElementsAttr makeConstant(RankedTensorType type, std::vector<char> bytes) {
  auto kept = std::make_shared<const std::vector<char>>(std::move(bytes));
  return makeConstant(type, *kept, kept);
}

ElementsAttr makeConstant(RankedTensorType type, ArrayRef<char> bytes, std::shared_ptr<const void> owner) {
  size_t element = storageBytes(type.getElementType());
  if (bytes.size() < kResourceBytes) return makeDense(type, bytes);
  if (allEqual(bytes, element)) return makeDense(type, bytes.take_front(element));
  AsmResourceBlob blob(bytes, element, [owner = std::move(owner)](void *, size_t, size_t) {}, /*dataIsMutable=*/false);
  return DenseResourceElementsAttr::get(type, "data", std::move(blob));
}

ElementsAttr makeSplat(RankedTensorType type, double value) {
  Type element = type.getElementType();
  if (auto floating = dyn_cast<FloatType>(element)) {
    APFloat rounded(value);
    bool lossy;
    rounded.convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lossy);
    return DenseElementsAttr::get(type, rounded);
  }
  return DenseElementsAttr::get(type, nearestInteger(value, cast<IntegerType>(element)));
}

Value createSplat(OpBuilder &builder, Location loc, Type type, double value) {
  return ConstantOp::create(builder, loc, type, makeSplat(cast<RankedTensorType>(type), value));
}

DenseElementsAttr splatOf(Operation *op) {
  auto constant = dyn_cast_if_present<ConstantOp>(op);
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return dense && dense.isSplat() ? dense : DenseElementsAttr();
}

APInt nearestInteger(double value, IntegerType type) {
  if (type.getWidth() == 1) return APInt(1, value != 0);
  APSInt integer(type.getWidth(), type.isUnsigned());
  bool exact;
  APFloat(value).convertToInteger(integer, APFloat::rmTowardZero, &exact); // saturates, and takes NaN as 0
  return integer;
}

} // namespace sprig::ir
