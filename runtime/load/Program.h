// A package's metadata, decoded: what the runtime executes. Filled by Decode, checked by Verify and Devices, immutable
// afterwards; execution relies on every check and repeats none.
#ifndef SPRIG_RUNTIME_LOAD_PROGRAM_H
#define SPRIG_RUNTIME_LOAD_PROGRAM_H

#include "runtime/format/Order.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sprig::rt::core {

// The kind of devices whose kernels are found by name, each tile one block.
inline constexpr std::string_view kCudaKind = "cuda";

struct TensorType {
  std::string name;
  int dtype = 0; // sprig_rt_dtype
  std::vector<int64_t> shape;
  uint64_t bytes = 0; // set by Verify
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

enum class CommandKind : uint8_t { Dispatch, Copy, Record, Wait, AllReduce };

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
};

struct Command {
  CommandKind kind;
  uint32_t kernel = 0;
  uint32_t event = 0;
  // Operands of a dispatch, source and target of a copy, buffers of an all-reduce: a range of Entry.operands.
  uint32_t firstOperand = 0;
  uint32_t operandCount = 0;
  int64_t firstTile = 0;
  int64_t tiles = 0; // from firstTile on
  int64_t grain = 1;
  uint64_t copyBytes = 0; // set by Verify
  uint64_t flops = 0;
  uint64_t bytes = 0;
  uint64_t fetched = 0; // of a dispatch: see program.fbs
  // Of an all-reduce, as comm::Reduction, sprig_rt_dtype and collective::Algorithm; kAutomatic: by each buffer's bytes.
  uint8_t reduction = 0;
  uint8_t dtype = 0;
  uint8_t algorithm = 0;
  static constexpr uint8_t kAutomatic = 255;
  std::string name;
  std::vector<Part> parts;

  // Whether all ranks do it together: they come to these in one order.
  bool isCollective() const { return kind == CommandKind::AllReduce; }
  // Whether it writes one of its operands.
  bool writes(uint32_t operand, const std::vector<Kernel> &kernels) const {
    if (kind == CommandKind::AllReduce) return true;
    return kind == CommandKind::Copy ? operand == 1 : (kernels[kernel].accessOf(operand) & kWrites) != 0;
  }
};

struct Lane {
  uint32_t device;
  std::vector<Command> commands;
};

struct Entry {
  std::string name;
  std::vector<TensorType> inputs;
  std::vector<TensorType> outputs;
  std::vector<Buffer> buffers;
  std::vector<uint32_t> operands; // indices into buffers
  std::vector<Lane> lanes;
  uint64_t arenaSize; // of the first device
  uint32_t eventCount;
  bool independentSamples;
  bool updatesState;
  bool usesState = false;           // set by Verify
  std::vector<uint64_t> moreArenas; // of the devices after the first; may be shorter than they are
  uint32_t ranks = 1;               // that run it together
  int32_t rank = -1;                // whose it is; -1: every one's
  uint64_t samplesOfRanks = 0;      // of a call of all of them; 0: unknown

  const Buffer &bufferOf(const Command &command, uint32_t operand) const {
    return buffers[operands[command.firstOperand + operand]];
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
