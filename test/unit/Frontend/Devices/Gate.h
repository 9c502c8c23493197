// A task that holds up a lane until somebody opens it: what is behind it has not run, whatever the clock says.
// For tests of order between devices.
#pragma once
#include "lib/Frontend/Engine/Engine.h"
#include <future>

namespace sprig::frontend {

class Gate {
public:
  /// Closes the lane behind what is queued there.
  explicit Gate(LaneId lane) {
    struct Wait : Task {
      std::shared_future<void> opened;
      void run() override { opened.wait(); }
    };
    auto task = std::make_unique<Wait>();
    task->opened = opening.get_future().share();
    Engine::of(lane).push(std::move(task));
  }
  ~Gate() { open(); }
  void open() {
    if (!std::exchange(isOpen, true)) opening.set_value();
  }

private:
  std::promise<void> opening;
  bool isOpen = false;
};

} // namespace sprig::frontend
