// What a training run leaves behind: the trained model, a summary.
// For `sprig train`.
#pragma once
#include "tools/sprig/train/TrainModel.h"

namespace sprig::cli {

enum class ResultKind { onnx, safetensors, checkpoint };

/// By the name's ending: .onnx, .safetensors, else a folder of checkpoints. Throws usage for what the model cannot be
/// written as (only an ONNX file has one to put weights into).
ResultKind resultKind(const std::string &path, const Model &model);

/// `state` is that of all ranks together.
void writeResult(const std::string &path, const Model &model, const TrainProgram &program,
                 std::span<const checkpoints::ArrayView> state, const checkpoints::Manifest &manifest);

} // namespace sprig::cli
