// Experiments of `sprig bench NAME`: what this machine does with plain loops and with compiled operations, and the
// relations that such figures must show.
// For bench; each experiment is one function that fills a report within seconds.
#pragma once
#include "tools/sprig/Command.h"
#include "tools/sprig/Report.h"
#include "tools/sprig/Settings.h"
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sprig::cli {

/// The flags of experiments that train a network of their own: which one, on which data, how long. For sweep; which
/// network for split, and of which size for remat.
struct SweepFlags {
  std::string network, data, plot;
  int64_t epochs = 0, samples = 0, tests = 0, batch = 0, width = 0,
          seeds = 0;         ///< 0: the experiment's own
  std::vector<double> rates; ///< none: the experiment's own

  /// Throws usage errors for flags that `experiment` does not take.
  void checkFor(const std::string &experiment) const;
};

void addSweepFlags(CLI::App &command, SweepFlags &flags);

struct ExperimentOptions {
  Settings settings;
  int64_t n = 0; ///< size, where an experiment has one; 0: its own
  int threads = 1;
  std::vector<int> workers;            ///< of the loader; none: its own
  std::string ioDelay;                 ///< of the loader's storage; empty: its own
  std::string of;                      ///< the model that an experiment runs, or which sweep
  int ranks = 0;                       ///< of experiments of many ranks; 0: their own
  std::vector<std::string> algorithms; ///< of allreduce; none: all
  SweepFlags sweep;
  int runs = 0; ///< calls that are timed together, where an experiment has them; 0: its own
};

/// Tables with the same cells as text and as JSON, and verdicts: a relation, the figures, whether it holds. A fault of
/// Sprig must be able to turn each.
class ExperimentReport {
public:
  /// Begins a table. Throws internal where there is one of that name, or where two columns have one name.
  void table(const std::string &name, std::vector<std::string> header);
  /// Of the table that was begun last, with no more cells than it has columns.
  void row(std::vector<Json> cells);
  /// Of what does not depend on how fast this machine is, or how busy: it holds wherever Sprig is right.
  void verdict(const std::string &relation, const std::string &figures, bool holds);
  /// Of times that were measured here, which other programs disturb.
  void timed(const std::string &relation, const std::string &figures, bool holds);
  /// What must hold of two devices that take these seconds for their work alone and for both at once.
  void bothAtOnce(double first, double second, double both);
  void note(const std::string &text) { notes.push_back(text); }

  /// Of a rank whose figures another one reports.
  bool isEmpty() const { return sections.empty(); }
  Json toJson(const std::string &experiment) const;
  void print() const;
  /// Whether every relation held.
  bool holds() const;

private:
  struct Section {
    std::string name;
    std::vector<std::string> header;
    std::vector<std::vector<Json>> rows;
  };
  struct Verdict {
    std::string relation, figures;
    bool holds, isTimed;
  };
  std::vector<Section> sections;
  std::vector<Verdict> verdicts;
  std::vector<std::string> notes;
};

using RunExperiment = void(const ExperimentOptions &options, ExperimentReport &report);

struct Experiment {
  std::string name, summary;
  RunExperiment *run;
  RunExperiment *runOnGpu = nullptr; ///< null: it is one on the processor
};
/// All of them, by name.
const std::vector<Experiment> &experiments();

RunExperiment benchMemory, benchMatmul, benchLanes, benchConvolution, benchDevices, benchBottlenecks, benchOverlap,
    benchSplit, benchPipeline, benchThreads, benchDtypes, benchOverhead, benchRemat, benchAccumulation, benchAllReduce,
    benchSums, benchRings, benchAggregation, benchBuckets, benchScaling, benchSampler, benchSweep, benchExposure,
    benchComm, benchLoader;

// On the GPU that --devices names.
RunExperiment benchGpuMemory, benchGpuMatmul, benchGpuLanes, benchGpuDevices, benchGpuOverlap;

// These need the compiler: they are in its library (CompilerLibrary.h).
RunExperiment benchAsync, benchHybridize;
/// What recording an operation costs: a part of overhead.
RunExperiment benchRecording;

/// A part of loader: a mapped .npy file beside one read for each sample.
void benchMappedFiles(ExperimentReport &report);

} // namespace sprig::cli
