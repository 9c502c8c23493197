#include "tools/sprig/run/DataSet.h"
#include "tools/sprig/Report.h"
#include <algorithm>
#include <cctype>

namespace fs = std::filesystem;
namespace sprig::cli {
namespace {

// Numbers in names count as numbers: data_b8 comes before data_b16.
bool naturalLess(const std::string &a, const std::string &b) {
  size_t i = 0, j = 0;
  auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      size_t iEnd = i, jEnd = j;
      while (iEnd < a.size() && digit(a[iEnd])) ++iEnd;
      while (jEnd < b.size() && digit(b[jEnd])) ++jEnd;
      if (iEnd - i != jEnd - j) return iEnd - i < jEnd - j;
      int order = a.compare(i, iEnd - i, b, j, jEnd - j);
      if (order != 0) return order < 0;
      i = iEnd;
      j = jEnd;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

std::vector<fs::path> sorted(const fs::path &folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (auto &entry : fs::directory_iterator(folder, error)) entries.push_back(entry.path());
  if (error) badInput(folder.string() + ": cannot read the folder: " + error.message());
  std::sort(entries.begin(), entries.end(),
            [](auto &a, auto &b) { return naturalLess(a.filename().string(), b.filename().string()); });
  return entries;
}

std::vector<data::Stored> readNumbered(const fs::path &folder, const std::string &prefix,
                                       const std::vector<data::Holder> &holders) {
  std::vector<data::Stored> values;
  std::vector<std::pair<size_t, fs::path>> files;
  for (const fs::path &file : sorted(folder)) {
    std::string stem = file.stem();
    if (!stem.starts_with(prefix) || !fs::is_regular_file(file)) continue;
    std::string digits = stem.substr(prefix.size());
    if (digits.empty() || digits.size() > 6 ||
        !std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); }))
      continue;
    files.emplace_back(std::stoul(digits), file);
  }
  for (size_t k = 0; k < files.size(); ++k) {
    if (files[k].first != k)
      badInput(folder.string() + ": expected " + prefix + std::to_string(k) + ", found " +
               files[k].second.filename().string());
    values.push_back(data::readStored(files[k].second, k < holders.size() ? holders[k] : data::Holder::tensor));
  }
  return values;
}

} // namespace

DataSet readDataSet(const fs::path &folder, const std::vector<data::Holder> &inputs,
                    const std::vector<data::Holder> &outputs) {
  DataSet set{readNumbered(folder, "input_", inputs), readNumbered(folder, "output_", outputs)};
  if (set.outputs.empty())
    badInput(folder.string() + ": has no output_0.npy (.npz, .safetensors, .pb) to compare with");
  return set;
}

std::vector<Case> findCases(const fs::path &root) {
  std::vector<Case> cases;
  auto collect = [&](const fs::path &folder) {
    for (const fs::path &set : sorted(folder)) {
      std::string name = set.filename();
      if (fs::is_directory(set) && (name.starts_with("test_data_set_") || name.starts_with("data_")))
        cases.push_back({folder.filename().string() + "/" + name, folder / "model.onnx", set});
    }
  };
  if (fs::exists(root / "model.onnx")) {
    collect(root.has_filename() ? root : root.parent_path());
    return cases;
  }
  for (const fs::path &folder : sorted(root))
    if (fs::is_directory(folder) && fs::exists(folder / "model.onnx")) collect(folder);
  return cases;
}

bool isBackendDataSet(const fs::path &dataSet) { return dataSet.filename().string().starts_with("test_data_set_"); }

} // namespace sprig::cli
