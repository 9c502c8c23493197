// Data sets of array files.
#include "sprig/data/files.h"
#include "lib/Data/ArrayFile.h"
#include "lib/Loader/ArraySet.h"
#include <cmath>

namespace sprig::data {
namespace {

int64_t mapFrom(Map map) {
  switch (map) {
  case Map::automatic: return Samples::kMapFrom;
  case Map::always: return 0;
  case Map::never: return INT64_MAX;
  }
  return Samples::kMapFrom;
}

Dataset members(const std::filesystem::path &path, std::vector<std::string> names, Map map) {
  if (names.empty()) names = {""};
  return arrays(Samples::openAll(path.string(), names, mapFrom(map)));
}

// A column as classes where it can be, and the others; both as arrays.
std::pair<Array, Array> takeColumn(const Array &table, int64_t column) {
  int64_t rows = table.shape[0], columns = table.shape[1];
  Array x{"", DType::f32, {rows, columns - 1}, {}}, y{"", DType::i64, {rows}, {}};
  std::vector<float> others;
  std::vector<double> target;
  bool whole = true;
  for (int64_t i = 0; i < rows * columns; ++i) {
    double value = table.at(i);
    if (i % columns != column) {
      others.push_back(float(value));
      continue;
    }
    target.push_back(value);
    whole &= std::nearbyint(value) == value && std::abs(value) < 0x1p53;
  }
  auto put = [](Array &array, const auto &numbers) {
    auto *bytes = reinterpret_cast<const char *>(numbers.data());
    array.bytes.assign(bytes, bytes + numbers.size() * sizeof numbers[0]);
  };
  put(x, others);
  if (whole) {
    put(y, std::vector<int64_t>(target.begin(), target.end()));
  } else {
    y.dtype = DType::f32;
    put(y, std::vector<float>(target.begin(), target.end()));
  }
  return {std::move(x), std::move(y)};
}

} // namespace

Dataset npy(const std::filesystem::path &path, Map map) { return members(path, {}, map); }

Dataset npz(const std::filesystem::path &path, const std::vector<std::string> &names, Map map) {
  return members(path, names, map);
}

Dataset safetensors(const std::filesystem::path &path, const std::vector<std::string> &names, Map map) {
  return members(path, names, map);
}

Dataset idx(const std::filesystem::path &path) { return members(path, {}, Map::never); }

Dataset csv(const std::filesystem::path &path, const CsvOptions &options) {
  Array table = readArray(path);
  if (!options.target) return arrays({Samples::from(std::move(table), path.string())});
  int64_t columns = table.shape.size() == 2 ? table.shape[1] : 1;
  int64_t column = *options.target < 0 ? columns + *options.target : *options.target;
  if (table.shape.size() != 2 || column < 0 || column >= columns)
    badInput(path.string() + ": column " + std::to_string(*options.target) + " is to be the target, the table is " +
             describe(table));
  auto [x, y] = takeColumn(table, column);
  return arrays({Samples::from(std::move(x), path.string()), Samples::from(std::move(y), path.string())});
}

} // namespace sprig::data
