#include "lib/Frontend/Base/DeviceThreads.h"
#include <map>
#include <mutex>

namespace sprig::frontend {

bool DeviceThreads::renew() {
  devices = openDevices();
  int count = threadsOf(device);
  if (!count) return false;
  static auto &mutex = *new std::mutex;
  static auto &pools = *new std::map<DeviceId, std::pair<int, rt::Pool>>; // the newest of each device
  std::lock_guard lock(mutex);
  auto known = pools.find(device);
  if (known == pools.end() || known->second.first != count)
    known = pools.insert_or_assign(device, std::pair(count, rt::Pool(count))).first;
  mine = known->second.second;
  return true;
}

} // namespace sprig::frontend
