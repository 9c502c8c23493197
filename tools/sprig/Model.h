// The MODEL argument: an ONNX file, MLIR text in the nn dialect, or a package; `-` reads any of them from standard
// input. The content decides which, not the name. Compiles models that are no packages, for every command alike.
#pragma once
#include "lib/Data/Array.h"
#include "lib/Model/ModelKind.h"
#include "tools/sprig/compile/PlacementReport.h"
#include "tools/sprig/run/Inputs.h"
#include "tools/sprig/run/Runner.h"
#include "tools/sprig/Settings.h"
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sprig::onnximport {
struct Model;
}

namespace sprig::cli {

struct Model {
  std::string path; ///< as errors call it
  ModelKind kind = ModelKind::onnx;
  std::string text; ///< the content; not of packages that are files, which the runtime maps
  /// Of ONNX, from when somebody asks for more than bytes until it is imported.
  mutable std::shared_ptr<const onnximport::Model> parsed;
  /// Of ONNX that was made for quantisation-aware training: what is written of it has integers for weights.
  bool foldsWeights = false;
};

/// Reads the file and looks at its first bytes. Throws badInput for what is missing or empty.
Model openModel(const std::string &path);

/// Inputs (and outputs) of a model that is no package, symbolic dimensions and all.
std::vector<InputSpec> inputsOf(const Model &model);
/// Inputs that calls give: those that are left with --value; what says no shape has the one that --shape gives it.
/// Sequences and optionals come as the tensors that they stand for, where --dim and --shape say how many; else that is
/// an error, unless others may say it (`isOpen`).
std::vector<InputSpec> inputsOfCalls(const Model &model, const Settings &settings, bool isOpen = false);
/// Inputs of a loaded package; a --dim that it does not leave to its callers is an error.
std::vector<InputSpec> inputsOfCalls(const Runner &package, const Model &model, const Settings &settings);
std::vector<InputSpec> outputsOf(const Model &model);
/// Whether an ONNX model draws random numbers; of no package.
bool drawsRandomNumbers(const Model &model);

/// One entry to compile.
struct EntryRequest {
  std::map<std::string, int64_t> dims;
  std::map<std::string, std::vector<int64_t>> shapes;
  std::map<std::string, data::Array> values;      ///< known inputs; those that decide a shape become constants
  std::map<std::string, LengthRange> ranges = {}; ///< sizes that calls choose from
};

/// "main" for a single entry, else "main_batch8" and the like.
std::string entryName(const std::vector<EntryRequest> &entries, size_t index);

struct PhaseTime {
  std::string phase;
  double milliseconds = 0;
};
struct Compiled {
  std::vector<uint8_t> package;
  std::vector<PhaseTime> phases;
  std::vector<Placement> placements; ///< of the entries, with --explain-placement
};

struct ShardRequest;

/// Compiles to a package. `cpus` is what to make code for when the settings do not say. `split`: over which mesh.
Compiled compile(const Model &model, const std::vector<EntryRequest> &entries, const Settings &settings,
                 const std::vector<std::string> &cpus, const ShardRequest *split = nullptr);

/// Compiles to text: the IR after `phase`, or what an --emit kind makes.
std::string compileToText(const Model &model, const std::vector<EntryRequest> &entries, const Settings &settings,
                          const std::string &emit, const ShardRequest *split = nullptr);

/// Loads a model that is a package.
Runner loadPackage(const Model &model, const RunnerOptions &options);
/// To run as the flags say.
RunnerOptions runnerOptionsOf(const Settings &settings);

/// Throws where something is asked of a package that is settled when a model is compiled: places, lanes, precision, ...
void refuseForPackage(const Model &model, const Settings &settings);

/// Loads a package, or compiles for this machine and loads.
Runner compileAndLoad(const Model &model, const std::vector<EntryRequest> &entries, const Settings &settings,
                      std::vector<PhaseTime> *phases = nullptr);
/// What --explain-placement prints of a model that compileAndLoad has compiled; nothing without the flag. `document`:
/// as JSON, to there.
void explainPlacement(const Settings &settings, const Runner &runner, Json *document = nullptr);

/// What an entry is called with: the arrays that were given, and the sizes that these, --dim and --shape bind.
struct BoundInputs {
  std::vector<InputSpec> specs; ///< of all that a call takes; what `arrays` lacks is to be filled
  std::map<std::string, data::Array> arrays;
  EntryRequest entry;
};
/// The inputs to run on: files first, then random ones with the dimensions that are bound (1 where nothing binds them,
/// which is said), else an error that lists what is missing.
BoundInputs bindInputs(const std::vector<InputSpec> &specs, const std::vector<std::string> &files,
                       std::optional<uint64_t> randomSeed, const Settings &settings);
/// The same for each entry that --dim asks for, of all files. A size that nothing binds is what `otherwise` says, else
/// 1, which is said. What files leave is the caller's to fill.
std::vector<BoundInputs> bindEntries(const std::vector<InputSpec> &specs, const std::vector<std::string> &files,
                                     const Settings &settings, const std::map<std::string, int64_t> &otherwise = {});
std::vector<EntryRequest> requestsOf(const std::vector<BoundInputs> &entries);

/// Throws usage errors: a dimension without a size, a range of one that there is not.
std::vector<EntryRequest> requestEntries(const Model &model, const Settings &settings);

} // namespace sprig::cli
