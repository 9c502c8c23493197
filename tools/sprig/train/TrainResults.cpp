#include "tools/sprig/train/TrainResults.h"
#include "lib/Checkpoint/Writer.h"
#include "lib/Data/ArrayFile.h"
#include "lib/Data/File.h"
#include "sprig/error.h"
#include "tools/sprig/Report.h"
#include <filesystem>

namespace sprig::cli {

ResultKind resultKind(const std::string &path, const Model &model) {
  std::filesystem::path file(path);
  std::error_code ignored;
  // /dev/null or a pipe takes bytes of some format.
  auto type = std::filesystem::status(file, ignored).type();
  if (type == std::filesystem::file_type::character || type == std::filesystem::file_type::fifo)
    return ResultKind::safetensors;
  std::string ending = file.extension();
  if (ending == ".safetensors") return ResultKind::safetensors;
  if (ending != ".onnx") return ResultKind::checkpoint;
  if (model.kind != ModelKind::onnx)
    badUse(path + ": " + model.path +
           " is no ONNX file to put weights into; expected .safetensors or a folder of checkpoints");
  return ResultKind::onnx;
}

void writeResult(const std::string &path, const Model &model, const TrainProgram &program,
                 std::span<const checkpoints::ArrayView> state, const checkpoints::Manifest &manifest) {
  switch (resultKind(path, model)) {
  case ResultKind::safetensors: {
    std::vector<data::Array> arrays = program.parameters();
    data::writeFile(path, data::formatSafetensors(arrays));
    return;
  }
  case ResultKind::onnx: {
    std::vector<data::Array> arrays = program.parameters();
    data::writeFile(path, exportTrained(model, arrays));
    return;
  }
  case ResultKind::checkpoint: {
    checkpoints::Writer writer(path, 1);
    writer.save(manifest, state);
    writer.wait();
  }
  }
}

} // namespace sprig::cli
