#include "dialects/NN/NNState.h"
#include "lib/Place/FunctionPlacement.h"
#include "lib/Place/Passes.h"
#include "lib/Target/Registry.h"
#include "runtime/include/sprig/rt/links.hpp"
#include "runtime/machine/ThreadShares.h"

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
    if (failed(readDevices(available)) || failed(readLinks(available)) || failed(readPins(available, pinned)))
      return signalPassFailure();
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
    std::optional<machine::MachineModel> model = machineForPass(getOperation(), target, architectures);
    if (!model) return failure();
    available.machine = *model;
    auto names = place::parseDevices(SmallVector<std::string>(devices.begin(), devices.end()), target);
    if (!names) return getOperation().emitError(llvm::toString(names.takeError()));
    available.names = std::move(*names);
    // Shares of the processor divide its threads.
    auto isShare = [&](const std::string &name) { return StringRef(name).starts_with("cpu:"); };
    rt::core::ThreadShares shares{uint32_t(threads ? int64_t(threads) : available.machine.threads),
                                  uint32_t(llvm::count_if(available.names, isShare))};
    uint32_t number = 0;
    for (const std::string &name : available.names)
      available.threads.push_back(isShare(name) ? int(shares.threadsOf(number++)) : 1);
    return success();
  }

  // Those between others, as where the caller's arrays come from, placement does not decide on.
  LogicalResult readLinks(place::Devices &available) {
    size_t count = available.names.size();
    available.links.resize(count * count);
    SmallVector<StringRef> texts;
    StringRef(links.getValue()).split(texts, ';', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef text : texts) {
      rt::GivenLink given;
      if (std::string why = rt::parseGivenLink(text, given); !why.empty())
        return getOperation().emitError("link ") << text << ": " << why;
      auto a = place::deviceNumber(given.a, available.names), b = place::deviceNumber(given.b, available.names);
      if (!a || !b) continue;
      machine::Link link{given.latencyNs() / 1e9, given.rates.rate.bytesPerSecond()};
      available.links[*a * count + *b] = available.links[*b * count + *a] = link;
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
