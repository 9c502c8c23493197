#include "lib/Frontend/Engine/MeetingTask.h"

namespace sprig::frontend {

namespace {

/// What the lanes meet for.
struct Meeting {
  struct Place {
    LaneId lane;
    std::atomic<bool> isThere = false;
  };
  explicit Meeting(std::span<const LaneId> lanes) : places(lanes.size()), missing(lanes.size()) {
    for (size_t i = 0; i < lanes.size(); ++i) places[i].lane = lanes[i];
  }

  std::vector<Place> places;
  std::atomic<size_t> missing;
  std::unique_ptr<Task> task;
  std::atomic<bool> done = false;
};

/// Stands in the queue of one of them.
class MeetingTask : public Task {
public:
  MeetingTask(std::shared_ptr<Meeting> meeting, size_t place) : meeting(std::move(meeting)), place(place) {}

  void run() override {
    Meeting &all = *meeting;
    all.places[place].isThere.store(true, std::memory_order_seq_cst);
    if (all.missing.fetch_sub(1, std::memory_order_seq_cst) == 1) {
      all.task->run();
      all.task.reset(); // releases what it held before anybody goes on
      all.done.store(true, std::memory_order_release);
      all.done.notify_all();
      return;
    }
    // What is before it in the others is older, so this thread may run it. One that is there has a thread that does the
    // same, perhaps this one, further out.
    for (Meeting::Place &other : all.places)
      if (!other.isThere.load(std::memory_order_seq_cst)) Engine::of(other.lane).waitFor(all.done);
    all.done.wait(false, std::memory_order_acquire);
  }

private:
  std::shared_ptr<Meeting> meeting;
  size_t place;
};

} // namespace

void pushToAll(std::span<const LaneId> lanes, std::unique_ptr<Task> task, bool wake) {
  if (lanes.size() == 1) return Engine::of(lanes[0]).push(std::move(task), wake);
  auto meeting = std::make_shared<Meeting>(lanes);
  meeting->task = std::move(task);
  std::vector<std::unique_ptr<Task>> tasks;
  for (size_t i = 0; i < lanes.size(); ++i) tasks.push_back(std::make_unique<MeetingTask>(meeting, i));
  Engine::pushToEach(lanes, std::move(tasks), wake);
}

} // namespace sprig::frontend
