#include "lib/Target/CUDA/CodeGen/Assembler.h"
#include "runtime/machine/CudaDriver.h"
#include "test/unit/OpTable/Cuda/KernelRunner.h"
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <stdexcept>

namespace sprig::optable {
namespace {

using namespace rt::cuda;

// A GPU for the rest of the process, with memory for one launch at a time.
class Gpu {
public:
  const CudaDriver &driver = CudaDriver::system();
  cuda::CudaArch arch;
  CUstream stream = nullptr;
  std::unique_ptr<cuda::Assembler> assembler; // null: the driver compiles the text

  static Gpu &of(const std::string &device) {
    static Gpu gpu(device);
    return gpu;
  }

  void check(CUresult result, const std::string &what) const {
    if (result != CUDA_SUCCESS) throw std::runtime_error(what + ": " + driver.errorName(result));
  }

  CUdeviceptr memory(size_t bytes) {
    if (bytes <= size) return address;
    if (address) check(driver.cuMemFree_v2(address), "freeing memory");
    check(driver.cuMemAlloc_v2(&address, bytes), "allocating memory");
    size = bytes;
    return address;
  }

private:
  explicit Gpu(const std::string &device) {
    llvm::StringRef digits = device;
    int number = 0, major = 0, minor = 0;
    if (!digits.consume_front("cuda:") || digits.getAsInteger(10, number) || number < 0)
      throw std::runtime_error("'" + device + "': expected cuda:N");
    CudaDriver::Answer answer = driver.start();
    if (!answer.problem.empty()) throw std::runtime_error(device + ": " + answer.problem);
    CUdevice handle = 0;
    check(driver.cuDeviceGet(&handle, number), device);
    check(driver.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle), device);
    check(driver.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, handle), device);
    cuda::CudaArch own{major, minor};
    if (own < cuda::cudaArchs().front())
      throw std::runtime_error(device + " is " + own.name() + ", code is generated from sm_80 on");
    for (const cuda::CudaArch &each : cuda::cudaArchs())
      if (!(own < each)) arch = each; // the newest that is not above it
    CUcontext context = nullptr;
    check(driver.cuDevicePrimaryCtxRetain(&context, handle), device);
    check(driver.cuCtxPushCurrent_v2(context), device);
    check(driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), device);
    std::string looked;
    assembler = llvm::cantFail(findAssembler(cuda::ToolkitPlaces::ofEnvironment(), looked));
  }

  CUdeviceptr address = 0;
  size_t size = 0;
};

class GpuRunner : public KernelRunner {
public:
  explicit GpuRunner(const std::string &device) : gpu(Gpu::of(device)) {}
  ~GpuRunner() override { unload(); }

  cuda::CudaArch arch() const override { return gpu.arch; }

  void build(const std::string &ptx) override {
    unload();
    keep(ptx);
    std::string code = ptx;
    if (gpu.assembler) {
      auto cubin = gpu.assembler->assemble(ptx, gpu.arch, /*level=*/2);
      if (!cubin) throw std::runtime_error(llvm::toString(cubin.takeError()));
      code = cubin->bytes;
    }
    gpu.check(gpu.driver.cuModuleLoadDataEx(&module, code.c_str(), 0, nullptr, nullptr), "loading the kernels");
  }

  void run(const RowKernel &kernel, const std::vector<Bytes *> &buffers, sprig_rt_kernel_status &status,
           const std::string &row) override {
    const std::string what = row + ", " + kernel.name;
    CUfunction function = nullptr;
    gpu.check(gpu.driver.cuModuleGetFunction(&function, module, kernel.name.c_str()), what);
    constexpr uint32_t kUsual = 48 << 10;
    if (kernel.launch.sharedBytes > kUsual)
      gpu.check(gpu.driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                              int(kernel.launch.sharedBytes)),
                what);

    // Between guards: operands and results, the status, scratch memory.
    std::vector<size_t> sizes, places;
    for (const Bytes *buffer : buffers) sizes.push_back(buffer->size());
    sizes.push_back(sizeof status);
    sizes.push_back(size_t(kernel.scratchBytes));
    size_t end = kGuard;
    for (size_t size : sizes) {
      places.push_back(end);
      end += (size + kGuard - 1) / kGuard * kGuard + kGuard;
    }
    std::vector<uint8_t> image(end, kGuardByte), before;
    for (size_t i = 0; i < buffers.size(); ++i)
      if (sizes[i]) std::memcpy(&image[places[i]], buffers[i]->data(), sizes[i]);
    for (size_t i = buffers.size(); i < sizes.size(); ++i)
      std::fill_n(image.begin() + ptrdiff_t(places[i]), sizes[i], uint8_t(0xff));
    uint8_t *told = &image[places[buffers.size()]];
    status.code = SPRIG_RT_KERNEL_OK;
    std::memcpy(told + offsetof(sprig_rt_kernel_status, code), &status.code, sizeof status.code);

    CUdeviceptr memory = gpu.memory(end);
    gpu.check(gpu.driver.cuMemcpyHtoDAsync_v2(memory, image.data(), end, gpu.stream), what);
    std::vector<CUdeviceptr> addresses;
    for (size_t place : places) addresses.push_back(memory + place);
    uint32_t first = 0, half = uint32_t(kernel.tiles / 2);
    std::vector<void *> parameters;
    for (CUdeviceptr &address : addresses) parameters.push_back(&address);
    parameters.push_back(&first);
    for (uint32_t count : {half, uint32_t(kernel.tiles) - half}) {
      if (count)
        gpu.check(gpu.driver.cuLaunchKernel(function, count, 1, 1, kernel.launch.threads, 1, 1,
                                            kernel.launch.sharedBytes, gpu.stream, parameters.data(), nullptr),
                  what);
      first += count;
    }
    gpu.check(gpu.driver.cuMemcpyDtoHAsync_v2(image.data(), memory, end, gpu.stream), what);
    gpu.check(gpu.driver.cuStreamSynchronize(gpu.stream), what);

    size_t behind = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      expectGuard(image, behind, places[i], what, i);
      behind = places[i] + sizes[i];
      if (i < buffers.size() && sizes[i]) std::memcpy(buffers[i]->data(), &image[places[i]], sizes[i]);
    }
    expectGuard(image, behind, end, what, sizes.size());
    std::memcpy(&status, told, sizeof status);
  }

private:
  static constexpr size_t kGuard = 256;
  static constexpr uint8_t kGuardByte = 0xc3;

  // For who has no GPU, but images of the texts (docs/cuda-stand-in.md): as FOLDER/N.ptx.
  static void keep(const std::string &ptx) {
    static int count = 0;
    if (const char *folder = std::getenv("SPRIG_TEST_GPU_PTX"))
      std::ofstream(std::string(folder) + "/" + std::to_string(count++) + ".ptx") << ptx;
  }

  static void expectGuard(const std::vector<uint8_t> &image, size_t begin, size_t end, const std::string &what,
                          size_t buffer) {
    for (size_t at = begin; at < end; ++at)
      if (image[at] != kGuardByte) {
        ADD_FAILURE() << what << ": writes to byte " << at - begin << " of the guard in front of buffer " << buffer;
        return;
      }
  }

  void unload() {
    if (module) gpu.driver.cuModuleUnload(module);
    module = nullptr;
  }

  Gpu &gpu;
  CUmodule module = nullptr;
};

} // namespace

std::unique_ptr<KernelRunner> makeGpuRunner(const std::string &device) { return std::make_unique<GpuRunner>(device); }

} // namespace sprig::optable
