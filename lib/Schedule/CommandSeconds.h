// What commands of a program of ranks are expected to take, by a machine's model and by what its collectives take.
// For passes that weigh what goes on beside collectives.
#pragma once
#include "dialects/Exec/Exec.h"
#include "lib/Machine/AllReduceTime.h"

namespace sprig {

class CommandSeconds {
public:
  CommandSeconds(const machine::MachineModel &model, machine::AllReduceRate rate) : model(model), rate(rate) {}

  double of(exec::CommandOpInterface command, mlir::SymbolTableCollection &symbols) const;

private:
  const machine::MachineModel &model;
  machine::AllReduceRate rate;
};

} // namespace sprig
