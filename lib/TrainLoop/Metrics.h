// The metrics of a training run, a line for each step, as JSON:
//   {"step":0,"loss":2.3028858,"grad_norm":0.91,"lr":0.05,"seconds":0.0012,"wait_seconds":2e-05}
// or, in a file whose name ends in .csv, as comma-separated values under a header.
// For the training loop. In JSON, floats are the shortest text that reads back as the same float; what is not finite is
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
  float loss = 0;                                           ///< before the update
  float gradNorm = 0;                                       ///< before clipping
  double lr = 0;                                            ///< written as a float
  double seconds = 0;                                       ///< of the run up to the end of this step
  std::optional<double> waitSeconds = {};                   ///< that this step waited for its samples
  std::optional<double> exposedSeconds = {};                ///< of several ranks: of communication that nothing hid
  std::optional<double> evalLoss = {}, evalAccuracy = {};   ///< where an evaluation followed the step
  std::vector<std::pair<std::string, double>> numbers = {}; ///< others, by their names

  bool operator==(const StepMetrics &) const = default;
};

/// Whether a name is one of those that lines and reports have of themselves, and no metric of a model's own may have.
bool isReservedMetric(std::string_view name);

/// One line of JSON, with its end.
std::string formatMetrics(const StepMetrics &metrics);
/// Nothing for what is no such line.
std::optional<StepMetrics> parseMetrics(std::string_view line);

/// The columns of a file of comma-separated values: step, loss, grad_norm, lr, seconds, eval_loss, eval_accuracy,
/// wait_seconds, then others as lines first have them.
class MetricsColumns {
public:
  MetricsColumns();
  std::string header() const; ///< with its end
  /// Whether there are columns for all of a line's values; those that are missing are added.
  bool has(const StepMetrics &metrics);
  std::string format(const StepMetrics &metrics) const; ///< with its end
  /// Takes the columns of a header without its end; false for what is none.
  bool take(std::string_view header);
  std::optional<StepMetrics> parse(std::string_view line) const;
  size_t count() const { return names.size(); }

private:
  std::vector<std::string> names;
};

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
  std::optional<MetricsColumns> columns; ///< of a file of comma-separated values
  int file = -1;
  std::string pending;
  double flushedAt = 0; ///< seconds of the last line that was written out
  std::vector<StepMetrics> earlier;

  void open(int flags);
  void cutBehind(int64_t steps);
  void addColumns();
};

} // namespace sprig::training
