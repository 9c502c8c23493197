// sprig check: compares a model's outputs with stored ones, for one data set or for folders of cases.
#include "tools/sprig/run/CheckModel.h"
#include "tools/sprig/run/ArrayLoss.h"
#include "tools/sprig/Command.h"
#include "tools/sprig/run/DataSet.h"
#include "tools/sprig/simulate/GivenTopology.h"
#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <iostream>
#include <memory>

namespace fs = std::filesystem;
namespace sprig::cli {
namespace {

struct CheckOptions {
  CommonOptions common;
  Settings settings;
  std::string model, data;
  std::vector<std::string> cases;
  std::optional<double> rtol, atol, minSnr;
  bool interpreter = false, bisect = false;
};

Judgement judgementOf(const CheckOptions &options, const fs::path &dataSet) {
  return {options.rtol, options.atol, options.minSnr, isBackendDataSet(dataSet)};
}

int closingLine(const CheckOptions &options, int passed, int failed, std::optional<int> unsupported, Json details,
                const CheckedModel *explained = nullptr) {
  if (explained && !options.common.json()) explained->explainPlacement(nullptr);
  if (options.common.json()) {
    Json json = {{"passed", passed}, {"failed", failed}};
    if (explained) explained->explainPlacement(&json);
    if (unsupported) json["unsupported"] = *unsupported;
    json["results"] = std::move(details);
    std::cout << toText(json) << '\n';
  } else {
    std::cout << passed << " passed, " << failed << " failed";
    if (unsupported) std::cout << ", " << *unsupported << " unsupported";
    std::cout << '\n';
  }
  return failed ? kCheckFailed : kDone;
}

int checkOne(const CheckOptions &options) {
  CheckedModel model(options.model, options.settings, options.interpreter);
  DataSet set = model.read(options.data);
  std::vector<OutputResult> results = model.check(set, judgementOf(options, options.data));
  int failed = 0;
  Json details = Json::array();
  Table table({"output", "type", "largest error", "signal/noise dB", "result"});
  for (const OutputResult &result : results) {
    failed += !result.comparison.passed;
    table.add({result.name, result.type, formatDouble(result.comparison.largestError, 3),
               decibelText(result.comparison.decibels),
               result.comparison.passed ? "passed" : "FAIL: " + result.comparison.reason});
    details.push_back({{"output", result.name},
                       {"type", result.type},
                       {"largest_error", result.comparison.largestError},
                       {"passed", result.comparison.passed},
                       {"reason", result.comparison.reason}});
    putDecibels(details.back(), "snr_db", result.comparison.decibels);
  }
  if (!options.common.json()) table.print();
  if (isVerbose()) inform(model.describeLastRun());
  if (options.bisect && failed) inform(model.bisect(set, judgementOf(options, options.data)));
  int code = closingLine(options, int(results.size()) - failed, failed, std::nullopt, std::move(details), &model);
  return code;
}

int checkCases(const CheckOptions &options) {
  std::vector<Case> cases;
  for (const std::string &root : options.cases) {
    auto found = findCases(root);
    if (found.empty()) badInput(root + ": no cases: no subfolder with model.onnx and test_data_set_* or data_*");
    cases.insert(cases.end(), found.begin(), found.end());
  }
  int passed = 0, failed = 0, unsupported = 0;
  Json details = Json::array();
  // The one before stays until another has run: a device that nobody has is given back, and taking it again takes a GPU
  // longer than most cases.
  std::unique_ptr<CheckedModel> model, before;
  fs::path opened;
  for (const Case &one : cases) {
    std::string verdict, reason;
    bool isOfValues = true; // all that is wrong
    try {
      // The data sets of one model follow each other: what fits all of them is compiled once.
      if (!model || opened != one.model) {
        if (model) before = std::move(model);
        opened.clear();
        model = std::make_unique<CheckedModel>(one.model, options.settings, options.interpreter);
        opened = one.model;
      }
      for (const OutputResult &result : model->check(model->read(one.dataSet), judgementOf(options, one.dataSet)))
        if (!result.comparison.passed) {
          isOfValues &= result.comparison.isOfValues;
          if (reason.empty()) reason = "output '" + result.name + "': " + result.comparison.reason;
        }
      verdict = reason.empty() ? "passed" : "FAIL";
      if (verdict == "FAIL" && isOfValues && model->drawsRandomNumbers()) {
        verdict = "UNSUPPORTED";
        reason += "; the model draws random numbers, and what is stored is of another generator";
      }
    } catch (const Error &error) {
      verdict = error.kind() == ErrorKind::unsupported ? "UNSUPPORTED" : "FAIL";
      reason = error.what();
      if (size_t end = reason.find('\n'); end != std::string::npos) reason.resize(end);
    }
    (verdict == "passed" ? passed : verdict == "FAIL" ? failed : unsupported)++;
    if (!options.common.json()) {
      if (verdict != "passed")
        std::cout << verdict << ' ' << one.name << ": " << reason << std::endl;
      else if (isVerbose())
        std::cout << "passed " << one.name << std::endl;
    }
    details.push_back({{"case", one.name}, {"result", verdict}, {"reason", reason}});
  }
  return closingLine(options, passed, failed, unsupported, std::move(details));
}

int runCheck(const CheckOptions &options) {
  options.settings.checkDevicesCompute();
  for (auto &[flag, bound] : {std::pair("--rtol", options.rtol), {"--atol", options.atol}})
    if (bound && !(*bound >= 0 && std::isfinite(*bound)))
      badUse(std::string(flag) + ": expected a finite number of at least 0");
  if (options.minSnr && !std::isfinite(*options.minSnr)) badUse("--min-snr: expected a finite number of decibels");
  if (!options.cases.empty()) {
    if (!options.model.empty() || !options.data.empty()) badUse("--cases goes without MODEL and --data");
    if (options.bisect) badUse("--bisect goes with MODEL --data, not with --cases");
    if (options.settings.explainPlacement) badUse("--explain-placement goes with MODEL --data, not with --cases");
    return checkCases(options);
  }
  if (options.model.empty() || options.data.empty()) badUse("expected MODEL --data DIR, or --cases DIR");
  return checkOne(options);
}

} // namespace

void addCheck(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App *command = addCommand(app, "check", "Runs a model on stored inputs and compares with stored outputs",
                                 "  sprig check examples/digits/model.onnx --data examples/digits/data\n"
                                 "  sprig check examples/digits/model.onnx --data examples/digits/data --interpreter",
                                 options->common);
  command->add_option("MODEL", options->model, "an ONNX file, MLIR in the nn dialect, or a package");
  command->add_option("--data", options->data, "folder with input_K.* and output_K.*, K in the order of the graph");
  command->add_option("--cases", options->cases,
                      "folder whose subfolders have model.onnx and test_data_set_* or data_*");
  command->add_option("--rtol", options->rtol, "relative tolerance (default 1e-3; f64 1e-6, f16 4e-3, bf16 3e-2)");
  command->add_option("--atol", options->atol,
                      "absolute tolerance (default 1e-5, for test_data_set_* 1e-7; f64 1e-9, f16 1e-3, bf16 1e-2)");
  command->add_option("--min-snr", options->minSnr,
                      "signal over noise in dB that each output of floats has at least, in the place of the tolerances "
                      "unless they are given too: for quantised models");
  command->add_flag("--interpreter", options->interpreter,
                    "run the reference interpreter in double precision instead of compiled code");
  command->add_flag("--bisect", options->bisect,
                    "where the check fails, name the first operation whose compiled result is not the interpreter's");
  addSettings(*command, options->settings);
  addLinks(*command, options->settings);
  onRun(*command, invocation, [=] {
    takeTopology(options->settings);
    return runCheck(*options);
  });
}

} // namespace sprig::cli
