#include "test/gpu/driver/Module.h"
#include "test/gpu/driver/Driver.h"

#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

namespace sprig::cuda {
namespace {

// What can be read of `bytes` from there on, without a fault where memory ends.
std::string readCarefully(const char *from, uint64_t bytes) {
  std::string out;
  constexpr uint64_t step = 4096;
  while (out.size() < bytes) {
    char part[step];
    uint64_t at = reinterpret_cast<uint64_t>(from) + out.size();
    uint64_t wanted = std::min(bytes - out.size(), step - at % step); // not over the end of a page
    iovec to = {part, wanted}, source = {reinterpret_cast<void *>(at), wanted};
    ssize_t got = ::process_vm_readv(::getpid(), &to, 1, &source, 1, 0);
    if (got <= 0) break;
    out.append(part, got);
    if (static_cast<uint64_t>(got) < wanted) break;
  }
  return out;
}

// Text up to its zero.
std::string readText(const char *from) {
  std::string text;
  constexpr uint64_t step = 4096, limit = uint64_t(1) << 30;
  while (text.size() < limit) {
    std::string part = readCarefully(from + text.size(), step);
    size_t end = part.find('\0');
    text += part.substr(0, end);
    if (end != part.npos || part.size() < step) break;
  }
  return text;
}

// The number behind a directive: 84 for ".version 8.4", 90 for ".target sm_90a"; 0: there is none.
unsigned numberAfter(const std::string &text, const char *directive) {
  size_t at = text.find(directive);
  if (at == text.npos) return 0;
  at = text.find_first_of("0123456789", at);
  if (at == text.npos || at - text.find(directive) > std::strlen(directive) + 8) return 0;
  unsigned number = 0;
  for (; at < text.size() && (std::isdigit(static_cast<unsigned char>(text[at])) || text[at] == '.'); ++at)
    if (text[at] != '.') number = number * 10 + (text[at] - '0');
  return number;
}

// The newest PTX that a driver of CUDA 11 and later takes.
unsigned newestPtx(int driver) {
  int major = driver / 1000, minor = driver % 1000 / 10;
  if (major == 11) return 70 + minor;
  if (major == 12) return 80 + (minor <= 5 ? minor : minor - 1); // 12.6 took what 12.5 took
  return major >= 13 ? (major - 4) * 10 + minor : 60;
}

CUresult checkCubin(Driver &driver, const CUctx_st &context, const std::string &bytes, gpu::Cubin &cubin,
                    std::string &error) {
  if (!gpu::Cubin::parse(bytes, cubin, error)) {
    error = "the cubin is damaged: " + error;
    return CUDA_ERROR_INVALID_IMAGE;
  }
  unsigned major = cubin.architecture / 10, minor = cubin.architecture % 10;
  if (major == unsigned(context.kind->major) && minor <= unsigned(context.kind->minor)) return CUDA_SUCCESS;
  error = "the cubin is for sm_" + std::to_string(cubin.architecture) + ", the device is " +
          std::string(context.kind->architecture);
  return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

CUresult checkPtx(Driver &driver, const CUctx_st &context, const std::string &text, CUmod_st &module,
                  std::string &error) {
  module.ptxVersion = numberAfter(text, ".version");
  module.architecture = numberAfter(text, ".target");
  if (!module.ptxVersion || !module.architecture) {
    error = "the image is neither a cubin nor PTX";
    return CUDA_ERROR_INVALID_IMAGE;
  }
  unsigned newest = newestPtx(driver.config.driver);
  if (module.ptxVersion > newest) {
    error = "the PTX has version " + std::to_string(module.ptxVersion / 10) + "." +
            std::to_string(module.ptxVersion % 10) + ", the driver takes up to " + std::to_string(newest / 10) + "." +
            std::to_string(newest % 10);
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  }
  if (module.architecture > unsigned(10 * context.kind->major + context.kind->minor)) {
    error = "the PTX is for sm_" + std::to_string(module.architecture) + " and later, the device is " +
            std::string(context.kind->architecture);
    return CUDA_ERROR_INVALID_PTX;
  }
  return CUDA_SUCCESS;
}

FunctionFacts factsOf(const gpu::CubinKernel &kernel) {
  FunctionFacts facts;
  facts.parameters = kernel.parameters;
  facts.parameterBytes = kernel.parameterBytes;
  facts.registers = kernel.registers;
  facts.staticShared = kernel.staticShared;
  facts.localBytes = kernel.localBytes;
  facts.constantBytes = kernel.constantBytes;
  facts.maxThreads = kernel.maxThreads;
  std::copy_n(kernel.requiredThreads, 3, facts.requiredThreads);
  std::copy_n(kernel.cluster, 3, facts.cluster);
  return facts;
}

FunctionFacts factsOf(const KernelCode &code) {
  FunctionFacts facts;
  for (KernelCode::Parameter parameter : code.parameters)
    facts.parameters.push_back({parameter.offset, parameter.size});
  facts.parameterBytes = code.parameterBytes;
  facts.staticShared = code.staticShared;
  facts.localBytes = code.localBytes;
  facts.maxThreads = code.maxThreads;
  std::copy_n(code.requiredThreads, 3, facts.requiredThreads);
  return facts;
}

void addFunction(CUmod_st &module, const std::string &name, FunctionFacts facts, const KernelCode *code) {
  auto function = std::make_unique<CUfunc_st>();
  function->module = &module;
  function->name = name;
  function->maxDynamicShared =
      facts.staticShared < unsigned(DeviceKind::sharedPerBlock) ? DeviceKind::sharedPerBlock - facts.staticShared : 0;
  function->facts = std::move(facts);
  function->code = code;
  module.functions.emplace(name, std::move(function));
}

// The image was made of the PTX that the cubin was made of: they have to agree on what a launch hands over.
CUresult addFunctions(CUmod_st &module, const gpu::Cubin &cubin, std::string &error) {
  for (const gpu::CubinKernel &kernel : cubin.kernels) {
    const KernelCode *code = module.code->find(kernel.name);
    bool same = code && code->parameters.size() == kernel.parameters.size();
    for (size_t i = 0; same && i < kernel.parameters.size(); ++i)
      same = code->parameters[i].offset == kernel.parameters[i].offset &&
             code->parameters[i].size == kernel.parameters[i].size;
    if (!same) {
      error = "the emulation image " + std::string(code ? "has other parameters for" : "lacks") + " kernel '" +
              kernel.name + "' of the cubin: it was made of other PTX";
      return CUDA_ERROR_INVALID_IMAGE;
    }
    addFunction(module, kernel.name, factsOf(kernel), code);
  }
  return CUDA_SUCCESS;
}

} // namespace

CUresult readImage(const void *image, std::string &bytes, std::string &error) {
  const char *from = static_cast<const char *>(image);
  if (!from) {
    error = "the image is a null pointer";
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::string header = readCarefully(from, 64);
  if (header.compare(0, 4,
                     "\x7f"
                     "ELF") != 0) {
    if (header.compare(0, 4, "\x50\xed\x55\xba") == 0) {
      error = "the image is a fat binary, which the stand-in does not take apart";
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    bytes = readText(from);
    return CUDA_SUCCESS;
  }
  uint64_t size = gpu::Cubin::size(header);
  bytes = readCarefully(from, size);
  if (size != 0 && bytes.size() == size) return CUDA_SUCCESS;
  error = "the cubin is cut off: its header says " + std::to_string(size) + " bytes, memory ends after " +
          std::to_string(bytes.size());
  return CUDA_ERROR_INVALID_IMAGE;
}

CUresult loadModule(Driver &driver, CUctx_st &context, const std::string &bytes, CUmodule &result, std::string &error) {
  CUmod_st module;
  module.context = &context;
  module.isCubin = gpu::Cubin::size(bytes) != 0;
  gpu::Cubin cubin;
  if (CUresult failed = module.isCubin ? checkCubin(driver, context, bytes, cubin, error)
                                       : checkPtx(driver, context, bytes, module, error))
    return failed;
  module.code = driver.codes.find(hashOf(bytes), module.isCubin ? "cubin" : "PTX", error);
  if (!module.code) return CUDA_ERROR_FILE_NOT_FOUND;
  if (module.isCubin) {
    module.architecture = cubin.architecture;
    if (CUresult failed = addFunctions(module, cubin, error)) return failed;
  } else {
    for (const KernelCode &kernel : module.code->kernels) addFunction(module, kernel.name, factsOf(kernel), &kernel);
  }
  if (uint64_t size = module.code->variableBytes) {
    Allocation *block = driver.memory.allocateDevice(context.device, size);
    if (!block) {
      error = "no memory is left for the module's variables";
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    module.variables = block->begin;
    block->written.insert({block->begin, block->end()});
    driver.memory.openForKernels();
    module.code->initialise(reinterpret_cast<char *>(block->begin));
    driver.memory.closeForHost();
  }
  result = driver.modules.create();
  *result = std::move(module);
  for (auto &[name, function] : result->functions) function->module = result;
  return CUDA_SUCCESS;
}

void unloadModule(Driver &driver, CUmodule module) {
  if (Allocation *block = module->variables ? driver.memory.find(module->variables) : nullptr; block && !block->freed) {
    OperationRef operation = driver.scheduler.hostOperation("cuModuleUnload");
    checkFree(driver, operation, *block);
    driver.memory.free(*block, operation);
  }
  driver.modules.destroy(module);
}

CUresult moduleOf(Driver &driver, CUctx_st &context, CUlibrary library, CUmodule &module) {
  CUmodule &known = library->modules[&context];
  if (!known) {
    std::string error;
    if (CUresult failed = loadModule(driver, context, library->image, known, error)) {
      driver.report.complain("module " + error, "cuLibraryGetKernel: " + error);
      library->modules.erase(&context);
      return failed;
    }
  }
  module = known;
  return CUDA_SUCCESS;
}

} // namespace sprig::cuda
