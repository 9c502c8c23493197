#include "test/gpu/driver/HostGuard.h"

#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace sprig::cuda {
namespace {

constexpr uint64_t kGuardPage = 4096;
constexpr size_t kTouches = 256; // between two calls, whose room is there before the handler needs it

Interval pagesOf(Interval bytes) {
  return {bytes.begin / kGuardPage * kGuardPage, (bytes.end + kGuardPage - 1) / kGuardPage * kGuardPage};
}

bool contains(Interval range, uint64_t address) { return address >= range.begin && address < range.end; }

void setAccess(Interval bytes, int protection) {
  Interval pages = pagesOf(bytes);
  ::mprotect(reinterpret_cast<void *>(pages.begin), pages.end - pages.begin, protection);
}

} // namespace

HostGuard::HostGuard() { touches.reserve(kTouches); }

HostGuard::Lock::Lock(std::atomic_flag &busy) : busy(busy) {
  while (busy.test_and_set(std::memory_order_acquire)) {
  }
}

void HostGuard::add(Interval pages) {
  Lock lock(busy);
  known.push_back(pages);
}

void HostGuard::remove(Interval pages) {
  Lock lock(busy);
  open([&](const Closed &each) { return contains(pages, each.bytes.begin); });
  std::erase_if(known, [&](Interval each) { return each.begin == pages.begin; });
}

void HostGuard::close(Interval bytes, OperationRef by, std::string touched) {
  Lock lock(busy);
  closed.push_back({bytes, std::move(by), std::move(touched)});
  setAccess(bytes, PROT_NONE);
}

// Pages may have bytes of several.
template <typename Which> void HostGuard::open(Which which) {
  bool some = false;
  for (const Closed &each : closed)
    if (which(each)) {
      setAccess(each.bytes, PROT_READ | PROT_WRITE);
      some = true;
    }
  if (!some) return;
  std::erase_if(closed, which);
  for (const Closed &each : closed) setAccess(each.bytes, PROT_NONE);
}

void HostGuard::release(const Clock &host) {
  Lock lock(busy);
  open([&](const Closed &each) { return each.by->happenedBefore(host); });
}

void HostGuard::openForKernels() {
  Lock lock(busy);
  for (const Closed &each : closed) setAccess(each.bytes, PROT_READ | PROT_WRITE);
}

void HostGuard::closeForHost() {
  Lock lock(busy);
  for (const Closed &each : closed) setAccess(each.bytes, PROT_NONE);
}

bool HostGuard::touch(uint64_t address) {
  Lock lock(busy);
  bool isOurs = false;
  for (Interval pages : known) isOurs = isOurs || contains(pages, address);
  if (!isOurs) return false;
  for (Closed &each : closed) {
    if (!contains(each.bytes, address) || touches.size() == kTouches) continue;
    std::string line = "stand-in: " + each.touched + "\n";
    if (::write(2, line.data(), line.size()) < 0) std::abort();
    touches.push_back(std::move(each.touched));
  }
  // All of the page, or the instruction would fault for ever; another thread may have opened it since.
  open([&](const Closed &each) { return contains(pagesOf(each.bytes), address); });
  return true;
}

std::vector<std::string> HostGuard::takeTouches() {
  Lock lock(busy);
  if (touches.empty()) return {};
  std::vector<std::string> taken;
  taken.reserve(kTouches);
  std::swap(taken, touches);
  return taken;
}

} // namespace sprig::cuda
