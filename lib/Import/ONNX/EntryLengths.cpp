#include "lib/Import/ONNX/EntryLengths.h"
#include "lib/Lengths/Ranges.h"
#include "sprig/error.h"

namespace sprig::onnximport {

std::vector<EntryAtLength> entriesAtLengths(const ImportEntry &entry, int64_t &group) {
  if (entry.ranges.empty()) return {EntryAtLength{entry}};
  const auto &[axis, range] = *entry.ranges.begin();
  auto text = [](const std::string &name, LengthRange of) {
    return "dimension '" + name + "' of " + std::to_string(of.first) + ".." + std::to_string(of.last);
  };
  if (entry.ranges.size() > 1) {
    const auto &[other, otherRange] = *std::next(entry.ranges.begin());
    unsupported(text(axis, range) + " and " + text(other, otherRange) + ": one dimension of an entry can be a range");
  }
  if (range.first < 0 || range.last < range.first)
    badUse(text(axis, range) + ": expected 0 or more, and no less after it");
  std::vector<EntryAtLength> entries;
  // Of nothing an entry of its own: many operations are others then, or none.
  auto begin = range.first ? programOf(range.first, range) : LengthRange{0, 0};
  for (LengthRange program = begin;; program = programOf(program.last + 1, range)) {
    for (int64_t length : tellingLengths(program)) {
      EntryAtLength each{entry};
      if (program.first != program.last) each.sample = {axis, program.first, program.last, length, group};
      each.entry.ranges.clear();
      each.entry.dims[axis] = length;
      each.entry.name += "_" + axis + std::to_string(length);
      entries.push_back(std::move(each));
    }
    ++group;
    if (program.last == range.last) break;
  }
  return entries;
}

} // namespace sprig::onnximport
