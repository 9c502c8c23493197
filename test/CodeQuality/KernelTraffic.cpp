// kernel-traffic PACKAGE FOLDER: memory traffic of a package's CUDA kernels, by the emulator, for gpu_kernels.py.
// Of each kernel its first, middle and last block run alone on memory of zeros: blocks of a launch differ in their
// edges alone, and no access of a network's kernels depends on values but by indices. Prints JSON; writes each cubin
// as FOLDER/sm_90.cubin.
#include "runtime/include/sprig/rt/kernel.h"
#include "test/gpu/emulator/Emulator.h"
#include "test/gpu/image/ImageBuilder.h"
#include "test/gpu/runtime/GpuPackage.h"
#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sys/mman.h>

using namespace sprig;
using Json = nlohmann::ordered_json;

namespace {

// Pages of zeros, which take memory where they are written.
class Zeros {
public:
  explicit Zeros(size_t bytes) : bytes(bytes ? bytes : 1) {
    data = mmap(nullptr, this->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) throw std::runtime_error("no memory for " + std::to_string(bytes) + " bytes");
  }
  Zeros(Zeros &&other) noexcept : data(std::exchange(other.data, nullptr)), bytes(other.bytes) {}
  ~Zeros() {
    if (data) munmap(data, bytes);
  }
  void *data;

private:
  size_t bytes;
};

struct Use {
  const rt::core::Entry *entry;
  const rt::core::Command *command;
};

// Of each kernel the command with the most blocks.
std::map<uint32_t, Use> usesOf(const rt::core::Program &program) {
  std::map<uint32_t, Use> uses;
  for (const rt::core::Entry &entry : program.entries)
    for (const rt::core::Lane &lane : entry.lanes)
      for (const rt::core::Command &command : lane.commands) {
        if (command.kind != rt::core::CommandKind::Dispatch || command.tiles <= 0) continue;
        Use &use = uses.try_emplace(command.kernel, Use{&entry, &command}).first->second;
        if (command.tiles > use.command->tiles) use = {&entry, &command};
      }
  return uses;
}

struct Sum {
  uint64_t taken = 0, ideal = 0;
  // The line that wastes most.
  uint32_t line = 0;
  uint64_t waste = 0;

  void add(const gpu::Traffic &traffic) {
    taken += traffic.units, ideal += traffic.ideal;
    if (traffic.units <= traffic.ideal || traffic.units - traffic.ideal <= waste) return;
    waste = traffic.units - traffic.ideal, line = traffic.line;
  }
  Json json() const { return {{"taken", taken}, {"ideal", ideal}, {"worst_line", line}}; }
};

Json run(const gpu::GpuPackage &package, const SprigGpuKernel &code, uint32_t index, const Use &use,
         rt::core::LaunchShape shape) {
  std::vector<Zeros> memory;
  for (uint32_t i = 0; i < use.command->operandCount; ++i)
    memory.emplace_back(use.entry->bufferOf(*use.command, i).size);
  memory.emplace_back(sizeof(sprig_rt_kernel_status));
  memory.emplace_back(package.program.kernels[index].scratch);
  if (code.parameterCount != memory.size() + 1)
    throw std::runtime_error(std::string(code.name) + " has " + std::to_string(code.parameterCount) +
                             " parameters, not " + std::to_string(memory.size() + 1));
  std::vector<uint8_t> parameters(code.parameterBytes);
  auto set = [&](size_t i, const auto &value) {
    std::memcpy(parameters.data() + code.parameters[i].offset, &value, sizeof value);
  };
  for (size_t i = 0; i < memory.size(); ++i) set(i, memory[i].data);
  gpu::LaunchOptions options;
  options.checked = options.counters = true;
  options.races = false;
  Sum global, shared;
  int64_t first = use.command->firstTile, last = first + use.command->tiles - 1;
  for (int64_t tile : std::set<int64_t>{first, (first + last) / 2, last}) {
    set(memory.size(), uint32_t(tile));
    gpu::LaunchReport report =
        gpu::launch(code, {1}, {shape.threads}, shape.shared, parameters.data(), nullptr, options);
    if (!report.completed || !report.complaints.empty())
      throw std::runtime_error(std::string(code.name) + ": " + report.text());
    for (const gpu::Traffic &traffic : report.traffic) (traffic.isShared ? shared : global).add(traffic);
  }
  return {{"sectors", global.json()}, {"waves", shared.json()}};
}

Json measure(const std::string &path, const std::string &folder) {
  gpu::GpuPackage package(path);
  Json result = {{"cubins", Json::array()}, {"kernels", Json::array()}};
  const gpu::GpuPackage::Image *text = nullptr;
  for (const gpu::GpuPackage::Image &each : package.images) {
    if (each.isText) {
      text = &each;
      continue;
    }
    std::ofstream(folder + "/" + each.image->isa + ".cubin", std::ios::binary)
        .write(reinterpret_cast<const char *>(each.code.data()), std::streamsize(each.code.size()));
    result["cubins"].push_back(each.image->isa);
  }
  if (!text) throw std::runtime_error(path + " has no PTX");
  std::string file = folder + "/image.so";
  gpu::makeImage({reinterpret_cast<const char *>(text->code.data()), text->code.size()}, path, file);
  gpu::LoadedImage image(file);
  std::set<std::string> seen; // kernels that are equal are one function
  for (const auto &[index, use] : usesOf(package.program)) {
    const std::string &function = text->image->entryPoints.at(index);
    if (function.empty() || !seen.insert(function).second) continue;
    const SprigGpuKernel *code = image.findKernel(function);
    if (!code) throw std::runtime_error(path + " has no function '" + function + "'");
    rt::core::LaunchShape shape = text->image->launches.at(index);
    Json figures = run(package, *code, index, use, shape);
    figures["function"] = function;
    figures["command"] = use.command->name;
    figures["blocks"] = use.command->tiles;
    figures["threads"] = shape.threads;
    result["kernels"].push_back(figures);
  }
  return result;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) return std::fputs("usage: kernel-traffic PACKAGE FOLDER\n", stderr), 2;
  try {
    std::puts(measure(argv[1], argv[2]).dump(1).c_str());
  } catch (const std::exception &error) {
    return std::fprintf(stderr, "error: %s\n", error.what()), 1;
  }
  return 0;
}
