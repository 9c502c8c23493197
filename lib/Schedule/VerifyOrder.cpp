#define GEN_PASS_DEF_VERIFYORDER
#include "lib/Schedule/Passes.h"
#include "lib/Schedule/Order.h"
#include "lib/Schedule/RankPrograms.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;
namespace order = sprig::rt::order;

Space sprig::spaceOf(BufferOp buffer) {
  bool isApart = buffer.getKind() == BufferKind::arena && !buffer.getOffset();
  const void *source =
      isApart ? static_cast<const void *>(buffer.getOperation()) : buffer.getSourceAttr().getAsOpaquePointer();
  return {buffer.getKind(), buffer.getPlace().getAsOpaquePointer(), source, int64_t(buffer.getIndex().value_or(0))};
}

namespace {
// Gives spaces and regions their numbers.
class OrderBuilder {
public:
  OrderBuilder(ProgramOrder &to, SymbolTableCollection *symbols) : to(to), symbols(symbols) {}

  void add(ProgramOp program) {
    for (auto lane : program.getBody().getOps<LaneOp>()) {
      to.lanes.push_back(lane);
      for (auto command : lane.getBody().getOps<CommandOpInterface>()) add(command);
      to.schedule.endLane();
    }
    to.schedule.events = uint32_t(events.size());
  }

private:
  void add(CommandOpInterface command) {
    to.commands.push_back(command);
    if (auto event = command.getRecordedEvent())
      return to.schedule.commands.push_back({order::Kind::Record, eventOf(*event), 0, 0});
    if (auto event = command.getAwaitedEvent())
      return to.schedule.commands.push_back({order::Kind::Wait, eventOf(*event), 0, 0});
    to.schedule.work();
    if (!symbols) return;
    SmallVector<BufferAccess> accesses;
    command.getAccesses(*symbols, accesses);
    for (const BufferAccess &access : accesses) {
      uint32_t region = regionOf(access);
      if (reads(access.mode)) to.schedule.access(region, false);
      if (writes(access.mode)) to.schedule.access(region, true);
    }
  }

  // Numbers in a program may have gaps.
  uint32_t eventOf(int64_t event) { return events.try_emplace(event, uint32_t(events.size())).first->second; }

  uint32_t regionOf(const BufferAccess &access) {
    auto [place, fresh] =
        regions.try_emplace({access.buffer, {access.begin, access.end}}, uint32_t(to.schedule.regions.size()));
    if (!fresh) return place->second;
    auto buffer = access.buffer.getDefiningOp<BufferOp>();
    uint64_t offset = buffer.getOffset().value_or(0);
    to.schedule.regions.push_back({numberOf(buffer), offset + uint64_t(access.begin), offset + uint64_t(access.end)});
    return place->second;
  }

  uint32_t numberOf(BufferOp buffer) {
    auto [found, fresh] = spaces.try_emplace(spaceOf(buffer), uint32_t(to.spaces.size()));
    if (fresh) to.spaces.push_back(titleOf(buffer));
    return found->second;
  }

  static std::string titleOf(BufferOp buffer) {
    std::string text;
    llvm::raw_string_ostream out(text);
    if (buffer.getKind() == BufferKind::arena && buffer.getOffset())
      out << "the arena";
    else if (buffer.getKind() == BufferKind::arena)
      out << "buffer '" << buffer.getLabel().value_or("") << "'";
    else if (buffer.getSource())
      out << stringifyBufferKind(buffer.getKind()) << ' ' << buffer.getSourceAttr();
    else
      out << stringifyBufferKind(buffer.getKind()) << ' ' << *buffer.getIndex();
    out << " on " << buffer.getPlace();
    return text;
  }

  ProgramOrder &to;
  SymbolTableCollection *symbols;
  DenseMap<int64_t, uint32_t> events;
  DenseMap<std::pair<Value, std::pair<int64_t, int64_t>>, uint32_t> regions;
  std::map<Space, uint32_t> spaces;
};
} // namespace

CommandOpInterface ProgramOrder::commandAt(order::Place place) const {
  return commands[(place.lane ? schedule.laneEnds[place.lane - 1] : 0) + place.index];
}

ProgramOrder sprig::orderOf(ProgramOp program, SymbolTableCollection *symbols) {
  ProgramOrder result;
  OrderBuilder(result, symbols).add(program);
  return result;
}

static std::string titleOf(CommandOpInterface command) {
  StringRef title = command.getTitle();
  return ("'" + (title.empty() ? command->getName().stripDialect() : title) + "'").str();
}

static LogicalResult report(const ProgramOrder &program, const order::Finding &finding) {
  CommandOpInterface second = program.commandAt(finding.second);
  if (finding.verdict == order::Verdict::Stuck)
    return second->emitOpError("waits for event ")
           << *second.getAwaitedEvent() << ", which no command can record before it";
  CommandOpInterface first = program.commandAt(finding.first);
  return (second->emitOpError() << titleOf(second) << " in lane " << finding.second.lane << " on " << second.getDevice()
                                << (finding.secondWrites ? " writes" : " reads") << " bytes " << finding.shared.begin
                                << " to " << finding.shared.end << " of " << program.spaces[finding.shared.space]
                                << " without an order to what lane " << finding.first.lane << " does with them")
             .attachNote(first->getLoc())
         << titleOf(first) << " in lane " << finding.first.lane << " on " << first.getDevice()
         << (finding.firstWrites ? " writes" : " reads") << " them here";
}

// All ranks come to their collectives in one order: that of the program, where they are in several lanes.
static LogicalResult verifyCollectives(const ProgramOrder &all) {
  std::vector<bool> meets;
  for (CommandOpInterface command : all.commands) meets.push_back(isCollectiveCommand(command));
  std::optional<std::pair<order::Place, order::Place>> found = order::findUnordered(all.schedule, meets);
  if (!found) return success();
  auto [earlier, later] = *found;
  CommandOpInterface first = all.commandAt(earlier), second = all.commandAt(later);
  return (second->emitOpError() << titleOf(second) << " in lane " << later.lane
                                << " meets other ranks, without an order to what is in lane " << earlier.lane)
             .attachNote(first->getLoc())
         << titleOf(first) << " in lane " << earlier.lane << " meets other ranks, too";
}

LogicalResult sprig::verifyOrder(ProgramOp program, SymbolTableCollection &symbols) {
  auto lanes = program.getBody().getOps<LaneOp>();
  bool isPlain = llvm::hasNItemsOrLess(lanes, 1) && llvm::all_of(lanes, [](LaneOp lane) {
                   return llvm::none_of(lane.getBody().getOps<CommandOpInterface>(),
                                        [](CommandOpInterface command) { return command.isEvent(); });
                 });
  if (isPlain) return success();
  ProgramOrder all = orderOf(program, &symbols);
  order::Finding finding = order::checkOrder(all.schedule);
  if (finding.verdict == order::Verdict::Ordered) return verifyCollectives(all);
  if (finding.verdict != order::Verdict::TooLarge) return report(all, finding);
  return program.emitOpError("has ") << all.lanes.size() << " lanes and " << all.schedule.events
                                     << " events, more than can be proved to be in order";
}

namespace {
struct VerifyOrder : sprig::impl::VerifyOrderBase<VerifyOrder> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto program : getOperation().getOps<ProgramOp>())
      if (failed(verifyOrder(program, symbols))) return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
