#include "dialects/Interfaces/Touch.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include <algorithm>

using namespace mlir;
using namespace sprig;

Touched &Touched::operator+=(const Touched &other) {
  bytes += other.bytes;
  accesses += other.accesses;
  accessedBytes += other.accessedBytes;
  spread = std::max(spread, other.spread);
  return *this;
}

Touched Touched::upTo(int64_t most) const {
  int64_t inOrder = std::min(bytes, most);
  return {inOrder, accesses, std::min(accessedBytes, most - inOrder), spread};
}

Touched Touched::times(double count) const {
  auto scaled = [&](int64_t value) { return int64_t(double(value) * count); };
  return {scaled(bytes), scaled(accesses), scaled(accessedBytes), spread};
}

Touched sprig::wholeOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape()) return {};
  return {shaped.getNumElements() * storageBytes(shaped.getElementType())};
}

Touched sprig::runsIn(Type type, int64_t runs, int64_t bytes) {
  if (runs == 0 || bytes == 0) return {};
  // Runs that are no whole lines begin anywhere in one.
  double lines = bytes % kCacheLine == 0 ? double(bytes / kCacheLine) : 1 + double(bytes - 1) / kCacheLine;
  return {int64_t(std::min(double(runs) * lines * kCacheLine, double(wholeOf(type).bytes)))};
}

Touched sprig::placesIn(Type type, int64_t places, int64_t bytes, int64_t window) {
  constexpr int64_t kNear = 16 << 10;
  int64_t touched = runsIn(type, places, bytes).bytes;
  if (window <= kNear) return {touched, places};
  return {0, places, touched, wholeOf(type).bytes};
}

// An operation that gives its operand another form touches no more of it than its own readers do of the result.
Touched sprig::touchedBy(OpOperand &use) {
  Operation *op = use.getOwner();
  auto touching = dyn_cast<TouchOpInterface>(op);
  Touched touched = touching ? touching.getTouchedOperand(use.getOperandNumber()) : wholeOf(use.get().getType());
  bool isView = use.getOperandNumber() == 0 && (sharesStorage(op) || fusionKind(op) == FusionKind::view);
  if (!isView) return touched;
  Touched ofReaders = touchedOf(op->getResult(0));
  return ofReaders.total() < touched.total() ? ofReaders : touched;
}

Touched sprig::touchedOf(Value value) {
  Touched all = wholeOf(value.getType()), sum;
  if (value.use_empty()) return all; // whoever asks has a reason
  for (OpOperand &use : value.getUses()) {
    Touched touched = touchedBy(use);
    if (touched.bytes >= all.bytes && !touched.accesses) return all;
    sum += touched;
  }
  return sum.upTo(all.bytes);
}

Touched sprig::touchedToMake(Value value) {
  auto result = dyn_cast<OpResult>(storageOf(value));
  auto touching = result ? dyn_cast<TouchOpInterface>(result.getOwner()) : TouchOpInterface();
  return touching ? touching.getTouchedResult(result.getResultNumber()) : wholeOf(value.getType());
}

Touched sprig::touchedAt(Operation *op) {
  Touched sum;
  for (OpOperand &operand : op->getOpOperands()) sum += touchedBy(operand);
  for (Value result : op->getResults()) sum += touchedToMake(result);
  return sum;
}

#include "dialects/Interfaces/TouchInterface.cpp.inc"
