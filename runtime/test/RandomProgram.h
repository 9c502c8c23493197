// Random programs of the runtime: commands one after the other over the bytes of one to four devices, what they compute
// in that order, and schedules of them, whose lanes and events keep the order of what touches the same bytes.
// For RandomProgramsTest.cpp, which runs them in every way. All that a program is follows from its seed.
#ifndef SPRIG_RUNTIME_TEST_RANDOMPROGRAM_H
#define SPRIG_RUNTIME_TEST_RANDOMPROGRAM_H

#include "runtime/test/TestPackage.h"

#include <functional>

namespace sprig::rt::test {

// A dispatch of a part of its tiles, or a copy.
struct Step {
  bool isCopy = false;
  TestKernel kernel = Add;
  std::vector<uint32_t> operands; // indices of buffers; the last one is written
  int64_t firstTile = 0, tiles = 0, grain = 1;
  uint64_t flops = 0;
  uint32_t lane = 0;      // of its device, modulo how many that has
  bool byTarget = false;  // of a copy: whose lane does it
  bool extraWait = false; // waits also for what other events order already
  bool lateRecord = false;

  uint32_t written() const { return operands.back(); }
};

// 32-bit words, or a mark of each, by spaces: the arenas, then outputs, states, inputs and constants.
using Spaces = std::vector<std::vector<uint32_t>>;
using Marks = std::vector<std::vector<char>>;

// Words of a space that the package says a step touches.
struct Touch {
  uint32_t space;
  int64_t begin, end;
  bool reads, writes;
};

struct RandomProgram {
  explicit RandomProgram(uint32_t seed);

  // Every buffer has `width` words; what inputs, outputs and states are has room for two.
  uint32_t devices = 1, inputs = 1, outputs = 1, states = 0;
  int64_t width = 1;
  std::vector<core::Buffer> buffers;
  std::vector<uint64_t> arenas;      // bytes, of each device
  std::vector<core::Kernel> kernels; // as the package describes them
  std::vector<Step> steps;

  int64_t room() const { return 2 * ((width + 15) / 16 * 16); } // words
  uint32_t firstState() const { return devices + outputs; }
  uint32_t firstInput() const { return firstState() + states; }
  uint32_t firstConstant() const { return firstInput() + inputs; }
  uint32_t spaceOf(const core::Buffer &buffer) const;
  bool isConstant(uint32_t space) const { return space >= firstInput(); }
  uint32_t deviceOf(const Step &step) const;

  // Before the first run; a caller fills in the inputs.
  Spaces memory() const;
  void perform(const Step &step, Spaces &memory) const;
  // Of spaces that can be written.
  std::vector<Touch> touches(const Step &step) const;
  // Which words hold something before the first step: states, inputs and constants.
  Marks marks() const;
  // Whether all that a step reads holds something.
  bool isDefined(const Step &step, const Marks &marks) const;
  void markWritten(const Step &step, Marks &marks) const;

  // Without some of the steps: what they would have written is read from an input instead.
  RandomProgram only(const std::vector<Step> &kept) const;
};

// The same program with lanes and events.
struct Scheduled {
  struct Command {
    core::CommandKind kind; // Dispatch: any step
    uint32_t index;         // of a step or an event
  };
  struct Lane {
    uint32_t device;
    std::vector<Command> commands;
  };
  std::vector<Lane> lanes;
  uint32_t events = 0;

  Scheduled(const RandomProgram &program, uint32_t lanesOfDevice);
  Scheduled without(uint32_t event) const;

  // Whether two steps that touch the same bytes, one of them writing, may come in either order: by the closure of
  // "directly before", over all pairs.
  bool races(const RandomProgram &program) const;
  // Does the steps in one of the orders that lanes and events allow.
  void perform(const RandomProgram &program, Spaces &memory, const std::function<uint32_t(uint32_t)> &below) const;

  TestPackage package(const RandomProgram &program) const;
  // As lines of C++ that a test may begin with.
  std::string text(const RandomProgram &program) const;
};

// The fewest steps for which `fails` still holds, as it does for all of them: none of the rest can be left out.
RandomProgram shrink(RandomProgram program, const std::function<bool(const RandomProgram &)> &fails);

} // namespace sprig::rt::test

#endif
