// What an exporter did to a model that training cannot undo: layers folded together, equal initial values merged into
// one initializer, a tied weight written twice, dropouts left out.
// For `sprig train`. Evidence is what the file says (names, metadata, equal bytes), never the model's kind.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sprig {

/// What may be found, as `--allow` takes it, each with its meaning.
struct ExportFindingKind {
  const char *name, *meaning;
};
inline constexpr ExportFindingKind kExportFindingKinds[] = {
    {"merged", "equal initial values of several layers in one initializer, which the layers share"},
    {"untied", "one weight written as two initializers, which are trained apart"},
    {"folded", "a batch norm or a parametrization folded into a layer's weight"},
    {"dropout", "dropouts left out"},
    {"bias", "biases of zeros left out"},
};

struct ExportFinding {
  std::string kind; ///< a name of kExportFindingKinds
  /// Training the model as it stands cannot be what was meant; otherwise it may be.
  bool isFatal = false;
  /// Names the initializers and the layers.
  std::string text;
  /// It is of no consequence unless one of these initializers is trained; empty: it always is.
  std::vector<std::string> initializers;
};

struct ExportReport {
  std::vector<ExportFinding> findings;
  /// How to export the model for training, "" where the exporter is not known.
  std::string advice;
  /// Initializers that are no parameters by what the file says (buffers) or by their values (infinities: masks), each
  /// with the reason.
  std::vector<std::pair<std::string, std::string>> constants;
  /// Initializers of one element that are a layer's weight, bias or slope: parameters, where other single numbers are
  /// factors.
  std::vector<std::string> singles;
};

/// Of a model in memory; external data is looked for in `folder`. Throws what is wrong with the model (ImportONNX.h).
ExportReport findExportTraces(std::string_view bytes, const std::string &file, const std::string &folder);

} // namespace sprig
