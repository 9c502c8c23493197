#include "tools/sprig/compile/EntryRequests.h"
#include "lib/Lengths/Sums.h"
#include <algorithm>

namespace sprig::cli {
namespace {

// That ranges are of dimensions that there are, and that nothing else gives a size.
void requireRanges(const std::vector<InputSpec> &specs, const EntryRequest &entry) {
  std::vector<std::string> symbols = unboundSymbols(specs, entry.dims);
  for (const auto &[name, range] : entry.ranges) {
    if (std::find(symbols.begin(), symbols.end(), name) != symbols.end()) continue;
    std::string text = "--dim " + name + "=" + std::to_string(range.first) + ".." + std::to_string(range.last) + ": ";
    if (auto given = entry.dims.find(name); given != entry.dims.end())
      throw Error(ErrorKind::usage, text + "dimension '" + name + "' is already " + std::to_string(given->second));
    throw Error(ErrorKind::usage, text + "the model has no dimension of that name without a size");
  }
}

} // namespace

std::vector<EntryRequest> requestEntries(const Model &model, const Settings &settings) {
  // What a phase has left has its sizes, and later phases leave no function to ask.
  if (model.kind == ModelKind::mlir && !settings.compileFrom.empty()) return {EntryRequest{}};
  auto specs = inputsOfCalls(model, settings);
  std::vector<EntryRequest> entries;
  for (auto &dims : settings.entryDims(/*besideRanges=*/true)) {
    EntryRequest entry{dims, settings.inputShapes(), {}, settings.dimRanges()};
    bindShapes(specs, entry.shapes, entry.dims);
    requireRanges(specs, entry);
    std::map<std::string, int64_t> known = entry.dims;
    for (const auto &[name, range] : entry.ranges) known.emplace(name, range.last);
    for (const auto &[name, sum] : settings.dimSums())
      if (std::optional<int64_t> size = sizeOfSum(sum, known)) known.emplace(name, *size);
    for (const std::string &symbol : unboundSymbols(specs, known))
      if (std::optional<int64_t> size = sizeOfSum(symbol, known)) known.emplace(symbol, *size);
    requireSizes(model.path, specs, known);
    entries.push_back(entry);
  }
  return entries;
}

} // namespace sprig::cli
