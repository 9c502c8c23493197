#include "tools/sprig/run/NamedDevices.h"
#include "runtime/device/DeviceNames.h"

namespace sprig::cli {

std::vector<std::string> devicesOf(const Runner &runner) {
  sprig_rt_package_info info;
  sprig_rt_package_describe(runner.package(), &info);
  std::vector<std::string> names;
  for (uint32_t i = 0; i < info.device_count; ++i) names.push_back(runner.deviceName(i));
  return names;
}

std::vector<std::string> devicesFor(const Runner &runner, const Settings &settings) {
  std::vector<std::string> own = devicesOf(runner);
  rt::core::GivenDevices given = settings.parsedDevices();
  if (given.list.empty() || given.threads) return own;
  std::vector<std::string> names;
  if (given.keepsTimeOnly())
    for (size_t i = 0; i < own.size(); ++i) names.push_back("null:" + std::to_string(i));
  else
    for (const rt::core::GivenDevice &device : given.list) names.push_back(device.name());
  if (names.size() != own.size()) {
    std::string list;
    for (const std::string &name : own) list += (list.empty() ? "" : ", ") + name;
    throw Error(ErrorKind::unsupported,
                "--devices " + settings.givenDevices() + ": the program runs on " + std::to_string(own.size()) +
                    (own.size() == 1 ? " device (" : " devices (") + list + "), given " + std::to_string(names.size()));
  }
  return names;
}

} // namespace sprig::cli
