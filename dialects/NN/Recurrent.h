// The activation functions and the gates' places of recurrent layers, read off an operation's attributes.
// For inference, decomposition and the interpreter. Of a verified operation every name is known, and every place.
#pragma once
#include "dialects/NN/NNDialect.h"
#include <optional>

namespace sprig::ir {

enum class RecurrentFunction {
  sigmoid,
  tanh,
  relu,
  affine,      ///< alpha * x + beta
  leakyRelu,   ///< alpha * x below zero
  elu,         ///< alpha * (exp(x) - 1) below zero
  hardSigmoid, ///< max(0, min(1, alpha * x + beta))
  scaledTanh,  ///< alpha * tanh(beta * x)
  softsign,
  softplus,
  thresholdedRelu, ///< x above alpha, else 0
};

std::optional<RecurrentFunction> recurrentFunctionByName(llvm::StringRef name);

struct RecurrentActivation {
  RecurrentFunction function;
  double alpha = 0, beta = 0;
};

/// The activations of nn.rnn, nn.gru or nn.lstm, or `defaults` where it names none.
template <typename OpT>
llvm::SmallVector<RecurrentActivation> recurrentActivations(OpT op, llvm::ArrayRef<RecurrentFunction> defaults) {
  llvm::SmallVector<RecurrentActivation> result;
  for (RecurrentFunction function : defaults) result.push_back({function});
  auto names = op.getActivationsAttr();
  if (!names) return result;
  for (auto [i, name] : llvm::enumerate(names.template getAsRange<mlir::StringAttr>())) {
    result[i].function = *recurrentFunctionByName(name.getValue());
    if (op.getAlphas()) result[i].alpha = (*op.getAlphas())[i];
    if (op.getBetas()) result[i].beta = (*op.getBetas())[i];
  }
  return result;
}

/// Where a gate of a layer, counted in the dialect's order, lies among the blocks of its weights.
template <typename OpT> int64_t gateBlock(OpT op, int64_t gate) {
  if constexpr (requires { op.getGateBlocks(); })
    if (op.getGateBlocks()) return (*op.getGateBlocks())[gate];
  return gate;
}

} // namespace sprig::ir
