// What the programs have in common: where weights and data come from, and the curve of losses with its times.
#pragma once
#include <chrono>
#include <sprig/sprig.h>
#include <string>

namespace programs {
using namespace sprig;

/// Files that `programs.py make` has written: "gpt.weights.safetensors" has a network's initial weights.
class Files {
public:
  Files(std::filesystem::path folder, std::string program) : folder(std::move(folder)), program(std::move(program)) {}
  std::filesystem::path weights(const std::string &part = "weights") const {
    return folder / (program + "." + part + ".safetensors");
  }
  /// The array `name` of the program's data.
  Tensor data(const std::string &name) const;

private:
  std::filesystem::path folder;
  std::string program;
};

/// The losses of all steps, each read before the next step, and how long each took.
class Curve {
public:
  template <typename F> void step(F &&f) {
    auto start = std::chrono::steady_clock::now();
    Tensor loss = f();
    losses.push_back(loss.item<float>());
    micros.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  /// Of evaluations within the loop; behind the losses in what is compared.
  void result(const Tensor &value) { results.push_back(value.item<float>()); }
  /// Of the second half of the steps, when whatever is compiled has been.
  double medianMicros() const;

  std::vector<float> losses, results;

private:
  std::vector<double> micros;
};

/// What a program is told by the command line.
struct Settings {
  /// Where `resume` keeps its checkpoints; empty: none are written.
  std::filesystem::path checkpoints;
  /// The step before which it kills itself; -1: it does not.
  int dieAt = -1;
};

Curve finetune(const Files &files, const Settings &settings);
Curve gpt(const Files &files, const Settings &settings);
Curve ppo(const Files &files, const Settings &settings);
Curve lstm(const Files &files, const Settings &settings);
Curve pinn(const Files &files, const Settings &settings);
Curve resume(const Files &files, const Settings &settings);
Curve gan(const Files &files, const Settings &settings);
Curve vae(const Files &files, const Settings &settings);

} // namespace programs
