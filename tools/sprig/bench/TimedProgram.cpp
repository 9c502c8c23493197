#include "tools/sprig/bench/TimedProgram.h"
#include <algorithm>
#include <chrono>

namespace sprig::cli {

Model textModel(std::string name, std::string text) {
  Model model;
  model.path = std::move(name);
  model.kind = ModelKind::mlir;
  model.text = std::move(text);
  return model;
}

TimedProgram::TimedProgram(const Model &model, const Settings &settings)
    : runner(compileAndLoad(model, {EntryRequest{}}, settings)) {
  // Where samples are independent, the runtime would take any number.
  std::vector<InputSpec> specs = runner.inputSpecs();
  std::vector<TensorSpec> inputs = runner.inputs(0);
  std::map<std::string, int64_t> sizes;
  for (size_t i = 0; i < specs.size(); ++i)
    for (size_t d = 0; d < specs[i].dims.size(); ++d)
      if (!specs[i].dims[d].size) sizes.emplace(specs[i].dims[d].symbol, inputs[i].shape[d]);
  fillRandom(specs, 1, sizes, arrays);
  call = runner.prepare(0, arrays);
  call.invoke();
}

double TimedProgram::once() {
  auto start = std::chrono::steady_clock::now();
  call.invoke();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<std::vector<char>> TimedProgram::outputs() {
  std::vector<std::vector<char>> bytes;
  for (data::Array &array : runner.run(arrays)) bytes.emplace_back(array.bytes.begin(), array.bytes.end());
  return bytes;
}

// Each program has threads of its own, which look for more work for a while before they sleep: a turn is long enough
// for those of the program before to be out of the way.
static constexpr double kTurnSeconds = 500e-6;

std::vector<double> bestInTurn(const std::vector<TimedProgram *> &programs, int rounds, double seconds) {
  std::vector<double> best(programs.size(), 1e30);
  double spent = 0;
  for (int round = 0; round < rounds || (spent < seconds && round < 10000); ++round)
    for (size_t i = 0; i < programs.size(); ++i)
      for (double turn = 0; turn < kTurnSeconds;) {
        double took = programs[i]->once();
        best[i] = std::min(best[i], took);
        spent += took;
        turn += took;
      }
  return best;
}

} // namespace sprig::cli
