#include "tools/sprig/bench/Shares.h"
#include "lib/Machine/Simulator.h"
#include "lib/Machine/TopologyPresets.h"
#include "tools/sprig/run/NamedDevices.h"
#include "tools/sprig/simulate/PackageProgram.h"

namespace sprig::cli {

Settings onShares(const ExperimentOptions &options, int count, const std::vector<std::string> &links) {
  Settings settings = options.settings;
  settings.devices.clear();
  for (int i = 0; i < count; ++i) settings.devices.push_back("cpu:" + std::to_string(i));
  settings.links = links;
  settings.threads = options.threads;
  return settings;
}

double simulatedSeconds(const TimedProgram &program, const std::vector<std::string> &links) {
  const Runner &runner = program.loaded();
  std::vector<std::string> devices = devicesOf(runner);
  machine::Topology topology = machine::thisMachine(devices, runner.threads());
  for (const std::string &link : links) machine::setLink(topology, "--link", link);
  std::vector<uint32_t> nodes;
  for (const std::string &device : devices) nodes.push_back(uint32_t(topology.find(device)));
  return machine::simulate(topology, programOf(runner, 0, topology, nodes).program).ns * 1e-9;
}

std::string placedOn(int device) { return " {nn.place = \"cpu:" + std::to_string(device) + "\"}"; }

std::string matrixType(int64_t rows, int64_t columns) {
  return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "xf32>";
}

} // namespace sprig::cli
