#include "tools/sprig/train/TrainResults.h"
#include "lib/Data/ArrayFile.h"
#include "lib/Data/File.h"
#include "sprig/error.h"
#include "tools/sprig/Report.h"
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace sprig::cli {

void checkWritable(const std::string &path) {
  // Where there is a file, it is closed or open to writing by itself, and is written beside where a link points.
  std::error_code ignored;
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(file, ignored)) badUse(path + ": is a folder, expected a file name");
  if (std::filesystem::exists(file, ignored)) {
    if (::access(file.c_str(), W_OK) != 0) runtimeError(path + ": cannot be written: " + std::strerror(errno));
    if (!std::filesystem::is_regular_file(file, ignored)) return;
    file = std::filesystem::canonical(file, ignored);
  }
  std::filesystem::path folder = file.parent_path();
  if (folder.empty()) folder = ".";
  if (::access(folder.c_str(), W_OK) != 0)
    runtimeError(path + ": cannot be written: " + folder.string() + ": " + std::strerror(errno));
}

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
