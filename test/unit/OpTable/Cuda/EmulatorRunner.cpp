#include "test/gpu/emulator/Emulator.h"
#include "test/gpu/image/ImageBuilder.h"
#include "test/unit/OpTable/Cuda/KernelRunner.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sprig::optable {
namespace {

// 64-byte aligned memory, as every device gives.
class AlignedBytes {
public:
  explicit AlignedBytes(size_t size)
      : size(size), data(static_cast<char *>(std::aligned_alloc(64, (size + 64) / 64 * 64))) {}
  AlignedBytes(AlignedBytes &&other) : size(other.size), data(std::exchange(other.data, nullptr)) {}
  ~AlignedBytes() { std::free(data); }
  size_t size;
  char *data;
};

class EmulatorRunner : public KernelRunner {
public:
  cuda::CudaArch arch() const override { return {8, 0, 70}; }

  void build(const std::string &ptx) override {
    static int count = 0;
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("sprig-op-table-" + std::to_string(getpid()) + "-" + std::to_string(count++) + ".so");
    gpu::makeImage(ptx, "op table", path.string(), gpu::Versions::Checked);
    image = std::make_unique<gpu::LoadedImage>(path.string());
    std::filesystem::remove(path); // it stays mapped
    ASSERT_EQ((*image)->variableBytes, 0u) << "kernels have no variables of a module";
  }

  void run(const RowKernel &kernel, const std::vector<Bytes *> &buffers, sprig_rt_kernel_status &status,
           const std::string &row) override {
    const SprigGpuKernel *code = image->findKernel(kernel.name);
    ASSERT_NE(code, nullptr) << kernel.name;
    std::vector<AlignedBytes> memory;
    gpu::LaunchOptions options;
    options.checked = options.knowsAllocations = true;
    options.order = gpu::BlockOrder::Random;
    options.seed = kernel.tiles;
    for (Bytes *buffer : buffers) {
      memory.emplace_back(buffer->size());
      std::copy(buffer->begin(), buffer->end(), memory.back().data);
    }
    for (size_t size : {sizeof status, size_t(kernel.scratchBytes)}) {
      memory.emplace_back(size);
      std::fill_n(memory.back().data, size, char(0xff));
    }
    auto *told = reinterpret_cast<sprig_rt_kernel_status *>(memory[buffers.size()].data);
    told->code = SPRIG_RT_KERNEL_OK;
    for (const AlignedBytes &bytes : memory)
      options.allocations.push_back({uint64_t(bytes.data), uint64_t(bytes.data) + bytes.size});
    llvm::sort(options.allocations, [](const gpu::Range &a, const gpu::Range &b) { return a.begin < b.begin; });
    std::erase_if(options.allocations, [](const gpu::Range &range) { return range.begin == range.end; });

    ASSERT_EQ(code->parameterCount, memory.size() + 1);
    std::vector<uint8_t> parameters(code->parameterBytes);
    auto set = [&](size_t index, const auto &value) {
      ASSERT_EQ(code->parameters[index].size, sizeof value);
      std::memcpy(parameters.data() + code->parameters[index].offset, &value, sizeof value);
    };
    for (size_t i = 0; i < memory.size(); ++i) set(i, memory[i].data);
    uint32_t half = kernel.tiles / 2;
    for (auto [first, count] : {std::pair<uint32_t, uint32_t>(0, half), {half, uint32_t(kernel.tiles) - half}}) {
      if (count == 0) continue;
      set(memory.size(), first);
      gpu::LaunchReport report = gpu::launch(*code, {count}, {kernel.launch.threads}, kernel.launch.sharedBytes,
                                             parameters.data(), nullptr, options);
      EXPECT_TRUE(report.completed && report.complaints.empty()) << row << ": " << report.text();
    }
    status = *told;
    for (size_t i = 0; i < buffers.size(); ++i) buffers[i]->assign(memory[i].data, memory[i].data + memory[i].size);
  }

private:
  std::unique_ptr<gpu::LoadedImage> image;
};

} // namespace

std::unique_ptr<KernelRunner> makeEmulatorRunner() { return std::make_unique<EmulatorRunner>(); }

} // namespace sprig::optable
