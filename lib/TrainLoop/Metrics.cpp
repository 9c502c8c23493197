#include "lib/TrainLoop/Metrics.h"
#include "include/sprig/error.h"
#include "lib/Data/File.h"
#include "lib/Json/Json.h"
#include "runtime/base/Decimal.h"
#include "runtime/base/Uninterrupted.h"
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

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

constexpr const char *kColumns[] = {"step", "loss", "grad_norm", "lr", "seconds"};
constexpr const char *kEvalLoss = "eval_loss", *kEvalAccuracy = "eval_accuracy", *kWait = "wait_seconds",
                     *kExposed = "exposed_communication_seconds";

bool isColumn(std::string_view name) {
  return std::find(std::begin(kColumns), std::end(kColumns), name) != std::end(kColumns);
}

// Where a value that not every line has is kept; null where it is one of `numbers`.
template <typename M> auto *knownNumber(M &&metrics, std::string_view name) {
  return name == kWait           ? &metrics.waitSeconds
         : name == kExposed      ? &metrics.exposedSeconds
         : name == kEvalLoss     ? &metrics.evalLoss
         : name == kEvalAccuracy ? &metrics.evalAccuracy
                                 : nullptr;
}

void setNumber(StepMetrics &metrics, const std::string &name, double value) {
  if (std::optional<double> *known = knownNumber(metrics, name))
    *known = value;
  else
    metrics.numbers.emplace_back(name, value);
}

std::optional<double> numberOf(const StepMetrics &metrics, const std::string &name) {
  if (const std::optional<double> *known = knownNumber(metrics, name)) return *known;
  for (auto &[each, value] : metrics.numbers)
    if (each == name) return value;
  return std::nullopt;
}

} // namespace

bool isReservedMetric(std::string_view name) {
  return isColumn(name) || name == "accuracy" || knownNumber(StepMetrics(), name);
}

std::string formatMetrics(const StepMetrics &metrics) {
  std::string line;
  append(line, "step", metrics.step);
  append(line, "loss", metrics.loss);
  append(line, "grad_norm", metrics.gradNorm);
  append(line, "lr", float(metrics.lr));
  append(line, "seconds", metrics.seconds);
  if (metrics.waitSeconds) append(line, kWait, *metrics.waitSeconds);
  if (metrics.exposedSeconds) append(line, kExposed, *metrics.exposedSeconds);
  if (metrics.evalLoss) append(line, kEvalLoss, *metrics.evalLoss);
  if (metrics.evalAccuracy) append(line, kEvalAccuracy, *metrics.evalAccuracy);
  for (auto &[name, value] : metrics.numbers) append(line, name.c_str(), value);
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
  float lr;
  if (!readNumber(json, "loss", metrics.loss) || !readNumber(json, "grad_norm", metrics.gradNorm) ||
      !readNumber(json, "lr", lr) || !readNumber(json, "seconds", metrics.seconds))
    return std::nullopt;
  metrics.lr = double(lr);
  double value;
  for (auto &[name, ignored] : json.items())
    if (!isColumn(name) && readNumber(json, name.c_str(), value)) setNumber(metrics, name, value);
  return metrics;
}

MetricsColumns::MetricsColumns() {
  names.assign(std::begin(kColumns), std::end(kColumns));
  for (const char *name : {kEvalLoss, kEvalAccuracy, kWait}) names.emplace_back(name);
}

std::string MetricsColumns::header() const {
  std::string line;
  for (const std::string &name : names) line += (line.empty() ? "" : ",") + name;
  return line + "\n";
}

bool MetricsColumns::has(const StepMetrics &metrics) {
  const size_t before = names.size();
  auto add = [&](const std::string &name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  if (metrics.waitSeconds) add(kWait);
  if (metrics.exposedSeconds) add(kExposed);
  for (auto &[name, value] : metrics.numbers) add(name);
  return names.size() == before;
}

std::string MetricsColumns::format(const StepMetrics &m) const {
  std::string line = std::to_string(m.step);
  for (double value : {double(m.loss), double(m.gradNorm), double(float(m.lr))})
    line += "," + decimal::general(value, 9);
  line += "," + decimal::fixed(m.seconds, 6);
  for (size_t i = std::size(kColumns); i < names.size(); ++i) {
    std::optional<double> value = numberOf(m, names[i]);
    line += value ? "," + decimal::general(*value, 9) : ",";
  }
  return line + "\n";
}

static std::vector<std::string_view> cellsOf(std::string_view line) {
  std::vector<std::string_view> cells;
  for (size_t end; (end = line.find(',')) != line.npos; line.remove_prefix(end + 1))
    cells.push_back(line.substr(0, end));
  cells.push_back(line);
  return cells;
}

bool MetricsColumns::take(std::string_view header) {
  std::vector<std::string_view> cells = cellsOf(header);
  names.assign(cells.begin(), cells.end());
  return names.size() >= std::size(kColumns) && std::equal(std::begin(kColumns), std::end(kColumns), names.begin());
}

std::optional<StepMetrics> MetricsColumns::parse(std::string_view line) const {
  std::vector<std::string_view> cells = cellsOf(line);
  if (cells.size() < std::size(kColumns) || cells.size() > names.size()) return std::nullopt;
  StepMetrics metrics;
  auto [end, error] = std::from_chars(cells[0].data(), cells[0].data() + cells[0].size(), metrics.step);
  if (error != std::errc() || end != cells[0].data() + cells[0].size() || metrics.step < 0) return std::nullopt;
  for (size_t i = 1; i < cells.size(); ++i) {
    std::optional<double> value = decimal::parse(cells[i]);
    if (!value && (!cells[i].empty() || i < std::size(kColumns))) return std::nullopt;
    switch (i) {
    case 1: metrics.loss = float(*value); break;
    case 2: metrics.gradNorm = float(*value); break;
    case 3: metrics.lr = double(float(*value)); break;
    case 4: metrics.seconds = *value; break;
    default:
      if (value) setNumber(metrics, names[i], *value);
    }
  }
  return metrics;
}

MetricsWriter::MetricsWriter(std::filesystem::path where, std::optional<int64_t> resumeStep) : path(std::move(where)) {
  if (path.extension() == ".csv") columns.emplace();
  struct stat status;
  bool regular = ::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
  open(regular ? O_RDWR | O_APPEND | O_CREAT | (resumeStep ? 0 : O_TRUNC) : O_WRONLY);
  if (regular && resumeStep) cutBehind(*resumeStep);
  if (columns && (!regular || ::lseek(file, 0, SEEK_END) == 0)) {
    pending = columns->header();
    flush();
  }
}

void MetricsWriter::open(int flags) {
  file = uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); });
  if (file < 0) runtimeError(path.string() + ": cannot open for writing: " + std::strerror(errno));
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
  size_t keep = 0, number = 0;
  while (keep < text.size()) {
    size_t end = text.find('\n', keep);
    if (end == std::string_view::npos) break; // torn
    std::string_view own = text.substr(keep, end - keep);
    if (++number == 1 && columns) {
      if (!columns->take(own))
        badInput(path.string() + ": starts with '" + std::string(own) + "', which is no header of metrics");
      keep = end + 1;
      continue;
    }
    std::optional<StepMetrics> line = columns ? columns->parse(own) : parseMetrics(own);
    if (!line)
      badInput(path.string() + ": line " + std::to_string(number) +
               " is not of metrics, so the file is not gone on with");
    if (line->step >= steps) break;
    earlier.push_back(*line);
    keep = end + 1;
  }
  if (uninterrupted([&] { return ::ftruncate(file, off_t(keep)); }) != 0)
    runtimeError(path.string() + ": cannot cut off later lines: " + std::strerror(errno));
}

// The lines that are there have nothing in the new ones. Of what is no file, they stay as they are.
void MetricsWriter::addColumns() {
  flush();
  struct stat status;
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    pending = columns->header();
    return;
  }
  std::string text = data::readText(path), whole = columns->header();
  for (size_t at = text.find('\n') + 1; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view(text).substr(at, end - at);
    whole.append(line).append(columns->count() - cellsOf(line).size(), ',').append("\n");
    at = end + 1;
  }
  data::writeFile(path, whole);
  ::close(file);
  open(O_RDWR | O_APPEND);
}

void MetricsWriter::write(const StepMetrics &metrics) {
  if (columns && !columns->has(metrics)) addColumns();
  pending += columns ? columns->format(metrics) : formatMetrics(metrics);
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
