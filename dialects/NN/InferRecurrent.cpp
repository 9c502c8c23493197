// Result types of recurrent layers.
#include "dialects/NN/Infer.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/Recurrent.h"
#include <numeric>

using namespace mlir;

namespace sprig::ir {

std::optional<RecurrentFunction> recurrentFunctionByName(StringRef name) {
  static constexpr StringLiteral names[] = {
      "sigmoid",      "tanh",        "relu",     "affine",   "leaky_relu",      "elu",
      "hard_sigmoid", "scaled_tanh", "softsign", "softplus", "thresholded_relu"};
  for (auto [i, each] : llvm::enumerate(names))
    if (each == name) return RecurrentFunction(i);
  return std::nullopt;
}

namespace {
/// The checks that all layers share.
template <typename Adaptor> class Layer {
public:
  Layer(const Inference &infer, Adaptor op, int64_t gates, int64_t functions)
      : infer(infer), op(op), gates(gates), functions(functions) {}

  LogicalResult check() {
    const auto &segments = op.getProperties().operandSegmentSizes;
    if (std::accumulate(segments.begin(), segments.end(), size_t(0)) != op.getOperands().size())
      return infer.fail("has ", op.getOperands().size(), " operands, but segments of another number");
    auto input = infer.tensor(op.getInput(), "input"), recurrence = infer.tensor(op.getRecurrence(), "recurrence");
    if (failed(input) || failed(recurrence)) return failure();
    if (input->getRank() != 3)
      return infer.fail("takes input of steps, batch and features, got ", describe(*input), " of rank ",
                        input->getRank());
    if (recurrence->getRank() != 2)
      return infer.fail("takes a recurrence of rank 2, got ", describe(*recurrence), " of rank ",
                        recurrence->getRank());
    type = *input;
    hidden = recurrence->getDimSize(kIsOfBytes ? 0 : 1);
    if (type.getDimSize(0) < 1) return infer.fail("runs over no steps: input is ", describe(type));
    int64_t batch = type.getDimSize(1);
    if (failed(checkWeights()) || failed(expect(op.getInitialH(), "initial_h", {batch, hidden})) ||
        (op.getBias() && failed(expect(op.getBias(), "bias", {2 * gates * hidden}))))
      return failure();
    if (op.getLengths()) {
      auto lengths = infer.tensor(op.getLengths(), "lengths");
      if (failed(lengths)) return failure();
      if (lengths->getShape() != ArrayRef<int64_t>(batch))
        return infer.fail("has lengths ", describe(*lengths), " for ", batch, " rows of input ", describe(type));
    }
    return checkFunctions();
  }

  LogicalResult expect(Value value, StringRef name, ArrayRef<int64_t> shape) {
    auto own = infer.tensor(value, name);
    if (failed(own) || failed(infer.sameElementType(type, "input", *own, name))) return failure();
    return expectShape(*own, name, shape);
  }

  LogicalResult give(int64_t states) {
    if (failed(infer.give({type.getDimSize(0), type.getDimSize(1), hidden}, type.getElementType()))) return failure();
    for (int64_t i = 0; i < states; ++i)
      if (failed(infer.give({type.getDimSize(1), hidden}, type.getElementType()))) return failure();
    return success();
  }

  /// Of layers that have gates.
  LogicalResult checkGates() {
    DenseI64ArrayAttr blocks = op.getGateBlocksAttr();
    if (!blocks) return success();
    SmallVector<int64_t> sorted(blocks.asArrayRef()), all(gates);
    std::iota(all.begin(), all.end(), 0);
    llvm::sort(sorted);
    if (sorted != all)
      return infer.fail("has gates in the blocks ", blocks, "; expected each number from 0 to ", gates - 1, " once");
    return success();
  }

  RankedTensorType type; // of the input
  int64_t hidden = 0;

private:
  /// Weights of bytes have a row for each of what they are multiplied by, others a column.
  static constexpr bool kIsOfBytes = requires(Adaptor a) { a.getWeightScale(); };

  LogicalResult expectShape(RankedTensorType own, StringRef name, ArrayRef<int64_t> shape) {
    if (own.getShape() == shape) return success();
    return infer.fail("has ", name, " ", describe(own), "; with ", hidden, " hidden units and input ", describe(type),
                      " it is ", describe(RankedTensorType::get(shape, own.getElementType())));
  }

  LogicalResult checkWeights() {
    const int64_t columns = gates * hidden;
    if constexpr (kIsOfBytes)
      return failure(
          failed(checkBytes(op.getWeight(), op.getWeightScale(), op.getWeightZero(), "weight", type.getDimSize(2))) ||
          failed(
              checkBytes(op.getRecurrence(), op.getRecurrenceScale(), op.getRecurrenceZero(), "recurrence", hidden)));
    else
      return failure(failed(expect(op.getWeight(), "weight", {columns, type.getDimSize(2)})) ||
                     failed(expect(op.getRecurrence(), "recurrence", {columns, hidden})));
  }

  LogicalResult checkBytes(Value matrix, Value scale, Value zero, StringRef name, int64_t depth) {
    const int64_t columns = gates * hidden;
    auto own = infer.tensor(matrix, name);
    if (failed(own) || failed(expectShape(*own, name, {depth, columns}))) return failure();
    auto isSpread = [&](Value value, const char *suffix, RankedTensorType model, StringRef modelName) {
      std::string parameter = (name + suffix).str();
      auto each = infer.tensor(value, parameter);
      if (failed(each) || failed(infer.sameElementType(model, modelName, *each, parameter))) return failure();
      if (each->getRank() == 0 || each->getShape() == ArrayRef<int64_t>(columns)) return success();
      return infer.fail("has ", parameter, " ", describe(*each), "; expected one number or ", columns,
                        ", one for each column of ", name, " ", describe(*own));
    };
    return failure(failed(isSpread(scale, "_scale", type, "input")) || failed(isSpread(zero, "_zero", *own, name)));
  }

  LogicalResult checkFunctions() {
    if (ArrayAttr names = op.getActivationsAttr()) {
      if (int64_t(names.size()) != functions)
        return infer.fail("has ", names.size(), " activations; expected ", functions);
      for (auto name : names.getAsRange<StringAttr>())
        if (!recurrentFunctionByName(name.getValue()))
          return infer.fail("has the activation '", name.getValue(), "', which is not known");
    }
    for (auto [values, name] : {std::pair(op.getAlphasAttr(), "alphas"), std::pair(op.getBetasAttr(), "betas")})
      if (values && (values.size() != functions || !op.getActivationsAttr()))
        return infer.fail("has ", values.size(), " ", name, " for ", op.getActivationsAttr() ? functions : int64_t(0),
                          " named activations");
    if (op.getClipAttr() && !(op.getClipAttr().getValueAsDouble() > 0))
      return infer.fail("clips at ", op.getClipAttr().getValueAsDouble(), "; expected a positive number");
    return success();
  }

  const Inference &infer;
  Adaptor op;
  int64_t gates, functions;
};
} // namespace

LogicalResult RnnOp::inferTypes(const Inference &infer, Adaptor op) {
  Layer layer(infer, op, 1, 1);
  return failed(layer.check()) ? failure() : layer.give(1);
}

LogicalResult GruOp::inferTypes(const Inference &infer, Adaptor op) {
  Layer layer(infer, op, 3, 2);
  if (failed(layer.check()) || failed(layer.checkGates())) return failure();
  if (auto blocks = op.getGateBlocks(); blocks && !op.getLinearBeforeReset() && (*blocks)[2] == 1)
    return infer.fail("has its third gate in block 1, between the others; without linear_before_reset expected 0 or 2");
  return layer.give(1);
}

LogicalResult LstmOp::inferTypes(const Inference &infer, Adaptor op) {
  Layer layer(infer, op, 4, 3);
  if (failed(layer.check()) || failed(layer.checkGates()) ||
      failed(layer.expect(op.getInitialC(), "initial_c", {layer.type.getDimSize(1), layer.hidden})) ||
      (op.getPeephole() && failed(layer.expect(op.getPeephole(), "peephole", {3 * layer.hidden}))))
    return failure();
  return layer.give(2);
}

LogicalResult LstmIntegerOp::inferTypes(const Inference &infer, Adaptor op) {
  Layer layer(infer, op, 4, 3);
  if (failed(layer.check()) ||
      failed(layer.expect(op.getInitialC(), "initial_c", {layer.type.getDimSize(1), layer.hidden})) ||
      (op.getPeephole() && failed(layer.expect(op.getPeephole(), "peephole", {3 * layer.hidden}))))
    return failure();
  return layer.give(2);
}

} // namespace sprig::ir
