// The half of the command line that needs LLVM, in a library of its own: libsprig_compiler.so.
// Loading LLVM takes tens of milliseconds, so a command that only runs or reads a package must not do it. What the
// executable calls of the other half (compile, inputsOf, interpret, ...) is declared where it belongs and defined
// twice: in the library for real, in CompilerLibrary.cpp as a call through this table, which loads the library first.
#pragma once
#include "lib/Data/ArrayFile.h"
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/run/Interpret.h"
#include "tools/sprig/Model.h"
#include "tools/sprig/inspect/ModelReport.h"
#include "tools/sprig/profile/ProgramMemory.h"
#include "tools/sprig/quantize/QuantizeModel.h"
#include "tools/sprig/shard/ShardModel.h"
#include "tools/sprig/train/TrainModel.h"

namespace sprig::cli {

struct CompilerTable {
  decltype(&sprig::cli::inputsOf) inputsOf;
  decltype(&sprig::cli::outputsOf) outputsOf;
  decltype(&sprig::cli::drawsRandomNumbers) drawsRandomNumbers;
  decltype(&sprig::cli::compile) compile;
  decltype(&sprig::cli::compileToText) compileToText;
  decltype(&sprig::cli::summarizeModel) summarizeModel;
  decltype(&sprig::cli::outlineModel) outlineModel;
  decltype(&sprig::cli::graphToDot) graphToDot;
  decltype(&sprig::cli::interpret) interpret;
  decltype(&sprig::cli::bisectModel) bisectModel;
  MemoryNeeds (*memoryNeeds)(const Model &, const std::vector<EntryRequest> &, const Settings &);
  decltype(&sprig::cli::largestBatch) largestBatch;
  decltype(&sprig::cli::listOperators) listOperators;
  decltype(&sprig::cli::compileTraining) compileTraining;
  decltype(&sprig::cli::trainingToText) trainingToText;
  decltype(&sprig::cli::shardModel) shardModel;
  decltype(&sprig::cli::quantizeModel) quantizeModel;
  decltype(&sprig::cli::findNonFinite) findNonFinite;
  decltype(&sprig::cli::exportTrained) exportTrained;
  decltype(&sprig::cli::benchAsync) benchAsync;
  decltype(&sprig::cli::benchHybridize) benchHybridize;
  decltype(&sprig::cli::benchRecording) benchRecording;
  decltype(&sprig::data::parseNpz) parseNpz;
  decltype(&sprig::data::formatNpz) formatNpz;
  decltype(&sprig::data::parseTensorProto) parseTensorProto;
  decltype(&sprig::data::parseStored) parseStored;
  decltype(&sprig::data::formatTensorProto) formatTensorProto;
};

/// What the executable tells the library when it loads it.
struct CompilerHost {
  bool quiet = false, verbose = false;
  /// Ends the process with LLVM's last words, and when memory is out.
  void (*fatalError)(void *, const char *reason, bool) = nullptr;
  void (*outOfMemory)(void *, const char *reason, bool) = nullptr;
};

/// The library's one exported function.
inline constexpr char kCompilerEntry[] = "sprig_cli_compiler";
using CompilerEntry = const CompilerTable *(const CompilerHost &);

/// Set by main before anything is loaded.
extern CompilerHost compilerHost;

} // namespace sprig::cli
