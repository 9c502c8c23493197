// What is inside of a model that is no package: parameters, operations, work. For inspect.
#pragma once
#include "tools/sprig/Model.h"
#include "tools/sprig/Report.h"
#include <string>
#include <vector>

namespace sprig::cli {

struct ParameterRow {
  std::string name, type;
  int64_t elements = 0, bytes = 0;
};
struct OpRow {
  std::string op;
  int64_t count = 0, flops = 0, bytes = 0;
};
struct ModelSummary {
  std::vector<ParameterRow> parameters;
  std::vector<OpRow> ops; ///< the most work first
  int64_t parameterElements = 0, parameterBytes = 0, flops = 0, bytes = 0, opCount = 0;
};

/// Of one entry and the model's parameters.
ModelSummary summarizeModel(const Model &model, const EntryRequest &entry, const Settings &settings);

Json toJson(const ModelSummary &summary);
void printParameters(const ModelSummary &summary);
void printOps(const ModelSummary &summary);

/// The graph of an entry in Graphviz' language: a box an operation, an edge a value with its type.
std::string graphToDot(const Model &model, const EntryRequest &entry, const Settings &settings);

} // namespace sprig::cli
