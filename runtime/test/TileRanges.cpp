#include "runtime/test/TileRanges.h"

#include "runtime/device/HostCode.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <set>

namespace sprig::rt::test {
namespace {

using namespace core;

struct Bytes {
  explicit Bytes(uint64_t size) : size(size) {
    memory.reset(static_cast<uint8_t *>(std::aligned_alloc(64, (size + 127) / 64 * 64)));
  }
  uint8_t *data() const { return memory.get(); }
  void fill(uint8_t value) { std::memset(data(), value, size); }

  struct Free {
    void operator()(uint8_t *bytes) const { std::free(bytes); }
  };
  std::unique_ptr<uint8_t[], Free> memory;
  uint64_t size;
};

// What operands without a type may hold: numbers of f32, or small ones of i64, which are indices of anything.
enum class Values { Floats, Indices };

void fill(Bytes &bytes, Values values, std::mt19937 &random) {
  uint32_t state = uint32_t(random()) | 1;
  auto next = [&] { return state ^= state << 13, state ^= state >> 17, state ^= state << 5; };
  if (values == Values::Indices) {
    bytes.fill(0);
    for (uint64_t i = 0; i < bytes.size; i += 8) bytes.data()[i] = next() % 2;
    return;
  }
  for (uint64_t i = 0; i + 4 <= bytes.size; i += 4) {
    float value = float(int32_t(next())) * 0x1p-31f;
    std::memcpy(bytes.data() + i, &value, 4);
  }
}

constexpr uint8_t kPoison = 0xff; // a NaN of every type
constexpr uint8_t kBefore = 0xa5, kOtherBefore = 0x5a;

class KernelCheck {
public:
  KernelCheck(const Kernel &kernel, uint32_t index, const HostCode &code, std::vector<uint64_t> sizes)
      : kernel(kernel), index(index), code(code), scratch(kernel.scratch) {
    for (uint32_t i = 0; i < sizes.size(); ++i) {
      operands.push_back({Bytes(sizes[i]), Bytes(isWritten(i) || hasRanges(i) ? sizes[i] : 0)});
      if (!isWritten(i) && hasRanges(i)) operands[i].other.fill(kPoison);
    }
  }

  // The first thing that is wrong; empty where there is none.
  std::string run(const std::vector<int64_t> &tiles, std::mt19937 &random) {
    for (Values values : {Values::Floats, Values::Indices}) {
      for (uint32_t i = 0; i < operands.size(); ++i)
        if (!isWritten(i)) fill(operands[i].plain, values, random);
      if (call(tiles.front(), false, kBefore) == SPRIG_RT_KERNEL_OK) break;
    }
    for (int64_t tile : tiles)
      if (std::string wrong = runTile(tile); !wrong.empty())
        return "'" + kernel.name + "' tile " + std::to_string(tile) + " " + wrong;
    return {};
  }

private:
  struct Operand {
    Bytes plain;
    Bytes other; // poisoned but for what a tile reads; of a result, that of another run
  };

  bool isWritten(uint32_t operand) const { return kernel.access[operand] & kWrites; }
  bool hasRanges(uint32_t operand) const {
    return std::any_of(kernel.ranges.begin(), kernel.ranges.end(),
                       [&](const TileRange &range) { return range.operand == operand; });
  }
  // Calls with each of the ranges of an operand that a tile touches.
  template <typename Body> void forRanges(uint32_t operand, int64_t tile, Body body) const {
    for (const TileRange &range : kernel.ranges) {
      if (range.operand != operand) continue;
      order::ByteRange bytes = order::bytesOfTiles(range.bytes(), tile, tile + 1, operands[operand].plain.size);
      if (bytes.begin < bytes.end) body(bytes.begin, bytes.end);
    }
  }

  int32_t call(int64_t tile, bool poisoned, uint8_t before) {
    std::vector<void *> buffers;
    for (uint32_t i = 0; i < operands.size(); ++i) {
      Operand &operand = operands[i];
      if (isWritten(i)) operand.plain.fill(before);
      buffers.push_back((poisoned && !isWritten(i) && hasRanges(i) ? operand.other : operand.plain).data());
    }
    scratch.fill(0x77);
    sprig_rt_kernel_status status = {};
    return code.run(index, {buffers.data(), tile, tile + 1, scratch.data(), &status});
  }

  // Puts what a tile reads among the poison, or poison there again.
  void uncover(int64_t tile, bool real) {
    for (uint32_t i = 0; i < operands.size(); ++i)
      if (!isWritten(i))
        forRanges(i, tile, [&](uint64_t begin, uint64_t end) {
          if (real)
            std::memcpy(operands[i].other.data() + begin, operands[i].plain.data() + begin, end - begin);
          else
            std::memset(operands[i].other.data() + begin, kPoison, end - begin);
        });
  }

  std::string runTile(int64_t tile) {
    call(tile, false, kOtherBefore);
    for (uint32_t i = 0; i < operands.size(); ++i)
      if (isWritten(i)) std::memcpy(operands[i].other.data(), operands[i].plain.data(), operands[i].plain.size);
    int32_t result = call(tile, false, kBefore);
    for (uint32_t i = 0; i < operands.size(); ++i)
      if (isWritten(i))
        if (std::string wrong = findWrite(i, tile); !wrong.empty()) return wrong;
    for (uint32_t i = 0; i < operands.size(); ++i)
      if (isWritten(i)) std::memcpy(operands[i].other.data(), operands[i].plain.data(), operands[i].plain.size);
    uncover(tile, true);
    int32_t poisonedResult = call(tile, true, kBefore);
    uncover(tile, false);
    for (uint32_t i = 0; i < operands.size(); ++i)
      if (isWritten(i) && std::memcmp(operands[i].other.data(), operands[i].plain.data(), operands[i].plain.size))
        return "reads more than its ranges say: operand " + std::to_string(i) + " depends on it";
    return result == poisonedResult ? std::string() : "reads more than its ranges say: its status depends on it";
  }

  // A byte that a tile wrote is the same whatever was there before.
  std::string findWrite(uint32_t operand, int64_t tile) const {
    if (!hasRanges(operand)) return {};
    const Operand &both = operands[operand];
    std::vector<std::pair<uint64_t, uint64_t>> touched;
    forRanges(operand, tile, [&](uint64_t begin, uint64_t end) { touched.emplace_back(begin, end); });
    std::sort(touched.begin(), touched.end());
    touched.emplace_back(both.plain.size, both.plain.size);
    uint64_t at = 0;
    for (auto [begin, end] : touched) {
      for (; at < begin; ++at)
        if (both.plain.data()[at] != kBefore || both.other.data()[at] != kOtherBefore)
          return "writes byte " + std::to_string(at) + " of operand " + std::to_string(operand) +
                 ", which its ranges leave out";
      at = std::max(at, end);
    }
    return {};
  }

  const Kernel &kernel;
  uint32_t index;
  const HostCode &code;
  Bytes scratch;
  std::vector<Operand> operands;
};

std::vector<int64_t> someTiles(int64_t count, size_t most, std::mt19937 &random) {
  std::set<int64_t> tiles;
  for (int64_t i = 0; i < count && tiles.size() < most / 2; ++i) tiles.insert({i, count - 1 - i});
  for (size_t i = 0; tiles.size() < std::min(most, size_t(count)) && i < 4 * most; ++i)
    tiles.insert(int64_t(random() % uint64_t(count)));
  return {tiles.begin(), tiles.end()};
}

} // namespace

TileRangesFound checkTileRanges(const core::Package &package, size_t tilesOfKernel) {
  TileRangesFound found;
  std::mt19937 random(3);
  const Program &program = package.program();
  std::vector<char> isSeen(program.kernels.size(), false);
  for (const Entry &entry : program.entries)
    for (const Lane &lane : entry.lanes)
      for (const Command &command : lane.commands) {
        if (command.kind != CommandKind::Dispatch || std::exchange(isSeen[command.kernel], true)) continue;
        ++found.kernels;
        const Kernel &kernel = program.kernels[command.kernel];
        if (kernel.ranges.empty()) continue;
        ++found.stated;
        std::vector<uint64_t> sizes;
        for (uint32_t i = 0; i < command.operandCount; ++i)
          sizes.push_back(entry.buffers[entry.operands[command.firstOperand + i]].size);
        const auto &code = static_cast<const HostCode &>(package.code(lane.device));
        std::vector<int64_t> tiles = someTiles(command.tiles, tilesOfKernel, random);
        found.tiles += tiles.size();
        if (std::string wrong = KernelCheck(kernel, command.kernel, code, sizes).run(tiles, random); !wrong.empty())
          found.wrong.push_back(wrong);
      }
  return found;
}

} // namespace sprig::rt::test
