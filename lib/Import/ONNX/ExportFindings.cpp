#include "lib/Import/ONNX/ExportFindings.h"
#include "dialects/NN/Constants.h"
#include "lib/Import/ONNX/ExportTraces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cmath>

using llvm::StringRef;

namespace sprig {

using namespace onnximport;

namespace onnximport {

std::string inQuotes(const std::string &name) { return "'" + name + "'"; }

} // namespace onnximport

/// What no optimizer may move: buffers, and tables with infinities, as attention masks are.
static void findConstants(ExportGraph &graph, ExportReport &report) {
  for (auto &[name, initializer] : graph.initializers()) {
    if (initializer.uses.empty()) continue;
    bool isStatistic = llvm::any_of(
        initializer.uses, [](const Use &use) { return use.role == Role::mean || use.role == Role::variance; });
    if (isStatistic) continue;
    if (initializer.kind == "BUFFER") {
      report.constants.push_back({name, "a buffer of the module"});
      continue;
    }
    bool isLayers = llvm::all_of(initializer.uses, [](const Use &use) { return use.role != Role::other; });
    if (isLayers || initializer.count() == 0) continue;
    ir::ConstantView view(graph.value(initializer));
    for (int64_t i = 0, n = view.isSplat() ? 1 : view.size(); i < n; ++i) {
      if (std::isfinite(view.asDouble(i))) continue;
      report.constants.push_back({name, "it holds values that are not finite"});
      break;
    }
  }
}

static void findSingles(const ExportGraph &graph, ExportReport &report) {
  for (auto &[name, initializer] : graph.initializers()) {
    bool isLayers = !initializer.uses.empty() && llvm::all_of(initializer.uses, [](const Use &use) {
      // A factor or a summand of one element is a constant, unless it is the bias of a product.
      bool isNode = use.node->proto->op_type() != "Add" && use.node->proto->op_type() != "Mul" &&
                    use.node->proto->op_type() != "Sub" && use.node->proto->op_type() != "Gather";
      bool isStatistic = use.role == Role::mean || use.role == Role::variance;
      return !isStatistic && (use.role == Role::bias || (isNode && use.role != Role::other));
    });
    if (isLayers && initializer.count() == 1 && initializer.tensor->dims_size() > 0) report.singles.push_back(name);
  }
}

static std::string adviceFor(const ExportGraph &graph) {
  if (!graph.isPyTorch()) return "";
  if (graph.isDynamo())
    return "export it for training: model.train(); torch.onnx.export(model, args, FILE, dynamo=True, optimize=False)";
  return "export it for training: torch.onnx.export(model, args, FILE, dynamo=False, "
         "training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)";
}

ExportReport findExportTraces(std::string_view bytes, const std::string &file, const std::string &folder) {
  Model model = parseModel(bytes, file, folder);
  ExportGraph graph(model);
  ExportReport report;
  findMerged(graph, report.findings);
  findUntied(graph, report.findings);
  findFolded(graph, report.findings);
  findDroppedLayers(graph, report.findings);
  findConstants(graph, report);
  findSingles(graph, report);
  report.advice = adviceFor(graph);
  return report;
}

} // namespace sprig
