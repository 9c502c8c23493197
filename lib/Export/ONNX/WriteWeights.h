// ONNX models with other weights: what training gives back.
// For `sprig train -o FILE.onnx`. Throws sprig::Error.
#pragma once
#include "lib/Data/Array.h"
#include <span>
#include <string>
#include <string_view>

namespace sprig {

/// The model with these arrays as its initializers of the same names; everything else stays as it is, and data that lay
/// in files beside the model comes into it. `file` is what errors call the model, `folder` where its external data
/// lies.
std::string withWeights(std::string_view model, const std::string &file, const std::string &folder,
                        std::span<const data::Array> weights);

} // namespace sprig
