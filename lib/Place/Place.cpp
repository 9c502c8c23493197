#include "dialects/NN/NNState.h"
#include "lib/Place/FunctionPlacement.h"
#include "lib/Place/Passes.h"
#include "lib/Target/Registry.h"

namespace sprig {
#define GEN_PASS_DEF_PLACE
#include "lib/Place/Passes.h.inc"
} // namespace sprig

using namespace mlir;
using namespace sprig;

namespace {
struct Place : sprig::impl::PlaceBase<Place> {
  using PlaceBase::PlaceBase;
  Place(PlaceOptions options, std::function<void(const Placement &)> explain)
      : PlaceBase(std::move(options)), explain(std::move(explain)) {}

  void runOnOperation() override {
    if (devices.size() < 2) return;
    ModuleOp module = getOperation();
    place::Devices available;
    std::vector<std::pair<std::string, std::string>> pinned;
    if (failed(readDevices(available)) || failed(readPins(available, pinned))) return signalPassFailure();
    Builder b(&getContext());
    module->setAttr(kernel::kDevicesAttr,
                    b.getStrArrayAttr(SmallVector<StringRef>(available.names.begin(), available.names.end())));
    llvm::DenseMap<Attribute, unsigned> homes;
    for (func::FuncOp function : updatesFirst(module)) {
      if (function.isExternal() || !function.getBody().hasOneBlock()) continue;
      place::FunctionPlacement placement(function, available, pinned, homes);
      placement.choose();
      placement.write(homes);
      if (explain) explain(placement.explain());
    }
    for (auto param : module.getOps<ir::ParamOp>())
      kernel::setDevice(param, homes.lookup(FlatSymbolRefAttr::get(param.getSymNameAttr())));
  }

private:
  LogicalResult readDevices(place::Devices &available) {
    const Target *code = targetForPass(getOperation(), target);
    if (!code) return failure();
    auto names = place::parseDevices(SmallVector<std::string>(devices.begin(), devices.end()), target);
    if (!names) return getOperation().emitError(llvm::toString(names.takeError()));
    available.names = std::move(*names);
    CompileOptions options;
    if (!architectures.empty()) options.architectures.assign(architectures.begin(), architectures.end());
    available.machine = code->machine(options);
    // Shares of the processor divide its threads.
    auto isShare = [&](const std::string &name) { return StringRef(name).starts_with("cpu:"); };
    int64_t all = threads ? int64_t(threads) : available.machine.threads;
    int64_t shares = std::max<int64_t>(1, llvm::count_if(available.names, isShare)), number = 0;
    for (const std::string &name : available.names) {
      bool share = isShare(name);
      available.threads.push_back(share ? int(std::max<int64_t>(1, all / shares + (number < all % shares))) : 1);
      number += share;
    }
    return success();
  }

  LogicalResult readPins(const place::Devices &available, std::vector<std::pair<std::string, std::string>> &pinned) {
    for (const std::string &pin : pins) {
      auto [layer, device] = StringRef(pin).rsplit('=');
      if (layer.empty() || !place::deviceNumber(device, available.names))
        return getOperation().emitError("pin '")
               << pin << "': expected layer=device with a device of " << llvm::join(available.names, ", ");
      pinned.emplace_back(layer.str(), device.str());
    }
    return success();
  }

  // A parameter lives where it is updated, which other functions then have to know.
  static SmallVector<func::FuncOp> updatesFirst(ModuleOp module) {
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    auto updates = [](func::FuncOp function) {
      return !function.isExternal() && !function.getBody().front().getOps<ir::SetParamOp>().empty();
    };
    llvm::stable_sort(functions, [&](func::FuncOp a, func::FuncOp b) { return updates(a) && !updates(b); });
    return functions;
  }

  std::function<void(const Placement &)> explain;
};
} // namespace

std::unique_ptr<Pass> sprig::createPlace(PlaceOptions options, std::function<void(const Placement &)> explain) {
  return std::make_unique<Place>(std::move(options), std::move(explain));
}
