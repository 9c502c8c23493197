// A package's metadata, decoded: what the runtime executes. Filled by Decode, checked by Verify and Devices, immutable
// afterwards; execution relies on every check and repeats none.
#ifndef SPRIG_RUNTIME_LOAD_PROGRAM_H
#define SPRIG_RUNTIME_LOAD_PROGRAM_H

#include "runtime/comm/Call.h"
#include "runtime/format/Expansion.h"
#include "runtime/format/Order.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sprig::rt::core {

// The kind of devices whose kernels are found by name, each tile one block.
inline constexpr std::string_view kCudaKind = "cuda";

// A dimension that grows with the entry's axis; see program.fbs.
struct GrowingDim {
  uint32_t dim;
  int64_t multiple, add, divisor;

  int64_t at(int64_t length) const { return (multiple * length + add) / divisor; } // verified to be none below zero
};

struct TensorType {
  std::string name;
  int dtype = 0; // sprig_rt_dtype
  std::vector<int64_t> shape;
  uint64_t bytes = 0; // set by Verify
  // Of a rank's piece: the shape of what all ranks have together, then where it begins in it; of a state, which only
  // tools read, that shape alone. Empty: it is whole.
  std::vector<int64_t> piece = {};
  std::vector<GrowingDim> growing = {};

  std::span<const int64_t> whole() const { return piece.empty() ? shape : std::span(piece).first(shape.size()); }
  std::span<const int64_t> first() const { return std::span(piece).subspan(piece.size() / 2); }
  int64_t sizeAt(size_t axis, int64_t length) const {
    for (const GrowingDim &each : growing)
      if (each.dim == axis) return each.at(length);
    return shape[axis];
  }
};

enum class BufferKind : uint8_t { Arena, Input, Output, Constant, State };
const char *bufferKindName(BufferKind kind);

struct Buffer {
  BufferKind kind;
  uint32_t index;
  uint64_t offset;
  uint64_t size;
  std::string name;
  uint32_t device = 0; // index into Program.devices
};

struct Constant {
  std::string name;
  uint64_t size;
  uint64_t offset;
  std::vector<uint8_t> splat;
  std::optional<format::Expansion> expansion = {};
  // Whether its bytes are made when the package is loaded, rather than lying in it.
  bool isMade() const { return expansion || !splat.empty(); }
  bool isRead = false; // by an entry, not only as what a state starts from; set by Verify
};

struct StateType {
  TensorType tensor;
  uint32_t initial;
};

// What a dispatch does to an operand, as bits.
inline constexpr uint8_t kReads = 1, kWrites = 2;

// What each tile touches of an operand; see program.fbs.
struct TileRange {
  uint32_t operand;
  int64_t first;
  int64_t step;
  uint64_t size;
  uint32_t per = 1;

  order::TileBytes bytes() const { return {first, step, size, per}; }
};

struct Kernel {
  std::string name;
  uint64_t scratch;
  uint32_t bufferCount;
  std::vector<std::string> opNames;
  std::vector<uint8_t> access = {}; // of each operand; empty: unknown
  std::vector<TileRange> ranges = {};

  // What is not known to be left alone counts as both.
  uint8_t accessOf(uint32_t operand) const { return access.empty() ? kReads | kWrites : access[operand]; }
};

enum class CommandKind : uint8_t { Dispatch, Copy, Record, Wait, Collective };

// An operation of the model inside of a dispatch; see program.fbs.
struct Part {
  std::string name;
  std::string kind;
  std::string shape;
  std::string source;
  uint64_t flops = 0;
  uint64_t bytes = 0;
  uint32_t call = 0;
  uint32_t steps = 0;
  uint64_t repeated = 0;
  std::string factors;
};

struct Command {
  CommandKind kind;
  uint32_t kernel = 0;
  uint32_t event = 0;
  uint32_t collective = 0; // of Entry.collectives
  // Operands of a dispatch, source and target of a copy, buffers of a collective: a range of Entry.operands.
  uint32_t firstOperand = 0;
  uint32_t operandCount = 0;
  int64_t firstTile = 0;
  int64_t tiles = 0; // from firstTile on
  int64_t grain = 1;
  uint64_t copyBytes = 0; // set by Verify
  uint64_t flops = 0;
  uint64_t bytes = 0;
  uint64_t fetched = 0; // of a dispatch: see program.fbs
  std::string name;
  std::vector<Part> parts;
};

// What ranks do together. Its command's operands are tensors, then as many others: where pieces are ranks' parts or
// nothing is in place (collective::Form), the first are read, the last written.
struct Collective {
  collective::Kind kind = collective::Kind::allReduce;
  comm::Reduction reduction = comm::Reduction::sum;
  uint8_t dtype = 0;                                   // sprig_rt_dtype
  std::optional<collective::Algorithm> algorithm = {}; // none: by each tensor's bytes
  uint32_t root = 0;
  std::vector<uint64_t> units = {}; // of each tensor, how many elements stay together; empty: 1
  std::vector<uint32_t> axes = {};  // of Entry.mesh, along which the ranks differ that it is of; empty: all ranks

  bool isInPlace() const { return collective::formOf(kind) == collective::Form::inPlace; }
  uint32_t tensorsOf(const Command &command) const { return command.operandCount / (isInPlace() ? 1 : 2); }
  // Which operand is the whole of a tensor, and which is beside it.
  uint32_t wholeOf(const Command &command, uint32_t tensor) const {
    bool isLast = collective::formOf(kind) == collective::Form::fromPart || kind == collective::Kind::allToAll;
    return isLast ? tensorsOf(command) + tensor : tensor;
  }
  uint32_t otherOf(const Command &command, uint32_t tensor) const {
    return 2 * tensor + tensorsOf(command) - wholeOf(command, tensor);
  }
  int64_t unitOf(uint32_t tensor) const { return units.empty() ? 1 : int64_t(units[tensor]); }
  // What it does to an operand, as bits: a whole that gives parts is worked on in place.
  uint8_t accessOf(const Command &command, uint32_t operand) const {
    if (isInPlace()) return kReads | kWrites;
    if (operand >= tensorsOf(command)) return kWrites;
    bool isKept = collective::formOf(kind) != collective::Form::toPart || !collective::meets(kind);
    return isKept ? kReads : kReads | kWrites;
  }
};

struct Lane {
  uint32_t device;
  std::vector<Command> commands;
};

// Of the mesh that ranks are numbered on, in row-major order.
struct Axis {
  std::string name;
  uint32_t ranks;
};

// The axis that an entry's growing dimensions follow.
struct Lengths {
  std::string axis;
  int64_t first, last;
};

struct Entry {
  std::string name;
  std::vector<TensorType> inputs;
  std::vector<TensorType> outputs;
  std::vector<Buffer> buffers;
  std::vector<uint32_t> operands; // indices into buffers
  std::vector<Collective> collectives;
  std::vector<Lane> lanes;
  uint64_t arenaSize; // of the first device
  uint32_t eventCount;
  bool independentSamples;
  bool updatesState;
  bool usesState = false;              // set by Verify
  std::vector<uint64_t> moreArenas;    // of the devices after the first; may be shorter than they are
  uint32_t ranks = 1;                  // that run it together
  int32_t rank = -1;                   // whose it is; -1: every one's
  uint64_t samplesOfRanks = 0;         // of a call of all of them; 0: unknown
  std::vector<Axis> mesh = {};         // of all of them; empty where none is stated
  std::optional<Lengths> lengths = {}; // then the last input is the runtime's to give: see program.fbs

  // The inputs that callers give.
  std::span<const TensorType> given() const { return std::span(inputs).first(inputs.size() - (lengths ? 1 : 0)); }
  const Buffer &bufferOf(const Command &command, uint32_t operand) const {
    return buffers[operands[command.firstOperand + operand]];
  }
  // Of a collective over axes the ranks that meet one; of any how many they are, and which of them it is.
  std::vector<int> groupOf(const Collective &call, int ofRank) const;
  struct Place {
    uint32_t ranks, place;
  };
  Place placeOf(const Collective &call, uint32_t ofRank) const;
  // Whether ranks wait for each other in it: they come to these in one order.
  bool meets(const Command &command) const {
    return command.kind == CommandKind::Collective && collective::meets(collectives[command.collective].kind);
  }
  // What a command does to one of its operands, as bits.
  uint8_t accessOf(const Command &command, uint32_t operand, const std::vector<Kernel> &kernels) const {
    if (command.kind == CommandKind::Collective) return collectives[command.collective].accessOf(command, operand);
    return command.kind == CommandKind::Copy ? (operand ? kWrites : kReads) : kernels[command.kernel].accessOf(operand);
  }
  uint64_t arenaOf(uint32_t device) const {
    if (device == 0) return arenaSize;
    return device <= moreArenas.size() ? moreArenas[device - 1] : 0;
  }
};

struct ImageImport {
  std::string call;
  uint64_t slot;
};

struct ImageFunction {
  std::string name;
  uint64_t offset;
  uint64_t size;
};

// A block of a kernel: see program.fbs.
struct LaunchShape {
  uint32_t threads = 0;
  uint32_t shared = 0;
};

struct Image {
  std::string isa;
  std::vector<std::string> features;
  uint32_t section;
  uint64_t codeSize;
  std::vector<uint64_t> symbols;
  std::vector<uint64_t> symbolSizes;
  std::vector<ImageImport> imports;
  std::vector<ImageFunction> functions; // for people: not verified
  std::string kind = "cpu";             // of the devices that it runs on
  // Of kinds whose kernels are found by name, which have no symbols.
  std::vector<std::string> entryPoints = {};
  std::vector<LaunchShape> launches = {};
};

// A device as programs name it: `kind:ordinal`, and what its code was made for.
struct DeviceName {
  std::string kind;
  uint32_t ordinal = 0;
  std::string architecture = {}; // empty: whichever an image is for
  std::string codeKind = {};     // of the images that it runs; set by verifyDevices
  std::string name = {};         // its text(), for describing; set by verifyDevices

  // "cuda:1"; the first of a kind by its kind alone.
  std::string text() const { return ordinal ? kind + ":" + std::to_string(ordinal) : kind; }
};

struct Fact {
  std::string key;
  std::string value;
};

struct Program {
  std::string producer;
  std::vector<Entry> entries;
  std::vector<Kernel> kernels;
  std::vector<Constant> constants;
  std::vector<StateType> states;
  std::vector<Image> images;
  std::vector<DeviceName> devices;
  std::vector<Fact> facts;
};

} // namespace sprig::rt::core

#endif
