#include "test/gpu/driver/Memory.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sprig::cuda {
namespace {

constexpr uint64_t kAlign = 512, kPage = 4096;
constexpr size_t kRemembered = 4096; // freed allocations
constexpr int kPoison = 0xff;        // NaN for every float

uint64_t roundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

// The handler of faults knows one Memory, as a process has one driver.
Memory *guarded = nullptr;
struct sigaction before;

void onFault(int, siginfo_t *info, void *) {
  uint64_t address = reinterpret_cast<uint64_t>(info->si_addr);
  if (guarded && guarded->isDeviceAddress(address)) {
    char line[160];
    int length = std::snprintf(line, sizeof line,
                               "stand-in: host code touches device memory, at 0x%llx: only kernels and copies may\n",
                               static_cast<unsigned long long>(address));
    if (::write(2, line, length) < 0) std::abort();
  } else if (guarded && guarded->hostGuard()->touch(address)) {
    return;
  }
  // The instruction faults again, for whoever was here before.
  ::sigaction(SIGSEGV, &before, nullptr);
}

// The same memory at two addresses.
bool mapTwice(const char *name, uint64_t bytes, int protection, char *&shown, char *&open) {
  int file = ::memfd_create(name, MFD_CLOEXEC);
  if (file < 0) return false;
  if (::ftruncate(file, static_cast<off_t>(bytes)) == 0) {
    void *a = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    void *b = ::mmap(nullptr, bytes, protection, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (a != MAP_FAILED && b != MAP_FAILED) {
      open = static_cast<char *>(a);
      shown = static_cast<char *>(b);
    } else {
      if (a != MAP_FAILED) ::munmap(a, bytes);
      if (b != MAP_FAILED) ::munmap(b, bytes);
    }
  }
  ::close(file); // the mappings keep it
  return open != nullptr;
}

} // namespace

std::string Allocation::title() const {
  std::string text = "allocation " + std::to_string(number) + " (" + std::to_string(size) + " bytes of ";
  if (space == Space::Device) return text + "cuda:" + std::to_string(device) + ")";
  return text + (space == Space::Pinned ? "pinned" : "registered") + " host memory)";
}

Arena::Arena(uint64_t bytes) : limit(bytes) {
  reserved = roundUp(2 * bytes, kPage) + (uint64_t(64) << 20); // what was freed keeps its addresses for a while
  mapTwice("device", reserved, PROT_NONE, shown, open);
}

Arena::~Arena() {
  if (!open) return;
  ::munmap(open, reserved);
  ::munmap(shown, reserved);
}

uint64_t Arena::take(uint64_t bytes) {
  uint64_t room = roundUp(bytes, kAlign);
  if (room > limit - used) return 0;
  uint64_t address = 0;
  // A gap behind each allocation, so that the byte behind its end is nobody's.
  if (auto hole = holes.lower_bound(room); hole != holes.end()) {
    address = hole->second;
    uint64_t rest = hole->first - room;
    holes.erase(hole);
    if (rest > kAlign) holes.emplace(rest - kAlign, address + room + kAlign);
  } else if (room + kAlign <= reserved - top) {
    address = base() + top;
    top += room + kAlign;
  } else {
    return 0;
  }
  used += room;
  return address;
}

void Arena::give(uint64_t address, uint64_t bytes) { holes.emplace(roundUp(bytes, kAlign), address); }

void Arena::drop(uint64_t address, uint64_t bytes) {
  used -= roundUp(bytes, kAlign);
  uint64_t begin = roundUp(address, kPage), end = (address + bytes) / kPage * kPage;
  if (begin < end) ::madvise(reach(begin), end - begin, MADV_REMOVE);
}

void Arena::allow(bool allowed) {
  uint64_t bytes = roundUp(top, kPage);
  if (bytes) ::mprotect(shown, bytes, allowed ? PROT_READ | PROT_WRITE : PROT_NONE);
}

Memory::Memory(const std::vector<uint64_t> &bytes, bool guardHost) : guardHost(guardHost) {
  for (uint64_t size : bytes) arenas.push_back(std::make_unique<Arena>(size));
  if (!valid() || arenas.empty()) return;
  if (guardHost) {
    guarded = this;
    struct sigaction action = {};
    action.sa_sigaction = onFault;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &action, &before);
  }
}

Memory::~Memory() {
  if (guarded == this) {
    ::sigaction(SIGSEGV, &before, nullptr);
    guarded = nullptr;
  }
  for (auto &[begin, allocation] : allocations)
    if (allocation->space == Space::Pinned) unmapPinned(*allocation);
}

void Memory::unmapPinned(const Allocation &allocation) {
  uint64_t room = roundUp(allocation.size, kPage);
  pinned.remove({allocation.begin, allocation.begin + room});
  ::munmap(reinterpret_cast<void *>(allocation.begin), room);
  ::munmap(allocation.open, room);
}

bool Memory::valid() const {
  return std::all_of(arenas.begin(), arenas.end(), [](auto &arena) { return arena->valid(); });
}

Allocation &Memory::insert(Allocation allocation) {
  allocation.number = ++numbers;
  auto &slot = allocations[allocation.begin];
  slot = std::make_unique<Allocation>(std::move(allocation));
  return *slot;
}

Allocation *Memory::allocateDevice(int device, uint64_t bytes) {
  uint64_t address = arenas[device]->take(bytes);
  if (!address) return nullptr;
  std::memset(reach(address), kPoison, bytes);
  isOpen = false; // a new part is not open yet
  Allocation allocation;
  allocation.begin = address;
  allocation.size = bytes;
  allocation.device = device;
  return &insert(std::move(allocation));
}

Allocation *Memory::allocatePinned(int device, uint64_t bytes, unsigned flags) {
  char *shown = nullptr, *open = nullptr;
  uint64_t room = roundUp(bytes, kPage);
  if (!mapTwice("pinned", room, PROT_READ | PROT_WRITE, shown, open)) return nullptr;
  std::memset(open, kPoison, bytes);
  Allocation allocation;
  allocation.begin = reinterpret_cast<uint64_t>(shown);
  allocation.open = open;
  allocation.size = bytes;
  allocation.space = Space::Pinned;
  allocation.device = device;
  allocation.flags = flags;
  pinned.add({allocation.begin, allocation.begin + room});
  return &insert(std::move(allocation));
}

Allocation *Memory::registerHost(int device, uint64_t address, uint64_t bytes, unsigned flags) {
  auto next = allocations.lower_bound(address);
  if (next != allocations.end() && next->first < address + bytes) return nullptr;
  if (next != allocations.begin() && std::prev(next)->second->end() > address) return nullptr;
  Allocation allocation;
  allocation.begin = address;
  allocation.size = bytes;
  allocation.space = Space::Registered;
  allocation.device = device;
  allocation.flags = flags;
  return &insert(std::move(allocation));
}

void Memory::free(Allocation &allocation, OperationRef by) {
  allocation.freed = std::move(by);
  if (allocation.space == Space::Registered) { // its owner may do with it whatever it wants
    last = nullptr;
    allocations.erase(allocation.begin);
    return;
  }
  if (allocation.space == Space::Device) arenas[allocation.device]->drop(allocation.begin, allocation.size);
  freed.push_back(allocation.begin);
  if (freed.size() > kRemembered) recycle();
}

void Memory::freeAll(int device, const OperationRef &by) {
  std::vector<Allocation *> living;
  for (auto &[begin, allocation] : allocations)
    if (allocation->space == Space::Device && allocation->device == device && !allocation->freed)
      living.push_back(allocation.get());
  for (Allocation *allocation : living) free(*allocation, by);
}

void Memory::recycle() {
  auto it = allocations.find(freed.front());
  freed.pop_front();
  last = nullptr;
  Allocation &allocation = *it->second;
  if (allocation.space == Space::Device)
    arenas[allocation.device]->give(allocation.begin, allocation.size);
  else
    unmapPinned(allocation);
  allocations.erase(it);
}

Allocation *Memory::find(uint64_t address) {
  if (last && last->contains(address)) return last;
  auto it = allocations.upper_bound(address);
  if (it == allocations.begin()) return nullptr;
  --it;
  if (!it->second->contains(address)) return nullptr;
  return last = it->second.get();
}

std::vector<Interval> Memory::ranges() const {
  std::vector<Interval> list;
  for (auto &[begin, allocation] : allocations) list.push_back({begin, allocation->end()});
  return list;
}

bool Memory::isDeviceAddress(uint64_t address) const {
  return std::any_of(arenas.begin(), arenas.end(), [&](auto &arena) { return arena->contains(address); });
}

char *Memory::reach(uint64_t address) const {
  for (auto &arena : arenas)
    if (arena->contains(address)) return arena->reach(address);
  if (auto it = allocations.upper_bound(address); it != allocations.begin()) {
    const Allocation &below = *std::prev(it)->second;
    if (below.open && below.contains(address)) return below.open + (address - below.begin);
  }
  return reinterpret_cast<char *>(address);
}

std::string Memory::neighbour(uint64_t address) const {
  auto it = allocations.upper_bound(address);
  if (it != allocations.begin()) {
    const Allocation &below = *std::prev(it)->second;
    return std::to_string(address - below.end()) + " bytes behind " + below.title();
  }
  if (it != allocations.end())
    return std::to_string(it->second->begin - address) + " bytes in front of " + it->second->title();
  return "there is no allocation";
}

void Memory::openForKernels() {
  if (isOpen) return;
  for (auto &arena : arenas) arena->allow(true);
  pinned.openForKernels();
  isOpen = true;
}

void Memory::closeForHost() {
  if (!guardHost || !isOpen) return;
  for (auto &arena : arenas) arena->allow(false);
  pinned.closeForHost();
  isOpen = false;
}

} // namespace sprig::cuda
