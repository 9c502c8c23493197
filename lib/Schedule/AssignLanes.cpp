#define GEN_PASS_DEF_ASSIGNLANES
#include "lib/Schedule/Passes.h"
#include "lib/Schedule/InPlace.h"
#include "lib/Machine/AccessTime.h"
#include "lib/Schedule/LaneScheduler.h"
#include "lib/Schedule/Order.h"
#include "lib/Schedule/RankPrograms.h"
#include "lib/Target/Registry.h"
#include "runtime/base/Decimal.h"
#include "runtime/machine/ThreadShares.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;
namespace order = sprig::rt::order;

namespace {
// More lanes must be expected to take less than this share of the time: the expectation is a model's.
constexpr double kWorthyShare = 0.95;

struct AssignLanes : sprig::impl::AssignLanesBase<AssignLanes> {
  using AssignLanesBase::AssignLanesBase;

  void runOnOperation() override {
    if (lanes < 1) {
      getOperation().emitError("assign-lanes needs at least 1 lane");
      return signalPassFailure();
    }
    const Target *code = targetForPass(getOperation(), target);
    if (!code) return signalPassFailure();
    if (lanes == 1) return;
    findDevices(*code);
    SymbolTableCollection symbols;
    for (auto program : getOperation().getOps<ProgramOp>())
      if (failed(assign(program, symbols))) return signalPassFailure();
  }

private:
  // A device of a kind that is no target runs the code of the one that kernels are for: a null device.
  void findDevices(const Target &code) {
    CompileOptions options;
    if (!architectures.empty()) options.architectures.assign(architectures.begin(), architectures.end());
    machines.clear();
    devices.clear();
    SmallVector<unsigned> sharing; // the processor
    for (auto device : getOperation().getOps<DeviceOp>()) {
      auto own = llvm::find_if(targets(), [&](const Target *each) { return each->kind() == device.getKind(); });
      devices[device.getSymNameAttr()] = machines.size();
      machines.push_back((own == targets().end() ? code : **own).machine(options));
      if (own != targets().end() && !machines.back().lanesShareDevice()) sharing.push_back(machines.size() - 1);
    }
    threadsOf.assign(machines.size(), 0);
    for (auto [share, device] : llvm::enumerate(sharing))
      threadsOf[device] =
          rt::core::ThreadShares{uint32_t(machines[device].threadsFor(threads)), uint32_t(sharing.size())}.threadsOf(
              uint32_t(share));
  }

  /// A thread drives one lane at a time. A package for any number of threads has all lanes that are asked for.
  unsigned lanesOf(unsigned device) const {
    return threads && threadsOf[device] ? std::min(lanes.getValue(), threadsOf[device]) : lanes.getValue();
  }

  LogicalResult assign(ProgramOp program, SymbolTableCollection &symbols) {
    // What shares bytes of an arena is in order as it is; a device that has lanes was given them.
    if (program.getArenas()) return success();
    SmallVector<LaneGroup> groups;
    DenseMap<Operation *, unsigned> groupOf; // of lanes
    DenseSet<unsigned> computing;
    bool fewThreads = false;
    for (auto lane : program.getBody().getOps<LaneOp>()) {
      // All ranks come to their collectives in one order, which is the program's.
      if (llvm::any_of(lane.getBody().front(), [](Operation &op) { return isCollectiveCommand(&op); })) {
        remark::missed(program.getLoc(), remark::RemarkOpts::name("lanes").category("schedule"))
            << ("program '" + program.getSymName() + "': of several ranks, it stays as it is").str();
        return success();
      }
      unsigned device = deviceOf(lane.getDeviceAttr());
      bool copies = copiesBetweenDevices(lane);
      if (!copies && !computing.insert(device).second) return success();
      groupOf[lane] = groups.size();
      groups.push_back({&machines[device], copies ? 1u : lanesOf(device), lane, copies ? 0 : threadsOf[device]});
      fewThreads |= !copies && lanesOf(device) < lanes;
    }
    // Which of two comes first must be the program's to say.
    if (failed(verifyOrder(program, symbols))) return failure();
    // Copies that would vanish later cost nothing.
    writeOutputsInPlace(program);
    writeStatesInPlace(program);
    ProgramOrder ordered = orderOf(program, &symbols);
    order::HappensBefore before(ordered.schedule);
    LaneScheduler scheduler(groups);
    for (uint32_t index : before.order()) {
      CommandOpInterface command = ordered.commands[index];
      auto [seconds, busy] = secondsOf(command, symbols);
      scheduler.add(command, groupOf.lookup(command->getParentOp()), seconds, busy);
    }
    scheduler.depend(ordered.schedule, before.order());
    scheduler.assign();
    // Hand-offs may take what the lanes win.
    unsigned used = scheduler.usedLanes(), had = groups.size();
    double seconds = scheduler.seconds(), asGiven = scheduler.secondsAsGiven();
    std::string lanesHad = had == 1 ? "one" : std::to_string(had);
    if (used <= had || seconds > kWorthyShare * asGiven) {
      if (auto remark = remark::missed(program.getLoc(), remark::RemarkOpts::name("lanes").category("schedule")))
        remark << llvm::formatv("program '{0}': {1} commands stay on {2}, {3} us; {4}", program.getSymName(),
                                before.order().size(), had == 1 ? "one lane" : lanesHad + " lanes",
                                decimal::fixed(asGiven * 1e6, 2),
                                used <= had ? fewThreads ? "there is no thread for another" : "more would bring nothing"
                                            : "on " + std::to_string(used) + " " + decimal::fixed(seconds * 1e6, 2))
                      .str();
      return success();
    }
    unsigned events = scheduler.emit();
    std::string text = llvm::formatv("program '{0}': {1} commands on {2} lanes with {3} events; {4} us, on {5} {6}",
                                     program.getSymName(), before.order().size(), used, events,
                                     decimal::fixed(seconds * 1e6, 2), lanesHad, decimal::fixed(asGiven * 1e6, 2));
    remark::passed(program.getLoc(), remark::RemarkOpts::name("lanes").category("schedule")) << text;
    return success();
  }

  /// A lane for that alone stays one: its copies go over one link.
  static bool copiesBetweenDevices(LaneOp lane) {
    bool copies = false;
    for (auto command : lane.getBody().getOps<CommandOpInterface>()) {
      if (command.isEvent()) continue;
      auto copy = dyn_cast<CopyOp>(command.getOperation());
      if (!copy || copy.getSource().getDefiningOp<BufferOp>().getPlace() ==
                       copy.getTarget().getDefiningOp<BufferOp>().getPlace())
        return false;
      copies = true;
    }
    return copies;
  }

  unsigned deviceOf(FlatSymbolRefAttr name) const { return devices.lookup(name.getAttr()); }

  /// None: a command that is no kernel.
  static int64_t tilesOf(CommandOpInterface command, SymbolTableCollection &symbols) {
    auto dispatch = dyn_cast<DispatchOp>(command.getOperation());
    if (!dispatch) return 0;
    if (dispatch.isPart()) return *dispatch.getEndTile() - *dispatch.getFirstTile();
    return symbols.lookupNearestSymbolFrom<KernelOp>(dispatch->getParentOfType<ModuleOp>(), dispatch.getKernelAttr())
        .getTiles();
  }

  /// Its own, and those of them that it has the device as a whole for.
  std::pair<double, double> secondsOf(CommandOpInterface command, SymbolTableCollection &symbols) const {
    SmallVector<BufferAccess> accesses;
    command.getAccesses(symbols, accesses);
    const machine::MachineModel &own = machines[deviceOf(command.getDevice())];
    double moved = 0, overLinks = 0;
    for (const BufferAccess &access : accesses)
      if (writes(access.mode)) moved += double(access.end - access.begin);
    for (const BufferAccess &access : accesses) {
      FlatSymbolRefAttr place = access.buffer.getDefiningOp<BufferOp>().getPlace();
      if (place != command.getDevice())
        overLinks = std::max({overLinks, own.link.seconds(moved), machines[deviceOf(place)].link.seconds(moved)});
    }
    if (overLinks > 0) return {overLinks, 0};
    Touched touched = command.countTouched(symbols);
    auto bytes = double(touched.total());
    double atBest = own.seconds(double(command.countFlops(symbols)), bytes, touched.total()) +
                    machine::accessSeconds(own, touched, bytes);
    double busy = atBest / machine::MachineModel::kKernelEfficiency;
    double seconds = own.commandSeconds + busy / own.shareOf(tilesOf(command, symbols));
    return {seconds, own.lanesShareDevice() ? busy : seconds};
  }

  SmallVector<machine::MachineModel> machines; // of the module's devices, in their order
  SmallVector<unsigned> threadsOf;             // of each that is a share of the processor; else 0
  DenseMap<StringAttr, unsigned> devices;      // their numbers
};
} // namespace
