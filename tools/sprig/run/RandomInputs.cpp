#include "tools/sprig/run/RandomInputs.h"
#include "lib/Data/Philox.h"
#include <algorithm>
#include <cstring>
#include <optional>

namespace sprig::cli {
namespace {

/// Which integers each element of an array may be: Tensor.index_ranges in program.fbs.
class DrawnRanges {
public:
  DrawnRanges(const std::vector<int64_t> &stated, const std::vector<int64_t> &shape) : shape(shape) {
    size_t rank = shape.size(), places = 1;
    differs.assign(stated.begin(), stated.begin() + int64_t(rank));
    for (size_t i = rank; i + 1 < stated.size(); i += 2) ranges.push_back({stated[i], stated[i + 1]});
    for (size_t d = 0; d < rank; ++d) places *= differs[d] ? size_t(shape[d]) : 1;
    if (places == ranges.size()) return;
    // Of other sizes than those that they were stated for: what all of them allow.
    Range all = ranges.front();
    for (const Range &range : ranges) all = {std::max(all.low, range.low), std::min(all.high, range.high)};
    ranges.assign(1, {all.low, std::max(all.low, all.high)});
  }

  /// From 64 random bits.
  int64_t draw(int64_t element, uint64_t bits) const {
    size_t place = 0, unit = 1;
    for (size_t d = ranges.size() > 1 ? shape.size() : 0; d-- > 0; element /= shape[d]) {
      if (!differs[d]) continue;
      place += size_t(element % shape[d]) * unit;
      unit *= size_t(shape[d]);
    }
    const Range &range = ranges[place];
    uint64_t others = uint64_t(range.high) - uint64_t(range.low); // beside the least
    return int64_t(uint64_t(range.low) + (others == UINT64_MAX ? bits : bits % (others + 1)));
  }

private:
  struct Range {
    int64_t low, high;
  };
  const std::vector<int64_t> &shape;
  std::vector<int64_t> differs; // along each dimension
  std::vector<Range> ranges;    // of each place along those
};

struct StatedInput {
  uint32_t position = 0;
  std::vector<int64_t> ranges;
};

/// Of the entry that takes such an array, else of the first that has an input of the name and rank.
std::optional<StatedInput> statedFor(const Runner &package, const data::Array &array) {
  std::optional<StatedInput> found;
  for (size_t entry = 0; entry < package.entryCount(); ++entry) {
    std::vector<TensorSpec> inputs = package.inputs(entry);
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      bool isEqual = inputs[i].shape == array.shape;
      if (inputs[i].name != array.name || inputs[i].shape.size() != array.shape.size() || (found && !isEqual)) continue;
      std::vector<int64_t> ranges = package.tables().indexRanges(uint32_t(entry), i);
      if (ranges.size() >= array.shape.size() + 2) found = {i, std::move(ranges)};
      if (isEqual) return found;
    }
  }
  return found;
}

void drawAgain(const Runner &package, const std::set<std::string> &names, uint64_t seed,
               std::map<std::string, data::Array> &arrays) {
  for (const std::string &name : names) {
    data::Array &array = arrays.at(name);
    if (data::isFloat(array.dtype)) continue;
    std::optional<StatedInput> stated = statedFor(package, array);
    if (!stated) continue;
    DrawnRanges ranges(stated->ranges, array.shape);
    auto size = size_t(data::size(array.dtype));
    int64_t count = array.elements();
    for (int64_t i = 0; i < count; ++i) {
      auto words = data::philox({uint32_t(i), uint32_t(uint64_t(i) >> 32), stated->position, 0},
                                {uint32_t(seed), uint32_t(seed >> 32)});
      int64_t value = ranges.draw(i, uint64_t(words[3]) << 32 | words[2]);
      // Little-endian, in two's complement: the low bytes of any width.
      std::memcpy(array.bytes.data() + size_t(i) * size, &value, size);
    }
  }
}

} // namespace

void drawIndices(const Runner &package, const std::vector<std::string> &files, uint64_t seed,
                 std::map<std::string, data::Array> &arrays) {
  std::set<std::string> names;
  for (const auto &[name, array] : arrays)
    if (files.empty() || (arrays.size() > 1 && std::none_of(files.begin(), files.end(), [&](const std::string &file) {
                            return file.starts_with(name + "=");
                          })))
      names.insert(name);
  drawAgain(package, names, seed, arrays);
}

void fillRandom(const Runner &package, const std::vector<InputSpec> &specs, uint64_t seed,
                const std::map<std::string, int64_t> &dims, std::map<std::string, data::Array> &arrays) {
  std::set<std::string> missing;
  for (const InputSpec &spec : specs)
    if (!arrays.count(spec.name)) missing.insert(spec.name);
  fillRandom(specs, seed, dims, arrays);
  drawAgain(package, missing, seed, arrays);
}

} // namespace sprig::cli
