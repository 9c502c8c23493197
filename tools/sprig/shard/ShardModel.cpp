#include "tools/sprig/shard/ShardModel.h"
#include "dialects/Dist/Dist.h"
#include "dialects/NN/NNState.h"
#include "lib/Pipeline/Diagnostics.h"
#include "lib/Shard/Passes.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "tools/sprig/MeshFlags.h"
#include "tools/sprig/compile/ImportModel.h"
#include "tools/sprig/shard/SplitModel.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace sprig::cli {
namespace {

namespace dist = ir::dist;

int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * storageBytes(tensor.getElementType());
}

/// The mesh as an operation in front of all others.
dist::MeshOp addMesh(ModuleOp module, const std::string &text) {
  Builder b(module.getContext());
  llvm::SmallVector<Attribute> names;
  llvm::SmallVector<int64_t> sizes;
  for (const MeshAxis &axis : parseMesh(text)) {
    names.push_back(b.getStringAttr(axis.name));
    sizes.push_back(axis.ranks);
  }
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto mesh = dist::MeshOp::create(builder, module.getLoc(), "mesh", b.getArrayAttr(names), sizes);
  SymbolTable(module).insert(mesh);
  DiagnosticText errors(module.getContext());
  if (failed(mesh.verify())) throw Error(ErrorKind::usage, "--mesh " + text + ": " + errors.take());
  return mesh;
}

/// What "data,-" says about a tensor.
dist::ShardingAttr parseSharding(const std::string &given, llvm::StringRef text, dist::MeshOp mesh, Type type,
                                 const std::string &name) {
  auto refuse = [&](const std::string &why) { return Error(ErrorKind::usage, "--shard " + given + ": " + why); };
  MLIRContext *context = mesh.getContext();
  llvm::SmallVector<llvm::StringRef> parts;
  if (!text.empty()) text.split(parts, ',');
  llvm::SmallVector<ArrayAttr> dims;
  for (llvm::StringRef part : parts) {
    llvm::SmallVector<llvm::StringRef> axes;
    llvm::SmallVector<Attribute> named;
    if (part != "-") part.split(axes, '+');
    for (llvm::StringRef axis : axes) named.push_back(StringAttr::get(context, axis));
    dims.push_back(ArrayAttr::get(context, named));
  }
  DiagnosticText errors(context);
  auto sharding =
      dist::ShardingAttr::getChecked([&] { return emitError(mesh.getLoc()); }, context,
                                     FlatSymbolRefAttr::get(mesh.getSymNameAttr()), llvm::ArrayRef<ArrayAttr>(dims));
  SymbolTableCollection symbols;
  if (!sharding || failed(dist::verifySharding(mesh, symbols, sharding, type, "'" + llvm::Twine(name) + "'")))
    throw refuse(errors.take());
  return sharding;
}

/// States one sharding of whatever has that name: inputs and outputs of functions, and parameters.
void state(ModuleOp module, dist::MeshOp mesh, const std::string &given) {
  size_t equals = given.rfind('=');
  if (equals == std::string::npos)
    throw Error(ErrorKind::usage, "--shard " + given + ": expected NAME=AXIS,-,...: the axes of each dimension");
  std::string name = given.substr(0, equals), text = given.substr(equals + 1);
  bool isFound = false;
  std::string known;
  auto isIt = [&](const std::string &other) {
    known += (known.empty() ? "" : ", ") + other;
    isFound |= other == name;
    return other == name;
  };
  for (auto function : module.getOps<func::FuncOp>()) {
    for (auto [i, each] : llvm::enumerate(ir::argumentNames(function)))
      if (isIt(each))
        function.setArgAttr(unsigned(i), dist::kShardingAttr,
                            parseSharding(given, text, mesh, function.getArgumentTypes()[i], name));
    for (auto [i, each] : llvm::enumerate(ir::resultNames(function)))
      if (isIt(each))
        function.setResultAttr(unsigned(i), dist::kShardingAttr,
                               parseSharding(given, text, mesh, function.getResultTypes()[i], name));
  }
  for (auto param : module.getOps<ir::ParamOp>())
    if (isIt(param.getSymName().str()))
      param->setAttr(dist::kShardingAttr, parseSharding(given, text, mesh, param.getTensorType(), name));
  if (!isFound) throw Error(ErrorKind::usage, "--shard " + given + ": there is no '" + name + "'; there are " + known);
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

void runPass(ModuleOp module, std::unique_ptr<Pass> pass, bool ofFunctions) {
  DiagnosticText errors(module.getContext());
  PassManager passes(module.getContext());
  if (ofFunctions)
    passes.addNestedPass<func::FuncOp>(std::move(pass));
  else
    passes.addPass(std::move(pass));
  if (failed(passes.run(module))) errors.raise(ErrorKind::unsupported, "the model cannot be split");
}

dist::MeshOp stateShardings(ModuleOp module, const ShardRequest &request) {
  module.getContext()->loadDialect<dist::DistDialect>();
  dist::MeshOp mesh = addMesh(module, request.mesh);
  for (const std::string &given : request.shardings) state(module, mesh, given);
  return mesh;
}

/// What both have that look at a split model and that compile it.
void propagate(ModuleOp module) {
  runPass(module, createDifferentiate(), true);
  runPass(module, createPropagateShardings({/*parameters=*/true}), false);
}

} // namespace

void splitModel(ModuleOp module, const ShardRequest &request) {
  stateShardings(module, request);
  propagate(module);
  runPass(module, createPartitionRanks({request.rank}), false);
}

ShardReport shardModel(const Model &model, const EntryRequest &entry, const Settings &settings,
                       const ShardRequest &request) {
  ImportedModel imported(model, {entry}, settings);
  ModuleOp module = imported.module();
  dist::MeshOp mesh = stateShardings(module, request);
  ShardReport report;
  report.ranks = mesh.numRanks();
  if (request.rank >= report.ranks)
    throw Error(ErrorKind::usage, "--rank " + std::to_string(request.rank) + ": --mesh " + request.mesh + " has " +
                                      std::to_string(report.ranks) + " ranks, counted from 0");
  report.wholeParameterBytes = parameterBytes(module);
  propagate(module);
  report.values = namedValues(module);
  runPass(module, createPartition({request.rank}), false);
  for (auto [whole, part] : llvm::zip_equal(report.values, namedValues(module))) whole.part = part.type;
  report.parameterBytes = parameterBytes(module);
  report.collectives = countCollectives(module);
  llvm::raw_string_ostream program(report.program);
  module.print(program); // with what large constants name
  program << "\n";
  return report;
}

} // namespace sprig::cli
