#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/NN/NNRecurrent.h"
#include "lib/Target/CUDA/Kernels/Control/GpuRegion.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

// The one dispatch of a kernel that takes and gives what the kernel does.
static kernel::DispatchOp onlyDispatch(Block &body) {
  auto dispatch = dyn_cast<kernel::DispatchOp>(body.front());
  bool isAll = dispatch && llvm::hasSingleElement(body.without_terminator()) &&
               llvm::equal(dispatch->getOperands(), body.getArguments()) &&
               llvm::equal(dispatch->getResults(), body.getTerminator()->getOperands());
  return isAll ? dispatch : nullptr;
}

// Where the results lie that stay in the kernel; fails with a diagnostic for what no code can be made of.
static FailureOr<RegionPlaces> placesOf(const KernelGraph &graph) {
  Operation *yield = graph.body->getTerminator();
  llvm::DenseSet<Value> yielded;
  for (Value value : yield->getOperands())
    if (!isa_and_present<kernel::DispatchOp>(value.getDefiningOp()) || !yielded.insert(value).second)
      return yield->emitOpError("gives something else than different results of dispatches"), failure();
  llvm::DenseMap<Value, int64_t> offsets;
  for (Operation &op : graph.body->without_terminator()) {
    if (sharesStorage(&op)) continue;
    if (!isa<kernel::DispatchOp>(op)) return op.emitOpError("is no dispatch, so no code can be made of it"), failure();
    for (Value result : op.getResults()) {
      if (yielded.contains(result)) continue;
      if (offsets.size() == graph.places.size())
        return op.emitOpError("has a result without a place in scratch; the kernel has ") << graph.places.size(),
               failure();
      int64_t place = graph.places[offsets.size()];
      offsets[result] = place;
    }
  }
  return RegionPlaces(std::move(offsets));
}

FailureOr<CudaKernel> sprig::cuda::emitCudaKernelGraph(const KernelGraph &graph, StringRef name,
                                                       gpu::GPUModuleOp module, const CudaArch &arch) {
  if (kernel::DispatchOp dispatch = onlyDispatch(*graph.body)) return emitCudaKernel(dispatch, name, module, arch);
  Operation *kernel = graph.body->getParentOp(), *yield = graph.body->getTerminator();
  FailureOr<RegionPlaces> places = placesOf(graph);
  if (failed(places)) return failure();
  for (kernel::DispatchOp part : partsOf(kernel))
    if (!findGpuEmitter(part, GpuScope::block)) return part.emitOpError("has no kernel for CUDA yet"), failure();
  GpuPlan plan = planOfParts(kernel);
  int64_t own = graph.scratchBytes;
  for (int64_t place : graph.places) own = std::min(own, place);
  if (plan.scratchBytes > own)
    return kernel->emitOpError("has ") << own << " bytes of scratch for its dispatches, which need "
                                       << plan.scratchBytes,
           failure();
  plan.scratchBytes = graph.scratchBytes;
  gpu::GPUFuncOp function =
      makeGpuFunction(module, kernel->getLoc(), name, graph.body->getArgumentTypes(), yield->getOperandTypes(), plan);
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  GpuBuilder k(builder, function, graph.body->getNumArguments(), yield->getNumOperands(), arch, /*firstOperation=*/0);
  auto bufferOf = [&](BlockArgument argument) { return k.bufferOf(argument); };
  GpuRegion region(k, *graph.body, llvm::map_to_vector(graph.body->getArguments(), bufferOf), *places,
                   /*firstOperation=*/0);
  for (auto [i, value] : llvm::enumerate(yield->getOperands())) region.place(value, k.resultBuffer(i));
  if (failed(region.emit())) {
    function.erase();
    return failure();
  }
  finishGpuFunction(k);
  return CudaKernel{function, {uint32_t(plan.threads), k.dynamicSharedBytes}, plan.tiles};
}

// A launch costs about as much as a few turns of a block; a loop's turns are longer.
bool sprig::cuda::isShortOnCuda(kernel::DispatchOp dispatch) {
  constexpr int64_t kTurns = 4;
  const GpuEmitter *emitter = findGpuEmitter(dispatch, GpuScope::block);
  bool isLoop = llvm::any_of(dispatch->getRegion(0).front(), llvm::IsaPred<ir::ScanOp, ir::WhileOp, ir::CondOp>);
  return emitter && emitter->plan(dispatch).tiles <= (isLoop ? 1 : kTurns) && emitter->fitsAsPart(dispatch);
}
