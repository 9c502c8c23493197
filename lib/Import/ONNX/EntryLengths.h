// An entry of which one dimension is a range, as the functions that the pass mask-lengths makes its programs of.
// For the importer.
#pragma once
#include "lib/Import/ONNX/ImportONNX.h"
#include "lib/Lengths/Sample.h"
#include <vector>

namespace sprig::onnximport {

/// One function: the entry at one size, and which of a group it is; none where the size stands alone.
struct EntryAtLength {
  ImportEntry entry;
  std::optional<LengthSample> sample = {};
};

/// The entry itself where nothing of it is a range. Else the programs of that range (lib/Lengths/Ranges.h), each told
/// by a few of its lengths, the longest first. `group` counts the programs of all entries. Throws sprig::Error where a
/// range is empty, or several dimensions are one.
std::vector<EntryAtLength> entriesAtLengths(const ImportEntry &entry, int64_t &group);

} // namespace sprig::onnximport
