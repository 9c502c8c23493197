#include "tools/sprig/train/TrainSweep.h"
#include "lib/Data/File.h"
#include "lib/Plot/TrainingChart.h"
#include "tools/sprig/Report.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <limits>

namespace sprig::cli {
namespace {

// More would be a slip of the step.
constexpr double kMaxValues = 10000;

bool parseNumber(std::string_view text, double &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  for (size_t from = 0;;) {
    size_t end = text.find(separator, from);
    parts.push_back(text.substr(from, end == std::string::npos ? end : end - from));
    if (end == std::string::npos) return parts;
    from = end + 1;
  }
}

} // namespace

SweepRange parseSweep(const std::string &text) {
  auto refuse = [&](const std::string &what) {
    badUse("--sweep " + text + ": " + what + ", expected FIELD=FIRST:LAST:STEP or FIELD=A,B,C");
  };
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) refuse("names no field");
  SweepRange range{text.substr(0, equals), text.substr(0, equals), {}};
  if (range.path == "lr") range.path = "optimizer.lr";
  std::string values = text.substr(equals + 1);
  std::vector<std::string> parts = split(values, ':');
  double first, last, step;
  if (parts.size() == 1) {
    range.values = split(values, ',');
    for (const std::string &value : range.values)
      if (value.empty()) refuse("has an empty value");
  } else if (parts.size() == 3 && parseNumber(parts[0], first) && parseNumber(parts[1], last) &&
             parseNumber(parts[2], step)) {
    double count = std::floor((last - first) / step + 1e-9) + 1;
    if (!(step != 0 && count >= 1)) refuse("has no values");
    if (count > kMaxValues) refuse("has more than " + std::to_string(int64_t(kMaxValues)) + " values");
    for (double i = 0; i < count; ++i) range.values.push_back(formatDouble(first + i * step, 12));
  } else {
    refuse("is no range of numbers");
  }
  return range;
}

void printSweep(const SweepRange &range, const std::vector<SweepResult> &results, double compileSeconds, bool json) {
  Json rows = Json::array();
  Table table({range.field, "loss", "eval loss", "accuracy", "seconds", "samples/s", "memory", ""});
  int64_t compilations = 0;
  for (const SweepResult &result : results) {
    compilations += result.compiled;
    Json row = {{"value", result.value}};
    if (!result.outcome) {
      row["failure"] = result.failure;
      table.add({result.value, "-", "-", "-", "-", "-", "-", result.failure});
      rows.push_back(row);
      continue;
    }
    const training::LoopResult &outcome = *result.outcome;
    row.update({{"epoch_loss", outcome.epochLoss},
                {"seconds", outcome.seconds},
                {"steps", outcome.steps},
                {"samples_per_second", outcome.samplesPerSecond},
                {"memory_bytes", result.memoryBytes}});
    std::string evalLoss = "-", accuracy = "-";
    if (outcome.evaluation) {
      row["eval_loss"] = outcome.evaluation->loss;
      evalLoss = formatDouble(outcome.evaluation->loss, 4);
      if (outcome.evaluation->accuracy) {
        row["eval_accuracy"] = *outcome.evaluation->accuracy;
        accuracy = formatDouble(*outcome.evaluation->accuracy * 100, 4) + "%";
      }
    }
    table.add({result.value, formatDouble(outcome.epochLoss, 4), evalLoss, accuracy, formatDouble(outcome.seconds, 3),
               formatCount(outcome.samplesPerSecond, "/s"), formatBytes(double(result.memoryBytes)), ""});
    rows.push_back(row);
  }
  if (json) {
    std::cout << toText(Json({{"field", range.path},
                              {"compilations", compilations},
                              {"compile_seconds", compileSeconds},
                              {"runs", rows}}))
              << '\n';
    return;
  }
  table.print();
  std::cout << results.size() << " runs, " << compilations << (compilations == 1 ? " compilation" : " compilations")
            << " in " << formatNanoseconds(compileSeconds * 1e9) << '\n';
}

void plotSweep(const std::string &path, const std::string &title, const std::string &subtitle, const SweepRange &range,
               const std::vector<SweepResult> &results) {
  plot::Sweep sweep{title, subtitle, range.field, true, "accuracy", {}};
  for (const SweepResult &result : results)
    if (result.outcome && !(result.outcome->evaluation && result.outcome->evaluation->accuracy)) sweep.measure = "loss";
  for (const SweepResult &result : results) {
    plot::SweepPoint point{result.value, 0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::quiet_NaN()};
    sweep.numeric &= parseNumber(result.value, point.value);
    if (const auto &outcome = result.outcome) {
      point.seconds = outcome->seconds;
      point.measured = sweep.measure == "accuracy" ? *outcome->evaluation->accuracy
                       : outcome->evaluation       ? outcome->evaluation->loss
                                                   : outcome->epochLoss;
    }
    sweep.points.push_back(point);
  }
  std::string svg = plot::toSvg(plot::sweepChart(sweep));
  data::writeFile(path, svg);
}

} // namespace sprig::cli
