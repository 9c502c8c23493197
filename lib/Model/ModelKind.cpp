#include "lib/Model/ModelKind.h"
#include "sprig/error.h"
#include <algorithm>
#include <filesystem>

using namespace sprig;

namespace {

constexpr std::string_view kBytecode = "ML\xefR";

// ONNX is a protobuf message, whose first bytes are field tags and lengths: text has none of those.
bool isText(std::string_view content) {
  auto isPrinted = [](unsigned char c) { return c >= 0x20 || c == '\n' || c == '\t' || c == '\r'; };
  return std::ranges::all_of(content.substr(0, 4096), isPrinted);
}

} // namespace

bool sprig::isPackage(std::string_view content) { return content.starts_with("SPRIGPKG"); }

ModelKind sprig::modelKind(std::string_view content, const std::string &name) {
  auto refuse = [&](const char *why) { badInput(name + ": " + why); };
  if (content.empty()) refuse("the file is empty, expected a model");
  if (isPackage(content)) return ModelKind::package;
  if (content.starts_with(kBytecode)) return ModelKind::mlir;
  if (!isText(content)) return ModelKind::onnx;
  if (content.starts_with("version https://git-lfs"))
    refuse("not a model but a Git LFS pointer to one: fetch the file with 'git lfs pull'");
  if (content.find("func") == content.npos && content.find("exec.program") == content.npos)
    refuse("not a model: neither a package, nor ONNX, nor MLIR text with a function or a program");
  return ModelKind::mlir;
}

std::string sprig::folderOfModel(const std::string &path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}
