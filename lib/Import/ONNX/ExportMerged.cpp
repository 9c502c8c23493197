#include "lib/Import/ONNX/ExportTraces.h"
#include "llvm/ADT/STLExtras.h"

namespace sprig::onnximport {

namespace {

/// A table that is also a weight is a tied head; a bias that is also a scale is nothing that anybody means.
Role comparable(Role role) { return role == Role::table ? Role::weight : role; }

/// The newer exporter of PyTorch merges initializers of at most so many elements.
constexpr int64_t kMostMerged = 1024;

/// A table that is looked up in and multiplied with.
bool isTie(const std::vector<const Use *> &uses) {
  auto isTable = [](const Use *use) { return use->role == Role::table; };
  return llvm::any_of(uses, isTable) && !llvm::all_of(uses, isTable);
}

std::string describe(const Use &use) {
  std::string text = std::string(roleName(use.role)) + " of " + use.node->name();
  return use.alias.empty() ? text : text + " as '" + use.alias + "'";
}

/// What tells whether the uses are of one parameter that several layers share, or of several that were merged.
struct Evidence {
  bool renamed = false;       ///< the exporter left the other names
  bool rolesDiffer = false;   ///< bias here, running mean there
  bool weightsDiffer = false; ///< one bias beside several weights
  bool pathsDiffer = false, pathsKnown = true;
};

Evidence weigh(const std::vector<const Use *> &uses, const ExportGraph &graph) {
  Evidence evidence;
  const Use &first = *uses.front();
  for (const Use *use : uses) {
    evidence.renamed |= graph.isPyTorch() && !use->alias.empty();
    evidence.rolesDiffer |= comparable(use->role) != comparable(first.role);
    evidence.weightsDiffer |= use->weight != first.weight;
    evidence.pathsDiffer |= use->node->path != first.node->path;
    evidence.pathsKnown &= !use->node->path.empty();
  }
  return evidence;
}

} // namespace

void findMerged(ExportGraph &graph, std::vector<ExportFinding> &findings) {
  for (auto &[name, initializer] : graph.initializers()) {
    std::vector<const Use *> uses;
    for (const Use &use : initializer.uses)
      if (use.role != Role::other) uses.push_back(&use);
    if (uses.size() < 2 || initializer.tensor->dims_size() == 0) continue;
    Evidence evidence = weigh(uses, graph);
    bool isSplat = graph.isSplat(initializer);
    bool isSmall = graph.isDynamo() && initializer.count() <= kMostMerged;
    bool isProved =
        evidence.renamed || (isSplat && evidence.rolesDiffer) || ((isSplat || isSmall) && evidence.weightsDiffer);
    // TorchScript's exporter renames what it merges: what it did not rename is shared by the model itself.
    if (!isProved && graph.isPyTorch() && !graph.isDynamo()) continue;
    bool elsewhere = evidence.pathsKnown && evidence.pathsDiffer;
    if (!isProved) {
      if (evidence.pathsKnown && !evidence.pathsDiffer) continue; // one layer that runs several times
      // Values that are not all equal are shared by a tie, or by copies of one layer: of those, small ones are merged.
      bool isCopy = isSmall && elsewhere && !isTie(uses);
      if (!isCopy && !(isSplat && comparable(uses.front()->role) != Role::weight)) continue;
    }
    ExportFinding finding;
    finding.kind = "merged";
    finding.isFatal = isProved || (isSplat && elsewhere);
    std::vector<std::string> layers;
    for (const Use *use : uses)
      if (std::string text = describe(*use); !llvm::is_contained(layers, text)) layers.push_back(text);
    finding.text = "initializer " + inQuotes(name) + (isSplat ? ", all elements equal," : "") + " is " + listed(layers);
    finding.text += finding.isFatal
                        ? ": the exporter merged equal initial values, and the layers would be trained as one"
                        : ": training keeps them one; if they are to be several, the exporter merged equal values";
    // Statistics move whatever is trained.
    bool moves = llvm::any_of(uses, [](auto *use) { return use->role == Role::mean || use->role == Role::variance; });
    if (!moves) finding.initializers = {name};
    findings.push_back(std::move(finding));
  }
}

} // namespace sprig::onnximport
