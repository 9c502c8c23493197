// Lanes that no cost model would choose: what the memory plan and the runtime must stand all the same.
// For RandomNetworksTest.cpp.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <cstdint>

namespace sprig::randoms {

/// Puts the commands of programs of one lane, as the phase `schedule` leaves them, into another order in which they can
/// run, on lanes at random, with an event wherever a command touches what one on another lane has touched.
void scatter(mlir::ModuleOp module, unsigned lanes, uint64_t seed);

} // namespace sprig::randoms
