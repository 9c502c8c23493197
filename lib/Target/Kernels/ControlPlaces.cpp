#include "lib/Target/Kernels/ControlPlaces.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "lib/Target/Kernels/ElementBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;

static constexpr int64_t kAlignment = 64;

static int64_t alignedBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return llvm::alignTo(tensor.getNumElements() * storageBytes(tensor.getElementType()), kAlignment);
}

bool sprig::consistsOfParts(Operation *control, const ControlParts &parts) {
  for (Region &region : control->getRegions())
    for (Operation &inner : region.front().without_terminator()) {
      auto part = dyn_cast<kernel::DispatchOp>(inner);
      if (part ? !parts.hasKernel(part) : !sharesStorage(&inner)) return false;
    }
  return true;
}

SmallVector<kernel::DispatchOp> sprig::partsOf(Operation *control) {
  SmallVector<kernel::DispatchOp> parts;
  for (Region &region : control->getRegions()) llvm::append_range(parts, region.front().getOps<kernel::DispatchOp>());
  return parts;
}

// Results in program order, each as low as what is alive beside it allows.
RegionPlaces::RegionPlaces(Block &block, const llvm::DenseSet<Value> &elsewhere, int64_t start) : end(start) {
  llvm::DenseMap<Value, int64_t> last; // when a result is read last, through views too
  int64_t time = 0;
  for (Operation &op : block) {
    for (Value operand : op.getOperands()) last[storageOf(operand)] = time;
    ++time;
  }
  struct Place {
    int64_t offset, end, last;
  };
  SmallVector<Place> places; // by offset
  time = 0;
  for (Operation &op : block) {
    llvm::erase_if(places, [&](const Place &place) { return place.last < time; });
    if (isa<kernel::DispatchOp>(op))
      for (Value result : op.getResults()) {
        if (elsewhere.contains(result)) continue;
        int64_t bytes = alignedBytes(result.getType()), offset = start;
        auto at = places.begin();
        for (; at != places.end() && at->offset < offset + bytes; ++at) offset = std::max(offset, at->end);
        at = llvm::find_if(places, [&](const Place &place) { return place.offset >= offset; });
        // A result that nothing reads is still written.
        places.insert(at, {offset, offset + bytes, std::max(time, last.lookup(result))});
        offsets[result] = offset;
        end = std::max(end, offset + bytes);
      }
    ++time;
  }
}

std::optional<unsigned> sprig::positionInDispatch(kernel::DispatchOp dispatch, Value result) {
  for (auto [i, value] : llvm::enumerate(dispatch->getRegion(0).front().getTerminator()->getOperands()))
    if (value == result) return i;
  return std::nullopt;
}

BranchPlaces::BranchPlaces(kernel::DispatchOp dispatch, ir::CondOp cond, Block &block, int64_t partScratch) {
  llvm::DenseSet<Value> elsewhere;
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
    std::optional<unsigned> result = positionInDispatch(dispatch, cond.getResult(i));
    if (!result) continue;
    if (isa_and_present<kernel::DispatchOp>(value.getDefiningOp()) && direct.try_emplace(value, *result).second)
      elsewhere.insert(value);
    else
      copies.push_back({value, *result});
  }
  region.emplace(block, elsewhere, llvm::alignTo(partScratch, kAlignment));
}

int64_t sprig::scratchOf(kernel::DispatchOp dispatch, ir::CondOp cond, int64_t partScratch) {
  int64_t bytes = 0;
  for (Block *block : {&cond.getThen(), &cond.getElse()})
    bytes = std::max(bytes, BranchPlaces(dispatch, cond, *block, partScratch).region->end);
  return bytes;
}

// Whether a part of the body may write `result` where the carried value lies.
static bool mayReplace(BlockArgument carried, OpResult result, const ControlParts &parts) {
  auto part = cast<kernel::DispatchOp>(result.getOwner());
  SmallVector<Value> open{carried};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (sharesStorage(user)) {
        if (Value shared = sharedBy(use)) open.push_back(shared);
      } else if (user == part) {
        bool mayOverwriteIt =
            value == carried && parts.mayOverwrite(part, use.getOperandNumber(), result.getResultNumber());
        if (!mayOverwriteIt) return false;
      } else if (!user->isBeforeInBlock(part)) {
        return false;
      }
    }
  }
  return true;
}

WhilePlaces::WhilePlaces(kernel::DispatchOp dispatch, ir::WhileOp loop, const ControlParts &parts, int64_t partScratch)
    : loop(loop), next(loop.getStep().getTerminator()->getOperands()) {
  int64_t end = llvm::alignTo(partScratch, kAlignment);
  auto take = [&](Type type) {
    int64_t offset = end;
    end += alignedBytes(type);
    return offset;
  };
  llvm::DenseSet<Value> elsewhere;
  for (unsigned i = 0; i < next.size(); ++i) {
    bool isResult = positionInDispatch(dispatch, loop.getResult(i)).has_value();
    current.push_back(isResult ? -1 : take(next[i].getType()));
    BlockArgument carried = loop.getStep().getArgument(i);
    auto result = dyn_cast<OpResult>(next[i]);
    if (result && isa<kernel::DispatchOp>(result.getOwner()) && mayReplace(carried, result, parts) &&
        direct.try_emplace(next[i], i).second)
      elsewhere.insert(next[i]);
    auto root = dyn_cast<BlockArgument>(storageOf(next[i]));
    if (root && root.getArgNumber() < next.size() && root != carried) saved[i] = take(next[i].getType());
  }
  condition.emplace(loop.getTest(), llvm::DenseSet<Value>(), end);
  body.emplace(loop.getStep(), elsewhere, end);
  scratch = std::max(condition->end, body->end);
}

bool WhilePlaces::isInPlace(unsigned carried) const {
  if (direct.contains(next[carried]) && direct.lookup(next[carried]) == carried) return true;
  return storageOf(next[carried]) == ir::WhileOp(loop).getStep().getArgument(carried);
}

Value sprig::viewAs(OpBuilder &b, Location loc, Value buffer, Type tensor) {
  auto type = bufferType(cast<RankedTensorType>(tensor));
  if (buffer.getType() == type) return buffer;
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  (void)type.getStridesAndOffset(strides, offset); // of an identity layout, which always has them
  return memref::ReinterpretCastOp::create(b, loc, type, buffer, /*offset=*/int64_t{0}, type.getShape(), strides);
}
