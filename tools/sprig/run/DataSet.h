// Data sets beside models: folders of input_K.* and output_K.* arrays, and folders of cases in ONNX's backend layout.
// For check.
#pragma once
#include "lib/Data/Holders.h"
#include <filesystem>
#include <string>
#include <vector>

namespace sprig::cli {

struct DataSet {
  std::vector<data::Stored> inputs, outputs; ///< K in the order of the graph's inputs and outputs
};

/// Reads input_0.*, input_1.*, ... and output_0.*, ..., which are held so; what is not said is a tensor. Throws
/// badInput when the folder has no outputs, or a gap.
DataSet readDataSet(const std::filesystem::path &folder, const std::vector<data::Holder> &inputs,
                    const std::vector<data::Holder> &outputs);

struct Case {
  std::string name; ///< folder/set
  std::filesystem::path model, dataSet;
};

/// The data sets (test_data_set_* or data_*) of the direct subfolders of `root` that have a model.onnx, in order of
/// their names; of `root` itself when it has one.
std::vector<Case> findCases(const std::filesystem::path &root);

/// The tolerance that the ONNX project's runner uses is tighter for its own data sets.
bool isBackendDataSet(const std::filesystem::path &dataSet);

} // namespace sprig::cli
