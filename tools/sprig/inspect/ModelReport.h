// What is inside of a model that is no package: parameters, operations, work. For inspect.
#pragma once
#include "tools/sprig/Model.h"
#include "tools/sprig/Report.h"
#include <map>
#include <set>
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
  std::string obstacle = {};        ///< of an outline: why Sprig cannot compile it
  std::set<std::string> types = {}; ///< of operands and results: "f32", "ui8 i8 -> i32"
};
struct ModelSummary {
  bool isOutline = false; ///< operators as the file has them, without work
  std::vector<ParameterRow> parameters;
  std::vector<OpRow> ops;                         ///< the most work first
  std::map<std::string, std::string> outputTypes; ///< of the entry's results, by name: "8x10xf32"; of no outline
  std::map<std::string, int64_t> bytesByType;     ///< of parameters and constants of more than one element
  int64_t parameterElements = 0, parameterBytes = 0, flops = 0, bytes = 0, opCount = 0;
};

/// Of one entry and the model's parameters.
ModelSummary summarizeModel(const Model &model, const EntryRequest &entry, const Settings &settings);

/// What the file of an ONNX model that cannot be imported has in it.
ModelSummary outlineModel(const Model &model);

Json toJson(const ModelSummary &summary);
void printParameters(const ModelSummary &summary);
void printOps(const ModelSummary &summary);

/// The graph of an entry in Graphviz' language: a box an operation, an edge a value with its type.
std::string graphToDot(const Model &model, const EntryRequest &entry, const Settings &settings);

struct OperatorRow {
  std::string domain, name;
  std::vector<int> sinceVersions; ///< those with a row of their own in the importer's table
  std::vector<std::string> types; ///< element types of its first operand that Sprig has
};

/// Ordered by domain and name.
std::vector<OperatorRow> listOperators();

} // namespace sprig::cli
