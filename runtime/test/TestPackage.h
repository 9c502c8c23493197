// Packages for the runtime's tests, described by the loader's own Program and encoded with the FlatBuffers builder, so
// that a test can also encode what no compiler would.
#ifndef SPRIG_RUNTIME_TEST_TESTPACKAGE_H
#define SPRIG_RUNTIME_TEST_TESTPACKAGE_H

#include "runtime/comm/Reduction.h"
#include "runtime/format/Container.h"
#include "runtime/load/Program.h"
#include "sprig/rt/sprig_rt.hpp"

#include <map>
#include <optional>

namespace sprig::rt::test {

using Bytes = std::vector<uint8_t>;

inline constexpr double kNs = 1e-9; // seconds

enum TestKernel { Add, Mix, Count, Slow, Gather, Divide, Mxcsr, Scratch, Window };

// A program with the kernels of Kernels.c, one image for x86-64-v2 and room for entries.
struct TestPackage {
  TestPackage();

  core::Program program;
  Bytes constants;
  Bytes image;
  std::vector<Bytes> moreImages; // of images behind the first; those without one of their own have its bytes

  // Adds a constant of 32-bit values (at an aligned offset) and returns its index.
  uint32_t addConstant(const std::vector<uint32_t> &values);
  template <typename T> uint32_t addConstantOf(const std::vector<T> &values);

  Bytes metadata() const;
  Bytes encode() const; // the whole file
  Package load(const LoadOptions &options = {}) const { return Package::fromMemory(encode(), "test", options); }
};

// Loads onto these devices, "null:2,null:0".
inline LoadOptions on(std::string devices) {
  LoadOptions options;
  options.device = std::move(devices);
  return options;
}

// Builds one entry of tensors of 32-bit words.
struct EntryBuilder {
  explicit EntryBuilder(std::string name) { entry.name = std::move(name); }

  uint32_t input(std::string name, std::vector<int64_t> shape, int dtype = SPRIG_RT_U32);
  uint32_t output(std::string name, std::vector<int64_t> shape, int dtype = SPRIG_RT_U32);
  uint32_t arena(uint64_t bytes);
  uint32_t constant(uint32_t index, uint64_t bytes);
  uint32_t state(uint32_t index, uint64_t bytes);
  uint32_t event() { return entry.eventCount++; }

  // Commands on a lane, which is added when it is the next one.
  void dispatch(uint32_t lane, TestKernel kernel, std::vector<uint32_t> buffers, int64_t tiles, int64_t grain = 1);
  void copy(uint32_t lane, uint32_t source, uint32_t target);
  void collective(uint32_t lane, std::vector<uint32_t> buffers, core::Collective call = {.dtype = SPRIG_RT_U32});
  void record(uint32_t lane, uint32_t event);
  void wait(uint32_t lane, uint32_t event);

  core::Entry entry = {};

private:
  core::Command &command(uint32_t lane, core::CommandKind kind);
  uint32_t buffer(core::BufferKind kind, uint32_t index, uint64_t offset, uint64_t size);
};

// The simplest useful package: entry "add" of two inputs of n words.
TestPackage addPackage(int64_t n = 16);

// Entry "step" of so many ranks. Bucket k is (k + 2) x, of n words, made on lane 0, added up over the ranks on lane 1,
// and copied to output k on lane 0 when it has come back.
TestPackage bucketPackage(uint32_t ranks, int64_t n, uint32_t buckets);

// "call" of so many ranks: tensors x of so many rows of `unit` words go through one collective in the arena and come
// out as tensors y. `goesBack`: as what they come out as, and become what they were. Of one rank alone where its parts
// are of other sizes.
TestPackage callPackage(uint32_t ranks, uint32_t rank, core::Collective call, std::span<const int64_t> rows,
                        int64_t unit, bool goesBack = false);
inline TestPackage callPackage(uint32_t ranks, uint32_t rank, core::Collective call, int64_t rows, int64_t unit,
                               bool goesBack = false) {
  return callPackage(ranks, rank, std::move(call), {&rows, 1}, unit, goesBack);
}

// "step" of so many ranks, as one that shares its optimizer's state: of two buckets, of n and 2 n words, bucket k is
// (k + 2) x, and its sum's part comes to each rank beside what makes the next one; the part and x's own part are added
// up, and gathered beside what adds up the next one. Ranks divide n.
TestPackage halvesPackage(uint32_t ranks, int64_t n);

template <typename T> uint32_t TestPackage::addConstantOf(const std::vector<T> &values) {
  constants.resize((constants.size() + 63) / 64 * 64);
  uint64_t offset = constants.size();
  const uint8_t *bytes = reinterpret_cast<const uint8_t *>(values.data());
  constants.insert(constants.end(), bytes, bytes + values.size() * sizeof(T));
  program.constants.push_back({"c" + std::to_string(program.constants.size()), values.size() * sizeof(T), offset, {}});
  return uint32_t(program.constants.size() - 1);
}

// Message of the error that an action throws, "" when it throws none; code gets its code.
template <typename Action> std::string errorOf(Action action, sprig_rt_code *code = nullptr) {
  try {
    action();
  } catch (const Error &error) {
    if (code) *code = error.code();
    return error.what();
  }
  return "";
}

// 64-byte aligned words.
class Words {
public:
  explicit Words(size_t count, uint32_t value = 0) : array(SPRIG_RT_U32, {int64_t(count)}) {
    for (size_t i = 0; i < count; ++i) (*this)[i] = value;
  }
  uint32_t &operator[](size_t i) { return array.as<uint32_t>()[i]; }
  size_t size() const { return array.elements(); }
  uint32_t *data() { return array.as<uint32_t>(); }
  TensorView view(std::vector<int64_t> shape) { return TensorView(data(), std::move(shape)); }
  TensorView view() { return array.view(); }

private:
  Array array;
};

} // namespace sprig::rt::test

#endif
