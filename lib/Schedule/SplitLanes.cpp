#include "lib/Schedule/SplitLanes.h"
#include "lib/Schedule/RankPrograms.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

namespace {
class Splitter {
public:
  Splitter(LaneOp lane, ArrayRef<DeviceOp> devices, const LaneCommands &facts)
      : given(lane), devices(devices), facts(facts), lanes(devices.size()) {
    lanes[0].op = lane;
    for (auto [number, own] : llvm::enumerate(lanes)) own.device = number;
  }

  void run();

private:
  // How many commands of each lane are known to be over.
  using Known = SmallVector<unsigned>;
  struct Task {
    CommandOpInterface command;
    unsigned lane, index;
    Known known; // behind it
    std::optional<int64_t> event;
  };
  struct Lane {
    LaneOp op;
    unsigned device = 0;
    SmallVector<unsigned> tasks;
  };
  struct Use {
    std::optional<unsigned> writer;
    SmallVector<unsigned> readers; // since
  };

  unsigned laneOf(Operation *command);
  void add(CommandOpInterface command, unsigned number);
  /// Lanes after the first where there are commands, in the order of devices, then of copies.
  void finish();
  void waitFor(unsigned other, Task &task);
  Value bytesOf(Value value);

  LaneOp given;
  ArrayRef<DeviceOp> devices;
  const LaneCommands &facts;
  SmallVector<Lane> lanes; // of devices, then of the ways that copies go, or of collectives
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> ways;
  std::optional<unsigned> collectiveLane, lastCollective;
  std::vector<Task> tasks;
  llvm::DenseMap<Value, Use> uses; // by the buffer that stands for the bytes
  llvm::DenseMap<std::pair<Attribute, Attribute>, Value> shared;
  SymbolTableCollection symbols;
  int64_t events = 0;
};
} // namespace

// Several buffers name one state or one output.
Value Splitter::bytesOf(Value value) {
  auto buffer = value.getDefiningOp<BufferOp>();
  if (buffer.getKind() == BufferKind::arena) return value;
  Value &first = shared[{buffer.getSourceAttr(), buffer.getIndexAttr()}];
  if (!first) first = value;
  return first;
}

void Splitter::waitFor(unsigned other, Task &task) {
  Task &earlier = tasks[other];
  if (earlier.lane == task.lane || task.known[earlier.lane] > earlier.index) return;
  OpBuilder b(task.command);
  if (!earlier.event) {
    earlier.event = events++;
    b.setInsertionPointAfter(earlier.command);
    RecordOp::create(b, earlier.command->getLoc(), *earlier.event);
    b.setInsertionPoint(task.command);
  }
  WaitOp::create(b, task.command->getLoc(), *earlier.event);
  for (auto [mine, theirs] : llvm::zip_equal(task.known, earlier.known)) mine = std::max(mine, theirs);
}

unsigned Splitter::laneOf(Operation *command) {
  if (facts.apart.contains(command)) {
    if (!collectiveLane) {
      collectiveLane = lanes.size();
      lanes.emplace_back();
    }
    return *collectiveLane;
  }
  unsigned device = facts.device.lookup(command);
  auto target = facts.copiesTo.find(command);
  if (target == facts.copiesTo.end()) return device;
  auto [way, fresh] = ways.try_emplace({device, target->second}, lanes.size());
  if (fresh) lanes.emplace_back().device = device;
  return way->second;
}

void Splitter::add(CommandOpInterface command, unsigned laneNumber) {
  Lane &lane = lanes[laneNumber];
  if (!lane.op) {
    OpBuilder b(given.getContext());
    b.setInsertionPointToEnd(given->getBlock());
    DeviceOp place = devices[lane.device];
    lane.op = LaneOp::create(b, given.getLoc(), FlatSymbolRefAttr::get(place.getSymNameAttr()));
    lane.op.getBody().emplaceBlock();
  }
  command->moveBefore(&lane.op.getBody().front(), lane.op.getBody().front().end());
  Task task{command, laneNumber, unsigned(lane.tasks.size()), {}, {}};
  task.known = lane.tasks.empty() ? Known(lanes.size(), 0) : tasks[lane.tasks.back()].known;

  SmallVector<BufferAccess> accesses;
  command.getAccesses(symbols, accesses);
  SmallVector<unsigned> before;
  unsigned number = unsigned(tasks.size());
  for (const BufferAccess &access : accesses) {
    BufferKind kind = access.buffer.getDefiningOp<BufferOp>().getKind();
    if (kind == BufferKind::input || kind == BufferKind::constant) continue;
    Use &use = uses[bytesOf(access.buffer)];
    if (use.writer && *use.writer != number) before.push_back(*use.writer);
    if (writes(access.mode)) {
      llvm::append_range(before, use.readers);
      use = {number, {}};
    } else {
      use.readers.push_back(number);
    }
  }
  if (auto updated = facts.updates.find(command); updated != facts.updates.end())
    for (Value state : updated->second) llvm::append_range(before, uses[bytesOf(state)].readers);
  // All ranks come to their collectives in one order.
  if (isCollectiveCommand(command)) {
    if (lastCollective) before.push_back(*lastCollective);
    lastCollective = number;
  }
  // The latest first: it may bring the others.
  llvm::sort(before, std::greater<>());
  for (unsigned other : before)
    if (other != number) waitFor(other, task);
  task.known[laneNumber] = task.index + 1;
  lane.tasks.push_back(number);
  tasks.push_back(std::move(task));
}

void Splitter::finish() {
  Operation *last = given;
  for (Lane &lane : llvm::drop_begin(lanes))
    if (lane.op) {
      lane.op->moveAfter(last);
      last = lane.op;
    }
  // One lane stays, for a program that does nothing.
  if (given.getBody().front().empty() && last != given) given.erase();
}

void Splitter::run() {
  SmallVector<std::pair<CommandOpInterface, unsigned>> commands;
  for (Operation &op : given.getBody().front()) commands.emplace_back(cast<CommandOpInterface>(op), laneOf(&op));
  for (auto [command, lane] : commands) add(command, lane);
  finish();
}

void sprig::splitLane(LaneOp lane, ArrayRef<DeviceOp> devices, const LaneCommands &commands) {
  Splitter(lane, devices, commands).run();
}
