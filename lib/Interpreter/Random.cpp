// Random bits: Philox4x32-10 as its paper has it, on one counter at a time.
#include "lib/Interpreter/Evaluation.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNLoss.h"
#include "dialects/NN/NNRandom.h"

namespace sprig::interp {
namespace {

using Words = std::array<uint32_t, 4>;

Words philox(Words counter, uint64_t key) {
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * counter[0], b = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(b >> 32) ^ counter[1] ^ k0, uint32_t(b), uint32_t(a >> 32) ^ counter[3] ^ k1, uint32_t(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return counter;
}

mlir::LogicalResult evaluatePhilox(ir::PhiloxOp op, Evaluation &e) {
  mlir::RankedTensorType type = e.resultType();
  Elements<int64_t> index = e.operands[0].integers(), key = e.operands[1].integers(),
                    counter = e.operands[2].integers();
  std::array<Strides, 3> strides;
  for (size_t i = 0; i < 3; ++i) strides[i] = broadcastStrides(e.operands[i].shape(), type.getShape());
  std::vector<int64_t> bits(type.getNumElements());
  walk(type.getShape(), strides, [&](int64_t i, const std::array<int64_t, 3> &at) {
    uint64_t n = index[at[0]], c = counter[at[2]];
    bits[i] = philox({uint32_t(n >> 2), uint32_t(op.getStream()), uint32_t(c), uint32_t(c >> 32)}, key[at[1]])[n & 3];
  });
  return e.give(Tensor::of<int64_t>(type, std::move(bits)));
}

mlir::LogicalResult evaluateClassIndex(ir::ClassIndexOp op, Evaluation &e) {
  Elements<int64_t> in = e.operands[0].integers();
  for (int64_t i = 0; i < e.operands[0].count(); ++i)
    if (in[i] < 0 || in[i] >= int64_t(op.getClasses()))
      return e.fail("gets class " + llvm::Twine(in[i]) + ", expected 0 to " +
                    llvm::Twine(int64_t(op.getClasses()) - 1));
  return e.give(e.operands[0]);
}

mlir::LogicalResult evaluateAfter(ir::AfterOp, Evaluation &e) { return e.give(e.operands[0]); }
mlir::LogicalResult evaluateStopGradient(ir::StopGradientOp, Evaluation &e) { return e.give(e.operands[0]); }

} // namespace

void addRandom(EvaluatorTable &table) {
  table.add(evaluatePhilox, evaluateClassIndex, evaluateAfter, evaluateStopGradient);
}

} // namespace sprig::interp
