#include "lib/Machine/MachineFile.h"
#include "lib/Cache/FileCache.h"
#include "lib/Cache/TrustedFolder.h"
#include "lib/Json/Json.h"
#include "runtime/base/Hex.h"
#include <cpuid.h>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace fs = std::filesystem;

namespace sprig::machine {
namespace {

// Of what the file holds; another one is measured anew.
constexpr int kVersion = 3;
constexpr size_t kMaxFileBytes = 16 << 20;

std::string brand() {
  unsigned words[12] = {};
  for (unsigned leaf = 0; leaf < 3; ++leaf)
    if (!__get_cpuid(0x80000002 + leaf, words + 4 * leaf, words + 4 * leaf + 1, words + 4 * leaf + 2,
                     words + 4 * leaf + 3))
      return "unknown";
  char text[sizeof words + 1] = {};
  std::memcpy(text, words, sizeof words);
  std::string name = text;
  name.erase(0, name.find_first_not_of(' '));
  name.erase(name.find_last_not_of(' ') + 1);
  return name;
}

uint64_t hash(std::string_view text) {
  uint64_t value = 0xcbf29ce484222325;
  for (unsigned char c : text) value = (value ^ c) * 0x100000001b3;
  return value;
}

} // namespace

const Identity &machineIdentity() {
  static const auto &identity = *new Identity{brand(), bestIsa(), int(sysconf(_SC_NPROCESSORS_ONLN))};
  return identity;
}

fs::path calibrationFile() {
  const Identity &machine = machineIdentity();
  std::string key = machine.model + "|" + machine.isa + "|" + std::to_string(machine.processors);
  for (int name : {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE})
    key += "|" + std::to_string(sysconf(name));
  return fs::path(defaultCacheFolder()) / ("machine-" + hexDigits(hash(key)) + ".json");
}

std::string calibrationToText(const Calibration &found) {
  Json levels = Json::array(), latency = Json::array();
  for (auto &rates : found.levels)
    levels.push_back({{"level", rates.level},
                      {"bytes", rates.bytes},
                      {"instances", rates.instances},
                      {"read", rates.read},
                      {"read_all", rates.readAll},
                      {"write", rates.write},
                      {"copy", rates.copy}});
  for (auto &point : found.latency) latency.push_back({point.workingSet, point.ns});
  Json json = {{"version", kVersion},
               {"model", found.model},
               {"isa", found.isa},
               {"threads", found.threads},
               {"f32_flops_per_second", found.fmaFlops},
               {"f32_flops_per_second_all", found.fmaFlopsAll},
               {"levels", levels},
               {"random_seconds", found.randomSeconds},
               {"hand_off_seconds", found.handOffSeconds},
               {"cross_core_seconds", found.crossCore.latency},
               {"cross_core_bytes_per_second", found.crossCore.bytesPerSecond},
               {"cache_knees_bytes", found.cacheKnees},
               {"latency", latency}};
  if (found.byteDots != 0) json["byte_products_per_second"] = found.byteDots;
  if (found.bf16Dots != 0) json["bf16_products_per_second"] = found.bf16Dots;
  if (const Steadiness &steadiness = found.steadiness; steadiness.sweeps > 0)
    json["steadiness"] = {{"sweeps", steadiness.sweeps},      {"seconds", steadiness.seconds},
                          {"others", steadiness.othersShare}, {"stolen", steadiness.stolenShare},
                          {"furthest", steadiness.furthest},  {"spread", steadiness.spread}};
  return json.dump(1) + "\n";
}

template <typename T> static T whole(const Json &json) { return wholeNumber<T>(json).value(); }

std::optional<Calibration> calibrationFromText(std::string_view text) {
  try {
    Json json = parseJson(text, "the calibration");
    if (json.at("version") != kVersion) return std::nullopt;
    Calibration result;
    result.model = json.at("model");
    result.isa = json.at("isa");
    result.threads = whole<int>(json.at("threads"));
    result.fmaFlops = json.at("f32_flops_per_second");
    result.fmaFlopsAll = json.at("f32_flops_per_second_all");
    for (auto &rates : json.at("levels"))
      result.levels.push_back({whole<int>(rates.at("level")), whole<int64_t>(rates.at("bytes")),
                               whole<int>(rates.at("instances")), rates.at("read"), rates.at("read_all"),
                               rates.at("write"), rates.at("copy")});
    result.randomSeconds = json.at("random_seconds");
    result.handOffSeconds = json.at("hand_off_seconds");
    result.crossCore = {json.at("cross_core_seconds"), json.at("cross_core_bytes_per_second")};
    for (auto &bytes : json.at("cache_knees_bytes")) result.cacheKnees.push_back(whole<int64_t>(bytes));
    for (auto &point : json.at("latency")) result.latency.push_back({whole<int64_t>(point.at(0)), point.at(1)});
    // Files of before have none of these.
    if (json.contains("byte_products_per_second")) result.byteDots = json.at("byte_products_per_second");
    if (json.contains("bf16_products_per_second")) result.bf16Dots = json.at("bf16_products_per_second");
    if (json.contains("steadiness")) {
      const Json &kept = json.at("steadiness");
      result.steadiness = {whole<int>(kept.at("sweeps")), kept.at("seconds"), kept.at("others"), kept.at("stolen"),
                           kept.at("furthest"),           kept.at("spread")};
    }
    auto positive = [](double value) { return value > 0 && value < 1e18; };
    bool sound = result.threads > 0 && positive(result.fmaFlops) && positive(result.fmaFlopsAll) &&
                 !result.levels.empty() && !result.latency.empty() && positive(result.randomSeconds) &&
                 positive(result.handOffSeconds) && positive(result.crossCore.latency) &&
                 positive(result.crossCore.bytesPerSecond);
    const Steadiness &steadiness = result.steadiness;
    for (double share : {steadiness.seconds, steadiness.othersShare, steadiness.stolenShare, steadiness.spread})
      sound &= share >= 0 && share < 1e18;
    sound &= steadiness.sweeps >= 0;
    for (double rate : {result.byteDots, result.bf16Dots}) sound &= rate == 0 || positive(rate);
    for (auto &rates : result.levels) sound &= positive(rates.read) && positive(rates.readAll);
    return sound ? std::optional(std::move(result)) : std::nullopt;
  } catch (const std::exception &) {
    return std::nullopt;
  }
}

std::optional<Calibration> keptCalibration() {
  fs::path file = calibrationFile();
  TrustedFolder::Refusal refusal;
  TrustedFolder folder = TrustedFolder::open(file.parent_path(), TrustedFolder::Missing::leave, refusal);
  std::optional<std::string> text;
  if (std::string why; folder) text = folder.read(file.filename(), kMaxFileBytes, why);
  std::optional<Calibration> result = text ? calibrationFromText(*text) : std::nullopt;
  const Identity &machine = machineIdentity();
  if (result && (result->model != machine.model || result->isa != machine.isa)) return std::nullopt;
  return result;
}

std::string keepCalibration(const Calibration &calibration) {
  fs::path file = calibrationFile();
  TrustedFolder::Refusal refusal;
  TrustedFolder folder = TrustedFolder::open(file.parent_path(), TrustedFolder::Missing::make, refusal);
  if (!folder) return refusal.why;
  std::string why = folder.write(file.filename(), {calibrationToText(calibration)});
  return why.empty() ? "" : file.string() + ": cannot be written: " + why;
}

} // namespace sprig::machine
