#include "test/gpu/driver/Config.h"
#include "test/gpu/driver/DeviceKinds.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace sprig::cuda {
namespace {

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
  }
  return parts;
}

template <typename Integer> bool parse(std::string_view text, Integer &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool parseBytes(std::string_view text, uint64_t &bytes) {
  int shift = 0;
  if (!text.empty()) {
    if (char unit = text.back(); unit == 'K' || unit == 'M' || unit == 'G')
      shift = unit == 'K' ? 10 : unit == 'M' ? 20 : 30;
    if (shift) text.remove_suffix(1);
  }
  if (!parse(text, bytes) || bytes == 0 || bytes >> (48 - shift)) return false;
  bytes <<= shift;
  return true;
}

bool parseDevices(std::string_view text, std::vector<const DeviceKind *> &devices) {
  devices.clear();
  if (text == "none") return true;
  for (std::string_view part : split(text)) {
    unsigned count = 1;
    size_t times = part.find('x');
    if (times != part.npos && !parse(part.substr(times + 1), count)) return false;
    const DeviceKind *kind = findDeviceKind(part.substr(0, times));
    if (!kind || count == 0 || devices.size() + count > 16) return false;
    devices.insert(devices.end(), count, kind);
  }
  return !devices.empty();
}

bool parseOrder(std::string_view text, Order &order) {
  order = text == "eager" ? Order::Eager : text == "random" ? Order::Random : Order::Lazy;
  return text == "eager" || text == "lazy" || text == "random";
}

bool parseChecks(std::string_view text, Checks &checks) {
  if (text == "all") return true;
  checks = {false, false, false, false, false, false};
  if (text == "none") return true;
  for (std::string_view part : split(text)) {
    bool *check = part == "order"       ? &checks.order
                  : part == "kernels"   ? &checks.kernels
                  : part == "bounds"    ? &checks.bounds
                  : part == "unwritten" ? &checks.unwritten
                  : part == "host"      ? &checks.host
                  : part == "pinned"    ? &checks.pinned
                                        : nullptr;
    if (!check) return false;
    *check = true;
  }
  return true;
}

// what=N by comma; `find` gives the place of what.
template <typename Find> bool parseNumbers(std::string_view text, Find find) {
  for (std::string_view part : split(text)) {
    size_t equals = part.find('=');
    if (equals == part.npos) return false;
    uint64_t *at = find(part.substr(0, equals));
    if (!at || !parse(part.substr(equals + 1), *at) || *at == 0) return false;
  }
  return true;
}

bool parseFailures(std::string_view text, Config &config) {
  return parseNumbers(text, [&](std::string_view what) {
    return what == "launch"  ? &config.failLaunch
           : what == "lost"  ? &config.failLost
           : what == "alloc" ? &config.failAlloc
                             : nullptr;
  });
}

bool parseDrop(std::string_view text, Config &config) {
  constexpr std::string_view names[kOrderings] = {"wait", "edge", "sync", "peer"};
  return parseNumbers(text, [&](std::string_view what) -> uint64_t * {
    auto found = std::find(std::begin(names), std::end(names), what);
    return found == std::end(names) ? nullptr : &config.drop[found - std::begin(names)];
  });
}

} // namespace

Config Config::fromEnvironment(std::string &error) {
  Config config;
  error.clear();
  // Reads one variable; what `accept` refuses becomes the error, the first one counts.
  auto read = [&](const char *name, const char *expected, auto accept) {
    std::string variable = std::string("SPRIG_STANDIN_") + name;
    const char *text = std::getenv(variable.c_str());
    if (text && *text && !accept(std::string_view(text)) && error.empty())
      error = variable + " is '" + text + "', expected " + expected;
  };
  config.devices = {findDeviceKind("sm_90")};
  read("DEVICES", "kinds of devices by comma, such as sm_90x2,sm_80 (at most 16), or none",
       [&](std::string_view text) { return parseDevices(text, config.devices); });
  read("MEMORY", "a number of bytes, with K, M or G behind it or not",
       [&](std::string_view text) { return parseBytes(text, config.memory); });
  read("DRIVER", "a version such as 13000", [&](std::string_view text) { return parse(text, config.driver); });
  read("PEERS", "all or none", [&](std::string_view text) {
    config.peers = text == "all";
    return text == "all" || text == "none";
  });
  read("IMAGES", "a folder", [&](std::string_view text) {
    config.images = text;
    return true;
  });
  read("REPORT", "a file", [&](std::string_view text) {
    config.report = text;
    return true;
  });
  read("ORDER", "eager, lazy or random", [&](std::string_view text) { return parseOrder(text, config.order); });
  read("SEED", "a number", [&](std::string_view text) { return parse(text, config.seed); });
  read("CHECKS", "all, none, or some of order,kernels,bounds,unwritten,host,pinned",
       [&](std::string_view text) { return parseChecks(text, config.checks); });
  read("EFFECTS", "each, once or none", [&](std::string_view text) {
    config.effects = text == "once" ? LaunchEffects::Once : text == "none" ? LaunchEffects::None : LaunchEffects::Each;
    return text == "each" || text == "once" || text == "none";
  });
  read("FAIL", "launch=N, lost=N or alloc=N, by comma",
       [&](std::string_view text) { return parseFailures(text, config); });
  read("DROP", "wait=N, edge=N, sync=N or peer=N, by comma",
       [&](std::string_view text) { return parseDrop(text, config); });
  read("EXIT", "an exit code from 0 to 255", [&](std::string_view text) {
    return parse(text, config.exitCode) && config.exitCode >= 0 && config.exitCode < 256;
  });
  return config;
}

} // namespace sprig::cuda
