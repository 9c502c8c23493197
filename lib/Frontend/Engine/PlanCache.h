// Compiled segments by structure. A segment that is seen a second time is compiled in the background, and runs compiled
// from when that is done; until then, and for what cannot be compiled, operation by operation.
// For segment tasks. `find` is called by the thread that has the engine's turn.
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

  /// The plan, if there is one now. `graph` is asked for once, when compiling begins.
  Plan *find(const Hash &key, const std::function<Graph()> &graph);

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
    std::unique_ptr<Plan> plan;
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
