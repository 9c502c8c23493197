// What the C ABI's opaque types are, and the guard that keeps exceptions inside.
#ifndef SPRIG_RUNTIME_API_HANDLES_H
#define SPRIG_RUNTIME_API_HANDLES_H

#include "runtime/comm/GroupHandle.h"
#include "runtime/exec/Queue.h"

#include <exception>
#include <new>

struct sprig_rt_status {
  sprig_rt_code code;
  std::string message;
};

struct sprig_rt_pool {
  std::shared_ptr<sprig::rt::core::Pool> pool;
};

struct sprig_rt_package {
  std::shared_ptr<const sprig::rt::core::Package> package;
  std::atomic<uint32_t> references{1};
  std::vector<std::string> imageFeatures; // joined, by image
};

struct sprig_rt_state {
  std::shared_ptr<sprig::rt::core::State> state;
};

struct sprig_rt_context {
  sprig_rt_context(std::unique_ptr<sprig::rt::core::Context> given, uint32_t queueLimit)
      : context(std::move(given)), queue(*context, queueLimit) {}
  std::unique_ptr<sprig::rt::core::Context> context;
  sprig::rt::core::Queue queue;
};

struct sprig_rt_future {
  std::shared_ptr<sprig::rt::core::Submission> submission;
};

namespace sprig::rt::core {

// Also safe when there is no memory for the status itself.
sprig_rt_status *failureToC(const Status &status) noexcept;
// Null for success.
inline sprig_rt_status *toC(const Status &status) noexcept { return status.isOk() ? nullptr : failureToC(status); }

// What is being thrown, of a catch clause.
sprig_rt_status *thrownToC() noexcept;

// Runs a function that returns a Status; whatever it throws becomes a status too.
template <typename Function> sprig_rt_status *guarded(Function function) noexcept {
  try {
    return toC(function());
  } catch (...) {
    return thrownToC();
  }
}

// Out of line, as every function of the ABI asks for several.
Status nullHandle(const char *what);
inline Status requireHandle(const void *handle, const char *what) { return handle ? Status() : nullHandle(what); }
Status checkIndex(const char *what, size_t index, size_t count);

} // namespace sprig::rt::core

#endif
