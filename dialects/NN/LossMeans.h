// Means of losses and their factors, which stay operations as long as ranks may get parts of them.
// For differentiation, which spells them out where nobody is going to divide, and for the partition, which divides.
#pragma once
#include "mlir/IR/Operation.h"

namespace sprig::ir {

/// Makes sums, divisions and products of nn.loss_mean, nn.loss_mean_grad and nn.loss_scale within an operation.
void spellLossMeans(mlir::Operation *root);

} // namespace sprig::ir
