// What commands of a program of ranks are expected to take, by a machine's model and by what its collectives take.
// For passes that weigh what goes on beside collectives.
#pragma once
#include "dialects/Exec/Exec.h"
#include "lib/Machine/AllReduceTime.h"

namespace sprig {

class CommandSeconds {
public:
  /// What the program says of its collectives (dist.latency, dist.rate) goes before `otherwise`.
  CommandSeconds(exec::ProgramOp program, const machine::MachineModel &model, machine::AllReduceRate otherwise);

  double of(exec::CommandOpInterface command, mlir::SymbolTableCollection &symbols) const;

private:
  const machine::MachineModel &model;
  machine::AllReduceRate rate;
};

} // namespace sprig
