#include "runtime/load/Decode.h"

#include "runtime/format/Types.h"
#include "runtime/format/program_generated.h"

#include <algorithm>
#include <charconv>

namespace sprig::rt::core {

static_assert(int(fb::DType::I1) == SPRIG_RT_I1 && int(fb::DType::F64) == SPRIG_RT_F64 &&
              int(fb::DType::U64) == SPRIG_RT_U64);
static_assert(int(fb::CollectiveKind::Part) == int(collective::Kind::part) &&
              int(fb::CollectiveKind::AllToAll) == int(collective::Kind::allToAll) &&
              int(fb::CollectiveKind::AllGather) == int(collective::Kind::allGather));
static_assert(int(fb::BufferKind::Arena) == int(BufferKind::Arena) &&
              int(fb::BufferKind::State) == int(BufferKind::State));

const char *bufferKindName(BufferKind kind) {
  constexpr const char *names[] = {"arena", "input", "output", "constant", "state"};
  return names[size_t(kind)];
}

namespace {

// Tables deeper than the schema's own nesting, or more of them than any real program has, are hostile.
constexpr unsigned kMaxDepth = 16;
constexpr unsigned kMaxTables = 4'000'000;

// Copies tables into Program. FlatBuffers lets many tables share one vector, so a small file can describe a huge
// program; every element taken is paid from a budget in proportion to the file.
class Decoder {
public:
  explicit Decoder(uint64_t budget) : budget(budget) {}

  Status package(const fb::Package &from, Program &to) {
    to.producer = text(from.producer());
    SPRIG_RETURN_IF_ERROR(list(from.kernels(), to.kernels, &Decoder::kernel), "kernels");
    SPRIG_RETURN_IF_ERROR(list(from.constants(), to.constants, &Decoder::constant), "constants");
    SPRIG_RETURN_IF_ERROR(list(from.states(), to.states, &Decoder::state), "states");
    SPRIG_RETURN_IF_ERROR(list(from.images(), to.images, &Decoder::image), "images");
    SPRIG_RETURN_IF_ERROR(devices(from, to.devices), "devices");
    SPRIG_RETURN_IF_ERROR(list(from.facts(), to.facts, &Decoder::fact), "facts");
    SPRIG_RETURN_IF_ERROR(list(from.entries(), to.entries, &Decoder::entry), "entries");
    return {};
  }

private:
  uint64_t budget;

  Status spend(uint64_t amount) {
    if (amount > budget)
      return {SPRIG_RT_BAD_PACKAGE, "the metadata repeats its parts more often than its size allows"};
    budget -= amount;
    return {};
  }

  // Strings need no budget of their own: each belongs to a table or element that was paid for, and is cut.
  static std::string text(const flatbuffers::String *from) {
    constexpr size_t limit = 4096;
    return from ? std::string(from->c_str(), std::min<size_t>(from->size(), limit)) : std::string();
  }

  template <typename FromVector, typename To, typename From>
  Status list(const FromVector *from, std::vector<To> &to, Status (Decoder::*one)(const From &, To &)) {
    if (!from) return {};
    SPRIG_RETURN_IF_ERROR(spend(from->size()));
    to.reserve(from->size());
    for (uint32_t i = 0; i < from->size(); ++i) {
      To item = {};
      SPRIG_RETURN_IF_ERROR((this->*one)(*from->Get(i), item), std::to_string(i));
      to.push_back(std::move(item));
    }
    return {};
  }

  // The verifier looks at the alignment of a vector's length only. Nothing is read after a length of zero, and the
  // writer does not align it (the shape of a scalar).
  template <typename Vector> static Status checkAligned(const Vector &from, size_t alignment) {
    if (size_t behind = reinterpret_cast<uintptr_t>(from.Data()) % alignment; from.size() && behind)
      return {SPRIG_RT_BAD_PACKAGE,
              concat("expected numbers of ", alignment, " bytes at a multiple of that, found ", behind, " behind one")};
    return {};
  }

  template <typename T> Status numbers(const flatbuffers::Vector<T> *from, std::vector<T> &to) {
    if (!from) return {};
    SPRIG_RETURN_IF_ERROR(spend(from->size()));
    SPRIG_RETURN_IF_ERROR(checkAligned(*from, sizeof(T)));
    to.assign(from->begin(), from->end());
    return {};
  }

  Status strings(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *from,
                 std::vector<std::string> &to) {
    if (!from) return {};
    SPRIG_RETURN_IF_ERROR(spend(from->size()));
    for (const flatbuffers::String *item : *from) {
      SPRIG_RETURN_IF_ERROR(spend(item->size() / 16));
      to.push_back(text(item));
    }
    return {};
  }

  Status tensor(const fb::Tensor &from, TensorType &to) {
    to.name = text(from.name());
    // The C ABI ends it there, and it would be another's.
    if (to.name.find('\0') != std::string::npos) return {SPRIG_RT_BAD_PACKAGE, "expected a name without a NUL"};
    to.dtype = int(from.dtype());
    SPRIG_RETURN_IF_ERROR(numbers(from.piece(), to.piece));
    if (from.growing()) SPRIG_RETURN_IF_ERROR(checkAligned(*from.growing(), alignof(fb::GrowingDim)), "growing");
    SPRIG_RETURN_IF_ERROR(list(from.growing(), to.growing, &Decoder::growingDim), "growing");
    return numbers(from.shape(), to.shape);
  }

  Status growingDim(const fb::GrowingDim &from, GrowingDim &to) {
    to = {from.dim(), from.multiple(), from.add(), from.divisor()};
    return {};
  }

  Status buffer(const fb::Buffer &from, Buffer &to) {
    if (from.kind() > fb::BufferKind::MAX)
      return {SPRIG_RT_BAD_PACKAGE,
              concat("expected a buffer kind up to ", int(fb::BufferKind::MAX), ", found ", int(from.kind()))};
    to = {BufferKind(from.kind()), from.index(), from.offset(), from.size(), text(from.name()), from.device()};
    return {};
  }

  Status kernel(const fb::Kernel &from, Kernel &to) {
    to.name = text(from.name());
    to.scratch = from.scratch();
    to.bufferCount = from.buffer_count();
    SPRIG_RETURN_IF_ERROR(numbers(from.access(), to.access), "access");
    if (from.ranges()) SPRIG_RETURN_IF_ERROR(checkAligned(*from.ranges(), alignof(fb::TileRange)), "ranges");
    SPRIG_RETURN_IF_ERROR(list(from.ranges(), to.ranges, &Decoder::range), "ranges");
    return strings(from.op_names(), to.opNames);
  }

  Status range(const fb::TileRange &from, TileRange &to) {
    to = {from.operand(), from.first(), from.step(), from.size(), std::max<uint32_t>(from.per(), 1)};
    return {};
  }

  Status constant(const fb::Constant &from, Constant &to) {
    to.name = text(from.name());
    to.size = from.size();
    to.offset = from.offset();
    if (from.expansion()) SPRIG_RETURN_IF_ERROR(expansion(*from.expansion(), to.expansion.emplace()), "expansion");
    return numbers(from.splat(), to.splat);
  }

  Status expansion(const fb::Expansion &from, format::Expansion &to) {
    to.form = format::ExpansionForm(from.form());
    to.offset = from.offset();
    to.size = from.size();
    to.dtype = uint8_t(from.element());
    to.width = from.width();
    to.arrangement = format::Arrangement(from.arrangement());
    SPRIG_RETURN_IF_ERROR(numbers(from.shape(), to.shape), "shape");
    SPRIG_RETURN_IF_ERROR(numbers(from.strides(), to.strides), "strides");
    SPRIG_RETURN_IF_ERROR(numbers(from.down(), to.down), "down");
    return numbers(from.across(), to.across);
  }

  Status state(const fb::State &from, StateType &to) {
    to.initial = from.initial();
    return tensor(*from.tensor(), to.tensor);
  }

  Status import(const fb::Import &from, ImageImport &to) {
    to = {text(from.call()), from.slot()};
    return {};
  }

  Status function(const fb::Function &from, ImageFunction &to) {
    to = {text(from.name()), from.offset(), from.size()};
    return {};
  }

  Status launch(const fb::LaunchShape &from, LaunchShape &to) {
    to = {from.threads(), from.shared()};
    return {};
  }

  Status image(const fb::Image &from, Image &to) {
    to.isa = text(from.isa());
    to.section = from.section();
    to.codeSize = from.code_size();
    SPRIG_RETURN_IF_ERROR(strings(from.features(), to.features));
    SPRIG_RETURN_IF_ERROR(numbers(from.symbols(), to.symbols));
    SPRIG_RETURN_IF_ERROR(numbers(from.symbol_sizes(), to.symbolSizes));
    SPRIG_RETURN_IF_ERROR(list(from.functions(), to.functions, &Decoder::function), "functions");
    if (from.kind() && from.kind()->size()) to.kind = text(from.kind());
    SPRIG_RETURN_IF_ERROR(strings(from.entry_points(), to.entryPoints), "entry points");
    if (from.launches()) SPRIG_RETURN_IF_ERROR(checkAligned(*from.launches(), alignof(fb::LaunchShape)), "launches");
    SPRIG_RETURN_IF_ERROR(list(from.launches(), to.launches, &Decoder::launch), "launches");
    return list(from.imports(), to.imports, &Decoder::import);
  }

  // "cuda:1" or "cuda".
  static Status device(const std::string &from, DeviceName &to) {
    size_t colon = from.find(':');
    to.kind = from.substr(0, colon);
    if (colon == std::string::npos) return {};
    const char *first = from.data() + colon + 1, *last = from.data() + from.size();
    auto [end, error] = std::from_chars(first, last, to.ordinal);
    if (error == std::errc() && end == last && first != last) return {};
    return {SPRIG_RT_BAD_PACKAGE, concat("expected a device as kind:number, found '", from, "'")};
  }

  Status devices(const fb::Package &from, std::vector<DeviceName> &to) {
    std::vector<std::string> names, architectures;
    SPRIG_RETURN_IF_ERROR(strings(from.devices(), names));
    SPRIG_RETURN_IF_ERROR(strings(from.architectures(), architectures));
    if (names.empty()) names.push_back("cpu");
    if (architectures.size() > names.size())
      return {SPRIG_RT_BAD_PACKAGE, concat("expected at most one architecture for each of ", names.size(),
                                           " devices, found ", architectures.size())};
    architectures.resize(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      DeviceName name;
      SPRIG_RETURN_IF_ERROR(device(names[i], name), std::to_string(i));
      name.architecture = std::move(architectures[i]);
      to.push_back(std::move(name));
    }
    return {};
  }

  Status fact(const fb::BuildFact &from, Fact &to) {
    to = {text(from.key()), text(from.value())};
    return {};
  }

  Status operands(Entry &entry, Command &command, const flatbuffers::Vector<uint32_t> *buffers) {
    command.firstOperand = uint32_t(entry.operands.size());
    if (!buffers) return {};
    SPRIG_RETURN_IF_ERROR(spend(buffers->size()));
    command.operandCount = buffers->size();
    entry.operands.insert(entry.operands.end(), buffers->begin(), buffers->end());
    return {};
  }

  // What all-reduces and other collectives have in common. Numbers are looked at by Verify.
  template <typename Table> Status collective(Entry &entry, const Table &from, Command &to) {
    to.kind = CommandKind::Collective;
    to.collective = uint32_t(entry.collectives.size());
    Collective &added = entry.collectives.emplace_back();
    added.reduction = comm::Reduction(from.reduction());
    added.dtype = uint8_t(from.dtype());
    if (from.algorithm()) added.algorithm = collective::Algorithm(*from.algorithm());
    return operands(entry, to, from.buffers());
  }

  Status anyCollective(Entry &entry, const fb::Collective &from, Command &to) {
    SPRIG_RETURN_IF_ERROR(collective(entry, from, to));
    Collective &added = entry.collectives.back();
    added.kind = collective::Kind(from.kind());
    added.root = from.root();
    return numbers(from.units(), added.units);
  }

  Status axis(const fb::Axis &from, Axis &to) {
    to = {text(from.name()), from.ranks()};
    return {};
  }

  Status part(const fb::Part &from, Part &to) {
    to = {text(from.name()), text(from.kind()), text(from.shape()), text(from.source()), from.flops(),
          from.bytes(),      from.call(),       from.steps(),       from.repeated(),     text(from.factors())};
    return {};
  }

  Status command(Entry &entry, const fb::CommandBox &from, Command &to) {
    to.name = text(from.name());
    switch (from.command_type()) {
    case fb::Command::Dispatch: {
      const fb::Dispatch &dispatch = *from.command_as_Dispatch();
      to.kind = CommandKind::Dispatch;
      to.kernel = dispatch.kernel();
      to.firstTile = dispatch.first_tile();
      to.tiles = dispatch.tiles();
      to.grain = dispatch.grain();
      to.flops = dispatch.flops();
      to.bytes = dispatch.bytes();
      to.fetched = dispatch.fetched();
      SPRIG_RETURN_IF_ERROR(list(dispatch.parts(), to.parts, &Decoder::part), "parts");
      return operands(entry, to, dispatch.buffers());
    }
    case fb::Command::Copy: {
      const fb::Copy &copy = *from.command_as_Copy();
      to.kind = CommandKind::Copy;
      to.firstOperand = uint32_t(entry.operands.size());
      to.operandCount = 2;
      entry.operands.push_back(copy.source());
      entry.operands.push_back(copy.target());
      SPRIG_RETURN_IF_ERROR(list(copy.parts(), to.parts, &Decoder::part), "parts");
      return {};
    }
    case fb::Command::Record:
      to.kind = CommandKind::Record;
      to.event = from.command_as_Record()->event();
      return {};
    case fb::Command::Wait:
      to.kind = CommandKind::Wait;
      to.event = from.command_as_Wait()->event();
      return {};
    case fb::Command::AllReduce: return collective(entry, *from.command_as_AllReduce(), to);
    case fb::Command::Collective: return anyCollective(entry, *from.command_as_Collective(), to);
    case fb::Command::AxesCollective: {
      const fb::AxesCollective &content = *from.command_as_AxesCollective();
      SPRIG_RETURN_IF_ERROR(anyCollective(entry, *content.content(), to));
      if (!content.axes() || !content.axes()->size())
        return {SPRIG_RT_BAD_PACKAGE, "a collective of a part of the ranks names no axes"};
      return numbers(content.axes(), entry.collectives.back().axes);
    }
    case fb::Command::RootCollective: {
      const fb::RootCollective &content = *from.command_as_RootCollective();
      SPRIG_RETURN_IF_ERROR(anyCollective(entry, *content.content(), to));
      return numbers(content.axes(), entry.collectives.back().axes);
    }
    default: return {SPRIG_RT_BAD_PACKAGE, concat("unknown command kind ", int(from.command_type()))};
    }
  }

  Status lane(Entry &entry, const fb::Lane &from, Lane &to) {
    to.device = from.device();
    if (!from.commands()) return {};
    SPRIG_RETURN_IF_ERROR(spend(from.commands()->size()));
    for (uint32_t i = 0; i < from.commands()->size(); ++i) {
      Command item = {};
      SPRIG_RETURN_IF_ERROR(command(entry, *from.commands()->Get(i), item), concat("command ", i));
      to.commands.push_back(std::move(item));
    }
    return {};
  }

  Status entry(const fb::Entry &from, Entry &to) {
    to.name = text(from.name());
    to.arenaSize = from.arena_size();
    SPRIG_RETURN_IF_ERROR(numbers(from.more_arenas(), to.moreArenas), "arenas");
    to.eventCount = from.event_count();
    to.independentSamples = from.independent_samples();
    to.updatesState = from.updates_state();
    to.ranks = std::max(1u, from.ranks());
    to.rank = from.rank();
    to.samplesOfRanks = from.samples_of_ranks();
    SPRIG_RETURN_IF_ERROR(list(from.mesh(), to.mesh, &Decoder::axis), "mesh");
    if (const fb::Lengths *lengths = from.lengths())
      to.lengths = {text(lengths->axis()), lengths->first(), lengths->last()};
    SPRIG_RETURN_IF_ERROR(list(from.inputs(), to.inputs, &Decoder::tensor), "inputs");
    SPRIG_RETURN_IF_ERROR(list(from.outputs(), to.outputs, &Decoder::tensor), "outputs");
    SPRIG_RETURN_IF_ERROR(list(from.buffers(), to.buffers, &Decoder::buffer), "buffers");
    if (!from.lanes()) return {};
    SPRIG_RETURN_IF_ERROR(spend(from.lanes()->size()));
    for (uint32_t i = 0; i < from.lanes()->size(); ++i) {
      Lane item = {};
      SPRIG_RETURN_IF_ERROR(lane(to, *from.lanes()->Get(i), item), concat("lane ", i));
      to.lanes.push_back(std::move(item));
    }
    return {};
  }
};

} // namespace

Status decodeProgram(std::span<const uint8_t> metadata, Program &program) {
  // FlatBuffers has 32-bit offsets.
  if (metadata.size() < 8 || metadata.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return {SPRIG_RT_BAD_PACKAGE, concat("expected 8 to ", uint64_t(FLATBUFFERS_MAX_BUFFER_SIZE),
                                         " bytes of metadata, found ", metadata.size())};
  if (!fb::PackageBufferHasIdentifier(metadata.data()))
    return {SPRIG_RT_BAD_PACKAGE, concat("expected metadata that is marked '", fb::PackageIdentifier(), "'")};
  flatbuffers::Verifier verifier(metadata.data(), metadata.size(), kMaxDepth, kMaxTables);
  if (!fb::VerifyPackageBuffer(verifier))
    return {SPRIG_RT_BAD_PACKAGE, "the metadata is no well-formed FlatBuffer of a program"};
  return Decoder(uint64_t(metadata.size()) * 4 + 1024).package(*fb::GetPackage(metadata.data()), program);
}

} // namespace sprig::rt::core
