// Modules, libraries, functions and their attributes.
#include "test/gpu/driver/Launch.h"
#include "test/gpu/driver/api/Call.h"

#include <cstdio>
#include <cstring>

namespace sprig::cuda {
namespace {

// Writes to the buffers for messages that the caller may have given.
void writeLogs(const std::string &error, unsigned count, const CUjit_option *options, void **values) {
  char *buffer = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) buffer = static_cast<char *>(values[i]);
    if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) values[i] = nullptr; // nothing to say
    if (options[i] != CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES || !buffer) continue;
    size_t room = reinterpret_cast<uintptr_t>(values[i]);
    if (room) std::snprintf(buffer, room, "%s", error.c_str());
    values[i] = reinterpret_cast<void *>(std::min(error.size() + 1, room));
  }
}

CUresult load(const char *function, CUmodule *module, const void *image, unsigned count, CUjit_option *options,
              void **values) {
  return callInContext(function, [&](Driver &driver, CUctx_st &context) {
    std::string bytes, error;
    CUresult result = readImage(image, bytes, error);
    if (result == CUDA_SUCCESS) result = loadModule(driver, context, bytes, *module, error);
    writeLogs(error, count, options, values);
    if (result != CUDA_SUCCESS) driver.report.complain("module " + error, std::string(function) + ": " + error);
    return result;
  });
}

template <typename Body> CUresult callWithFunction(const char *name, CUfunction handle, Body body) {
  return callInContext(name, [&](Driver &driver, CUctx_st &context) -> CUresult {
    CUfunction function = nullptr;
    SPRIG_CUDA_TRY(driver.function(context, handle, function));
    return body(driver, *function);
  });
}

} // namespace

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return load("cuModuleLoadData", module, image, 0, nullptr, nullptr);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options, void **values) {
  return load("cuModuleLoadDataEx", module, image, count, options, values);
}

CUresult cuModuleUnload(CUmodule module) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &) {
    if (!driver.modules.has(module)) return CUDA_ERROR_INVALID_HANDLE;
    unloadModule(driver, module);
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &) {
    if (!driver.modules.has(module)) return CUDA_ERROR_INVALID_HANDLE;
    auto it = module->functions.find(std::string_view(name));
    if (it == module->functions.end()) return CUDA_ERROR_NOT_FOUND;
    *function = it->second.get();
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &) {
    if (!driver.modules.has(module)) return CUDA_ERROR_INVALID_HANDLE;
    for (const VariableCode &variable : module->code->variables) {
      if (variable.name != name) continue;
      if (pointer) *pointer = module->variables + variable.offset;
      if (bytes) *bytes = variable.size;
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
  });
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *, void **, unsigned, CUlibraryOption *,
                           void **, unsigned) {
  return call(__func__, [&](Driver &driver) {
    std::string bytes, error;
    CUresult result = readImage(code, bytes, error);
    if (result != CUDA_SUCCESS) {
      driver.report.complain("module " + error, "cuLibraryLoadData: " + error);
      return result;
    }
    *library = driver.libraries.create();
    (*library)->image = std::move(bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryUnload(CUlibrary library) {
  return call(__func__, [&](Driver &driver) {
    if (!driver.libraries.has(library)) return CUDA_ERROR_INVALID_HANDLE;
    for (auto &[context, module] : library->modules) unloadModule(driver, module);
    driver.libraries.destroy(library);
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &context) {
    if (!driver.libraries.has(library)) return CUDA_ERROR_INVALID_HANDLE;
    return moduleOf(driver, context, library, *module);
  });
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &context) -> CUresult {
    if (!driver.libraries.has(library)) return CUDA_ERROR_INVALID_HANDLE;
    CUmodule module = nullptr;
    SPRIG_CUDA_TRY(moduleOf(driver, context, library, module));
    if (!module->functions.count(std::string_view(name))) return CUDA_ERROR_NOT_FOUND;
    auto &known = library->kernels[name];
    if (!known) known = std::make_unique<CUkern_st>(CUkern_st{library, name});
    *kernel = known.get();
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &context) {
    return driver.function(context, reinterpret_cast<CUfunction>(kernel), *function);
  });
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
  return callWithFunction(__func__, handle, [&](Driver &, CUfunc_st &function) {
    const FunctionFacts &facts = function.facts;
    const CUmod_st &module = *function.module;
    unsigned architecture = 10 * module.context->kind->major + module.context->kind->minor;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: {
      unsigned limit = facts.maxThreads ? facts.maxThreads : DeviceKind::threadsPerBlock;
      // No more than there are registers for.
      while (limit > 32 && residentBlocks(*module.context->kind, function, limit, 0) == 0) limit -= 32;
      *value = static_cast<int>(limit);
      return CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = facts.staticShared; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = 0; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = facts.localBytes; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = facts.registers; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = module.architecture; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = module.isCubin ? module.architecture : architecture;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = function.maxDynamicShared; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = function.largeClusters; return CUDA_SUCCESS;
    default:
      std::fprintf(stderr, "stand-in: cuFuncGetAttribute: attribute %u is not supported\n", attribute);
      return CUDA_ERROR_NOT_SUPPORTED;
    }
  });
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return callWithFunction(__func__, handle, [&](Driver &driver, CUfunc_st &function) {
    int room = function.module->context->kind->sharedPerBlockOptIn - int(function.facts.staticShared);
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (value < 0 || value > room) {
        driver.report.complain("dynamic " + function.name, "cuFuncSetAttribute: kernel '" + function.name +
                                                               "' is to have " + std::to_string(value) +
                                                               " bytes of dynamic shared memory, the device has " +
                                                               std::to_string(room) + " beside its static ones");
        return CUDA_ERROR_INVALID_VALUE;
      }
      function.maxDynamicShared = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return CUDA_SUCCESS; // a hint
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: function.largeClusters = value; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult cuFuncGetName(const char **name, CUfunction handle) {
  return callWithFunction(__func__, handle, [&](Driver &, CUfunc_st &function) {
    *name = function.name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size) {
  return callWithFunction(__func__, handle, [&](Driver &, CUfunc_st &function) {
    if (index >= function.facts.parameters.size()) return CUDA_ERROR_INVALID_VALUE;
    *offset = function.facts.parameters[index].offset;
    if (size) *size = function.facts.parameters[index].size;
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle, int threads, size_t shared) {
  return callWithFunction(__func__, handle, [&](Driver &, CUfunc_st &function) {
    if (threads <= 0) return CUDA_ERROR_INVALID_VALUE;
    *blocks = residentBlocks(*function.module->context->kind, function, threads, shared);
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int threads,
                                                              size_t shared, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}

} // namespace sprig::cuda
