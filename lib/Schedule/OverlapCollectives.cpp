#define GEN_PASS_DEF_OVERLAPCOLLECTIVES
#include "lib/Schedule/Passes.h"
#include "lib/Schedule/CommandSeconds.h"
#include "lib/Schedule/Order.h"
#include "lib/Schedule/RankPrograms.h"
#include "lib/Schedule/SplitLanes.h"
#include "lib/Target/Registry.h"
#include "runtime/base/Decimal.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

namespace {
// With a lane for collectives a program must be expected to take less than this share of the time: the expectation is a
// model's.
constexpr double kWorthOverlap = 0.98;

struct OverlapStep {
  CommandOpInterface command;
  double seconds = 0;
  SmallVector<unsigned> before; // steps that must have ended
  bool isCollective = false;
  bool isApart = false; // may have another lane
};

// What a program of one lane is expected to take, as it is and with some collectives beside the rest.
class Expectation {
public:
  explicit Expectation(double handOff) : handOff(handOff) {}

  void add(OverlapStep step) {
    (step.isCollective ? collective : computing) += step.seconds;
    steps.push_back(std::move(step));
  }

  /// Which collectives may have another lane: those between whose last operand and first reader something else is to be
  /// done that takes longer than to hand them over and back. With `all` those, too, between which there is anything to
  /// do, or that no other collective waits for.
  void findLate(bool all) {
    SmallVector<double> done, made(steps.size(), 0), read(steps.size(), computing); // seconds of computing
    SmallVector<bool> feeds(steps.size(), false);                                   // a collective
    double now = 0;
    for (auto [index, step] : llvm::enumerate(steps)) {
      for (unsigned earlier : step.before) {
        made[index] = std::max(made[index], done[earlier]);
        read[earlier] = std::min(read[earlier], now);
      }
      now += step.isCollective ? 0 : step.seconds;
      done.push_back(now);
    }
    for (unsigned index = steps.size(); index-- > 0;)
      if (steps[index].isCollective || feeds[index])
        for (unsigned earlier : steps[index].before) feeds[earlier] = true;
    for (auto [index, step] : llvm::enumerate(steps))
      step.isApart =
          step.isCollective && (read[index] - made[index] > (all ? 0 : 2 * handOff) || (all && !feeds[index]));
  }
  llvm::DenseSet<Operation *> late() const {
    llvm::DenseSet<Operation *> found;
    for (const OverlapStep &step : steps)
      if (step.isApart) found.insert(step.command);
    return found;
  }

  double onOneLane() const { return collective + computing; }
  double apart() const {
    SmallVector<double> ends;
    double laneEnds[2] = {0, 0};
    std::optional<unsigned> lastCollective;
    for (auto [index, step] : llvm::enumerate(steps)) {
      double start = laneEnds[step.isApart];
      auto follow = [&](unsigned earlier) {
        start = std::max(start, ends[earlier] + (steps[earlier].isApart == step.isApart ? 0 : handOff));
      };
      llvm::for_each(step.before, follow);
      if (step.isCollective && lastCollective) follow(*lastCollective);
      if (step.isCollective) lastCollective = unsigned(index);
      ends.push_back(laneEnds[step.isApart] = start + step.seconds);
    }
    return std::max(laneEnds[0], laneEnds[1] + handOff);
  }
  double exposed() const { return std::max(apart() - computing, 0.0); }

  double collective = 0, computing = 0; // seconds

private:
  double handOff;
  SmallVector<OverlapStep> steps;
};

struct OverlapCollectives : sprig::impl::OverlapCollectivesBase<OverlapCollectives> {
  using OverlapCollectivesBase::OverlapCollectivesBase;

  void runOnOperation() override {
    std::optional<machine::MachineModel> model;
    SymbolTableCollection symbols;
    for (auto program : llvm::to_vector(getOperation().getOps<ProgramOp>())) {
      auto lanes = llvm::to_vector(program.getBody().getOps<LaneOp>());
      // What shares bytes of an arena is in order as it is, several lanes are as somebody wants them.
      if (program.getArenas() || lanes.size() != 1) continue;
      auto isCollective = [](Operation &command) { return isCollectiveCommand(&command); };
      if (llvm::none_of(lanes.front().getBody().front(), isCollective)) continue;
      if (!model) model = machineForPass(getOperation(), target, architectures);
      if (!model) return signalPassFailure();
      overlap(program, lanes.front(), *model, symbols);
    }
  }

private:
  Expectation expect(ProgramOp program, const machine::MachineModel &model, SymbolTableCollection &symbols) const {
    Expectation expectation(model.handOff);
    CommandSeconds seconds(model, {latency, rate});
    ProgramOrder ordered = orderOf(program, &symbols);
    SmallVector<uint32_t> order(ordered.commands.size());
    std::iota(order.begin(), order.end(), 0);
    for (auto [command, before] : llvm::zip_equal(ordered.commands, dependences(ordered.schedule, order)))
      expectation.add({command, seconds.of(command, symbols), std::move(before), isCollectiveCommand(command), false});
    expectation.findLate(all);
    return expectation;
  }

  void overlap(ProgramOp program, LaneOp lane, const machine::MachineModel &model, SymbolTableCollection &symbols) {
    Expectation expectation = expect(program, model, symbols);
    LaneCommands facts;
    facts.apart = expectation.late();
    double apart = expectation.apart(), onOneLane = expectation.onOneLane();
    auto us = [](double seconds) { return decimal::fixed(seconds * 1e6, 2); };
    auto remarkOn = [&](auto remark, StringRef what) {
      remark << llvm::formatv("program '{0}': {1} of {2} collectives {3}; {4} us together, on one lane {5}, of "
                              "which {6} are collectives; beside the rest {7} of them are not hidden",
                              program.getSymName(), facts.apart.size(), count(lane), what, us(apart), us(onOneLane),
                              us(expectation.collective), us(expectation.exposed()))
                    .str();
    };
    auto options = remark::RemarkOpts::name("collectives").category("schedule");
    if (facts.apart.empty() || (!all && apart > kWorthOverlap * onOneLane))
      return remarkOn(remark::missed(program.getLoc(), options), "could have a lane of their own, and stay");
    remarkOn(remark::passed(program.getLoc(), options), "have a lane of their own");
    DeviceOp device = symbols.lookupNearestSymbolFrom<DeviceOp>(program, lane.getDeviceAttr());
    splitLane(lane, device, facts);
  }

  static int64_t count(LaneOp lane) {
    return llvm::count_if(lane.getBody().front(), [](Operation &op) { return isCollectiveCommand(&op); });
  }
};
} // namespace
