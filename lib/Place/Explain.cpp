// What was weighed for each decision, for people: the time of a call with its operations elsewhere.
#include "dialects/Exec/Exec.h"
#include "dialects/NN/Attributes.h"
#include "lib/Place/FunctionPlacement.h"

using namespace mlir;

namespace sprig::place {

// "8x784xf32"
static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    for (int64_t size : tensor.getShape()) out << size << 'x';
    type = tensor.getElementType();
  }
  out << type;
  return text;
}

Placement FunctionPlacement::explain() {
  Placer placer(problem);
  Placement told;
  auto entry = function->getAttrOfType<StringAttr>(ir::kEntryAttr);
  told.entry = (entry ? entry.getValue() : function.getSymName()).str();
  for (Type type : function.getArgumentTypes()) told.inputs.push_back(textOf(type));
  told.devices = devices.names;
  PlayedCall call = placer.play(deviceOfUnit);
  told.seconds = call.seconds;
  told.copies = call.copies;
  told.copiedBytes = call.copiedBytes;
  told.secondsOnOne = placer.play(placer.onFirst()).seconds;

  // Units of one layer and device that follow each other are one decision.
  struct Group {
    std::string layer;
    llvm::SetVector<unsigned> units;
  };
  std::vector<Group> groups;
  llvm::DenseMap<unsigned, unsigned> groupOf;
  for (auto [op, number] : operations) {
    unsigned unit = problem.operations[number].unit;
    auto found = groupOf.find(unit);
    if (found == groupOf.end()) {
      std::string layer = layerOf(exec::nameOf(op->getLoc())).str();
      if (layer.empty()) layer = "(unnamed)";
      bool joins = !groups.empty() && groups.back().layer == layer &&
                   deviceOfUnit[groups.back().units.front()] == deviceOfUnit[unit] &&
                   problem.units[groups.back().units.front()].pin == problem.units[unit].pin;
      if (!joins) {
        groups.push_back({layer, {}});
        PlacementDecision &decision = told.decisions.emplace_back();
        decision.layer = layer;
        decision.device = devices.names[deviceOfUnit[unit]];
        decision.pinned = problem.units[unit].pin.has_value();
      }
      groups.back().units.insert(unit);
      told.decisions[groups.size() - 1].seconds += problem.units[unit].seconds[deviceOfUnit[unit]];
      found = groupOf.try_emplace(unit, unsigned(groups.size() - 1)).first;
    }
    told.decisions[found->second].operations.push_back(op->getName().getStringRef().str());
  }
  for (auto [group, decision] : llvm::zip_equal(groups, told.decisions))
    for (unsigned device = 0; device < problem.devices; ++device) {
      std::vector<unsigned> moved = deviceOfUnit;
      for (unsigned unit : group.units) moved[unit] = device;
      decision.callSeconds.push_back(placer.play(moved).seconds);
    }
  return told;
}

} // namespace sprig::place
