#include "tools/sprig/compile/CompilerLibrary.h"
#include <dlfcn.h>

namespace sprig::cli {

CompilerHost compilerHost;

namespace {
// Beside the executable, by its run path; never unloaded.
const CompilerTable *loadCompiler() {
  void *library = ::dlopen(SPRIG_COMPILER_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  auto *entry = library ? reinterpret_cast<CompilerEntry *>(::dlsym(library, kCompilerEntry)) : nullptr;
  if (!entry)
    unsupported(std::string("the compiler cannot be loaded, and without it only packages run: ") + ::dlerror());
  compilerHost.quiet = isQuiet();
  compilerHost.verbose = isVerbose();
  return entry(compilerHost);
}

const CompilerTable &compiler() {
  static const CompilerTable *table = loadCompiler();
  return *table;
}
} // namespace

std::vector<InputSpec> inputsOf(const Model &model) { return compiler().inputsOf(model); }
std::vector<InputSpec> outputsOf(const Model &model) { return compiler().outputsOf(model); }
bool drawsRandomNumbers(const Model &model) { return compiler().drawsRandomNumbers(model); }

Compiled compile(const Model &model, const std::vector<EntryRequest> &entries, const Settings &settings,
                 const std::vector<std::string> &cpus, const ShardRequest *split) {
  return compiler().compile(model, entries, settings, cpus, split);
}

std::string compileToText(const Model &model, const std::vector<EntryRequest> &entries, const Settings &settings,
                          const std::string &emit, const ShardRequest *split) {
  return compiler().compileToText(model, entries, settings, emit, split);
}

ModelSummary summarizeModel(const Model &model, const EntryRequest &entry, const Settings &settings) {
  return compiler().summarizeModel(model, entry, settings);
}

ModelSummary outlineModel(const Model &model) { return compiler().outlineModel(model); }
std::string graphToDot(const Model &model, const EntryRequest &entry, const Settings &settings) {
  return compiler().graphToDot(model, entry, settings);
}

std::vector<data::Array> interpret(const Model &model, const BoundInputs &inputs, const Settings &settings) {
  return compiler().interpret(model, inputs, settings);
}

std::string bisectModel(const Model &model, const BoundInputs &inputs, const Settings &settings,
                        const Judgement &judgement) {
  return compiler().bisectModel(model, inputs, settings, judgement);
}

MemoryNeeds memoryNeeds(const Model &model, const std::vector<EntryRequest> &entries, const Settings &settings) {
  return compiler().memoryNeeds(model, entries, settings);
}

int64_t largestBatch(const Model &model, EntryRequest entry, const std::string &symbol, const Settings &settings,
                     uint64_t limit) {
  return compiler().largestBatch(model, std::move(entry), symbol, settings, limit);
}

CompiledTraining compileTraining(const Model &model, const TrainRequest &request, const Settings &settings,
                                 const std::vector<std::string> &cpus) {
  return compiler().compileTraining(model, request, settings, cpus);
}

std::string trainingToText(const Model &model, const TrainRequest &request, const Settings &settings) {
  return compiler().trainingToText(model, request, settings);
}

ShardReport shardModel(const Model &model, const EntryRequest &entry, const Settings &settings,
                       const ShardRequest &request) {
  return compiler().shardModel(model, entry, settings, request);
}

QuantizeReport quantizeModel(const QuantizeOptions &options) { return compiler().quantizeModel(options); }

std::string findNonFinite(const Model &model, const TrainRequest &request, const Settings &settings,
                          std::span<const data::Array> state, std::span<const data::Array> inputs) {
  return compiler().findNonFinite(model, request, settings, state, inputs);
}

std::vector<char> exportTrained(const Model &model, std::span<const data::Array> parameters) {
  return compiler().exportTrained(model, parameters);
}

void benchAsync(const ExperimentOptions &options, ExperimentReport &report) { compiler().benchAsync(options, report); }
void benchHybridize(const ExperimentOptions &options, ExperimentReport &report) {
  compiler().benchHybridize(options, report);
}
void benchRecording(const ExperimentOptions &options, ExperimentReport &report) {
  compiler().benchRecording(options, report);
}

std::vector<OperatorRow> listOperators() { return compiler().listOperators(); }

} // namespace sprig::cli

// The formats whose libraries (libzip with libcrypto, protobuf) take as long to load as a small package to run.
namespace sprig::data {

std::vector<Array> parseNpz(std::span<const char> bytes, const std::string &file) {
  return cli::compiler().parseNpz(bytes, file);
}
std::vector<char> formatNpz(std::span<const Array> arrays) { return cli::compiler().formatNpz(arrays); }
Array parseTensorProto(std::span<const char> bytes, const std::string &file) {
  return cli::compiler().parseTensorProto(bytes, file);
}
Stored parseStored(std::span<const char> bytes, Holder holder, const std::string &file) {
  return cli::compiler().parseStored(bytes, holder, file);
}
std::vector<char> formatTensorProto(const Array &array) { return cli::compiler().formatTensorProto(array); }

} // namespace sprig::data
