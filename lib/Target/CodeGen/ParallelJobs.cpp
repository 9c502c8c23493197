#include "lib/Target/CodeGen/ParallelJobs.h"
#include "lib/Target/SignalStack.h"
#include "mlir/IR/Diagnostics.h"
#include <atomic>
#include <sched.h>
#include <system_error>
#include <thread>

using namespace mlir;
using namespace sprig;

static size_t usableProcessors() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

size_t sprig::workersFor(size_t jobs, int asked) {
  return std::min(jobs, asked > 0 ? size_t(asked) : usableProcessors());
}

LogicalResult sprig::runJobs(MLIRContext *context, size_t jobs, size_t workers,
                             llvm::function_ref<LogicalResult(size_t job, size_t worker)> work) {
  std::atomic<size_t> next{0};
  std::atomic<bool> failedAny{false};
  ParallelDiagnosticHandler diagnostics(context); // in the order of the jobs
  auto loop = [&](size_t worker) {
    for (size_t job; (job = next++) < jobs;) {
      diagnostics.setOrderIDForThread(job);
      if (failed(work(job, worker))) failedAny = true;
      diagnostics.eraseOrderIDForThread();
    }
  };
  bool wasThreaded = context->isMultithreadingEnabled();
  if (workers > 1 && !wasThreaded) context->enableMultithreading();
  std::vector<std::thread> threads;
  try {
    for (size_t worker = 1; worker < workers; ++worker)
      threads.emplace_back([&, worker] {
        SignalStack stack;
        loop(worker);
      });
  } catch (const std::system_error &) {
    // The system starts no more threads: those that are there do the work.
  }
  loop(0);
  for (std::thread &thread : threads) thread.join();
  if (workers > 1 && !wasThreaded) context->disableMultithreading();
  return failure(failedAny);
}
