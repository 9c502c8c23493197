// Which lane each command of a program runs on, and when: list scheduling by upward rank (HEFT: Topcuoglu, Hariri, Wu,
// 2002). For assign-lanes, which says what commands cost; where they run, on which device, is given.
#pragma once
#include "dialects/Exec/Exec.h"
#include "lib/Machine/MachineModel.h"
#include "runtime/format/Order.h"

namespace sprig {

/// Lanes that a command may be put on: those of a device, or one of copies.
struct LaneGroup {
  const machine::MachineModel *machine;
  unsigned lanes;
  exec::LaneOp given; ///< the one that the commands stand on
  unsigned threads;   ///< of a processor, each of which drives one lane at a time; 0: none that bounds its lanes
};

class LaneScheduler {
public:
  explicit LaneScheduler(llvm::ArrayRef<LaneGroup> groups) : groups(groups) {
    unsigned lanes = 0;
    for (const LaneGroup &group : groups) {
      firsts.push_back(lanes);
      lanes += group.lanes;
    }
    sequences.resize(lanes);
  }

  /// Commands come in an order in which they can run. For `busySeconds` of its seconds a command has a GPU as a whole,
  /// or a thread of a processor.
  void add(exec::CommandOpInterface command, unsigned group, double seconds, double busySeconds);
  /// `order` has the commands that were added, by their indices in the schedule; see dependences().
  void depend(const rt::order::Schedule &schedule, llvm::ArrayRef<uint32_t> order);
  void assign();

  /// Of the whole program, as it was and as it is assigned.
  double secondsAsGiven() const;
  double seconds() const;
  unsigned usedLanes() const;

  /// Moves the commands to their group's given lane and to new ones after it, with events between them; returns the
  /// number of these.
  unsigned emit();

private:
  struct Task {
    exec::CommandOpInterface command;
    unsigned group = 0;
    double seconds = 0, busySeconds = 0;
    llvm::SmallVector<unsigned> before; // tasks that touch the same bytes before it
    llvm::SmallVector<double> fetched;  // the bytes that it reads of what each of them writes
    double rank = 0;                    // seconds from its begin to the end of the program at best, hand-offs included
    unsigned lane = 0;                  // of all groups
    unsigned index = 0;                 // in its lane
    double end = 0;
  };

  void rankTasks();
  llvm::SmallVector<unsigned> byRank() const;
  double handOff(const Task &from, const Task &to, double bytes) const;
  double startOn(const Task &task, unsigned lane) const;
  void placeEvents(llvm::ArrayRef<exec::LaneOp> all, llvm::DenseMap<unsigned, int64_t> &events);

  llvm::ArrayRef<LaneGroup> groups;
  llvm::SmallVector<unsigned> firsts; // the lanes that groups begin with
  llvm::SmallVector<Task> tasks;
  llvm::SmallVector<llvm::SmallVector<unsigned>> sequences; // of lanes: their tasks
};

} // namespace sprig
