// The metrics of a training run as JSON lines, one a step:
//   {"step":0,"loss":2.3028858,"grad_norm":0.91,"lr":0.05,"seconds":0.0012,"wait_seconds":2e-05}
// For `sprig train --metrics`. Floats are the shortest text that reads back as the same float; what is not finite is
// the string "NaN", "Infinity" or "-Infinity", which Python's float() and JavaScript's Number() take.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sprig::training {

struct StepMetrics {
  int64_t step = 0;
  float loss = 0;     ///< before the update
  float gradNorm = 0; ///< before clipping
  float lr = 0;
  double seconds = 0;                                     ///< of the run up to the end of this step
  std::optional<double> waitSeconds = {};                 ///< that this step waited for its samples
  std::optional<double> exposedSeconds = {};              ///< of several ranks: of communication that nothing hid
  std::optional<double> evalLoss = {}, evalAccuracy = {}; ///< where an evaluation followed the step

  bool operator==(const StepMetrics &) const = default;
};

/// One line, with its end.
std::string formatMetrics(const StepMetrics &metrics);
/// Nothing for what is no such line.
std::optional<StepMetrics> parseMetrics(std::string_view line);

/// Appends lines to a file. They are gathered and written whole, so that a kill loses lines but tears none that
/// `resume` could not tell; flush() before a checkpoint, and a resumed run has them all. Throws sprig::Error.
class MetricsWriter {
public:
  /// Starts a file, or, with the steps done so far, goes on with one: keeps its lines of these steps and cuts off what
  /// a killed run wrote after them. A pipe or device is written to as it is.
  MetricsWriter(std::filesystem::path path, std::optional<int64_t> resumeStep = std::nullopt);
  /// Writes what is left; its error is dropped, call flush() to see it.
  ~MetricsWriter();
  MetricsWriter(const MetricsWriter &) = delete;
  MetricsWriter &operator=(const MetricsWriter &) = delete;

  void write(const StepMetrics &metrics);
  void flush();

  /// The lines that were kept of the run before.
  const std::vector<StepMetrics> &kept() const { return earlier; }

private:
  std::filesystem::path path;
  int file = -1;
  std::string pending;
  double flushedAt = 0; ///< seconds of the last line that was written out
  std::vector<StepMetrics> earlier;

  void cutBehind(int64_t steps);
};

} // namespace sprig::training
