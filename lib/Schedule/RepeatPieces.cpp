// The repeat-pieces pass: commands for all pieces of a call's samples, of those of one.
#define GEN_PASS_DEF_REPEATPIECES
#include "lib/Schedule/Passes.h"
#include "dialects/Kernel/KernelDialect.h"
#include "lib/Schedule/Composite.h"
#include "lib/Target/Registry.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

/// As many samples as all pieces have.
static ShapedType ofAllPieces(ShapedType type, int64_t pieces) {
  SmallVector<int64_t> shape(type.getShape());
  if (shape.empty()) return type.clone(ArrayRef<int64_t>{pieces});
  shape.front() *= pieces;
  return type.clone(shape);
}

namespace {
using Run = SmallVector<exec::DispatchOp>;

/// A program of one piece that becomes one of all.
class PieceRepeater {
public:
  PieceRepeater(ProgramOp program, int64_t pieces, SymbolTable &symbols)
      : program(program), pieces(pieces), symbols(symbols), b(program.getContext()) {}

  void run(int64_t threads, int64_t flopsPerShare) {
    SmallVector<Run> runs = runsOfDispatches(*program.getBody().getOps<LaneOp>().begin());
    findBuffersOfThreads(runs);
    int64_t arena = 0, scratch = program.getArenaBytes();
    for (auto buffer : program.getBody().getOps<BufferOp>()) {
      if (buffer.getKind() == BufferKind::constant || ofThread.contains(buffer)) continue;
      pieceTypes[buffer] = cast<MemRefType>(buffer.getType());
      buffer.getResult().setType(cast<MemRefType>(ofAllPieces(cast<ShapedType>(buffer.getType()), pieces)));
      if (buffer.getKind() != BufferKind::arena) continue;
      buffer.setOffsetAttr(b.getI64IntegerAttr(arena));
      arena += alignBuffer(byteSize(buffer.getType()));
    }
    for (const Run &run : runs) replace(run, scratch, threads, flopsPerShare);
    for (Operation *buffer : ofThread) buffer->erase();
    program.setArenas({arena});
    program.setInputTypesAttr(portTypes(program.getInputTypes()));
    program.setOutputTypesAttr(portTypes(program.getOutputTypes()));
    program->removeAttr(kernel::kPiecesAttr);
  }

private:
  // What the kernels of one run alone hand to each other is never there for two pieces of a thread.
  void findBuffersOfThreads(ArrayRef<Run> runs) {
    llvm::DenseMap<Operation *, const Run *> runOf;
    for (const Run &run : runs)
      for (exec::DispatchOp dispatch : run) runOf[dispatch] = &run;
    for (auto buffer : program.getBody().getOps<BufferOp>()) {
      if (buffer.getKind() != BufferKind::arena || buffer->use_empty()) continue;
      const Run *first = runOf.lookup(*buffer->user_begin());
      if (first && llvm::all_of(buffer->getUsers(), [&](Operation *user) { return runOf.lookup(user) == first; }))
        ofThread.insert(buffer);
    }
  }

  ArrayAttr portTypes(ArrayAttr types) {
    return b.getTypeArrayAttr(llvm::map_to_vector(types.getAsValueRange<TypeAttr>(), [&](Type type) -> Type {
      return ofAllPieces(cast<ShapedType>(type), pieces);
    }));
  }

  void replace(ArrayRef<exec::DispatchOp> run, int64_t arena, int64_t threads, int64_t flopsPerShare) {
    llvm::SetVector<Value> buffers;
    for (exec::DispatchOp command : run)
      for (Value buffer : command.getBuffers())
        if (!ofThread.contains(buffer.getDefiningOp())) buffers.insert(buffer);
    JoinedWork work = workOf(run, symbols);
    int64_t scratch = alignBuffer(work.scratch), flops = pieces * work.flops, bytes = pieces * work.bytes;
    b.setInsertionPoint(program);
    StringAttr name = b.getStringAttr(program.getSymName() + "_pieces");
    auto type = b.getFunctionType(ValueRange(buffers.getArrayRef()).getTypes(), {});
    auto kernel = KernelOp::create(b, work.loc, name.getValue(), type, pieces, grainOf(flops, threads, flopsPerShare),
                                   scratch + arena, flops, bytes, name, /*places=*/{});
    fill(kernel, run, buffers.getArrayRef(), scratch);
    symbols.insert(kernel);
    b.setInsertionPoint(run.front());
    exec::DispatchOp::create(b, work.loc, FlatSymbolRefAttr::get(kernel.getSymNameAttr()), buffers.getArrayRef(),
                             b.getStringAttr(titleOf(run)));
    for (exec::DispatchOp command : run) command.erase();
  }

  // The calls of a run, on the tile's part of its buffers and on memory of the thread behind what kernels need.
  void fill(KernelOp kernel, ArrayRef<exec::DispatchOp> run, ArrayRef<Value> buffers, int64_t scratch) {
    Block &body = kernel.getBody().emplaceBlock();
    b.setInsertionPointToStart(&body);
    IRMapping parts;
    for (Value buffer : buffers) {
      Value argument = body.addArgument(buffer.getType(), buffer.getLoc());
      auto piece = pieceTypes.find(buffer.getDefiningOp());
      if (piece != pieceTypes.end()) argument = PieceOp::create(b, buffer.getLoc(), piece->second, argument);
      parts.map(buffer, argument);
    }
    auto partOf = [&](Value buffer) {
      if (auto own = buffer.getDefiningOp<BufferOp>(); !parts.contains(buffer))
        parts.map(buffer, ScratchOp::create(b, buffer.getLoc(), buffer.getType(), scratch + int64_t(*own.getOffset())));
      return parts.lookup(buffer);
    };
    for (exec::DispatchOp command : run) {
      SmallVector<Value> operands = llvm::map_to_vector(command.getBuffers(), partOf);
      CallOp::create(b, command.getLoc(), command.getKernelAttr(), operands);
    }
  }

  int64_t grainOf(int64_t flops, int64_t threads, int64_t flopsPerShare) const {
    if (threads == 1 || flops < 2 * flopsPerShare) return pieces;
    return std::clamp<int64_t>(pieces * flopsPerShare / flops, 1, pieces);
  }

  ProgramOp program;
  int64_t pieces;
  SymbolTable &symbols;
  OpBuilder b;
  llvm::SetVector<Operation *> ofThread;
  llvm::DenseMap<Operation *, MemRefType> pieceTypes;
};

struct RepeatPieces : sprig::impl::RepeatPiecesBase<RepeatPieces> {
  using RepeatPiecesBase::RepeatPiecesBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto program : llvm::to_vector(getOperation().getOps<ProgramOp>())) {
      int64_t pieces = kernel::piecesOf(program);
      if (pieces == 1) continue;
      if (failed(check(program, symbols))) return signalPassFailure();
      if (flopsPerShare == 0 && failed(askMachine())) return signalPassFailure();
      PieceRepeater(program, pieces, symbols).run(threads, flopsPerShare);
    }
  }

private:
  // What is worth a thread, where nobody says; read where there are pieces.
  LogicalResult askMachine() {
    std::optional<machine::MachineModel> model = machineForPass(getOperation(), target, architectures);
    if (!model) return failure();
    flopsPerShare = threadShares(*model, threads).flopsPerShare;
    return success();
  }

  static LogicalResult check(ProgramOp program, SymbolTable &symbols) {
    if (!program.getArenas()) return program.emitOpError("has pieces to be repeated, and its memory is not planned");
    if (!llvm::hasSingleElement(program.getBody().getOps<LaneOp>()))
      return program.emitOpError("has pieces to be repeated, and ")
             << llvm::range_size(program.getBody().getOps<LaneOp>()) << " lanes, expected one";
    for (auto buffer : program.getBody().getOps<BufferOp>())
      if (buffer.getKind() == BufferKind::state)
        return program.emitOpError("has pieces to be repeated, and state, which is of a whole call");
    WalkResult found = program.walk([&](exec::DispatchOp command) {
      auto kernel = symbols.lookup<KernelOp>(command.getKernel());
      if (!command.isPart() && kernel && !kernel.isComposite()) return WalkResult::advance();
      command.emitOpError("is in a program whose pieces are to be repeated, expected all of one leaf kernel");
      return WalkResult::interrupt();
    });
    return success(!found.wasInterrupted());
  }
};
} // namespace
