// Runs packages for the command line: arrays in, arrays out.
// A thin owner of the runtime's handles; every failure is a sprig::Error with the runtime's message.
#pragma once
#include "lib/Data/Array.h"
#include "sprig/options.h"
#include "sprig/rt/sprig_rt.h"
#include "tools/sprig/run/Inputs.h"
#include "tools/sprig/run/PackageTables.h"
#include "tools/sprig/Settings.h"
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sprig::cli {

/// Throws the sprig::Error that a status stands for, and frees it; null does nothing.
void check(sprig_rt_status *status);

struct RunnerOptions {
  int threads = 0;                     ///< 0: the runtime's default
  std::string device;                  ///< as --devices; "": what the program names
  std::vector<std::string> links = {}; ///< as --link, between those
  /// Devices that have memory of their own on the machine that this one stands for: one that works on the caller's
  /// arrays is warned of.
  std::vector<std::string> ownMemory = {};
  int pin = 0; ///< as sprig_rt_pool_options'

  /// Pins the next runner of this process behind one of so many threads.
  void pinBehind(int others) {
    if (pin) pin += others;
  }
};

/// Throws a usage error of --pin where so many threads do not have a processor each, from the `pin`-th on.
void checkPin(int pin, int threads);

struct TensorSpec {
  std::string name;
  data::DType dtype = data::DType::f32;
  std::vector<int64_t> shape;
};

/// One call with its arrays in place; calling it again allocates nothing.
class PreparedCall {
public:
  void invoke();
  /// Reads an input from here from now on: as many bytes as it has, aligned to 64, that stay. Of a name it has not:
  /// nothing.
  void read(const std::string &input, const void *bytes);
  /// Queues the call; its arrays must stay until the future is ready.
  sprig_rt_future *submit();
  std::vector<data::Array> takeOutputs();

private:
  friend class Runner;
  sprig_rt_context *context = nullptr;
  int32_t entry = 0;
  std::vector<data::Array> inputs, outputs;
  std::vector<sprig_rt_tensor> inputViews, outputViews;
  std::vector<std::shared_ptr<void>> storage; ///< 64-byte aligned copies, so that the runtime works in place
};

class Runner {
public:
  static Runner load(const std::string &path, const RunnerOptions &options);
  static Runner load(std::vector<uint8_t> bytes, const std::string &name, const RunnerOptions &options);
  /// Of bytes that outlive the runner.
  static Runner loadInPlace(std::span<const uint8_t> bytes, const std::string &name, const RunnerOptions &options);

  std::vector<Placement> placements; ///< with --explain-placement, of a model that was compiled for this

  sprig_rt_package *package() const { return packageHandle.get(); }
  const PackageTables &tables() const { return *packageTables; }
  sprig_rt_context *runContext() const { return context.get(); }
  /// What entries update; null where the package has none.
  sprig_rt_state *state() const { return stateHandle.get(); }
  int threads() const { return sprig_rt_pool_threads(pool.get()); }
  /// Another of the same package, with a state, a pool and a context of its own.
  Runner another(const RunnerOptions &options) const;
  /// The rank that its calls are.
  void join(std::shared_ptr<sprig_rt_group> group);
  /// Tells the other ranks why this one does not come; nothing where there are none.
  void failGroup(const std::string &why) const;
  /// In place, of the ranks that it has joined.
  void allReduce(std::span<uint64_t> numbers, sprig_rt_reduction reduction, const char *name) const;
  /// What collectives of its rank took so far; of none zeros.
  sprig_rt_group_times groupTimes() const;
  /// In place: each rank's piece of equal size, one after the other.
  void allGather(std::span<char> bytes, const char *name) const;
  std::string deviceName(uint32_t device) const; ///< "cpu:1", by its number in the package
  size_t entryCount() const;
  std::vector<TensorSpec> inputs(size_t entry) const;
  std::vector<TensorSpec> outputs(size_t entry) const;
  sprig_rt_entry_info entryInfo(size_t entry) const;
  sprig_rt_ranks_info ranks(size_t entry) const;
  /// The interface over all entries: a dimension on which they differ is symbolic.
  std::vector<InputSpec> inputSpecs() const;

  /// Arrays by input name. The entry is the one whose shapes they have, else one that the runtime can split or pad to.
  PreparedCall prepare(const std::map<std::string, data::Array> &arrays) const;
  /// Of this entry, whose shapes the arrays have.
  PreparedCall prepare(size_t entry, const std::map<std::string, data::Array> &arrays) const;
  std::vector<data::Array> run(const std::map<std::string, data::Array> &arrays) const;

  /// Entry, instruction set, splitting and padding of the last run, in words (-v).
  std::string describeLastRun() const;
  /// How the samples of the last run were made up, for callers that read it as data.
  sprig_rt_run_info lastRun() const;

private:
  /// Of bytes that are `kept`'s, or outlive the runner.
  static Runner load(std::span<const uint8_t> bytes, std::unique_ptr<std::vector<uint8_t>> kept,
                     const std::string &name, const RunnerOptions &options);

  std::shared_ptr<sprig_rt_package> packageHandle;
  std::shared_ptr<const PackageTables> packageTables;
  std::shared_ptr<sprig_rt_pool> pool;
  std::shared_ptr<sprig_rt_state> stateHandle;
  std::shared_ptr<sprig_rt_group> group;
  std::shared_ptr<sprig_rt_context> context;
  void start(const RunnerOptions &options);
  size_t chooseEntry(const std::map<std::string, data::Array> &arrays) const;
};

/// "data=2,model=4": the mesh of an entry; "" where it states none.
std::string meshText(const Runner &runner, size_t entry);

/// Of programs that are one rank's each: the rank's of the name and the whole inputs that entry `like` has; nothing
/// where there is none.
std::optional<uint32_t> entryOfRank(const Runner &runner, size_t like, int rank);

/// Threads of this process as ranks: what the calls of each join.
std::vector<std::shared_ptr<sprig_rt_group>> threadsAsRanks(int ranks);
/// This process as a rank, when all have come.
std::shared_ptr<sprig_rt_group> processAsRank();

/// As the package names them: "cpu:0", "cuda:1".
std::vector<std::string> devicesOf(const Runner &runner);
/// Those of --devices, where it was given, else the package's own. Throws unsupported where they are not as many.
std::vector<std::string> devicesFor(const Runner &runner, const Settings &settings);

} // namespace sprig::cli
