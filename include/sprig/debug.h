// Finds the operation that makes a NaN or an infinity.
// For programs that train: slow, so it is on where something is to be found. The bits of values stay the same.
//
//   DetectNonFinite detect;
//   loss.backward(); // throws: "net.cpp:12: log gives -infinity in 3xf32; found in the value that is differentiated"
#pragma once
#include "sprig/tensor.h"

namespace sprig {

/// While it lives, what this thread computes is checked where it matters: outputs of grad() and backward(), gradients,
/// next values of parameters and states, and what is read. One that is not finite throws Error (runtime), which
/// names the operation that made the number, its layer and its line; of a gradient, the line of the forward operation.
/// A NaN that was made of an infinity is reported with the origin of that one. An infinity that leads to none of these
/// values (a mask that softmax makes zeros of) is no fault, nor are numbers that the program gives itself and only
/// reads or sets. Compiled functions run operation by operation meanwhile, as they are written. The next value of a
/// parameter is checked before it is set. Values from before are known by their types alone.
class SPRIG_API DetectNonFinite {
public:
  DetectNonFinite();
  ~DetectNonFinite();
  DetectNonFinite(const DetectNonFinite &) = delete;
  DetectNonFinite &operator=(const DetectNonFinite &) = delete;

private:
  const bool outer;
};

} // namespace sprig
