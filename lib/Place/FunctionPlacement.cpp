#include "lib/Place/FunctionPlacement.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/Interfaces/Touch.h"
#include "dialects/Kernel/KernelDialect.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNState.h"
#include "lib/Machine/AccessTime.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace sprig::place {
namespace {

// A dispatch below it is left on one thread.
constexpr double kWorthThreads = 20e-6;
// Convolutions that are not laid out for the processor are loops there: measured at 0.7 (ResNet-8) to 3 (DS-CNN)
// GFLOP/s of a thread of Zen 4.
constexpr double kLoopFlops = 1e9;

bool isConvolution(Operation *op) { return isa<ir::ConvOp, ir::ConvTransposeOp, ir::ConvFilterGradOp>(op); }

// What fusion computes with what it follows, where it can.
bool isLight(Operation *op) {
  FusionKind kind = fusionKind(op);
  return isa<ElementwiseOpInterface>(op) || kind == FusionKind::view || kind == FusionKind::reduction;
}

} // namespace

FunctionPlacement::FunctionPlacement(func::FuncOp function, const Devices &devices, Pins pins,
                                     const llvm::DenseMap<Attribute, unsigned> &homes)
    : function(function), devices(devices) {
  problem.devices = unsigned(devices.names.size());
  const machine::MachineModel &first = devices.machines[devices.host.value_or(0)];
  problem.handOff = first.handOff;
  problem.copyLatency = first.link.latency;
  problem.copyBytesPerSecond = first.link.bytesPerSecond;
  problem.links = devices.links;
  if (devices.host) addInputs(*devices.host);
  for (Operation &op : function.getBody().front()) {
    if (auto get = dyn_cast<ir::GetParamOp>(op)) {
      auto [param, fresh] = params.try_emplace(get.getParamAttr(), unsigned(problem.params.size()));
      if (fresh) problem.params.emplace_back();
      values[get.getResult()] = unsigned(problem.values.size());
      problem.values.push_back({exec::byteSize(get.getType()), PlacementProblem::kNone, param->second});
    } else if (auto set = dyn_cast<ir::SetParamOp>(op)) {
      auto [param, fresh] = params.try_emplace(set.getParamAttr(), unsigned(problem.params.size()));
      if (fresh) problem.params.emplace_back();
      if (auto value = valueOf(set.getValue())) problem.params[param->second].newValue = *value;
    } else if (isComputed(&op)) {
      addOperation(&op, pins);
    }
  }
  for (auto [param, index] : params) {
    if (auto found = homes.find(param); found != homes.end()) problem.params[index].home = found->second;
    auto declared = SymbolTable::lookupNearestSymbolFrom(function, cast<SymbolRefAttr>(param));
    if (declared && !problem.params[index].home) problem.params[index].home = pinOf(declared, pins, devices.names);
  }
  addCosts();
  if (devices.host) addOutputs(*devices.host);
}

// As parameters that live there.
void FunctionPlacement::addInputs(unsigned host) {
  for (BlockArgument input : function.getArguments()) {
    values[input] = unsigned(problem.values.size());
    problem.values.push_back(
        {exec::byteSize(input.getType()), PlacementProblem::kNone, unsigned(problem.params.size())});
    problem.params.push_back({host, PlacementProblem::kNone});
  }
}

// As operands of one more operation there, which takes no time.
void FunctionPlacement::addOutputs(unsigned host) {
  PlacementProblem::Operation outputs;
  outputs.unit = unsigned(problem.units.size());
  for (Value output : function.getBody().front().getTerminator()->getOperands())
    if (auto value = valueOf(output); value && !llvm::is_contained(outputs.reads, *value))
      outputs.reads.push_back(*value);
  problem.units.push_back({host, std::vector<double>(problem.devices, 0), 1});
  problem.operations.push_back(std::move(outputs));
}

// The number of a value that not all devices have.
std::optional<unsigned> FunctionPlacement::valueOf(Value value) const {
  auto found = values.find(storageOf(value));
  if (found == values.end()) return std::nullopt;
  return found->second;
}

// The latest producer's, where nobody wants them apart.
unsigned FunctionPlacement::unitFor(Operation *op, std::optional<unsigned> pin) {
  std::optional<unsigned> latest;
  if (isLight(op))
    for (Value operand : op->getOperands())
      if (auto value = valueOf(operand))
        if (unsigned producer = problem.values[*value].operation; producer != PlacementProblem::kNone)
          latest = std::max(latest.value_or(0), producer);
  if (latest) {
    unsigned unit = problem.operations[*latest].unit;
    if (!pin || problem.units[unit].pin == pin) return unit;
  }
  problem.units.push_back({pin, std::vector<double>(problem.devices, 0), 0});
  return unsigned(problem.units.size() - 1);
}

void FunctionPlacement::addOperation(Operation *op, Pins pins) {
  unsigned number = unsigned(problem.operations.size());
  PlacementProblem::Operation &added = problem.operations.emplace_back();
  operations[op] = number;
  added.unit = unitFor(op, pinOf(op, pins, devices.names));
  ++problem.units[added.unit].operations;
  auto read = [&](Value operand) {
    if (auto value = valueOf(operand); value && !llvm::is_contained(added.reads, *value)) added.reads.push_back(*value);
  };
  for (Value operand : op->getOperands()) read(operand);
  // What regions read of what is around them.
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) read(operand);
    });
  for (Value result : op->getResults()) {
    values[result] = unsigned(problem.values.size());
    added.gives.push_back(unsigned(problem.values.size()));
    problem.values.push_back({exec::byteSize(result.getType()), number, PlacementProblem::kNone});
  }
}

// Of a unit as one kernel: what passes inside of it moves no memory.
void FunctionPlacement::addCosts() {
  struct Work {
    double flops = 0, looped = 0; // of the flops those of convolutions
    Touched touched;
    llvm::DenseMap<Value, Touched> read; // of what is computed elsewhere
  };
  std::vector<Work> works(problem.units.size());
  for (auto [op, number] : operations) {
    unsigned unit = problem.operations[number].unit;
    Work &work = works[unit];
    if (auto cost = dyn_cast<CostOpInterface>(op)) {
      work.flops += double(cost.getFlops());
      if (isConvolution(op)) work.looped += double(cost.getFlops());
    }
    for (OpOperand &operand : op->getOpOperands()) {
      auto value = valueOf(operand.get());
      unsigned producer = value ? problem.values[*value].operation : PlacementProblem::kNone;
      bool inside = producer != PlacementProblem::kNone && problem.operations[producer].unit == unit;
      if (!inside) work.read[operand.get()] += touchedBy(operand);
    }
    for (Value result : op->getResults()) {
      auto isInside = [&, unit = unit](Operation *user) {
        auto found = operations.find(user);
        return found != operations.end() && problem.operations[found->second].unit == unit;
      };
      if (!llvm::all_of(result.getUsers(), isInside)) work.touched += touchedToMake(result);
    }
  }
  for (auto [unit, work] : llvm::zip_equal(problem.units, works)) {
    for (auto [operand, touched] : work.read) work.touched += touched.upTo(exec::byteSize(operand.getType()));
    for (unsigned device = 0; device < problem.devices; ++device) {
      const machine::MachineModel &machine = devices.machines[device];
      auto secondsOn = [&, &touched = work.touched, flops = work.flops](int threads) {
        return machine.seconds(flops, double(touched.total()), touched.total(), threads) +
               machine::accessSeconds(machine, touched, double(touched.total()), threads);
      };
      double alone = secondsOn(1), shared = secondsOn(devices.threads[device]);
      unit.seconds[device] = alone < kWorthThreads ? alone : shared;
      if (device >= devices.handOvers.size()) continue; // beside no device of another kind
      unit.seconds[device] += devices.handOvers[device];
      bool isHost = devices.handOvers[device] == 0;
      if (isHost) unit.seconds[device] += work.looped / kLoopFlops / double(devices.threads[device]);
    }
  }
}

void FunctionPlacement::write(llvm::DenseMap<Attribute, unsigned> &homes) const {
  for (auto [op, number] : operations) kernel::setDevice(op, deviceOfUnit[problem.operations[number].unit]);
  std::vector<unsigned> decided = Placer(problem).homes(deviceOfUnit);
  for (auto [param, index] : params) homes.try_emplace(param, decided[index]);
}

} // namespace sprig::place
