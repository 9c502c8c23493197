// Runs ONNX's backend test cases through the importer and the reference interpreter: no code is generated, so what
// fails here is the import's fault or the interpreter's.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sprig {
/// Each folder holds cases, or is one (model.onnx and test_data_set_* or data_*). Prints a line per set that does not
/// pass and the counts; returns how many failed.
int checkCases(const std::vector<std::string> &folders, const std::map<std::string, int64_t> &dims, bool verbose);
} // namespace sprig
