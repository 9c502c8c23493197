#include "lib/Import/ONNX/ExportTraces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using llvm::StringRef;

namespace sprig::onnximport {

namespace {

/// The children of a Sequential that have nodes, by its path; and those that a fold explains.
struct Children {
  std::set<int64_t> present, explained;
};

void addChild(std::map<std::string, Children> &sequences, const std::string &parent, StringRef index, bool isFolded) {
  int64_t number = 0;
  if (index.empty() || index.getAsInteger(10, number)) return;
  Children &children = sequences[parent];
  children.present.insert(number);
  // A folded norm and its product are neighbours, of which one has the node.
  if (isFolded) children.explained.insert({number - 1, number + 1});
}

/// Modules whose children are numbered and run in order: their names are the parent's with a number after a dot, as
/// TorchScript writes them ('f/f.2'); at the root a number alone.
void addPath(std::map<std::string, Children> &sequences, StringRef module, bool isFolded) {
  llvm::SmallVector<StringRef> parts;
  module.split(parts, '/');
  std::string path;
  StringRef parent;
  for (StringRef part : parts) {
    bool isLast = part.data() == parts.back().data();
    if (parent.empty())
      addChild(sequences, "", part, isFolded && isLast);
    else if (StringRef rest = part; rest.consume_front(parent) && rest.consume_front("."))
      addChild(sequences, path, rest, isFolded && isLast);
    path += (path.empty() ? "" : "/") + part.str();
    parent = part;
  }
}

/// The modules between the first and the last that have left no node.
std::vector<std::string> gaps(const std::map<std::string, Children> &sequences) {
  std::vector<std::string> names;
  for (auto &[path, children] : sequences)
    for (int64_t i = 0; !children.present.empty() && i < *children.present.rbegin() && names.size() < 100; ++i) {
      if (children.present.count(i) || children.explained.count(i)) continue;
      names.push_back(
          inQuotes((path.empty()                                 ? ""
                    : StringRef(path).rsplit('/').second.empty() ? path + "."
                                                                 : StringRef(path).rsplit('/').second.str() + ".") +
                   std::to_string(i)));
    }
  return names;
}

} // namespace

void findDroppedLayers(const ExportGraph &graph, std::vector<ExportFinding> &findings) {
  if (!graph.isPyTorch()) return;
  std::vector<std::string> dropouts, biases;
  std::map<std::string, Children> sequences;
  bool drops = false;
  for (const ExportNode &node : graph.nodes()) {
    StringRef op = node.proto->op_type(), name = node.proto->name();
    drops |= op == "Dropout";
    if (op == "Identity" && StringRef(node.classes).contains_insensitive("dropout"))
      dropouts.push_back(inQuotes(node.module));
    if (name.starts_with("/") && !node.module.empty()) addPath(sequences, node.module, hasFoldedNorm(graph, node));
    bool isRewritten = name.consume_front("node_Gemm_") && llvm::all_of(name, llvm::isDigit);
    if (op == "Gemm" && isRewritten && node.proto->input_size() == 2 &&
        (node.classes.empty() || StringRef(node.classes).contains("Linear")))
      biases.push_back(node.name());
  }
  if (!dropouts.empty())
    findings.push_back(
        {"dropout", false, "the dropouts " + listed(dropouts) + " were exported for inference and do nothing", {}});
  else if (std::vector<std::string> missing = gaps(sequences); !drops && !missing.empty())
    findings.push_back({"dropout",
                        false,
                        "the modules " + listed(missing) +
                            " have left no node: dropouts, which an export for inference leaves out, or identities",
                        {}});
  if (!biases.empty())
    findings.push_back(
        {"bias",
         false,
         "the exporter took biases of zeros away: " + listed(biases) + "; these layers are trained without one",
         {}});
}

} // namespace sprig::onnximport
