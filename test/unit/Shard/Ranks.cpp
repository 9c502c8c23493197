#include "test/unit/Shard/Ranks.h"
#include "dialects/NN/NNState.h"
#include "lib/Interpreter/Compare.h"
#include "lib/Shard/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "test/unit/OpTable/InputData.h"

namespace sprig::shard {
namespace {

namespace dist = ir::dist;
using interp::Tensor;
using mlir::RankedTensorType;
using Positions = llvm::SmallVector<llvm::SmallVector<int64_t>>; // of each dimension

/// Elements of a tensor by a function of their index.
template <typename Element> Tensor make(RankedTensorType type, const Tensor &like, Element element) {
  auto fill = [&](auto zero) {
    std::vector<decltype(zero)> values(size_t(type.getNumElements()));
    for (size_t i = 0; i < values.size(); ++i) values[i] = element(int64_t(i), zero);
    return Tensor::of(type, std::move(values));
  };
  return like.isFloat() ? fill(double()) : fill(int64_t());
}
template <typename T> T at(const Tensor &tensor, int64_t i) { return tensor.elements<T>()[i]; }

Tensor partOf(const Tensor &whole, const Positions &positions) {
  llvm::SmallVector<int64_t> shape;
  for (const auto &own : positions) shape.push_back(int64_t(own.size()));
  return make(whole.type().clone(shape), whole, [&](int64_t i, auto zero) {
    int64_t from = 0, step = 1;
    for (size_t dim = shape.size(); dim-- > 0; step *= whole.shape()[dim], i /= shape[dim])
      from += positions[dim][size_t(i % shape[dim])] * step;
    return at<decltype(zero)>(whole, from);
  });
}

Positions rowsOf(const Tensor &tensor, rt::collective::Range rows) {
  Positions positions{llvm::to_vector(llvm::seq(rows.begin, rows.end))};
  for (int64_t size : tensor.shape().drop_front()) positions.push_back(llvm::to_vector(llvm::seq<int64_t>(0, size)));
  return positions;
}

Tensor joined(llvm::ArrayRef<Tensor> parts, RankedTensorType type) {
  return make(type, parts.front(), [&](int64_t i, auto zero) {
    size_t part = 0;
    while (i >= parts[part].count()) i -= parts[part++].count();
    return at<decltype(zero)>(parts[part], i);
  });
}

Tensor combined(llvm::ArrayRef<Tensor> parts, dist::Reduction reduction) {
  return make(parts.front().type(), parts.front(), [&](int64_t i, auto zero) {
    auto value = at<decltype(zero)>(parts.front(), i);
    for (const Tensor &part : parts.drop_front()) {
      auto other = at<decltype(zero)>(part, i);
      switch (reduction) {
      case dist::Reduction::sum:
      case dist::Reduction::mean: value += other; break;
      case dist::Reduction::product: value *= other; break;
      case dist::Reduction::min: value = std::min(value, other); break;
      case dist::Reduction::max: value = std::max(value, other); break;
      }
    }
    return reduction == dist::Reduction::mean ? decltype(zero)(value / decltype(zero)(parts.size())) : value;
  });
}

/// One rank's program and the values that it has so far.
struct Rank {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  mlir::Block::iterator next;
  llvm::DenseMap<mlir::Value, Tensor> values;
};

mlir::func::FuncOp functionOf(mlir::ModuleOp module) { return *module.getOps<mlir::func::FuncOp>().begin(); }
dist::MeshOp meshOf(mlir::ModuleOp module) { return *module.getOps<dist::MeshOp>().begin(); }

class Ranks {
public:
  Ranks(llvm::MutableArrayRef<Rank> ranks, Outcome &outcome) : ranks(ranks), outcome(outcome) {}

  /// Each rank by itself up to what they do together, which has to be the same.
  bool run() {
    for (Rank &rank : ranks) rank.next = rank.function.getBody().front().begin();
    for (;;) {
      for (Rank &rank : ranks)
        for (; !llvm::isa<mlir::func::ReturnOp>(*rank.next) && !dist::collectiveUse(&*rank.next); ++rank.next)
          if (!alone(rank)) return false;
      mlir::Operation &first = *ranks[0].next;
      for (Rank &rank : ranks)
        if (rank.next->getName() != first.getName()) return fail("ranks are at different operations", *rank.next);
      if (llvm::isa<mlir::func::ReturnOp>(first)) return true;
      if (!together()) return false;
      for (Rank &rank : ranks) ++rank.next;
    }
  }

private:
  bool fail(const std::string &what, mlir::Operation &op) {
    llvm::raw_string_ostream out(outcome.error);
    out << what << ": " << op;
    return false;
  }

  bool alone(Rank &rank) {
    llvm::SmallVector<Tensor> operands;
    for (mlir::Value value : rank.next->getOperands()) operands.push_back(rank.values.lookup(value));
    if (auto get = llvm::dyn_cast<ir::GetParamOp>(*rank.next)) {
      auto param = mlir::SymbolTable::lookupNearestSymbolFrom<ir::ParamOp>(get, get.getParamAttr());
      rank.values[get.getResult()] = *interp::constantTensor(param.getValue(), param.getLoc());
      return true;
    }
    std::string error;
    auto results = interp::tryEvaluate(&*rank.next, operands, interp::Precision::Double, error);
    if (mlir::failed(results)) return fail(error, *rank.next);
    for (auto [value, tensor] : llvm::zip_equal(rank.next->getResults(), *results)) {
      if (tensor.type() != value.getType()) return fail("gives another type", *rank.next);
      rank.values[value] = tensor;
    }
    return true;
  }

  bool together() {
    mlir::Operation &first = *ranks[0].next;
    ++outcome.counts[first.getName().stripDialect()];
    for (auto [number, rank] : llvm::enumerate(ranks)) {
      dist::CollectiveUse use = *dist::collectiveUse(&*rank.next);
      auto group = meshOf(*rank.module).groupOf(int64_t(number), use.axes);
      auto place = uint32_t(llvm::find(group, int64_t(number)) - group.begin()), size = uint32_t(group.size());
      for (auto [i, result] : llvm::enumerate(rank.next->getResults())) {
        llvm::SmallVector<Tensor> parts;
        for (int64_t other : group) {
          mlir::Operation &theirs = *ranks[size_t(other)].next;
          if (dist::collectiveUse(&theirs)->axes != use.axes) return fail("another group", theirs);
          parts.push_back(ranks[size_t(other)].values.lookup(theirs.getOperand(unsigned(i))));
        }
        auto type = llvm::cast<RankedTensorType>(result.getType());
        Tensor tensor;
        if (llvm::isa<dist::AllReduceOp, dist::ReduceScatterOp>(*rank.next)) {
          for (const Tensor &part : parts)
            if (part.type() != parts.front().type()) return fail("ranks add up tensors of different types", *rank.next);
          tensor = combined(parts, *use.reduction);
          if (llvm::isa<dist::ReduceScatterOp>(*rank.next))
            tensor = partOf(tensor, rowsOf(tensor, rt::collective::pieceOf(tensor.shape()[0], size, place)));
        } else if (llvm::isa<dist::AllGatherOp>(*rank.next)) {
          int64_t rows = 0;
          for (const Tensor &part : parts) rows += part.shape()[0];
          if (rows != type.getDimSize(0)) return fail("parts are not all of the result", *rank.next);
          tensor = joined(parts, type);
        } else if (llvm::isa<dist::AllToAllOp>(*rank.next)) {
          for (Tensor &part : parts)
            part = partOf(part, rowsOf(part, rt::collective::pieceOf(part.shape()[0], size, place)));
          tensor = joined(parts, type);
        } else if (llvm::isa<dist::PartOp>(*rank.next)) {
          const Tensor &own = parts[place];
          tensor = partOf(own, rowsOf(own, rt::collective::pieceOf(own.shape()[0], size, place)));
        } else {
          return fail("unexpected collective", *rank.next);
        }
        if (tensor.type() != type) return fail("gives another type", *rank.next);
        rank.values[result] = tensor;
      }
    }
    return true;
  }

  llvm::MutableArrayRef<Rank> ranks;
  Outcome &outcome;
};

Tensor partOf(const Mesh &mesh, const Tensor &whole, const Sharding &sharding, int64_t rank) {
  if (sharding.flat.empty()) {
    Positions positions;
    for (auto [size, axes] : llvm::zip_equal(whole.shape(), sharding.dims))
      positions.push_back(mesh.positionsOf(size, axes, rank));
    return partOf(whole, positions);
  }
  rt::collective::Range piece = mesh.flatPieceOf(whole.count(), sharding.flat, rank);
  return make(whole.type().clone({piece.size()}), whole, [&](int64_t i, auto zero) {
    int64_t from = piece.begin + i;
    return from < whole.count() ? at<decltype(zero)>(whole, from) : zero;
  });
}

// A rank's part of an input. Of a partial sum the ranks at place 0 have twice the value, those at place 1 what takes
// one of them away, others nothing.
Tensor inputOf(const Mesh &mesh, const Tensor &whole, const Sharding &sharding, int64_t rank) {
  Tensor part = partOf(mesh, whole, sharding, rank);
  int64_t weight = 1;
  for (unsigned axis : sharding.partial) {
    if (mesh.sizeOf(axis) == 1) continue;
    int64_t place = mesh.placeOf(rank, axis);
    weight *= place == 0 ? 2 : place == 1 ? -1 : 0;
  }
  return make(part.type(), part, [&](int64_t i, auto zero) {
    return decltype(zero)(at<decltype(zero)>(part, i) * decltype(zero)(weight));
  });
}

bool runPass(mlir::ModuleOp module, std::unique_ptr<mlir::Pass> pass) {
  mlir::PassManager passes(module.getContext());
  passes.addPass(std::move(pass));
  return mlir::succeeded(passes.run(module));
}

std::vector<Tensor> makeInputs(mlir::func::FuncOp function, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (mlir::Type type : function.getArgumentTypes()) {
    auto tensor = llvm::cast<RankedTensorType>(type);
    // Indices of three rows or classes, which all tests have.
    auto pattern = llvm::isa<mlir::FloatType>(tensor.getElementType()) ? optable::Pattern{optable::Fill::Unit}
                                                                       : optable::Pattern{optable::Fill::Index, 3};
    inputs.push_back(optable::makeInput(tensor, pattern, seed * 100 + inputs.size()));
    if (pattern.fill == optable::Fill::Index)
      inputs.back() = make(tensor, inputs.back(), [&](int64_t i, auto zero) {
        auto value = at<decltype(zero)>(inputs.back(), i);
        return value < 0 ? decltype(zero)(value + 3) : value;
      });
  }
  return inputs;
}

// States of every argument and result that has no sharding that it is replicated.
void stateReplicated(mlir::ModuleOp module) {
  Mesh mesh(meshOf(module));
  mlir::func::FuncOp function = functionOf(module);
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (!function.getArgAttr(unsigned(i), dist::kShardingAttr))
      function.setArgAttr(unsigned(i), dist::kShardingAttr, mesh.write(Sharding::replicated(type)));
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (!function.getResultAttr(unsigned(i), dist::kShardingAttr))
      function.setResultAttr(unsigned(i), dist::kShardingAttr, mesh.write(Sharding::replicated(type)));
}

Outcome compare(mlir::MLIRContext &context, llvm::StringRef text, llvm::ArrayRef<Tensor> inputs, bool propagates) {
  Outcome outcome;
  auto parse = [&] { return mlir::parseSourceString<mlir::ModuleOp>(text, &context); };
  auto failed = [&](const std::string &why) {
    outcome.error = why;
    return std::move(outcome);
  };
  auto whole = parse();
  if (!whole) return failed("does not parse");
  auto stated = parse();
  if (auto reference = whole->lookupSymbol<mlir::func::FuncOp>("whole")) {
    stated->lookupSymbol("whole")->erase();
    functionOf(*whole).erase();
  }
  if (!propagates) stateReplicated(*stated);
  if (propagates && !runPass(*stated, createPropagateShardings())) return failed("shardings do not propagate");
  // What users state is identity to the interpreter.
  whole->walk([](dist::ShardOp op) {
    op.replaceAllUsesWith(op.getX());
    op.erase();
  });
  auto wanted = interp::run(functionOf(*whole), inputs);
  if (mlir::failed(wanted)) return failed("does not run whole");

  Mesh mesh(meshOf(*stated));
  mlir::func::FuncOp sharded = functionOf(*stated);
  auto sharding = [&](mlir::Attribute attribute, mlir::Type type) {
    return mesh.read(llvm::cast<dist::ShardingAttr>(attribute), type);
  };
  std::vector<Rank> ranks(size_t(mesh.numRanks()));
  for (auto [number, rank] : llvm::enumerate(ranks)) {
    rank.module = stated->clone();
    if (!runPass(*rank.module, createPartition({int64_t(number)}))) return failed("does not partition");
    rank.function = functionOf(*rank.module);
    for (auto [i, argument] : llvm::enumerate(rank.function.getArguments())) {
      Sharding own = sharding(sharded.getArgAttr(unsigned(i), dist::kShardingAttr), inputs[i].type());
      Tensor part = inputOf(mesh, inputs[i], own, int64_t(number));
      if (part.type() != argument.getType()) return failed("argument " + std::to_string(i) + " has another type");
      rank.values[argument] = part;
    }
  }
  if (!Ranks(ranks, outcome).run()) return outcome;

  for (auto [i, result] : llvm::enumerate(*wanted)) {
    Sharding own = sharding(sharded.getResultAttr(unsigned(i), dist::kShardingAttr), result.type());
    mlir::ArrayAttr partial = mesh.namesOf(own.partial);
    for (auto [number, rank] : llvm::enumerate(ranks)) {
      llvm::SmallVector<Tensor> parts;
      for (int64_t other : meshOf(*rank.module).groupOf(int64_t(number), partial)) {
        Rank &theirs = ranks[size_t(other)];
        parts.push_back(theirs.values.lookup(theirs.next->getOperand(unsigned(i))));
      }
      Tensor got = combined(parts, own.reduction);
      Tensor part = partOf(mesh, result, own, int64_t(number));
      if (got.type() != part.type()) return failed("result " + std::to_string(i) + " has another type");
      if (interp::Difference difference = interp::compare(got, part, {1e-12, 1e-12}))
        return failed("result " + std::to_string(i) + " of rank " + std::to_string(number) + ": element " +
                      std::to_string(difference.index) + " is " + std::to_string(difference.got) + ", expected " +
                      std::to_string(difference.want));
    }
  }
  return outcome;
}

Outcome onRandomInputs(mlir::MLIRContext &context, llvm::StringRef text, uint64_t seed, bool propagates) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) return {"does not parse", {}};
  return compare(context, text, makeInputs(functionOf(*module), seed), propagates);
}

} // namespace

Outcome compareRanks(mlir::MLIRContext &context, llvm::StringRef text, llvm::ArrayRef<Tensor> inputs) {
  return compare(context, text, inputs, true);
}
Outcome compareRanks(mlir::MLIRContext &context, llvm::StringRef text, uint64_t seed) {
  return onRandomInputs(context, text, seed, true);
}
Outcome compareUnpropagated(mlir::MLIRContext &context, llvm::StringRef text, uint64_t seed) {
  return onRandomInputs(context, text, seed, false);
}

} // namespace sprig::shard
