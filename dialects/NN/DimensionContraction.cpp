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

static DimensionRule ruleOf(ConvOp op) {
  DimensionRule rule(op);
  RankedTensorType input = tensorOf(op.getInput()), filter = tensorOf(op.getFilter());
  int64_t groups = int64_t(op.getGroups());
  ConvFactors factors(rule, input.getDimSize(0), groups, filter.getDimSize(1), filter.getDimSize(0) / groups,
                      FactorKind::passes, FactorKind::sum);
  factors.image(rule.operands[0], input, factors.input, op.getChannelsLast());
  rule.operands[1][0] = factors.all(factors.output);
  rule.operands[1][1] = {factors.input};
  factors.window(rule.operands[1], filter);
  factors.image(rule.results[0], tensorOf(op.getResult()), factors.output, op.getChannelsLast());
  rule.linear = {{0}, {1}};
  return rule;
}

static DimensionRule ruleOf(ConvTransposeOp op) {
  DimensionRule rule(op);
  RankedTensorType input = tensorOf(op.getInput()), filter = tensorOf(op.getFilter());
  int64_t groups = int64_t(op.getGroups());
  ConvFactors factors(rule, input.getDimSize(0), groups, filter.getDimSize(0) / groups, filter.getDimSize(1),
                      FactorKind::passes, FactorKind::sum);
  factors.image(rule.operands[0], input, factors.input, false);
  rule.operands[1][0] = factors.all(factors.input);
  rule.operands[1][1] = {factors.output};
  factors.window(rule.operands[1], filter);
  factors.image(rule.results[0], tensorOf(op.getResult()), factors.output, false);
  rule.linear = {{0}, {1}};
  return rule;
}

// A sum over samples: each rank's give a part of it.
static DimensionRule ruleOf(ConvFilterGradOp op) {
  DimensionRule rule(op);
  RankedTensorType input = tensorOf(op.getInput()), filter = tensorOf(op.getResult());
  int64_t groups = int64_t(op.getGroups());
  ConvFactors factors(rule, input.getDimSize(0), groups, filter.getDimSize(1), filter.getDimSize(0) / groups,
                      FactorKind::sum, FactorKind::passes);
  factors.image(rule.operands[0], input, factors.input, op.getChannelsLast());
  factors.image(rule.operands[1], tensorOf(op.getCotangent()), factors.output, op.getChannelsLast());
  rule.results[0][0] = factors.all(factors.output);
  rule.results[0][1] = {factors.input};
  factors.window(rule.results[0], filter);
  rule.linear = {{0}, {1}};
  return rule;
}

void attachContractionDimensionRules(MLIRContext *context) {
  attachDimensionRules<MatmulOp, ConvOp, ConvTransposeOp, ConvFilterGradOp>(context);
}

} // namespace sprig::ir
