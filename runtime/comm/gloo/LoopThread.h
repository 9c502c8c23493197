// The thread of a device of Gloo's, which reads and writes its connections when something comes.
// Where another thread has a connection's lock it comes back at once, and finds the same events: if it has taken that
// one's core, nothing goes on until the system takes the core from it, at its next tick (4 ms).
#ifndef SPRIG_RUNTIME_COMM_GLOO_LOOPTHREAD_H
#define SPRIG_RUNTIME_COMM_GLOO_LOOPTHREAD_H

#include <gloo/transport/tcp/device.h>

#include <atomic>
#include <functional>
#include <memory>
#include <sched.h>
#include <sys/types.h>

namespace sprig::rt::comm {

class LoopThread {
public:
  // Finds it. Throws what Gloo throws.
  explicit LoopThread(std::shared_ptr<gloo::transport::Device> device);
  ~LoopThread();
  LoopThread(const LoopThread &) = delete;
  LoopThread &operator=(const LoopThread &) = delete;

  // While it lives, around calls that take a connection's lock, the thread takes no core from one that computes; where
  // this process has one core alone, and it gets there all the same, it sleeps.
  class Behind {
  public:
    explicit Behind(LoopThread &loop) : loop(loop) { loop.begin(); }
    ~Behind() { loop.end(); }
    Behind(const Behind &) = delete;
    Behind &operator=(const Behind &) = delete;

  private:
    LoopThread &loop;
  };

  // Calls it in the thread, which looks at no connection meanwhile, and returns, or throws, when it has returned.
  void run(const std::function<void()> &call);

private:
  class Asked;
  void begin();
  void end();
  void schedule(int policy) const;

  std::shared_ptr<gloo::transport::Device> device;
  std::unique_ptr<Asked> asked;
  bool isOther = false; // the thread is scheduled as usual
  bool isOnOneCore = false;
};

} // namespace sprig::rt::comm

#endif
