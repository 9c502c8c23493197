// The flags that commands which compile share (docs/cli.md), and what they mean.
#pragma once
#include "lib/Machine/Gpu.h"
#include "runtime/device/DeviceNames.h"
#include "tools/sprig/Command.h"
#include "tools/sprig/run/Inputs.h"
#include "sprig/options.h"
#include <map>
#include <string>
#include <vector>

namespace sprig::cli {

struct Settings {
  std::vector<std::string> dims, shapes; ///< as given: NAME=8 or NAME=1,8; NAME=8x784
  std::vector<std::string> values;       ///< as given: NAME=16000 or NAME=0.5,0.5
  std::vector<std::string> states;       ///< as given: INPUT=OUTPUT; of compile
  std::vector<std::string> targets, cpus, devices, links, places, remarks;
  std::string topology;               ///< of commands that compile or run here; takeTopology makes links of it
  std::vector<std::string> ownMemory; ///< devices that the caller's arrays would be copied to on that topology
  std::string math = "fast", precision = "f32", compileTo, compileFrom, dumpPhases;
  int threads = 0;
  bool pin = false;
  int level = 2, jobs = 0;
  double tuneSeconds = 0;
  bool noCache = false, explainPlacement = false;
  int lanes = 0;
  bool merge = true; ///< off: profile --no-merge
  std::string cache, cacheSize;
  mutable bool toldOfThreads = false; ///< that "--devices cpu:2" is 2 threads, once for both halves of the command line
  bool devicesAreNames = false;       ///< "--devices cpu:2" is that device, not 2 threads

  /// One map of symbol to size per entry: the cross product of the lists given by --dim, one empty map without.
  /// `besideRanges`: leaves out the dimensions that are given a range, and sums of them, which else are refused.
  std::vector<std::map<std::string, int64_t>> entryDims(bool besideRanges = false) const;
  /// The dimensions that --dim gives a range, as time=1..128.
  std::map<std::string, LengthRange> dimRanges() const;
  /// The dimensions that --dim gives as sums of others, as all=past+1.
  std::map<std::string, std::string> dimSums() const;
  std::map<std::string, std::vector<int64_t>> inputShapes() const;
  std::map<std::string, std::vector<double>> inputValues() const;
  /// Inputs that are outputs of the call before (CompileOptions::states).
  std::vector<std::pair<std::string, std::string>> statePorts() const;
  /// Lanes to schedule for: --threads, --devices cpu:N (which is told of), or 0 for the machine's default.
  int laneCount() const;
  /// What --devices names, for the runtime; "" for what the program names.
  std::string runtimeDevice() const;
  /// The devices to compile for, each as kind:number, where --devices names several; else none.
  std::vector<std::string> compileDevices() const;
  /// What --place says: layers and devices.
  std::vector<std::pair<std::string, std::string>> placedLayers() const;
  /// The folder of the object cache, "" for none, and the bytes it may hold.
  std::string cacheFolder() const;
  uint64_t cacheBytes() const;
  /// Throws unsupported when a device is asked for that is not there.
  void checkDevices() const;
  /// The same for who only compiles for them.
  void checkDeviceNames() const;
  /// Whether --devices names GPUs and nothing else, for which a model is compiled without a --target; not where the
  /// names are a topology's.
  bool namesGpus() const;
  /// Whether it names GPUs beside shares of the processor.
  bool namesGpusBesideCpus() const;
  /// The GPUs that it names, in that order; none where this machine does not have them all.
  std::vector<machine::Gpu> gpusHere() const;
  /// The same for commands that show values: refuses null devices that keep time alone.
  void checkDevicesCompute() const;

  /// --devices as it was given and what it says. Throws usage errors.
  std::string givenDevices() const;
  rt::core::GivenDevices parsedDevices() const;
};

/// Adds an option whose value the help calls `type`.
CLI::Option *addText(CLI::App &command, const std::string &flag, const std::string &type, std::string &value,
                     const std::string &text);
/// Adds an option whose value is one of several; the help shows the default where there is one.
CLI::Option *addChoice(CLI::App &command, const std::string &flag, std::string &value,
                       const std::vector<std::string> &choices, const std::string &text);
/// Adds an option that may be given several times, with a value each.
CLI::Option *addRepeated(CLI::App &command, const std::string &flag, std::vector<std::string> &values,
                         const std::string &text);
/// Adds the flags that say for what and how to compile.
void addSettings(CLI::App &command, Settings &settings);
/// Adds --threads and --devices alone, for packages.
void addThreads(CLI::App &command, Settings &settings);

/// Adds --pin, of commands that run programs for their time.
void addPin(CLI::App &command, Settings &settings);

/// Adds --link and --topology, of commands that run.
void addLinks(CLI::App &command, Settings &settings);
/// The same for a command that only compiles: what placement reckons with.
void addLinksToPlace(CLI::App &command, Settings &settings);

/// Adds --input, of commands that call a model.
void addInputs(CLI::App &command, std::vector<std::string> &inputs);

/// Adds --allow, of commands that compile a training step.
void addAllow(CLI::App &command, std::vector<std::string> &allow);

/// Binds the symbols of a model's inputs to the sizes that --shape gives. Throws usage errors with both facts.
void bindShapes(const std::vector<InputSpec> &specs, const std::map<std::string, std::vector<int64_t>> &shapes,
                std::map<std::string, int64_t> &dims);

/// Names of symbolic dimensions that are in no map, in order.
std::vector<std::string> unboundSymbols(const std::vector<InputSpec> &specs,
                                        const std::map<std::string, int64_t> &dims);
/// Throws a usage error for a size by --dim that nothing asks for: no dimension of an input has the name, no sum of
/// sizes does, and no sequence or optional is counted by it.
void requireDims(const std::string &model, const std::vector<InputSpec> &specs, const Settings &settings);
/// Throws a usage error that names all dimensions without a size, with the flags that give them.
void requireSizes(const std::string &model, const std::vector<InputSpec> &specs,
                  const std::map<std::string, int64_t> &dims);
/// Gives a dimension a size that nobody else gave, and says so.
void takeSize(const std::string &symbol, int64_t size, std::map<std::string, int64_t> &dims);
/// Sequences and optionals as the tensors that they stand for; of those whose number nobody gave it is one, which is
/// said.
std::vector<InputSpec> takeTensors(const std::vector<InputSpec> &specs, std::map<std::string, int64_t> &dims);
/// Gives all that have no size 1, or the smallest that is known to do, and says so.
void takeLeast(const std::vector<InputSpec> &specs, std::map<std::string, int64_t> &dims);

} // namespace sprig::cli
