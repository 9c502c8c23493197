// A function that is being recorded rather than run: for compile(), for regions of control flow, for transforms.
// For the recorder and for what makes graphs of functions. Traces nest; each belongs to one thread.
#pragma once
#include "lib/Frontend/Engine/Recording.h"
#include "lib/Frontend/Record.h"

namespace sprig::frontend {

using Cell = Parameter::Cell;

/// A parameter within a trace.
struct TracedCell {
  Parameter parameter;
  Tensor initial;  ///< its value when the function starts
  Tensor current;  ///< its value at this point of the function
  Tensor gradient; ///< what backward() has summed up within the function
  bool written() const { return initial.raw() != current.raw(); }
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

  const Kind kind;
  const Source source;
  Recording recording;
  std::vector<Tensor> inputs;
  std::vector<TracedCell> cells; ///< of functions; of regions: parameters that the region sets
  uint64_t randomDraws = 0;      ///< of functions
  Tensor randomKey, randomBase;  ///< of functions that draw
  std::vector<std::pair<std::shared_ptr<const bool>, bool>> observed;
  Trace *const outer;
};

/// Whether what this thread records may be asked for gradients.
bool lineageIsOn();

} // namespace sprig::frontend
