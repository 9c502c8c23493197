#include "runtime/exec/LaneExecutable.h"

#include "runtime/machine/ThreadShares.h"
#include "runtime/exec/Binding.h"
#include "runtime/exec/Pool.h"
#include "runtime/profile/StreamTimes.h"

#include <algorithm>

namespace sprig::rt::core {

// All or none: a call that fails here is tried again.
Status LaneExecutable::makePorts() {
  std::vector<Port> made;
  for (uint32_t i = 0; i < package.program().devices.size(); ++i) {
    const Device &device = package.device(i);
    auto isSame = [&](const Port &port) { return port.device == &device; };
    if (device.sharesHostMemory() || std::any_of(made.begin(), made.end(), isSame)) continue;
    Port &port = made.emplace_back();
    port.device = &device;
    port.number = i;
    SPRIG_RETURN_IF_ERROR(device.createLane(nullptr, port.in));
    SPRIG_RETURN_IF_ERROR(device.createLane(nullptr, port.between));
    SPRIG_RETURN_IF_ERROR(device.createLane(nullptr, port.back));
    for (uint32_t turn = 0; turn < kTurns; ++turn) {
      SPRIG_RETURN_IF_ERROR(device.createEvent(port.arrived[turn]));
      SPRIG_RETURN_IF_ERROR(device.createEvent(port.left[turn]));
    }
  }
  ports = std::move(made);
  return {};
}

// Shares of the processor divide the pool's threads, each lane's own one counted among them.
Status LaneExecutable::helpersOf(uint32_t device, Pool *&helpers) {
  helpers = &pool;
  std::vector<const Device *> sharing;
  for (uint32_t i = 0; i < package.program().devices.size(); ++i)
    if (const Device *each = &package.device(i);
        each->sharesHostMemory() && std::find(sharing.begin(), sharing.end(), each) == sharing.end())
      sharing.push_back(each);
  if (sharing.size() < 2 || !package.device(device).sharesHostMemory()) return {};
  parts.resize(sharing.size());
  auto share = uint32_t(std::find(sharing.begin(), sharing.end(), &package.device(device)) - sharing.begin());
  ThreadShares threads{pool.threads(), uint32_t(sharing.size())};
  if (!parts[share])
    SPRIG_RETURN_IF_ERROR(Pool::create({.threads = int(threads.threadsOf(share)),
                                        .executor = pool.executor(),
                                        .pin = pool.processors().empty() ? 0 : int(threads.firstOf(share)) + 1,
                                        .processors = pool.processors()},
                                       parts[share]));
  helpers = parts[share].get();
  return {};
}

Status LaneExecutable::makePlan(const Entry &entry, Plan &plan) {
  if (ports.empty()) SPRIG_RETURN_IF_ERROR(makePorts());
  plan.lanes.resize(entry.lanes.size());
  for (auto &ends : plan.ends) ends.resize(entry.lanes.size());
  plan.events.resize(entry.eventCount);
  for (uint32_t lane = 0; lane < entry.lanes.size(); ++lane) {
    const Device &device = package.device(entry.lanes[lane].device);
    Pool *helpers = nullptr;
    SPRIG_RETURN_IF_ERROR(helpersOf(entry.lanes[lane].device, helpers));
    SPRIG_RETURN_IF_ERROR(device.createLane(helpers, plan.lanes[lane]));
    for (auto &ends : plan.ends) SPRIG_RETURN_IF_ERROR(device.createEvent(ends[lane]));
    for (const Command &command : entry.lanes[lane].commands)
      if (command.kind == CommandKind::Record) SPRIG_RETURN_IF_ERROR(device.createEvent(plan.events[command.event]));
  }
  SPRIG_RETURN_IF_ERROR(makeSteps(entry, plan));
  return makeReturns(entry, plan);
}

Status LaneExecutable::makeSteps(const Entry &entry, Plan &plan) {
  for (CommandPlace place : commandsInOrder(entry)) {
    Step step{place.lane, place.index, nullptr, nullptr, nullptr, nullptr, nullptr};
    if (entry.lanes[place.lane].commands[place.index].kind == CommandKind::Copy)
      SPRIG_RETURN_IF_ERROR(chooseCopier(entry, step));
    plan.steps.push_back(std::move(step));
  }
  return {};
}

Status LaneExecutable::makeReturns(const Entry &entry, Plan &plan) {
  auto stepOf = [&](CommandPlace place) {
    return std::find_if(plan.steps.begin(), plan.steps.end(),
                        [&](const Step &step) { return step.lane == place.lane && step.index == place.index; });
  };
  for (const Result &result : resultsOf(package.program(), entry)) {
    const Device *device = &package.device(result.device);
    if (device->sharesHostMemory()) continue;
    // Two of the program's devices may be one here: its copy goes when the later of both is final.
    std::vector<DeviceEvent *> after;
    auto same = std::find_if(plan.returns.begin(), plan.returns.end(),
                             [&](const Return &each) { return each.device == device && each.output == result.output; });
    if (same != plan.returns.end()) {
      after = std::move(same->after);
      plan.returns.erase(same);
    }
    for (CommandPlace writer : result.writers) {
      auto step = stepOf(writer);
      const Device &own = package.device(entry.lanes[writer.lane].device);
      if (!step->ended) SPRIG_RETURN_IF_ERROR(own.createEvent(step->ended));
      after.push_back(step->ended.get());
    }
    plan.returns.push_back({device, result.output, std::move(after)});
  }
  return {};
}

void LaneExecutable::uploadInputs(const Order &order) {
  if (order.recording) markMoments(order);
  for (const Port &port : ports) {
    for (Transfer transfer : order.uploads) {
      if (transfer.targetDevice != port.device) continue;
      transfer.tag = {&order.control, order.recording, port.number, transfer.array, SPRIG_RT_PROFILE_UPLOAD};
      transfer.wire = package.links().between(transfer.sourceDevice, transfer.targetDevice);
      port.in->copy(transfer);
    }
    port.in->record(*port.arrived[order.turn]);
  }
}

void LaneExecutable::returnResults(const Order &order) {
  const Plan &plan = *entries[order.entry];
  for (const Return &each : plan.returns) {
    auto port = std::find_if(ports.begin(), ports.end(), [&](const Port &p) { return p.device == each.device; });
    for (DeviceEvent *event : each.after) port->back->wait(*event);
    for (Transfer transfer : order.downloads) {
      if (transfer.sourceDevice != each.device || transfer.array != each.output) continue;
      transfer.tag = {&order.control, order.recording, port->number, transfer.array, SPRIG_RT_PROFILE_DOWNLOAD};
      transfer.wire = package.links().between(transfer.sourceDevice, transfer.targetDevice);
      port->back->copy(transfer);
    }
  }
  for (const Port &port : ports) {
    for (const auto &end : plan.ends[order.turn]) port.back->wait(*end);
    port.back->record(*port.left[order.turn]);
  }
}

// Before anything of the call is enqueued: later, a device might be waiting for another one, and the host for both.
void LaneExecutable::markMoments(const Order &order) {
  for (Port &port : ports) {
    port.moment = nullptr;
    if (Status status = port.device->markMoment(port.moment); !status.isOk()) order.control.fail(std::move(status));
  }
}

Status LaneExecutable::tellRecorded(uint32_t entry, const Recording &recording) {
  std::vector<StreamTimes> streams;
  Status status;
  const double ticksPerNs = recording.profile->ticksPerNs();
  auto take = [&](const Device &device, const DeviceMoment *from, std::string_view what, DeviceLane &lane) {
    StreamTimes &stream = streams.emplace_back(StreamTimes{concat(device.name(), " ", what), {}});
    if (Status taken = lane.takeRecorded(from, ticksPerNs, stream.spans); status.isOk()) status = std::move(taken);
  };
  const uint64_t now = ticks();
  uint64_t origin = now;
  for (const Port &port : ports) {
    const DeviceMoment *from = port.moment.get();
    if (from) origin = std::min(origin, from->ticks);
    take(*port.device, from, "uploads", *port.in);
    take(*port.device, from, "copies", *port.between);
    take(*port.device, from, "downloads", *port.back);
  }
  const Plan &plan = *entries[entry];
  for (size_t i = 0; i < plan.lanes.size(); ++i) {
    const Device &device = package.device(package.program().entries[entry].lanes[i].device);
    auto port = std::find_if(ports.begin(), ports.end(), [&](const Port &each) { return each.device == &device; });
    take(device, port == ports.end() ? nullptr : port->moment.get(), concat("lane ", i).text(), *plan.lanes[i]);
  }
  for (Port &port : ports) port.moment = nullptr;
  // Two clocks differ in their rates, if by little, and a moment is known when the host has seen it.
  endBy(now, origin, streams);
  for (const StreamTimes &stream : streams) recording.addStream(stream.name, stream.spans);
  return status;
}

// A lane copies where it reaches both ends; else a device that does so comes in between.
Status LaneExecutable::chooseCopier(const Entry &entry, Step &step) {
  const Device &own = package.device(entry.lanes[step.lane].device);
  const Command &command = entry.lanes[step.lane].commands[step.index];
  const Device &source = package.deviceOf(entry.bufferOf(command, 0));
  const Device &target = package.deviceOf(entry.bufferOf(command, 1));
  step.wire = package.links().between(&source, &target);
  if (own.reaches(source) && own.reaches(target)) return {};
  for (Port &port : ports)
    if (port.device->reaches(source) && port.device->reaches(target)) {
      step.port = &port;
      SPRIG_RETURN_IF_ERROR(own.createEvent(step.before));
      return port.device->createEvent(step.after);
    }
  return {SPRIG_RT_UNSUPPORTED,
          concat("entry '", entry.name, "': no device here copies from ", source.name(), " to ", target.name())};
}

Transfer LaneExecutable::transferOf(const Entry &entry, const Step &step, void *const *operands) const {
  const Command &command = entry.lanes[step.lane].commands[step.index];
  return {static_cast<uint8_t *>(operands[1]),
          static_cast<const uint8_t *>(operands[0]),
          command.copyBytes,
          &package.deviceOf(entry.bufferOf(command, 1)),
          &package.deviceOf(entry.bufferOf(command, 0)),
          {},
          step.wire};
}

void LaneExecutable::enqueue(const Order &order, const Entry &entry, const Plan &plan, const Step &step) {
  const Lane &program = entry.lanes[step.lane];
  const Command &command = program.commands[step.index];
  DeviceLane &lane = *plan.lanes[step.lane];
  void *const *own = order.operands + command.firstOperand;
  CommandTag tag{&order.control, order.recording, step.lane, step.index};
  switch (command.kind) {
  case CommandKind::Dispatch:
    lane.dispatch({&package.code(program.device), &package.program().kernels[command.kernel], &command, own, tag});
    break;
  case CommandKind::Copy: {
    Transfer transfer = transferOf(entry, step, own);
    transfer.tag = tag;
    if (!step.port) {
      lane.copy(transfer);
      break;
    }
    lane.record(*step.before);
    step.port->between->wait(*step.before);
    step.port->between->copy(transfer);
    step.port->between->record(*step.after);
    lane.wait(*step.after);
    break;
  }
  case CommandKind::Collective: break; // refused before: no executable of lanes meets ranks
  case CommandKind::Record: lane.record(*plan.events[command.event]); break;
  case CommandKind::Wait: lane.wait(*plan.events[command.event]); break;
  }
  if (step.ended) lane.record(*step.ended);
}

Status LaneExecutable::prepare(uint32_t entry) {
  if (entries[entry]) return {};
  auto plan = std::make_unique<Plan>();
  SPRIG_RETURN_IF_ERROR(makePlan(package.program().entries[entry], *plan));
  entries[entry] = std::move(plan);
  return {};
}

void LaneExecutable::enqueueAll(const Order &order) {
  uploadInputs(order);
  enqueueCommands(order);
  returnResults(order);
}

void LaneExecutable::enqueueCommands(const Order &order) {
  const Entry &entry = package.program().entries[order.entry];
  const Plan &plan = *entries[order.entry];
  for (const auto &lane : plan.lanes)
    for (const Port &port : ports) lane->wait(*port.arrived[order.turn]);
  for (const Step &step : plan.steps) enqueue(order, entry, plan, step);
  for (size_t i = 0; i < plan.lanes.size(); ++i) plan.lanes[i]->record(*plan.ends[order.turn][i]);
}

std::vector<DeviceLane *> LaneExecutable::lanesOf(uint32_t entry) const {
  std::vector<DeviceLane *> lanes;
  // One in between comes in by what it waits for, and is waited for, where it copies; elsewhere nothing would join it.
  for (const Port &port : ports) lanes.insert(lanes.end(), {port.in.get(), port.back.get()});
  for (const auto &lane : entries[entry]->lanes) lanes.push_back(lane.get());
  return lanes;
}

std::vector<DeviceEvent *> LaneExecutable::arrivalsOf(const Order &order) const {
  std::vector<DeviceEvent *> arrivals;
  for (const Port &port : ports)
    if (std::any_of(order.uploads.begin(), order.uploads.end(),
                    [&](const Transfer &transfer) { return transfer.targetDevice == port.device; }))
      arrivals.push_back(port.arrived[order.turn].get());
  return arrivals;
}

std::vector<DeviceEvent *> LaneExecutable::endsOf(uint32_t turn) const {
  std::vector<DeviceEvent *> ends;
  for (const Port &port : ports) ends.push_back(port.left[turn].get());
  return ends;
}

Status LaneExecutable::run(uint32_t entry, const Binding &binding) {
  SPRIG_RETURN_IF_ERROR(start(0, entry, binding, Behind::all));
  lastWasStarted = false;
  return finish(0);
}

Status LaneExecutable::start(uint32_t turn, uint32_t entryIndex, const Binding &binding, Behind behind) {
  SPRIG_RETURN_IF_ERROR(prepare(entryIndex));
  const Plan &plan = *entries[entryIndex];
  if (!lastWasStarted || lastTurn == turn) behind = Behind::all;
  // Runs before that one have ended as well, also by the devices' own clocks.
  auto waitUntilLeft = [&](DeviceLane &lane, uint32_t ofTurn) {
    for (const Port &port : ports)
      if (port.left[ofTurn]->last() > 0) lane.wait(*port.left[ofTurn]);
  };
  auto waitForLanes = [&](DeviceLane &lane, uint32_t ofTurn) {
    if (!lastPlans[ofTurn]) return;
    for (const auto &end : lastPlans[ofTurn]->ends[ofTurn]) lane.wait(*end);
  };
  for (const Port &port : ports) {
    if (behind == Behind::all)
      waitUntilLeft(*port.in, lastTurn);
    else if (behind == Behind::beforeLast)
      waitUntilLeft(*port.in, turn);
    else
      waitForLanes(*port.in, turn); // they read the inputs of the run two before
  }
  Order order{turn, entryIndex, controlOf(turn), recorded, binding.operands(), binding.uploads(), binding.downloads()};
  uploadInputs(order);
  for (const auto &lane : plan.lanes) {
    if (behind == Behind::all) continue;
    // Arena and state are those of the run before, outputs lie where those of the one before that did.
    waitForLanes(*lane, lastTurn);
    waitUntilLeft(*lane, turn);
  }
  enqueueCommands(order);
  returnResults(order);
  lastPlans[turn] = &plan;
  lastEntries[turn] = entryIndex;
  lastTurn = turn;
  lastWasStarted = true;
  return {};
}

bool LaneExecutable::hasEnded(uint32_t turn, std::chrono::nanoseconds limit) {
  return std::all_of(ports.begin(), ports.end(),
                     [&](const Port &port) { return port.left[turn]->synchronize(port.left[turn]->last(), limit); });
}

Status LaneExecutable::finish(uint32_t turn) {
  double end = lastEnd;
  for (Port &port : ports) {
    port.left[turn]->synchronize(port.left[turn]->last(), std::nullopt);
    if (Status failed = port.left[turn]->failure(); !failed.isOk()) controlOf(turn).fail(std::move(failed));
    end = std::max(end, port.left[turn]->seconds());
  }
  simulated = end - lastEnd;
  lastEnd = end;
  if (recorded)
    if (Status told = tellRecorded(lastEntries[turn], *recorded); !told.isOk()) controlOf(turn).fail(std::move(told));
  return controlOf(turn).take(package.program());
}

} // namespace sprig::rt::core
