#define GEN_PASS_DEF_PLACE
#include "lib/Place/Passes.h"
#include "dialects/NN/NNState.h"
#include "lib/Place/FunctionPlacement.h"
#include "lib/Target/Registry.h"
#include "runtime/include/sprig/rt/links.hpp"
#include "runtime/machine/ThreadShares.h"

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
    const Target *code = targetForPass(getOperation(), target);
    if (!code) return failure();
    auto names = place::parseDevices(SmallVector<std::string>(devices.begin(), devices.end()), code->deviceKinds());
    if (!names) return getOperation().emitError(llvm::toString(names.takeError()));
    available.names = std::move(*names);
    CompileOptions options;
    if (!architectures.empty()) options.architectures.assign(architectures.begin(), architectures.end());
    for (StringRef name : available.names)
      available.machines.push_back(code->machineOf(name.split(':').first, options));
    // Shares of the processor divide its threads.
    auto isShare = [&](const std::string &name) { return StringRef(name).starts_with("cpu:"); };
    auto first = llvm::find_if(available.names, isShare) - available.names.begin();
    const machine::MachineModel &shared = available.machines[size_t(first) % available.names.size()];
    rt::core::ThreadShares shares{uint32_t(threads ? int64_t(threads) : shared.threads),
                                  uint32_t(llvm::count_if(available.names, isShare))};
    uint32_t number = 0;
    for (const std::string &name : available.names)
      available.threads.push_back(isShare(name) ? int(shares.threadsOf(number++)) : 1);
    if (code->deviceKinds().size() > 1) findHost(available, code->deviceKinds().front());
    return success();
  }

  // The caller's arrays lie where devices of that kind work.
  static void findHost(place::Devices &available, StringRef kind) {
    auto isThere = [&](StringRef name) { return name.split(':').first == kind; };
    auto first = llvm::find_if(available.names, isThere);
    if (first != available.names.end()) available.host = unsigned(first - available.names.begin());
    // What goes to or from another kind's memory takes that kind's link, beside what is computed.
    size_t count = available.names.size();
    available.links.resize(count * count);
    for (size_t from = 0; from < count; ++from) {
      available.handOvers.push_back(isThere(available.names[from]) ? 0 : available.machines[from].handOff);
      for (size_t to = 0; to < count; ++to)
        if (from != to && !(isThere(available.names[from]) && isThere(available.names[to])))
          available.links[from * count + to] = available.machines[isThere(available.names[from]) ? to : from].link;
    }
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
