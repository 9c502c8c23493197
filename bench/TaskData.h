// The folder of a training task (bench/peers/tasks.py) as memory: its batch and its initial parameters.
// For Sprig's programs in the peers' harness.
#pragma once
#include "sprig/rt/sprig_rt.hpp"
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// A tensor of the folder: its line in shapes.txt and its bytes.
struct TaskTensor {
  bool isInt64 = false;
  std::vector<int64_t> shape;
  std::vector<char> bytes;

  sprig::rt::TensorView view() {
    if (isInt64) return {reinterpret_cast<int64_t *>(bytes.data()), shape};
    return {reinterpret_cast<float *>(bytes.data()), shape};
  }
};

inline std::string readText(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("no file " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// By file: "x.bin", "y.bin", and "p0.bin", "p1.bin", ... in PyTorch's order of parameters.
inline std::map<std::string, TaskTensor> readTask(const std::filesystem::path &folder) {
  std::map<std::string, TaskTensor> data;
  std::istringstream lines(readText(folder / "shapes.txt"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string file, type;
    words >> file >> type;
    TaskTensor &each = data[file];
    each.isInt64 = type == "i64";
    for (int64_t size; words >> size;) each.shape.push_back(size);
    std::string bytes = readText(folder / file);
    each.bytes.assign(bytes.begin(), bytes.end());
  }
  return data;
}

} // namespace bench
