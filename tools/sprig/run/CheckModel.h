// A model that data sets are checked against: compiled, or interpreted, once for every set of shapes.
// For check.
#pragma once
#include "tools/sprig/run/Compare.h"
#include "tools/sprig/run/DataSet.h"
#include "tools/sprig/Model.h"
#include <optional>

namespace sprig::cli {

struct OutputResult {
  std::string name, type;
  Comparison comparison;
};

class CheckedModel {
public:
  CheckedModel(const std::filesystem::path &path, const Settings &settings, bool interpreter);

  /// Reads a folder of the model's inputs and outputs.
  DataSet read(const std::filesystem::path &folder) const { return readDataSet(folder, inputHolders, outputHolders); }
  /// Binds the model's dimensions to the set's inputs, runs, compares output by output.
  std::vector<OutputResult> check(const DataSet &set, const Judgement &judgement);
  /// Which operation's compiled result is not the interpreter's, in words.
  std::string bisect(const DataSet &set, const Judgement &judgement);
  /// What --explain-placement prints of the last compilation; as JSON to `document`, where there is one.
  void explainPlacement(Json *document) const {
    if (runner) cli::explainPlacement(settings, *runner, document);
  }
  /// So that stored results are those of another generator.
  bool drawsRandomNumbers() const;
  std::string describeLastRun() const { return runner ? runner->describeLastRun() : "ran the reference interpreter"; }

private:
  Model model;
  Settings settings;
  bool interpreter;
  std::vector<InputSpec> given; ///< in the order of the graph
  std::vector<data::Holder> inputHolders, outputHolders;
  std::optional<Runner> runner;
  std::map<std::string, int64_t> compiledDims;
  std::map<std::string, std::vector<char>> compiledValues;
  /// Arrays by name, and the entry that they ask for.
  BoundInputs bind(const DataSet &set) const;
};

} // namespace sprig::cli
