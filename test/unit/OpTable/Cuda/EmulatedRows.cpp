#include "test/unit/OpTable/Cuda/EmulatedRows.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include "lib/Target/CodeGen/KernelIdentity.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "test/gpu/image/ImageBuilder.h"
#include "test/unit/OpTable/Rows.h"
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sprig::optable {
namespace {

const CudaArch kArch{8, 0, 70};

int64_t bytesOf(mlir::Type type) {
  auto tensor = llvm::cast<mlir::RankedTensorType>(type);
  return tensor.getNumElements() * storageBytes(tensor.getElementType());
}

mlir::MLIRContext *loadedContext() {
  sharedContext().loadAllAvailableDialects();
  return &sharedContext();
}

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

} // namespace

EmulatedRows::EmulatedRows()
    : lowering(loadedContext()), emitter(llvm::cantFail(PtxEmitter::create(kArch, /*level=*/2))) {
  text = ptxHead(kArch);
}

std::string EmulatedRows::take(mlir::func::FuncOp function) {
  std::string why;
  mlir::ScopedDiagnosticHandler handler(&sharedContext(), [&](mlir::Diagnostic &diagnostic) {
    why += (why.empty() ? "" : "; ") + diagnostic.str();
    for (mlir::Diagnostic &note : diagnostic.getNotes()) why += ", " + note.str();
    return mlir::success();
  });
  mlir::OwningOpRef<mlir::ModuleOp> holder = mlir::ModuleOp::create(function.getLoc());
  mlir::OpBuilder b = mlir::OpBuilder::atBlockEnd(holder->getBody());
  auto module = mlir::gpu::GPUModuleOp::create(b, function.getLoc(), "kernels");
  std::map<mlir::Operation *, Kernel> made;
  std::map<std::string, Kernel> fresh;
  int number = 0;
  for (auto dispatch : function.getBody().front().getOps<kernel::DispatchOp>()) {
    auto plan = planCudaDispatch(dispatch);
    if (mlir::failed(plan)) return why;
    // Steps of a loop over time, unrolled, are equal: one of them is made.
    std::string description = describeForCode(dispatch);
    const Kernel *equal = nullptr;
    for (auto *known : {&kernelsByDescription, &fresh})
      if (auto found = known->find(description); found != known->end()) equal = &found->second;
    if (equal) {
      made[dispatch] = *equal;
      continue;
    }
    std::string name = function.getName().str() + "_" + std::to_string(number++);
    auto kernel = emitCudaKernel(dispatch, name, module, kArch);
    if (mlir::failed(kernel)) return why;
    made[dispatch] = fresh[description] = {name, kernel->launch, plan->tiles, plan->scratchBytes};
  }
  if (!fresh.empty()) {
    if (mlir::failed(mlir::verify(*holder)) || mlir::failed(lowering.run(module)))
      return why.empty() ? "not valid" : why;
    auto functions = emitter.functions(module);
    if (!functions) return llvm::toString(functions.takeError());
    text += *functions;
  }
  kernels.merge(made);
  kernelsByDescription.merge(fresh);
  return "";
}

void EmulatedRows::build(const std::string &ptx) {
  static int count = 0;
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("sprig-op-table-" + std::to_string(getpid()) + "-" + std::to_string(count++) + ".so");
  gpu::makeImage(ptx, "op table", path.string(), gpu::Versions::Checked);
  image = std::make_unique<gpu::LoadedImage>(path.string());
  std::filesystem::remove(path); // it stays mapped
  ASSERT_EQ((*image)->variableBytes, 0u) << "kernels have no variables of a module";
}

// In two launches where there are two tiles: a launch begins at any tile.
void EmulatedRows::launchKernel(const Kernel &kernel, const std::vector<Bytes *> &buffers, const std::string &name,
                                sprig_rt_kernel_status *error) {
  if (kernel.tiles == 0) return;
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
  sprig_rt_kernel_status *status = nullptr;
  // Of the status the code alone is set before; scratch memory is not at all.
  for (size_t size : {sizeof(sprig_rt_kernel_status), size_t(kernel.scratchBytes)}) {
    memory.emplace_back(size);
    std::fill_n(memory.back().data, size, char(0xff));
  }
  status = reinterpret_cast<sprig_rt_kernel_status *>(memory[buffers.size()].data);
  status->code = SPRIG_RT_KERNEL_OK;
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
    EXPECT_TRUE(report.completed && report.complaints.empty()) << name << ": " << report.text();
  }
  if (!error) EXPECT_EQ(status->code, SPRIG_RT_KERNEL_OK) << name;
  if (error && status->code) *error = *status;
  for (size_t i = 0; i < buffers.size(); ++i) buffers[i]->assign(memory[i].data, memory[i].data + memory[i].size);
}

std::vector<Bytes> EmulatedRows::run(mlir::func::FuncOp function, const std::vector<interp::Tensor> &inputs,
                                     const std::string &name, sprig_rt_kernel_status *error) {
  llvm::DenseMap<mlir::Value, Bytes> values;
  mlir::Block &body = function.getBody().front();
  for (auto [argument, input] : llvm::zip_equal(body.getArguments(), inputs)) values[argument] = input.bytes();
  for (mlir::Operation &op : body.without_terminator()) {
    if (auto constant = llvm::dyn_cast<ir::ConstantOp>(op)) {
      values[constant.getResult()] = ir::ConstantView(llvm::cast<mlir::ElementsAttr>(constant.getValue())).expanded();
    } else if (sharesStorage(&op)) {
      Bytes bytes = values.lookup(op.getOperand(0));
      values[op.getResult(0)] = std::move(bytes);
    } else if (auto dispatch = llvm::dyn_cast<kernel::DispatchOp>(op)) {
      std::vector<Bytes> copies;
      for (mlir::Value operand : dispatch->getOperands()) copies.push_back(values.lookup(operand));
      for (mlir::Type type : dispatch->getResultTypes()) copies.emplace_back(bytesOf(type), char(0xa5));
      std::vector<Bytes *> buffers;
      for (Bytes &bytes : copies) buffers.push_back(&bytes);
      launchKernel(kernels.at(dispatch), buffers, name, error);
      for (auto [i, result] : llvm::enumerate(dispatch->getResults()))
        values[result] = copies[dispatch->getNumOperands() + i];
    } else {
      ADD_FAILURE() << name << ": holds " << op.getName().getStringRef().str();
    }
  }
  std::vector<Bytes> outputs;
  for (mlir::Value value : body.getTerminator()->getOperands()) outputs.push_back(values.lookup(value));
  return outputs;
}

} // namespace sprig::optable
