#include "runtime/comm/gloo/LoopThread.h"
#include "runtime/base/Uninterrupted.h"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace sprig::rt::comm {

// Whoever has the lock may wait for the thread, to take leave of it: so there is an end to the sleep.
constexpr std::chrono::milliseconds kMostSleep{1};

// What the thread calls when `event` is readable: at first to say who it is, then while others have locks, or ask it to
// call something.
class LoopThread::Asked final : public gloo::transport::tcp::Handler {
public:
  explicit Asked(int event) : event(event) {}
  ~Asked() override { ::close(event); }

  void handleEvents(int) override {
    if (thread.load() == 0) {
      clear();
      thread = ::gettid();
      thread.notify_one();
      return;
    }
    std::unique_lock lock(mutex);
    if (!todo) {
      isOver.wait_for(lock, kMostSleep, [this] { return inside == 0; });
      return;
    }
    try {
      (*todo)();
    } catch (...) {
      error = std::current_exception();
    }
    todo = nullptr;
    isDone.notify_one();
  }
  void run(const std::function<void()> &call) {
    std::unique_lock lock(mutex);
    todo = &call;
    (void)::eventfd_write(event, 1);
    isDone.wait(lock, [this] { return !todo; });
    clear();
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
  }
  void set() {
    std::lock_guard lock(mutex);
    if (inside++ == 0) (void)::eventfd_write(event, 1);
  }
  void reset() {
    {
      std::lock_guard lock(mutex);
      if (--inside != 0) return;
      clear();
    }
    isOver.notify_one();
  }
  void clear() {
    eventfd_t taken;
    (void)::eventfd_read(event, &taken);
  }

  const int event;
  std::atomic<pid_t> thread = 0;

private:
  std::mutex mutex; // what follows
  std::condition_variable isOver, isDone;
  int inside = 0; // who has locks
  const std::function<void()> *todo = nullptr;
  std::exception_ptr error; // that it has thrown
};

static gloo::transport::tcp::Device &tcpOf(gloo::transport::Device &device) {
  return dynamic_cast<gloo::transport::tcp::Device &>(device);
}

LoopThread::LoopThread(std::shared_ptr<gloo::transport::Device> given) : device(std::move(given)) {
  int event = core::uninterrupted([] { return ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK); });
  if (event < 0) throw std::runtime_error(std::string("no event: ") + std::strerror(errno));
  asked = std::make_unique<Asked>(event);
  tcpOf(*device).registerDescriptor(event, EPOLLIN, asked.get());
  asked->thread.wait(0);
  isOther = ::sched_getscheduler(asked->thread) == SCHED_OTHER;
  cpu_set_t cores;
  isOnOneCore = ::sched_getaffinity(asked->thread, sizeof(cores), &cores) == 0 && CPU_COUNT(&cores) == 1;
}

LoopThread::~LoopThread() { tcpOf(*device).unregisterDescriptor(asked->event, asked.get()); }

void LoopThread::run(const std::function<void()> &call) { asked->run(call); }

void LoopThread::schedule(int policy) const {
  sched_param none = {};
  if (isOther) ::sched_setscheduler(asked->thread, policy, &none);
}

void LoopThread::begin() {
  schedule(SCHED_BATCH);
  if (isOnOneCore) asked->set();
}

void LoopThread::end() {
  if (isOnOneCore) asked->reset();
  schedule(SCHED_OTHER);
}

} // namespace sprig::rt::comm
