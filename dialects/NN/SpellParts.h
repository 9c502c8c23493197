// Operations that are one as long as ranks may get parts of them: means of losses, their gradients and factors, and the
// gradients of batch norms that each shard has of its own.
// For differentiation, which spells them out where nobody is going to divide, and for the partition, which has divided.
#pragma once
#include "mlir/IR/Operation.h"

namespace sprig::ir {

/// Decomposes nn.loss_mean, nn.loss_mean_grad, nn.loss_scale and nn.batch_norm_train_grad within an operation.
void spellParts(mlir::Operation *root);

} // namespace sprig::ir
