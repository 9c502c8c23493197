#include "lib/Pipeline/ExpectedStep.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Exec/FetchedBytes.h"
#include "lib/Machine/AccessTime.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Schedule/CommandSeconds.h"
#include <algorithm>

using namespace mlir;

namespace sprig {
namespace {

/// Of a kernel's tiles as the runtime hands them out.
class DispatchSeconds {
public:
  DispatchSeconds(exec::ProgramOp program, const machine::MachineModel &model, int threads,
                  SymbolTableCollection &symbols)
      : model(model), threads(threads), symbols(symbols) {
    if (threads > 1) fetched = exec::fetchedBytes(program, symbols);
  }

  double of(exec::DispatchOp dispatch) const {
    auto kernel = cast<exec::KernelOp>(symbols.lookupNearestSymbolFrom(dispatch, dispatch.getKernelAttr()));
    int own = int(std::clamp<int64_t>(kernel.getTiles() / std::max<int64_t>(kernel.getGrain(), 1), 1, threads));
    double work =
        std::max(double(kernel.getFlops()) / model.flopRate(own), double(kernel.getBytes()) / (model.l2().read * own)) /
        machine::MachineModel::kKernelEfficiency;
    Touched touched = dispatch.countTouched(symbols);
    return work + machine::accessSeconds(model, touched, double(touched.total()), own) + (own > 1 ? model.handOff : 0) +
           model.fetchSeconds(double(fetched.lookup(dispatch)));
  }

private:
  const machine::MachineModel &model;
  int threads;
  SymbolTableCollection &symbols;
  llvm::DenseMap<Operation *, int64_t> fetched;
};

} // namespace

double expectedStepSeconds(ModuleOp module, const CompileOptions &options) {
  runPhases(module, options, "schedule");
  machine::MachineModel model = targetOf(options).machine(options);
  machine::AllReduceRate rate;
  if (options.link) rate = {options.link->latency, options.link->bytesPerSecond};
  SymbolTableCollection symbols;
  double seconds = 0;
  for (auto program : module.getOps<exec::ProgramOp>()) {
    CommandSeconds others(model, rate);
    DispatchSeconds dispatches(program, model, std::max(options.threads, 1), symbols);
    program.walk([&](exec::CommandOpInterface command) {
      auto dispatch = dyn_cast<exec::DispatchOp>(*command);
      seconds += dispatch ? dispatches.of(dispatch) : others.of(command, symbols);
    });
  }
  return seconds;
}

} // namespace sprig
