#include "lib/Frontend/Base/Devices.h"
#include "runtime/machine/ThreadShares.h"
#include "sprig/error.h"
#include "sprig/rt/sprig_rt.h"
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <mutex>
#include <ostream>

namespace sprig {

namespace {

constexpr const char *kKinds[] = {"cpu", "cuda", "null"};
constexpr unsigned kMostNumbers = 1024; // as the runtime has them (runtime/device/DeviceNames.h)

std::string placed(Source at, const std::string &text) {
  return (at.line ? std::string(at.file) + ":" + std::to_string(at.line) + ": " : "") + text;
}

} // namespace

Device::Device(const std::string &name, Source at) {
  size_t colon = std::min(name.find(':'), name.size());
  auto kind = std::find(std::begin(kKinds), std::end(kKinds), name.substr(0, colon));
  if (kind == std::end(kKinds))
    badUse(placed(at, "device '" + name + "': expected a kind of device (cpu, cuda, null), found '" +
                          name.substr(0, colon) + "'"));
  unsigned number = 0;
  if (colon < name.size()) {
    const char *begin = name.data() + colon + 1, *end = name.data() + name.size();
    auto [stop, error] = std::from_chars(begin, end, number);
    if (begin == end || stop != end || error != std::errc() || number >= kMostNumbers)
      badUse(placed(at, "device '" + name + "': expected " + *kind + ":N with a number from 0 to " +
                            std::to_string(kMostNumbers - 1) + ", found '" + name.substr(colon + 1) + "'"));
  }
  deviceKind = Kind(kind - std::begin(kKinds));
  deviceNumber = uint16_t(number);
}

std::string Device::name() const { return kKinds[size_t(deviceKind)] + (":" + std::to_string(deviceNumber)); }

std::ostream &operator<<(std::ostream &out, const Device &device) { return out << device.name(); }

Device defaultDevice() { return frontend::deviceOf(frontend::currentDevice()); }

namespace frontend {

namespace {

struct Open {
  std::mutex mutex; // of opening
  std::array<Device, kMostOpenDevices> devices;
  std::atomic<size_t> count{1};
};
Open &open() {
  static auto &all = *new Open;
  return all;
}

thread_local DeviceId current = 0;
thread_local const DeviceId *creation = nullptr;

} // namespace

DeviceId openDevice(const Device &device, const char *op, Source at) {
  if (device.kind() != Device::Kind::cpu) {
    std::string why = device.kind() == Device::Kind::null
                          ? ": null devices run compiled programs alone (CompileOptions::devices, --devices)"
                          : " is not there";
    unsupported(placed(at, std::string(op) + ": device " + device.name() + why));
  }
  if (auto known = findDevice(device)) return *known;
  Open &all = open();
  std::lock_guard lock(all.mutex);
  if (auto known = findDevice(device)) return *known;
  size_t count = all.count.load(std::memory_order_relaxed);
  if (count == kMostOpenDevices)
    unsupported(placed(at, std::string(op) + ": " + device.name() + " would be one more than " +
                               std::to_string(kMostOpenDevices) + " devices"));
  all.devices[count] = device;
  all.count.store(count + 1, std::memory_order_release);
  return DeviceId(count);
}

std::optional<DeviceId> findDevice(const Device &device) {
  const Open &all = open();
  auto end = all.devices.begin() + all.count.load(std::memory_order_acquire);
  auto known = std::find(all.devices.begin(), end, device);
  return known == end ? std::nullopt : std::optional(DeviceId(known - all.devices.begin()));
}

Device deviceOf(DeviceId id) { return open().devices[id]; }
size_t openDevices() { return open().count.load(std::memory_order_acquire); }
DeviceId currentDevice() { return current; }
const DeviceId *creationDevice() { return creation; }

CreationScope::CreationScope(DeviceId device) : device(device), outer(creation) { creation = &this->device; }
CreationScope::~CreationScope() { creation = outer; }

int threadsOf(std::span<const DeviceId> devices) {
  rt::core::ThreadShares shares{uint32_t(sprig_rt_default_threads()), uint32_t(openDevices())};
  if (devices.empty() || devices.size() == shares.shares) return 0;
  uint32_t threads = 0;
  for (DeviceId device : devices) threads += shares.threadsOf(device);
  return int(std::min(threads, shares.threads)); // several may have one between them
}

} // namespace frontend

DeviceScope::DeviceScope(const Device &device, Source at)
    : outer(std::exchange(frontend::current, frontend::openDevice(device, "DeviceScope", at))) {}
DeviceScope::~DeviceScope() { frontend::current = outer; }

} // namespace sprig
