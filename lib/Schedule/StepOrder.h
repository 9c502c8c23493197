// In which order a program does several repetitions of one: what a repetition reads of the one before may come back
// from other ranks while the next one has begun. For repeat-programs. Knows commands by their dependences and expected
// times alone.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace sprig {

struct StepCommand {
  unsigned step = 0; ///< the repetition that it is of, counted from 0
  double seconds = 0;
  bool isCollective = false;
  bool mayTurn = false;                    ///< of collectives: where it is late, its place may be another
  llvm::SmallVector<unsigned> before = {}; ///< commands that it has to come after
};

/// The order of all ranks' collectives, of commands in their order one repetition after the other. It follows from
/// dependences alone, not from times: all ranks find the same. Late collectives are those that no other of their
/// repetition needs. Of each repetition but the last, `turn` late ones that may turn go as they come, those behind them
/// in the end, in the reverse order: what is made last is read first by the next one. Others go before them where they
/// need none of them, but for one that travels meanwhile.
llvm::SmallVector<unsigned> collectiveOrder(llvm::ArrayRef<StepCommand> commands, uint64_t turn);

/// The order of all commands with that of collectives given: whatever is ready first by the expected times, late
/// collectives beside the rest, and of what is ready the first of the old order. `handOff` is what it takes a result of
/// another lane to be here.
llvm::SmallVector<unsigned> stepOrder(llvm::ArrayRef<StepCommand> commands, llvm::ArrayRef<unsigned> collectives,
                                      double handOff);

} // namespace sprig
