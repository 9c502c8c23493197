#include "test/gpu/runtime/CudaTest.h"

#include <fstream>

namespace sprig::rt::test {

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string kernelsPtx() { return readFile(SPRIG_TEST_SOURCE "/kernels.ptx"); }

CudaPackage::CudaPackage(uint32_t devices) {
  program.devices.clear();
  for (uint32_t i = 0; i < devices; ++i) program.devices.push_back({"cuda", i});
  setImage(kernelsPtx(), "compute_80");
  core::Image &code = program.images[0];
  code.kind = "cuda";
  code.symbols = code.symbolSizes = {};
  for (const core::Kernel &kernel : program.kernels) {
    code.entryPoints.push_back(kernel.name == "scratch" ? "by_scratch" : kernel.name);
    code.launches.push_back({32, 0});
  }
}

void CudaPackage::addProcessor(uint32_t devices) {
  TestPackage host;
  for (uint32_t i = 0; i < devices; ++i) program.devices.push_back({"cpu", i});
  program.images.push_back(host.program.images[0]);
  moreImages.push_back(host.image);
}

void CudaPackage::setImage(const std::string &bytes, std::string isa) {
  image.assign(bytes.begin(), bytes.end());
  program.images[0].codeSize = image.size();
  program.images[0].isa = std::move(isa);
}

void CudaTest::drive(Settings settings) {
  configure(settings);
  setenv("SPRIG_STANDIN_IMAGES", SPRIG_TEST_IMAGES, 1);
  api().reset();
}

uint64_t CudaTest::count(const std::string &name) {
  std::string report = api().report(), key = "\"" + name + "\":";
  size_t at = report.find(key);
  EXPECT_NE(at, report.npos) << name << " in " << report;
  return at == report.npos ? 0 : std::stoull(report.substr(at + key.size()));
}

} // namespace sprig::rt::test
