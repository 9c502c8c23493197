// The processors that this process may use: the core and the memory that each belongs to, and threads that are bound to
// them. For pools that pin their threads, and for `sprig launch --bind cores`.
#ifndef SPRIG_RUNTIME_MACHINE_PROCESSORS_H
#define SPRIG_RUNTIME_MACHINE_PROCESSORS_H

#include <pthread.h>
#include <sched.h>
#include <span>
#include <tuple>

namespace sprig::rt::core {

// A processor as the system numbers it, the core that it is a thread of, and the NUMA node, whose memory is nearest.
struct Processor {
  int number = 0, package = 0, core = 0, node = 0;
  int thread = 0; // which of its core's usable threads it is

  bool isOfCoreOf(const Processor &other) const {
    return std::tie(node, package, core) == std::tie(other.node, other.package, other.core);
  }
  // Neighbours are near each other.
  friend bool operator<(const Processor &a, const Processor &b) {
    return std::tie(a.node, a.package, a.core, a.number) < std::tie(b.node, b.package, b.core, b.number);
  }
};

// Fills `order` with the processors in `usable`, as the folder of the system's devices describes them, in the order in
// which a pool's threads take them: one thread of each core before the others, and of these the cores of one node
// before the next node's. What the folder does not describe is a core of its own in package and node 0. Returns their
// number.
size_t describeProcessors(const cpu_set_t &usable, const char *devices, Processor (&order)[CPU_SETSIZE]);
// Those of this process, as they were when first asked for: a thread that is bound later still sees all of them. None
// where the system does not say.
std::span<const Processor> usableProcessors();

constexpr int kAnyProcessor = -1;
// Binds a thread to a processor, by the system's number, or lets it run on all that this process may use. Returns
// whether the system allows it.
bool bindThread(pthread_t thread, int processor);
// Binds this thread to the processor where no other thread is bound by this function, until it ends or is bound to
// another one.
void bindCaller(int processor);
// Lets this thread run on all processors of this process: one that a bound thread has started is bound as that is.
void runAnywhere();

} // namespace sprig::rt::core

#endif
