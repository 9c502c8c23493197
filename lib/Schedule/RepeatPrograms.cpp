// The repeat-programs pass: several repetitions of a program in one call, as several steps of training.
#define GEN_PASS_DEF_REPEATPROGRAMS
#include "lib/Schedule/Passes.h"
#include "dialects/Interfaces/IndexRanges.h"
#include "dialects/NN/Attributes.h"
#include "lib/Schedule/CommandSeconds.h"
#include "lib/Schedule/InPlace.h"
#include "lib/Schedule/Order.h"
#include "lib/Schedule/RankPrograms.h"
#include "lib/Schedule/StepOrder.h"
#include "lib/Target/Registry.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include <numeric>

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

namespace {
/// The ports of all repetitions: "x.0", "targets.0", "x.1", "targets.1".
ArrayAttr repeatedNames(Builder &b, ArrayAttr names, unsigned times) {
  SmallVector<Attribute> all;
  for (unsigned step = 0; step < times; ++step)
    for (auto name : names.getAsRange<StringAttr>())
      all.push_back(b.getStringAttr(name.getValue() + "." + Twine(step)));
  return b.getArrayAttr(all);
}

ArrayAttr repeated(Builder &b, ArrayAttr values, unsigned times) {
  SmallVector<Attribute> all;
  for (unsigned step = 0; step < times; ++step) llvm::append_range(all, values);
  return b.getArrayAttr(all);
}

bool isAllReduce(Operation *command) {
  auto collective = dyn_cast<CollectiveOp>(command);
  return collective && collective.getKind() == CollectiveKind::all_reduce;
}

/// Repeats the commands of a copy of a program, on its own one lane.
class Repetition {
public:
  Repetition(ProgramOp program, unsigned times)
      : program(program), lane(*program.getBody().getOps<LaneOp>().begin()), b(program.getContext()), times(times) {}

  /// What one repetition does stays its own: buffers of the arena are new ones, inputs and outputs those of its number,
  /// states are read as the one before has left them.
  void run() {
    // A repetition reads what the one before has written, where that is written in the end.
    writeOutputsInPlace(program);
    writeStatesInPlace(program);
    SmallVector<BufferOp> buffers(program.getBody().getOps<BufferOp>());
    SmallVector<Operation *> commands;
    for (Operation &command : lane.getBody().front()) commands.push_back(&command);
    perStep = commands.size();
    unsigned inputs = program.getInputNames().size(), outputs = program.getOutputNames().size();
    for (unsigned step = 1; step < times; ++step) {
      IRMapping mapping;
      b.setInsertionPoint(lane);
      for (BufferOp buffer : buffers) {
        BufferKind kind = buffer.getKind();
        if (kind == BufferKind::constant || kind == BufferKind::state) continue;
        auto copy = cast<BufferOp>(b.clone(*buffer, mapping));
        if (kind == BufferKind::arena) continue;
        unsigned ports = kind == BufferKind::input ? inputs : outputs;
        copy.setIndexAttr(b.getI64IntegerAttr(int64_t(*buffer.getIndex() + step * ports)));
      }
      b.setInsertionPointToEnd(&lane.getBody().front());
      for (Operation *command : commands) b.clone(*command, mapping);
    }
    repeatPorts();
  }

  /// What comes back late from other ranks comes beside the repetition behind; `machine` says what commands take,
  /// `rate` what collectives do. Remarks on what was moved.
  void order(uint64_t turn, const machine::MachineModel &machine, machine::AllReduceRate rate) {
    SymbolTableCollection symbols;
    CommandSeconds seconds(machine, rate);
    ProgramOrder ordered = orderOf(program, &symbols);
    SmallVector<uint32_t> given(ordered.commands.size());
    std::iota(given.begin(), given.end(), 0);
    SmallVector<StepCommand> commands;
    for (auto [command, before] : llvm::zip_equal(ordered.commands, dependences(ordered.schedule, given)))
      commands.push_back({unsigned(commands.size() / perStep), seconds.of(command, symbols),
                          isCollectiveCommand(command), isAllReduce(command), std::move(before)});
    SmallVector<unsigned> found = stepOrder(commands, collectiveOrder(commands, turn), machine.handOff);
    unsigned ahead = 0, least = times; // commands that stand before one of an earlier repetition
    for (unsigned index : llvm::reverse(found)) {
      least = std::min(least, commands[index].step);
      ahead += commands[index].step > least;
    }
    for (unsigned index : found)
      ordered.commands[index]->moveBefore(&lane.getBody().front(), lane.getBody().front().end());
    remark::analysis(program.getLoc(), remark::RemarkOpts::name("repeat").category("schedule"))
        << ("program '" + program.getSymName() + "': " + Twine(ahead) + " of " + Twine(found.size()) +
            " commands begin before all of the repetition before them are done")
               .str();
  }

private:
  void repeatPorts() {
    program.setInputNamesAttr(repeatedNames(b, program.getInputNames(), times));
    program.setOutputNamesAttr(repeatedNames(b, program.getOutputNames(), times));
    program.setInputTypesAttr(repeated(b, program.getInputTypes(), times));
    program.setOutputTypesAttr(repeated(b, program.getOutputTypes(), times));
    if (auto pieces = program.getInputPiecesAttr()) program.setInputPiecesAttr(repeated(b, pieces, times));
    if (auto pieces = program.getOutputPiecesAttr()) program.setOutputPiecesAttr(repeated(b, pieces, times));
    if (auto ranges = program->getAttrOfType<ArrayAttr>(kIndexRangesAttr))
      program->setAttr(kIndexRangesAttr, repeated(b, ranges, times));
    if (auto samples = program.getSamplesOfRanks()) program.setSamplesOfRanks(int64_t(*samples) * times);
    program.setIndependentSamples(false); // a call has those of several repetitions
  }

  ProgramOp program;
  LaneOp lane;
  OpBuilder b;
  unsigned times;
  size_t perStep = 0; ///< commands of a repetition
};

struct RepeatPrograms : sprig::impl::RepeatProgramsBase<RepeatPrograms> {
  using RepeatProgramsBase::RepeatProgramsBase;

  void runOnOperation() override {
    std::optional<machine::MachineModel> model;
    SymbolTable symbols(getOperation());
    for (auto program : llvm::to_vector(getOperation().getOps<ProgramOp>())) {
      if (!program->hasAttr(ir::kRepeatAttr)) continue;
      if (failed(check(program))) return signalPassFailure();
      auto times = unsigned(program->getAttrOfType<IntegerAttr>(ir::kRepeatAttr).getInt());
      auto entry = program->getAttrOfType<StringAttr>(ir::kRepeatEntryAttr);
      auto turn = program->getAttrOfType<IntegerAttr>(ir::kRepeatTurnAttr);
      for (StringRef name : {ir::kRepeatAttr, ir::kRepeatEntryAttr, ir::kRepeatTurnAttr}) program->removeAttr(name);

      ProgramOp copy = program.clone();
      copy.setSymName((program.getSymName() + "_repeated").str());
      copy.setEntryAttr(entry);
      symbols.insert(copy, std::next(Block::iterator(program)));
      Repetition repetition(copy, times);
      repetition.run();
      bool travels = llvm::any_of((*copy.getBody().getOps<LaneOp>().begin()).getBody().front(),
                                  [](Operation &command) { return isCollectiveCommand(&command); });
      // Also where collectives are to stay on the lane: other ranks may have one for them, and all have one order.
      if (!travels) continue;
      if (!model) model = machineForPass(getOperation(), target, architectures);
      if (!model) return signalPassFailure();
      repetition.order(turn ? uint64_t(turn.getInt()) : UINT64_MAX, *model, {latency, rate});
    }
  }

private:
  static LogicalResult check(ProgramOp program) {
    auto times = program->getAttrOfType<IntegerAttr>(ir::kRepeatAttr);
    if (times.getInt() < 2 || times.getInt() > kMostRepetitions)
      return program.emitOpError("is to be repeated ")
             << times.getInt() << " times in a call, expected 2 to " << kMostRepetitions;
    if (!program->hasAttr(ir::kRepeatEntryAttr))
      return program.emitOpError("is to be repeated in a call, and '") << ir::kRepeatEntryAttr << "' names no entry";
    auto turn = program->getAttrOfType<IntegerAttr>(ir::kRepeatTurnAttr);
    if (turn && turn.getInt() < 0)
      return program.emitOpError("is to be repeated in a call with '")
             << ir::kRepeatTurnAttr << "' = " << turn.getInt() << ", expected 0 or more";
    if (program.getArenas()) return program.emitOpError("is to be repeated in a call, and its memory is planned");
    if (!llvm::hasSingleElement(program.getBody().getOps<LaneOp>()))
      return program.emitOpError("is to be repeated in a call, and has ")
             << llvm::range_size(program.getBody().getOps<LaneOp>()) << " lanes, expected one";
    return success();
  }
};
} // namespace
