// Packages that are damaged, hostile or too new: one clear error, never a crash.
#include "runtime/base/Status.h"
#include "runtime/test/TestPackage.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

namespace sprig::rt::test {
namespace {

using core::Buffer;
using core::Command;
using core::CommandKind;
using core::concat;
using core::Entry;
using core::Image;
using core::Kernel;
using core::kReads;
using core::kWrites;

// A package with something of everything.
TestPackage richPackage() {
  TestPackage package;
  uint32_t constant = package.addConstant({1, 2, 3, 4});
  package.program.constants.push_back({"splat", 16, 0, {9, 0, 0, 0}});
  package.program.states.push_back({{"state", SPRIG_RT_U32, {4}, 0}, constant});
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {4}), y = entry.output("y", {4});
  uint32_t t = entry.arena(16);
  uint32_t done = entry.event();
  entry.dispatch(0, Add, {x, entry.constant(constant, 16), t}, 4);
  entry.record(0, done);
  entry.wait(1, done);
  entry.dispatch(1, Add, {t, entry.constant(1, 16), y}, 4);
  entry.copy(0, x, entry.arena(16));
  entry.dispatch(0, Add, {entry.state(0, 16), x, entry.arena(16)}, 4);
  entry.entry.independentSamples = true;
  package.program.entries.push_back(entry.entry);
  return package;
}

std::string loadError(const Bytes &bytes, sprig_rt_code *code = nullptr, const LoadOptions &options = {}) {
  return errorOf([&] { Package::fromMemory(std::span<const uint8_t>(bytes), "p.sprig", options); }, code);
}

TEST(Damage, EveryFlippedBitIsFound) {
  // Without image and constants the file is small enough to flip every bit of it, padding included.
  TestPackage package = richPackage();
  package.image.resize(64);
  package.program.images[0].codeSize = 64;
  for (size_t i = 0; i < package.program.images[0].symbols.size(); ++i) package.program.images[0].symbols[i] = i;
  Bytes file = package.encode();
  ASSERT_EQ(loadError(file), "");
  for (size_t byte = 0; byte < file.size(); ++byte) {
    uint8_t bit = uint8_t(1u << (byte * 7 % 8));
    for (uint8_t flip : {bit, uint8_t(0xff)}) {
      file[byte] ^= flip;
      sprig_rt_code code = SPRIG_RT_OK;
      std::string message = loadError(file, &code);
      ASSERT_FALSE(message.empty()) << "flip of byte " << byte << " was not found";
      ASSERT_TRUE(code == SPRIG_RT_BAD_PACKAGE || code == SPRIG_RT_UNSUPPORTED) << message;
      ASSERT_EQ(message.rfind("p.sprig: ", 0), 0u) << message;
      file[byte] ^= flip;
    }
  }
}

TEST(Damage, EveryTruncationIsFound) {
  Bytes file = richPackage().encode();
  for (size_t size = 0; size < file.size(); size += size < 300 ? 1 : 97) {
    sprig_rt_code code = SPRIG_RT_OK;
    std::string message = loadError(Bytes(file.begin(), file.begin() + std::ptrdiff_t(size)), &code);
    ASSERT_FALSE(message.empty()) << size;
    ASSERT_EQ(code, SPRIG_RT_BAD_PACKAGE);
  }
  Bytes half(file.begin(), file.begin() + 4096);
  EXPECT_EQ(loadError(half), concat("p.sprig: expected ", file.size(), " bytes, found 4096 (truncated?)").text());
  file.push_back(0);
  EXPECT_EQ(loadError(file), concat("p.sprig: expected ", file.size() - 1, " bytes, found ", file.size()).text());
}

TEST(Damage, OtherFilesAreRefused) {
  std::string text = "this is not a package, but it is long enough to have the header of one, and more than that";
  EXPECT_EQ(loadError(Bytes(text.begin(), text.end())),
            "p.sprig: not a Sprig package: expected it to start with 'SPRIGPKG'");
  EXPECT_EQ(loadError({}), "p.sprig: expected at least 64 bytes of header, found 0");
}

TEST(Damage, ANewerMajorVersionIsRefusedByName) {
  Bytes file = richPackage().encode();
  uint16_t major = 2, minor = 3;
  std::memcpy(file.data() + 8, &major, 2);
  std::memcpy(file.data() + 10, &minor, 2);
  sprig_rt_code code = SPRIG_RT_OK;
  EXPECT_EQ(loadError(file, &code), "p.sprig: written for format version 2.3, this runtime reads up to 1.8");
  EXPECT_EQ(code, SPRIG_RT_UNSUPPORTED);
}

// Encodes a changed copy of the rich package and tells what loading it says.
std::string hostile(const std::function<void(TestPackage &)> &change, const LoadOptions &options = {}) {
  TestPackage package = richPackage();
  change(package);
  return loadError(package.encode(), nullptr, options);
}
Entry &entryOf(TestPackage &package) { return package.program.entries[0]; }
Command &commandOf(TestPackage &package, size_t lane, size_t index) {
  return package.program.entries[0].lanes[lane].commands[index];
}

TEST(Hostile, IndicesOutOfRange) {
  EXPECT_EQ(hostile([](TestPackage &p) { commandOf(p, 0, 0).kernel = 99; }),
            "p.sprig: entry 0 'main': lane 0 command 0 'c0': expected a kernel below 9, found 99");
  EXPECT_EQ(hostile([](TestPackage &p) { entryOf(p).operands[0] = 1000; }),
            "p.sprig: entry 0 'main': lane 0 command 0 'c0': operand 0: expected a buffer below 8, found 1000");
  EXPECT_EQ(hostile([](TestPackage &p) { commandOf(p, 0, 0).operandCount = 2; }),
            "p.sprig: entry 0 'main': lane 0 command 0 'c0': expected 3 buffers for kernel 'add', found 2");
  EXPECT_EQ(hostile([](TestPackage &p) { entryOf(p).buffers[0].index = 1; }),
            "p.sprig: entry 0 'main': buffer 0 'b0': expected an index of input below 1, found 1");
  EXPECT_EQ(hostile([](TestPackage &p) { entryOf(p).lanes[1].device = 5; }),
            "p.sprig: entry 0 'main': lane 1: expected a device below 1, found 5");
  EXPECT_EQ(hostile([](TestPackage &p) { p.program.states[0].initial = 7; }),
            "p.sprig: state 0: 'state': expected an initial constant below 2, found 7");
  EXPECT_EQ(hostile([](TestPackage &p) { p.program.images[0].section = 40; }),
            "p.sprig: image 0 for x86-64-v2: expected an image section of the file's 3 sections, found 42");
  EXPECT_EQ(hostile([](TestPackage &p) { p.program.devices = {{"abacus"}}; }),
            "p.sprig: device 0: expected one of cpu, cuda, null, found 'abacus'");
}

TEST(Hostile, DevicesThatDoNotFit) {
  auto twoDevices = [](TestPackage &p) {
    p.program.devices = {{"null"}, {"null", 1}};
    entryOf(p).moreArenas = {64};
  };
  auto with = [&](const std::function<void(TestPackage &)> &change) {
    LoadOptions null;
    null.device = "null";
    return hostile([&](TestPackage &p) { twoDevices(p), change(p); }, null);
  };
  EXPECT_EQ(with([](TestPackage &) {}), "");
  EXPECT_EQ(hostile(twoDevices), "");
  EXPECT_EQ(with([](TestPackage &p) { p.program.devices[1].ordinal = 0; }), "p.sprig: devices 0 and 1 are both 'null'");
  EXPECT_EQ(with([](TestPackage &p) { p.program.devices[0].kind = "null:x"; }),
            "p.sprig: metadata: devices: 0: expected a device as kind:number, found 'null:x'");
  EXPECT_EQ(with([](TestPackage &p) { entryOf(p).buffers[2].device = 2; }),
            "p.sprig: entry 0 'main': buffer 2 'b2': expected a device below 2, found 2");
  EXPECT_EQ(with([](TestPackage &p) { entryOf(p).moreArenas = {64, 64}; }),
            "p.sprig: entry 0 'main': expected at most one arena for each of 2 devices, found 3");
  EXPECT_EQ(with([](TestPackage &p) {
              entryOf(p).buffers[5].device = 1;
              entryOf(p).buffers[5].offset = 64;
            }),
            "p.sprig: entry 0 'main': buffer 5 'b5': arena: 16 bytes at offset 64 leave its 64 bytes");
  EXPECT_EQ(with([](TestPackage &p) { entryOf(p).buffers[0].device = 1; }),
            "p.sprig: entry 0 'main': lane 0 command 0 'c0': uses 'b0' on null:1, expected buffers on null, where it "
            "runs");
  // A copy crosses devices; one that neither starts nor ends where it runs does not.
  EXPECT_EQ(with([](TestPackage &p) {
              entryOf(p).buffers[5].device = 1;
              entryOf(p).buffers[5].offset = 0;
            }),
            "");
  EXPECT_EQ(with([](TestPackage &p) { entryOf(p).lanes[1].device = 1; }),
            "p.sprig: entry 0 'main': lane 1 command 1 'c1': uses 'b2' on null, expected buffers on null:1, where it "
            "runs");
  EXPECT_EQ(with([](TestPackage &p) {
              Buffer state = entryOf(p).buffers[6];
              state.device = 1;
              entryOf(p).buffers.push_back(state);
            }),
            "p.sprig: entry 'main': state 'state' lies on null and on null:1, expected one device");
  EXPECT_EQ(with([](TestPackage &p) { p.program.images[0].kind = "cuda"; }),
            "p.sprig: image 0 for x86-64-v2: is for devices of kind 'cuda', of which the program has none");
}

// The kernels of the rich package as code for a GPU, by name.
std::string hostileCuda(const std::function<void(TestPackage &)> &change) {
  return hostile([&](TestPackage &p) {
    p.program.devices = {{"cuda", 1023}};
    Image &image = p.program.images[0];
    image.kind = "cuda";
    image.isa = "sm_90";
    image.symbols = image.symbolSizes = {};
    for (const Kernel &kernel : p.program.kernels) {
      image.entryPoints.push_back(kernel.name);
      image.launches.push_back({128, 1024});
    }
    change(p);
  });
}

TEST(Hostile, EntryPointsThatDoNotFit) {
  // There is no such device here, which is what a sound package is told.
  EXPECT_EQ(hostileCuda([](TestPackage &) {}).rfind("p.sprig: device cuda:1023 ", 0), 0u);
  EXPECT_EQ(hostileCuda([](TestPackage &p) { p.program.images[0].entryPoints.pop_back(); }),
            "p.sprig: image 0 for sm_90: expected 9 entry points and launches of kernels, found 8 and 9");
  EXPECT_EQ(hostileCuda([](TestPackage &p) { p.program.images[0].launches.emplace_back(); }),
            "p.sprig: image 0 for sm_90: expected 9 entry points and launches of kernels, found 9 and 10");
  EXPECT_EQ(hostileCuda([](TestPackage &p) { p.program.images[0].entryPoints[1] = ""; }),
            "p.sprig: image 0 for sm_90: kernel 'mix' has no code");
  EXPECT_EQ(hostileCuda([](TestPackage &p) { p.program.images[0].entryPoints[1] = std::string("mi\0x", 4); }),
            "p.sprig: image 0 for sm_90: kernel 'mix': its entry point has a zero byte in its name");
  for (uint32_t threads : {0u, 1025u, UINT32_MAX})
    EXPECT_EQ(
        hostileCuda([&](TestPackage &p) { p.program.images[0].launches[2].threads = threads; }),
        concat("p.sprig: image 0 for sm_90: kernel 'count': expected blocks of 1 to 1024 threads, found ", threads)
            .text());
  EXPECT_EQ(hostileCuda([](TestPackage &p) { p.program.images[0].symbols = {0}; }),
            "p.sprig: image 0 for sm_90: expected entry points, as of all code for cuda, found 1 symbols and 0 sizes");
  EXPECT_EQ(hostileCuda([](TestPackage &p) { p.program.images[0].codeSize = p.image.size() + 1; }),
            concat("p.sprig: image 0 for sm_90: code: ", richPackage().image.size() + 1,
                   " bytes at offset 0 leave its ", richPackage().image.size(), " bytes")
                .text());
  EXPECT_EQ(hostile([](TestPackage &p) { p.program.images[0].launches.resize(9); }),
            "p.sprig: image 0 for x86-64-v2: expected symbols, as of all code for cpu, found 0 entry points and 9 "
            "launches");
  EXPECT_EQ(hostileCuda([](TestPackage &p) { commandOf(p, 0, 0).tiles = int64_t(1) << 31; }),
            "p.sprig: entry 'main': lane 0 command 0 'c0': expected tiles up to 2147483647 on cuda, found 2147483648 "
            "from 0 on");
  EXPECT_EQ(hostileCuda([](TestPackage &p) { commandOf(p, 0, 0).firstTile = INT32_MAX - 3; }),
            "p.sprig: entry 'main': lane 0 command 0 'c0': expected tiles up to 2147483647 on cuda, found 4 from "
            "2147483644 on");
}

TEST(Hostile, AccessThatDoesNotFit) {
  EXPECT_EQ(hostile([](TestPackage &p) { p.program.kernels[0].access = {kReads}; }),
            "p.sprig: kernel 0 'add': expected how each of 3 operands is accessed, found it for 1");
  EXPECT_EQ(hostile([](TestPackage &p) { p.program.kernels[0].ranges = {{3, 0, 4, 4}}; }),
            "p.sprig: kernel 0 'add': range 0 of tiles: expected an operand from 0 and below 3, found 3");
  EXPECT_EQ(hostile([](TestPackage &p) { p.program.kernels[0].ranges = {{1, 0, 4, 4}, {0, 0, 4, 4}}; }),
            "p.sprig: kernel 0 'add': range 1 of tiles: expected an operand from 1 and below 3, found 0");
  EXPECT_EQ(hostile([](TestPackage &p) { p.program.kernels[0].ranges.resize(25); }),
            "p.sprig: kernel 0 'add': expected at most 8 ranges of tiles for each of 3 operands, found 25");
  EXPECT_EQ(hostile([](TestPackage &p) { p.program.kernels[0].access = {kWrites, kReads, kWrites}; }),
            "p.sprig: entry 0 'main': lane 0 command 0 'c0': writes 'b0' (input), expected a buffer that may be "
            "written");
  EXPECT_EQ(hostile([](TestPackage &p) { commandOf(p, 0, 0).firstTile = -1; }),
            "p.sprig: entry 0 'main': lane 0 command 0 'c0': expected a first tile up to 281474976710656, found -1");
  // As packages of format 1.0 are.
  EXPECT_EQ(hostile([](TestPackage &p) {
              for (Kernel &kernel : p.program.kernels) kernel.access.clear();
            }),
            "");
}

TEST(Hostile, RangesThatLeaveTheirPlace) {
  EXPECT_EQ(hostile([](TestPackage &p) { entryOf(p).buffers[2].offset = 192; }),
            "p.sprig: entry 0 'main': buffer 2 'b2': arena: 16 bytes at offset 192 leave its 192 bytes");
  EXPECT_EQ(
      hostile([](TestPackage &p) { entryOf(p).buffers[2].offset = UINT64_MAX - 63; }),
      "p.sprig: entry 0 'main': buffer 2 'b2': arena: 16 bytes at offset 18446744073709551552 leave its 192 bytes");
  EXPECT_EQ(
      hostile([](TestPackage &p) { entryOf(p).buffers[2].size = UINT64_MAX; }),
      "p.sprig: entry 0 'main': buffer 2 'b2': arena: 18446744073709551615 bytes at offset 0 leave its 192 bytes");
  EXPECT_EQ(hostile([](TestPackage &p) { entryOf(p).buffers[2].offset = 4; }),
            "p.sprig: entry 0 'main': buffer 2 'b2': arena: expected an offset that is a multiple of 64, found 4");
  EXPECT_EQ(hostile([](TestPackage &p) { entryOf(p).buffers[0].size = 20; }),
            "p.sprig: entry 0 'main': buffer 0 'b0': input: 20 bytes at offset 0 leave its 16 bytes");
  EXPECT_EQ(hostile([](TestPackage &p) { p.program.constants[0].size = 32; }),
            "p.sprig: constant 0 'c0': constants section: 32 bytes at offset 0 leave its 16 bytes");
  EXPECT_EQ(
      hostile([](TestPackage &p) { p.program.constants[1].size = 17; }),
      "p.sprig: constant 1 'splat': expected 17 bytes to be whole elements of at most 16 bytes, found an element of 4");
  EXPECT_EQ(hostile([](TestPackage &p) { p.program.images[0].symbols[3] = p.image.size(); }),
            concat("p.sprig: image 0 for x86-64-v2: kernel 'slow': code: 1 bytes at offset ",
                   richPackage().image.size(), " leave its ", richPackage().image.size(), " bytes")
                .text());
  EXPECT_EQ(hostile([](TestPackage &p) { p.program.images[0].codeSize = p.image.size() + 1; }),
            concat("p.sprig: image 0 for x86-64-v2: code: ", richPackage().image.size() + 1,
                   " bytes at offset 0 leave its ", richPackage().image.size(), " bytes")
                .text());
}

TEST(Hostile, SizesThatNoMachineHas) {
  LoadOptions small;
  small.memoryLimit = 1 << 20;
  EXPECT_EQ(
      hostile([](TestPackage &p) { entryOf(p).arenaSize = uint64_t(1) << 50; }, small),
      "p.sprig: entry 0 'main': an arena of 1125899906842624 bytes brings the program's memory above the limit of "
      "1048576 bytes");
  EXPECT_EQ(hostile([](TestPackage &p) { p.program.constants[1].size = uint64_t(1) << 60; }, small),
            "p.sprig: constant 1 'splat': a splat constant of 1152921504606846976 bytes brings the program's memory "
            "above the limit of 1048576 bytes");
  // A few bytes that claim many: allowed up to what is asked for.
  EXPECT_EQ(hostile([](TestPackage &p) { p.program.constants[1].size = uint64_t(5) << 30; }),
            "p.sprig: constant 1 'splat': a splat constant of 5368709120 bytes brings the memory of repeated elements "
            "above the limit of 4294967296 bytes");
  EXPECT_EQ(hostile([](TestPackage &p) { entryOf(p).inputs[0].shape = {int64_t(1) << 40, int64_t(1) << 40}; }),
            "p.sprig: entry 0 'main': input 0: 'x': no memory holds a 1099511627776x1099511627776xui32");
  EXPECT_EQ(hostile([](TestPackage &p) { entryOf(p).inputs[0].shape = {-4}; }),
            "p.sprig: entry 0 'main': input 0: 'x': no memory holds a -4xui32");
  EXPECT_NE(hostile([](TestPackage &p) {
              entryOf(p).inputs[0].name = std::string("x\0y", 3);
            }).find("expected a name without a NUL"),
            std::string::npos);
  EXPECT_EQ(hostile([](TestPackage &p) { entryOf(p).inputs[0].dtype = 50; }),
            "p.sprig: entry 0 'main': input 0: 'x': expected an element type below 13, found 50");
  EXPECT_EQ(
      hostile([](TestPackage &p) { p.program.kernels[0].scratch = uint64_t(1) << 62; }, small),
      "p.sprig: kernel 0 'add': scratch of 4611686018427387904 bytes brings the program's memory above the limit of "
      "1048576 bytes");
  EXPECT_EQ(
      hostile([](TestPackage &p) { commandOf(p, 0, 0).tiles = -1; }),
      "p.sprig: entry 0 'main': lane 0 command 0 'c0': expected a number of tiles up to 281474976710656, found -1");
  EXPECT_EQ(hostile([](TestPackage &p) { commandOf(p, 0, 0).tiles = INT64_MAX; }),
            "p.sprig: entry 0 'main': lane 0 command 0 'c0': expected a number of tiles up to 281474976710656, found "
            "9223372036854775807");
}

TEST(Hostile, NoEntry) {
  EXPECT_EQ(hostile([](TestPackage &p) { p.program.entries.clear(); }),
            "p.sprig: expected at least one entry, found none");
}

TEST(Hostile, EventsThatNeverCome) {
  EXPECT_EQ(hostile([](TestPackage &p) { commandOf(p, 0, 1).event = 3; }),
            "p.sprig: entry 0 'main': lane 0 command 1 'c1': expected an event below 1, found 3");
  EXPECT_EQ(hostile([](TestPackage &p) { commandOf(p, 0, 1).kind = CommandKind::Wait; }),
            "p.sprig: entry 0 'main': lane 0 command 1 'c1': waits for event 0, which no command can record before it");
  EXPECT_EQ(hostile([](TestPackage &p) { commandOf(p, 1, 0).kind = CommandKind::Record; }),
            "p.sprig: entry 0 'main': lane 1 command 0 'c0': event 0 is recorded twice");
  // Each lane waits for the other.
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t a = entry.event(), b = entry.event();
  entry.wait(0, a);
  entry.record(0, b);
  entry.wait(1, b);
  entry.record(1, a);
  package.program.entries.push_back(entry.entry);
  EXPECT_EQ(loadError(package.encode()),
            "p.sprig: entry 0 'main': lane 0 command 0 'c0': waits for event 0, which no command can record before it");
}

TEST(Hostile, CopiesThatDoNotFit) {
  EXPECT_EQ(hostile([](TestPackage &p) { entryOf(p).buffers[5].size = 8; }),
            "p.sprig: entry 0 'main': lane 0 command 2 'c2': copies 16 bytes of 'b0' to 8 bytes of 'b5'");
  EXPECT_EQ(hostile([](TestPackage &p) { entryOf(p).operands[entryOf(p).lanes[0].commands[2].firstOperand + 1] = 3; }),
            "p.sprig: entry 0 'main': lane 0 command 2 'c2': copies to 'b3' (constant), expected a buffer that may "
            "be written");
}

TEST(Hostile, CallsAndSlots) {
  auto withImport = [](std::string call, uint64_t slot) {
    return hostile([&](TestPackage &p) {
      p.image.resize((p.image.size() + 63) / 64 * 64 + 64);
      p.program.images[0].codeSize = p.image.size() - 64;
      p.program.images[0].imports = {{call, p.image.size() - 64 + slot}};
    });
  };
  EXPECT_EQ(withImport("tanh", 0), "");
  EXPECT_EQ(withImport("tanh", 56), "");
  EXPECT_NE(withImport("tanh", 64).find("slot of 'tanh'"), std::string::npos);
  EXPECT_NE(withImport("tanh", 4).find("expected a multiple of 8"), std::string::npos);
  EXPECT_NE(withImport("tanh", uint64_t(-8)).find("slot of 'tanh'"), std::string::npos);
  EXPECT_EQ(withImport("system", 0),
            "p.sprig: image 0 for x86-64-v2: calls 'system', which this runtime does not offer");
}

TEST(Hostile, AProcessorThatIsNotThere) {
  EXPECT_EQ(hostile([](TestPackage &p) {
              p.program.images[0].isa = "x86-64-v9";
            }).rfind("p.sprig: the package has code for x86-64-v9; this processor has x86-64-v", 0),
            0u);
  EXPECT_EQ(hostile([](TestPackage &p) {
              p.program.images[0].features = {"quantum"};
            }).rfind("p.sprig: the package has code for x86-64-v2 with quantum; this processor has x86-64-v", 0),
            0u);
  EXPECT_EQ(hostile([](TestPackage &p) { p.program.images.clear(); }),
            "p.sprig: the package has no code for any processor");
}

// Random bytes of the metadata change and the checksums are made right again: whatever the loader accepts must also run
// on the null device, which follows every index of the program but no kernel.
TEST(Hostile, MutatedMetadataNeverCrashes) {
  TestPackage package = richPackage();
  const Bytes metadata = package.metadata();
  std::mt19937 random(20240607);
  LoadOptions options;
  options.device = "null";
  options.memoryLimit = 1 << 24;
  int accepted = 0, refused = 0;
  const char *variable = std::getenv("SPRIG_FUZZ_ROUNDS");
  int rounds = variable ? std::atoi(variable) : 20000;
  for (int round = 0; round < rounds; ++round) {
    Bytes changed = metadata;
    int changes = 1 + int(random() % 4);
    for (int i = 0; i < changes; ++i) {
      size_t at = random() % changed.size();
      switch (random() % 4) {
      case 0: changed[at] = uint8_t(random()); break;
      case 1: changed[at] ^= uint8_t(1u << (random() % 8)); break;
      case 2: changed[at] = random() % 2 ? 0 : 0xff; break;
      default: {
        // A whole number, often near the edges.
        int32_t value = int32_t(random() % 5) - 2;
        at = at / 4 * 4;
        std::memcpy(changed.data() + at, &value, std::min<size_t>(4, changed.size() - at));
      }
      }
    }
    if (random() % 16 == 0) changed.resize(random() % changed.size());
    Bytes file =
        format::writeContainer(std::vector<format::SectionBytes>{{format::SectionKind::Metadata, changed},
                                                                 {format::SectionKind::Constants, package.constants},
                                                                 {format::SectionKind::Image, package.image}});
    try {
      Package loaded = Package::fromMemory(std::span<const uint8_t>(file), "fuzz", options);
      ++accepted;
      Context context(loaded);
      for (uint32_t entry = 0; entry < loaded.entryCount(); ++entry) {
        std::vector<TensorView> inputs, outputs;
        static uint8_t anything[64];
        for (const TensorInfo &info : loaded.inputs(entry)) inputs.emplace_back(anything, info.dtype, info.shape);
        for (const TensorInfo &info : loaded.outputs(entry)) outputs.emplace_back(anything, info.dtype, info.shape);
        context.invoke(inputs, outputs, int32_t(entry));
      }
    } catch (const Error &error) {
      ++refused;
      ASSERT_NE(error.code(), SPRIG_RT_INTERNAL) << error.what();
    }
    // And on the real device, up to running: mapping code, filling slots and constants.
    LoadOptions real;
    real.memoryLimit = 1 << 24;
    errorOf([&] { Package::fromMemory(std::span<const uint8_t>(file), "fuzz", real); });
  }
  EXPECT_GT(accepted, rounds / 100);
  EXPECT_GT(refused, rounds / 100);
}

TEST(Hostile, RandomContainersNeverCrash) {
  Bytes file = richPackage().encode();
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    // Header and table only; the header's checksum is made right again.
    Bytes changed = file;
    for (int i = 0; i < 2; ++i) changed[8 + random() % (64 + 3 * 32 - 8)] = uint8_t(random() % 3 ? random() : 0xff);
    std::memset(changed.data() + 24, 0, 8);
    uint32_t count;
    std::memcpy(&count, changed.data() + 12, 4);
    size_t covered = std::min<size_t>(64 + size_t(count) * 32, changed.size());
    uint64_t sum = format::checksum({changed.data(), covered});
    std::memcpy(changed.data() + 24, &sum, 8);
    loadError(changed);
  }
}

TEST(Files, LoadFromTheFileSystem) {
  std::string path = testing::TempDir() + "sprig-runtime-" + std::to_string(getpid()) + ".sprig";
  Bytes file = addPackage(4).encode();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(file.data()), std::streamsize(file.size()));
  Context context(Package::load(path));
  Words a(4, 1), b(4, 2), sum(4);
  context.invoke({a.view(), b.view()}, {sum.view()});
  EXPECT_EQ(sum[0], 3u);
  std::filesystem::resize_file(path, 100);
  sprig_rt_code code = SPRIG_RT_OK;
  EXPECT_EQ(errorOf([&] { Package::load(path); }, &code),
            concat(path, ": expected ", file.size(), " bytes, found 100 (truncated?)").text());
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(errorOf([&] { Package::load(path); }), path + ": expected at least 64 bytes of header, found 0");
  std::filesystem::remove(path);
  EXPECT_EQ(errorOf([&] { Package::load(path); }, &code), path + ": cannot open: No such file or directory");
  EXPECT_EQ(code, SPRIG_RT_NOT_FOUND);
  EXPECT_EQ(errorOf([&] { Package::load(testing::TempDir()); }, &code),
            testing::TempDir() + ": expected a regular file");
}

TEST(Files, TheSameInputGivesTheSameBytes) { EXPECT_EQ(richPackage().encode(), richPackage().encode()); }

TEST(Files, MemoryIsTakenOverOrCopied) {
  // At an odd address nothing of the file is aligned.
  TestPackage made = addPackage(4);
  made.addConstant({1, 2, 3});
  Bytes file = made.encode(), shifted(file.size() + 65);
  std::memcpy(shifted.data() + 1, file.data(), file.size());
  static int released = 0;
  released = 0;
  sprig_rt_package *package = nullptr;
  check(sprig_rt_package_load_memory(
      shifted.data() + 1, file.size(), [](void *) { ++released; }, nullptr, nullptr, nullptr, &package));
  // The constants had to be copied: nothing is read from the given bytes any more.
  EXPECT_EQ(released, 1);
  sprig_rt_package_release(package);
  EXPECT_EQ(released, 1);
  // Aligned, they are used until the end.
  size_t shift = 64 - reinterpret_cast<uintptr_t>(shifted.data()) % 64;
  std::memcpy(shifted.data() + shift, file.data(), file.size());
  check(sprig_rt_package_load_memory(
      shifted.data() + shift, file.size(), [](void *) { ++released; }, nullptr, nullptr, nullptr, &package));
  EXPECT_EQ(released, 1);
  sprig_rt_package_release(package);
  EXPECT_EQ(released, 2);
  // Given back on failure, too.
  sprig_rt_status *status = sprig_rt_package_load_memory(
      shifted.data(), file.size(), [](void *) { ++released; }, nullptr, nullptr, nullptr, &package);
  EXPECT_EQ(sprig_rt_status_code(status), SPRIG_RT_BAD_PACKAGE);
  sprig_rt_status_free(status);
  EXPECT_EQ(released, 3);
}

} // namespace
} // namespace sprig::rt::test
