#include "lib/Frontend/Trainer/StepLog.h"
#include "lib/Data/File.h"
#include "runtime/base/Decimal.h"
#include <cmath>
#include <cstdio>
#include <sstream>
#include <unistd.h>

namespace sprig::frontend {

namespace {

/// More than may be in flight: the oldest of so many has run, or failed.
constexpr size_t kMostPending = 256;

class JsonLines : public MetricsFile {
public:
  JsonLines(const std::filesystem::path &path, std::optional<int64_t> resumeStep) : writer(path, resumeStep) {}
  void write(const training::StepMetrics &metrics) override { writer.write(metrics); }
  void flush() override { writer.flush(); }

private:
  training::MetricsWriter writer;
};

/// Written whole each time, so that no line is ever torn.
class Csv : public MetricsFile {
public:
  Csv(std::filesystem::path given, std::optional<int64_t> resumeStep) : path(std::move(given)) {
    text = kHeader;
    std::error_code ignored;
    if (resumeStep && std::filesystem::exists(path, ignored)) keep(*resumeStep);
    flush();
  }
  void write(const training::StepMetrics &m) override {
    text += std::to_string(m.step);
    for (double value : {double(m.loss), double(m.gradNorm), double(m.lr)}) text += "," + decimal::general(value, 9);
    text += "," + decimal::fixed(m.seconds, 6);
    for (const auto &value : {m.evalLoss, m.evalAccuracy}) text += value ? "," + decimal::general(*value, 9) : ",";
    text += '\n';
  }
  void flush() override { data::writeFile(path, text); }

private:
  static constexpr const char *kHeader = "step,loss,grad_norm,lr,seconds,eval_loss,eval_accuracy\n";

  void keep(int64_t steps) {
    std::vector<char> bytes = data::readFile(path);
    std::istringstream old(std::string(bytes.begin(), bytes.end()));
    std::string line;
    std::getline(old, line);
    if (line + "\n" != kHeader) badInput(path.string() + ": starts with '" + line + "', which is no file of metrics");
    while (std::getline(old, line))
      if (!line.empty() && std::atoll(line.c_str()) < steps) text += line + "\n";
  }

  std::filesystem::path path;
  std::string text;
};

} // namespace

std::unique_ptr<MetricsFile> MetricsFile::open(const std::filesystem::path &path, std::optional<int64_t> resumeStep) {
  if (path.extension() == ".csv") return std::make_unique<Csv>(path, resumeStep);
  return std::make_unique<JsonLines>(path, resumeStep);
}

StepLog::StepLog(const TrainerOptions &options, int64_t total, std::optional<int64_t> resumeStep, bool isFile,
                 Source at)
    : options(options), total(total), at(at), isTerminal(options.print && options.logEvery > 0 && ::isatty(2)) {
  if (isFile && !options.metrics.empty()) file = MetricsFile::open(options.metrics, resumeStep);
}

StepLog::~StepLog() { clearProgress(); }

void StepLog::add(int64_t step, int64_t samples, Tensor loss, Tensor norm, double lr) {
  pending.push_back({step, samples, std::move(loss), std::move(norm), lr});
}

void StepLog::collect(bool wait) {
  while (!pending.empty() && (wait || pending.front().loss.ready() || pending.size() > kMostPending)) {
    take(pending.front());
    pending.pop_front();
  }
}

void StepLog::take(const Pending &step) {
  training::StepMetrics metrics;
  metrics.step = step.step;
  metrics.loss = step.loss.item<float>(at);
  metrics.gradNorm = step.norm.defined() ? step.norm.item<float>(at) : std::nanf("");
  metrics.lr = float(step.lr);
  metrics.seconds = seconds();
  lossSum += double(metrics.loss) * double(step.samples);
  lossSamples += step.samples;
  collected.push_back(metrics);
  for (; file && written + 1 < collected.size(); ++written) file->write(collected[written]);
  if (options.logEvery <= 0 || step.step % options.logEvery != 0) return;
  if (options.onStep) options.onStep({step.step, metrics.loss, metrics.gradNorm, step.lr});
  showProgress(metrics);
}

void StepLog::attach(std::optional<double> loss, std::optional<double> accuracy) {
  if (collected.empty()) return;
  collected.back().evalLoss = loss;
  collected.back().evalAccuracy = accuracy;
}

void StepLog::flush() {
  if (!file) return;
  for (; written < collected.size(); ++written) file->write(collected[written]);
  file->flush();
}

double StepLog::takeMeanLoss() {
  double mean = lossSum / double(lossSamples);
  lossSum = 0;
  lossSamples = 0;
  return mean;
}

void StepLog::showProgress(const training::StepMetrics &metrics) {
  if (!isTerminal) return;
  std::string text = "\r\x1b[Kstep " + std::to_string(metrics.step + 1) + "/" + std::to_string(total) + "  loss " +
                     decimal::general(metrics.loss, 4);
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
  lineOpen = true;
}

void StepLog::clearProgress() {
  if (!lineOpen) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  lineOpen = false;
}

} // namespace sprig::frontend
