#include "tools/sprig/Settings.h"
#include "lib/Cache/FileCache.h"
#include "lib/Data/Listed.h"
#include "lib/Import/ONNX/ExportFindings.h"
#include "lib/Lengths/Sums.h"
#include "runtime/device/null/NullOptions.h"
#include "tools/sprig/Report.h"
#include "tools/sprig/run/Runner.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

namespace sprig::cli {
namespace {

// Above it a few dimensions overflow whatever counts with them.
constexpr int64_t kLargestSize = int64_t(1) << 48;
constexpr int kMostThreads = 1024; // the runtime's limit
constexpr int kMostLanes = 64;

std::pair<std::string, std::string> splitAssignment(const std::string &flag, const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    badUse(flag + " " + text + ": expected NAME=" +
           (flag == "--dim"     ? "SIZE"
            : flag == "--value" ? "16000"
            : flag == "--state" ? "OUTPUT"
                                : "8x784"));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

int64_t parseSize(const std::string &flag, const std::string &all, std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > kLargestSize)
    badUse(flag + " " + all + ": '" + std::string(text) + "' is no size: expected an integer from 0 to " +
           std::to_string(kLargestSize));
  return value;
}

std::vector<int64_t> parseSizes(const std::string &flag, const std::string &all, const std::string &text,
                                char separator) {
  std::vector<int64_t> sizes;
  size_t start = 0;
  for (;;) {
    size_t end = text.find(separator, start);
    sizes.push_back(parseSize(flag, all, std::string_view(text).substr(start, end - start)));
    if (end == std::string::npos) return sizes;
    start = end + 1;
  }
}

} // namespace

std::vector<std::map<std::string, int64_t>> Settings::entryDims(bool besideRanges) const {
  std::vector<std::map<std::string, int64_t>> entries = {{}};
  for (const std::string &argument : dims) {
    auto [name, list] = splitAssignment("--dim", argument);
    if (list.find("..") != std::string::npos) {
      if (besideRanges) continue;
      badUse("--dim " + argument +
             ": a range is for packages that 'sprig compile' makes for inference; expected one size, or several as " +
             name + "=1,8");
    }
    if (list.find('+') != std::string::npos) continue;
    std::vector<int64_t> sizes = parseSizes("--dim", argument, list, ',');
    std::vector<std::map<std::string, int64_t>> extended;
    for (auto &entry : entries) {
      if (entry.count(name)) badUse("--dim " + argument + ": dimension '" + name + "' is given twice");
      for (int64_t size : sizes) {
        auto copy = entry;
        copy[name] = size;
        if (std::find(extended.begin(), extended.end(), copy) == extended.end()) extended.push_back(copy);
      }
    }
    entries = extended;
    if (entries.size() > 64) badUse("--dim asks for more than 64 entries");
  }
  for (const auto &[name, sum] : dimSums())
    for (auto &entry : entries) {
      std::optional<int64_t> size = sizeOfSum(sum, entry);
      if (!size && besideRanges) continue;
      if (!size) badUse("--dim " + name + "=" + sum + ": expected a sum of numbers and of dimensions that have a size");
      if (!entry.emplace(name, *size).second)
        badUse("--dim " + name + "=" + sum + ": dimension '" + name + "' is given twice");
    }
  return entries;
}

std::map<std::string, std::string> Settings::dimSums() const {
  std::map<std::string, std::string> sums;
  for (const std::string &argument : dims) {
    auto [name, text] = splitAssignment("--dim", argument);
    if (text.find('+') == std::string::npos) continue;
    if (!sums.emplace(name, text).second) badUse("--dim " + argument + ": dimension '" + name + "' is given twice");
  }
  return sums;
}

std::map<std::string, LengthRange> Settings::dimRanges() const {
  std::map<std::string, LengthRange> ranges;
  for (const std::string &argument : dims) {
    auto [name, text] = splitAssignment("--dim", argument);
    size_t dots = text.find("..");
    if (dots == std::string::npos) continue;
    LengthRange range{parseSize("--dim", argument, std::string_view(text).substr(0, dots)),
                      parseSize("--dim", argument, std::string_view(text).substr(dots + 2))};
    if (range.last < range.first) badUse("--dim " + argument + ": expected a range of sizes, as 1..128");
    if (!ranges.emplace(name, range).second) badUse("--dim " + argument + ": dimension '" + name + "' is given twice");
  }
  return ranges;
}

std::map<std::string, std::vector<int64_t>> Settings::inputShapes() const {
  std::map<std::string, std::vector<int64_t>> result;
  for (const std::string &argument : shapes) {
    auto [name, text] = splitAssignment("--shape", argument);
    auto sizes = text == "scalar" ? std::vector<int64_t>() : parseSizes("--shape", argument, text, 'x');
    if (!result.emplace(name, sizes).second) badUse("--shape " + argument + ": input '" + name + "' is given twice");
  }
  return result;
}

std::map<std::string, std::vector<double>> Settings::inputValues() const {
  std::map<std::string, std::vector<double>> result;
  for (const std::string &argument : values) {
    auto [name, text] = splitAssignment("--value", argument);
    std::vector<double> numbers;
    for (const char *at = text.data(), *end = at + text.size();; ++at) {
      double number = 0;
      auto [after, error] = std::from_chars(at, end, number);
      if (error != std::errc() || (after != end && *after != ','))
        badUse("--value " + argument + ": expected numbers with commas between them behind the =");
      numbers.push_back(number);
      if (at = after; at == end) break;
    }
    if (!result.emplace(name, std::move(numbers)).second)
      badUse("--value " + argument + ": input '" + name + "' is given twice");
  }
  return result;
}

std::vector<std::pair<std::string, std::string>> Settings::statePorts() const {
  std::vector<std::pair<std::string, std::string>> ports;
  for (const std::string &argument : states) ports.push_back(splitAssignment("--state", argument));
  return ports;
}

std::string Settings::givenDevices() const {
  std::string text;
  for (const std::string &given : devices) text += (text.empty() ? "" : ",") + given;
  return text;
}

rt::core::GivenDevices Settings::parsedDevices() const {
  rt::core::GivenDevices parsed;
  if (devices.empty()) return parsed;
  if (rt::core::Status status = rt::core::parseDevices(givenDevices(), parsed); !status.isOk())
    badUse("--" + std::string(status.message()));
  if (devicesAreNames && parsed.threads) parsed = {{{"cpu", parsed.threads}}, 0};
  if (parsed.threads && threads && int(parsed.threads) != threads)
    badUse("--devices " + givenDevices() + " asks for " + std::to_string(parsed.threads) + " threads, --threads for " +
           std::to_string(threads));
  return parsed;
}

int Settings::laneCount() const {
  int given = int(parsedDevices().threads);
  if (given && !toldOfThreads) {
    toldOfThreads = true;
    inform("note: --devices " + givenDevices() + " is taken as --threads " + std::to_string(given) +
           "; kind:number names a device");
  }
  int count = given ? given : threads;
  checkPin(pin ? 1 : 0, count);
  return count;
}

std::string Settings::runtimeDevice() const { return parsedDevices().threads ? std::string() : givenDevices(); }

std::vector<std::string> Settings::compileDevices() const {
  std::vector<std::string> names;
  rt::core::GivenDevices given = parsedDevices();
  if (given.list.size() < 2) return names;
  for (const rt::core::GivenDevice &device : given.list) names.push_back(device.name());
  return names;
}

std::vector<std::pair<std::string, std::string>> Settings::placedLayers() const {
  std::vector<std::pair<std::string, std::string>> placed;
  for (const std::string &place : places) {
    size_t equals = place.rfind('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == place.size())
      badUse("--place " + place + ": expected LAYER=DEVICE, as encoder/layer3=cpu:1");
    placed.emplace_back(place.substr(0, equals), place.substr(equals + 1));
  }
  return placed;
}

std::string Settings::cacheFolder() const {
  if (noCache) return "";
  // What was asked for by name is not left out without a word, and what others could have put there is not either.
  static std::string checked;
  static bool isUsed = true;
  std::string folder = cache.empty() ? defaultCacheFolder() : cache;
  if (checked != folder) {
    checked = folder;
    std::error_code error;
    if (!cache.empty() && std::filesystem::exists(cache, error) && !std::filesystem::is_directory(cache, error))
      badUse("--cache " + cache + ": is no folder");
    std::string distrust = cacheDistrust(folder);
    isUsed = distrust.empty();
    std::string why = isUsed && !cache.empty() ? cacheProblem(cache) : distrust;
    if (!why.empty()) warn("cache: " + why + (isUsed ? "; nothing is kept" : "; compiling without it"));
  }
  return isUsed ? folder : "";
}

uint64_t Settings::cacheBytes() const {
  if (cacheSize.empty()) return defaultCacheSize();
  auto size = parseCacheSize(cacheSize);
  if (!size) badUse("--cache-size " + cacheSize + ": expected bytes, or a number with K, M or G, below 2^64 bytes");
  return *size;
}

static bool isGpu(const rt::core::GivenDevice &device) { return device.kind == "cuda"; }

void Settings::checkDevices() const {
  checkDeviceNames();
  rt::core::GivenDevices given = parsedDevices();
  if (std::none_of(given.list.begin(), given.list.end(), isGpu)) return;
  machine::GpuSearch found = machine::findGpus();
  for (const rt::core::GivenDevice &device : given.list)
    if (isGpu(device) && device.ordinal >= found.gpus.size())
      unsupported("--devices " + givenDevices() + ": " +
                  (found.gpus.empty() ? found.describe() : device.name() + " is not there: " + found.found));
}

void Settings::checkDeviceNames() const {
  placedLayers(); // their form; whether there is a place is for who compiles
  laneCount();    // and that of the devices
}

bool Settings::namesGpus() const {
  if (devicesAreNames) return false;
  rt::core::GivenDevices given = parsedDevices();
  return !given.list.empty() && std::all_of(given.list.begin(), given.list.end(), isGpu);
}

bool Settings::namesGpusBesideCpus() const {
  if (devicesAreNames) return false;
  rt::core::GivenDevices given = parsedDevices();
  auto isCpu = [](const rt::core::GivenDevice &device) { return device.kind == "cpu"; };
  return std::any_of(given.list.begin(), given.list.end(), isGpu) &&
         std::any_of(given.list.begin(), given.list.end(), isCpu);
}

std::vector<machine::Gpu> Settings::gpusHere() const {
  std::vector<machine::Gpu> gpus;
  machine::GpuSearch found = machine::findGpus();
  for (const rt::core::GivenDevice &device : parsedDevices().list) {
    if (!isGpu(device)) continue;
    if (device.ordinal >= found.gpus.size()) return {};
    gpus.push_back(found.gpus[device.ordinal]);
  }
  return gpus;
}

void Settings::checkDevicesCompute() const {
  checkDevices();
  rt::core::GivenDevices given = parsedDevices();
  std::string why = "--devices " + givenDevices() + ": keeps time and computes nothing, so there are no values";
  if (given.keepsTimeOnly()) badUse(why + "; null:0 computes");
  rt::core::NullOptions null;
  // A word that is none is told by the load.
  if (!rt::core::nullOptionsOfEnvironment(null).isOk() || null.computes) return;
  for (const rt::core::GivenDevice &device : given.list)
    if (device.kind == "null") badUse(why + " (SPRIG_NULL_MODE=time)");
}

CLI::Option *addRepeated(CLI::App &command, const std::string &flag, std::vector<std::string> &values,
                         const std::string &text) {
  return command.add_option(flag, values, text)->take_all()->expected(1);
}

CLI::Option *addText(CLI::App &command, const std::string &flag, const std::string &type, std::string &value,
                     const std::string &text) {
  return command.add_option(flag, value, text)->type_name(type);
}

CLI::Option *addChoice(CLI::App &command, const std::string &flag, std::string &value,
                       const std::vector<std::string> &choices, const std::string &text) {
  CLI::Option *option = command.add_option(flag, value, text)->check(CLI::IsMember(choices));
  return value.empty() ? option : option->capture_default_str();
}

void addThreads(CLI::App &command, Settings &settings) {
  command
      .add_option("--threads", settings.threads,
                  "threads of the processor to run on, the caller's included; GPUs alone use none (default: the usable "
                  "processors)")
      ->check(CLI::Range(1, kMostThreads));
  addRepeated(command, "--devices", settings.devices,
              "devices to run on, of a package one for each of its own: cpu, cpu:0,cpu:1 (shares of the cores), null:0 "
              "(for tests), cuda:0,1 (numbers), null*2 (a count), null (keeps time and computes nothing: for bench)");
}

void addPin(CLI::App &command, Settings &settings) {
  command.add_flag("--pin", settings.pin,
                   "binds each thread of --threads to a processor of its own, of those that this process may use: one "
                   "thread of each core first, the cores of one NUMA node before the next one's (default: the system "
                   "moves threads as it likes)");
}

static void addLinkOptions(CLI::App &command, Settings &settings, const std::string &link,
                           const std::string &topology) {
  addRepeated(command, "--link", settings.links, link)->type_name("LINK");
  addText(command, "--topology", "NAME|FILE", settings.topology, topology);
}

void addLinks(CLI::App &command, Settings &settings) {
  addLinkOptions(
      command, settings,
      "a link of set latency and rate between two of --devices: A-B=LATENCY,RATE with units, as "
      "cpu:0-cpu:1=5us,1GB/s or 8Gbit/s. Copies over it take no less: between shares of the cores in real "
      "time, on null devices by their clock ('host-null:0' is where arrays come from). ',half' shares the "
      "rate between both directions, ',10000km' adds a length of fibre; repeatable (default: none, copies "
      "take what they take). Of ranks (--strategy data): what all-reduces are expected to take",
      "links between --devices as in a topology, each as --link would give it: the name of a preset (sprig simulate "
      "--list-topologies) or FILE.json; a --link counts instead (default: none)");
}

void addLinksToPlace(CLI::App &command, Settings &settings) {
  addLinkOptions(command, settings,
                 "a link between two of --devices that operations are placed for: A-B=LATENCY,RATE with units, as "
                 "cpu:0-cpu:1=5us,1GB/s or 8Gbit/s; repeatable (default: what this machine's memory takes)",
                 "operations are placed for the links of a topology between --devices: the name of a preset (sprig "
                 "simulate --list-topologies) or FILE.json; a --link counts instead (default: none)");
}

void addSettings(CLI::App &command, Settings &settings) {
  addThreads(command, settings);
  addRepeated(command, "--dim", settings.dims,
              "binds a symbolic dimension: batch=8; batch=1,8,64 makes three entries, and with compile time=1..128 "
              "programs for every size between");
  addRepeated(command, "--shape", settings.shapes, "binds an input's shape: NAME=8x784");
  addRepeated(command, "--value", settings.values,
              "a value that an input always has: NAME=16000 or NAME=0.5,0.5; it is compiled as a constant, the "
              "input is gone, and what only other values lead to is left out");
  addRepeated(command, "--target", settings.targets,
              "kind of device to generate code for: cpu or cuda, which may have architectures behind a colon, "
              "as cuda:sm_80,sm_90 (default cpu; of cuda sm_80 and sm_90, and PTX for newer ones)");
  command
      .add_option("--cpu", settings.cpus,
                  "instruction set: x86-64-v2, x86-64-v3, x86-64-v4, native, or x86-64-v3-vnni, x86-64-v4-vnni with "
                  "dot products of bytes, x86-64-v4-bf16 with those of bf16, x86-64-v4-amx with products of "
                  "matrices of bytes; repeatable, the runtime picks the best that the machine has (default: native to "
                  "run, x86-64-v3 and x86-64-v4 for packages, the last three too where a network multiplies such)")
      ->check(CLI::IsMember({"native", "x86-64-v2", "x86-64-v3", "x86-64-v3-vnni", "x86-64-v4", "x86-64-v4-vnni",
                             "x86-64-v4-bf16", "x86-64-v4-amx"}))
      ->take_all()
      ->delimiter(',');
  addChoice(command, "--math", settings.math, {"fast", "strict"},
            "fast: a frozen graph may use rewrites that change bits; strict: none");
  addChoice(command, "--precision", settings.precision, {"f32", "bf16", "f16", "tf32"},
            "f32; bf16: factors of products with constants are rounded to 7 bits of mantissa (--target cpu, to run a "
            "model); tf32: those of matrix products to 10 bits, for tensor cores (--target cuda); there is no f16 yet");
  for (int level = 0; level <= 3; ++level)
    command
        .add_flag_callback(
            "--O" + std::to_string(level), [&settings, level] { settings.level = level; },
            level == 0   ? "no fusion, for debugging"
            : level == 2 ? "how much compile time to spend (default --O2)"
                         : "")
        ->group(level == 0 || level == 2 ? "OPTIONS" : "");
  command
      .add_option("--tune,--autotune", settings.tuneSeconds,
                  "seconds to search on this machine for better register tiles; results are kept in the cache")
      ->check(CLI::Range(0.0, 86400.0));
  addText(command, "--cache", "DIR", settings.cache,
          "folder that keeps kernels for later compilations (default: $SPRIG_CACHE, else ~/.cache/sprig)");
  command.add_flag("--no-cache", settings.noCache, "neither read nor keep kernels");
  addText(command, "--cache-size", "SIZE", settings.cacheSize,
          "bytes to keep, with K, M or G (default: $SPRIG_CACHE_SIZE, else 512M); the least recently used go");
  command
      .add_option(
          "--lanes", settings.lanes,
          "lanes to spread commands that do not depend on each other over, where that pays (default 1; of a GPU 8)")
      ->check(CLI::Range(1, kMostLanes));
  addRepeated(command, "--place", settings.places,
              "where a layer runs, of several --devices: LAYER=DEVICE, with the model's own name, its beginning up to "
              "a /, or a pattern with * (default: by cost)")
      ->type_name("LAYER=DEVICE");
  command.add_flag("--explain-placement", settings.explainPlacement,
                   "print what was weighed for each placement, in us a call, to standard error (default: off)");
  command.add_option("--jobs", settings.jobs, "threads that generate code (default: the usable processors)")
      ->check(CLI::Range(1, 256));
  command.add_flag_callback(
      "--no-merge", [&settings] { settings.merge = false; },
      "keep commands apart, those of a small network and branches that threads run side by side, and samples together, "
      "for a profile of each command (a package stays as it is)");
  command.add_option("--compile-to", settings.compileTo, "stop after this phase and print its IR");
  command.add_option("--compile-from", settings.compileFrom,
                     "start at this phase, from MLIR text that --compile-to prints of the one before");
  command.add_option("--dump-phases", settings.dumpPhases, "folder for the IR after each phase");
  command.add_option("--remarks", settings.remarks, "what passes did and why not: fuse,schedule,memory")
      ->delimiter(',');
  command.add_flag_callback(
      "--explain-schedule", [&settings] { settings.remarks.push_back("schedule"); },
      "what was weighed for each decision on threads, branches and lanes (as --remarks schedule)");
}

void addInputs(CLI::App &command, std::vector<std::string> &inputs) {
  addRepeated(command, "--input", inputs,
              "an input's array: NAME=FILE (.npy, .npz, .safetensors, .pb); just FILE for a model with one input");
}

void addAllow(CLI::App &command, std::vector<std::string> &allow) {
  std::vector<std::string> names = {"all"};
  std::string meanings;
  for (const ExportFindingKind &kind : kExportFindingKinds) {
    names.push_back(kind.name);
    meanings += std::string(meanings.empty() ? "" : "; ") + kind.name + ": " + kind.meaning;
  }
  command
      .add_option("--allow", allow,
                  "trains a model as it stands where its exporter changed it, which is refused or warned of (" +
                      meanings + "; all)")
      ->check(CLI::IsMember(names))
      ->type_name("WHAT")
      ->delimiter(',');
}

void bindShapes(const std::vector<InputSpec> &specs, const std::map<std::string, std::vector<int64_t>> &shapes,
                std::map<std::string, int64_t> &dims) {
  for (auto &[name, shape] : shapes) {
    auto spec = std::find_if(specs.begin(), specs.end(), [&](auto &s) { return s.name == name; });
    std::string text;
    for (int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
    std::string flag = "--shape " + name + "=" + text;
    if (spec == specs.end()) badUse(flag + ": the model has no input '" + name + "'");
    if (!spec->hasShape) continue;
    if (spec->dims.size() != shape.size()) badUse(flag + ": the model says " + describe(*spec));
    for (size_t i = 0; i < shape.size(); ++i) {
      const Dim &dim = spec->dims[i];
      if (dim.size && *dim.size != shape[i]) badUse(flag + ": the model says " + describe(*spec));
      if (dim.size || dim.symbol.empty()) continue;
      auto [at, isNew] = dims.emplace(dim.symbol, shape[i]);
      if (!isNew && at->second != shape[i])
        badUse(flag + ": dimension '" + dim.symbol + "' is already " + std::to_string(at->second));
    }
  }
}

std::vector<std::string> unboundSymbols(const std::vector<InputSpec> &specs,
                                        const std::map<std::string, int64_t> &dims) {
  std::vector<std::string> result;
  std::set<std::string> seen;
  for (const InputSpec &spec : specs)
    for (const Dim &dim : spec.dims)
      if (!dim.size && !dim.symbol.empty() && !dims.count(dim.symbol) && seen.insert(dim.symbol).second)
        result.push_back(dim.symbol);
  return result;
}

void requireDims(const std::string &model, const std::vector<InputSpec> &specs, const Settings &settings) {
  std::set<std::string> listed;
  for (const InputSpec &spec : specs) {
    for (const Dim &dim : spec.dims)
      if (!dim.symbol.empty()) listed.insert(dim.symbol);
    if (spec.holder != data::Holder::tensor)
      listed.insert(spec.name + (data::isSequence(spec.holder) ? ".length" : ".present"));
  }
  std::set<std::string> known = sizeNames(listed, settings.dimSums());
  for (const std::string &argument : settings.dims) {
    std::string name = splitAssignment("--dim", argument).first;
    if (known.count(name)) continue;
    std::vector<std::string> names(listed.begin(), listed.end());
    badUse("--dim " + argument + ": " + model + " has no dimension '" + name + "' without a size" +
           (names.empty() ? "" : "; it has " + data::listed(names)));
  }
}

void requireSizes(const std::string &model, const std::vector<InputSpec> &specs,
                  const std::map<std::string, int64_t> &dims) {
  for (const InputSpec &spec : specs)
    if (!spec.hasShape)
      badUse(model + ": input '" + spec.name + "' has no shape: give --shape " + spec.name + "=8x784");
  std::vector<std::string> symbols = unboundSymbols(specs, dims);
  if (symbols.empty()) return;
  std::vector<std::string> names, flags;
  for (const std::string &symbol : symbols) {
    names.push_back("'" + symbol + "'");
    flags.push_back("--dim " + symbol + "=8");
  }
  badUse(model + (symbols.size() > 1 ? ": dimensions " : ": dimension ") + data::listed(names) +
         (symbols.size() > 1 ? " are not bound: give their sizes with " : " is not bound: give its size with ") +
         data::listed(flags, 6, " "));
}

void takeSize(const std::string &symbol, int64_t size, std::map<std::string, int64_t> &dims) {
  inform("dimension '" + symbol + "' is not bound: taking " + std::to_string(size) + " (--dim " + symbol +
         "=N binds it)");
  dims[symbol] = size;
}

std::vector<InputSpec> takeTensors(const std::vector<InputSpec> &specs, std::map<std::string, int64_t> &dims) {
  for (const InputSpec &spec : specs)
    if (spec.holder != data::Holder::tensor)
      takeSize(spec.name + (data::isSequence(spec.holder) ? ".length" : ".present"), 1, dims);
  return withTensors(specs, dims, [](auto &) { return false; });
}

void takeLeast(const std::vector<InputSpec> &specs, std::map<std::string, int64_t> &dims) {
  constexpr size_t kSaid = 16; // of a sequence of many there may be thousands
  std::map<std::string, int64_t> least;
  for (const InputSpec &spec : specs)
    for (const Dim &dim : spec.dims)
      if (auto [at, isNew] = least.emplace(dim.symbol, std::max<int64_t>(dim.least, 1)); !isNew)
        at->second = std::max(at->second, dim.least);
  std::vector<std::string> symbols = unboundSymbols(specs, dims);
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (i < kSaid)
      takeSize(symbols[i], least[symbols[i]], dims);
    else
      dims[symbols[i]] = least[symbols[i]];
  }
  if (symbols.size() > kSaid)
    inform(std::to_string(symbols.size() - kSaid) + " more dimensions are not bound: taking the least of each");
}

} // namespace sprig::cli
