// The state-shardings pass: where things lie on a mesh, by their own names.
#define GEN_PASS_DEF_STATESHARDINGS
#include "lib/Shard/Passes.h"
#include "lib/Shard/StateShardings.h"
#include "dialects/Dist/Dist.h"
#include "dialects/NN/NNState.h"
#include "dialects/NN/PortNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/collective/MeshText.h"
#include "llvm/ADT/StringExtras.h"
#include <functional>
#include <vector>

using namespace mlir;
using namespace sprig;
namespace dist = ir::dist;

namespace {

/// What verifiers say while it lives, behind the file's name.
class VerifierText {
public:
  explicit VerifierText(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (auto file = dyn_cast<FileLineColLoc>(diagnostic.getLocation())) text += file.getFilename().str() + ": ";
          text += diagnostic.str();
        }) {}
  std::string text;

private:
  ScopedDiagnosticHandler handler;
};

llvm::Error refuse(StringRef flag, StringRef given, const Twine &why) {
  return llvm::createStringError(flag + " " + given + ": " + why);
}

llvm::Error refuseSharding(StringRef given, const Twine &why) { return refuse("--shard", given, why); }

/// The mesh in front of all other operations, or the one that is there already.
llvm::Expected<dist::MeshOp> addMesh(ModuleOp module, StringRef text) {
  std::vector<rt::collective::MeshAxis> axes;
  if (std::string why = rt::collective::parseMesh(text, axes); !why.empty()) return refuse("--mesh", text, why);
  Builder b(module.getContext());
  SmallVector<Attribute> names;
  SmallVector<int64_t> sizes;
  for (const rt::collective::MeshAxis &axis : axes) {
    names.push_back(b.getStringAttr(axis.name));
    sizes.push_back(axis.ranks);
  }
  for (auto there : module.getOps<dist::MeshOp>())
    if (there.getAxes() == b.getArrayAttr(names) && there.getSizes() == ArrayRef(sizes)) return there;
  OpBuilder detached(module.getContext());
  auto mesh = dist::MeshOp::create(detached, module.getLoc(), "mesh", b.getArrayAttr(names), sizes);
  SymbolTable(module).insert(mesh, module.getBody()->begin()); // by another name where that one is taken
  VerifierText wrong(module.getContext());
  if (succeeded(mesh.verify())) return mesh;
  mesh.erase();
  return refuse("--mesh", text, wrong.text);
}

/// What "data,-" says about a tensor.
llvm::Expected<dist::ShardingAttr> parseSharding(StringRef given, StringRef name, StringRef text, dist::MeshOp mesh,
                                                 Type type) {
  MLIRContext *context = mesh.getContext();
  SmallVector<StringRef> parts;
  if (!text.empty()) text.split(parts, ',');
  SmallVector<ArrayAttr> dims;
  for (StringRef part : parts) {
    SmallVector<StringRef> axes;
    if (part != "-") part.split(axes, '+');
    dims.push_back(Builder(context).getStrArrayAttr(axes));
  }
  VerifierText wrong(context);
  auto sharding =
      dist::ShardingAttr::getChecked([&] { return emitError(mesh.getLoc()); }, context,
                                     FlatSymbolRefAttr::get(mesh.getSymNameAttr()), ArrayRef<ArrayAttr>(dims));
  SymbolTableCollection symbols;
  if (!sharding || failed(dist::verifySharding(mesh, symbols, sharding, type, "'" + name + "'")))
    return refuseSharding(given, wrong.text);
  return sharding;
}

/// What shardings can be stated of, each by its name.
struct Named {
  std::string name;
  Type type;
  std::function<void(Attribute)> set;
};

std::vector<Named> namedIn(ModuleOp module) {
  std::vector<Named> all;
  for (auto function : module.getOps<func::FuncOp>()) {
    for (auto [i, name] : llvm::enumerate(ir::argumentNames(function)))
      all.push_back({name, function.getArgumentTypes()[i], [function, i](Attribute sharding) mutable {
                       function.setArgAttr(unsigned(i), dist::kShardingAttr, sharding);
                     }});
    for (auto [i, name] : llvm::enumerate(ir::resultNames(function)))
      all.push_back({name, function.getResultTypes()[i], [function, i](Attribute sharding) mutable {
                       function.setResultAttr(unsigned(i), dist::kShardingAttr, sharding);
                     }});
  }
  for (auto param : module.getOps<ir::ParamOp>())
    all.push_back({param.getSymName().str(), param.getTensorType(),
                   [param](Attribute sharding) mutable { param->setAttr(dist::kShardingAttr, sharding); }});
  return all;
}

/// States one sharding of all that have that name.
llvm::Error state(ArrayRef<Named> all, dist::MeshOp mesh, StringRef given) {
  auto [name, text] = given.rsplit('=');
  if (name.size() == given.size()) return refuseSharding(given, "expected NAME=AXIS,-,...: the axes of each dimension");
  bool isFound = false;
  for (const Named &each : all) {
    if (each.name != name) continue;
    auto sharding = parseSharding(given, name, text, mesh, each.type);
    if (!sharding) return sharding.takeError();
    each.set(*sharding);
    isFound = true;
  }
  if (isFound) return llvm::Error::success();
  auto names = llvm::map_range(all, [](const Named &each) -> StringRef { return each.name; });
  return refuseSharding(given, "there is no '" + name + "'; there are " + llvm::join(names, ", "));
}

/// The mesh, on which all is stated.
llvm::Expected<dist::MeshOp> stateAll(ModuleOp module, StringRef text, ArrayRef<std::string> shardings) {
  module.getContext()->loadDialect<dist::DistDialect>();
  llvm::Expected<dist::MeshOp> mesh = addMesh(module, text);
  if (!mesh) return mesh;
  std::vector<Named> all = namedIn(module);
  for (const std::string &given : shardings)
    if (llvm::Error error = state(all, *mesh, given)) return error;
  return mesh;
}

struct StateShardings : sprig::impl::StateShardingsBase<StateShardings> {
  using StateShardingsBase::StateShardingsBase;

  void runOnOperation() override {
    SmallVector<std::string> given(shardings.begin(), shardings.end());
    if (llvm::Error error = shard::stateShardings(getOperation(), mesh, given)) {
      getOperation().emitError() << llvm::toString(std::move(error));
      signalPassFailure();
    }
  }
};

} // namespace

llvm::Error sprig::shard::stateShardings(ModuleOp module, StringRef mesh, ArrayRef<std::string> shardings) {
  return stateAll(module, mesh, shardings).takeError();
}

llvm::Error sprig::shard::checkShardings(ModuleOp module, StringRef mesh, ArrayRef<std::string> shardings,
                                         int64_t rank) {
  OwningOpRef<ModuleOp> copy = module.clone();
  llvm::Expected<dist::MeshOp> stated = stateAll(*copy, mesh, shardings);
  if (!stated) return stated.takeError();
  int64_t ranks = stated->numRanks();
  if (rank < ranks) return llvm::Error::success();
  return llvm::createStringError("--rank " + Twine(rank) + ": --mesh " + mesh + " has " + Twine(ranks) +
                                 " ranks, counted from 0");
}
