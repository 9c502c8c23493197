#include "tools/sprig/profile/ProgramMemory.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Kernel/KernelDialect.h"
#include "lib/Schedule/Passes.h"
#include "lib/Pipeline/Pipeline.h"
#include "tools/sprig/compile/CompileSettings.h"
#include "tools/sprig/compile/ImportModel.h"
#include "tools/sprig/inspect/PackageReport.h"
#include "mlir/Pass/PassManager.h"
#include <map>
#include <string>

namespace sprig::cli {
namespace {

// Before small programs become one command: the lives of buffers are those of the operations.
MemoryPlan planOf(exec::ProgramOp program) {
  MemoryPlan plan;
  plan.entry = program.getSymName().str();
  plan.arenaBytes = uint64_t(program.getArenaBytes());
  plan.pieces = kernel::piecesOf(program);
  llvm::DenseMap<mlir::Operation *, size_t> index;
  program.walk([&](exec::LaneOp lane) {
    for (mlir::Operation &command : lane.getBody().front()) {
      size_t at = plan.commandCount++;
      for (mlir::Value operand : command.getOperands()) {
        auto buffer = operand.getDefiningOp<exec::BufferOp>();
        if (!buffer || buffer.getKind() != exec::BufferKind::arena) continue;
        auto [place, isNew] = index.try_emplace(buffer, plan.buffers.size());
        if (isNew)
          plan.buffers.push_back({buffer.getLabel().value_or("").str(), uint64_t(buffer.getOffset().value_or(0)),
                                  uint64_t(exec::byteSize(buffer.getType())), at, at});
        plan.buffers[place->second].lastCommand = at;
      }
    }
  });
  plan.lowerBound = mostInUse(plan);
  return plan;
}

} // namespace

MemoryNeeds memoryNeeds(const Model &model, const std::vector<EntryRequest> &entries, const Settings &settings) {
  ImportedModel imported(model, entries, settings);
  CompileOptions options = compileOptions(model, settings, {"native"});
  if (!options.compileFrom.empty() || !options.compileTo.empty())
    badUse("--memory plans from the model on: it goes with no --compile-from or --compile-to");
  runPhases(imported.module(), options, "schedule");
  mlir::PassManager passes(&imported.context());
  passes.addNestedPass<exec::ProgramOp>(createPlanMemory());
  if (mlir::failed(passes.run(imported.module()))) internalError("memory cannot be planned for " + model.path);
  std::vector<MemoryPlan> plans;
  for (auto program : imported.module().getOps<exec::ProgramOp>()) plans.push_back(planOf(program));

  // The rest is the runtime's to say: a package without code, as it would be loaded.
  options.compileFrom = "plan";
  runPhases(imported.module(), options, "plan");
  auto bytes = writePackage(imported.module(), {}, producerName(), {}, nullptr);
  if (mlir::failed(bytes)) internalError("the package of " + model.path + " cannot be written");
  Runner runner = Runner::load(std::move(*bytes), model.path, {1, "null"});
  MemoryNeeds needs = memoryNeeds(runner, settings);
  needs.entries = std::move(plans);
  return needs;
}

int64_t largestBatch(const Model &model, EntryRequest entry, const std::string &symbol, const Settings &settings,
                     uint64_t limit) {
  constexpr int64_t kMost = int64_t(1) << 30;
  uint64_t least = 0;
  std::map<int64_t, std::string> beyond; // why a batch cannot be compiled
  auto fits = [&](int64_t batch) {
    entry.dims[symbol] = batch;
    try {
      uint64_t needed = memoryNeeds(model, {entry}, settings).total();
      if (batch == 1) least = needed;
      return needed <= limit;
    } catch (const Error &error) {
      // A smaller batch compiles, so the sizes alone are beyond what is supported: those of a tensor, as a rule.
      if (batch == 1 || error.kind() != ErrorKind::unsupported) throw;
      beyond[batch] = error.what();
      return false;
    }
  };
  if (!fits(1))
    runtimeError(model.path + ": a batch of 1 needs " + std::to_string(least) + " bytes, the limit is " +
                 std::to_string(limit));
  int64_t good = 1, bad = 2;
  while (bad <= kMost && fits(bad)) good = bad, bad *= 2;
  if (bad > kMost) return good;
  while (bad - good > 1) {
    int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  if (auto found = beyond.find(bad); found != beyond.end())
    inform(symbol + " of " + std::to_string(bad) + " cannot be compiled: " + found->second);
  return good;
}

} // namespace sprig::cli
