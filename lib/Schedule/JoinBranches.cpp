#define GEN_PASS_DEF_JOINBRANCHES
#include "lib/Schedule/Passes.h"
#include "dialects/Kernel/InOrder.h"
#include "dialects/Kernel/KernelDialect.h"
#include "lib/Schedule/Composite.h"
#include "lib/Schedule/Order.h"
#include "lib/Schedule/ThreadCost.h"
#include "lib/Target/Registry.h"
#include "runtime/base/Decimal.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

namespace {
// A command of the stretch that is looked at, or one that ends it.
struct BranchStep {
  exec::DispatchOp command; // null: not one to be joined
  ThreadCost cost;
  double alone = 0;             // seconds, by itself on the threads that it is worth
  SmallVector<unsigned> before; // steps that must come first
};

// Stretches are looked at up to this length, so that the choice takes time in proportion to the program.
constexpr unsigned kLongestStretch = 64;
// Pieces for each thread, so that the last ones are short and unequal branches even out.
constexpr int64_t kPiecesPerThread = 4;
// A stretch that is joined must be expected to take less than this share of the time of its commands: the expectation
// is a model's.
constexpr double kWorthJoining = 0.85;

// Commands from one on, as branches that grow together as more of them are added.
class Stretch {
public:
  Stretch(ArrayRef<BranchStep> steps, unsigned first, int64_t threads) : steps(steps), first(first), threads(threads) {}

  void add(unsigned index) {
    const BranchStep &step = steps[index];
    parent.push_back(index - first);
    seconds.push_back(step.cost.seconds);
    ++branches;
    total += step.cost.seconds;
    // What the commands of one branch hand to each other stays with their thread.
    bool isAlone = llvm::all_of(step.before, [&](unsigned earlier) { return earlier < first; });
    if (isAlone) bytes += step.cost.sharedBytes + step.cost.ownBytes;
    for (unsigned earlier : step.before)
      if (earlier >= first) join(earlier - first, index - first);
    int64_t pieces = isAlone ? std::min(step.cost.tiles, kPiecesPerThread * threads) : 1;
    longestPiece = std::max(longestPiece, seconds[rootOf(index - first)] / double(pieces));
  }

  bool hasBranches() const { return branches > 1; }
  // When each thread takes a piece as it comes: the last piece may be a long one, or not.
  double secondsOn(const machine::MachineModel &model) const {
    double even = total / double(threads), late = longestPiece * double(threads - 1) / double(2 * threads);
    // Branches are short: about half of what they read was written by others, or what they write is read by them.
    return std::max(even + late, longestPiece) + secondsOfHandOff(bytes / double(2 * threads), 0, model);
  }
  unsigned branchOf(unsigned index) { return rootOf(index - first); }

private:
  unsigned rootOf(unsigned place) {
    while (parent[place] != place) place = parent[place] = parent[parent[place]];
    return place;
  }
  void join(unsigned one, unsigned other) {
    one = rootOf(one), other = rootOf(other);
    if (one == other) return;
    parent[other] = one;
    seconds[one] += seconds[other];
    --branches;
  }

  ArrayRef<BranchStep> steps;
  unsigned first;
  int64_t threads;
  SmallVector<unsigned> parent; // by place in the stretch
  SmallVector<double> seconds;  // of the branch, at its root
  unsigned branches = 0;
  double total = 0, bytes = 0, longestPiece = 0;
};

// Bytes of the arena that are alive while commands run, one by one or together.
class AliveBytes {
public:
  explicit AliveBytes(ArrayRef<CommandOpInterface> commands) : alive(commands.size() + 1), begun(commands.size() + 1) {
    SmallVector<int64_t> oneByOne(commands.size() + 1);
    llvm::MapVector<Operation *, std::pair<size_t, size_t>> lifetimes;
    for (auto [index, command] : llvm::enumerate(commands))
      for (Value operand : command->getOperands())
        if (auto buffer = operand.getDefiningOp<BufferOp>(); buffer && takesArena(buffer))
          lifetimes.try_emplace(buffer, index, index).first->second.second = index;
    for (auto &[buffer, lifetime] : lifetimes) {
      auto [first, last] = lifetime;
      int64_t bytes = byteSize(cast<BufferOp>(buffer).getType());
      alive[first] += bytes;
      alive[last + 1] -= bytes;
      begun[first + 1] += bytes;
      oneByOne[first] += isOverOperand(cast<BufferOp>(buffer), commands[first], first, lifetimes) ? 0 : bytes;
      oneByOne[last + 1] -= bytes;
    }
    // A result over an operand begins where the operand's bytes would be given back.
    for (auto &[buffer, lifetime] : lifetimes)
      if (isOverOperand(cast<BufferOp>(buffer), commands[lifetime.first], lifetime.first, lifetimes))
        oneByOne[lifetime.first + 1] += byteSize(cast<BufferOp>(buffer).getType());
    std::partial_sum(alive.begin(), alive.end(), alive.begin());
    std::partial_sum(begun.begin(), begun.end(), begun.begin());
    std::partial_sum(oneByOne.begin(), oneByOne.end(), oneByOne.begin());
    most = *llvm::max_element(oneByOne);
  }
  /// Whether commands that run together need more than all do one by one.
  bool areTooMany(unsigned begin, unsigned end) const { return alive[begin] + begun[end] - begun[begin + 1] > most; }

private:
  using Lifetimes = llvm::MapVector<Operation *, std::pair<size_t, size_t>>;

  // What is copied to an output or a state in the end is written there.
  static bool takesArena(BufferOp buffer) {
    return buffer.getKind() == BufferKind::arena && llvm::none_of(buffer->getUsers(), [&](Operation *user) {
             auto copy = dyn_cast<CopyOp>(user);
             return copy && copy.getTarget().getDefiningOp<BufferOp>().getKind() != BufferKind::arena;
           });
  }
  static bool isOverOperand(BufferOp result, Operation *command, size_t at, Lifetimes &lifetimes) {
    auto dispatch = dyn_cast<exec::DispatchOp>(command);
    return dispatch && llvm::any_of(dispatch.overwrites(), [&](OverwriteAttr over) {
             Operation *operand = dispatch.getBuffers()[over.getOperand()].getDefiningOp();
             auto lifetime = lifetimes.find(operand);
             return dispatch.getBuffers()[over.getResult()] == result.getResult() && lifetime != lifetimes.end() &&
                    lifetime->second.second == at &&
                    byteSize(cast<BufferOp>(operand).getType()) == byteSize(result.getType());
           });
  }

  SmallVector<int64_t> alive, begun; // begun: by commands before one
  int64_t most = 0;
};

// The stretches of a program for which the expected times add up to the least.
class BranchJoiner {
public:
  BranchJoiner(ProgramOp program, const ThreadCosts &costs, const machine::MachineModel &model, int64_t threads,
               SymbolTable &symbols)
      : program(program), model(model), threads(threads), symbols(symbols) {
    SymbolTableCollection collection;
    ProgramOrder ordered = orderOf(program, &collection);
    if (program->hasAttr(kernel::kInOrderAttr)) bytes.emplace(ordered.commands);
    SmallVector<uint32_t> order(ordered.commands.size());
    std::iota(order.begin(), order.end(), 0);
    for (auto [command, before] : llvm::zip_equal(ordered.commands, dependences(ordered.schedule, order))) {
      BranchStep &step = steps.emplace_back();
      step.before = std::move(before);
      auto dispatch = dyn_cast<exec::DispatchOp>(command.getOperation());
      if (!dispatch || dispatch.isPart()) continue;
      auto kernel = symbols.lookup<KernelOp>(dispatch.getKernel());
      if (!isCallable(kernel) || kernel.getTiles() == 0) continue;
      step.command = dispatch;
      step.cost = costs.of(kernel);
      step.alone = step.cost.secondsOn(std::min<int64_t>(threads, step.cost.tiles / int64_t(kernel.getGrain())), model);
    }
  }

  void run() {
    choose();
    for (auto [begin, end] : chosen()) join(begin, end);
  }

private:
  // Least times from the begin to each command, and where the last stretch or single command before it begins.
  void choose() {
    best.assign(steps.size() + 1, std::numeric_limits<double>::infinity());
    from.assign(steps.size() + 1, 0);
    best[0] = 0;
    auto offer = [&](unsigned begin, unsigned end, double seconds) {
      if (best[begin] + seconds >= best[end]) return;
      best[end] = best[begin] + seconds;
      from[end] = begin;
    };
    for (unsigned begin = 0; begin < steps.size(); ++begin) {
      offer(begin, begin + 1, steps[begin].alone);
      Stretch stretch(steps, begin, threads);
      double apart = 0;
      unsigned limit = std::min<unsigned>(steps.size(), begin + kLongestStretch);
      for (unsigned end = begin; end < limit && steps[end].command; ++end) {
        stretch.add(end);
        apart += steps[end].alone;
        if (!stretch.hasBranches()) continue;
        if (bytes && bytes->areTooMany(begin, end + 1)) break;
        if (double seconds = stretch.secondsOn(model); seconds < kWorthJoining * apart) offer(begin, end + 1, seconds);
      }
    }
  }

  SmallVector<std::pair<unsigned, unsigned>> chosen() const {
    SmallVector<std::pair<unsigned, unsigned>> stretches;
    for (unsigned end = steps.size(); end > 0; end = from[end])
      if (end - from[end] > 1) stretches.push_back({from[end], end});
    std::reverse(stretches.begin(), stretches.end());
    return stretches;
  }

  void join(unsigned begin, unsigned end) {
    Stretch stretch(steps, begin, threads);
    double total = 0, apart = 0;
    llvm::MapVector<unsigned, SmallVector<unsigned>> branches;
    for (unsigned index = begin; index < end; ++index) {
      stretch.add(index);
      total += steps[index].cost.seconds;
      apart += steps[index].alone;
    }
    for (unsigned index = begin; index < end; ++index) branches[stretch.branchOf(index)].push_back(index);
    double pieceSeconds = total / double(kPiecesPerThread * threads);
    SmallVector<CompositeCall> calls(end - begin);
    int64_t tiles = 0;
    for (auto &[root, branch] : branches) {
      int64_t pieces = 1;
      if (const BranchStep &only = steps[branch.front()]; branch.size() == 1)
        pieces = std::clamp<int64_t>(std::llround(only.cost.seconds / pieceSeconds), 1, only.cost.tiles);
      for (unsigned index : branch) calls[index - begin] = {steps[index].command, tiles, tiles + pieces};
      tiles += pieces;
    }
    Location loc = steps[begin].command.getLoc();
    auto commands = llvm::map_to_vector(calls, [](const CompositeCall &call) { return call.command; });
    makeComposite((program.getSymName() + "_branches").str(), titleOf(commands), calls, tiles, symbols);
    remark::passed(loc, remark::RemarkOpts::name("branches").category("schedule"))
        << llvm::formatv("'{0}': {1} commands in {2} branches side by side, {3} us on {4} threads; one after the "
                         "other {5}, on one thread {6}",
                         program.getSymName(), end - begin, branches.size(),
                         decimal::fixed(stretch.secondsOn(model) * 1e6, 2), threads, decimal::fixed(apart * 1e6, 2),
                         decimal::fixed(total * 1e6, 2))
               .str();
  }

  ProgramOp program;
  const machine::MachineModel &model;
  int64_t threads;
  SymbolTable &symbols;
  SmallVector<BranchStep> steps;
  std::optional<AliveBytes> bytes; // where they limit what may run at once
  SmallVector<double> best;
  SmallVector<unsigned> from;
};

struct JoinBranches : sprig::impl::JoinBranchesBase<JoinBranches> {
  using JoinBranchesBase::JoinBranchesBase;

  void runOnOperation() override {
    // Several lanes run side by side as they are; what shares bytes of an arena is in order as it is; of pieces of the
    // samples, each thread has its own.
    auto programs = llvm::to_vector(llvm::make_filter_range(getOperation().getOps<ProgramOp>(), [](ProgramOp program) {
      return !program.getArenas() && llvm::hasSingleElement(program.getBody().getOps<LaneOp>()) &&
             kernel::piecesOf(program) == 1;
    }));
    if (threads == 1 || programs.empty()) return;
    const Target *device = targetForPass(getOperation(), target);
    if (!device) return signalPassFailure();
    if (!device->takesComposites()) return;
    std::optional<machine::MachineModel> model = machineForPass(getOperation(), target, architectures);
    if (!model) return signalPassFailure();
    int64_t count = model->threadsFor(threads);
    ThreadCosts costs(getOperation(), *model);
    SymbolTable symbols(getOperation());
    for (ProgramOp program : programs) BranchJoiner(program, costs, *model, count, symbols).run();
  }
};
} // namespace
