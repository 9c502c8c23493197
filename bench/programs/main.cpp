// programs FOLDER NAME OUT [--uncompiled] [--checkpoints FOLDER] [--die-at STEP]: runs one of the programs on the files
// that `programs.py make FOLDER` wrote; OUT.npz gets its curve. Prints the median time of a step in microseconds.
#include "Program.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>

namespace programs {

Tensor Files::data(const std::string &name) const {
  for (const nn::NamedTensor &each : nn::loadTensors(weights("data")))
    if (each.name == name) return each.value;
  badInput(program + ": there is no array '" + name + "'");
}

double Curve::medianMicros() const {
  std::vector<double> late(micros.begin() + int64_t(micros.size() / 2), micros.end());
  std::nth_element(late.begin(), late.begin() + int64_t(late.size() / 2), late.end());
  return late[late.size() / 2];
}

} // namespace programs

int main(int count, char **arguments) {
  using namespace programs;
  const std::map<std::string, Curve (*)(const Files &, const Settings &)> table = {
      {"finetune", finetune}, {"gpt", gpt},       {"ppo", ppo}, {"lstm", lstm},
      {"pinn", pinn},         {"resume", resume}, {"gan", gan}, {"vae", vae}};
  std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() < 3 || !table.contains(words[1])) {
    std::cerr << "usage: programs FOLDER NAME OUT.npz [--uncompiled] [--checkpoints FOLDER] [--die-at STEP]\n";
    return 2;
  }
  Settings settings;
  for (size_t i = 3; i < words.size(); ++i) {
    if (words[i] == "--uncompiled") setCompilation(false);
    if (words[i] == "--checkpoints") settings.checkpoints = words.at(++i);
    if (words[i] == "--die-at") settings.dieAt = std::stoi(words.at(++i));
  }
  try {
    Curve curve = table.at(words[1])(Files(words[0], words[1]), settings);
    nn::saveTensors(words[2], {{"losses", Tensor(curve.losses)}, {"results", Tensor(curve.results)}});
    std::printf("%.1f\n", curve.medianMicros());
  } catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
