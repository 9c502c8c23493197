#include "lib/Frontend/Base/DeviceThreads.h"
#include <map>
#include <mutex>

namespace sprig::frontend {

bool DeviceThreads::renew() {
  open = openDevices();
  int count = threadsOf(devices);
  if (!count) return mine.has_value() && (mine.reset(), true);
  static auto &mutex = *new std::mutex;
  static auto &pools = *new std::map<std::vector<DeviceId>, std::pair<int, rt::Pool>>; // the newest of each
  std::lock_guard lock(mutex);
  auto known = pools.find(devices);
  if (known == pools.end() || known->second.first != count)
    known = pools.insert_or_assign(devices, std::pair(count, rt::Pool(count))).first;
  mine = known->second.second;
  return true;
}

} // namespace sprig::frontend
