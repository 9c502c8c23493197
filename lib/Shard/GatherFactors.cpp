// The gather-factors pass: a sum over ranks of large products becomes the product of what they gather.
#define GEN_PASS_DEF_GATHERFACTORS
#include "lib/Shard/Passes.h"
#include "dialects/NN/ExpressionBuilder.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Shard/FactorRule.h"
#include "lib/Shard/Mesh.h"
#include "lib/Shard/SampleRows.h"
#include "runtime/collective/Shares.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace sprig;
namespace dist = ir::dist;

namespace {

using ir::Expression;

/// What ranks' values are rows of together.
struct Rows {
  int64_t ranks = 1;
  int64_t own = 0;   ///< samples of this rank, where the program is one rank's; 0: all ranks have one program
  int64_t given = 0; ///< those that it gives, then: where shares are by weights as many as the largest has, filled with
                     ///< zeros, which add nothing
  int64_t all = 0;   ///< those that all give
  int64_t ofAll(int64_t rows) const { return own ? rows / own * all : rows * ranks; }
};

/// A product that ranks sum up, and what is done with it before they do, in that order.
struct SummedProduct {
  dist::AllReduceOp sum;
  ir::MatmulOp product;
  SmallVector<Operation *> between;
  int64_t contractedLeft() { return product.getTransposeLhs() ? 0 : 1; }
  int64_t contractedRight() { return product.getTransposeRhs() ? 1 : 0; }
};

bool isMatrix(Value value) { return Expression::typeOf(value).getRank() == 2; }

/// Of a product with one number the number, in few enough dimensions to be multiplied with a matrix; else null.
Value scalarOf(Operation *op) {
  if (!isa<ir::MulOp>(op)) return {};
  for (unsigned i : {1, 0}) {
    auto type = Expression::typeOf(op->getOperand(i));
    bool isScaled = op->getOperand(1 - i).getType() == op->getResult(0).getType();
    if (isScaled && type.getNumElements() == 1 && type.getRank() <= 2) return op->getOperand(i);
  }
  return {};
}

Value scaledOf(Operation *op) { return op->getOperand(scalarOf(op) == op->getOperand(0) ? 1 : 0); }

/// Reshapes, transposes and scalings that nobody else reads.
Operation *throughLinear(Value value, SmallVector<Operation *> &between) {
  while (Operation *op = value.getDefiningOp()) {
    if (!value.hasOneUse()) return nullptr;
    if (!isa<ir::ReshapeOp, ir::TransposeOp>(op) && !scalarOf(op)) {
      std::reverse(between.begin(), between.end());
      return op;
    }
    between.push_back(op);
    value = scaledOf(op);
  }
  return nullptr;
}

std::string nameOf(dist::AllReduceOp sum) {
  auto name = sum.getLoc()->findInstanceOf<NameLoc>();
  return name ? name.getName().str() : "a value";
}

/// "a, b and 3 more"
std::string listed(ArrayRef<std::string> names) {
  constexpr size_t shown = 8;
  std::string text;
  size_t first = std::min(names.size(), shown);
  for (size_t i = 0; i < first; ++i) text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  if (names.size() > first) text += " and " + std::to_string(names.size() - first) + " more";
  return text;
}

class Gatherer {
public:
  Gatherer(func::FuncOp function, const std::vector<int64_t> &weights, bool always, bool divide)
      : function(function), weights(weights), always(always), divide(divide) {}

  /// In words what was done; empty: nothing.
  std::string run();

private:
  std::optional<Rows> rowsOf(dist::AllReduceOp sum);
  std::optional<SummedProduct> match(dist::AllReduceOp sum);
  bool isWorthIt(SummedProduct &found, const Rows &rows) const;
  Value gatherRows(Location loc, Value part, int64_t rows, dist::AllReduceOp sum);
  Value gather(Value factor, dist::AllReduceOp sum, const Rows &rows);
  Value multiply(Expression &e, Value left, Value right, dist::AllReduceOp sum, int64_t ranks);
  void replaceProduct(SummedProduct &found, const Rows &rows);
  bool replaceRowSum(dist::AllReduceOp sum);
  void replace(dist::AllReduceOp sum, Value value);

  func::FuncOp function;
  const std::vector<int64_t> &weights; ///< of ranks' shares; none: even ones
  bool always, divide;
  SymbolTableCollection symbols;
  /// What was gathered, by the value without its reshapes, the number of columns and the group.
  using Factor = std::tuple<Value, int64_t, Attribute, Attribute>;
  Factor keyOf(Value value, int64_t columns, dist::AllReduceOp sum) const {
    return {value, columns, sum.getMeshAttr(), sum.getAxesAttr()};
  }
  llvm::DenseMap<Factor, Value> gathered;
  int64_t bytesGathered = 0, bytesSummed = 0;
};

/// Null where ranks' rows are not known: of a rank's own program they have to be the samples that go into the step,
/// and all ranks have to have two at least, since programs of one sample are of another form.
std::optional<Rows> Gatherer::rowsOf(dist::AllReduceOp sum) {
  auto mesh = symbols.lookupNearestSymbolFrom<dist::MeshOp>(sum, sum.getMeshAttr());
  auto rank = function->getAttrOfType<IntegerAttr>(dist::kRankAttr);
  SmallVector<int64_t> group = mesh.groupOf(rank ? rank.getInt() : 0, sum.getAxes());
  Rows rows;
  rows.ranks = int64_t(group.size());
  if (rows.ranks < 2) return std::nullopt;
  if (!rank) return rows;
  auto samples = function->getAttrOfType<IntegerAttr>(dist::kSamplesAttr);
  // What is not marked may be of another form on other ranks.
  if (!samples || !sum->hasAttr(dist::kLateAttr) || (!weights.empty() && weights.size() != group.size()))
    return std::nullopt;
  auto shares = llvm::map_to_vector(llvm::seq<uint32_t>(0, uint32_t(rows.ranks)), [&](uint32_t place) {
    return rt::collective::shareOf(samples.getInt(), uint32_t(rows.ranks), weights, place).size();
  });
  if (*llvm::min_element(shares) < 2) return std::nullopt;
  rows.own = rows.given = shares[llvm::find(group, rank.getInt()) - group.begin()];
  rows.all = samples.getInt();
  auto isPiece = [&](size_t place) {
    return rt::collective::pieceOf(rows.all, uint32_t(rows.ranks), uint32_t(place)).size() == shares[place];
  };
  if (llvm::all_of(llvm::seq<size_t>(0, shares.size()), isPiece)) return rows;
  rows.given = *llvm::max_element(shares);
  rows.all = rows.given * rows.ranks;
  return rows;
}

std::optional<SummedProduct> Gatherer::match(dist::AllReduceOp sum) {
  SummedProduct found{sum, {}, {}};
  found.product = dyn_cast_or_null<ir::MatmulOp>(throughLinear(sum.getOperands()[0], found.between));
  if (!found.product || !isMatrix(found.product.getLhs()) || !isMatrix(found.product.getRhs())) return std::nullopt;
  return found;
}

bool Gatherer::isWorthIt(SummedProduct &found, const Rows &rows) const {
  ir::MatmulOp product = found.product;
  auto result = Expression::typeOf(product.getResult());
  int64_t own = Expression::typeOf(product.getLhs()).getDimSize(found.contractedLeft());
  if (own == 0 || result.getNumElements() == 0) return false;
  shard::FactoredSum sum{rows.ofAll(own), result.getDimSize(0), result.getDimSize(1),
                         shard::bytesOf(product.getResult()) / result.getNumElements()};
  if (!shard::gathersFactors(sum, rows.ranks, always)) return false;
  return !rows.own || (shard::leadsWithSamples(product.getLhs(), found.contractedLeft(), rows.own) &&
                       shard::leadsWithSamples(product.getRhs(), found.contractedRight(), rows.own));
}

Value withoutReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ir::ReshapeOp>()) value = reshape.getOperand();
  return value;
}

/// Of a matrix whose rows ranks have those of all, as soon as it is there. Once for all who need it.
Value Gatherer::gather(Value factor, dist::AllReduceOp sum, const Rows &rows) {
  Value value = withoutReshapes(factor);
  auto type = Expression::typeOf(factor);
  Value &all = gathered[keyOf(value, type.getDimSize(1), sum)];
  if (all) {
    if (!sum->hasAttr(dist::kLateAttr)) withoutReshapes(all).getDefiningOp()->removeAttr(dist::kLateAttr);
    return all;
  }
  OpBuilder b(function.getContext());
  b.setInsertionPointAfterValue(value);
  Expression e(b, NameLoc::get(b.getStringAttr("factor of " + nameOf(sum))));
  // Samples are what ranks divide, be there several rows of each.
  int64_t own = rows.own ? rows.own : type.getDimSize(0), of = rows.own ? rows.all : own * rows.ranks;
  Value part = e.reshape(value, {own, type.getNumElements() / own});
  if (int64_t more = rows.given - rows.own; more > 0)
    part = ir::PadOp::create(b, e.loc, ir::PadMode::constant, part, e.splat(part, 0), ArrayRef<int64_t>{0, 0},
                             ArrayRef<int64_t>{more, 0});
  auto whole = Expression::typeOf(part).clone({of, type.getNumElements() / own});
  auto op = dist::AllGatherOp::create(b, e.loc, TypeRange(whole), ValueRange(part), sum.getMeshAttr(),
                                      sum.getAxesAttr(), StringAttr());
  if (sum->hasAttr(dist::kLateAttr)) op->setAttr(dist::kLateAttr, b.getUnitAttr());
  bytesGathered += shard::bytesOf(op.getResult(0));
  return all = e.reshape(op.getResult(0), {rows.ofAll(type.getDimSize(0)), type.getDimSize(1)});
}

/// All of it, or with `divide` this rank's part of its rows, which all then gather: the same chains.
Value Gatherer::multiply(Expression &e, Value left, Value right, dist::AllReduceOp sum, int64_t ranks) {
  auto type = Expression::typeOf(left);
  int64_t all = type.getDimSize(1);
  if (!divide || all % ranks)
    return ir::MatmulOp::create(e.b, e.loc, left, right, /*transpose_lhs=*/true, /*transpose_rhs=*/false);
  Value rows = ir::TransposeOp::create(e.b, e.loc, left, ArrayRef<int64_t>{1, 0});
  Value part = dist::PartOp::create(e.b, e.loc, type.clone({all / ranks, type.getDimSize(0)}), rows, sum.getMeshAttr(),
                                    sum.getAxesAttr(), StringAttr());
  Value product = e.matmul(part, right, /*transposeRhs=*/false);
  auto whole = type.clone({all, Expression::typeOf(product).getDimSize(1)});
  auto gather = dist::AllGatherOp::create(e.b, sum.getLoc(), TypeRange(whole), ValueRange(product), sum.getMeshAttr(),
                                          sum.getAxesAttr(), StringAttr());
  if (sum->hasAttr(dist::kLateAttr)) gather->setAttr(dist::kLateAttr, e.b.getUnitAttr());
  bytesGathered += shard::bytesOf(gather.getResult(0));
  return gather.getResult(0);
}

// What scales the product scales a factor: ranks may scale by different numbers.
void Gatherer::replaceProduct(SummedProduct &found, const Rows &rows) {
  OpBuilder b(found.product);
  Expression e(b, found.product.getLoc());
  auto byRows = [&](Value factor, int64_t contracted) -> Value {
    if (contracted == 0) return factor;
    auto transposed = factor.getDefiningOp<ir::TransposeOp>();
    if (transposed && transposed.getPermutation()[0] == 1) return transposed.getOperand();
    return ir::TransposeOp::create(b, e.loc, factor, ArrayRef<int64_t>{1, 0});
  };
  Value left = byRows(found.product.getLhs(), found.contractedLeft());
  Value right = byRows(found.product.getRhs(), found.contractedRight());
  for (Operation *op : found.between) {
    Value scalar = scalarOf(op);
    if (!scalar) continue;
    Value &smaller = Expression::typeOf(left).getDimSize(1) < Expression::typeOf(right).getDimSize(1) ? left : right;
    b.setInsertionPoint(op);
    smaller = e.mul(smaller, scalar);
  }
  left = gather(left, found.sum, rows);
  right = gather(right, found.sum, rows);
  b.setInsertionPoint(found.sum);
  Value value = multiply(e, left, right, found.sum, rows.ranks);
  for (Operation *op : found.between) {
    if (scalarOf(op)) continue;
    IRMapping map;
    map.map(op->getOperand(0), value);
    value = b.clone(*op, map)->getResult(0);
  }
  replace(found.sum, value);
}

/// A bias's gradient, the sum of the rows of a factor that is gathered anyway.
bool Gatherer::replaceRowSum(dist::AllReduceOp sum) {
  SmallVector<Operation *> between;
  auto reduce = dyn_cast_or_null<ir::ReduceOp>(throughLinear(sum.getOperands()[0], between));
  if (!reduce || reduce.getKind() != ir::ReduceKind::sum || llvm::any_of(between, scalarOf)) return false;
  // All dimensions but the last.
  auto type = Expression::typeOf(reduce.getOperand());
  if (!llvm::equal(reduce.getAxes(), llvm::seq<int64_t>(0, type.getRank() - 1))) return false;
  if (type.getRank() < 2) return false;
  auto all = gathered.find(keyOf(withoutReshapes(reduce.getOperand()), type.getShape().back(), sum));
  if (all == gathered.end()) return false;
  OpBuilder b(sum);
  Expression e(b, reduce.getLoc());
  // In the sum's own dimensions: one rank with all samples takes it so.
  SmallVector<int64_t> shape(type.getShape());
  shape.front() = Expression::typeOf(all->second).getNumElements() / (type.getNumElements() / shape.front());
  Value value = e.reduce(ir::ReduceKind::sum, e.reshape(all->second, shape), reduce.getAxes(), /*keepDims=*/false);
  replace(sum, e.reshape(value, Expression::typeOf(sum.getResult(0)).getShape()));
  return true;
}

void Gatherer::replace(dist::AllReduceOp sum, Value value) {
  bytesSummed += shard::bytesOf(value);
  Operation *op = sum.getOperands()[0].getDefiningOp();
  sum.getResult(0).replaceAllUsesWith(value);
  sum.erase();
  while (op && op->use_empty() && isPure(op)) { // what led to it alone
    Operation *before = op->getNumOperands() ? op->getOperand(0).getDefiningOp() : nullptr;
    op->erase();
    op = before;
  }
}

std::string Gatherer::run() {
  SmallVector<std::string> products, rowSums;
  SmallVector<dist::AllReduceOp> others;
  int64_t ranks = 1;
  for (auto sum : llvm::to_vector(function.getBody().front().getOps<dist::AllReduceOp>())) {
    if (sum.getReduction() != dist::Reduction::sum || sum.getOperands().size() != 1 || sum.getAlgorithmAttr()) continue;
    std::optional<Rows> rows = rowsOf(sum);
    std::optional<SummedProduct> found = rows ? match(sum) : std::nullopt;
    if (!found || !isWorthIt(*found, *rows)) {
      if (rows) others.push_back(sum);
      continue;
    }
    ranks = rows->ranks;
    products.push_back(nameOf(sum));
    replaceProduct(*found, *rows);
  }
  if (products.empty()) return "";
  for (dist::AllReduceOp sum : others) {
    std::string name = nameOf(sum);
    if (replaceRowSum(sum)) rowSums.push_back(name);
  }
  auto sent = [&](int64_t bytes) { return std::to_string(bytes * (ranks - 1) / ranks); };
  return "factors of " + listed(products) + " are gathered" +
         (rowSums.empty() ? "" : ", and with them " + listed(rowSums)) + ": a rank sends " + sent(bytesGathered) +
         " bytes in place of " + sent(2 * bytesSummed);
}

struct GatherFactors : sprig::impl::GatherFactorsBase<GatherFactors> {
  using GatherFactorsBase::GatherFactorsBase;
  GatherFactors(GatherFactorsOptions options, FactorReport report)
      : GatherFactorsBase(std::move(options)), report(std::move(report)) {}

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !function.getBody().hasOneBlock()) return;
    const std::vector<int64_t> ofRanks(weights.begin(), weights.end());
    std::string text = Gatherer(function, ofRanks, always, divide).run();
    if (text.empty()) return;
    if (report) report(function, text);
    remark::analysis(function.getLoc(), remark::RemarkOpts::name("factors").category("schedule"))
        << "'" + function.getSymName().str() + "': " + text;
  }

  FactorReport report;
};

} // namespace

std::unique_ptr<Pass> sprig::createGatherFactors(GatherFactorsOptions options, FactorReport report) {
  return std::make_unique<GatherFactors>(std::move(options), std::move(report));
}
