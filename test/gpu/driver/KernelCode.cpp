#include "test/gpu/driver/KernelCode.h"
#include "test/gpu/driver/EmulatedModule.h"

#include <filesystem>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/SHA256.h>

namespace sprig::cuda {

std::string hashOf(std::string_view bytes) {
  auto *data = reinterpret_cast<const uint8_t *>(bytes.data());
  std::string text;
  for (uint8_t byte : llvm::SHA256::hash(llvm::ArrayRef<uint8_t>(data, bytes.size())))
    for (int shift : {4, 0}) text += "0123456789abcdef"[byte >> shift & 15];
  return text;
}

const KernelCode *ModuleCode::find(std::string_view name) const {
  for (const KernelCode &kernel : kernels)
    if (kernel.name == name) return &kernel;
  return nullptr;
}

void CodeStore::add(const std::string &hash, KernelCode kernel) {
  auto &module = known[hash];
  if (!module) module = std::make_shared<ModuleCode>();
  module->kernels.push_back(std::move(kernel));
}

std::shared_ptr<const ModuleCode> CodeStore::find(const std::string &hash, const char *what, std::string &error) {
  if (auto it = known.find(hash); it != known.end()) return it->second;
  if (folder.empty()) {
    error = "SPRIG_STANDIN_IMAGES is not set: the folder with the emulation images of kernels, HASH.so each, which "
            "sprig-ptx-image makes of PTX; wanted is that of the " +
            std::string(what) + " with the SHA-256 " + hash;
    return nullptr;
  }
  std::string path = folder + "/" + hash + ".so";
  if (!std::filesystem::exists(path)) {
    error = "there is no " + path + ", the emulation image of this " + what + ": sprig-ptx-image makes it of " +
            (what == std::string("PTX") ? "this PTX" : "the PTX that it comes from");
    return nullptr;
  }
  std::shared_ptr<ModuleCode> module = loadEmulatedModule(path, error);
  if (module) known.emplace(hash, module);
  return module;
}

} // namespace sprig::cuda
