// The partition-ranks pass: the programs of all ranks beside each other.
#define GEN_PASS_DEF_PARTITIONRANKS
#include "lib/Shard/Passes.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNState.h"
#include "lib/Shard/PartitionRank.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::shard;
namespace dist = ir::dist;

namespace {

/// Where a rank's piece of a whole lies in it; nothing of what is no piece, or no neighbours.
DenseI64ArrayAttr pieceOf(const Mesh &mesh, Attribute said, Type type, int64_t rank) {
  Sharding sharding = mesh.read(cast<dist::ShardingAttr>(said), type);
  if (!sharding.isSplit() || !sharding.flat.empty()) return {};
  SmallVector<int64_t> numbers(cast<RankedTensorType>(type).getShape());
  for (size_t dim = 0; dim < sharding.dims.size(); ++dim) {
    auto ranges = mesh.rangesOf(numbers[dim], sharding.dims[dim], rank);
    if (ranges.size() > 1) return {};
    numbers.push_back(ranges[0].begin);
  }
  return DenseI64ArrayAttr::get(type.getContext(), numbers);
}

/// A function before it is divided, and what its ports' pieces are of.
struct Whole {
  func::FuncOp function;
  SmallVector<Type> inputs, results;
  SmallVector<Attribute> ofInputs, ofResults; // shardings
};

struct PartitionRanks : sprig::impl::PartitionRanksBase<PartitionRanks> {
  using PartitionRanksBase::PartitionRanksBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<dist::MeshOp> found = meshToPartition(module, std::max<int64_t>(rank, 0));
    if (failed(found)) return signalPassFailure();
    Mesh mesh(*found);
    std::vector<Whole> wholes;
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && failed(take(function, wholes))) return signalPassFailure();
    int64_t first = rank < 0 ? 0 : rank, end = rank < 0 ? mesh.numRanks() : rank + 1;
    SmallVector<OwningOpRef<ModuleOp>> parts;
    for (int64_t each = first; each < end; ++each) {
      parts.push_back(module.clone());
      if (failed(partitionForRank(*parts.back(), mesh, each))) return signalPassFailure();
    }
    replace(module, mesh, wholes, parts, first);
  }

private:
  static LogicalResult take(func::FuncOp function, std::vector<Whole> &wholes) {
    Whole whole{
        function, SmallVector<Type>(function.getArgumentTypes()), SmallVector<Type>(function.getResultTypes()), {}, {}};
    for (unsigned i = 0; i < whole.inputs.size(); ++i)
      whole.ofInputs.push_back(function.getArgAttr(i, dist::kShardingAttr));
    for (unsigned i = 0; i < whole.results.size(); ++i)
      whole.ofResults.push_back(function.getResultAttr(i, dist::kShardingAttr));
    for (Attribute each : llvm::concat<Attribute>(whole.ofInputs, whole.ofResults)) {
      if (!each)
        return function.emitOpError() << "has an argument or a result without a sharding, which "
                                         "sprig-propagate-shardings gives them";
      if (!cast<dist::ShardingAttr>(each).getPartial().empty())
        return function.emitOpError() << "takes or gives a partial value " << each << ", which cannot be put together";
    }
    wholes.push_back(std::move(whole));
    return success();
  }

  /// Parameters that are split become one of each rank, the others stay what all share.
  static void replace(ModuleOp module, const Mesh &mesh, ArrayRef<Whole> wholes,
                      MutableArrayRef<OwningOpRef<ModuleOp>> parts, int64_t firstRank) {
    SymbolTable symbols(module);
    SmallVector<Operation *> replaced;
    for (auto param : module.getOps<ir::ParamOp>()) {
      auto said = dyn_cast_or_null<dist::ShardingAttr>(param->removeAttr(dist::kShardingAttr));
      if (!said || !mesh.read(said, param.getTensorType()).isSplit()) continue;
      replaced.push_back(param);
      for (auto [number, part] : llvm::enumerate(parts))
        addParam(module, symbols, param, *part, firstRank + int64_t(number));
    }
    for (const Whole &whole : wholes)
      for (auto [number, part] : llvm::enumerate(parts))
        addFunction(module, symbols, mesh, whole, *part, firstRank + int64_t(number));
    for (const Whole &whole : wholes) replaced.push_back(whole.function);
    for (Operation *op : replaced) symbols.erase(op);
  }

  static StringAttr nameOfRank(const SymbolTable &symbols, ModuleOp part, StringRef name, int64_t rank) {
    std::string base = (name + "_rank" + Twine(rank)).str(), unique = base;
    SymbolTable own(part);
    for (unsigned number = 0; symbols.lookup(unique) || own.lookup(unique); ++number)
      unique = base + "_" + std::to_string(number);
    return StringAttr::get(part.getContext(), unique);
  }

  static void addParam(ModuleOp module, SymbolTable &symbols, ir::ParamOp whole, ModuleOp part, int64_t rank) {
    auto own = part.lookupSymbol<ir::ParamOp>(whole.getSymNameAttr());
    StringAttr name = nameOfRank(symbols, part, whole.getSymName(), rank);
    [[maybe_unused]] LogicalResult ok = SymbolTable::replaceAllSymbolUses(own, name, part);
    assert(succeeded(ok) && "all uses are ops that are known");
    own.setSymNameAttr(name);
    own->moveBefore(whole);
    symbols.insert(own);
  }

  static void addFunction(ModuleOp module, SymbolTable &symbols, const Mesh &mesh, const Whole &whole, ModuleOp part,
                          int64_t rank) {
    Builder b(module.getContext());
    func::FuncOp original = whole.function;
    auto own = part.lookupSymbol<func::FuncOp>(original.getSymNameAttr());
    if (!own->hasAttr(ir::kEntryAttr)) own->setAttr(ir::kEntryAttr, original.getSymNameAttr());
    own->setAttr(dist::kRankAttr, b.getI64IntegerAttr(rank));
    own->setAttr(dist::kMeshAttr, mesh.symbol());
    for (auto [i, type] : llvm::enumerate(whole.inputs))
      if (auto piece = pieceOf(mesh, whole.ofInputs[i], type, rank))
        own.setArgAttr(unsigned(i), dist::kPieceAttr, piece);
    for (auto [i, type] : llvm::enumerate(whole.results))
      if (auto piece = pieceOf(mesh, whole.ofResults[i], type, rank))
        own.setResultAttr(unsigned(i), dist::kPieceAttr, piece);
    own.setSymNameAttr(nameOfRank(symbols, part, original.getSymName(), rank));
    own->moveBefore(original);
    symbols.insert(own);
  }
};

} // namespace
