#include "runtime/test/RandomProgram.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace sprig::rt::test {

using namespace core;

namespace {

enum Constants : uint32_t { kPlain, kPermutation, kWidthConstant };

std::vector<uint32_t> permutation(int64_t width) {
  std::vector<uint32_t> values(static_cast<size_t>(width));
  std::iota(values.begin(), values.end(), 0u);
  std::mt19937 random(7);
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random() % i]);
  return values;
}

// Draws buffers, then jobs over whole buffers, cuts these into steps and lets the steps of neighbours alternate.
class Drawing {
public:
  Drawing(RandomProgram &program, uint32_t seed) : program(program), random(seed) {}

  void draw() {
    static constexpr int64_t widths[] = {1, 8, 16, 40, 96, 96, 96, 512};
    program.width = widths[below(std::size(widths))];
    program.devices = 1 + (oneIn(3) ? 0 : below(4));
    program.inputs = 1 + below(2);
    program.outputs = 1 + below(3);
    program.states = below(3);
    style = Style(below(4));
    describeKernels();
    placeBuffers();
    Marks before = program.marks();
    marks = before;
    for (uint32_t left = 2 + below(oneIn(8) ? 50 : 16); left > 0; --left) addJob();
    marks = before;
    merge();
  }

private:
  enum class Style { Chain, Fan, Recent, Any };
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t below(size_t n) { return uint32_t(random() % n); }
  bool oneIn(uint32_t n) { return below(n) == 0; }

  void describeKernels() {
    program.kernels = TestPackage().program.kernels;
    for (TestKernel kernel : {Add, Mix, Count, Scratch}) {
      static constexpr uint32_t pers[] = {1, 1, 4, 8, 32};
      uint32_t per = pers[below(std::size(pers))];
      for (uint32_t i = 0; i < program.kernels[kernel].bufferCount; ++i)
        if (!oneIn(4)) program.kernels[kernel].ranges.push_back({i, 0, int64_t(4 * per), 4 * per, per});
    }
    if (!oneIn(4)) program.kernels[Window].ranges = {{0, -4, 4, 12}, {2, 0, 4, 4}};
    if (!oneIn(4)) program.kernels[Gather].ranges = {{3, 0, 4, 4}};
    for (TestKernel kernel : {Add, Mix, Count, Gather, Scratch, Window})
      if (oneIn(20)) program.kernels[kernel].access.clear(); // all operands may be written, then
  }

  void place(BufferKind kind, uint32_t index, uint64_t offset, uint32_t device, uint64_t size = 0) {
    std::string name = "b" + std::to_string(program.buffers.size());
    if (size == 0) size = uint64_t(program.width) * 4;
    program.buffers.push_back({kind, index, offset, size, std::move(name), device});
  }

  void placeBuffers() {
    uint64_t half = uint64_t(program.room()) * 2;
    for (uint32_t device = 0; device < program.devices; ++device) {
      for (uint32_t i = 0; i < program.inputs; ++i) place(BufferKind::Input, i, half * below(2), device);
      place(BufferKind::Constant, kPlain, 0, device);
      place(BufferKind::Constant, kPermutation, 0, device, uint64_t(program.width) * 8);
      place(BufferKind::Constant, kWidthConstant, 0, device, 8);
      // Few bytes for many buffers: they follow each other in the same ones, or lie across.
      uint64_t lines = (uint64_t(program.width) * 4 + 63) / 64, most = lines * (2 + below(5));
      for (uint32_t i = 2 + below(6); i > 0; --i) place(BufferKind::Arena, 0, below(most - lines + 1) * 64, device);
      program.arenas.push_back(most * 64);
    }
    for (BufferKind kind : {BufferKind::Output, BufferKind::State})
      for (uint32_t i = 0; i < (kind == BufferKind::Output ? program.outputs : program.states); ++i)
        for (uint32_t part = 0, device = below(program.devices); part < 2; ++part) place(kind, i, part * half, device);
  }

  bool isPlain(uint32_t buffer) const {
    return program.buffers[buffer].kind != BufferKind::Constant || program.buffers[buffer].index == kPlain;
  }
  bool holds(uint32_t buffer) const {
    const Buffer &at = program.buffers[buffer];
    const std::vector<char> &flags = marks[program.spaceOf(at)];
    auto first = flags.begin() + std::ptrdiff_t(at.offset / 4);
    return std::all_of(first, first + program.width, [](char flag) { return flag; });
  }

  // One that holds something, on a device or on any.
  uint32_t source(uint32_t device) {
    std::vector<uint32_t> found;
    auto fits = [&](uint32_t i) { return device == kNone || program.buffers[i].device == device; };
    for (uint32_t i = 0; i < program.buffers.size(); ++i)
      if (fits(i) && isPlain(i) && holds(i)) found.push_back(i);
    std::vector<uint32_t> late;
    for (size_t i = history.size(); i-- > 0 && late.size() < 4;)
      if (fits(history[i]) && holds(history[i])) late.push_back(history[i]);
    if (!late.empty() && style == Style::Chain && !oneIn(5)) return late[0];
    if (!late.empty() && style == Style::Recent && !oneIn(4)) return late[below(late.size())];
    if (!history.empty() && style == Style::Fan && fits(history[0]) && !oneIn(4)) return history[0];
    return found[below(found.size())];
  }

  uint32_t target(uint32_t device) {
    std::vector<uint32_t> found;
    bool arena = !oneIn(3);
    for (uint32_t i = 0; i < program.buffers.size(); ++i) {
      BufferKind kind = program.buffers[i].kind;
      bool mayBe =
          kind == BufferKind::Arena ? arena : !arena && !program.isConstant(program.spaceOf(program.buffers[i]));
      if (program.buffers[i].device == device && mayBe) found.push_back(i);
    }
    return found.empty() ? kNone : found[below(found.size())];
  }

  // No tile of a command may touch what another of it writes.
  bool isSound(const Step &step) const {
    const Buffer &to = program.buffers[step.written()];
    for (size_t i = 0; i + 1 < step.operands.size(); ++i) {
      const Buffer &from = program.buffers[step.operands[i]];
      if (program.spaceOf(from) != program.spaceOf(to)) continue;
      if (from.offset == to.offset && !step.isCopy &&
          (step.kernel == Add || step.kernel == Mix || step.kernel == Scratch))
        continue;
      if (from.offset < to.offset + to.size && to.offset < from.offset + from.size) return false;
    }
    return true;
  }

  void addJob() {
    Step step;
    uint32_t device = below(program.devices);
    step.tiles = program.width;
    step.isCopy = oneIn(program.devices > 1 ? 3 : 12);
    uint32_t to = target(device);
    if (to == kNone) return;
    if (step.isCopy) {
      step.operands = {source(oneIn(4) ? device : kNone), to};
    } else {
      static constexpr TestKernel kernels[] = {Add, Mix, Mix, Mix, Count, Gather, Scratch, Window, Window};
      step.kernel = kernels[below(std::size(kernels))];
      auto constant = [&](uint32_t index) {
        return uint32_t(std::find_if(program.buffers.begin(), program.buffers.end(),
                                     [&](const Buffer &buffer) {
                                       return buffer.kind == BufferKind::Constant && buffer.index == index &&
                                              buffer.device == device;
                                     }) -
                        program.buffers.begin());
      };
      switch (step.kernel) {
      case Count:
        if (!holds(to)) return;
        step.operands = {to};
        break;
      case Gather: step.operands = {source(device), constant(kPermutation), constant(kWidthConstant), to}; break;
      case Scratch: step.operands = {source(device), to}; break;
      case Window: step.operands = {source(device), constant(kWidthConstant), to}; break;
      default: step.operands = {source(device), source(device), to}; break;
      }
    }
    if (!isSound(step)) return;
    step.grain = oneIn(3) ? program.width : 1 + below(8);
    step.flops = oneIn(2) ? 0 : 60000;
    step.lane = below(1 << 16);
    step.byTarget = oneIn(2);
    step.extraWait = oneIn(3);
    step.lateRecord = oneIn(4);
    program.markWritten(step, marks);
    history.push_back(to);
    jobs.push_back(step);
  }

  std::vector<Step> cut(const Step &job) {
    std::vector<Step> parts = {job};
    for (uint32_t more = job.isCopy || !oneIn(3) ? 0 : 1 + below(3); more > 0 && parts.back().tiles > 1; --more) {
      Step rest = parts.back();
      int64_t first = 1 + below(size_t(rest.tiles - 1));
      parts.back().tiles = first;
      rest.firstTile += first;
      rest.tiles -= first;
      rest.lane = oneIn(2) ? rest.lane : below(1 << 16);
      parts.push_back(rest);
    }
    return parts;
  }

  // Any of the next few jobs goes on whose operands hold something; the first can always.
  void merge() {
    constexpr size_t window = 3;
    std::vector<std::vector<Step>> pending;
    for (size_t next = 0; next < jobs.size() || !pending.empty();) {
      while (pending.size() < window && next < jobs.size()) pending.push_back(cut(jobs[next++]));
      size_t chosen = below(pending.size());
      if (!program.isDefined(pending[chosen].front(), marks)) chosen = 0;
      std::vector<Step> &parts = pending[chosen];
      program.markWritten(parts.front(), marks);
      program.steps.push_back(parts.front());
      parts.erase(parts.begin());
      if (parts.empty()) pending.erase(pending.begin() + std::ptrdiff_t(chosen));
    }
  }

  RandomProgram &program;
  std::mt19937 random;
  Style style = Style::Any;
  Marks marks; // of words that hold something
  std::vector<uint32_t> history;
  std::vector<Step> jobs;
};

} // namespace

RandomProgram::RandomProgram(uint32_t seed) { Drawing(*this, seed).draw(); }

uint32_t RandomProgram::spaceOf(const Buffer &buffer) const {
  switch (buffer.kind) {
  case BufferKind::Arena: return buffer.device;
  case BufferKind::Output: return devices + buffer.index;
  case BufferKind::State: return firstState() + buffer.index;
  case BufferKind::Input: return firstInput() + buffer.index;
  case BufferKind::Constant: break;
  }
  return firstConstant() + buffer.index;
}

uint32_t RandomProgram::deviceOf(const Step &step) const {
  return buffers[step.isCopy && !step.byTarget ? step.operands[0] : step.written()].device;
}

Spaces RandomProgram::memory() const {
  Spaces memory;
  for (uint64_t bytes : arenas) memory.emplace_back(bytes / 4, 0xa5a5a5a5u);
  for (uint32_t i = 0; i < outputs + states + inputs; ++i) memory.emplace_back(size_t(room()), 0u);
  for (uint32_t i = firstState(); i < firstInput(); ++i) std::fill(memory[i].begin(), memory[i].end(), 5 + i);
  std::vector<uint32_t> plain(static_cast<size_t>(width)), indices;
  for (uint32_t i = 0; i < plain.size(); ++i) plain[i] = i * 2654435761u;
  for (uint32_t index : permutation(width)) indices.insert(indices.end(), {index, 0}); // of 64 bits
  memory.insert(memory.end(), {plain, indices, {uint32_t(width), 0}});
  return memory;
}

Marks RandomProgram::marks() const {
  Marks marks;
  uint32_t space = 0;
  for (const std::vector<uint32_t> &words : memory()) marks.emplace_back(words.size(), char(space++ >= firstState()));
  return marks;
}

void RandomProgram::perform(const Step &step, Spaces &memory) const {
  auto words = [&](size_t operand) {
    const Buffer &buffer = buffers[step.operands[operand]];
    return memory[spaceOf(buffer)].data() + buffer.offset / 4;
  };
  uint32_t *out = words(step.operands.size() - 1);
  const uint32_t *a = words(0), *b = step.operands.size() > 1 ? words(1) : nullptr;
  for (int64_t t = step.firstTile; t < step.firstTile + step.tiles; ++t) {
    if (step.isCopy) {
      out[t] = a[t];
      continue;
    }
    switch (step.kernel) {
    case Add: out[t] = a[t] + b[t]; break;
    case Mix: out[t] = 31 * a[t] + b[t] + 7; break;
    case Count: out[t] += 1; break;
    case Gather: out[t] = a[b[2 * t]]; break;
    case Window: out[t] = 31 * (t > 0 ? a[t - 1] : 0) + 5 * a[t] + (t + 1 < width ? a[t + 1] : 0); break;
    default: out[t] = a[t]; break;
    }
  }
}

// As the format has it, tile by tile: what a range leaves out between two tiles counts as touched.
std::vector<Touch> RandomProgram::touches(const Step &step) const {
  std::vector<Touch> found;
  const Kernel *kernel = step.isCopy ? nullptr : &kernels[step.kernel];
  for (uint32_t i = 0; i < step.operands.size(); ++i) {
    const Buffer &buffer = buffers[step.operands[i]];
    uint32_t space = spaceOf(buffer);
    if (isConstant(space)) continue;
    uint8_t mode = i + 1 == step.operands.size() ? kWrites : kReads;
    if (kernel) mode = kernel->access.empty() ? kReads | kWrites : kernel->access[i];
    int64_t first = int64_t(buffer.offset / 4), begin = INT64_MAX, end = INT64_MIN;
    bool stated = false;
    for (const TileRange &range : kernel ? kernel->ranges : std::vector<TileRange>()) {
      if (range.operand != i) continue;
      stated = true;
      for (int64_t t = step.firstTile; t < step.firstTile + step.tiles; ++t) {
        int64_t at = (range.first + t / range.per * range.step) / 4;
        begin = std::min(begin, at);
        end = std::max(end, at + int64_t(range.size / 4));
      }
    }
    if (!stated) begin = 0, end = width;
    begin = std::max<int64_t>(begin, 0), end = std::min(end, width);
    if (begin < end) found.push_back({space, first + begin, first + end, bool(mode & kReads), bool(mode & kWrites)});
  }
  return found;
}

bool RandomProgram::isDefined(const Step &step, const Marks &marks) const {
  for (uint32_t i = 0; i < step.operands.size(); ++i) {
    bool isRead = i + 1 < step.operands.size() || (!step.isCopy && step.kernel == Count);
    const Buffer &buffer = buffers[step.operands[i]];
    if (!isRead || isConstant(spaceOf(buffer))) continue;
    int64_t from = step.firstTile, to = step.firstTile + step.tiles; // of the operand
    if (step.kernel == Window && !step.isCopy) from = std::max<int64_t>(from - 1, 0), to = std::min(to + 1, width);
    if (step.kernel == Gather && !step.isCopy) from = 0, to = width;
    const std::vector<char> &flags = marks[spaceOf(buffer)];
    auto first = flags.begin() + std::ptrdiff_t(buffer.offset / 4);
    if (!std::all_of(first + from, first + to, [](char flag) { return flag; })) return false;
  }
  return true;
}

void RandomProgram::markWritten(const Step &step, Marks &marks) const {
  const Buffer &buffer = buffers[step.written()];
  auto first = marks[spaceOf(buffer)].begin() + std::ptrdiff_t(buffer.offset / 4) + step.firstTile;
  std::fill_n(first, step.tiles, char(1));
}

RandomProgram RandomProgram::only(const std::vector<Step> &kept) const {
  RandomProgram result = *this;
  result.steps.clear();
  Marks marks = this->marks();
  for (Step step : kept) {
    if (!isDefined(step, marks)) {
      if (!step.isCopy && step.kernel == Count) continue;
      for (size_t i = 0; i + 1 < step.operands.size(); ++i) {
        const Buffer &old = buffers[step.operands[i]];
        if (isConstant(spaceOf(old))) continue;
        auto isInput = [&](const Buffer &buffer) {
          return buffer.kind == BufferKind::Input && buffer.device == old.device;
        };
        step.operands[i] = uint32_t(std::find_if(buffers.begin(), buffers.end(), isInput) - buffers.begin());
      }
    }
    markWritten(step, marks);
    result.steps.push_back(std::move(step));
  }
  return result;
}

RandomProgram shrink(RandomProgram program, const std::function<bool(const RandomProgram &)> &fails) {
  auto accept = [&](const std::vector<Step> &steps) {
    RandomProgram candidate = program.only(steps);
    if (!fails(candidate)) return false;
    program = std::move(candidate);
    return true;
  };
  auto removeBy = [&](size_t size) {
    bool removed = false;
    for (size_t at = 0; at < program.steps.size();) {
      std::vector<Step> rest = program.steps;
      size_t end = std::min(at + size, rest.size());
      rest.erase(rest.begin() + std::ptrdiff_t(at), rest.begin() + std::ptrdiff_t(end));
      if (!rest.empty() && accept(rest))
        removed = true;
      else
        at += size;
    }
    return removed;
  };
  for (size_t size = program.steps.size() / 2; size > 1; size /= 2) removeBy(size);
  while (removeBy(1)) {
  }
  // Then what is left becomes plain, one property at a time.
  auto simplify = [&](const std::function<void(Step &)> &change) {
    for (size_t i = 0; i < program.steps.size(); ++i) {
      std::vector<Step> steps = program.steps;
      change(steps[i]);
      accept(steps); // of as many steps: what they read stays as it is
    }
  };
  simplify([](Step &step) { step.lane = 0; });
  simplify([](Step &step) { step.flops = 0, step.grain = 1; });
  simplify([](Step &step) { step.extraWait = step.lateRecord = false; });
  // Nor are the buffers and ranges of others of interest.
  std::vector<uint32_t> numbers(program.buffers.size(), UINT32_MAX);
  std::vector<Buffer> buffers;
  std::vector<char> runs(program.kernels.size(), false);
  for (Step &step : program.steps) {
    if (!step.isCopy) runs[step.kernel] = true;
    for (uint32_t &operand : step.operands) {
      if (numbers[operand] == UINT32_MAX) {
        numbers[operand] = uint32_t(buffers.size());
        buffers.push_back(program.buffers[operand]);
      }
      operand = numbers[operand];
    }
  }
  program.buffers = std::move(buffers);
  for (size_t i = 0; i < runs.size(); ++i)
    if (!runs[i]) program.kernels[i].ranges.clear();
  return program;
}

} // namespace sprig::rt::test
