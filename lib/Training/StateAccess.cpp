#include "lib/Training/StateAccess.h"
#include "dialects/NN/NNState.h"

using namespace mlir;

namespace sprig::training {

StateAccess::StateAccess(ModuleOp module, func::FuncOp function)
    : module(module), function(function), symbols(module) {}

Value StateAccess::initial(StringRef name) {
  Value &read = reads[name];
  if (read) return read;
  auto param = symbols.lookup<ir::ParamOp>(name);
  assert(param && "state is declared before it is read");
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  return read = ir::GetParamOp::create(b, NameLoc::get(param.getSymNameAttr(), param.getLoc()), param.getTensorType(),
                                       FlatSymbolRefAttr::get(param.getSymNameAttr()));
}

Value StateAccess::get(StringRef name) {
  auto found = updates.find(StringAttr::get(module.getContext(), name));
  return found == updates.end() ? initial(name) : found->second;
}

void StateAccess::set(StringRef name, Value value) { updates[StringAttr::get(module.getContext(), name)] = value; }

Operation *StateAccess::declare(StringRef name, RankedTensorType type, double value) {
  if (Operation *there = symbols.lookup(name)) return there;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto param =
      ir::ParamOp::create(b, module.getLoc(), name, ir::makeSplat(type, value), /*sym_visibility=*/StringAttr());
  symbols.insert(param);
  return param;
}

void StateAccess::declareLike(StringRef name, StringRef other) {
  if (symbols.lookup(name)) return;
  auto model = symbols.lookup<ir::ParamOp>(other);
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  symbols.insert(ir::ParamOp::create(b, model.getLoc(), name, model.getValue(), /*sym_visibility=*/StringAttr()));
}

void StateAccess::finish(OpBuilder &builder) {
  for (auto [name, value] : updates)
    ir::SetParamOp::create(builder, value.getLoc(), FlatSymbolRefAttr::get(name), value);
}

} // namespace sprig::training
