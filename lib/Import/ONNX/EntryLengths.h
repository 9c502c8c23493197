// An entry of which one dimension is a range, as the functions that the pass mask-lengths makes its programs of.
// For the importer.
#pragma once
#include "lib/Import/ONNX/ImportONNX.h"
#include <vector>

namespace sprig::onnximport {

/// One function: the entry at one size, and what its attribute `nn.lengths` says; none where the size stands alone.
struct EntryAtLength {
  ImportEntry entry;
  std::string axis; ///< empty: stands alone
  int64_t first = 0, last = 0, length = 0, group = 0;
};

/// The entry itself where nothing of it is a range. Else the programs of that range (lib/Lengths/Ranges.h), each told
/// by a few of its lengths, the longest first. `group` counts the programs of all entries. Throws sprig::Error where a
/// range is empty, or several dimensions are one.
std::vector<EntryAtLength> entriesAtLengths(const ImportEntry &entry, int64_t &group);

} // namespace sprig::onnximport
