#include "lib/Schedule/SplitLanes.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

namespace {
class Splitter {
public:
  Splitter(LaneOp lane, ArrayRef<DeviceOp> devices) : given(lane), devices(devices), lanes(devices.size()) {
    lanes[0].op = lane;
  }

  void add(CommandOpInterface command, unsigned device);
  /// Lanes after the first where there are commands, in the order of devices.
  void finish();

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
    SmallVector<unsigned> tasks;
  };
  struct Use {
    std::optional<unsigned> writer;
    SmallVector<unsigned> readers; // since
  };

  void waitFor(unsigned other, Task &task);
  Value bytesOf(Value value);

  LaneOp given;
  ArrayRef<DeviceOp> devices;
  SmallVector<Lane> lanes;
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

void Splitter::add(CommandOpInterface command, unsigned device) {
  Lane &lane = lanes[device];
  if (!lane.op) {
    OpBuilder b(given.getContext());
    b.setInsertionPointToEnd(given->getBlock());
    DeviceOp place = devices[device];
    lane.op = LaneOp::create(b, given.getLoc(), FlatSymbolRefAttr::get(place.getSymNameAttr()));
    lane.op.getBody().emplaceBlock();
  }
  command->moveBefore(&lane.op.getBody().front(), lane.op.getBody().front().end());
  Task task{command, device, unsigned(lane.tasks.size()), {}, {}};
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
  // The latest first: it may bring the others.
  llvm::sort(before, std::greater<>());
  for (unsigned other : before)
    if (other != number) waitFor(other, task);
  task.known[device] = task.index + 1;
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

void sprig::splitLane(LaneOp lane, ArrayRef<DeviceOp> devices, const llvm::DenseMap<Operation *, unsigned> &deviceOf) {
  SmallVector<CommandOpInterface> commands;
  for (Operation &op : lane.getBody().front()) commands.push_back(cast<CommandOpInterface>(op));
  Splitter splitter(lane, devices);
  for (CommandOpInterface command : commands) splitter.add(command, deviceOf.lookup(command));
  splitter.finish();
}
