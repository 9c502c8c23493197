#include "lib/Training/LossExpression.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNLoss.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNUnary.h"

using namespace mlir;

namespace sprig::training {

using ir::Expression;

bool isOfClasses(const LossConfig &loss) {
  return loss.kind == LossKind::softmaxCrossEntropy || loss.kind == LossKind::nll;
}

SmallVector<Value> splitTargets(Expression &e, TypeRange outputs, const TrainConfig &config, Value targets) {
  auto type = Expression::typeOf(targets);
  // Real targets come as f32.
  auto like = [&](Value part, Type output) {
    if (!isa<FloatType>(type.getElementType())) return part;
    return e.cast(part, cast<RankedTensorType>(output).getElementType());
  };
  if (outputs.size() == 1) return {like(targets, outputs[0])};
  SmallVector<int64_t> starts(type.getRank(), 0), steps(type.getRank(), 1), sizes(type.getShape());
  SmallVector<Value> parts;
  for (auto [output, loss] : llvm::zip_equal(outputs, config.losses)) {
    auto outputType = cast<RankedTensorType>(output);
    bool ofClasses = isOfClasses(loss);
    sizes.back() = ofClasses ? 1 : outputType.getShape().back();
    Value part = ir::SliceOp::create(e.b, e.loc, targets, starts, sizes, steps);
    starts.back() += sizes.back();
    part =
        ofClasses ? e.reshape(e.cast(part, e.b.getI64Type()), outputType.getShape().drop_back()) : like(part, output);
    parts.push_back(part);
  }
  return parts;
}

static Value lossOf(Expression &e, const LossConfig &config, Value x, Value t, bool isSum) {
  auto type = Expression::typeOf(x);
  bool isMean = config.reduction == Reduction::mean && !isSum;
  auto reduction = isMean ? ir::LossReduction::mean : ir::LossReduction::sum;
  Value weights;
  if (!config.classWeights.empty())
    weights = e.constant({int64_t(config.classWeights.size())}, type.getElementType(), config.classWeights);
  auto ignored = config.ignoreIndex ? e.b.getI64IntegerAttr(*config.ignoreIndex) : IntegerAttr();
  auto kind = ir::LossReductionAttr::get(e.b.getContext(), reduction);
  auto real = [&](double value) { return e.b.getF64FloatAttr(value); };
  switch (config.kind) {
  case LossKind::softmaxCrossEntropy:
    return ir::CrossEntropyOp::create(e.b, e.loc, kind, x, t, weights, ignored, real(config.labelSmoothing));
  case LossKind::nll: return ir::NllLossOp::create(e.b, e.loc, kind, x, t, weights, ignored);
  case LossKind::mse: return ir::MseLossOp::create(e.b, e.loc, kind, x, t);
  case LossKind::l1: return ir::L1LossOp::create(e.b, e.loc, kind, x, t);
  case LossKind::huber: return ir::HuberLossOp::create(e.b, e.loc, kind, x, t, real(config.delta));
  case LossKind::binaryCrossEntropy: return ir::BceLossOp::create(e.b, e.loc, kind, x, t);
  case LossKind::bceWithLogits:
    return ir::BceWithLogitsLossOp::create(e.b, e.loc, kind, x, t,
                                           config.positiveWeight ? real(*config.positiveWeight) : FloatAttr());
  case LossKind::klDivergence: {
    bool isBatchMean = config.reduction == Reduction::batchMean;
    if (isBatchMean) kind = ir::LossReductionAttr::get(e.b.getContext(), ir::LossReduction::none);
    Value loss = ir::KlDivLossOp::create(e.b, e.loc, kind, x, t, config.logTarget ? e.b.getUnitAttr() : UnitAttr());
    return isBatchMean ? ir::LossMeanOp::create(e.b, e.loc, loss, 1) : loss;
  }
  }
  return {};
}

static Value scaled(Expression &e, Value loss, double factor) {
  return ir::LossScaleOp::create(e.b, e.loc, loss, e.splat(loss, factor), e.b.getF64FloatAttr(factor));
}

// Means over what counts, be it by class weights or without what is ignored, depend on the classes of all samples.
static bool addsUp(const LossConfig &loss) {
  return loss.reduction == Reduction::sum || (!loss.ignoreIndex && loss.classWeights.empty());
}

/// How much of the targets counts in the mean of a loss of so many classes: the weights of the targets' classes,
/// without what is ignored; a scalar of this element type.
static Value countedWeight(Expression &e, const LossConfig &loss, Value targets, int64_t classes, Type element) {
  Value counted;
  if (loss.ignoreIndex) {
    counted = e.compare(ir::ComparePredicate::ne, targets, e.splat(targets, double(*loss.ignoreIndex)));
    targets = e.select(counted, targets, e.splat(targets, 0));
  }
  targets = ir::ClassIndexOp::create(e.b, e.loc, targets, classes);
  std::vector<double> each = loss.classWeights;
  if (each.empty()) each.assign(size_t(classes), 1);
  Value weights = e.constant({classes}, element, each);
  Value rows = ir::GatherOp::create(e.b, e.loc, weights, targets, /*axis=*/0);
  return e.sumOfAll(counted ? e.select(counted, rows, e.splat(rows, 0)) : rows);
}

/// The element type that losses of outputs of these types are added up in: f64 where one of them is, else f32.
static Type lossElement(TypeRange outputs) {
  auto isDouble = [](Type type) { return cast<RankedTensorType>(type).getElementType().isF64(); };
  auto *context = outputs.front().getContext();
  return llvm::any_of(outputs, isDouble) ? Type(Float64Type::get(context)) : Type(Float32Type::get(context));
}

Value totalLoss(Expression &e, ValueRange outputs, ValueRange targets, const TrainConfig &config) {
  Value total;
  Type element = lossElement(outputs.getTypes());
  for (auto [output, target, loss] : llvm::zip_equal(outputs, targets, config.losses)) {
    Value value = e.cast(lossOf(e, loss, output, target, /*isSum=*/false), element);
    if (loss.scale != 1) value = scaled(e, value, loss.scale);
    total = total ? e.add(total, value) : value;
  }
  return total;
}

LossSums lossSums(Expression &e, ValueRange outputs, ValueRange targets, const TrainConfig &config,
                  ArrayRef<int64_t> classes) {
  LossSums result;
  Type element = lossElement(outputs.getTypes());
  for (auto [i, output, target, loss] : llvm::enumerate(outputs, targets, config.losses)) {
    Value value = e.cast(lossOf(e, loss, output, target, /*isSum=*/!addsUp(loss)), element);
    if (loss.scale != 1) value = scaled(e, value, loss.scale);
    if (loss.reduction == Reduction::sum) {
      result.added = result.added ? e.add(result.added, value) : value;
      continue;
    }
    double samples = double(Expression::typeOf(output).getDimSize(0));
    result.sums.push_back(addsUp(loss) ? scaled(e, value, samples) : value);
    result.weights.push_back(addsUp(loss) ? e.constant({}, element, {samples})
                                          : countedWeight(e, loss, target, classes[i], element));
  }
  return result;
}

Accuracy accuracy(Expression &e, ValueRange outputs, ValueRange targets, const TrainConfig &config) {
  auto i64 = RankedTensorType::get({}, e.b.getI64Type());
  auto number = [&](int64_t n) -> Value {
    return ir::ConstantOp::create(e.b, e.loc, i64, ir::makeSplat(i64, double(n)));
  };
  Accuracy sum{number(0), number(0)};
  for (auto [output, target, loss] : llvm::zip_equal(outputs, targets, config.losses)) {
    auto type = Expression::typeOf(output);
    Value right, counted;
    if (isOfClasses(loss)) {
      Value guess = ir::ArgReduceOp::create(e.b, e.loc, ir::ReduceKind::max, output, type.getRank() - 1,
                                            /*keep_dims=*/false, /*last_index=*/false);
      right = e.compare(ir::ComparePredicate::eq, guess, e.cast(target, e.b.getI64Type()));
      if (loss.ignoreIndex) {
        counted = e.compare(ir::ComparePredicate::ne, target, e.splat(target, double(*loss.ignoreIndex)));
        right = e.binary<ir::AndOp>(right, counted);
      }
    } else if (loss.kind == LossKind::binaryCrossEntropy || loss.kind == LossKind::bceWithLogits) {
      double border = loss.kind == LossKind::binaryCrossEntropy ? 0.5 : 0;
      Value guess = e.compare(ir::ComparePredicate::ge, output, e.splat(output, border));
      right = e.unary<ir::NotOp>(
          e.binary<ir::XorOp>(guess, e.compare(ir::ComparePredicate::ge, target, e.splat(target, 0.5))));
    } else {
      continue;
    }
    auto count = [&](Value mask) { return e.sumOfAll(e.cast(mask, e.b.getI64Type())); };
    sum.correct = e.add(sum.correct, count(right));
    sum.count = e.add(sum.count, counted ? count(counted) : number(Expression::typeOf(right).getNumElements()));
  }
  return sum;
}

} // namespace sprig::training
