#include "lib/Schedule/Order.h"
#include "lib/Schedule/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

namespace sprig {
#define GEN_PASS_DEF_ASSIGNLANES
#include "lib/Schedule/Passes.h.inc"
} // namespace sprig

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;
namespace order = sprig::rt::order;

namespace {

struct Task {
  CommandOpInterface command;
  double seconds = 0;
  SmallVector<unsigned> before; // tasks that touch the same bytes before it
  double rank = 0;              // seconds from its begin to the end of the program at best, hand-offs included
  unsigned lane = 0;
  unsigned index = 0; // in its lane
  double end = 0;
};

/// List scheduling by upward rank (HEFT: Topcuoglu, Hariri, Wu, 2002) on lanes that are all alike.
class LaneScheduler {
public:
  LaneScheduler(unsigned lanes, double handOff) : sequences(lanes), handOff(handOff) {}

  void add(CommandOpInterface command, double seconds) {
    tasks.emplace_back();
    tasks.back().command = command;
    tasks.back().seconds = seconds;
  }
  /// Of commands that touch the same bytes, the later waits for the earlier where one of the two writes.
  void depend(const order::Schedule &schedule);
  void assign();
  double seconds() const;
  unsigned usedLanes() const {
    return llvm::count_if(sequences, [](const auto &sequence) { return !sequence.empty(); });
  }
  /// Moves the commands from `lane` to lanes after it, with events between them; returns the number of these.
  unsigned emit(LaneOp lane);

private:
  void rankTasks();
  double startOn(const Task &task, unsigned lane) const;

  SmallVector<Task> tasks;
  SmallVector<SmallVector<unsigned>> sequences; // of lanes: their tasks
  double handOff;
};

void LaneScheduler::depend(const order::Schedule &schedule) {
  struct Use {
    unsigned task;
    order::Region region;
    bool writes;
  };
  DenseMap<uint32_t, SmallVector<Use>> uses; // by space
  for (auto [index, command] : llvm::enumerate(schedule.commands)) {
    ArrayRef<order::Access> accesses = ArrayRef(schedule.accesses).slice(command.firstAccess, command.accessCount);
    for (const order::Access &access : accesses) {
      const order::Region &region = schedule.regions[access.region];
      SmallVector<Use> &earlier = uses[region.space];
      for (const Use &use : earlier)
        if (use.task != index && (use.writes || access.writes) && use.region.begin < region.end &&
            region.begin < use.region.end && !llvm::is_contained(tasks[index].before, use.task))
          tasks[index].before.push_back(use.task);
      // Who waits for this write waits for all before it on the same bytes.
      if (access.writes)
        llvm::erase_if(earlier, [&](const Use &use) {
          return use.task != index && region.begin <= use.region.begin && use.region.end <= region.end;
        });
      earlier.push_back({unsigned(index), region, access.writes});
    }
  }
}

// Backwards: the commands are in an order in which they can run.
void LaneScheduler::rankTasks() {
  for (Task &task : llvm::reverse(tasks)) {
    task.rank += task.seconds;
    for (unsigned earlier : task.before) tasks[earlier].rank = std::max(tasks[earlier].rank, handOff + task.rank);
  }
}

double LaneScheduler::startOn(const Task &task, unsigned lane) const {
  double start = sequences[lane].empty() ? 0 : tasks[sequences[lane].back()].end;
  for (unsigned earlier : task.before)
    start = std::max(start, tasks[earlier].end + (tasks[earlier].lane == lane ? 0 : handOff));
  return start;
}

void LaneScheduler::assign() {
  rankTasks();
  SmallVector<unsigned> byRank(tasks.size());
  std::iota(byRank.begin(), byRank.end(), 0);
  // A command's rank is never below that of one that waits for it; of equal ones the earlier comes first.
  llvm::stable_sort(byRank, [&](unsigned a, unsigned b) { return tasks[a].rank > tasks[b].rank; });
  for (unsigned index : byRank) {
    Task &task = tasks[index];
    double earliest = startOn(task, 0);
    for (unsigned lane = 1; lane < sequences.size(); ++lane)
      if (double start = startOn(task, lane); start < earliest) {
        earliest = start;
        task.lane = lane;
      }
    task.end = earliest + task.seconds;
    task.index = sequences[task.lane].size();
    sequences[task.lane].push_back(index);
  }
}

double LaneScheduler::seconds() const {
  double end = 0;
  for (const Task &task : tasks) end = std::max(end, task.end);
  return end;
}

unsigned LaneScheduler::emit(LaneOp first) {
  OpBuilder b(first.getContext());
  SmallVector<LaneOp> lanes = {first};
  b.setInsertionPointAfter(first);
  while (lanes.size() < sequences.size()) {
    lanes.push_back(LaneOp::create(b, first.getLoc(), first.getDeviceAttr()));
    lanes.back().getBody().emplaceBlock();
  }
  for (auto [lane, sequence] : llvm::zip_equal(lanes, sequences))
    for (unsigned index : sequence)
      tasks[index].command->moveBefore(&lane.getBody().front(), lane.getBody().front().end());

  // In an order in which they can run: what each knows of the others' lanes, so that it waits for what is new alone.
  SmallVector<unsigned> byRank(tasks.size());
  std::iota(byRank.begin(), byRank.end(), 0);
  llvm::stable_sort(byRank, [&](unsigned a, unsigned c) { return tasks[a].rank > tasks[c].rank; });
  SmallVector<SmallVector<unsigned>> known(tasks.size()); // commands of each lane that are over after the task
  DenseMap<unsigned, int64_t> events;                     // of tasks that others wait for
  for (unsigned index : byRank) {
    Task &task = tasks[index];
    SmallVector<unsigned> &mine = known[index];
    mine = task.index ? known[sequences[task.lane][task.index - 1]] : SmallVector<unsigned>(lanes.size(), 0);
    SmallVector<unsigned> others(task.before);
    // The latest first: it may bring the others.
    llvm::stable_sort(others, [&](unsigned a, unsigned c) { return tasks[a].end > tasks[c].end; });
    for (unsigned other : others) {
      const Task &earlier = tasks[other];
      if (earlier.lane == task.lane || mine[earlier.lane] > earlier.index) continue;
      auto [event, fresh] = events.try_emplace(other, int64_t(events.size()));
      if (fresh) {
        b.setInsertionPointAfter(earlier.command);
        RecordOp::create(b, earlier.command->getLoc(), event->second);
      }
      b.setInsertionPoint(task.command);
      WaitOp::create(b, task.command->getLoc(), event->second);
      for (auto [seen, fromThere] : llvm::zip_equal(mine, known[other])) seen = std::max(seen, fromThere);
    }
    mine[task.lane] = task.index + 1;
  }
  for (LaneOp lane : llvm::drop_begin(lanes))
    if (lane.getBody().front().empty()) lane.erase();
  return events.size();
}

struct AssignLanes : sprig::impl::AssignLanesBase<AssignLanes> {
  using AssignLanesBase::AssignLanesBase;

  void runOnOperation() override {
    if (lanes < 1 || flopsPerSecond <= 0 || bytesPerSecond <= 0 || handOff < 0) {
      getOperation().emitError("assign-lanes needs at least 1 lane and rates above 0");
      return signalPassFailure();
    }
    if (lanes == 1) return;
    SymbolTableCollection symbols;
    for (auto program : getOperation().getOps<ProgramOp>()) assign(program, symbols);
  }

private:
  void assign(ProgramOp program, SymbolTableCollection &symbols) {
    auto all = llvm::to_vector(program.getBody().getOps<LaneOp>());
    // What shares bytes of an arena is in order as it is; what has lanes was given them.
    if (all.size() != 1 || program.getArenas()) return;
    ProgramOrder ordered = orderOf(program, &symbols);
    LaneScheduler scheduler(lanes, handOff);
    double alone = 0;
    for (CommandOpInterface command : ordered.commands) {
      if (command.isEvent()) return;
      double seconds = secondsOf(command, symbols);
      scheduler.add(command, seconds);
      alone += seconds;
    }
    scheduler.depend(ordered.schedule);
    scheduler.assign();
    // Hand-offs may take what the lanes win.
    if (scheduler.usedLanes() < 2 || scheduler.seconds() >= alone) return;
    unsigned used = scheduler.usedLanes(), events = scheduler.emit(all.front());
    std::string text = llvm::formatv(
        "program '{0}': {1} commands on {2} lanes with {3} events; {4:f2} us, on one {5:f2}", program.getSymName(),
        ordered.commands.size(), used, events, scheduler.seconds() * 1e6, alone * 1e6);
    remark::passed(program.getLoc(), remark::RemarkOpts::name("lanes").category("schedule")) << text;
  }

  double secondsOf(CommandOpInterface command, SymbolTableCollection &symbols) {
    SmallVector<BufferAccess> accesses;
    command.getAccesses(symbols, accesses);
    int64_t bytes = 0;
    for (const BufferAccess &access : accesses) bytes += access.end - access.begin;
    return std::max(double(command.countFlops(symbols)) / flopsPerSecond, double(bytes) / bytesPerSecond);
  }
};
} // namespace
