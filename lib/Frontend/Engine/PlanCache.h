// Compiled segments by structure. A segment that is seen a second time is compiled in the background, and runs compiled
// from when that is done; until then, and for what cannot be compiled, operation by operation.
// For segment tasks. `find` is called by the threads that have the turn of a lane.
#pragma once
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Engine/Hash.h"
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace sprig::frontend {

/// How everything of the imperative mode is compiled.
CompileOptions segmentOptions();

class PlanCache {
public:
  static PlanCache &instance();

  /// The plan on a device, if there is one now: compiled once, for the first device. `graph` is asked for once, when
  /// compiling begins.
  std::shared_ptr<Plan> find(const Hash &key, DeviceId device, const std::function<Graph()> &graph);

  /// How many segments were compiled, for tests and reports.
  int compiled() const;
  /// Returns when nothing is being compiled.
  void wait();
  /// Whether segments are compiled at all.
  void enable(bool on);
  /// Ends the thread: nothing more is compiled.
  void stop();

private:
  struct Row {
    int seen = 0;
    bool asked = false;
    std::vector<std::shared_ptr<Plan>> plans; ///< by device; the first is what was compiled, whoever runs it
  };
  struct Request {
    Hash key;
    Graph graph;
  };
  PlanCache() = default;
  void loop();

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::unordered_map<Hash, Row> rows;
  std::deque<Request> requests;
  bool busy = false, stopping = false, on = true;
  int count = 0;
  std::thread thread;
};

} // namespace sprig::frontend
