// A module through the phases: from nn to a package.
// For the command line, the JIT and tests. Everything that is wrong is thrown as sprig::Error; the module then is in
// the state after the last phase that succeeded, or partly beyond it.
#pragma once
#include "lib/Pipeline/Phases.h"
#include "lib/Target/Package/PackageWriter.h"
#include "lib/Target/Target.h"
#include "sprig/error.h"
#include <functional>

namespace sprig {

struct PhaseTime {
  std::string phase;
  double seconds = 0;
};

struct CompileResult {
  /// The package; empty when `compileTo` stopped before it, and then the module holds the result.
  std::vector<uint8_t> package;
  PackageSizes sizes;
  std::vector<PhaseTime> times;
  CodeGenCounts kernels;
  /// What ranks do together behind the phase `shard`, entry by entry and in order: kind, bytes and group, in words.
  std::vector<std::string> collectives;
};

/// Called with each remark and warning, one line.
using RemarkSink = std::function<void(const std::string &line)>;

/// Loads a package of one entry on this machine; each call of what it gives times calls of it: seconds for one.
using PackageTimer = std::function<std::function<double()>(std::vector<uint8_t> package)>;

/// Compiles in place. The context must have the dialects of registerSprigDialects. `timer`
/// is what options.tuneSeconds needs.
CompileResult compileModule(mlir::ModuleOp module, const CompileOptions &options, const RemarkSink &remarks = nullptr,
                            const PackageTimer &timer = nullptr);

/// Throws what compileModule would of the options, of devices and layers of the module among them.
void checkOptions(mlir::ModuleOp module, const CompileOptions &options);

/// The phases up to and with `last` alone, as compileModule runs them.
void runPhases(mlir::ModuleOp module, const CompileOptions &options, llvm::StringRef last,
               std::vector<PhaseTime> *times = nullptr, const RemarkSink &remarks = nullptr);

/// Begins the phase `shard` on what `differentiate` has left, for who chooses what it joins: steps become the rank's,
/// factors are gathered, of which `report` is told. `options` become those of what is left of the compilation.
void divideForRanks(mlir::ModuleOp module, CompileOptions &options, std::vector<PhaseTime> *times = nullptr,
                    const RemarkSink &remarks = nullptr, const FactorReport &report = nullptr);

/// The target that the options name. Throws sprig::Error (unsupported), which lists those that there are.
const Target &targetOf(const CompileOptions &options);

/// "sprig 0.1.0"
std::string producerName();

} // namespace sprig
