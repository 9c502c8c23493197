// The op table on CUDA: every row becomes dispatches, kernels and PTX, and gives the interpreter's values within the
// row's bound. It runs in the emulator with every check, or on the GPU of this machine that SPRIG_TEST_GPU names:
// "cuda:0".
#include "lib/Pipeline/Pipeline.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "test/unit/OpTable/Cuda/CudaRows.h"
#include "test/unit/OpTable/Rows.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>

namespace sprig::optable {
namespace {

std::string textOf(mlir::func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  function.print(stream);
  return text;
}

std::unique_ptr<KernelRunner> makeRunner() {
  const char *device = std::getenv("SPRIG_TEST_GPU");
  return device ? makeGpuRunner(device) : makeEmulatorRunner();
}

// `seen` are the functions whose kernels have run, `first` the bits of each row.
void runRows(const std::vector<Row> &rows, const std::vector<Prepared> &all, bool fuse, Given given, Depth depth,
             std::set<std::string> &seen, std::vector<std::vector<Bytes>> &first) {
  mlir::OwningOpRef<mlir::ModuleOp> module = parseRows(rows);
  CompileOptions options;
  options.fuse = fuse;
  options.target = "cuda";
  options.architectures = {"sm_80"};
  if (given == Given::layouts) {
    mlir::PassManager passes(module->getContext());
    passes.addNestedPass<mlir::func::FuncOp>(createFuse({fuse, options.target}));
    ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
  } else {
    runPhases(*module, options, "fuse");
  }
  if (fuse) expectDispatches(*module, rows);
  CudaRows cuda(makeRunner());
  std::set<size_t> taken;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!fuse && !isInEveryWay(rows[i], depth)) continue;
    auto function = module->lookupSymbol<mlir::func::FuncOp>(entryName(i));
    if (!seen.insert(textOf(function)).second) continue;
    std::string why = cuda.take(function);
    if (why.empty())
      taken.insert(i);
    else
      ADD_FAILURE() << rows[i].name << ": " << why;
  }
  if (taken.empty()) return;
  cuda.build();
  for (size_t i : taken) {
    std::string variant = fuse ? "cuda, fused" : "cuda, not fused";
    auto outputs = cuda.run(module->lookupSymbol<mlir::func::FuncOp>(entryName(i)), all[i].inputs,
                            rows[i].name + " (" + variant + ")");
    judge(all[i], variant, outputs);
    if (first[i].empty())
      first[i] = outputs;
    else if (first[i] != outputs)
      ADD_FAILURE() << rows[i].name << " (" << variant << "): other bits than fused";
  }
}

} // namespace

void check(std::vector<Row> rows, Given given, Depth depth) {
  numberRows(rows);
  auto module = parseRows(rows);
  ASSERT_TRUE(module);
  std::vector<Prepared> all = prepare(*module, rows);
  ASSERT_EQ(all.size(), rows.size());
  std::set<std::string> seen;
  std::vector<std::vector<Bytes>> first(rows.size());
  for (bool fuse : {true, false}) runRows(rows, all, fuse, given, depth, seen, first);
}

} // namespace sprig::optable
