// Names of what the nn dialect hangs on operations of other dialects, and on its own beside their arguments. The
// dialect verifies places and types and refuses other names (Attributes.cpp). For whoever writes or reads them;
// docs/read-a-dump.md tells what they look like in a dump.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace sprig::ir {

/// On a function: a StringAttr, the name of the entry in the package.
inline constexpr llvm::StringLiteral kEntryAttr = "nn.entry";
/// On an argument or a result of a function: a StringAttr, what the model calls it.
inline constexpr llvm::StringLiteral kNameAttr = "nn.name";
/// On an argument of a function, and on the result that it is in the next call: a FlatSymbolRefAttr, the parameter that
/// keeps it between (lib/Lengths/KeepStates.cpp).
inline constexpr llvm::StringLiteral kStateAttr = "nn.state";
/// On a function: a UnitAttr, samples along the first axis do not depend on each other.
inline constexpr llvm::StringLiteral kIndependentSamplesAttr = "nn.independent_samples";
/// On a function, and the program that becomes of it: a DictionaryAttr, which of its dimensions grow with an axis
/// (lib/Lengths/Passes.td).
inline constexpr llvm::StringLiteral kLengthsAttr = "nn.lengths";
/// On a function, and the program that becomes of it: an IntegerAttr, how often another entry does all of it in one
/// call, and a StringAttr, that entry's name (lib/Schedule/RepeatPrograms.cpp).
inline constexpr llvm::StringLiteral kRepeatAttr = "nn.repeat", kRepeatEntryAttr = "nn.repeat_entry";
/// Beside those: an IntegerAttr, how many of its late all-reduces go in their order, before the rest in the reverse.
inline constexpr llvm::StringLiteral kRepeatTurnAttr = "nn.repeat_turn";
/// On a module: a StringAttr, the JSON of what its steps train (lib/Training).
inline constexpr llvm::StringLiteral kTrainingAttr = "nn.training";
/// On a step or an evaluation of it: a DenseI64ArrayAttr, the samples of each of its forward passes, which all
/// arguments have one after the other along the first axis. Here and below: what strategies of several ranks look for.
inline constexpr llvm::StringLiteral kPassesAttr = "nn.passes";
/// On an operation: an ArrayAttr of StringAttr, one for each result, which is the whole gradient of the parameter of
/// that name.
inline constexpr llvm::StringLiteral kGradientsAttr = "nn.gradients";
/// On an operation of one result: a StringAttr, what the sum of all its terms is called, ranks' terms among them.
inline constexpr llvm::StringLiteral kTotalAttr = "nn.total";
/// On a parameter: a UnitAttr, it is an optimizer's own, of the shape of what it updates.
inline constexpr llvm::StringLiteral kOptimizerStateAttr = "nn.optimizer_state";
/// On a normalization that was imported: a FloatAttr, the momentum of its running statistics.
inline constexpr llvm::StringLiteral kMomentumAttr = "nn.momentum";
/// On random words that were imported for training: an IntegerAttr, their stream in a step, which gives them its
/// counter and adds its key to theirs (lib/Training/TrainingForm.cpp).
inline constexpr llvm::StringLiteral kDrawAttr = "nn.draw";
/// On the operation that gives what a loss's gradient was asked of: a UnitAttr; the forward pass ends with it. For
/// remat.
inline constexpr llvm::StringLiteral kDifferentiatedAttr = "nn.differentiated";
/// On a reduction whose innermost dimension is kept: a UnitAttr; the last of the reduced ones was innermost in the
/// model's layout, and the result has partial accumulators by the place in that one (ReduceOrder.h).
inline constexpr llvm::StringLiteral kPartialsAttr = "nn.partials";
/// On a sum of nn.reduce: a StringAttr, what it is called. Ranks that each have a part of it add the parts up right
/// there, and not after more operations that are linear in it.
inline constexpr llvm::StringLiteral kSumAttr = "nn.sum";
/// Such names: of the statistics of a batch norm, and of what counts in a loss.
inline constexpr llvm::StringLiteral kMeanSum = "mean", kVarianceSum = "variance", kCountSum = "count";
/// On an operation or a parameter: a StringAttr, the device that it is to be on (docs/parallel.md).
inline constexpr llvm::StringLiteral kPlaceAttr = "nn.place";

} // namespace sprig::ir
