#include "test/unit/RandomGraphs/RandomLanes.h"
#include "lib/Schedule/Order.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include <random>

using namespace mlir;

namespace sprig::randoms {
namespace {

bool conflict(const rt::order::Schedule &schedule, size_t first, size_t second) {
  auto accessesOf = [&](size_t command) {
    const rt::order::Command &each = schedule.commands[command];
    return llvm::ArrayRef(schedule.accesses).slice(each.firstAccess, each.accessCount);
  };
  for (const rt::order::Access &a : accessesOf(first))
    for (const rt::order::Access &b : accessesOf(second)) {
      const rt::order::Region &x = schedule.regions[a.region], &y = schedule.regions[b.region];
      if ((a.writes || b.writes) && x.space == y.space && x.begin < y.end && y.begin < x.end) return true;
    }
  return false;
}

void scatterProgram(exec::ProgramOp program, unsigned laneCount, std::mt19937_64 &random) {
  SymbolTableCollection symbols;
  ProgramOrder order = orderOf(program, &symbols);
  if (order.lanes.size() != 1) return;
  size_t count = order.commands.size();
  std::vector<std::vector<size_t>> before(count); // that a command must not overtake
  for (size_t j = 0; j < count; ++j)
    for (size_t i = 0; i < j; ++i)
      if (conflict(order.schedule, i, j)) before[j].push_back(i);

  SmallVector<exec::LaneOp> lanes = {order.lanes[0]};
  OpBuilder b(program.getContext());
  for (unsigned lane = 1; lane < laneCount; ++lane) {
    b.setInsertionPointAfter(lanes.back());
    lanes.push_back(exec::LaneOp::create(b, lanes[0].getLoc(), lanes[0].getDeviceAttr()));
    lanes.back().getBody().emplaceBlock();
  }
  std::vector<char> isDone(count, false);
  std::vector<unsigned> laneOf(count);
  std::vector<int64_t> eventOf(count, -1);
  int64_t events = 0;
  for (size_t left = count; left > 0; --left) {
    std::vector<size_t> able;
    for (size_t i = 0; i < count; ++i)
      if (!isDone[i] && llvm::all_of(before[i], [&](size_t other) { return isDone[other]; })) able.push_back(i);
    size_t chosen = able[random() % able.size()];
    isDone[chosen] = true;
    laneOf[chosen] = unsigned(random() % laneCount);
    Operation *command = order.commands[chosen];
    Block &block = lanes[laneOf[chosen]].getBody().front();
    command->moveBefore(&block, block.end());
    for (size_t other : before[chosen]) {
      if (laneOf[other] == laneOf[chosen]) continue;
      if (eventOf[other] < 0) {
        eventOf[other] = events++;
        b.setInsertionPointAfter(order.commands[other]);
        exec::RecordOp::create(b, command->getLoc(), eventOf[other]);
      }
      b.setInsertionPoint(command);
      exec::WaitOp::create(b, command->getLoc(), eventOf[other]);
    }
  }
  for (exec::LaneOp lane : lanes)
    if (lane.getBody().front().empty()) lane.erase();
}

} // namespace

void scatter(ModuleOp module, unsigned lanes, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (auto program : module.getOps<exec::ProgramOp>()) scatterProgram(program, lanes, random);
}

} // namespace sprig::randoms
