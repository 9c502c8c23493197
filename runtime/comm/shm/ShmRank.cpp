#include "runtime/comm/shm/ShmRank.h"
#include "runtime/comm/shm/ShmLink.h"

namespace sprig::rt::comm {

ShmRank::~ShmRank() {
  if (!pump.joinable()) return;
  {
    std::lock_guard guard(mutex);
    isEnding = true;
  }
  changed.notify_all();
  bell().ring();
  pump.join();
}

void ShmRank::startPump() {
  // The mutex is taken by all from when the thread is there.
  pump = std::thread([this] { runPump(); });
}

void ShmRank::addWaiting(ShmLink &link) {
  if (std::find(waiting.begin(), waiting.end(), &link) != waiting.end()) return;
  waiting.push_back(&link);
  changed.notify_all();
}

void ShmRank::pumpAll() {
  if (!waiting.empty()) std::erase_if(waiting, [](ShmLink *link) { return link->pump(); });
}

void ShmRank::runPump() {
  std::unique_lock guard(mutex);
  while (!isEnding) {
    if (waiting.empty()) {
      changed.wait(guard);
      continue;
    }
    bell().asleep.fetch_add(1);
    uint32_t seen = bell().count.load();
    pumpAll();
    bool sleeps = !waiting.empty();
    guard.unlock();
    if (sleeps) sleepOn(bell().count, seen, Clock::now() + std::chrono::seconds(1), Sleepers::all);
    bell().asleep.fetch_sub(1);
    guard.lock();
  }
}

} // namespace sprig::rt::comm
