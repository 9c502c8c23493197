// Changes of packages that keep the container's checksums and the metadata's form: a field, an element of a list, or
// bytes of a section; now and then bytes of the file.
#include "test/fuzz/Fuzz.h"
#include "test/fuzz/PackageParts.h"
#include <algorithm>
#include <cstring>
#include <functional>

using namespace sprig::fuzz;
using namespace sprig::rt;

namespace {

/// All places of a program that can change; one of them does.
class ProgramMutator {
public:
  ProgramMutator(core::Program &program, Choices &choose) : program(program), choose(choose) { collect(); }

  void mutate() {
    if (!places.empty()) choose.of(places)();
  }

private:
  core::Program &program;
  Choices &choose;
  std::vector<std::function<void()>> places;

  template <typename T> void number(T &field) {
    places.push_back([this, &field] { field = T(mutatedNumber(uint64_t(field), choose)); });
  }
  void flag(bool &field) {
    places.push_back([&field] { field = !field; });
  }
  void text(std::string &field) {
    places.push_back([this, &field] {
      static const char *known[] = {"", "cpu", "null", "cuda", "main", "x86-64-v2", "x86-64-v3", "avx2", "\xff"};
      field = choose.oneIn(2) ? choose.of(known) : field + field;
    });
  }
  /// Elements come, go and change places.
  template <typename T> void list(std::vector<T> &field) {
    places.push_back([this, &field] {
      if (field.empty()) return void(field.emplace_back());
      size_t at = choose.below(field.size()), other = choose.below(field.size());
      switch (choose.below(4)) {
      case 0: field.erase(field.begin() + ptrdiff_t(at)); break;
      case 1: field.insert(field.begin() + ptrdiff_t(at), T(field[other])); break;
      case 2: std::swap(field[at], field[other]); break;
      default: field[at] = T(field[other]); break;
      }
    });
  }
  template <typename T> void numbers(std::vector<T> &field) {
    list(field);
    for (T &each : field) number(each);
  }

  void tensor(core::TensorType &type) {
    text(type.name);
    number(type.dtype);
    numbers(type.shape);
    numbers(type.piece);
    list(type.growing);
    for (core::GrowingDim &each : type.growing) {
      number(each.dim);
      number(each.multiple);
      number(each.add);
      number(each.divisor);
    }
  }

  void command(core::Entry &entry, core::Command &command) {
    places.push_back([&] {
      command.kind = core::CommandKind(choose.below(5));
      command.collective = uint32_t(choose.below(std::max<size_t>(1, entry.collectives.size())));
      if (entry.collectives.empty()) entry.collectives.emplace_back();
      if (command.operandCount >= 2 || command.kind != core::CommandKind::Copy) return;
      command.firstOperand = uint32_t(entry.operands.size()); // a copy has two
      command.operandCount = 2;
      entry.operands.resize(entry.operands.size() + 2);
    });
    if (command.kind == core::CommandKind::Dispatch || command.kind == core::CommandKind::Collective)
      places.push_back([&] { command.operandCount -= command.operandCount > 0; });
    number(command.kernel);
    number(command.event);
    number(command.firstTile);
    number(command.tiles);
    number(command.grain);
    number(command.flops);
    number(command.bytes);
    text(command.name);
    list(command.parts);
    for (core::Part &part : command.parts) {
      text(part.name);
      number(part.call);
    }
  }

  void collective(core::Collective &call) {
    places.push_back([&] { call.kind = sprig::rt::collective::Kind(choose.below(11)); });
    places.push_back([&] { call.reduction = sprig::rt::comm::Reduction(choose.below(6)); });
    places.push_back([&] {
      call.algorithm.reset();
      if (!choose.oneIn(3)) call.algorithm = sprig::rt::collective::Algorithm(choose.below(8));
    });
    number(call.dtype);
    number(call.root);
    numbers(call.units);
    numbers(call.axes);
  }

  void entry(core::Entry &entry) {
    text(entry.name);
    places.push_back([&] { entry.ranks = uint32_t(choose.below(6)); });
    number(entry.ranks);
    places.push_back([&] { entry.rank = int32_t(choose.below(5)) - 1; });
    number(entry.rank);
    number(entry.samplesOfRanks);
    list(entry.mesh);
    for (core::Axis &axis : entry.mesh) {
      text(axis.name);
      places.push_back([&] { axis.ranks = uint32_t(choose.below(5)); });
    }
    for (core::Collective &each : entry.collectives) collective(each);
    list(entry.inputs);
    for (auto &type : entry.inputs) tensor(type);
    list(entry.outputs);
    for (auto &type : entry.outputs) tensor(type);
    list(entry.buffers);
    for (core::Buffer &buffer : entry.buffers) {
      places.push_back([&] { buffer.kind = core::BufferKind(choose.below(5)); });
      number(buffer.index);
      number(buffer.offset);
      number(buffer.size);
      number(buffer.device);
    }
    for (uint32_t &operand : entry.operands)
      places.push_back([&] { operand = uint32_t(choose.below(entry.buffers.size() + 2)); });
    number(entry.arenaSize);
    numbers(entry.moreArenas);
    number(entry.eventCount);
    if (entry.lengths) number(entry.lengths->first), number(entry.lengths->last);
    flag(entry.independentSamples);
    flag(entry.updatesState);
    list(entry.lanes);
    for (core::Lane &lane : entry.lanes) {
      number(lane.device);
      list(lane.commands);
      for (core::Command &each : lane.commands) command(entry, each);
    }
  }

  void image(core::Image &image) {
    text(image.isa);
    text(image.kind);
    list(image.features);
    number(image.section);
    number(image.codeSize);
    numbers(image.symbols);
    numbers(image.symbolSizes);
    list(image.entryPoints);
    for (std::string &name : image.entryPoints) text(name);
    list(image.launches);
    for (auto &launch : image.launches) number(launch.threads), number(launch.shared);
    list(image.imports);
    for (auto &import : image.imports) number(import.slot);
    list(image.functions);
    for (auto &function : image.functions) number(function.offset), number(function.size);
  }

  void collect() {
    text(program.producer);
    list(program.entries);
    for (core::Entry &each : program.entries) entry(each);
    list(program.kernels);
    for (core::Kernel &kernel : program.kernels) {
      text(kernel.name);
      number(kernel.scratch);
      number(kernel.bufferCount);
      list(kernel.opNames);
      numbers(kernel.access);
      list(kernel.ranges);
      for (core::TileRange &range : kernel.ranges)
        number(range.operand), number(range.first), number(range.step), number(range.size), number(range.per);
    }
    list(program.constants);
    for (core::Constant &constant : program.constants) {
      number(constant.size);
      number(constant.offset);
      numbers(constant.splat);
    }
    list(program.states);
    for (core::StateType &state : program.states) {
      tensor(state.tensor);
      number(state.initial);
    }
    list(program.images);
    for (core::Image &each : program.images) image(each);
    list(program.devices);
    for (core::DeviceName &device : program.devices) text(device.kind), number(device.ordinal);
    list(program.facts);
  }
};

// Bytes of the metadata, with checksums that fit.
test::Bytes withOtherMetadata(const PackageParts &parts) {
  test::TestPackage package;
  package.program = parts.program;
  test::Bytes metadata = package.metadata();
  metadata.resize(LLVMFuzzerMutate(metadata.data(), metadata.size(), metadata.size()));
  std::vector<format::SectionBytes> sections = {{format::SectionKind::Metadata, metadata},
                                                {format::SectionKind::Constants, parts.constants}};
  for (size_t i = 0; i < parts.program.images.size(); ++i)
    sections.push_back({format::SectionKind::Image, parts.image});
  return format::writeContainer(sections);
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  Choices choose(seed);
  PackageParts parts;
  if (choose.oneIn(16) || !readParts({data, size}, parts)) return LLVMFuzzerMutate(data, size, maxSize);
  test::Bytes changed;
  if (choose.oneIn(6)) {
    changed = withOtherMetadata(parts);
  } else {
    // Places are found anew each time: a change moves them.
    for (size_t i = 1 + choose.below(3); i-- > 0;) ProgramMutator(parts.program, choose).mutate();
    if (choose.oneIn(16)) parts.constants.resize(choose.below(256));
    changed = encode(parts);
  }
  if (changed.size() > maxSize) return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
