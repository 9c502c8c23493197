// Facts about this machine and what this process may take of it: threads, memory, caches, the processor's name. Apart
// from the runtime, so that the compiler's libraries have the same answers.
#ifndef SPRIG_RUNTIME_MACHINE_MACHINE_H
#define SPRIG_RUNTIME_MACHINE_MACHINE_H

#include <cstdint>
#include <string>

namespace sprig::rt::core {

// Processors that the quotas of this process's cgroups grant: the least, from its own group up to the root, as 1.5;
// 0: none is set.
double processorQuota();
// The smaller of the processors that this process may run on and its cgroup's quota, at least 1; its share of them
// where `sprig launch` has started it beside others.
int defaultThreads();
// Whether `sprig launch` has started other ranks beside this process that may use the same processors.
bool sharesProcessors();
// Which processor this thread runs on right now; -1: unknown.
int currentCpu();
// Whether the system has fewer threads to run right now than processors, or as many; false where it does not say.
bool hasIdleCpu();
// Moves this thread from that processor to another one that it may use, where there are as many as `threads`; whether
// it did. What it may use stays.
bool leaveCpu(int cpu, int threads);
// Asks the system once, for all threads from now on, to let this process use the tiles of the processor's matrix unit
// (AMX), whose state is large; false where it has none or refuses. Signal stacks have to hold them from then on
// (Linux, Documentation/arch/x86/xstate.rst).
bool mayUseTiles();
uint64_t physicalMemory();
// The least of that, the limits of this process (RLIMIT_AS, RLIMIT_DATA) and of its cgroups; UINT64_MAX: none is known.
uint64_t usableMemory();

struct CpuInfo {
  std::string name;
  int cpus = 0;
  uint64_t l1d = 0, l1i = 0, l2 = 0, l3 = 0; // bytes, 0: unknown
};
// Asked from the system once.
const CpuInfo &cpuInfo();

} // namespace sprig::rt::core

#endif
