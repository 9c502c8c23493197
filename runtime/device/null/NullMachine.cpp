#include "runtime/device/null/NullMachine.h"

#include "runtime/base/FloatEnv.h"
#include "runtime/device/HostCode.h"
#include "runtime/device/Wire.h"
#include "runtime/machine/Processors.h"

#include <algorithm>
#include <cstring>

namespace sprig::rt::core {

using Item = NullQueue::Item;

namespace {

constexpr uint64_t kPieces = 4;
// How long to leave another kind of device alone that has what is waited for.
constexpr std::chrono::microseconds kForeignPause(50);

const RunControl *controlOf(const Item &item) {
  if (auto *launch = std::get_if<Launch>(&item.command)) return launch->tag.control;
  if (auto *transfer = std::get_if<Transfer>(&item.command)) return transfer->tag.control;
  return nullptr;
}

std::string nameOf(const Launch &launch) {
  return concat("'", launch.command->name.empty() ? launch.kernel->name : launch.command->name, "'");
}

double workNs(const Command &command) {
  return std::max(double(command.flops) / NullMachine::kFlopsPerNs, double(command.bytes) / NullMachine::kBytesPerNs);
}

bool areSame(const Device *a, const Device *b) {
  auto isHost = [](const Device *device) { return !device || device->sharesHostMemory(); };
  return a == b || (isHost(a) && isHost(b));
}

} // namespace

NullEvent::~NullEvent() {
  std::lock_guard guard(machine->lock);
  std::erase_if(machine->demands, [this](const auto &demand) { return demand.event == this; });
}

bool NullEvent::reached(EventNumber number) {
  std::lock_guard guard(machine->lock);
  if (passed >= number) return true;
  machine->want(*this, number);
  return false;
}

bool NullEvent::synchronize(EventNumber number, std::optional<std::chrono::nanoseconds> limit) {
  std::unique_lock guard(machine->lock);
  if (passed >= number) return true;
  machine->want(*this, number);
  auto isReached = [&] { return passed >= number; };
  if (limit) return machine->progress.wait_for(guard, *limit, isReached);
  machine->progress.wait(guard, isReached);
  return true;
}

double NullEvent::seconds() const {
  std::lock_guard guard(machine->lock);
  return ns * 1e-9;
}

NullMachine::~NullMachine() {
  {
    std::lock_guard guard(lock);
    closing = true;
    work.notify_all();
  }
  if (thread.joinable()) thread.join();
}

NullQueue *NullMachine::addLane(uint32_t device) {
  std::lock_guard guard(lock);
  queues.push_back(std::make_unique<NullQueue>());
  queues.back()->device = device;
  return queues.back().get();
}

void NullMachine::removeLane(NullQueue *queue) {
  std::unique_lock guard(lock);
  progress.wait(guard, [&] { return busy != queue; });
  std::erase_if(queues, [&](const auto &each) { return each.get() == queue; });
}

void NullMachine::enqueue(NullQueue &queue, Item item) {
  std::lock_guard guard(lock);
  queue.items.push_back(std::move(item));
  if (!demands.empty()) work.notify_all();
}

void NullMachine::record(NullQueue &queue, NullEvent &event) {
  std::lock_guard guard(lock);
  event.recordedBy = &queue;
  queue.items.push_back({NullQueue::Recorded{&event, ++event.issued}, {}, false});
  if (!demands.empty()) work.notify_all();
}

void NullMachine::wait(NullQueue &queue, DeviceEvent &event) {
  std::lock_guard guard(lock);
  EventNumber number = event.last();
  if (auto *own = dynamic_cast<NullEvent *>(&event)) {
    NullEvent::Awaited &awaited = own->awaited[number];
    ++awaited.waits;
    if (own->passed == number) awaited.ns = own->ns;
  }
  queue.items.push_back({NullQueue::Awaited{&event, number}, {}, false});
  if (!demands.empty()) work.notify_all();
}

// Under the lock.
void NullMachine::want(NullEvent &event, EventNumber number) {
  auto isSame = [&](const Demand &each) { return each.event == &event && each.number == number; };
  if (std::none_of(demands.begin(), demands.end(), isSame)) demands.push_back({&event, number});
  if (!thread.joinable()) thread = std::thread([this] { threadLoop(); });
  work.notify_all();
}

void NullMachine::threadLoop() {
  runAnywhere();
  FloatEnv floatEnv;
  std::unique_lock guard(lock);
  while (!closing) {
    std::erase_if(demands, [](const Demand &each) { return each.event->passed >= each.number; });
    NullQueue *next = demands.empty() ? nullptr : choose();
    if (next)
      advance(*next, guard);
    else if (demands.empty())
      work.wait(guard);
    else
      work.wait_for(guard, kForeignPause); // another kind of device has it
  }
}

bool NullMachine::isPassed(const NullQueue::Awaited &awaited) {
  if (auto *own = dynamic_cast<NullEvent *>(awaited.event)) return own->passed >= awaited.number;
  return awaited.event->reached(awaited.number);
}

bool NullMachine::isBlocked(const Item &item) const {
  auto *awaited = std::get_if<NullQueue::Awaited>(&item.command);
  return awaited && !isPassed(*awaited);
}

NullQueue *NullMachine::choose() {
  if (options.seed > 1) return chooseAtRandom();
  for (const Demand &demand : demands)
    if (NullQueue *queue = firstNeededBy(demand.event->recordedBy)) return queue;
  return nullptr;
}

NullQueue *NullMachine::chooseAtRandom() {
  std::vector<NullQueue *> able;
  for (const auto &queue : queues)
    if (!queue->items.empty() && !isBlocked(queue->items.front())) able.push_back(queue.get());
  return able.empty() ? nullptr : able[random() % able.size()];
}

// The lane that must move for this one to move: itself, or one that records what it waits for. Of several events that
// are waited for in a row the first is recorded first, or the last.
NullQueue *NullMachine::firstNeededBy(NullQueue *queue) {
  while (queue && !queue->items.empty() && isBlocked(queue->items.front())) {
    NullQueue *behind = nullptr;
    for (const Item &item : queue->items) {
      auto *awaited = std::get_if<NullQueue::Awaited>(&item.command);
      if (!awaited) break;
      auto *own = dynamic_cast<NullEvent *>(awaited->event);
      if (!own || isPassed(*awaited)) continue;
      behind = own->recordedBy;
      if (options.seed == 1) break;
    }
    queue = behind;
  }
  return queue && !queue->items.empty() ? queue : nullptr;
}

// Does the next piece of the lane's first command. Without the lock meanwhile: others enqueue after it.
void NullMachine::advance(NullQueue &queue, std::unique_lock<std::mutex> &guard) {
  Item &item = queue.items.front();
  if (!item.begun) begin(item);
  const RunControl *control = controlOf(item);
  // The rest of a failed command still runs, as the first failing tile is the one that is told.
  if (!item.pieces.empty() && !control->isCancelled()) {
    auto piece = item.pieces.back();
    item.pieces.pop_back();
    busy = &queue;
    guard.unlock();
    if (auto *launch = std::get_if<Launch>(&item.command))
      perform(*launch, piece, queue.device);
    else
      perform(std::get<Transfer>(item.command), piece);
    guard.lock();
    busy = nullptr;
    progress.notify_all(); // for removeLane
    if (!item.pieces.empty()) return;
  }
  finish(queue, item);
  queue.items.pop_front();
}

// A command of a run that has stopped is left out.
void NullMachine::begin(Item &item) {
  item.begun = true;
  const RunControl *control = controlOf(item);
  if (!options.computes || !control || !control->isGoing()) return;
  if (auto *launch = std::get_if<Launch>(&item.command)) {
    cut(item, uint64_t(launch->command->tiles));
  } else if (auto *transfer = std::get_if<Transfer>(&item.command)) {
    // Bytes that lie on each other are moved at once.
    bool overlaps =
        transfer->source < transfer->target + transfer->bytes && transfer->target < transfer->source + transfer->bytes;
    if (overlaps)
      item.pieces.push_back({0, transfer->bytes});
    else
      cut(item, transfer->bytes);
  }
}

// The last piece is done first; or any.
void NullMachine::cut(Item &item, uint64_t size) {
  for (uint64_t i = 0; i < kPieces; ++i) {
    uint64_t first = size * i / kPieces, last = size * (i + 1) / kPieces;
    if (first != last) item.pieces.push_back({first, last});
  }
  if (options.seed > 1) std::shuffle(item.pieces.begin(), item.pieces.end(), random);
}

void NullMachine::perform(const Launch &launch, std::pair<uint64_t, uint64_t> tiles, uint32_t device) {
  const Command &command = *launch.command;
  uint64_t began = launch.tag.recording ? ticks() : 0;
  operands.resize(command.operandCount);
  for (uint32_t i = 0; i < command.operandCount; ++i) {
    uint8_t *real = nullptr;
    std::string what = concat(nameOf(launch), ": operand ", i);
    if (Status status = memory->translate(launch.operands[i], UINT64_MAX, device, what, real); !status.isOk())
      return launch.tag.control->fail(std::move(status));
    operands[i] = real;
  }
  if (Status status = scratch.grow(launch.kernel->scratch, "scratch"); !status.isOk())
    return launch.tag.control->fail(std::move(status));
  runTiles(static_cast<const HostCode &>(*launch.code), command, operands.data(),
           {int64_t(tiles.first), int64_t(tiles.second)}, scratch.data(), *launch.tag.control);
  if (launch.tag.recording)
    launch.tag.recording->add(SPRIG_RT_PROFILE_SLICE, began, launch.tag.lane, launch.tag.index, 0, int64_t(tiles.first),
                              int64_t(tiles.second));
}

void NullMachine::perform(const Transfer &transfer, std::pair<uint64_t, uint64_t> bytes) {
  auto real = [&](const Device *device, const uint8_t *address, const char *what, uint8_t *&found) -> Status {
    found = const_cast<uint8_t *>(address);
    if (!device || device->sharesHostMemory()) return {};
    return memory->translate(address, transfer.bytes, device->ordinal(), what, found);
  };
  uint8_t *source = nullptr, *target = nullptr;
  Status status = real(transfer.sourceDevice, transfer.source, "the source of a copy", source);
  if (status.isOk()) status = real(transfer.targetDevice, transfer.target, "the target of a copy", target);
  if (!status.isOk()) return transfer.tag.control->fail(std::move(status));
  std::memmove(target + bytes.first, source + bytes.first, bytes.second - bytes.first);
}

double NullMachine::nanosecondsOf(const Transfer &transfer) const {
  if (transfer.wire) return transfer.wire->rates.nanoseconds(double(transfer.bytes));
  if (options.link && !areSame(transfer.sourceDevice, transfer.targetDevice))
    return options.link->nanoseconds(double(transfer.bytes));
  return kLaunchNs + 2 * double(transfer.bytes) / kBytesPerNs;
}

void NullMachine::finish(NullQueue &queue, const Item &item) {
  if (auto *launch = std::get_if<Launch>(&item.command)) {
    queue.ns += kLaunchNs + workNs(*launch->command);
  } else if (auto *transfer = std::get_if<Transfer>(&item.command)) {
    queue.ns += nanosecondsOf(*transfer);
  } else if (auto *recorded = std::get_if<NullQueue::Recorded>(&item.command)) {
    NullEvent &event = *recorded->event;
    event.passed = recorded->number;
    event.ns = queue.ns;
    if (auto found = event.awaited.find(recorded->number); found != event.awaited.end()) found->second.ns = queue.ns;
    progress.notify_all();
  } else {
    auto &awaited = std::get<NullQueue::Awaited>(item.command);
    auto *own = dynamic_cast<NullEvent *>(awaited.event);
    if (!own) return;
    auto found = own->awaited.find(awaited.number);
    queue.ns = std::max(queue.ns, found->second.ns);
    if (--found->second.waits == 0) own->awaited.erase(found);
  }
}

} // namespace sprig::rt::core
