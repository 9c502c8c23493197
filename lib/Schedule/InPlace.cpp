#include "lib/Schedule/InPlace.h"
#include "lib/Schedule/Order.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;
namespace order = sprig::rt::order;

// A whole arena buffer that is copied to a whole output can be that output, unless it already is another one.
unsigned sprig::writeOutputsInPlace(ProgramOp program) {
  unsigned removed = 0;
  SmallVector<CopyOp> copies;
  program.walk([&](CopyOp copy) { copies.push_back(copy); });
  for (CopyOp copy : copies) {
    auto source = copy.getSource().getDefiningOp<BufferOp>(), target = copy.getTarget().getDefiningOp<BufferOp>();
    if (source.getKind() != BufferKind::arena || target.getKind() != BufferKind::output) continue;
    if (source.getPlace() != target.getPlace()) continue;
    // Another command on the output, or a second copy into it, would see the value too early.
    if (!target->hasOneUse() || target.getOffset().value_or(0) != 0) continue;
    if (byteSize(source.getType()) != byteSize(program.getOutputType(*target.getIndex()))) continue;
    source->moveBefore(target);
    source.setKind(BufferKind::output);
    source.setIndexAttr(target.getIndexAttr());
    if (target.getLabelAttr()) source.setLabelAttr(target.getLabelAttr());
    copy.erase();
    target.erase();
    ++removed;
  }
  return removed;
}

namespace {
/// Which command is over before which begins, in its own lane or by events.
class CommandOrder {
public:
  explicit CommandOrder(ProgramOp program) {
    if (llvm::hasNItemsOrLess(program.getBody().getOps<LaneOp>(), 1)) return;
    ProgramOrder all = orderOf(program, /*symbols=*/nullptr);
    before.emplace(all.schedule);
    for (auto [lane, op] : llvm::enumerate(all.lanes))
      for (auto [index, command] : llvm::enumerate(op.getBody().front()))
        places[&command] = {uint32_t(lane), uint32_t(index)};
  }
  bool isBefore(Operation *first, Operation *second) const {
    if (first->getBlock() == second->getBlock()) return first->isBeforeInBlock(second);
    return before->isBefore(places.lookup(first), places.lookup(second));
  }

private:
  std::optional<order::HappensBefore> before; // of several lanes
  DenseMap<Operation *, order::Place> places;
};
} // namespace

/// Whether a command may write `result` over the operand of this use.
static bool mayTakePlaceOf(Operation *command, BufferOp result, OpOperand &use) {
  auto dispatch = dyn_cast<exec::DispatchOp>(command);
  return dispatch && llvm::any_of(dispatch.overwrites(), [&](OverwriteAttr over) {
           return over.getOperand() == use.getOperandNumber() &&
                  dispatch.getBuffers()[over.getResult()] == result.getResult();
         });
}

// A new value of a state that is copied there in the end is written there in the first place, where every other command
// that touches the state comes before the one that computes the value, or is that one and may overwrite it.
unsigned sprig::writeStatesInPlace(ProgramOp program) {
  unsigned removed = 0;
  CommandOrder order(program);
  llvm::DenseMap<Attribute, SmallVector<BufferOp>> states;
  for (auto buffer : program.getBody().getOps<BufferOp>())
    if (buffer.getKind() == BufferKind::state) states[buffer.getSourceAttr()].push_back(buffer);
  SmallVector<CopyOp> copies;
  program.walk([&](CopyOp copy) { copies.push_back(copy); });
  for (CopyOp copy : copies) {
    auto source = copy.getSource().getDefiningOp<BufferOp>(), target = copy.getTarget().getDefiningOp<BufferOp>();
    if (source.getKind() != BufferKind::arena || target.getKind() != BufferKind::state) continue;
    if (source.getPlace() != target.getPlace()) continue;
    if (target.getOffset().value_or(0) != 0) continue;
    Operation *producer = copy;
    for (Operation *user : source->getUsers())
      if (order.isBefore(user, producer)) producer = user;
    auto isLater = [&](Operation *user) { return user == producer || order.isBefore(producer, user); };
    if (!llvm::all_of(source->getUsers(), isLater)) continue;
    auto mayTouch = [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (user == copy) return true;
      return user == producer ? mayTakePlaceOf(producer, source, use) : order.isBefore(user, producer);
    };
    SmallVector<BufferOp> &views = states[target.getSourceAttr()];
    if (producer == copy ||
        !llvm::all_of(views, [&](BufferOp view) { return llvm::all_of(view->getUses(), mayTouch); }))
      continue;
    source.setKind(BufferKind::state);
    source.setSourceAttr(target.getSourceAttr());
    if (target.getLabelAttr()) source.setLabelAttr(target.getLabelAttr());
    copy.erase();
    views.push_back(source);
    if (target->use_empty()) {
      llvm::erase(views, target);
      target.erase();
    }
    ++removed;
  }
  return removed;
}
