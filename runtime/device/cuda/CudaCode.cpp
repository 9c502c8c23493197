#include "runtime/device/cuda/CudaCode.h"

#include <charconv>
#include <cstring>

namespace sprig::rt::core {

using namespace cuda;

namespace {

// "sm_90", or "compute_80" of PTX.
struct Architecture {
  bool isPtx = false;
  bool isExact = false; // sm_90a: what only this one has
  int major = 0, minor = 0;

  static bool parse(std::string_view isa, Architecture &architecture) {
    architecture.isPtx = isa.starts_with("compute_");
    if (!architecture.isPtx && !isa.starts_with("sm_")) return false;
    isa.remove_prefix(isa.find('_') + 1);
    int number = 0;
    auto [end, error] = std::from_chars(isa.data(), isa.data() + isa.size(), number);
    std::string_view rest(end, size_t(isa.data() + isa.size() - end));
    if (error != std::errc() || number < 10 || number > 9999) return false;
    architecture.isExact = rest == "a";
    architecture.major = number / 10;
    architecture.minor = number % 10;
    return rest.empty() || architecture.isExact;
  }

  // Code for a GPU runs on later ones of the same major number, PTX on all later ones.
  bool runsOn(const CudaContext &device) const {
    if (isExact) return major == device.major && minor == device.minor;
    if (isPtx) return std::pair(major, minor) <= std::pair(device.major, device.minor);
    return major == device.major && minor <= device.minor;
  }
  int score() const { return (isPtx ? 0 : 100000) + major * 100 + minor * 10 + isExact; }
};

// The header of a 64-bit ELF file for a GPU, its table of sections within its bytes.
Status verifyCubin(std::span<const uint8_t> bytes) {
  constexpr size_t kHeader = 64;
  constexpr uint16_t kCudaMachine = 190;
  auto damaged = [](auto... what) { return Status(SPRIG_RT_BAD_PACKAGE, concat("the cubin is damaged: ", what...)); };
  if (bytes.size() < kHeader) return damaged("expected at least ", kHeader, " bytes, found ", bytes.size());
  auto number = [&](size_t at, auto value) {
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  };
  if (std::memcmp(bytes.data(), "\177ELF\2", 5) != 0) return damaged("it does not begin as one");
  if (uint16_t machine = number(18, uint16_t()); machine != kCudaMachine)
    return damaged("expected code for machine ", kCudaMachine, ", found ", machine);
  uint64_t sections = number(40, uint64_t()), all = uint64_t(number(58, uint16_t())) * number(60, uint16_t());
  if (sections > bytes.size() || all > bytes.size() - sections)
    return damaged("its sections at ", sections, " leave its ", bytes.size(), " bytes");
  return {};
}

Status verifyPtx(std::span<const uint8_t> bytes) {
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  while (text.ends_with('\0')) text.remove_suffix(1);
  if (text.find(".version") == text.npos || text.find('\0') != text.npos)
    return {SPRIG_RT_BAD_PACKAGE, "the PTX is damaged: expected a text with a .version"};
  return {};
}

Status verifyImages(const CodeRequest &request) {
  for (size_t i = 0; i < request.program.images.size(); ++i) {
    const Image &image = request.program.images[i];
    if (image.kind != kCudaKind) continue;
    Architecture architecture;
    std::span<const uint8_t> bytes = request.sections[image.section].bytes;
    Status status;
    if (!Architecture::parse(image.isa, architecture))
      status = {SPRIG_RT_BAD_PACKAGE, "expected an architecture as sm_90, or compute_80 of PTX"};
    else if (!image.imports.empty())
      status = {SPRIG_RT_BAD_PACKAGE,
                concat("code for a GPU calls nothing, found a call of '", image.imports[0].call, "'")};
    else
      status = architecture.isPtx ? verifyPtx(bytes) : verifyCubin(bytes);
    SPRIG_RETURN_IF_ERROR(std::move(status), concat("image ", i, " for ", image.isa));
  }
  return {};
}

Status chooseImage(const CodeRequest &request, const CudaContext &device, int &chosen) {
  std::string found;
  int best = -1;
  for (size_t i = 0; i < request.program.images.size(); ++i) {
    const Image &image = request.program.images[i];
    Architecture architecture;
    if (image.kind != kCudaKind || !Architecture::parse(image.isa, architecture)) continue;
    found += concat(found.empty() ? "" : ", ", image.isa);
    if (!architecture.runsOn(device) || architecture.score() <= best) continue;
    best = architecture.score();
    chosen = int(i);
  }
  if (best >= 0) return {};
  return {SPRIG_RT_UNSUPPORTED, concat("the package has ", found.empty() ? "no code for any GPU" : "code for " + found,
                                       "; ", device.name, " is sm_", device.major, device.minor)};
}

} // namespace

CudaCode::~CudaCode() {
  if (!module) return;
  CudaContext::Scope scope(*context);
  context->driver.cuModuleUnload(module);
}

Status CudaCode::load(const std::shared_ptr<CudaContext> &context, const CodeRequest &request,
                      std::shared_ptr<const DeviceCode> &code) {
  SPRIG_RETURN_IF_ERROR(verifyImages(request));
  auto fresh = std::make_shared<CudaCode>(context);
  fresh->isa = "none";
  if (!request.program.kernels.empty()) {
    SPRIG_RETURN_IF_ERROR(chooseImage(request, *context, fresh->image));
    const Image &image = request.program.images[size_t(fresh->image)];
    fresh->isa = image.isa;
    CudaContext::Scope scope(*context);
    Status status = fresh->loadModule(request.sections[image.section].bytes);
    if (status.isOk()) status = fresh->findFunctions(image, request.program);
    SPRIG_RETURN_IF_ERROR(std::move(status), concat("image ", fresh->image, " for ", image.isa));
  }
  code = std::move(fresh);
  return {};
}

Status CudaCode::loadModule(std::span<const uint8_t> bytes) {
  // Texts end in a zero; cubins know their size.
  std::string text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  char log[2048] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  CUresult result = context->driver.cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
  if (result != CUDA_SUCCESS) module = nullptr;
  log[sizeof log - 1] = 0;
  std::string_view said = log;
  while (said.ends_with('\n')) said.remove_suffix(1);
  return context->statusOf(result, concat("loading it", said.empty() ? "" : ": ", said).text());
}

Status CudaCode::findFunctions(const Image &image, const Program &program) {
  for (size_t i = 0; i < program.kernels.size(); ++i) {
    Function &function = functions.emplace_back();
    function.shape = image.launches[i];
    if (image.entryPoints[i].empty()) continue;
    std::string where = concat("kernel '", program.kernels[i].name, "'");
    CUresult result = context->driver.cuModuleGetFunction(&function.handle, module, image.entryPoints[i].c_str());
    if (result == CUDA_ERROR_NOT_FOUND)
      return {SPRIG_RT_BAD_PACKAGE, concat(where, ": the code has no entry point '", image.entryPoints[i], "'")};
    SPRIG_RETURN_IF_ERROR(context->statusOf(result, "looking for it"), where);
    SPRIG_RETURN_IF_ERROR(checkFunction(program.kernels[i], function), where);
  }
  return {};
}

// What the driver would refuse at the first launch, or not notice at all.
Status CudaCode::checkFunction(const Kernel &kernel, const Function &function) const {
  const CudaDriver &driver = context->driver;
  auto bad = [](auto... what) { return Status(SPRIG_RT_BAD_PACKAGE, concat(what...)); };
  if (driver.cuFuncGetParamInfo) { // of drivers for CUDA 12.4 and newer
    std::vector<size_t> sizes;
    for (size_t offset = 0, size = 0;
         driver.cuFuncGetParamInfo(function.handle, sizes.size(), &offset, &size) == CUDA_SUCCESS;)
      sizes.push_back(size);
    size_t expected = kernel.bufferCount + kMoreParameters;
    if (sizes.size() != expected)
      return bad("expected ", expected, " parameters for ", kernel.bufferCount, " operands, found ", sizes.size());
    for (size_t i = 0; i < expected; ++i)
      if (size_t wanted = i + 1 == expected ? 4 : 8; sizes[i] != wanted)
        return bad("expected parameter ", i, " to have ", wanted, " bytes, found ", sizes[i]);
  }
  auto attribute = [&](CUfunction_attribute which) {
    int value = 0;
    driver.cuFuncGetAttribute(&value, which, function.handle);
    return uint32_t(value);
  };
  if (uint32_t most = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK); function.shape.threads > most)
    return {SPRIG_RT_UNSUPPORTED,
            concat("blocks of ", function.shape.threads, " threads; ", context->name, " runs it with up to ", most)};
  uint64_t shared = uint64_t(attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)) + function.shape.shared;
  if (shared > context->mostShared)
    return {SPRIG_RT_UNSUPPORTED, concat("blocks of ", shared, " bytes of shared memory; ", context->name,
                                         " has up to ", context->mostShared)};
  constexpr uint32_t kUsual = 48 * 1024;
  if (shared <= kUsual) return {};
  return context->statusOf(driver.cuFuncSetAttribute(function.handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                     int(function.shape.shared)),
                           "asking for shared memory");
}

} // namespace sprig::rt::core
