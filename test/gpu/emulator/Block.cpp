#include "test/gpu/emulator/Block.h"
#include "test/gpu/emulator/Hooks.h"
#include <algorithm>
#include <cstring>
#include <utility>

using namespace sprig::gpu;

// Whose threads run on this host thread: an entry point of a stack has no arguments.
static thread_local Block *running = nullptr;

Block::Block(LaunchState &launch, Stacks &stacks, uint32_t sharedBytes, const SprigGpuThread &prototype)
    : launch(launch), threadCount(uint32_t(launch.blockDim.count())), stacks(stacks),
      code(launch.options.checked ? launch.kernel.checked : launch.kernel.plain), sharedSize(sharedBytes),
      localSize((launch.kernel.localBytes + 15) / 16 * 16) {
  threads.resize(launch.kernel.cooperates ? threadCount : 1);
  warps.resize((threadCount + 31) / 32);
  // Shared memory as aligned as any instruction wants it; a thread's variables lie one behind another.
  sharedStorage.resize(sharedSize + 256);
  sharedMemory = sharedStorage.data() + (256 - reinterpret_cast<uintptr_t>(sharedStorage.data()) % 256) % 256;
  localStorage.resize(size_t(localSize) * threads.size() + 16);
  uint8_t *local = localStorage.data() + (16 - reinterpret_cast<uintptr_t>(localStorage.data()) % 16) % 16;
  for (size_t i = 0; i < threads.size(); ++i) {
    static_cast<SprigGpuThread &>(threads[i]) = prototype;
    threads[i].owner = this;
    threads[i].shared = sharedMemory;
    threads[i].local = local + i * localSize;
  }
  for (uint32_t i = 0; i < warps.size(); ++i) warps[i].index = i;
  clock.mayOrder = launch.kernel.cooperates || launch.kernel.orders;
}

void Block::prepareThread(Thread &thread, uint32_t index) {
  const Dim3 &dim = launch.blockDim;
  thread.index = index;
  thread.tid[0] = index % dim.x, thread.tid[1] = index / dim.x % dim.y, thread.tid[2] = index / dim.x / dim.y;
  for (int i = 0; i < 3; ++i) thread.ctaid[i] = ctaid[i];
  thread.laneid = index % 32, thread.warpid = index / 32;
  thread.warp = &warps[index / 32];
  thread.warp->lanes[thread.laneid] = &thread;
  thread.state = Thread::State::Ready;
  thread.copies.clear();
  thread.committedGroups = 0;
  thread.polledAddress = thread.polls = 0;
  thread.order = {};
  thread.visits.clear();
}

void Block::start(uint64_t index) {
  const Dim3 &grid = launch.grid;
  ctaid[0] = uint32_t(index % grid.x), ctaid[1] = uint32_t(index / grid.x % grid.y),
  ctaid[2] = uint32_t(index / grid.x / grid.y);
  // Shared memory starts undefined: as floats NaN, as indices far outside.
  std::memset(sharedMemory, 0xff, sharedSize);
  clock.reset(uint32_t(index));
  if (findsRaces()) sharedRaces.reset(sharedSize);
  for (Barrier &barrier : barriers) barrier = {};
  alive = threadCount;
  for (Warp &warp : warps) {
    uint32_t lanes = std::min(32u, threadCount - warp.index * 32);
    warp.alive = lanes == 32 ? ~0u : (1u << lanes) - 1;
    warp.meetings.clear();
  }
  ready.clear();
}

void Block::run(uint64_t index) {
  start(index);
  Block *outer = std::exchange(running, this);
  launch.kernel.cooperates ? runTogether() : runOneByOne();
  running = outer;
}

std::vector<Thread *> Block::inOrder(std::vector<Thread *> threads) {
  if (launch.options.order == BlockOrder::Reverse) std::reverse(threads.begin(), threads.end());
  if (launch.options.order == BlockOrder::Random) std::shuffle(threads.begin(), threads.end(), launch.random);
  return threads;
}

void Block::runTogether() {
  std::vector<Thread *> all;
  for (uint32_t i = 0; i < threadCount; ++i) {
    prepareThread(threads[i], i);
    threads[i].context = stacks.prepare(i, enterThread);
    all.push_back(&threads[i]);
  }
  for (Thread *thread : inOrder(all)) ready.push_back(thread);
  current = ready.front();
  ready.pop_front();
  sprigGpuSwitch(&mainContext, current->context);
  if (!launch.hasFailed && alive) reportDeadlock();
}

// Threads that never meet run on one stack, one after another.
void Block::runOneByOne() {
  for (nextInSequence = 0; nextInSequence < threadCount && !launch.hasFailed;) {
    current = &threads[0];
    current->context = stacks.prepare(0, enterSequence);
    sprigGpuSwitch(&mainContext, current->context);
  }
}

void Block::enterThread() {
  running->code(running->current);
  running->endThread();
}
void Block::enterSequence() {
  Block &block = *running;
  while (block.nextInSequence < block.threadCount) {
    block.prepareThread(*block.current, block.nextInSequence++);
    block.code(block.current);
    block.ended(*block.current);
  }
  void *gone;
  sprigGpuSwitch(&gone, block.mainContext);
  __builtin_unreachable();
}

void Block::ended(Thread &thread) {
  if (!thread.copies.empty()) {
    complain(Fault::UnfinishedCopy, &thread, thread.copies.front().line, 0,
             where(thread) + " ends with an asynchronous copy that it has not waited for");
    landCopies(thread, ~0u);
  }
  thread.state = Thread::State::Ended;
  --alive;
  Warp &warp = *thread.warp;
  warp.alive &= ~(1u << thread.laneid);
  if (!warp.alive) warp.requests.flush(launch.traffic);
  // Those who wait for all threads wait for one less.
  for (size_t i = 0; i < warp.meetings.size();)
    if (!performIfComplete(warp, i, nullptr)) ++i;
  for (Barrier &barrier : barriers)
    if (barrier.isOpen) releaseIfComplete(barrier, nullptr);
}

void Block::endThread() {
  ended(*current);
  leave();
  __builtin_unreachable();
}

void Block::leave() {
  Thread *self = current;
  if (!launch.kernel.cooperates || ready.empty()) {
    sprigGpuSwitch(&self->context, mainContext);
    return;
  }
  current = ready.front();
  ready.pop_front();
  if (current != self) sprigGpuSwitch(&self->context, current->context);
}

void Block::abandon() {
  launch.hasFailed = true;
  sprigGpuSwitch(&current->context, mainContext);
  __builtin_unreachable();
}

void Block::wait(Thread &thread, Thread::State state, uint32_t line) {
  thread.state = state;
  thread.waitLine = line;
  leave();
}
void Block::wake(Thread &thread) {
  thread.state = Thread::State::Ready;
  ready.push_back(&thread);
}

void Block::meetFor(Thread &thread, uint32_t mask, uint32_t line, WarpOperation perform) {
  Warp &warp = *thread.warp;
  if (!(mask >> thread.laneid & 1))
    fail(Fault::Divergence, &thread, line, 0,
         where(thread) + " takes part in an operation of a warp whose mask does not name it");
  size_t at = 0;
  while (at < warp.meetings.size() && warp.meetings[at].mask != mask) ++at;
  if (at == warp.meetings.size()) warp.meetings.push_back({perform, mask, 0, line});
  Meeting &meeting = warp.meetings[at];
  // Only bar.warp.sync may be reached at different places.
  if (meeting.operation != perform || (meeting.line != line && perform != warpBarrierOperation))
    fail(Fault::Divergence, &thread, line, meeting.line,
         where(thread) + " is at another operation of the warp than lanes that wait for it");
  meeting.arrived |= 1u << thread.laneid;
  if (!performIfComplete(warp, at, &thread)) wait(thread, Thread::State::InWarpOperation, line);
}

bool Block::performIfComplete(Warp &warp, size_t index, Thread *arriving) {
  Meeting meeting = warp.meetings[index];
  if (meeting.arrived != (meeting.mask & warp.alive)) return false;
  warp.meetings.erase(warp.meetings.begin() + index);
  meeting.operation(*this, warp, meeting.arrived, meeting.line);
  for (uint32_t lanes = meeting.arrived; lanes; lanes &= lanes - 1) {
    Thread *lane = warp.lanes[__builtin_ctz(lanes)];
    if (lane != arriving) wake(*lane);
  }
  return true;
}

void Block::orderTogether(const std::vector<Thread *> &participants, const OrderSnapshot &also) {
  if (!findsRaces()) return;
  OrderSnapshot known = also;
  uint32_t highest = 0;
  for (Thread *thread : participants) {
    known = joined(known, thread->order.known);
    highest = std::max(highest, thread->order.clock);
  }
  if (participants.size() == threadCount) {
    clock.raiseFloor(highest);
    for (Thread *thread : participants) thread->order.known = known, thread->order.clock = clock.floor;
    return;
  }
  auto all = known ? std::make_shared<Knowledge>(*known) : std::make_shared<Knowledge>();
  BlockKnowledge &own = (*all)[clock.block];
  own.clocks.resize(threadCount);
  for (Thread *thread : participants)
    own.clocks[thread->index] = std::max(own.clocks[thread->index], thread->order.clock++);
  for (Thread *thread : participants) thread->order.known = all;
}

std::string Block::whereIndex(uint32_t index) const {
  const Dim3 &dim = launch.blockDim;
  return "thread (" + std::to_string(index % dim.x) + ", " + std::to_string(index / dim.x % dim.y) + ", " +
         std::to_string(index / dim.x / dim.y) + ")";
}
std::string Block::where(const Thread &thread) const { return whereIndex(thread.index); }

void Block::complain(Fault fault, const Thread *thread, uint32_t line, uint32_t otherLine, const std::string &text) {
  if (launch.told.size() >= 200 || !launch.told.insert({fault, line, otherLine}).second) return;
  Complaint complaint{fault, launch.kernel.name, "", line, otherLine, {}, {}};
  for (int i = 0; i < 3; ++i) complaint.block[i] = ctaid[i], complaint.thread[i] = thread ? thread->tid[i] : 0;
  complaint.text = std::string(faultName(fault)) + " in kernel '" + launch.kernel.name + "'" +
                   (line ? ", line " + std::to_string(line) : "") + ": " + text + ", block (" +
                   std::to_string(ctaid[0]) + ", " + std::to_string(ctaid[1]) + ", " + std::to_string(ctaid[2]) + ")";
  launch.report.complaints.push_back(std::move(complaint));
}
void Block::fail(Fault fault, const Thread *thread, uint32_t line, uint32_t otherLine, const std::string &text) {
  complain(fault, thread, line, otherLine, text);
  abandon();
}

void Block::reportDeadlock() {
  // Where threads wait, how many, and one of them.
  std::map<std::tuple<Thread::State, uint32_t, uint32_t>, std::pair<uint32_t, const Thread *>> places;
  for (const Thread &thread : threads) {
    if (thread.state == Thread::State::Ended) continue;
    auto &place =
        places[{thread.state, thread.state == Thread::State::AtBarrier ? thread.waitFor : 0, thread.waitLine}];
    if (!place.first++) place.second = &thread;
  }
  std::string text;
  uint32_t lines[2] = {}, count = 0;
  for (const auto &[key, place] : places) {
    auto [state, barrier, line] = key;
    if (count < 2) lines[count] = line;
    text +=
        (count++ ? ", " : "") + std::to_string(place.first) + " threads wait at line " + std::to_string(line) +
        (state == Thread::State::AtBarrier ? " (barrier " + std::to_string(barrier) + ")" : " (operation of a warp)") +
        ", the first is " + where(*place.second);
  }
  if (uint32_t gone = threadCount - alive) text += ", " + std::to_string(gone) + " have ended";
  complain(Fault::Deadlock, places.begin()->second.second, lines[0], lines[1], text);
  launch.hasFailed = true;
}
