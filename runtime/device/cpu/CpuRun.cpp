#include "runtime/device/cpu/CpuRun.h"

#include "runtime/base/FloatEnv.h"
#include "runtime/exec/Binding.h"
#include "runtime/exec/Pool.h"
#include "runtime/format/Types.h"

#include <algorithm>
#include <cstring>

namespace sprig::rt::core {

namespace {

// A lane's word: number of the run above two bits of phase.
enum Phase : uint64_t { Idle = 0, Ready = 1, Running = 2, Done = 3 };
constexpr uint64_t word(uint64_t generation, Phase phase) { return generation << 2 | phase; }
constexpr Phase phaseOf(uint64_t word) { return Phase(word & 3); }
constexpr uint64_t generationOf(uint64_t word) { return word >> 2; }

} // namespace

Status CpuRun::run(uint32_t entryIndex, const Binding &binding) {
  pool.pinCaller();
  void *const *operands = binding.operands();
  const Entry &current = package.program().entries[entryIndex];
  bool wanted = pool.threads() > 1 && package.isParallel(entryIndex);
  if (!wanted && package.isPlain(entryIndex) && facts[entryIndex].front().wires.empty())
    return recorded ? executePlain<true>(current, operands) : executePlain<false>(current, operands);
  FloatEnv floatEnv;
  ++generation;
  stopped = {};
  collectiveLane = current.ranks > 1 ? collectiveLaneOf(entryIndex) : kNoLane;
  lanesDone.store(0, std::memory_order_relaxed);
  entry.store(&current, std::memory_order_relaxed);
  operandTable.store(operands, std::memory_order_relaxed);
  for (uint32_t lane = 0; lane < current.lanes.size(); ++lane) {
    lanes[lane].position.store(0, std::memory_order_relaxed);
    lanes[lane].carry.store(LaneSlot::Carry::None, std::memory_order_relaxed);
    bool isTaken = lane == 0 || lane == collectiveLane;
    lanes[lane].word.store(word(generation, isTaken ? Running : Ready), std::memory_order_release);
  }
  // Without a thread the caller finds the lane as any other.
  if (collectiveLane != kNoLane && !collectives.begin()) {
    uint32_t lane = std::exchange(collectiveLane, kNoLane);
    lanes[lane].word.store(word(generation, Ready), std::memory_order_release);
  }
  if (wanted) {
    pool.publish(*this);
    if (current.lanes.size() > 1) pool.wake();
  }
  if (!current.lanes.empty()) driveAll();
  if (wanted) pool.unpublish(*this);
  if (control.isGoing()) return {};
  stopOthers();
  Status status = control.take(package.program()); // of several ranks what came later
  return stopped.isOk() ? std::move(status) : std::move(stopped);
}

// The lane whose collectives may go on beside the caller's work, where it has nothing else to do and there is a core.
uint32_t CpuRun::collectiveLaneOf(uint32_t entryIndex) const {
  const std::vector<LaneFacts> &own = facts[entryIndex];
  for (uint32_t lane = 1; lane < own.size(); ++lane)
    if (own[lane].meets && own[lane].onlyCopies && own[lane].wires.empty() && group->hasCoreBeside(pool.threads()))
      return lane;
  return kNoLane;
}

// On the thread for it; the run is not over before the lane is.
void CpuRun::driveCollectives() {
  uint32_t lane = collectiveLane;
  uint64_t current = generation;
  while (!advance(lane, pool.threads())) collectives.waitUntil(signal, [&] { return laneCanMove(lane, current); });
}

// Others wait for what this rank does not come to any more, its own collective among them.
void CpuRun::stopOthers() {
  const Entry &current = *entry.load(std::memory_order_relaxed);
  if (current.ranks < 2 || !stopped.isOk()) return;
  stopped = control.take(package.program());
  group->fail({stopped.code(), concat("rank ", group->rank(), ": entry '", current.name, "': ", stopped.message())});
}

void CpuRun::runCollective(const Command &command, void *const *own, bool isApart) {
  const Entry &current = *entry.load(std::memory_order_relaxed);
  const Collective &asked = current.collectives[command.collective];
  int64_t size = int64_t(dtypeSize(asked.dtype));
  auto tensorOf = [&](uint32_t i) -> comm::GroupTensor {
    auto bufferOf = [&](uint32_t operand) -> comm::Buffers::Buffer {
      return {own[operand], int64_t(current.bufferOf(command, operand).size) / size, asked.unitOf(i)};
    };
    comm::GroupTensor tensor{bufferOf(asked.wholeOf(command, i))};
    if (!asked.isInPlace()) tensor.other = bufferOf(asked.otherOf(command, i));
    return tensor;
  };
  comm::GroupCall call{asked.kind, sprig_rt_dtype(asked.dtype), asked.reduction, asked.algorithm, int32_t(asked.root)};
  comm::RankGroup *part = nullptr;
  if (!asked.axes.empty()) part = parts[size_t(&current - package.program().entries.data())][command.collective];
  comm::RankGroup &met = part ? *part : *group;
  Status status;
  if (!current.meets(command)) {
    for (uint32_t i = 0; i < asked.tensorsOf(command) && status.isOk(); ++i) {
      comm::GroupTensor tensor = tensorOf(i);
      status = met.run(call, {&tensor, 1}, command.name);
    }
  } else {
    // Said before it is asked whether the run goes on: who cancels it says so, and then asks who is in a collective.
    comm::RankGroup::Presence inside(*group, !isApart);
    if (control.isStopped()) return;
    tensors.clear();
    for (uint32_t i = 0; i < asked.tensorsOf(command); ++i) tensors.push_back(tensorOf(i));
    status = met.run(call, tensors, command.name);
  }
  if (!status.isOk()) control.fail(std::move(status));
}

// A call that nobody helps with, on the caller's thread: a small network takes less time than telling others of it.
template <bool Recorded> Status CpuRun::executePlain(const Entry &current, void *const *operands) {
  FloatEnv floatEnv;
  for (const Command &command : current.lanes.front().commands) {
    if (!control.isGoing()) [[unlikely]]
      break;
    void *const *own = operands + command.firstOperand;
    uint64_t begin = Recorded ? ticks() : 0;
    if (command.kind == CommandKind::Dispatch) {
      if (command.tiles) runSlice(command, own, 0, command.tiles, 0);
    } else {
      std::memmove(own[1], own[0], command.copyBytes);
    }
    if (Recorded)
      recorded->add(profileKind(current, command), begin, 0,
                    uint32_t(&command - current.lanes.front().commands.data()));
  }
  return control.isGoing() ? Status() : control.take(package.program());
}

bool CpuRun::help(uint32_t participant) {
  // Slices first: somebody waits for them.
  if (takeSlicesOfAnyLane(participant)) return true;
  return driveSomeLane(1, participant);
}

void CpuRun::driveAll() {
  uint32_t count = uint32_t(entry.load(std::memory_order_relaxed)->lanes.size());
  if (!wires.empty()) driveCarriers(0);
  bool zeroEnded = advance(0, 0);
  auto ended = [&] { return zeroEnded && lanesDone.load(std::memory_order_acquire) == count; };
  auto mustTell = [&] { return collectiveLane != kNoLane && !control.isGoing() && stopped.isOk(); };
  using Clock = comm::RankGroup::Clock;
  while (!ended()) {
    bool isTimed = collectiveLane != kNoLane && phaseOf(lanes[collectiveLane].word.load()) != Done;
    Clock::time_point begin = isTimed ? Clock::now() : Clock::time_point(), last = begin;
    // The other lanes are computation, which is no waiting: the wait ends where that began.
    pool.waitUntil(signal, [&] {
      if (isTimed) last = Clock::now();
      if (!ended() && !mustTell() && (zeroEnded || !laneCanMove(0, generation)))
        return driveSomeLane(1, 0) || takeSlicesOfAnyLane(0);
      return true;
    });
    if (isTimed) group->hasWaited(last - begin);
    if (mustTell()) stopOthers();
    if (!zeroEnded && laneCanMove(0, generation)) zeroEnded = advance(0, 0);
  }
}

// Runs a lane that this thread drives until it ends (true) or gives it back because it must wait (false).
bool CpuRun::advance(uint32_t lane, uint32_t participant) {
  LaneSlot &slot = lanes[lane];
  const Lane &program = entry.load(std::memory_order_relaxed)->lanes[lane];
  void *const *operands = operandTable.load(std::memory_order_relaxed);
  LaneRun laneRun{slot, lane, participant};
  uint32_t count = uint32_t(program.commands.size());
  uint32_t at = slot.position.load(std::memory_order_relaxed);
  bool carries = factsOf(lane)->carries;
  for (; at < count; ++at) {
    const Command &command = program.commands[at];
    // The caller leaves another lane as soon as its own, not ended yet, can go on; one that takes no time it need not.
    bool leave = lane != 0 && !carries && participant == 0 && laneCanMove(0, generation) &&
                 phaseOf(lanes[0].word.load(std::memory_order_relaxed)) != Done;
    if (leave ||
        (command.kind == CommandKind::Wait && events[command.event].load(std::memory_order_acquire) != generation)) {
      slot.position.store(at, std::memory_order_relaxed);
      if (lane != 0 && lane != collectiveLane) {
        slot.word.store(word(generation, Ready), std::memory_order_release);
        // Who recorded the event in between found the lane taken: let it look again.
        changed();
      }
      return false;
    }
    if (command.kind == CommandKind::Copy && wireOf(lane, at)) {
      if (waitsForCarry(laneRun, at, operands)) return false;
      continue;
    }
    if (recorded) [[unlikely]]
      executeRecorded(command, laneRun, operands);
    else
      execute(command, laneRun, operands);
  }
  slot.position.store(count, std::memory_order_relaxed);
  slot.word.store(word(generation, Done), std::memory_order_release);
  lanesDone.fetch_add(1, std::memory_order_acq_rel);
  if (lane != 0) changed();
  return true;
}

// A stopped run still goes through its events, so that all lanes end.
void CpuRun::execute(const Command &command, LaneRun &lane, void *const *operands) {
  void *const *own = operands + command.firstOperand;
  switch (command.kind) {
  case CommandKind::Dispatch:
    if (control.isGoing()) dispatchTiles(lane, command, own);
    return;
  case CommandKind::Copy:
    // The planner may alias source and target.
    if (control.isGoing()) std::memmove(own[1], own[0], command.copyBytes);
    return;
  case CommandKind::Collective:
    if (control.isGoing()) runCollective(command, own, lane.lane == collectiveLane);
    return;
  case CommandKind::Wait: return; // recorded already: a lane that would wait is given back
  case CommandKind::Record:
    events[command.event].store(generation, std::memory_order_release);
    changed();
    pool.wake();
    if (!wires.empty()) driveCarriers(lane.participant);
    return;
  }
}

// May be asked about a lane of a run that is over, or between two: null where there is none of that number.
const CpuRun::LaneFacts *CpuRun::factsOf(uint32_t lane) const {
  const Entry *current = entry.load(std::memory_order_relaxed);
  if (!current || lane >= current->lanes.size()) return nullptr;
  return &facts[size_t(current - package.program().entries.data())][lane];
}

Wire *CpuRun::wireOf(uint32_t lane, uint32_t at) const {
  const std::vector<Wire *> &own = factsOf(lane)->wires;
  return own.empty() ? nullptr : own[at];
}

// Sends a copy on its way and gives the lane back (true), or finds that it has arrived (false), or that the run was
// stopped before. Who looked at the lane when it was somewhere else may have claimed it while a copy is under way: then
// it is given back as it was.
bool CpuRun::waitsForCarry(LaneRun &lane, uint32_t at, void *const *operands) {
  LaneSlot &slot = lane.slot;
  LaneSlot::Carry carry = slot.carry.load(std::memory_order_acquire);
  if (carry == LaneSlot::Carry::Arrived) {
    slot.carry.store(LaneSlot::Carry::None, std::memory_order_relaxed);
    return false;
  }
  if (carry == LaneSlot::Carry::UnderWay) {
    if (lane.lane == 0) return true;
    slot.word.store(word(generation, Ready), std::memory_order_release);
    // Either this thread sees the arrival, or the link's thread sees that the lane is free (arrived()).
    std::atomic_thread_fence(std::memory_order_seq_cst);
    changed();
    if (slot.carry.load(std::memory_order_acquire) == LaneSlot::Carry::Arrived) driveCarriers(lane.participant);
    return true;
  }
  if (!control.isGoing()) return false;
  const Command &command = entry.load(std::memory_order_relaxed)->lanes[lane.lane].commands[at];
  void *const *own = operands + command.firstOperand;
  LaneSlot::Carried &copy = slot.carried;
  copy.target = static_cast<uint8_t *>(own[1]);
  copy.source = static_cast<const uint8_t *>(own[0]);
  copy.bytes = command.copyBytes;
  copy.owner = this;
  copy.arrived = [](WiredCopy &arrived) {
    auto &carried = static_cast<LaneSlot::Carried &>(arrived);
    carried.run->arrived(carried);
  };
  copy.run = this;
  copy.lane = lane.lane;
  copy.begin = recorded ? ticks() : 0;
  Wire *wire = wireOf(lane.lane, at);
  slot.position.store(at, std::memory_order_relaxed);
  slot.carry.store(LaneSlot::Carry::UnderWay, std::memory_order_relaxed);
  // The lane is nobody's before the copy can arrive.
  if (lane.lane != 0) slot.word.store(word(generation, Ready), std::memory_order_release);
  wire->begin(copy);
  return true;
}

// On the link's thread, which is none of the pool's: it may not compute.
void CpuRun::arrived(LaneSlot::Carried &copy) {
  LaneSlot &slot = lanes[copy.lane];
  // Spans of one thread do not overlap: of two that share a link the later one is shown from the other's end.
  static thread_local uint64_t busyUntil = 0;
  if (recorded)
    recorded->add(SPRIG_RT_PROFILE_COPY, std::max(copy.begin, busyUntil), copy.lane, slot.position.load(),
                  pool.threads());
  uint32_t lane = copy.lane;
  bool drives = lane != 0 && factsOf(lane)->carries;
  slot.carry.store(LaneSlot::Carry::Arrived, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst); // see waitsForCarry()
  if (drives && claimLane(lane)) {
    advance(lane, pool.threads());
  } else {
    changed();
    pool.wake();
  }
  busyUntil = ticks();
}

// Sends on their way what copies over links can begin; others need not look.
void CpuRun::driveCarriers(uint32_t participant) {
  for (uint32_t lane = 1; lane < laneCapacity; ++lane)
    if (const LaneFacts *own = factsOf(lane); own && own->carries && claimLane(lane)) advance(lane, participant);
}

void CpuRun::executeRecorded(const Command &command, LaneRun &lane, void *const *operands) {
  uint64_t begin = ticks();
  execute(command, lane, operands);
  const Entry &current = *entry.load(std::memory_order_relaxed);
  const Lane &program = current.lanes[lane.lane];
  recorded->add(profileKind(current, command), begin, lane.lane, uint32_t(&command - program.commands.data()),
                lane.participant);
}

// May be asked about a lane of a run that is over: then the answer is of no use, but safe to compute.
bool CpuRun::laneCanMove(uint32_t lane, uint64_t ofGeneration) const {
  const Entry *current = entry.load(std::memory_order_relaxed);
  if (!current || lane >= current->lanes.size()) return false;
  const std::vector<Command> &commands = current->lanes[lane].commands;
  uint32_t at = lanes[lane].position.load(std::memory_order_relaxed);
  if (at >= commands.size()) return at == commands.size();
  if (commands[at].kind == CommandKind::Copy)
    return lanes[lane].carry.load(std::memory_order_acquire) != LaneSlot::Carry::UnderWay;
  return commands[at].kind != CommandKind::Wait ||
         events[commands[at].event].load(std::memory_order_acquire) == ofGeneration;
}

bool CpuRun::claimLane(uint32_t lane) {
  uint64_t seen = lanes[lane].word.load(std::memory_order_acquire);
  return phaseOf(seen) == Ready && laneCanMove(lane, generationOf(seen)) &&
         lanes[lane].word.compare_exchange_strong(seen, word(generationOf(seen), Running), std::memory_order_acq_rel);
}

uint32_t CpuRun::threadsOf(uint32_t lane) const {
  if (shares.shares == 1) return shares.threads;
  return shares.threadsOf(entry.load(std::memory_order_relaxed)->lanes[lane].device);
}

// May be asked between two runs; whose lane it was then decides nothing but who works.
bool CpuRun::serves(uint32_t participant, uint32_t lane) const {
  if (participant == 0) return true;
  const LaneFacts *own = factsOf(lane);
  return own && !own->meets && (shares.shares == 1 || own->onlyCopies || shares.has(own->device, participant));
}

bool CpuRun::driveSomeLane(uint32_t first, uint32_t participant) {
  for (uint32_t lane = first; lane < laneCapacity; ++lane)
    if (serves(participant, lane) && claimLane(lane)) {
      advance(lane, participant);
      return true;
    }
  return false;
}

void CpuRun::dispatchTiles(LaneRun &lane, const Command &command, void *const *operands) {
  int64_t threads = SharedDispatch::worthyThreads(command, threadsOf(lane.lane));
  if (threads < 2) {
    if (command.tiles) runSlice(command, operands, 0, command.tiles, lane.participant);
    return;
  }
  SharedDispatch &shared = lane.slot.dispatch;
  shared.open(command, operands, threads);
  if (lane.lane == 0)
    calls.share(pool, command);
  else
    pool.wake();
  if (lane.participant != 0) changed();
  takeSlices(lane.slot, lane.participant);
  pool.waitUntil(signal, [&] { return shared.isDone(); });
}

bool CpuRun::takeSlices(LaneSlot &slot, uint32_t participant) {
  auto run = [&](const Command &command, void *const *operands, int64_t begin, int64_t end) {
    if (recorded) [[unlikely]]
      runSliceRecorded(slot, command, operands, begin, end, participant);
    else
      runSlice(command, operands, begin, end, participant);
  };
  return slot.dispatch.takeSlices(pool.takesFront(participant), run, [this] { changed(); });
}

bool CpuRun::takeSlicesOfAnyLane(uint32_t participant) {
  bool took = false;
  for (uint32_t lane = 0; lane < laneCapacity; ++lane)
    if (serves(participant, lane)) took |= takeSlices(lanes[lane], participant);
  return took;
}

void CpuRun::runSlice(const Command &command, void *const *operands, int64_t begin, int64_t end, uint32_t participant) {
  if (control.isCancelled()) return;
  uint8_t *share = scratch.data() + (participant == 0 ? 0 : callerScratch + (participant - 1) * helperScratch);
  runTiles(code, command, operands, {begin, end}, share, control);
}

void CpuRun::runSliceRecorded(const LaneSlot &slot, const Command &command, void *const *operands, int64_t begin,
                              int64_t end, uint32_t participant) {
  uint64_t began = ticks();
  runSlice(command, operands, begin, end, participant);
  uint32_t lane = uint32_t(&slot - lanes.get());
  const Lane &program = entry.load(std::memory_order_relaxed)->lanes[lane];
  recorded->add(SPRIG_RT_PROFILE_SLICE, began, lane, uint32_t(&command - program.commands.data()), participant, begin,
                end);
}

void CpuRun::changed() {
  signal.fetch_add(1);
  signal.notify_all();
}

} // namespace sprig::rt::core
