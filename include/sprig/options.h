// What the user decides about a compilation; the one declaration of it.
// For sprig::compile, the command line, and every phase of the pipeline.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sprig {

enum class MathMode {
  fast,   ///< frozen graphs may use rewrites that change bits (docs/numerics.md lists them)
  strict, ///< none of them
};

/// What the factors of a product of f32 may be rounded to; sums are in f32 always (docs/numerics.md).
enum class Precision {
  f32,  ///< nothing
  tf32, ///< 10 bits of mantissa, where a target has tensor cores: of "cuda"
  bf16, ///< 7 bits of mantissa, of products with constants in a frozen graph: of "cpu"
};

/// Of gradients that ranks add up, whether they gather the factors (docs/distributed.md).
enum class FactorPolicy {
  never,
  automatic, ///< where by sizes far fewer bytes move, and little more is computed
  always,    ///< wherever fewer bytes move
};

/// Operations that run on one device, and what there was to say for it: for CompileOptions::explainPlacement.
struct PlacementDecision {
  std::string layer; ///< the model's own name for them, up to the last "/"; "(unnamed)" where it has none
  std::vector<std::string> operations; ///< their kinds, without those that compute nothing
  std::string device;                  ///< "cpu:1"
  bool pinned = false;                 ///< somebody said so; else the cost model
  double seconds = 0;                  ///< that they compute
  /// Of a whole call with these operations on each device, in the order of CompileOptions::devices, and all others
  /// where they are.
  std::vector<double> callSeconds;
};

/// How an entry was placed on several devices, by the cost model.
struct Placement {
  std::string entry;
  std::vector<std::string> inputs; ///< their types, "8x784xf32": entries of one name differ by them
  std::vector<std::string> devices;
  double seconds = 0;      ///< of a call
  double secondsOnOne = 0; ///< of one with all operations that nobody pinned on the first device
  int64_t copies = 0;      ///< from device to device in a call
  int64_t copiedBytes = 0;
  std::vector<PlacementDecision> decisions; ///< in the program's order
};

/// Sizes from `first` to `last`, both among them.
struct LengthRange {
  int64_t first = 1, last = 1;
};

struct CompileOptions {
  /// The kind of device to compile for: cpu, cuda.
  std::string target = "cpu";
  /// Architectures of that kind to generate code for, of which the runtime picks the best: of a CPU instruction sets
  /// (native, x86-64-v2, x86-64-v3, x86-64-v4; with dot products of bytes x86-64-v3-vnni, x86-64-v4-vnni, of bf16
  /// x86-64-v4-bf16, with matrices of bytes x86-64-v4-amx), of cuda sm_80, sm_86, sm_89, sm_90, sm_100, sm_120 (native:
  /// sm_80 and sm_90). Code for cuda is PTX of the first, too, for whatever is newer.
  std::vector<std::string> architectures = {"native"};

  /// Sizes of symbolic dimensions. Several sizes of one dimension make several entries of one package.
  std::map<std::string, std::vector<int64_t>> dims;
  /// Symbolic dimensions of an ONNX model that calls choose, each time another size of a range ({"time", {1, 128}}):
  /// at most one. Programs for lengths up to powers of two serve all of them, each result with the bits of a program of
  /// that very length (docs/lengths.md). What cannot be so is refused by name.
  std::map<std::string, LengthRange> ranges;
  /// Symbolic dimensions of an ONNX model that are sums of others and of numbers, as {"total", "past + 1"}: for one
  /// that goes with a range. Of one whose name is such a sum, nothing need be said.
  std::map<std::string, std::string> sums;
  /// Whole shapes of inputs.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Values that inputs of an ONNX model always have, as many as their shapes take: they become constants, the entries
  /// have no such inputs, and what only other values would lead to is not compiled ({"sr", {16000}}).
  /// `random.seed` is that of random operators that have none of their own ({"random.seed", {7}}).
  std::map<std::string, std::vector<double>> values;

  /// Inputs that the outputs of the call before are, as {"h", "h_next"} or, of many, {"past_key_values.*",
  /// "present.*"}: they become state of the package, which begins with zeros, and are no arguments of calls. One that
  /// grows by each call takes a range of lengths (`ranges`), and another input that tells the length.
  std::vector<std::pair<std::string, std::string>> states;

  /// Devices to compile for, each as `kind:number`: cpu:0 and cpu:1 are shares of the cores, null:0 is for tests
  /// (docs/parallel.md). With several, operations are placed by cost where `places` says nothing; none or one: all is
  /// on one, which the load names. Placement never changes a bit.
  std::vector<std::string> devices;
  /// Where layers run: a layer's name as the model has it (or its beginning up to a "/", or a pattern with `*`), and
  /// one of `devices`. Of several that fit an operation the longest counts.
  std::vector<std::pair<std::string, std::string>> places;
  /// Links of set latency and rate between those devices, as `cpu:0-cpu:1=5us,1GB/s`: what placement takes copies to
  /// cost. Without, what this machine's do.
  std::vector<std::string> links;
  /// Called with what placement weighed, once for each entry; empty: nobody asks.
  std::function<void(const Placement &)> explainPlacement;

  /// Lanes to schedule for; 0: the physical cores.
  int threads = 0;
  /// How much compile time to spend, 0 to 3.
  int optimization = 2;
  MathMode math = MathMode::fast;
  Precision precision = Precision::f32;
  /// Whether parameters become constants: an inference-only package. Off, they are state that entries share.
  bool freeze = true;
  /// Whether work on parameters that no entry sets (packing, transposes) is done by an entry of its own, `prepare`,
  /// rather than in every call. It has to run first, and again when such a parameter has changed. It never changes a
  /// bit.
  bool prepare = false;
  /// Whether operations share kernels. It never changes a bit.
  bool fuse = true;
  /// Whether the commands of a small network become one, branches that threads run side by side, and all that pieces of
  /// the samples go through. It never changes a bit; off, a profile sees each.
  bool merge = true;
  /// Lanes to spread a program's commands over, where that pays by the machine model; 1: none runs beside another; 0:
  /// as many as suit the target, 1 on a processor and 8 on a GPU. It never changes a bit.
  int lanes = 0;

  /// Most bytes of values that a training step keeps from its forward to its backward pass; what is over is computed
  /// again (docs/training.md). 0: no limit. It never changes a bit.
  int64_t rematBytes = 0;

  /// Axes of ranks that an inference, or a training step, is divided over, and how many each has: "data=2,model=2"
  /// (docs/sharding.md). Empty: the program is as it is given, of one rank or with collectives of its own.
  std::string mesh;
  /// Of inputs, outputs and parameters the axes of each dimension: "image=data,-,-,-", "-" for none, several of one
  /// joined by "+". What is not said follows.
  std::vector<std::string> shardings;
  /// How the ranks of `mesh` share training steps ("data", "zero1": lib/Shard/Strategy); empty: as `shardings` say.
  std::string strategy;
  /// With a strategy, of the ranks' shares of each pass's samples; none: even ones.
  std::vector<int64_t> weights;
  /// With a strategy, whether ranks may gather what they have of values of samples, as layers that look from one sample
  /// at another ask for; else they are refused, with the bytes that it would take.
  bool allowGather = false;
  /// The only rank of the mesh whose programs are compiled; below 0: the package has those of all.
  int64_t rank = -1;
  /// What ranks do together, as another rank's compilation found it (CompileResult::collectives): a program that does
  /// anything else is an error. None: nothing is compared.
  std::vector<std::string> collectives;

  /// What collectives between the ranks are expected to take, by which programs go on beside them; none: as between
  /// processes of one machine. It never changes a bit.
  struct Link {
    /// When a program goes on beside them: never, as where no core is left for them; where that is expected to pay; or
    /// wherever there is something to go on with.
    enum class Beside { never, wherePays, always };
    double latency = 0;        ///< seconds of an all-reduce of no bytes
    double bytesPerSecond = 0; ///< of its buffers, beyond
    Beside beside = Beside::wherePays;
  };
  std::optional<Link> link;

  /// Most bytes of sums over ranks, and of gathers, that go together, of which each has fewer; 0: one megabyte. It
  /// never changes a bit.
  int64_t bucketBytes = 0;

  /// Whether sums over ranks of products (gradients of dense layers) become products of gathered factors. It changes
  /// bits: the order of sums is that of one rank.
  FactorPolicy factors = FactorPolicy::never;
  /// Whether ranks divide those products among them, and gather the parts: for ranks of one machine, between which
  /// bytes cost less than products. It never changes a bit.
  bool dividesProducts = false;

  /// Seconds to search on this machine for better register tiles (docs/cache.md); 0: none, the compiler's own choice.
  /// It changes no bit of a result.
  double tuneSeconds = 0;
  /// Threads that generate code; 0: as many as the process may use. The package does not depend on it.
  int compileThreads = 0;
  /// Folder that keeps objects of kernels by content, for later compilations of this or another process; empty: none.
  /// It must be the user's own and closed to others' writing, else it is not used (docs/cache.md).
  std::string cacheFolder;
  /// What the folder may hold before what was used least recently is deleted.
  uint64_t cacheBytes = uint64_t(512) << 20;

  /// Names of phases (docs/architecture.md): where to start, with IR that an earlier run stopped at, and
  /// where to stop. Empty: everything.
  std::string compileFrom, compileTo;
  /// Folder that gets the IR after each phase as NN-phase.mlir; empty: none.
  std::string dumpPhases;
  /// Whether dumps hold large constants too.
  bool dumpConstants = false;
  /// Categories of remarks to report: fuse, schedule, memory.
  std::vector<std::string> remarks;
  /// Called with each remark and warning, one line; empty: they are dropped.
  std::function<void(const std::string &line)> report;
  /// Whether `report` is also told how the compilation went: what the cache had, and why it was not used.
  bool reportDetails = false;

  /// What the package calls its model; the file's name where there is one.
  std::string modelName;
};

} // namespace sprig
