#include "test/gpu/driver/Checks.h"
#include "test/gpu/driver/Driver.h"

#include <cstdio>

namespace sprig::cuda {
namespace {

std::string hex(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

const char *verb(Access access) {
  return access == Access::Read ? "reads" : access == Access::Write ? "writes" : "updates";
}

/// Calls `each` with every allocation that the bytes lie in and their part of it, `outside` where there is none.
template <typename Each, typename Outside>
void forAllocations(Memory &memory, Interval bytes, Each each, Outside outside) {
  while (bytes.begin < bytes.end) {
    Allocation *allocation = memory.find(bytes.begin);
    if (!allocation) return outside(bytes);
    Interval part = {bytes.begin, std::min(bytes.end, allocation->end())};
    each(*allocation, part);
    bytes.begin = part.end;
  }
}

void enter(Driver &driver, const OperationRef &operation, Allocation &allocation, Interval bytes, Access access) {
  for (const AccessHistory::Conflict &conflict : allocation.history.enter(operation, bytes, access)) {
    if (!driver.config.checks.order) continue;
    const Operation &earlier = *conflict.earlier.by;
    // Whoever was queued first is named first, in every order of execution.
    bool swapped = earlier.number > operation->number;
    const Operation &first = swapped ? *operation : earlier, &second = swapped ? earlier : *operation;
    Access firstAccess = swapped ? access : conflict.earlier.access;
    Access secondAccess = swapped ? conflict.earlier.access : access;
    driver.report.complain("order " + first.name + "|" + first.where + "|" + second.name + "|" + second.where,
                           "unordered: " + first.title() + " " + verb(firstAccess) + " " +
                               describe(allocation, conflict.bytes) + ", which " + second.title() + " " +
                               verb(secondAccess) + "; no stream, event, graph edge or synchronisation orders them");
  }
}

} // namespace

std::string describe(const Allocation &allocation, Interval bytes) {
  return "bytes " + std::to_string(bytes.begin - allocation.begin) + " to " +
         std::to_string(bytes.end - allocation.begin) + " of " + allocation.title();
}

bool checkReach(Driver &driver, const Operation &operation, Interval bytes, int device) {
  bool fine = true;
  auto complain = [&](const std::string &kind, const std::string &text) {
    fine = false;
    if (driver.config.checks.bounds)
      driver.report.complain(kind + " " + operation.name + "|" + operation.where, operation.title() + " " + text);
  };
  forAllocations(
      driver.memory, bytes,
      [&](Allocation &allocation, Interval part) {
        if (allocation.freed)
          complain("freed",
                   "touches " + describe(allocation, part) + ", which " + allocation.freed->title() + " has freed");
        else if (allocation.space == Space::Device && device >= 0 &&
                 !driver.contexts[device]->reaches(allocation.device))
          complain("peer", "touches " + describe(allocation, part) +
                               " without access to its peer: cuda:" + std::to_string(device) + " has not enabled it");
      },
      [&](Interval part) {
        complain("outside", "touches " + std::to_string(part.end - part.begin) + " bytes at " + hex(part.begin) +
                                ", outside of every allocation: " + driver.memory.neighbour(part.begin));
      });
  return fine;
}

void checkEffects(Driver &driver, const OperationRef &operation, const Effects &effects, bool readsMustBeWritten) {
  auto nobodys = [](Interval) {}; // pageable host memory, or what checkReach has complained of
  auto enterAll = [&](const IntervalList &list, Access access) {
    for (Interval bytes : list.intervals())
      forAllocations(
          driver.memory, bytes,
          [&](Allocation &allocation, Interval part) { enter(driver, operation, allocation, part, access); }, nobodys);
  };
  // What the operation writes itself, it may read: within a kernel the emulator watches.
  IntervalSet own;
  for (Interval bytes : effects.writes.intervals()) own.insert(bytes);
  auto needWritten = [&](const IntervalList &list) {
    for (Interval bytes : list.intervals())
      forAllocations(
          driver.memory, bytes,
          [&](Allocation &allocation, Interval part) {
            if (allocation.space != Space::Device || allocation.freed) return;
            for (Interval gap : allocation.written.missing(part))
              for (Interval unwritten : own.missing(gap))
                return driver.report.complain("unwritten " + operation->name + "|" + operation->where,
                                              operation->title() + " reads " + describe(allocation, unwritten) +
                                                  ", which nothing has written");
          },
          nobodys);
  };
  if (driver.config.checks.unwritten && readsMustBeWritten) {
    needWritten(effects.reads);
    for (const auto &[kind, bytes] : effects.updates) needWritten(bytes);
  }
  effects.forEach(enterAll);
  effects.forEach([&](const IntervalList &list, Access access) {
    if (access == Access::Read) return;
    for (Interval bytes : list.intervals())
      forAllocations(
          driver.memory, bytes,
          [&](Allocation &allocation, Interval part) {
            allocation.written.insert(part);
            ++allocation.writes;
          },
          nobodys);
  });
}

void checkFree(Driver &driver, const OperationRef &operation, Allocation &allocation) {
  enter(driver, operation, allocation, {allocation.begin, allocation.end()}, Access::Write);
}

} // namespace sprig::cuda
