// A function that is being recorded rather than run: for compile(), for regions of control flow, for transforms.
// For the recorder and for what makes graphs of functions. Traces nest; each belongs to one thread.
#pragma once
#include "lib/Frontend/Engine/GlobalStep.h"
#include "lib/Frontend/Engine/HostState.h"
#include "lib/Frontend/Engine/Recording.h"
#include "lib/Frontend/Record.h"

namespace sprig::frontend {

using Cell = Parameter::Cell;
class BatchScope;

/// The samples of all ranks of which functions with collectives are recorded.
struct SamplesOfRanks {
  std::shared_ptr<RankEnd> end; ///< null: nobody says
  int64_t rows = 0, samples = 0;
  std::vector<int64_t> weights = {};
  bool differ = false; ///< there are several shares that are not alike
  void note(const BatchScope &scope);
};

/// A parameter within a trace.
struct TracedCell {
  Parameter parameter;
  Tensor initial;            ///< its value when the function starts
  Tensor current;            ///< its value at this point of the function
  Tensor gradient;           ///< what backward() has summed up, at this point of the function
  Tensor gradientBefore;     ///< the same when the function starts, where it `sees` that there is one
  bool gradientSeen = false; ///< whether the function depends on the gradient that there was
  bool gradientSet = false;
  bool written() const { return initial.raw() != current.raw(); }
  bool changesGradient() const { return gradientSet && !(gradientSeen && gradient.raw() == gradientBefore.raw()); }
};

/// What gradients that a function takes itself need to know of the caller's lineage.
struct GradientUse {
  bool any = false;                 ///< it takes some: which of its arguments are tracked decides what is recorded
  bool all = false;                 ///< backward() was called: they are with respect to every parameter
  std::vector<uint64_t> parameters; ///< else to these, by their numbers
  std::vector<uint32_t> arguments;  ///< that they were taken through
};

struct Trace {
  enum class Kind {
    function, ///< compile(): parameters are state, random counters go on
    region,   ///< a part of an operation: what it uses of outside is captured
  };
  Trace(Kind kind, Source source);
  ~Trace();
  Trace(const Trace &) = delete;

  /// A value that stands for what the function is called with.
  Tensor input(const TensorType &type);
  /// The innermost trace of this thread, or null.
  static Trace *current();
  /// The innermost trace of compile(), or null.
  static Trace *currentFunction();

  TracedCell &cell(const Parameter &parameter);
  /// Of functions: the parameter's gradient at this point. What it was before the function becomes an input.
  Tensor gradient(const Parameter &parameter);
  void setGradient(const Parameter &parameter, Tensor gradient);

  const Kind kind;
  const Source source;
  Recording recording;
  std::vector<Tensor> inputs;
  std::vector<TracedCell> cells;    ///< of functions; of regions: parameters that the region sets
  uint64_t randomDraws = 0;         ///< of functions
  Tensor randomKey, randomBase;     ///< of functions that draw
  HostState host;                   ///< of functions
  GradientUse use;                  ///< of functions
  bool endsLineage = false;         ///< whether an optimizer's update is in it
  std::shared_ptr<RankEnd> ranks;   ///< of functions with collectives: the rank that records them
  SamplesOfRanks samples;           ///< of functions
  std::unique_ptr<GlobalStep> step; ///< of functions of all ranks' samples
  Trace *const outer;
  const bool lineageOutside; ///< whether it began outside of NoGrad
};

/// Whether what this thread records may be asked for gradients.
bool lineageIsOn();
/// Turns that on or off; what it was.
bool setLineage(bool on);

} // namespace sprig::frontend
