// Which lane each command of a program runs on, and when: list scheduling by upward rank (HEFT: Topcuoglu, Hariri, Wu,
// 2002). For assign-lanes, which says what commands cost; where they run, on which device, is given.
#pragma once
#include "dialects/Exec/Exec.h"
#include "lib/Machine/MachineModel.h"
#include "runtime/format/Order.h"

namespace sprig {

class LaneScheduler {
public:
  /// `machines` are the module's devices in their order, each with as many lanes.
  LaneScheduler(llvm::ArrayRef<machine::MachineModel> machines, unsigned lanes)
      : machines(machines), lanes(lanes), sequences(machines.size() * lanes) {}

  /// Commands come in an order in which they can run; `givenLane` is where the command stands, by any numbers.
  void add(exec::CommandOpInterface command, unsigned device, unsigned givenLane, double seconds);
  /// `order` has the commands that were added, by their indices in the schedule; see dependences().
  void depend(const rt::order::Schedule &schedule, llvm::ArrayRef<uint32_t> order);
  void assign();

  /// Of the whole program, as it was and as it is assigned.
  double secondsAsGiven() const;
  double seconds() const;
  unsigned usedLanes() const;

  /// Moves the commands to the device's lane among `given` (null: it has no commands) and to new ones after it, with
  /// events between them; returns the number of these.
  unsigned emit(llvm::ArrayRef<exec::LaneOp> given);

private:
  struct Task {
    exec::CommandOpInterface command;
    unsigned device = 0, givenLane = 0;
    double seconds = 0;
    llvm::SmallVector<unsigned> before; // tasks that touch the same bytes before it
    double rank = 0;                    // seconds from its begin to the end of the program at best, hand-offs included
    unsigned lane = 0;                  // of all devices
    unsigned index = 0;                 // in its lane
    double end = 0;
  };

  void rankTasks();
  llvm::SmallVector<unsigned> byRank() const;
  double handOff(const Task &from, const Task &to) const;
  double startOn(const Task &task, unsigned lane) const;
  void placeEvents(llvm::ArrayRef<exec::LaneOp> all, llvm::DenseMap<unsigned, int64_t> &events);

  llvm::ArrayRef<machine::MachineModel> machines;
  unsigned lanes;
  llvm::SmallVector<Task> tasks;
  llvm::SmallVector<llvm::SmallVector<unsigned>> sequences; // of lanes: their tasks
};

} // namespace sprig
