// A package's metadata, decoded: what the runtime executes. Filled by Decode, checked by Verify, immutable afterwards;
// execution relies on every check and repeats none.
#ifndef SPRIG_RUNTIME_LOAD_PROGRAM_H
#define SPRIG_RUNTIME_LOAD_PROGRAM_H

#include <cstdint>
#include <string>
#include <vector>

namespace sprig::rt::core {

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

struct Kernel {
  std::string name;
  uint64_t scratch;
  uint32_t bufferCount;
  std::vector<std::string> opNames;
};

enum class CommandKind : uint8_t { Dispatch, Copy, Record, Wait };

// An operation of the model inside of a dispatch; see program.fbs.
struct Part {
  std::string name;
  std::string kind;
  std::string shape;
  std::string source;
  uint64_t flops = 0;
  uint64_t bytes = 0;
  uint32_t call = 0;
};

struct Command {
  CommandKind kind;
  uint32_t kernel = 0;
  uint32_t event = 0;
  // Operands of a dispatch, or source and target of a copy: a range of Entry.operands.
  uint32_t firstOperand = 0;
  uint32_t operandCount = 0;
  int64_t tiles = 0;
  int64_t grain = 1;
  uint64_t copyBytes = 0; // set by Verify
  uint64_t flops = 0;
  uint64_t bytes = 0;
  std::string name;
  std::vector<Part> parts;
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
  uint64_t arenaSize;
  uint32_t eventCount;
  bool independentSamples;
  bool updatesState;
  bool usesState = false; // set by Verify
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

struct Image {
  std::string isa;
  std::vector<std::string> features;
  uint32_t section;
  uint64_t codeSize;
  std::vector<uint64_t> symbols;
  std::vector<uint64_t> symbolSizes;
  std::vector<ImageImport> imports;
  std::vector<ImageFunction> functions; // for people: not verified
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
  std::vector<std::string> devices;
  std::vector<Fact> facts;
};

} // namespace sprig::rt::core

#endif
