#include "test/unit/Target/CUDA/TileKernels.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Target/CUDA/CodeGen/GpuLowering.h"
#include "lib/Target/CUDA/CodeGen/PtxEmitter.h"
#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace sprig;
using namespace sprig::cuda;

static std::string textOf(const TileCase &each) {
  std::string outer, inner;
  for (size_t i = 0; i < each.operands.size(); ++i) {
    std::string number = std::to_string(i), type = "tensor<" + each.operands[i] + ">";
    outer += (i ? ", %x" : "%x") + number + ": " + type;
    inner += (i ? ", %a" : "%a") + number + " = %x" + number + " : " + type;
  }
  std::string type = "tensor<" + each.type + ">";
  return "func.func @" + each.name + "(" + outer + ") -> " + type + " {\n  %r = kernel.dispatch \"tile\" (" + inner +
         ") -> " + type + (each.tf32 ? " attributes {tf32}" : "") + " {\n" + each.body + "\n    kernel.yield " +
         each.result + " : " + type + "\n  }\n  return %r : " + type + "\n}\n";
}

TileKernels::TileKernels(const std::vector<TileCase> &cases) {
  mlir::DialectRegistry registry;
  registerSprigDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::string text;
  for (const TileCase &each : cases) text += textOf(each);
  auto source = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!source) throw std::runtime_error("the cases are not valid:\n" + text);
  CudaArch arch = llvm::cantFail(cudaArchByName("sm_80"));
  GpuLowering lowering(&context);
  PtxEmitter emitter = llvm::cantFail(PtxEmitter::create(arch, /*level=*/2));
  std::string ptx = ptxHead(arch);
  mlir::OwningOpRef<mlir::ModuleOp> holder = mlir::ModuleOp::create(source->getLoc());
  mlir::OpBuilder b = mlir::OpBuilder::atBlockEnd(holder->getBody());
  auto module = mlir::gpu::GPUModuleOp::create(b, source->getLoc(), "kernels");
  for (auto function : source->getOps<mlir::func::FuncOp>()) {
    auto dispatch = *function.getBody().front().getOps<kernel::DispatchOp>().begin();
    auto plan = planCudaDispatch(dispatch);
    auto kernel = emitCudaKernel(dispatch, function.getName(), module, arch);
    if (mlir::failed(plan) || mlir::failed(kernel))
      throw std::runtime_error(function.getName().str() + " has no kernel");
    kernels[function.getName().str()] = {kernel->launch, plan->tiles};
  }
  if (mlir::failed(lowering.run(module))) throw std::runtime_error("kernels are not lowered");
  ptx += llvm::cantFail(emitter.functions(module));
  image = std::make_unique<gpu::Kernels>(ptx, "tiles");
}

gpu::LaunchReport TileKernels::run(const std::string &name, std::vector<std::vector<float>> &buffers, uint32_t first,
                                   uint32_t count) const {
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<std::vector<Line>> memory;
  for (const std::vector<float> &buffer : buffers) {
    memory.emplace_back((buffer.size() * sizeof(float) + sizeof(Line) - 1) / sizeof(Line));
    std::memcpy(memory.back().data(), buffer.data(), buffer.size() * sizeof(float));
  }
  memory.emplace_back(1); // the status
  gpu::LaunchOptions options;
  options.checked = options.counters = options.knowsAllocations = true;
  options.order = gpu::BlockOrder::Random;
  std::vector<gpu::Range> allocations;
  for (size_t i = 0; i < memory.size(); ++i) {
    uint64_t begin = reinterpret_cast<uint64_t>(memory[i].data());
    size_t bytes = i < buffers.size() ? buffers[i].size() * sizeof(float) : sizeof(sprig_rt_kernel_status);
    options.allocations.push_back({begin, begin + bytes});
  }
  std::sort(options.allocations.begin(), options.allocations.end(),
            [](const gpu::Range &a, const gpu::Range &b) { return a.begin < b.begin; });

  const SprigGpuKernel &code = image->find(name);
  EXPECT_EQ(code.parameterCount, memory.size() + 2);
  std::vector<uint8_t> parameters(code.parameterBytes);
  for (size_t i = 0; i < memory.size(); ++i) {
    void *pointer = memory[i].data();
    std::memcpy(parameters.data() + code.parameters[i].offset, &pointer, sizeof pointer);
  }
  std::memcpy(parameters.data() + code.parameters[memory.size() + 1].offset, &first, sizeof first);
  LaunchShape shape = kernel(name).launch;
  gpu::LaunchReport report =
      gpu::launch(code, {count}, {shape.threads}, shape.sharedBytes, parameters.data(), nullptr, options);
  EXPECT_TRUE(report.completed) << name;
  EXPECT_EQ(report.text(), "") << name;
  for (size_t i = 0; i < buffers.size(); ++i)
    std::memcpy(buffers[i].data(), memory[i].data(), buffers[i].size() * sizeof(float));
  return report;
}

TrafficRatios sprig::ratiosOf(const gpu::LaunchReport &report) {
  double taken[2] = {}, fewest[2] = {};
  for (const gpu::Traffic &traffic : report.traffic) {
    taken[traffic.isShared] += double(traffic.units);
    fewest[traffic.isShared] += double(traffic.ideal);
  }
  return {taken[0] / fewest[0], taken[1] / fewest[1]};
}
