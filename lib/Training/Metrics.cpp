#include "lib/Training/Metrics.h"
#include "include/sprig/error.h"
#include "lib/Data/File.h"
#include "lib/Json/Json.h"
#include "runtime/base/Uninterrupted.h"
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sprig::training {

using rt::core::uninterrupted;

namespace {

// Lines wait for this much of time or text, so that short steps do not pay for a system call each.
constexpr double kFlushSeconds = 0.25;
constexpr size_t kFlushBytes = 1 << 15;

template <typename T> void append(std::string &text, const char *name, T value) {
  text += text.empty() ? "{\"" : ",\"";
  text += name;
  text += "\":";
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) {
      text += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
      return;
    }
  }
  char digits[64];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// Floats are read as floats: by way of a double they could round twice.
template <typename T> bool readNumber(const Json &line, const char *name, T &value) {
  auto found = line.find(name);
  if (found == line.end()) return false;
  if (found->is_string()) {
    std::string word = *found;
    double sign = word.starts_with('-') ? -1 : 1;
    if (word == "NaN")
      value = std::numeric_limits<T>::quiet_NaN();
    else if (word == "Infinity" || word == "-Infinity")
      value = T(sign * HUGE_VAL);
    else
      return false;
    return true;
  }
  if (!found->is_number()) return false;
  std::string text = found->dump();
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
}

} // namespace

std::string formatMetrics(const StepMetrics &metrics) {
  std::string line;
  append(line, "step", metrics.step);
  append(line, "loss", metrics.loss);
  append(line, "grad_norm", metrics.gradNorm);
  append(line, "lr", metrics.lr);
  append(line, "seconds", metrics.seconds);
  if (metrics.waitSeconds) append(line, "wait_seconds", *metrics.waitSeconds);
  if (metrics.exposedSeconds) append(line, "exposed_communication_seconds", *metrics.exposedSeconds);
  if (metrics.evalLoss) append(line, "eval_loss", *metrics.evalLoss);
  if (metrics.evalAccuracy) append(line, "eval_accuracy", *metrics.evalAccuracy);
  return line + "}\n";
}

std::optional<StepMetrics> parseMetrics(std::string_view line) {
  Json json;
  try {
    json = parseJson(line, "a line of metrics");
  } catch (const std::exception &) { // no JSON, or nested too deep
    return std::nullopt;
  }
  if (!json.is_object() || !json.contains("step")) return std::nullopt;
  std::optional<int64_t> step = wholeNumber<int64_t>(json["step"]);
  if (!step || *step < 0) return std::nullopt;
  StepMetrics metrics;
  metrics.step = *step;
  if (!readNumber(json, "loss", metrics.loss) || !readNumber(json, "grad_norm", metrics.gradNorm) ||
      !readNumber(json, "lr", metrics.lr) || !readNumber(json, "seconds", metrics.seconds))
    return std::nullopt;
  double value;
  if (readNumber(json, "wait_seconds", value)) metrics.waitSeconds = value;
  if (readNumber(json, "exposed_communication_seconds", value)) metrics.exposedSeconds = value;
  if (readNumber(json, "eval_loss", value)) metrics.evalLoss = value;
  if (readNumber(json, "eval_accuracy", value)) metrics.evalAccuracy = value;
  return metrics;
}

MetricsWriter::MetricsWriter(std::filesystem::path where, std::optional<int64_t> resumeStep) : path(std::move(where)) {
  struct stat status;
  bool regular = ::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
  int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | (resumeStep ? 0 : O_TRUNC);
  file = uninterrupted([&] { return ::open(path.c_str(), regular ? flags : O_WRONLY | O_CLOEXEC, 0666); });
  if (file < 0) runtimeError(path.string() + ": cannot open for writing: " + std::strerror(errno));
  if (regular && resumeStep) cutBehind(*resumeStep);
}

MetricsWriter::~MetricsWriter() {
  try {
    flush();
  } catch (const Error &) {
  }
  ::close(file);
}

void MetricsWriter::cutBehind(int64_t steps) {
  std::vector<char> bytes = data::readFile(path);
  std::string_view text(bytes.data(), bytes.size());
  size_t keep = 0;
  while (keep < text.size()) {
    size_t end = text.find('\n', keep);
    if (end == std::string_view::npos) break; // torn
    std::optional<StepMetrics> line = parseMetrics(text.substr(keep, end - keep));
    if (!line)
      badInput(path.string() + ": line " + std::to_string(earlier.size() + 1) +
               " is not of metrics, so the file is not gone on with");
    if (line->step >= steps) break;
    earlier.push_back(*line);
    keep = end + 1;
  }
  if (uninterrupted([&] { return ::ftruncate(file, off_t(keep)); }) != 0)
    runtimeError(path.string() + ": cannot cut off later lines: " + std::strerror(errno));
}

void MetricsWriter::write(const StepMetrics &metrics) {
  pending += formatMetrics(metrics);
  if (pending.size() < kFlushBytes && metrics.seconds - flushedAt < kFlushSeconds) return;
  flushedAt = metrics.seconds;
  flush();
}

void MetricsWriter::flush() {
  std::string lines = std::exchange(pending, {});
  std::string_view left = lines;
  while (!left.empty()) {
    ssize_t n = uninterrupted([&] { return ::write(file, left.data(), left.size()); });
    if (n < 0) runtimeError(path.string() + ": cannot write: " + std::strerror(errno));
    left.remove_prefix(size_t(n));
  }
  lines.clear();
  pending = std::move(lines); // keeps its memory
}

} // namespace sprig::training
