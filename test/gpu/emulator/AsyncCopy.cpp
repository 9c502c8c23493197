// cp.async. A copy happens as late as PTX allows: when its thread waits for its group. Until then what it will
// overwrite belongs to it alone, as it might happen at once too.
#include "test/gpu/emulator/Block.h"
#include "test/gpu/emulator/Hooks.h"
#include <cstring>

using namespace sprig::gpu;

void hooks_impl::copyAsync(SprigGpuThread *self, uint64_t to, uint64_t from, uint32_t bytes, uint32_t sourceBytes,
                           uint32_t line) {
  Thread &thread = Block::thread(self);
  Block &block = *thread.owner;
  if (sourceBytes > bytes)
    block.fail(Fault::OutOfBounds, &thread, line, 0,
               block.where(thread) + " copies " + std::to_string(sourceBytes) + " bytes to a place of " +
                   std::to_string(bytes));
  block.checkSharedBounds(thread, to, bytes, line, " copies asynchronously to ");
  if (to % bytes || from % bytes)
    block.fail(Fault::Misaligned, &thread, line, 0,
               block.where(thread) + " copies " + std::to_string(bytes) +
                   " bytes asynchronously between addresses that are no multiples");
  if (block.isChecked()) {
    if (sourceBytes) block.accessGlobal(thread, from, sourceBytes, SPRIG_GPU_GLOBAL, line);
    block.startCopy(thread, uint32_t(to), bytes, line);
  }
  thread.copies.push_back({uint32_t(to), from, bytes, sourceBytes, thread.committedGroups, line});
}

void Block::startCopy(Thread &thread, uint32_t to, uint32_t bytes, uint32_t line) {
  countRequest(thread, true, to, bytes, SPRIG_GPU_WRITE, line);
  if (!findsRaces()) return;
  Rival rival;
  bool unused = false;
  if (sharedRaces.isInFlight(to, bytes, rival))
    complain(Fault::Race, &thread, line, rival.line,
             where(thread) + " copies asynchronously to where another such copy is on its way");
  else if (sharedRaces.access(to, bytes, {thread.index, line, true, false}, clock, thread.order, true, rival, unused))
    complainOfRace(thread, "shared", to, bytes, SPRIG_GPU_WRITE, line, rival);
  sharedRaces.startCopy(to, bytes, thread.index, line);
}

void Block::landCopies(Thread &thread, uint32_t firstOpenGroup) {
  size_t count = 0;
  for (; count < thread.copies.size() && thread.copies[count].group < firstOpenGroup; ++count) {
    const PendingCopy &copy = thread.copies[count];
    // Plain pointers: what is copied was checked when the copy was issued.
    if (copy.sourceBytes) std::memcpy(shared(copy.to), reinterpret_cast<const void *>(copy.from), copy.sourceBytes);
    std::memset(shared(copy.to) + copy.sourceBytes, 0, copy.bytes - copy.sourceBytes);
    if (!findsRaces()) continue;
    Rival rival;
    bool unused = false;
    sharedRaces.endCopy(copy.to, copy.bytes);
    if (sharedRaces.access(copy.to, copy.bytes, {thread.index, copy.line, true, false}, clock, thread.order, false,
                           rival, unused))
      complainOfRace(thread, "shared", copy.to, copy.bytes, SPRIG_GPU_WRITE, copy.line, rival);
    // The source may be read as late as now.
    if (copy.sourceBytes &&
        launch.globalRaces.access(copy.from, copy.sourceBytes, {thread.index, copy.line, false, false}, clock,
                                  thread.order, rival))
      complainOfRace(thread, "global", copy.from, copy.sourceBytes, 0, copy.line, rival);
  }
  thread.copies.erase(thread.copies.begin(), thread.copies.begin() + count);
}

void hooks_impl::commitCopies(SprigGpuThread *self, uint32_t) { ++Block::thread(self).committedGroups; }
void hooks_impl::waitCopies(SprigGpuThread *self, uint32_t pendingGroups, uint32_t) {
  Thread &thread = Block::thread(self);
  if (thread.committedGroups > pendingGroups) thread.owner->landCopies(thread, thread.committedGroups - pendingGroups);
}
