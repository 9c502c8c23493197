#include "tools/sprig/bench/Shares.h"
#include "lib/Data/Largest.h"
#include "lib/Machine/Simulator.h"
#include "lib/Machine/TopologyPresets.h"
#include "tools/sprig/bench/RandomData.h"
#include "tools/sprig/run/Runner.h"
#include "tools/sprig/simulate/PackageProgram.h"
#include <algorithm>
#include <cmath>

namespace sprig::cli {

Settings onShares(const ExperimentOptions &options, int count, const std::vector<std::string> &links) {
  Settings settings = options.settings;
  settings.devices.clear();
  for (int i = 0; i < count; ++i) settings.devices.push_back("cpu:" + std::to_string(i));
  settings.links = links;
  settings.threads = options.threads;
  return settings;
}

SimulatedCall simulatedCall(const TimedProgram &program, const std::vector<std::string> &links) {
  const Runner &runner = program.loaded();
  std::vector<std::string> devices = devicesOf(runner);
  machine::Topology topology = machine::thisMachine(devices, runner.threads());
  for (const std::string &link : links) machine::setLink(topology, "--link", link);
  std::vector<uint32_t> nodes;
  for (const std::string &device : devices) nodes.push_back(uint32_t(topology.find(device)));
  machine::Simulation played = machine::simulate(topology, programOf(runner, 0, topology, nodes).program);
  SimulatedCall call{played.ns * 1e-9, {}};
  for (uint32_t node : nodes) call.busy.push_back(machine::covered(played.deviceBusy[node]) * 1e-9);
  return call;
}

double simulatedSeconds(const TimedProgram &program, const std::vector<std::string> &links) {
  return simulatedCall(program, links).seconds;
}

int64_t shareOf(int64_t batch, int parts, int part) { return batch / parts + (part < batch % parts); }

std::vector<float> resultOf(const TimedProgram &program, const std::vector<int64_t> &batch, int parts) {
  data::Array whole = randomArray("x", batch, 1, 1);
  std::vector<TensorSpec> inputs = program.loaded().inputs(0);
  std::map<std::string, data::Array> arrays;
  int64_t sampleBytes = int64_t(whole.bytes.size()) / batch[0], first = 0;
  for (int part = 0; part < parts; ++part) {
    data::Array &own = arrays[inputs[size_t(part)].name];
    own = {inputs[size_t(part)].name, data::DType::f32, inputs[size_t(part)].shape, {}};
    auto begin = whole.bytes.begin() + first * sampleBytes;
    first += own.shape[0];
    own.bytes.assign(begin, whole.bytes.begin() + first * sampleBytes);
  }
  for (size_t i = size_t(parts); i < inputs.size(); ++i)
    arrays[inputs[i].name] = randomArray(inputs[i].name, inputs[i].shape, 2 + i - size_t(parts), 0.05);
  std::vector<data::Array> outputs = program.loaded().run(arrays);
  const auto *values = reinterpret_cast<const float *>(outputs.front().bytes.data());
  return {values, values + outputs.front().elements()};
}

double largestDifference(const std::vector<float> &a, const std::vector<float> &b) {
  double difference = 0, largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference = data::largest(difference, std::abs(double(a[i]) - double(b[i])));
    largest = std::max(largest, std::abs(double(a[i])));
  }
  return a.size() == b.size() && largest > 0 ? difference / largest : INFINITY;
}

std::string placedOn(int device) { return " {nn.place = \"cpu:" + std::to_string(device) + "\"}"; }

std::string matrixType(int64_t rows, int64_t columns) {
  return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "xf32>";
}

} // namespace sprig::cli
