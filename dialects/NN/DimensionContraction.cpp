// Dimension rules of matrix products and convolutions.
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/DimensionRules.h"

using namespace mlir;

namespace sprig::ir {

static DimensionRule ruleOf(MatmulOp op) {
  DimensionRule rule(op);
  RankedTensorType lhs = tensorOf(op.getLhs()), rhs = tensorOf(op.getRhs()), result = tensorOf(op.getResult());
  int64_t rank = result.getRank();
  for (int64_t dim = 0; dim < rank - 2; ++dim) { // leading dimensions broadcast
    unsigned factor = rule.addFactor(result.getDimSize(dim));
    rule.result(0, dim, factor);
    for (unsigned i = 0; i < 2; ++i) {
      RankedTensorType type = i ? rhs : lhs;
      int64_t own = dim - rank + type.getRank();
      if (own >= 0 && type.getDimSize(own) == result.getDimSize(dim)) rule.operand(i, own, factor);
    }
  }
  bool lhsTurned = op.getTransposeLhs(), rhsTurned = op.getTransposeRhs();
  int64_t lhsRow = lhs.getRank() - (lhsTurned ? 1 : 2), lhsDepth = lhs.getRank() - (lhsTurned ? 2 : 1);
  int64_t rhsDepth = rhs.getRank() - (rhsTurned ? 1 : 2), rhsColumn = rhs.getRank() - (rhsTurned ? 2 : 1);
  unsigned rows = rule.addFactor(lhs.getDimSize(lhsRow)), columns = rule.addFactor(rhs.getDimSize(rhsColumn));
  unsigned depth = rule.addFactor(lhs.getDimSize(lhsDepth), FactorKind::sum);
  rule.operand(0, lhsRow, rows), rule.result(0, rank - 2, rows);
  rule.operand(1, rhsColumn, columns), rule.result(0, rank - 1, columns);
  rule.operand(0, lhsDepth, depth), rule.operand(1, rhsDepth, depth);
  rule.linear = {{0}, {1}};
  return rule;
}

namespace {
/// The factors that convolutions have: samples, and channels in groups, those of the input and of the output.
struct ConvFactors {
  ConvFactors(DimensionRule &rule, int64_t samples, int64_t groups, int64_t inputs, int64_t outputs,
              FactorKind ofSamples, FactorKind ofInputs)
      : rule(rule), samples(rule.addFactor(samples, ofSamples)) {
    if (groups > 1) group = rule.addFactor(groups);
    input = rule.addFactor(inputs, ofInputs);
    output = rule.addFactor(outputs);
  }
  /// The factors of a dimension of all channels.
  DimensionRule::Dim all(unsigned channels) const {
    return group ? DimensionRule::Dim{*group, channels} : DimensionRule::Dim{channels};
  }
  /// [N, C, spatial...] or [N, spatial..., C], whose spatial dimensions must be whole.
  void image(DimensionRule::Map &map, RankedTensorType type, unsigned channels, bool channelsLast) const {
    int64_t channelDim = channelsLast ? type.getRank() - 1 : 1;
    for (int64_t dim = 1; dim < type.getRank(); ++dim) map[size_t(dim)] = whole(type.getDimSize(dim));
    map[0] = {samples};
    map[size_t(channelDim)] = all(channels);
  }
  void window(DimensionRule::Map &map, RankedTensorType type) const {
    for (int64_t dim = 2; dim < type.getRank(); ++dim) map[size_t(dim)] = whole(type.getDimSize(dim));
  }
  DimensionRule::Dim whole(int64_t size) const { return {rule.addFactor(size, FactorKind::whole)}; }

  DimensionRule &rule;
  unsigned samples, input, output;
  std::optional<unsigned> group;
};
} // namespace

/// Where groups of a convolution are split, each rank has fewer. They are the factor after the samples.
template <typename OpT>
  requires requires(OpT op) { op.getGroups(); }
static void fitParts(OpT part, const DimensionRule &, ArrayRef<int64_t> sizes) {
  if (part.getGroups() > 1) part.setGroups(uint64_t(sizes[1]));
}

/// Of operands 0 and 1 and result 2: images in, at 0, the filter and images out. Filters are of outputs by inputs; of
/// inputs by outputs where the convolution is transposed. A filter that is the result is a sum over samples, of which
/// each rank's give a part.
static DimensionRule ruleOfConv(Operation *op, int64_t groups, unsigned filter, bool channelsLast,
                                bool isTransposed = false) {
  DimensionRule rule(op);
  const unsigned output = 3 - filter;
  auto mapOf = [&](unsigned i) -> DimensionRule::Map & { return i < 2 ? rule.operands[i] : rule.results[0]; };
  auto typeOf = [&](unsigned i) { return tensorOf(i < 2 ? op->getOperand(i) : op->getResult(0)); };
  const int64_t ofGroup = typeOf(filter).getDimSize(0) / groups, behind = typeOf(filter).getDimSize(1);
  const bool sumsSamples = filter == 2;
  ConvFactors factors(rule, typeOf(0).getDimSize(0), groups, isTransposed ? ofGroup : behind,
                      isTransposed ? behind : ofGroup, sumsSamples ? FactorKind::sum : FactorKind::passes,
                      sumsSamples ? FactorKind::passes : FactorKind::sum);
  factors.image(mapOf(0), typeOf(0), factors.input, channelsLast);
  factors.image(mapOf(output), typeOf(output), factors.output, channelsLast);
  mapOf(filter)[0] = factors.all(isTransposed ? factors.input : factors.output);
  mapOf(filter)[1] = {isTransposed ? factors.output : factors.input};
  factors.window(mapOf(filter), typeOf(filter));
  rule.linear = {{0}, {1}};
  return rule;
}

static DimensionRule ruleOf(ConvOp op) { return ruleOfConv(op, op.getGroups(), 1, op.getChannelsLast()); }
static DimensionRule ruleOf(ConvTransposeOp op) {
  return ruleOfConv(op, op.getGroups(), 1, false, /*isTransposed=*/true);
}
static DimensionRule ruleOf(ConvFilterGradOp op) { return ruleOfConv(op, op.getGroups(), 2, op.getChannelsLast()); }

void attachContractionDimensionRules(MLIRContext *context) {
  attachDimensionRules<MatmulOp, ConvOp, ConvTransposeOp, ConvFilterGradOp>(context);
}

} // namespace sprig::ir
