// Pinned memory that work has written and whose end the host has not waited for: host code that touches it is named.
// The host's view of such pages is closed until it has waited, or has touched them; the stand-in has another view.
#ifndef SPRIG_TEST_GPU_DRIVER_HOSTGUARD_H
#define SPRIG_TEST_GPU_DRIVER_HOSTGUARD_H

#include "test/gpu/driver/Intervals.h"
#include "test/gpu/driver/Operation.h"

#include <atomic>
#include <string>
#include <vector>

namespace sprig::cuda {

class HostGuard {
public:
  HostGuard();

  /// Pages that may be closed from now on, or no more.
  void add(Interval pages);
  void remove(Interval pages);
  /// `by` has written the bytes; `touched` is what to say of host code that does not wait for it.
  void close(Interval bytes, OperationRef by, std::string touched);
  /// Who has waited for so much may touch what was written before.
  void release(const Clock &host);
  /// Kernels use the host's view.
  void openForKernels();
  void closeForHost();

  /// From the handler of faults, in whatever thread: whether the address is in such pages, which are open then.
  bool touch(uint64_t address);
  /// What was said since, on stderr by now.
  std::vector<std::string> takeTouches();

private:
  struct Closed {
    Interval bytes;
    OperationRef by;
    std::string touched;
  };
  template <typename Which> void open(Which which);
  // Faults come amid anything that the host does, but never amid what is done here.
  struct Lock {
    explicit Lock(std::atomic_flag &busy);
    ~Lock() { busy.clear(std::memory_order_release); }
    std::atomic_flag &busy;
  };

  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  std::vector<Interval> known;
  std::vector<Closed> closed;
  std::vector<std::string> touches;
};

} // namespace sprig::cuda

#endif
