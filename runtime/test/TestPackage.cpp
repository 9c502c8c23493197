#include "runtime/test/TestPackage.h"

#include "runtime/format/Types.h"
#include "runtime/format/program_generated.h"

extern "C" {
extern const uint8_t __start_test_kernels[];
extern const uint8_t __stop_test_kernels[];
int32_t test_add(const void *), test_mix(const void *), test_count(const void *), test_slow(const void *),
    test_gather(const void *), test_divide(const void *), test_mxcsr(const void *), test_scratch(const void *),
    test_window(const void *);
}

namespace sprig::rt::test {

using namespace sprig::rt::core;

TestPackage::TestPackage() {
  image.assign(__start_test_kernels, __stop_test_kernels);
  struct Row {
    const char *name;
    int32_t (*function)(const void *);
    uint32_t buffers;
    uint64_t scratch;
    std::vector<uint8_t> access;
  };
  constexpr uint8_t r = kReads, w = kWrites;
  const Row rows[] = {{"add", test_add, 3, 0, {r, r, w}},
                      {"mix", test_mix, 3, 0, {r, r, w}},
                      {"count", test_count, 1, 0, {r | w}},
                      {"slow", test_slow, 2, 0, {r, w}},
                      {"gather", test_gather, 4, 0, {r, r, r, w}},
                      {"divide", test_divide, 3, 0, {r, r, w}},
                      {"mxcsr", test_mxcsr, 1, 0, {w}},
                      {"scratch", test_scratch, 2, 256, {r, w}},
                      {"window", test_window, 3, 0, {r, r, w}}};
  Image code = {};
  code.isa = "x86-64-v2";
  code.codeSize = image.size();
  for (const Row &row : rows) {
    program.kernels.push_back({row.name,
                               row.scratch,
                               row.buffers,
                               {std::string("first_") + row.name, std::string("second_") + row.name},
                               row.access,
                               {}});
    uint64_t offset = uint64_t(reinterpret_cast<const uint8_t *>(row.function) - __start_test_kernels);
    code.symbols.push_back(offset);
    code.symbolSizes.push_back(1);
  }
  program.images.push_back(code);
  program.producer = "test";
  program.devices = {{"cpu"}};
  program.facts = {{"target", "test"}};
}

uint32_t TestPackage::addConstant(const std::vector<uint32_t> &values) { return addConstantOf(values); }

namespace {

class Encoder {
public:
  flatbuffers::FlatBufferBuilder builder;

  template <typename T, typename One> auto list(const std::vector<T> &items, One one) {
    std::vector<decltype(one(items[0]))> offsets;
    for (const T &item : items) offsets.push_back(one(item));
    return builder.CreateVector(offsets);
  }

  auto tensor(const TensorType &type) {
    auto name = builder.CreateString(type.name);
    auto shape = builder.CreateVector(type.shape);
    auto piece = builder.CreateVector(type.piece);
    std::vector<fb::GrowingDim> growing;
    for (const GrowingDim &each : type.growing) growing.emplace_back(each.dim, each.multiple, each.add, each.divisor);
    auto dims = growing.empty() ? 0 : builder.CreateVectorOfStructs(growing);
    return fb::CreateTensor(builder, name, fb::DType(type.dtype), shape, piece, dims);
  }

  auto command(const Entry &entry, const Command &from) {
    auto name = builder.CreateString(from.name);
    const uint32_t *operands = entry.operands.data() + from.firstOperand;
    switch (from.kind) {
    case CommandKind::Dispatch: {
      auto buffers = builder.CreateVector(operands, from.operandCount);
      auto parts = list(from.parts, [&](const Part &part) {
        auto partName = builder.CreateString(part.name), kind = builder.CreateString(part.kind);
        auto shape = builder.CreateString(part.shape), source = builder.CreateString(part.source);
        return fb::CreatePart(builder, partName, kind, shape, source, part.flops, part.bytes, part.call, part.steps,
                              part.repeated);
      });
      auto dispatch = fb::CreateDispatch(builder, from.kernel, buffers, from.tiles, from.grain, from.flops, from.bytes,
                                         parts, from.firstTile);
      return fb::CreateCommandBox(builder, fb::Command::Dispatch, dispatch.Union(), name);
    }
    case CommandKind::Collective: {
      const Collective &call = entry.collectives[from.collective];
      flatbuffers::Optional<fb::Algorithm> algorithm;
      if (call.algorithm) algorithm = fb::Algorithm(*call.algorithm);
      auto reduction = fb::Reduction(call.reduction);
      auto buffers = builder.CreateVector(operands, from.operandCount);
      // As the compiler does, so that readers of 1.4 have them.
      if (call.kind == collective::Kind::allReduce && call.axes.empty()) {
        auto reduce = fb::CreateAllReduce(builder, reduction, fb::DType(call.dtype), algorithm, buffers);
        return fb::CreateCommandBox(builder, fb::Command::AllReduce, reduce.Union(), name);
      }
      auto units = builder.CreateVector(call.units);
      auto content = fb::CreateCollective(builder, fb::CollectiveKind(call.kind), reduction, fb::DType(call.dtype),
                                          algorithm, call.root, buffers, units);
      if (call.kind == collective::Kind::reduce || call.kind == collective::Kind::gather) {
        auto axes = builder.CreateVector(call.axes);
        auto ofRoot = fb::CreateRootCollective(builder, content, axes);
        return fb::CreateCommandBox(builder, fb::Command::RootCollective, ofRoot.Union(), name);
      }
      if (!call.axes.empty()) {
        auto axes = builder.CreateVector(call.axes);
        auto ofAxes = fb::CreateAxesCollective(builder, content, axes);
        return fb::CreateCommandBox(builder, fb::Command::AxesCollective, ofAxes.Union(), name);
      }
      return fb::CreateCommandBox(builder, fb::Command::Collective, content.Union(), name);
    }
    case CommandKind::Copy:
      return fb::CreateCommandBox(builder, fb::Command::Copy, fb::CreateCopy(builder, operands[0], operands[1]).Union(),
                                  name);
    case CommandKind::Record:
      return fb::CreateCommandBox(builder, fb::Command::Record, fb::CreateRecord(builder, from.event).Union(), name);
    default: return fb::CreateCommandBox(builder, fb::Command::Wait, fb::CreateWait(builder, from.event).Union(), name);
    }
  }

  auto entry(const Entry &from) {
    auto name = builder.CreateString(from.name);
    auto inputs = list(from.inputs, [&](const TensorType &type) { return tensor(type); });
    auto outputs = list(from.outputs, [&](const TensorType &type) { return tensor(type); });
    auto buffers = list(from.buffers, [&](const Buffer &buffer) {
      auto text = builder.CreateString(buffer.name);
      return fb::CreateBuffer(builder, fb::BufferKind(buffer.kind), buffer.index, buffer.offset, buffer.size, text,
                              buffer.device);
    });
    auto lanes = list(from.lanes, [&](const Lane &lane) {
      auto commands = list(lane.commands, [&](const Command &item) { return command(from, item); });
      return fb::CreateLane(builder, lane.device, commands);
    });
    auto arenas = builder.CreateVector(from.moreArenas);
    auto mesh = list(from.mesh, [&](const Axis &axis) {
      auto axisName = builder.CreateString(axis.name);
      return fb::CreateAxis(builder, axisName, axis.ranks);
    });
    flatbuffers::Offset<fb::Lengths> lengths;
    if (from.lengths) {
      auto axis = builder.CreateString(from.lengths->axis);
      lengths = fb::CreateLengths(builder, axis, from.lengths->first, from.lengths->last);
    }
    return fb::CreateEntry(builder, name, inputs, outputs, buffers, from.arenaSize, from.eventCount, lanes,
                           from.independentSamples, from.updatesState, arenas, from.ranks, from.rank,
                           from.samplesOfRanks, mesh, lengths);
  }

  auto image(const Image &from) {
    auto isa = builder.CreateString(from.isa);
    auto features = builder.CreateVectorOfStrings(from.features);
    auto symbols = builder.CreateVector(from.symbols);
    auto sizes = builder.CreateVector(from.symbolSizes);
    auto imports = list(from.imports, [&](const ImageImport &import) {
      return fb::CreateImport(builder, builder.CreateString(import.call), import.slot);
    });
    auto functions = list(from.functions, [&](const ImageFunction &function) {
      return fb::CreateFunction(builder, builder.CreateString(function.name), function.offset, function.size);
    });
    auto kind = builder.CreateString(from.kind);
    auto entryPoints = builder.CreateVectorOfStrings(from.entryPoints);
    std::vector<fb::LaunchShape> launches;
    for (const LaunchShape &launch : from.launches) launches.emplace_back(launch.threads, launch.shared);
    auto launchList = builder.CreateVectorOfStructs(launches);
    return fb::CreateImage(builder, isa, features, from.section, from.codeSize, symbols, sizes, imports, functions,
                           kind, entryPoints, launchList);
  }

  void package(const Program &from) {
    auto producer = builder.CreateString(from.producer);
    auto entries = list(from.entries, [&](const Entry &item) { return entry(item); });
    auto kernels = list(from.kernels, [&](const Kernel &kernel) {
      auto name = builder.CreateString(kernel.name);
      auto ops = builder.CreateVectorOfStrings(kernel.opNames);
      auto access = builder.CreateVector(kernel.access);
      std::vector<fb::TileRange> ranges;
      for (const TileRange &range : kernel.ranges)
        ranges.emplace_back(range.operand, range.per, range.first, range.step, range.size);
      auto rangeList = builder.CreateVectorOfStructs(ranges);
      return fb::CreateKernel(builder, name, kernel.scratch, kernel.bufferCount, ops, access, rangeList);
    });
    auto constants = list(from.constants, [&](const Constant &constant) {
      auto name = builder.CreateString(constant.name);
      auto splat = builder.CreateVector(constant.splat);
      flatbuffers::Offset<fb::Expansion> expansion;
      if (constant.expansion) {
        const format::Expansion &e = *constant.expansion;
        expansion =
            fb::CreateExpansionDirect(builder, fb::ExpansionForm(e.form), e.offset, e.size, fb::DType(e.dtype), e.width,
                                      fb::Arrangement(e.arrangement), &e.shape, &e.strides, &e.down, &e.across);
      }
      return fb::CreateConstant(builder, name, constant.size, constant.offset, splat, expansion);
    });
    auto states = list(from.states, [&](const StateType &state) {
      auto type = tensor(state.tensor);
      return fb::CreateState(builder, type, state.initial);
    });
    auto images = list(from.images, [&](const Image &item) { return image(item); });
    std::vector<std::string> names, architectures;
    for (const DeviceName &device : from.devices) {
      names.push_back(device.text());
      architectures.push_back(device.architecture);
    }
    auto devices = builder.CreateVectorOfStrings(names);
    auto architectureList = builder.CreateVectorOfStrings(architectures);
    auto facts = list(from.facts, [&](const Fact &fact) {
      auto key = builder.CreateString(fact.key);
      return fb::CreateBuildFact(builder, key, builder.CreateString(fact.value));
    });
    fb::PackageBuilder table(builder);
    table.add_producer(producer);
    table.add_entries(entries);
    table.add_kernels(kernels);
    table.add_constants(constants);
    table.add_states(states);
    table.add_images(images);
    table.add_devices(devices);
    table.add_facts(facts);
    table.add_architectures(architectureList);
    fb::FinishPackageBuffer(builder, table.Finish());
  }
};

} // namespace

Bytes TestPackage::metadata() const {
  Encoder encoder;
  Program copy = program;
  // Sections: metadata, constants, then one image each.
  for (size_t i = 0; i < copy.images.size(); ++i) copy.images[i].section += uint32_t(2 + i);
  encoder.package(copy);
  const uint8_t *data = encoder.builder.GetBufferPointer();
  return Bytes(data, data + encoder.builder.GetSize());
}

Bytes TestPackage::encode() const {
  Bytes meta = metadata();
  std::vector<format::SectionBytes> sections = {{format::SectionKind::Metadata, meta},
                                                {format::SectionKind::Constants, constants}};
  for (size_t i = 0; i < program.images.size(); ++i)
    sections.push_back({format::SectionKind::Image, i && i <= moreImages.size() ? moreImages[i - 1] : image});
  return format::writeContainer(sections);
}

static uint64_t bytesOf(const TensorType &type) {
  uint64_t bytes = 0;
  tensorBytes(type.shape, type.dtype, bytes);
  return bytes;
}

uint32_t EntryBuilder::buffer(BufferKind kind, uint32_t index, uint64_t offset, uint64_t size) {
  entry.buffers.push_back({kind, index, offset, size, "b" + std::to_string(entry.buffers.size()), 0});
  return uint32_t(entry.buffers.size() - 1);
}

uint32_t EntryBuilder::input(std::string name, std::vector<int64_t> shape, int dtype) {
  entry.inputs.push_back({std::move(name), dtype, std::move(shape), 0});
  return buffer(BufferKind::Input, uint32_t(entry.inputs.size() - 1), 0, bytesOf(entry.inputs.back()));
}

uint32_t EntryBuilder::output(std::string name, std::vector<int64_t> shape, int dtype) {
  entry.outputs.push_back({std::move(name), dtype, std::move(shape), 0});
  return buffer(BufferKind::Output, uint32_t(entry.outputs.size() - 1), 0, bytesOf(entry.outputs.back()));
}

uint32_t EntryBuilder::arena(uint64_t bytes) {
  uint64_t offset = entry.arenaSize;
  entry.arenaSize += (bytes + 63) / 64 * 64;
  return buffer(BufferKind::Arena, 0, offset, bytes);
}

uint32_t EntryBuilder::constant(uint32_t index, uint64_t bytes) {
  return buffer(BufferKind::Constant, index, 0, bytes);
}
uint32_t EntryBuilder::state(uint32_t index, uint64_t bytes) { return buffer(BufferKind::State, index, 0, bytes); }

Command &EntryBuilder::command(uint32_t lane, CommandKind kind) {
  while (entry.lanes.size() <= lane) entry.lanes.push_back({0, {}});
  Command &added = entry.lanes[lane].commands.emplace_back();
  added.kind = kind;
  added.firstOperand = uint32_t(entry.operands.size());
  added.name = "c" + std::to_string(entry.lanes[lane].commands.size() - 1);
  return added;
}

void EntryBuilder::dispatch(uint32_t lane, TestKernel kernel, std::vector<uint32_t> buffers, int64_t tiles,
                            int64_t grain) {
  Command &added = command(lane, CommandKind::Dispatch);
  added.kernel = kernel;
  added.operandCount = uint32_t(buffers.size());
  added.tiles = tiles;
  added.grain = grain;
  entry.operands.insert(entry.operands.end(), buffers.begin(), buffers.end());
}

void EntryBuilder::copy(uint32_t lane, uint32_t source, uint32_t target) {
  command(lane, CommandKind::Copy).operandCount = 2;
  entry.operands.push_back(source);
  entry.operands.push_back(target);
}

void EntryBuilder::collective(uint32_t lane, std::vector<uint32_t> buffers, Collective call) {
  Command &added = command(lane, CommandKind::Collective);
  added.collective = uint32_t(entry.collectives.size());
  added.operandCount = uint32_t(buffers.size());
  entry.collectives.push_back(std::move(call));
  entry.operands.insert(entry.operands.end(), buffers.begin(), buffers.end());
}

void EntryBuilder::record(uint32_t lane, uint32_t event) { command(lane, CommandKind::Record).event = event; }
void EntryBuilder::wait(uint32_t lane, uint32_t event) { command(lane, CommandKind::Wait).event = event; }

TestPackage addPackage(int64_t n) {
  TestPackage package;
  EntryBuilder entry("add");
  uint32_t a = entry.input("a", {n}), b = entry.input("b", {n});
  uint32_t sum = entry.output("sum", {n});
  entry.dispatch(0, Add, {a, b, sum}, n, std::max<int64_t>(n, 1));
  package.program.entries.push_back(entry.entry);
  return package;
}

TestPackage callPackage(uint32_t ranks, uint32_t rank, core::Collective call, std::span<const int64_t> rows,
                        int64_t unit, bool goesBack) {
  TestPackage package;
  EntryBuilder entry("call");
  bool takesPart = collective::formOf(call.kind) == collective::Form::fromPart;
  bool givesPart = collective::formOf(call.kind) == collective::Form::toPart;
  call.dtype = SPRIG_RT_U32;
  std::vector<uint32_t> sources, targets, outputs;
  for (size_t i = 0; i < rows.size(); ++i) {
    std::string number = rows.size() == 1 ? "" : std::to_string(i);
    int64_t all = rows[i] * unit, own = collective::pieceOf(rows[i], ranks, rank).size() * unit;
    int64_t from = takesPart ? own : all, to = givesPart ? own : all;
    if (call.kind == collective::Kind::allToAll) to = own * ranks;
    if (goesBack) std::swap(from, to);
    uint32_t x = entry.input("x" + number, {from});
    outputs.push_back(entry.output("y" + number, {to}));
    sources.push_back(entry.arena(uint64_t(from) * 4));
    entry.copy(0, x, sources.back());
    if (!call.isInPlace()) targets.push_back(entry.arena(uint64_t(to) * 4));
    if (call.kind != collective::Kind::barrier) call.units.push_back(uint64_t(unit));
    if (rows[i] % ranks) entry.entry.rank = int32_t(rank);
  }
  std::vector<uint32_t> buffers = call.kind == collective::Kind::barrier ? std::vector<uint32_t>() : sources;
  buffers.insert(buffers.end(), targets.begin(), targets.end());
  entry.collective(0, buffers, call);
  for (size_t i = 0; i < rows.size(); ++i) entry.copy(0, call.isInPlace() ? sources[i] : targets[i], outputs[i]);
  entry.entry.ranks = ranks;
  package.program.entries.push_back(entry.entry);
  return package;
}

TestPackage halvesPackage(uint32_t ranks, int64_t n) {
  TestPackage package;
  EntryBuilder entry("step");
  constexpr uint32_t kBuckets = 2;
  uint32_t x = entry.input("x", {n}), own = entry.arena(uint64_t(n / ranks) * 4);
  entry.collective(0, {x, own}, {.kind = collective::Kind::part, .dtype = SPRIG_RT_U32});
  uint32_t made[kBuckets], back[kBuckets], updated[kBuckets], whole[kBuckets];
  std::vector<uint32_t> sums[kBuckets], parts[kBuckets], outs[kBuckets];
  uint32_t before = x;
  for (uint32_t k = 0; k < kBuckets; ++k) {
    uint32_t times = entry.arena(uint64_t(n) * 4);
    entry.dispatch(0, Add, {before, x, times}, n, n);
    before = times;
    for (uint32_t tensor = 0; tensor <= k; ++tensor) { // what travels is a copy: the next bucket reads this one
      sums[k].push_back(entry.arena(uint64_t(n) * 4));
      parts[k].push_back(entry.arena(uint64_t(n / ranks) * 4));
      outs[k].push_back(entry.arena(uint64_t(n) * 4));
      entry.copy(0, times, sums[k].back());
    }
    made[k] = entry.event(), back[k] = entry.event(), updated[k] = entry.event(), whole[k] = entry.event();
    entry.record(0, made[k]);
    entry.wait(1, made[k]);
    std::vector<uint32_t> buffers = sums[k];
    buffers.insert(buffers.end(), parts[k].begin(), parts[k].end());
    entry.collective(1, buffers, {.kind = collective::Kind::reduceScatter, .dtype = SPRIG_RT_U32});
    entry.record(1, back[k]);
  }
  for (uint32_t k = 0; k < kBuckets; ++k) {
    entry.wait(0, back[k]);
    std::vector<uint32_t> buffers;
    for (uint32_t part : parts[k]) {
      buffers.push_back(entry.arena(uint64_t(n / ranks) * 4));
      entry.dispatch(0, Add, {part, own, buffers.back()}, n / ranks, n / ranks);
    }
    entry.record(0, updated[k]);
    entry.wait(1, updated[k]);
    buffers.insert(buffers.end(), outs[k].begin(), outs[k].end());
    entry.collective(1, buffers, {.kind = collective::Kind::allGather, .dtype = SPRIG_RT_U32});
    entry.record(1, whole[k]);
  }
  for (uint32_t k = 0; k < kBuckets; ++k) {
    entry.wait(0, whole[k]);
    for (uint32_t tensor = 0; tensor <= k; ++tensor)
      entry.copy(0, outs[k][tensor], entry.output("out" + std::to_string(k + tensor), {n}));
  }
  entry.entry.ranks = ranks;
  package.program.entries.push_back(entry.entry);
  return package;
}

TestPackage bucketPackage(uint32_t ranks, int64_t n, uint32_t buckets) {
  TestPackage package;
  EntryBuilder entry("step");
  uint32_t x = entry.input("x", {n});
  std::vector<uint32_t> made, back, parts;
  for (uint32_t k = 0; k < buckets; ++k) {
    parts.push_back(entry.arena(uint64_t(n) * 4));
    entry.dispatch(0, Add, {k ? parts[k - 1] : x, x, parts[k]}, n, std::max<int64_t>(n, 1));
  }
  std::vector<uint32_t> copies;
  for (uint32_t k = 0; k < buckets; ++k) {
    // What travels is a copy: the next part reads this one.
    copies.push_back(entry.arena(uint64_t(n) * 4));
    entry.copy(0, parts[k], copies[k]);
    made.push_back(entry.event());
    back.push_back(entry.event());
    entry.record(0, made[k]);
    entry.wait(1, made[k]);
    entry.collective(1, {copies[k]});
    entry.record(1, back[k]);
  }
  for (uint32_t k = 0; k < buckets; ++k) {
    entry.wait(0, back[k]);
    entry.copy(0, copies[k], entry.output("out" + std::to_string(k), {n}));
  }
  entry.entry.ranks = ranks;
  package.program.entries.push_back(entry.entry);
  return package;
}

} // namespace sprig::rt::test
