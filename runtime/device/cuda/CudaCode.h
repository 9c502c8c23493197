// A package's kernels as a module of the driver's: of the cubin for the device, else of PTX, which the driver compiles.
#ifndef SPRIG_RUNTIME_DEVICE_CUDA_CUDACODE_H
#define SPRIG_RUNTIME_DEVICE_CUDA_CUDACODE_H

#include "runtime/device/cuda/CudaContext.h"

namespace sprig::rt::core {

// What each kernel has behind its operands: status, scratch, first tile.
inline constexpr size_t kMoreParameters = 3;

class CudaCode final : public DeviceCode {
public:
  explicit CudaCode(std::shared_ptr<CudaContext> context) : context(std::move(context)) {}
  ~CudaCode() override;

  static Status load(const std::shared_ptr<CudaContext> &context, const CodeRequest &request,
                     std::shared_ptr<const DeviceCode> &code);

  struct Function {
    cuda::CUfunction handle = nullptr; // null: no device of this kind runs it
    LaunchShape shape;
  };
  const Function &function(uint32_t kernel) const { return functions[kernel]; }

private:
  Status loadModule(std::span<const uint8_t> bytes);
  Status findFunctions(const Image &image, const Program &program);
  Status checkFunction(const Kernel &kernel, const Function &function) const;

  std::shared_ptr<CudaContext> context;
  cuda::CUmodule module = nullptr;
  std::vector<Function> functions; // by kernel
};

} // namespace sprig::rt::core

#endif
