// Elementwise functions over arrays of any length and broadcasting: operands that are not as large as the result are
// written out, chunk by chunk.
// For the elementwise operations.
#pragma once
#include "lib/Frontend/Generic/Call.h"

namespace sprig::frontend::generic {

/// A function of `count` neighbouring elements: of up to three operands into one result.
struct Body {
  void (*run)(const void *context, const void *const *in, void *out, int64_t count);
  const void *context;
  bool tiles = false;   ///< works on whole tiles: reads and writes up to the next multiple of kTile elements
  bool checked = false; ///< fails on values, so that what it reads must be elements
};

/// Runs the body over the call's first result. Results never share memory with operands.
void runElementwise(const Call &call, const Body &body);

} // namespace sprig::frontend::generic
