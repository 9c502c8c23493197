#include "lib/Place/Pins.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Exec/LayerName.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/LocationMarks.h"
#include "dialects/NN/NNDialect.h"
#include "dialects/NN/NNState.h"
#include "lib/Place/Placement.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"
#include <system_error>

using namespace mlir;

namespace sprig::place {
namespace {

constexpr size_t kMostNamesShown = 6;

template <typename... Parts> llvm::Error error(Parts... parts) {
  return llvm::createStringError((llvm::Twine() + ... + parts));
}

std::string quoted(llvm::ArrayRef<std::string> names) { return llvm::join(names, ", "); }

std::string fullName(llvm::StringRef name) { return name.contains(':') ? name.str() : name.str() + ":0"; }

// Whether a layer as somebody wrote it is meant of an operation.
bool fits(llvm::StringRef pattern, llvm::StringRef name) {
  if (name.empty()) return false;
  if (!pattern.contains('*')) return name == pattern || (name.starts_with(pattern) && name[pattern.size()] == '/');
  auto glob = llvm::GlobPattern::create(pattern);
  if (glob) return glob->match(name) || glob->match(layerOf(name));
  llvm::consumeError(glob.takeError());
  return false;
}

// What stands in a loop or a branch goes with it.
bool isPlacedOperation(Operation *op) {
  return isa_and_nonnull<ir::NNDialect>(op->getDialect()) && isa<func::FuncOp>(op->getParentOp()) && isComputed(op);
}

// The layers of a module in the program's order.
llvm::SetVector<llvm::StringRef> layersOf(ModuleOp module) {
  llvm::SetVector<llvm::StringRef> layers;
  module.walk([&](Operation *op) {
    if (isPlacedOperation(op))
      if (llvm::StringRef layer = layerOf(exec::nameOf(op->getLoc())); !layer.empty()) layers.insert(layer);
  });
  return layers;
}

// Those that look like what was written, the likest first; without any, the first there are.
std::string nearNames(llvm::StringRef pattern, ModuleOp module) {
  llvm::SetVector<llvm::StringRef> layers = layersOf(module);
  if (layers.empty()) return "its operations have no names";
  llvm::SmallVector<std::pair<unsigned, llvm::StringRef>> near;
  std::string lower = pattern.lower();
  for (llvm::StringRef layer : layers) {
    unsigned distance = llvm::StringRef(lower).edit_distance(layer.lower());
    if (layer.lower().find(lower) != std::string::npos) distance = 1;
    if (distance <= std::max<size_t>(2, pattern.size() / 3)) near.push_back({distance, layer});
  }
  bool any = !near.empty();
  llvm::stable_sort(near, llvm::less_first());
  if (!any)
    for (llvm::StringRef layer : layers) near.push_back({0, layer});
  llvm::SmallVector<llvm::StringRef> shown;
  for (auto &[distance, layer] : near)
    if (shown.size() < kMostNamesShown) shown.push_back(layer);
  std::string text = llvm::join(shown, ", ");
  if (near.size() > shown.size()) text += ", ...";
  return (any ? "near names are " : "its layers are ") + text;
}

// `nn.place` of an operation, or what was kept of it.
llvm::StringRef placeOf(Operation *op) {
  if (auto place = op->getAttrOfType<StringAttr>(ir::kPlaceAttr)) return place.getValue();
  auto kept = dyn_cast_if_present<StringAttr>(ir::markIn(op->getLoc(), ir::kPlaceAttr));
  return kept ? kept.getValue() : llvm::StringRef();
}

} // namespace

bool isComputed(Operation *op) {
  return !op->hasTrait<OpTrait::ConstantLike>() && !op->hasTrait<OpTrait::IsTerminator>() && !sharesStorage(op) &&
         !isa<ir::ParamOp, ir::GetParamOp, ir::SetParamOp>(op);
}

llvm::Expected<std::vector<std::string>> parseDevices(llvm::ArrayRef<std::string> devices,
                                                      llvm::ArrayRef<llvm::StringRef> kinds) {
  llvm::SmallVector<llvm::StringRef> taken(kinds);
  if (kinds.size() == 1) taken.push_back("null");
  if (devices.size() > kMostDevices)
    return error("devices: expected at most ", llvm::Twine(kMostDevices), " to place on, found ",
                 llvm::Twine(devices.size()));
  std::vector<std::string> names;
  for (const std::string &device : devices) {
    std::string name = fullName(device);
    auto [kind, number] = llvm::StringRef(name).split(':');
    unsigned ordinal = 0;
    if (kind.empty() || number.getAsInteger(10, ordinal) || ordinal >= 1024)
      return error("device '", device, "': expected kind:number, as cpu:1 or null:0");
    if (!llvm::is_contained(taken, kind))
      return llvm::createStringError(std::make_error_code(std::errc::not_supported),
                                     "device '" + device + "': nothing there runs code for " +
                                         llvm::join(kinds, " or ") + "; expected " + llvm::join(taken, ":N or ") +
                                         ":N");
    if (llvm::is_contained(names, name)) return error("device '", name, "' is given twice");
    names.push_back(std::move(name));
  }
  return names;
}

std::optional<unsigned> deviceNumber(llvm::StringRef name, llvm::ArrayRef<std::string> devices) {
  auto found = llvm::find(devices, fullName(name));
  if (found == devices.end()) return std::nullopt;
  return unsigned(found - devices.begin());
}

llvm::StringRef layerOf(llvm::StringRef name) { return exec::layerOf(name); }

std::optional<unsigned> pinOf(Operation *op, Pins pins, llvm::ArrayRef<std::string> devices) {
  if (llvm::StringRef place = placeOf(op); !place.empty()) return deviceNumber(place, devices);
  llvm::StringRef name = exec::nameOf(op->getLoc());
  const std::pair<std::string, std::string> *best = nullptr;
  for (const auto &pin : pins)
    if (fits(pin.first, name) && (!best || pin.first.size() > best->first.size())) best = &pin;
  return best ? deviceNumber(best->second, devices) : std::nullopt;
}

llvm::Error checkPins(ModuleOp module, Pins pins, llvm::ArrayRef<std::string> devices, bool parametersStay) {
  for (size_t i = 0; i < pins.size(); ++i) {
    const auto &[layer, device] = pins[i];
    std::string flag = "place " + layer + "=" + device + ": ";
    if (!deviceNumber(device, devices))
      return error(flag, "there is no device '", device, "'; the devices are ", quoted(devices));
    for (size_t other = 0; other < i; ++other)
      if (pins[other].first == layer)
        return error(flag, "layer '", layer, "' is placed twice, first on ", pins[other].second);
    bool found = false, isThere = false;
    module.walk([&](Operation *op) {
      if (!isa_and_nonnull<ir::NNDialect>(op->getDialect()) || !fits(layer, exec::nameOf(op->getLoc())))
        return WalkResult::advance();
      isThere = true;
      found = isPlacedOperation(op) || (parametersStay && isa<ir::ParamOp>(op));
      return found ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!found && isThere)
      return error(flag, "'", layer,
                   "' is nothing that is placed: a constant, a parameter that becomes one, a view, or a ",
                   "part of a loop or branch, which is placed as a whole; ", nearNames(layer, module));
    if (!found) return error(flag, "the model has no layer '", layer, "'; ", nearNames(layer, module));
  }
  return llvm::Error::success();
}

llvm::Error keepPlaces(ModuleOp module, llvm::ArrayRef<std::string> devices) {
  std::string wrong;
  module.walk([&](Operation *op) {
    auto place = op->getAttrOfType<StringAttr>(ir::kPlaceAttr);
    if (!place) return WalkResult::advance();
    bool isKnown = deviceNumber(place.getValue(), devices).has_value();
    bool isPlaced =
        isa_and_nonnull<ir::NNDialect>(op->getDialect()) && isa_and_nonnull<func::FuncOp, ModuleOp>(op->getParentOp());
    if (!isKnown || !isPlaced) {
      llvm::StringRef name = exec::nameOf(op->getLoc());
      wrong =
          (op->getName().getStringRef() + (name.empty() ? "" : " '" + name + "'") + " has " + ir::kPlaceAttr + " = \"" +
           place.getValue() + "\": expected " +
           (isKnown ? "it on operations of functions and on parameters alone (a loop or branch is placed as a whole)"
                    : "one of " + quoted(devices)))
              .str();
      return WalkResult::interrupt();
    }
    op->setLoc(ir::withMark(op->getLoc(), ir::kPlaceAttr, place));
    return WalkResult::advance();
  });
  if (!wrong.empty()) return error(wrong);
  return llvm::Error::success();
}

} // namespace sprig::place
