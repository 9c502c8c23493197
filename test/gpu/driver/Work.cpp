#include "test/gpu/driver/Work.h"
#include "test/gpu/driver/Checks.h"
#include "test/gpu/driver/Driver.h"

#include <cstring>
#include <string_view>

namespace sprig::cuda {
namespace {

constexpr double kStart = 1000;    // nanoseconds until anything happens
constexpr double kHostRate = 25e9; // bytes a second between host and device

struct Name {
  std::string operator()(const KernelLaunch &launch) const { return "kernel " + launch.name; }
  std::string operator()(const Copy &copy) const {
    auto side = [](const Place &place) { return place.isHost() ? "host" : "device"; };
    return std::string("copy ") + side(copy.from) + " to " + side(copy.to);
  }
  std::string operator()(const Fill &) const { return "fill"; }
  std::string operator()(const HostCall &) const { return "host function"; }
  std::string operator()(const AllocateInOrder &) const { return "allocate"; }
  std::string operator()(const FreeInOrder &) const { return "free"; }
};

uint64_t digestOf(const void *data, uint64_t bytes) {
  return std::hash<std::string_view>()(std::string_view(static_cast<const char *>(data), bytes));
}

// Pinned memory as the copy found it when it was queued: still there, and nobody has changed it behind the copy's back.
bool checkPinned(Driver &driver, const Operation &operation, const Place &place, const Copy &copy) {
  Allocation *allocation = driver.memory.find(place.address);
  if (!allocation || allocation->number != place.allocation) {
    driver.report.complain("pinned " + operation.name + "|" + operation.where,
                           operation.title() + " was queued with pinned memory that is no longer pinned");
    return false;
  }
  if (!copy.watched || place.address != copy.from.address || allocation->writes != copy.writes) return true;
  if (digestOf(driver.memory.reach(place.address), copy.bytes) != copy.digest)
    driver.report.complain("pinned " + operation.name + "|" + operation.where,
                           operation.title() + " reads " +
                               describe(*allocation, {place.address, place.address + copy.bytes}) +
                               ", which the host has changed since it queued the copy");
  return true;
}

// Of two devices one reaches the other, or the driver takes the bytes through the host.
bool goesByHost(Driver &driver, const Operation &operation, const Copy &copy) {
  if (copy.from.isHost() || copy.to.isHost()) return false;
  auto reaches = [&](const Place &place) {
    return operation.context->reaches(driver.memory.find(place.address)->device);
  };
  return !reaches(copy.from) || !reaches(copy.to);
}

} // namespace

std::string nameOf(const Work &work) { return std::visit(Name(), work); }

void watchPinned(Driver &driver, Copy &copy) {
  if (copy.from.kind != Place::Kind::Pinned || !driver.config.checks.pinned) return;
  Allocation *allocation = driver.memory.find(copy.from.address);
  if (!allocation || allocation->number != copy.from.allocation) return;
  copy.watched = true;
  copy.digest = digestOf(driver.memory.reach(copy.from.address), copy.bytes);
  copy.writes = allocation->writes;
}

CUresult locate(Driver &driver, const char *function, uint64_t address, uint64_t bytes, Place &place) {
  place = {};
  place.address = address;
  Allocation *allocation = driver.memory.find(address);
  bool living = allocation && !allocation->freed;
  if (!driver.memory.isDeviceAddress(address)) {
    if (living && address + bytes <= allocation->end()) {
      place.kind = Place::Kind::Pinned;
      place.allocation = allocation->number;
    }
    return CUDA_SUCCESS;
  }
  if (living && address + bytes <= allocation->end()) {
    place.kind = Place::Kind::Device;
    place.allocation = allocation->number;
    return CUDA_SUCCESS;
  }
  std::string what = !allocation ? "is in no allocation: " + driver.memory.neighbour(address)
                     : !living ? "is in " + allocation->title() + ", which " + allocation->freed->title() + " has freed"
                               : "has " + std::to_string(allocation->end() - address) + " bytes left in " +
                                     allocation->title() + ", not " + std::to_string(bytes);
  if (driver.config.checks.bounds)
    driver.report.complain(std::string("locate ") + function, std::string(function) + ": the device pointer " + what);
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult perform(Driver &driver, const OperationRef &operation, const Copy &copy) {
  Effects effects;
  for (const Place *place : {&copy.from, &copy.to}) {
    bool staged = place == &copy.from && copy.staged;
    if (place->kind == Place::Kind::Pageable || staged) continue;
    if (place->kind == Place::Kind::Pinned && !checkPinned(driver, *operation, *place, copy)) continue;
    if (!checkReach(driver, *operation, {place->address, place->address + copy.bytes}, -1))
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    (place == &copy.from ? effects.reads : effects.writes).add(place->address, copy.bytes);
  }
  const char *from = copy.staged ? copy.staged->data() : driver.memory.reach(copy.from.address);
  ++driver.report.counts.copies;
  driver.report.counts.copiedBytes += copy.bytes;
  driver.report.counts.copiesByHost += goesByHost(driver, *operation, copy);
  std::memmove(driver.memory.reach(copy.to.address), from, copy.bytes);
  bool within = !copy.from.isHost() && !copy.to.isHost();
  operation->cost = kStart + 1e9 * copy.bytes / (within ? operation->context->kind->bandwidth() / 2 : kHostRate);

  // Between devices bytes that nobody wrote may travel: what is there counts as unwritten as what was here.
  checkEffects(driver, operation, effects, !within);
  // Pages of the program's own that it has registered stay open: what else lies on them is nobody's business.
  HostGuard *guard = copy.to.kind == Place::Kind::Pinned ? driver.memory.hostGuard() : nullptr;
  if (guard && driver.memory.find(copy.to.address)->open) {
    Interval bytes = {copy.to.address, copy.to.address + copy.bytes};
    guard->close(bytes, operation,
                 "host code touches " + describe(*driver.memory.find(bytes.begin), bytes) + ", which " +
                     operation->title() + " has written; the host has not waited for it");
  }
  if (!within) return CUDA_SUCCESS;
  Allocation &source = *driver.memory.find(copy.from.address), &target = *driver.memory.find(copy.to.address);
  for (Interval gap : source.written.missing({copy.from.address, copy.from.address + copy.bytes})) {
    uint64_t shift = copy.to.address - copy.from.address;
    target.written.erase({gap.begin + shift, gap.end + shift});
  }
  return CUDA_SUCCESS;
}

CUresult perform(Driver &driver, const OperationRef &operation, const Fill &fill) {
  uint64_t bytes = fill.count * fill.elementBytes;
  if (!checkReach(driver, *operation, {fill.address, fill.address + bytes}, operation->context->device))
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  ++driver.report.counts.fills;
  char *to = driver.memory.reach(fill.address);
  if (fill.elementBytes == 1)
    std::memset(to, static_cast<int>(fill.value), bytes);
  else
    for (uint64_t i = 0; i < bytes; i += fill.elementBytes) std::memcpy(to + i, &fill.value, fill.elementBytes);
  operation->cost = kStart + 1e9 * bytes / operation->context->kind->bandwidth();
  Effects effects;
  effects.writes.add(fill.address, bytes);
  checkEffects(driver, operation, effects);
  return CUDA_SUCCESS;
}

// Without the lock. It may touch what its stream has written, and so may whoever it tells.
CUresult perform(Driver &driver, const OperationRef &operation, const HostCall &call) {
  if (HostGuard *guard = driver.memory.hostGuard()) guard->release(operation->clock);
  call.function(call.data);
  return CUDA_SUCCESS;
}

CUresult perform(Driver &driver, const OperationRef &operation, const AllocateInOrder &allocate) {
  Allocation &allocation = *driver.memory.find(allocate.address);
  checkFree(driver, operation, allocation); // whoever uses it comes after this
  return CUDA_SUCCESS;
}

CUresult perform(Driver &driver, const OperationRef &operation, const FreeInOrder &free) {
  Allocation *allocation = driver.memory.find(free.address);
  if (!allocation || allocation->freed) return CUDA_ERROR_INVALID_VALUE;
  checkFree(driver, operation, *allocation);
  driver.memory.free(*allocation, operation);
  return CUDA_SUCCESS;
}

} // namespace sprig::cuda
