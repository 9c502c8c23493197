#include "tools/sprig/shard/ShardModel.h"
#include "dialects/Dist/Dist.h"
#include "dialects/NN/NNState.h"
#include "lib/Pipeline/Diagnostics.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Shard/PartitionRank.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "tools/sprig/compile/ImportModel.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace sprig::cli {
namespace {

namespace dist = ir::dist;

int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * storageBytes(tensor.getElementType());
}

std::string describe(Attribute attribute) {
  auto sharding = dyn_cast_or_null<dist::ShardingAttr>(attribute);
  std::string text;
  for (ArrayAttr axes : sharding ? sharding.getDims() : llvm::ArrayRef<ArrayAttr>()) {
    std::string part;
    for (Attribute axis : axes) part += (part.empty() ? "" : "+") + dist::axisOf(axis).getValue().str();
    text += (text.empty() ? "" : ",") + (part.empty() ? "-" : part);
  }
  if (sharding && !sharding.getPartial().empty()) {
    text += " partial";
    for (StringAttr axis : sharding.getPartial().getAsRange<StringAttr>()) text += " " + axis.getValue().str();
  }
  return text.empty() ? "-" : text;
}

/// Every value that has a name, whole and with its sharding; parts come from the rank's program, in the same order.
std::vector<ShardReport::Value> namedValues(ModuleOp module) {
  std::vector<ShardReport::Value> values;
  auto add = [&](const char *what, const std::string &name, Type type, Attribute sharding) {
    values.push_back({what, name, ir::describe(type), describe(sharding), ""});
  };
  for (auto function : module.getOps<func::FuncOp>())
    for (auto [i, name] : llvm::enumerate(ir::argumentNames(function)))
      add("input", name, function.getArgumentTypes()[i], function.getArgAttr(unsigned(i), dist::kShardingAttr));
  for (auto param : module.getOps<ir::ParamOp>()) {
    Attribute sharding = param->getAttr(dist::kShardingAttr);
    llvm::SmallVector<llvm::StringRef> none(size_t(param.getTensorType().getRank()), "-");
    add("parameter", param.getSymName().str(), param.getTensorType(), sharding);
    if (!sharding && !none.empty()) values.back().sharding = llvm::join(none, ",");
  }
  for (auto function : module.getOps<func::FuncOp>())
    for (auto [i, name] : llvm::enumerate(ir::resultNames(function)))
      add("output", name, function.getResultTypes()[i], function.getResultAttr(unsigned(i), dist::kShardingAttr));
  return values;
}

int64_t parameterBytes(ModuleOp module) {
  int64_t bytes = 0;
  for (auto param : module.getOps<ir::ParamOp>()) bytes += bytesOf(param.getTensorType());
  return bytes;
}

std::vector<ShardReport::Collective> countCollectives(ModuleOp module) {
  llvm::MapVector<llvm::StringRef, ShardReport::Collective> kinds;
  module.walk([&](Operation *op) {
    if (!dist::collectiveUse(op)) return;
    ShardReport::Collective &kind = kinds[op->getName().stripDialect()];
    kind.kind = op->getName().stripDialect().str();
    ++kind.count;
    for (auto [from, to] : llvm::zip_equal(op->getOperandTypes(), op->getResultTypes()))
      kind.bytes += std::max(bytesOf(from), bytesOf(to));
  });
  std::vector<ShardReport::Collective> list;
  for (auto &[name, kind] : kinds) list.push_back(kind);
  return list;
}

} // namespace

void takeShards(const ShardRequest &request, CompileOptions &options) {
  options.mesh = request.mesh;
  options.shardings = request.shardings;
  options.rank = request.rank;
}

ShardReport shardModel(const Model &model, const EntryRequest &entry, const Settings &settings,
                       const ShardRequest &request) {
  ImportedModel imported(model, {entry}, settings);
  ModuleOp module = imported.module();
  CompileOptions options;
  options.compileFrom = settings.compileFrom;
  takeShards(request, options);
  runPhases(module, options, "differentiate");
  // As the phase `shard` does it, of one rank and without what it does to its parts.
  DiagnosticText errors(module.getContext());
  auto require = [&](bool isDone) {
    if (!isDone) errors.raise(ErrorKind::unsupported, "the model cannot be split");
  };
  PassManager passes(module.getContext());
  addShardingPasses(passes, options);
  require(succeeded(passes.run(module)));
  auto found = shard::meshToPartition(module, request.rank);
  require(succeeded(found));
  shard::Mesh mesh(*found);
  ShardReport report;
  report.ranks = mesh.numRanks();
  report.wholeParameterBytes = parameterBytes(module);
  report.values = namedValues(module);
  require(succeeded(shard::partitionForRank(module, mesh, request.rank)));
  for (auto [whole, part] : llvm::zip_equal(report.values, namedValues(module))) whole.part = part.type;
  report.parameterBytes = parameterBytes(module);
  report.collectives = countCollectives(module);
  llvm::raw_string_ostream program(report.program);
  module.print(program); // with what large constants name
  program << "\n";
  return report;
}

} // namespace sprig::cli
