#include "test/gpu/runtime/GpuPackage.h"
#include "runtime/format/Container.h"
#include "runtime/load/Decode.h"

using namespace sprig;

gpu::GpuPackage::GpuPackage(const std::string &path) {
  rt::format::ContainerView view;
  if (rt::core::Status status = rt::core::MappedFile::open(path.c_str(), file); !status.isOk())
    throw BadPackage(path + ": " + std::string(status.message()));
  if (rt::format::ContainerError error = rt::format::readContainer(file.bytes(), view); error.failed)
    throw BadPackage(path + ": " + error.message);
  if (rt::core::Status status = rt::core::decodeProgram(view.sections[0].bytes, program); !status.isOk())
    throw BadPackage(path + ": " + std::string(status.message()));
  for (const rt::core::Image &image : program.images) {
    if (image.kind != rt::core::kCudaKind || image.section >= view.sections.size()) continue;
    std::span<const uint8_t> code = view.sections[image.section].bytes;
    bool isText = image.isa.starts_with("compute_");
    while (isText && !code.empty() && code.back() == 0) code = code.first(code.size() - 1);
    images.push_back({&image, code, isText});
  }
}
